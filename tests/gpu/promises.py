# SPDX-License-Identifier: Apache-2.0
"""What prejit promises on a real GPU, one function each; `machine` is a harness.Machine, `checks` a checks.Checks."""
import json
import os
import statistics
import sys

import workload
from harness import Broken, entries_of, entry_name

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import pairs

JIT_OFF = {"CUDA_DISABLE_PTX_JIT": "1"}


def make_manifest(machine, modules, kind="heavy", prefix="m", **more):
    """(manifest, files) of new modules."""
    files = workload.make(machine.path("modules"), modules, kind, prefix=prefix)
    return workload.write_manifest(machine.path("manifest.yaml"), files, **more), files


def check_proven(checks, report, files):
    """All jobs proven, no module without one, and the exit status that goes with it."""
    checks.equal("exit status", report.status, 0)
    checks.equal("verdicts", report.verdicts(), {"proven": len(report.jobs())})
    names = {os.path.basename(file).removesuffix(".ptx") for file in files}
    checks.equal("modules with a job", len(names & {job["module"] for job in report.jobs()}), len(files))


def cold_then_nothing_to_do(machine, checks):
    """64 modules of 200 kB on a cold cache, 16 workers: all proven; a second run does nothing."""
    manifest, files = make_manifest(machine, machine.size(64, 6))
    cache = machine.cache()
    report = machine.warm(manifest, cache)
    check_proven(checks, report, files)
    checks.equal("compiled", report.summary("compiled"), len(report.jobs()))
    checks.equal("entries in the cache", len(entries_of(cache)), len(report.jobs()))
    witnesses = [job["witnesses"] for job in report.jobs()]
    checks.equal("loads with JIT disabled that hit", sum(one["jit_disabled"] is True for one in witnesses), len(witnesses))
    again = machine.warm(manifest, cache)
    checks.equal("second run: exit status", again.status, 0)
    checks.equal("second run: nothing to do", again.summary("nothing_to_do"), True)
    checks.time("second run: whole command", again.wall_ms, 100)


def speed(machine, checks):
    """Compile phase and whole command beside the smallest process pools, and beside one process in turn."""
    files = workload.make(machine.path("modules"), machine.size(64, 4))
    rounds = pairs.measure(machine, files, machine.size(5, 1), serial_rounds=1)
    def median(values):
        return statistics.median(list(values))

    for name in ("prejit_compile_ms", "prejit_ms", "pool8_ms", "pool16_ms", "serial_ms"):
        checks.note(f"{name} (median)", f"{median(one[name] for one in rounds if name in one):.0f} ms")
    best = [min(one["pool8_ms"], one["pool16_ms"]) for one in rounds]
    serial = median(one["serial_ms"] for one in rounds if "serial_ms" in one)
    checks.equal("unproven jobs", sum(one["unproven"] for one in rounds), 0)
    checks.ratio("compile phase : best pool (median of pairs)",
                 median(one["prejit_compile_ms"] / pool for one, pool in zip(rounds, best)), at_most=1.10)
    checks.ratio("whole command : best pool (median of pairs)",
                 median(one["prejit_ms"] / pool for one, pool in zip(rounds, best)), at_most=1.5)
    checks.ratio("one process in turn : whole command", serial / median(one["prejit_ms"] for one in rounds), at_least=5)
    checks.note("entries the pools lost", str(sum(one["pool_lost"] for one in rounds)))


def foreign_targets(machine, checks):
    """Architectures that no GPU here has: compiled, and proven by the driver's answer to a foreign load."""
    manifest, files = make_manifest(machine, machine.size(4, 1), targets=["native", "sm_80", "sm_86", "sm_100", "sm_120"])
    cache = machine.cache()
    report = machine.warm(manifest, cache)
    check_proven(checks, report, files)
    native = {device["arch"] for device in report.json["host"]["devices"]}
    targets = native | {"sm_80", "sm_86", "sm_100", "sm_120"}
    kinds = {(job["target"], job["target_kind"]) for job in report.jobs()}
    checks.equal("targets", sorted(kinds), sorted((one, "native" if one in native else "foreign") for one in targets))
    checks.equal("jobs", len(report.jobs()), len(targets) * len(files))
    checks.equal("entries in the cache", len(entries_of(cache)), len(report.jobs()))


def options_and_names(machine, checks):
    """Options become part of the key: proven, and of the name that the key's recipe gives."""
    options = {"optimization_level": 3, "max_registers": 64, "generate_line_info": "true"}
    manifest, files = make_manifest(machine, machine.size(4, 1), options=options)
    cache = machine.cache()
    report = machine.warm(manifest, cache)
    check_proven(checks, report, files)
    stamp, wrong = report.json["host"]["stamp"], []
    by_name = {os.path.basename(file).removesuffix(".ptx"): file for file in files}
    for job in report.jobs():
        with open(by_name[job["module"]], "rb") as file:
            expected = entry_name(stamp, job["target"], file.read(), "-O3 --maxrregcount 64 -lineinfo")
        if [entry["name"] for entry in job["entries"]] != [expected] or expected not in entries_of(cache):
            wrong.append(job["id"])
    checks.equal("entries of another name than predicted", wrong, [])
    run = machine.run_program("calc", "optimization_level=3", "max_registers=64", "generate_line_info=1", *files,
                              cache=cache, settings=JIT_OFF)
    checks.equal("program with these options, JIT disabled", (run.status, run.output.count("RIGHT")), (0, len(files)))
    run = machine.run_program("calc", files[0], cache=cache, settings=JIT_OFF)
    checks.equal("the same program without options", (run.status, "CUDA_ERROR_JIT_COMPILATION_DISABLED" in run.output),
                 (3, True))


