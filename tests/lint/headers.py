#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header compiles alone, as C and as C++.

usage: headers.py --source DIR [--include DIR]… [--jobs N]
"""
import argparse
import concurrent.futures
import subprocess
import sys

import tree

LANGUAGES = {
    "C": ["gcc", "-x", "c", "-std=c11", "-Wall", "-Wextra", "-Wstrict-prototypes", "-Wconversion"],
    "C++": ["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wno-pragma-once-outside-header"],
}


def check_header(root, path, language, include_folders):
    command = [*LANGUAGES[language], "-Werror", "-D_GNU_SOURCE", "-Itool", "-Iinclude",
               *(f"-isystem{folder}" for folder in include_folders), "-fsyntax-only", "-"]
    # Twice: the guard must hold.
    text = f'#include "{path}"\n' * 2
    result = subprocess.run(command, cwd=root, input=text, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return None
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    return f"{path}: does not compile alone as {language}: {(errors or ['no reason given'])[0]}"


def check_tree(root, include_folders=(), jobs=2):
    paths = tree.c_files(root, ("tool", "include"), (".h",))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda pair: check_header(root, *pair, include_folders),
                           [(path, language) for path in paths for language in LANGUAGES])
    return [answer for answer in answers if answer], len(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    return tree.finish("headers", *check_tree(arguments.source, arguments.include, arguments.jobs))


if __name__ == "__main__":
    sys.exit(main())
