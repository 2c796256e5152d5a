#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the dependency law: what every file includes, what every module's library calls, and that everything is called.

usage: dependencies.py --source DIR [--build DIR] [--include DIR]…
With --build the static libraries there are looked at as well, and its `generated` folder is searched for headers.
"""
import argparse
import os
import re
import subprocess
import sys

import law
import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


def written_includes(root, path):
    """(line, '<' or '"', name) of every #include that is written in the file."""
    text = tree.read(root, path)
    return [(text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2))
            for match in INCLUDE.finditer(text)]


def resolve(root, path, quote, name):
    """The project's file that `name` means in `path`, or None. With angle brackets the file's own folder is not looked at:
    cuda/nvrtc.h includes <nvrtc.h>."""
    for folder in ([os.path.dirname(path)] if quote == '"' else []) + ["tool", "include"]:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_private(path, header):
    """A header private.h or *_private.h is for its folder alone; in session a *_private.h, for the files that share its
    first word."""
    name, folder = os.path.basename(header), os.path.dirname(header)
    if not re.search(r"(^|_)private\.h$", name):
        return None
    if os.path.dirname(path) != folder:
        return f"{header} is private to {folder}"
    stem = name[:-len("_private.h")]
    if stem and folder.startswith("tool/session") and not re.match(re.escape(stem) + r"(_\w+)?\.[ch]$", os.path.basename(path)):
        return f"{header} is private to the files {stem}*.c beside it"
    return None


def check_library(part, name):
    for library, (pattern, parts) in law.LIBRARIES.items():
        if re.match(pattern, name):
            if part in parts:
                return None
            return f"<{name}> belongs to {library}, which only {' and '.join(parts)} may include"
    if name in law.LIBC:
        return None
    return f"<{name}> belongs to no library that tests/lint/law.py lists"


def check_written(root, paths):
    """Every #include as it is written, against the table."""
    findings, edges = [], {}
    for path in paths:
        part = law.part_of(path)
        if part is None:
            findings.append(f"{path}: belongs to no part that tests/lint/law.py knows: name it after one")
            continue
        for line, quote, name in written_includes(root, path):
            header = resolve(root, path, quote, name)
            if header is None:
                problem = check_library(part, name) if name != "version.h" else None
            else:
                edges.setdefault(path, []).append(header)
                other = law.part_of(header)
                problem = check_private(path, header)
                if other != part and other not in law.MAY_INCLUDE[part]:
                    allowed = ", ".join(law.MAY_INCLUDE[part]) or "nothing"
                    problem = f"{part} may not include {header} of {other} (it may include: {allowed})"
            if problem:
                findings.append(f"{path}:{line}: {problem}")
    return findings, edges


