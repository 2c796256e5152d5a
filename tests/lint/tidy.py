#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy with the tree's .clang-tidy over every C file of a build's compile_commands.json.

usage: tidy.py --source DIR --build DIR [--jobs N] [FILE…]
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

import tree

FINDING = re.compile(r"^(\S+:\d+):\d+: (?:warning|error): (.*) \[([\w.-]+)[\w.,-]*\]$", re.M)

# clang 14's analyzer does not know the cleanup attribute, which most functions here use; AddressSanitizer does.
NOT_BELIEVED = re.compile(r"Potential (memory leak|leak of memory)")


def compiled_files(root, build):
    """Sources of the program and its tests that the build compiles, relative to `root`, biggest first."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    paths = {os.path.relpath(os.path.join(one["directory"], one["file"]), root) for one in commands}
    paths = {path for path in paths if path.split("/")[0] in ("tool", "tests") and path.endswith(".c")}
    return sorted(paths, key=lambda path: -os.path.getsize(os.path.join(root, path)))


def check_file(root, build, path):
    result = subprocess.run(["clang-tidy", "--quiet", "-p", build, path], cwd=root, capture_output=True, text=True,
                            check=False)
    found = FINDING.findall(result.stdout)
    findings = {f"{os.path.relpath(place, root)}: {text} [{check}]"
                for place, text, check in found if not NOT_BELIEVED.match(text)}
    if result.returncode and not found:
        findings.add(f"{path}: clang-tidy failed: {(result.stderr or result.stdout).strip()[:500]}")
    return findings


def check_tree(root, build, jobs=2, only=()):
    paths = [path for path in compiled_files(root, build) if not only or path in only]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda path: check_file(root, build, path), paths)
    return sorted(set().union(*answers)), len(paths)


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
