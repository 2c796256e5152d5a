# SPDX-License-Identifier: Apache-2.0
"""What the benchmark scripts share: their arguments, a command's peak memory, tables."""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu"))
import harness


def open_machine(description, **sizes):
    """(machine, options) for `SCRIPT [--emulated] [--NAME N]… BUILD`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("build")
    parser.add_argument("--emulated", action="store_true", help="use BUILD's emulated driver")
    parser.add_argument("--toolkit", help="the folder of NVRTC and nvJitLink")
    parser.add_argument("--ptxas", help="another ptxas")
    parser.add_argument("--no-driver", action="store_true", help="measure only what needs none, where there is such a part")
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    options = parser.parse_args()
    try:
        return harness.Machine(options.build, options.emulated, options.toolkit, options.ptxas), options
    except harness.Broken as problem:
        sys.exit(str(problem))


# A child's peak includes what its parent held when it was forked: so a small parent stands between.
WATCHER = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(status)
"""


def watched(machine, command):
    """(result, peak RSS in bytes) of a command; nothing under some 10 MB can be told apart."""
    path = machine.path("peak")
    result = machine.run([sys.executable, "-I", "-S", "-c", WATCHER, path, *command])
    with open(path, encoding="ascii") as file:
        return result, int(file.read())


def print_table(heading, rows):
    """Rows of text in columns, the first left-aligned, the others right-aligned."""
    rows = [heading] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def spread(values):
    """Median, smallest and largest as cells."""
    return [f"{statistics.median(values):.1f}", f"{min(values):.1f}", f"{max(values):.1f}"]
