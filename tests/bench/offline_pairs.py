# SPDX-License-Identifier: Apache-2.0
"""Measures offline warming and what it is compared with in turn on the same modules, each time on a cold cache of its own."""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu"))
import workload
from harness import Broken

CORES, TIMEOUT_S = 2, 150


def run_offline(machine, manifest, modules):
    report = machine.warm_offline(manifest, machine.cache(), timeout=TIMEOUT_S)
    if report.status != 0 or report.verdicts() != {"stored": modules}:
        raise Broken(f"offline ended with {report.status} and {report.verdicts()}: {report.reasons()[:3]}")
    return report


def measure_driver(machine, files, target, rounds):
    """One dictionary per round: whole commands and compile phases, offline and with the driver, in milliseconds. Who goes
    first changes from round to round; one command of each before that is not measured."""
    manifest = workload.write_manifest(machine.path("manifest.yaml"), files, [target])
    first = workload.write_manifest(machine.path("first.yaml"), files[:1], [target])
    run_offline(machine, first, 1)
    machine.warm(first, machine.cache())
    measured = []
    for index in range(rounds):
        steps = {"offline": lambda: run_offline(machine, manifest, len(files)),
                 "driver": lambda: machine.warm(manifest, machine.cache())}
        one = {"lacking": 0}
        for name in steps if index % 2 == 0 else reversed(steps):
            report = steps[name]()
            one[f"{name}_ms"], one[f"{name}_compile_ms"] = report.wall_ms, report.number("phases", "compile_ms")
            good = report.verdicts().get("stored" if name == "offline" else "proven", 0)
            one["lacking"] += len(files) - good
        measured.append(one)
    return measured


def find_ptxas(machine):
    """The one that prejit takes."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    places = [machine.ptxas, home and os.path.join(home, "bin/ptxas"), shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]
    found = [place for place in places if place and os.path.exists(place)]
    if not found:
        raise Broken("there is no ptxas; name one with --ptxas")
    return found[0]


def run_in_turn(machine, files, target):
    """Milliseconds of one ptxas after the other."""
    ptxas, out, total = find_ptxas(machine), machine.path("out.cubin"), 0.0
    end = time.monotonic() + TIMEOUT_S
    for file in files:
        result = machine.run([ptxas, f"-arch={target}", file, "-o", out], max(1, end - time.monotonic()))
        if result.status != 0:
            raise Broken(f"ptxas ended with {result.status}: {result.tail()}")
        total += result.wall_ms
    return total


def measure_serial(machine, files, target, rounds):
    """One dictionary per round, all of it on the same few cores: the compile phase and ptxas in turn, and what CPU time
    each took, which other work on the machine does not change."""
    manifest, allowed = workload.write_manifest(machine.path("manifest.yaml"), files, [target]), os.sched_getaffinity(0)
    cores = set(sorted(allowed)[:CORES])
    measured = []
    os.sched_setaffinity(0, cores)
    try:
        for index in range(rounds):
            steps = {"two": lambda: run_offline(machine, manifest, len(files)).number("phases", "compile_ms"),
                     "serial": lambda: run_in_turn(machine, files, target)}
            one = {"cores": len(cores)}
            for name in steps if index % 2 == 0 else reversed(steps):
                before = os.times()
                value = steps[name]()
                after = os.times()
                one["two_compile_ms" if name == "two" else "serial_ms"] = value
                one[f"{name}_cpu_ms"] = (after.children_user + after.children_system - before.children_user
                                         - before.children_system) * 1e3
            measured.append(one)
    finally:
        os.sched_setaffinity(0, allowed)
    return measured
