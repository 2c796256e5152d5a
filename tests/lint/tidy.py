#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy with the tree's .clang-tidy over every C file of the program in a build's compile_commands.json.

usage: tidy.py --source DIR --build DIR [--jobs N] [FILE…]
What was clean and has not changed since, headers and settings included, is not looked at again (BUILD/lint-clean).
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

import tree

FINDING = re.compile(r"^(\S+:\d+):\d+: (?:warning|error): (.*) \[([\w.-]+)[\w.,-]*\]$", re.M)

# clang 14's analyzer does not know the cleanup attribute, which most functions here use; AddressSanitizer does.
NOT_BELIEVED = re.compile(r"Potential (memory leak|leak of memory)")

# A fifth of the analyzer's usual effort per function: it finds the same here in a third of the time.
ANALYZER = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=max-nodes=45000"]


def compiled_files(root, build):
    """Source of the program, relative to `root` → its entry in compile_commands.json, biggest first."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = {os.path.relpath(os.path.join(one["directory"], one["file"]), root): one for one in commands}
    return {path: found[path] for path in sorted(found, key=lambda path: -os.path.getsize(os.path.join(root, path)))
            if path.startswith("tool/") and path.endswith(".c")}


def clean_mark(root, build, path, entry):
    """A file that exists where just this text was found clean under just this configuration; None where it cannot be told."""
    words = [word for word in shlex.split(entry["command"]) if word not in ("-c", entry["file"])]
    if "-o" in words:
        del words[words.index("-o"):words.index("-o") + 2]
    text = subprocess.run([*words, "-E", os.path.join(root, path)], cwd=entry["directory"], capture_output=True,
                          check=False)
    if text.returncode:
        return None
    digest = hashlib.sha256(text.stdout + entry["command"].encode())
    for name in (".clang-tidy", "tests/lint/tidy.py"):
        with open(os.path.join(root, name), "rb") as file:
            digest.update(file.read())
    return os.path.join(build, "lint-clean", digest.hexdigest())


def check_file(root, build, path, entry):
    mark = clean_mark(root, build, path, entry)
    if mark and os.path.exists(mark):
        return set()
    findings = run_tidy(root, build, path)
    if mark and not findings:
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        with open(mark, "w", encoding="ascii"):
            pass
    return findings


def run_tidy(root, build, path):
    result = subprocess.run(["clang-tidy", "--quiet", "-p", build, *ANALYZER, path], cwd=root, capture_output=True,
                            text=True, check=False)
    found = FINDING.findall(result.stdout)
    findings = {f"{os.path.relpath(place, root)}: {text} [{check}]"
                for place, text, check in found if not NOT_BELIEVED.match(text)}
    if result.returncode and not found:
        findings.add(f"{path}: clang-tidy failed: {(result.stderr or result.stdout).strip()[:500]}")
    return findings


def check_tree(root, build, jobs=2, only=()):
    entries = {path: entry for path, entry in compiled_files(root, build).items() if not only or path in only}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda path: check_file(root, build, path, entries[path]), entries)
    return sorted(set().union(*answers)), len(entries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("only", nargs="*")
    arguments = parser.parse_args()
    return tree.finish("clang-tidy", *check_tree(os.path.abspath(arguments.source), os.path.abspath(arguments.build),
                                                  arguments.jobs, arguments.only))


if __name__ == "__main__":
    sys.exit(main())
