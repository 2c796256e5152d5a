# SPDX-License-Identifier: Apache-2.0
"""Promises about saying yes only where nobody waits: GPUs without a job, entries that changed, code that cannot be loaded,
environments in which every program compiles."""
import os

import entries
import workload
from harness import entries_of
from promises import JIT_OFF, check_proven, make_manifest

UNLOADABLE = {"shared_pointer": ".param .u64 .ptr .shared .align 4 p", "local_pointer": ".param .u64 .ptr .local .align 4 p",
              "texture": ".param .texref p", "surface": ".param .surfref p"}
LOADABLE = {"constant_pointer": ".param .u64 .ptr .const .align 4 p", "global_pointer": ".param .u64 .ptr .global .align 4 p"}


def write_ptx(machine, name, parameter):
    return machine.write(f"{name}.ptx", f".version 7.0\n.target sm_70\n.address_size 64\n"
                                        f".visible .entry {name}({parameter})\n{{\n\tret;\n}}\n")


def native_of(report):
    return report.json["host"]["devices"][0]["arch"]


def gpu_not_served(machine, checks):
    """Targets of a manifest that leave out the GPU here: proven, and yet status 4, at each run; typed with -t: 0."""
    manifest, files = make_manifest(machine, machine.size(4, 2), targets=["sm_120"])
    cache = machine.cache()
    report = machine.warm(manifest, cache)
    checks.equal("warm: exit status", report.status, 4)
    checks.equal("warm: verdicts", report.verdicts(), {"proven": len(files)})
    checks.equal("warm: modules that the GPU has no job for", sorted({name for one in report.json["unserved"]
                                                                    for name in one["modules"]}),
                 sorted(os.path.basename(file).removesuffix(".ptx") for file in files))
    run = machine.run_program("calc", files[0], cache=cache, settings=JIT_OFF)
    checks.equal("a program there, JIT disabled, misses", (run.status, "CUDA_ERROR_JIT_COMPILATION_DISABLED" in run.output),
                 (3, True))
    checks.equal("second run: exit status", machine.warm(manifest, cache).status, 4)
    checks.equal("verify: exit status", machine.prejit("verify", manifest, cache).status, 4)
    typed = machine.warm(manifest, machine.cache(), "-t", "sm_120")
    checks.equal("typed with -t: exit status, note", (typed.status, bool(typed.json["unserved"])), (0, True))
    both = machine.warm(manifest, cache, "-t", "native")
    check_proven(checks, both, files)
    run = machine.run_program("calc", *files, cache=cache, settings=JIT_OFF)
    checks.equal("after -t native, JIT disabled", (run.status, run.output.count("RIGHT")), (0, len(files)))


def cannot_be_loaded(machine, checks):
    """PTX that the driver compiles, stores and cannot load is rejected with that reason, by plan, warm and offline alike."""
    for name, parameter in {**UNLOADABLE, **LOADABLE}.items():
        file, cache = write_ptx(machine, name, parameter), machine.cache()
        manifest = workload.write_manifest(machine.path("manifest.yaml"), [file])
        bad = name in UNLOADABLE
        if bad:
            run = machine.run_program("calc", file, cache=cache)
            checks.equal(f"{name}: the driver", (run.status, "CUDA_ERROR_INVALID_IMAGE" in run.output,
                                                 len(entries_of(cache))), (3, True, 1))
        warm = machine.warm(manifest, machine.cache())
        checks.equal(f"{name}: warm", (warm.status, list(warm.verdicts())), (1, ["rejected"]) if bad else (0, ["proven"]))
        plan = machine.prejit("plan", manifest, machine.cache())
        checks.equal(f"{name}: plan", plan.status, 1 if bad else 0)
        offline = machine.warm_offline(manifest, machine.cache(), "-t", native_of(warm))
        checks.equal(f"{name}: offline", (offline.status, list(offline.verdicts())),
                     (1, ["rejected"]) if bad else (0, ["stored"]))


def changed_entries(machine, checks):
    """Entries that changed behind a receipt are read again: damaged ones, and sound ones that hold another module's code."""
    manifest, files = make_manifest(machine, 3)
    cache = machine.cache()
    check_proven(checks, machine.warm(manifest, cache), files)

    def change(alter, what):
        name = entries_of(cache)[0]
        path = os.path.join(cache, name)
        status = os.stat(path)
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "r+b") as file:
            file.write(alter(content, name))
            file.truncate()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        verify = machine.prejit("verify", manifest, cache)
        checks.equal(f"{what}: verify", (verify.status, sum(job["verdict"] == "proven" for job in verify.jobs())),
                     (4, len(verify.jobs()) - 1))
        warm = machine.warm(manifest, cache)
        checks.equal(f"{what}: warm", (warm.status, warm.summary("compiled")), (0, 1))
        run = machine.run_program("calc", *files, cache=cache, settings=JIT_OFF)
        checks.equal(f"{what}: programs, JIT disabled", (run.status, run.output.count("RIGHT")), (0, len(files)))

    change(lambda content, _: content[:-600] + bytes(600), "damaged, its times given back")

    def of_another(content, name):
        key, _ = entries.take_apart(content)
        other = next(one for one in entries_of(cache) if one != name)
        with open(os.path.join(cache, other), "rb") as file:
            return entries.put_together(key, entries.take_apart(file.read())[1])

    change(of_another, "another module's code under a right checksum")


def forced_jit(machine, checks):
    """CUDA_FORCE_PTX_JIT and CUDA_FORCE_JIT: programs compile each time, so no run says that all is well."""
    manifest, files = make_manifest(machine, 2)
    cache = machine.cache()
    check_proven(checks, machine.warm(manifest, cache), files)
    for name in ("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"):
        for run in ("first", "second"):
            report = machine.warm(manifest, cache, settings={name: "1"})
            checks.equal(f"{name}: {run} run", report.status, 4)
        checks.equal(f"{name}: verify", machine.prejit("verify", manifest, cache, settings={name: "1"}).status, 4)
    checks.equal("without them", machine.warm(manifest, cache).status, 0)


def no_gpu_listing(machine, checks):
    """A machine that lists no GPU: each run that claims there is nothing to do has asked the driver."""
    manifest, files = make_manifest(machine, 3)
    cache, bare = machine.cache(), machine.path("bare-root")
    os.makedirs(bare)
    settings = {"PREJIT_ROOT": bare}
    check_proven(checks, machine.warm(manifest, cache, settings=settings), files)
    again = machine.warm(manifest, cache, settings=settings)
    checks.equal("second run", (again.status, again.summary("compiled")), (0, 0))
    # Without a visible GPU the driver's word is another one.
    gone = machine.warm(manifest, cache, settings={**settings, "CUDA_VISIBLE_DEVICES": ""})
    checks.equal("no GPU is visible: exit status", gone.status, 3)


def nothing_compared(machine, checks):
    """verify --against-driver of an empty cache compares nothing and is no success."""
    manifest, files = make_manifest(machine, 2)
    report = machine.prejit("verify", manifest, machine.cache(), "--against-driver")
    checks.equal("nothing warmed: exit status", report.status, 4)


SHORT = [gpu_not_served, cannot_be_loaded, changed_entries, forced_jit, no_gpu_listing, nothing_compared]
