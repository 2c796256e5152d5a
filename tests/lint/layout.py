#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every C file is laid out as clang-format would lay it out.

usage: layout.py --source DIR
"""
import argparse
import re
import subprocess
import sys

import tree


def check_tree(root):
    paths = tree.c_files(root, ("tool", "include", "tests"))
    if not paths:
        return [], 0
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=root, capture_output=True, text=True,
                            check=False)
    findings = re.findall(r"^(\S+:\d+):\d+: error: .*clang-format-violations", result.stderr, re.M)
    if result.returncode and not findings:
        return [f"clang-format failed: {result.stderr.strip()}"], len(paths)
    return [f"{place}: not as clang-format lays it out (clang-format -i {place.split(':')[0]})"
            for place in findings], len(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    return tree.finish("layout", *check_tree(parser.parse_args().source))


if __name__ == "__main__":
    sys.exit(main())