def find_cycle(edges):
    """One cycle of a graph as a list whose ends are equal, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in edges.get(node, []):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for node in sorted(edges):
        cycle = visit(node)
        if cycle:
            return cycle
    return None


def check_cycles(edges):
    findings = []
    cycle = find_cycle(edges)
    if cycle:
        findings.append("headers include each other: " + " → ".join(cycle))
    parts = {}
    for path, headers in edges.items():
        for header in headers:
            one, other = law.part_of(path), law.part_of(header)
            if one and other and one != other:
                parts.setdefault(one, set()).add(other)
    cycle = find_cycle({part: sorted(others) for part, others in parts.items()})
    if cycle:
        findings.append("modules include each other: " + " → ".join(cycle))
    cycle = find_cycle(law.MAY_INCLUDE)
    if cycle:
        findings.append("the table itself allows a cycle: " + " → ".join(cycle))
    return findings


def check_compiled(root, paths, include_folders):
    """What the compiler says each source reads, through all its headers, against what the table lets it reach."""
    sources = [path for path in paths if path.endswith(".c")]
    if not sources:
        return []
    flags = ["-D_GNU_SOURCE", "-std=c11", "-Itool", "-Iinclude"] + [f"-I{folder}" for folder in include_folders]
    result = subprocess.run(["gcc", "-MM", *flags, *sources], cwd=root, capture_output=True, text=True, check=False)
    if result.returncode:
        return [f"gcc -MM failed: {line}" for line in result.stderr.splitlines() if "error" in line]
    findings = []
    for rule in result.stdout.replace("\\\n", " ").splitlines():
        source, *headers = rule.split(":", 1)[1].split()
        part = law.part_of(source)
        for header in headers:
            other = law.part_of(os.path.normpath(header))
            if part and other and other != part and other not in law.reachable(part):
                findings.append(f"{source}: {part} reaches {header} of {other} through its headers")
    return findings


def check_called(root, paths):
    """What only tests call is no part of the program: a function that a header of tool/ declares must be named once more
    than by its definition."""
    counts, declared = {"c": {}, "h": {}}, {}
    for path in paths:
        code = tree.code_only(tree.read(root, path))
        if path.startswith("tool/") and path.endswith(".h"):
            declared.update((name, path) for name in re.findall(r"\b(pj_\w+)\(", code))
        for name in re.findall(r"\bpj_\w+\b", code):
            counts[path[-1]][name] = counts[path[-1]].get(name, 0) + 1
    return [f"{path}: nothing in the program calls {name}" for name, path in sorted(declared.items())
            if counts["c"].get(name) == 1 and counts["h"][name] == 1]


def archive_module(name):
    stem = re.sub(r"^lib|\.a$", "", os.path.basename(name))
    return law.ARCHIVES.get(stem, stem.removeprefix("prejit_"))


def check_symbols(module, undefined):
    """`undefined`: (object, symbol) pairs that the module's library needs from elsewhere."""
    findings = []
    for member, symbol in undefined:
        for pattern, modules, why in law.SYMBOLS:
            if pattern.match(symbol):
                if module not in modules:
                    findings.append(f"{module}: {member} needs {symbol}: {why}")
                break
    return findings


def check_state(module, variables):
    """`variables`: (object, section, name) of every data object of the module's library."""
    allowed = law.STATE.get(module)
    return [f"{module}: {member} has the variable {name} in {section}: state lives in structs that are passed"
            for member, section, name in variables
            if re.match(r"\.t?(data|bss)", section) and not section.startswith(".data.rel.ro")
            and not (allowed and allowed.match(name))]


def read_undefined(archive):
    text = subprocess.run(["nm", "-A", "-u", "--no-demangle", archive], capture_output=True, text=True, check=True).stdout
    pairs = []
    for line in text.splitlines():
        where, symbol = line.split()[0], line.split()[-1]
        pairs.append((where.split(":")[1], symbol))
    return pairs


def read_variables(archive):
    text = subprocess.run(["objdump", "-t", archive], capture_output=True, text=True, check=True).stdout
    member, variables = "?", []
    for line in text.splitlines():
        heading = re.match(r"(\S+):\s+file format", line)
        if heading:
            member = heading.group(1)
        # value, seven flag columns of which the last is O for an object, section, size, name
        symbol = re.match(r"[0-9a-f]+ .{6}O (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
        if symbol:
            variables.append((member, symbol.group(1), symbol.group(2)))
    return variables


def check_archives(build):
    findings, count = [], 0
    for directory, _, names in os.walk(os.path.join(build, "tool")):
        for name in sorted(names):
            if name.startswith("libprejit_") and name.endswith(".a"):
                archive, module = os.path.join(directory, name), archive_module(name)
                count += 1
                findings += check_symbols(module, read_undefined(archive))
                findings += check_state(module, read_variables(archive))
    if not count:
        findings.append(f"{build}/tool holds no module library: build first")
    return findings


def check_tree(root, build=None, include_folders=()):
    paths = tree.c_files(root, ("tool", "include"))
    findings, edges = check_written(root, paths)
    findings += check_cycles(edges)
    findings += check_called(root, paths)
    folders = list(include_folders) + ([os.path.join(build, "generated")] if build else [])
    findings += check_compiled(root, paths, folders)
    if build:
        findings += check_archives(build)
    return findings, len(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--build")
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    return tree.finish("dependency law", *check_tree(arguments.source, arguments.build, arguments.include))


if __name__ == "__main__":
    sys.exit(main())
