#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what every source file must have and must not have: licence line, purpose, banned calls, length.

usage: style.py --source DIR
"""
import argparse
import os
import re
import sys

import tree

LICENCE = "SPDX-License-Identifier: Apache-2.0"
MOST_LINES = 600
BANNED = re.compile(r"\b(strcpy|stpcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|alloca|strtok|strtok_r|mktemp"
                    r"|tmpnam)\s*\(")
BANNED_IN_TOOL = re.compile(r"\b(system|popen|rand|srand|strncpy|strncat)\s*\(")
# In two pieces, so that this file does not hold what it looks for.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
PROSE = re.compile(r"[A-Z`\"<*.0-9].*\w")


def check_head(path, kind, lines):
    """The licence first (behind #!), then at least one sentence on what the file is for. Cases, which are data and very
    small, start with that sentence."""
    if kind == "case":
        if not lines or not re.match(r"# .*\w.*\w", lines[0]):
            yield 1, "the first line must be a comment that says what the case shows"
        return
    comment = {"c": "/* %s */", "ptx": "// %s"}.get(kind, "# %s")
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    if not lines or lines[0] != comment % LICENCE:
        yield 1, f"the first line must be `{comment % LICENCE}`"
        return
    if path.endswith("CMakeLists.txt") or kind in ("ptx", "yaml"):
        return
    start = {"c": r"/\* ", "script": r'(# |r?""")'}.get(kind, "# ")
    if len(lines) < 2 or not re.match(start, lines[1]) or not PROSE.search(lines[1]):
        yield 2, "the second line must be a comment that says what the file is for"


def check_guard(path, text):
    """PREJIT_ and the path for the program's headers; in tests, where names are no one else's, ending in the file name."""
    if not path.endswith(".h"):
        return
    if path.startswith("tests/"):
        name = re.escape(re.sub(r"\W", "_", os.path.basename(path)).upper())
        if not re.search(rf"\n#ifndef (\w+_{name})\n#define \1\n", text):
            yield 1, f"the include guard must end in _{name}"
        return
    guard = "PREJIT_" + re.sub(r"\W", "_", re.sub(r"^(tool|include/prejit)/", "", path)).upper()
    if f"\n#ifndef {guard}\n#define {guard}\n" not in text:
        yield 1, f"the include guard must be {guard}"


def check_lines(path, kind, lines):
    code = tree.code_only("\n".join(lines)).split("\n") if kind == "c" else []
    for number, line in enumerate(code, 1):
        match = BANNED.search(line) or (path.startswith("tool/") and BANNED_IN_TOOL.search(line))
        if match:
            yield number, f"{match.group(1)} is banned"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if "\t" in line and kind in ("c", "script", "cmake", "yaml"):
            yield number, "a tab"
        if UNFINISHED.search(line):
            yield number, "a mark of unfinished work"


def check_file(root, path):
    kind, text = tree.kind_of(os.path.join(root, path)), tree.read(root, path)
    lines = text.split("\n")
    findings = list(check_head(path, kind, lines)) + list(check_guard(path, text)) + list(check_lines(path, kind, lines))
    if not text.endswith("\n") or text.endswith("\n\n"):
        findings.append((len(lines), "the file must end in exactly one line end"))
    if len(lines) - 1 > MOST_LINES and kind != "ptx":
        findings.append((len(lines) - 1, f"{len(lines) - 1} lines, more than {MOST_LINES}: two subjects?"))
    return [f"{path}:{number}: {problem}" for number, problem in findings]


def check_tree(root):
    paths = tree.walk(root)
    findings = []
    for path in paths:
        findings += check_file(root, path)
    return findings, len(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    return tree.finish("style", *check_tree(parser.parse_args().source))


if __name__ == "__main__":
    sys.exit(main())
