#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden cases of the command line.

usage: run.py --build DIR [--cases DIR] [--jobs N] [--sanitized] [--keep] [AREA | AREA/NAME]…
PREJIT_UPDATE=1 writes what came out into the case files; PREJIT_MUST_WORK=1 makes a skipped case a failure.
Exit status: 0, 1 where a case failed, 77 where every case was skipped.
"""
import argparse
import concurrent.futures
import os
import sys
import time

import casefile
import execute

HERE = os.path.dirname(os.path.abspath(__file__))
ALL_SKIPPED = 77


def find_cases(folder, wanted):
    """Names `area/name`, sorted, of all cases or of those asked for."""
    names = []
    for directory, _, files in os.walk(folder):
        names += [os.path.relpath(os.path.join(directory, file), folder).removesuffix(".case")
                  for file in files if file.endswith(".case")]
    if wanted:
        for one in wanted:
            if not any(name == one or name.startswith(one + "/") for name in names):
                raise casefile.CaseError(f"no case `{one}` in {folder}")
        names = [name for name in names if any(name == one or name.startswith(one + "/") for one in wanted)]
    return sorted(names)


class Outcome:
    def __init__(self, name, problems=(), skipped=None, updated=False, kept=None):
        self.name, self.problems, self.skipped = name, list(problems), skipped
        self.updated, self.kept = updated, kept


def run_case(settings, folder, name, update, keep):
    path = os.path.join(folder, name + ".case")
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    run = None
    try:
        statements = casefile.parse(text, name)
        reasons = [reason for reason in map(settings.lacks, execute.needs_of(statements)) if reason]
        if reasons:
            return Outcome(name, skipped=reasons[0])
        run = execute.Run(settings, statements)
        new_text = casefile.format_case(run.carry_out(update))
    except (casefile.CaseError, OSError, ValueError) as error:
        if run and not keep:
            run.remove()
        return Outcome(name, [str(error)])
    changed = update and not run.problems and new_text != text
    if changed:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(new_text)
    if not keep:
        run.remove()
    return Outcome(name, run.problems, updated=changed, kept=run.folder if keep else None)


def show(number, outcome, must_work):
    """Prints one line in the manner of TAP, with the reasons below it; gives "passed", "failed" or "skipped"."""
    problems = list(outcome.problems)
    if outcome.skipped and must_work:
        problems.append(f"{outcome.skipped}, and PREJIT_MUST_WORK is set")
    word = "not ok" if problems else "ok"
    note = f" # SKIP {outcome.skipped}" if outcome.skipped and not problems else ""
    note += " # updated" if outcome.updated else ""
    note += f" # kept in {outcome.kept}" if outcome.kept else ""
    print(f"{word} {number} - {outcome.name}{note}")
    for problem in problems:
        print(f"#   {problem}")
    return "failed" if problems else "skipped" if outcome.skipped else "passed"


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", default=os.path.join(HERE, "../.."))
    parser.add_argument("--cases", default=os.path.join(HERE, "cases"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("wanted", nargs="*")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    settings = execute.Settings(options.source, options.build, options.sanitized)
    try:
        names = find_cases(options.cases, options.wanted)
    except casefile.CaseError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    update, must_work = os.environ.get("PREJIT_UPDATE") == "1", os.environ.get("PREJIT_MUST_WORK") == "1"
    print(f"1..{len(names)}")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda name: run_case(settings, options.cases, name, update, options.keep), names)
        for number, outcome in enumerate(outcomes, 1):
            counts[show(number, outcome, must_work)] += 1
            sys.stdout.flush()
    print(f"{len(names)} cases: {', '.join(f'{count} {word}' for word, count in counts.items())} "
          f"in {time.monotonic() - start:.1f} s")
    if counts["failed"] or not names:
        return 1
    return 0 if counts["passed"] else ALL_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