def plain_program(machine, checks):
    """A C program that knows nothing of prejit loads what was warmed, with JIT disabled, and computes the right result."""
    manifest, files = make_manifest(machine, machine.size(8, 2))
    cache, cold = machine.cache(), machine.cache()
    run = machine.run_program("calc", files[0], cache=cold, settings=JIT_OFF)
    checks.equal("control: a cold cache is refused", (run.status, "CUDA_ERROR_JIT_COMPILATION_DISABLED" in run.output),
                 (3, True))
    check_proven(checks, machine.warm(manifest, cache), files)
    before = entries_of(cache)
    run = machine.run_program("calc", *files, cache=cache, settings=JIT_OFF)
    checks.equal("right results", (run.status, run.output.count("RIGHT")), (0, len(files)))
    checks.equal("entries it added", len(entries_of(cache)) - len(before), 0)


def busy_readers(machine, checks):
    """Programs that load from the cache without pause never miss while other modules are warmed into it."""
    first, read = make_manifest(machine, machine.size(6, 2), prefix="r")
    second, files = make_manifest(machine, machine.size(60, 4), prefix="w")
    cache = machine.cache()
    check_proven(checks, machine.warm(first, cache), read)
    readers = [machine.start_program("readers", 120, *read, cache=cache) for _ in range(machine.size(6, 2))]
    for reader in readers:
        reader.wait_ready(20)
    report = machine.warm(second, cache)
    counts = []
    for reader in readers:
        last = reader.stop()
        try:
            counts.append(json.loads(last))
        except ValueError:
            raise Broken(f"a reader ended without its counts: {last}") from None
    check_proven(checks, report, files)
    checks.equal("compiled twice because an entry got lost", report.summary("repaired"), 0)
    checks.equal("reader misses", sum(one["misses"] for one in counts), 0)
    checks.equal("reader errors", sum(one["errors"] for one in counts), 0)
    checks.note("reader hits", str(sum(one["hits"] for one in counts)))
    checks.note("slowest load of a reader", f"{max(one['slowest_ms'] for one in counts):.1f} ms")
    checks.time("longest hold of the lock", report.number("store", "longest_hold_ms"), 10)
    checks.note("longest wait for the lock", f"{report.number('store', 'longest_wait_ms'):.1f} ms")
    checks.note("holds of the lock", str(report.number("store", "lock_holds")))


def memory_taken(machine, checks):
    """With all GPU memory taken the cache is filled all the same, and the proof says that it could not be had."""
    manifest, files = make_manifest(machine, machine.size(16, 2))
    cache, settings, hog = machine.cache(), None, None
    if machine.emulated:
        settings = machine.scenario("context_fail CUDA_ERROR_OUT_OF_MEMORY\n")
    else:
        hog = machine.start_program("hog", 120, cache=cache)
        checks.note("hog", hog.wait_ready(20))
    report = machine.warm(manifest, cache, settings=settings)
    if hog:
        hog.stop()
    checks.equal("exit status", report.status, 75)
    checks.equal("verdicts", report.verdicts(), {"inconclusive": len(report.jobs())})
    checks.equal("entries in the cache", len(entries_of(cache)), len(report.jobs()))
    after = machine.prejit("verify", manifest, cache)
    check_proven(checks, after, files)


def big_data(machine, checks):
    """Modules of 4 MB, whose entries the driver itself loses when many processes store them at once."""
    rounds, unproven, jobs, repaired, native = machine.size(20, 2), 0, 0, 0, set()
    manifest, files = make_manifest(machine, machine.size(40, 4), kind="data")
    walls = []
    for _ in range(rounds):
        report = machine.warm(manifest, machine.cache())
        jobs += len(report.jobs())
        unproven += len(report.jobs()) - report.verdicts().get("proven", 0) + (report.status != 0)
        repaired += report.summary("repaired")
        native |= {device["arch"] for device in report.json["host"]["devices"]}
        walls.append(report.wall_ms)
    checks.equal(f"jobs in {rounds} cold runs", jobs, rounds * len(files) * len(native))
    checks.equal("unproven jobs", unproven, 0)
    checks.note("compiled twice", str(repaired))
    checks.note("whole command (median)", f"{statistics.median(walls):.0f} ms")


SHORT = [cold_then_nothing_to_do, plain_program, options_and_names, foreign_targets, memory_taken, busy_readers]
LONG = [speed, big_data]
