# SPDX-License-Identifier: Apache-2.0
"""Finds the project's own source files, and prints what a lint found."""
import os
import re
import sys

SKIPPED_FOLDERS = {".git", "data", "corpus", "__pycache__"}
BUILDS = "build"  # at the root alone: tool/session/build is source

# Kind of a source file by the end of its name; files without one are told by their first line.
KINDS = {
    ".c": "c", ".h": "c", ".cu": "c", ".py": "script", ".sh": "script", ".cmake": "cmake",
    "CMakeLists.txt": "cmake", ".yaml": "yaml", ".clang-tidy": "yaml", ".ptx": "ptx", ".case": "case",
}


def kind_of(path):
    """"c", "script", "cmake", "yaml", "ptx" or "case"; None for what is no source."""
    name = os.path.basename(path)
    for end, kind in KINDS.items():
        if name.endswith(end):
            return kind
    if "." not in name:
        with open(path, "rb") as file:
            if file.read(2) == b"#!":
                return "script"
    return None


def walk(root, below=(".",)):
    """Paths relative to `root`, sorted, of all source files in the folders `below` it."""
    found = set()
    for folder in below:
        for directory, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS
                          and os.path.relpath(os.path.join(directory, name), root) != BUILDS]
            for name in names:
                path = os.path.join(directory, name)
                if os.path.isfile(path) and kind_of(path):
                    found.add(os.path.relpath(path, root))
    return sorted(found)


def c_files(root, below, ends=(".c", ".h")):
    return [path for path in walk(root, below) if path.endswith(ends)]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """C text with comments and the insides of literals blanked; line numbers stay."""
    def blank(match):
        token = match.group(0)
        if token[0] in "\"'":
            return token[0] * 2
        return "\n" * token.count("\n") or " "
    return TOKEN.sub(blank, text)


def finish(name, findings, looked_at):
    """Prints findings and a last line; gives the exit status. A lint that looked at nothing has failed."""
    for finding in findings:
        print(finding)
    if not looked_at:
        print(f"{name}: nothing to look at")
        return 1
    print(f"{name}: {looked_at} looked at, {len(findings)} found")
    sys.stdout.flush()
    return 1 if findings else 0
