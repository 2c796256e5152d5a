# SPDX-License-Identifier: Apache-2.0
"""Measures prejit and the smallest loaders in turn on the same modules, each time on a cold cache of its own."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu"))
import workload
from harness import Broken, entries_of


def run_baseline(machine, name, *arguments):
    """(milliseconds, entries stored) of a loader on a new cache."""
    cache = machine.cache()
    result = machine.run_program(name, *arguments, cache=cache)
    if result.status != 0:
        raise Broken(f"{name} ended with {result.status}: {result.tail()}")
    return json.loads(result.output)["wall_ms"], len(entries_of(cache))


def run_prejit(machine, manifest):
    report = machine.warm(manifest, machine.cache())
    return {"prejit_ms": report.wall_ms, "prejit_compile_ms": report.number("phases", "compile_ms"),
            "prejit_prove_ms": report.number("phases", "prove_ms"),
            "unproven": len(report.jobs()) - report.verdicts().get("proven", 0)}


def run_pools(machine, files):
    measured = {"pool_lost": 0}
    for processes in (8, 16):
        measured[f"pool{processes}_ms"], stored = run_baseline(machine, "baseline_pool", processes, *files)
        measured["pool_lost"] += len(files) - stored
    return measured


def measure(machine, files, rounds, serial_rounds=1):
    """One dictionary of milliseconds per round. Who goes first changes from round to round; the first load of all, which
    is slower on a fresh machine, is not measured."""
    manifest = workload.write_manifest(machine.path("manifest.yaml"), files)
    run_baseline(machine, "baseline_serial", files[0])
    measured = []
    for index in range(rounds):
        steps = [lambda: run_prejit(machine, manifest), lambda: run_pools(machine, files)]
        one = {}
        for step in steps if index % 2 == 0 else reversed(steps):
            one.update(step())
        if index < serial_rounds:
            one["serial_ms"], _ = run_baseline(machine, "baseline_serial", *files)
        measured.append(one)
    return measured
