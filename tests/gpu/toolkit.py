# SPDX-License-Identifier: Apache-2.0
"""What prejit promises of programs that use NVRTC, cuLink and nvJitLink, and of the cubins it makes; as in promises.py."""
import hashlib
import json
import os
import re

import workload
from harness import DATA, Broken, entries_of, entry_name, stamp_of
from promises import JIT_OFF

BUILD_TARGETS = ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_120"]
LINK_TARGETS = ["sm_80", "sm_120"]
MISS = "CUDA_ERROR_JIT_COMPILATION_DISABLED"


def data(name):
    return os.path.join(DATA, name)


def flow(value):
    """A value as YAML writes it on one line; JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


def write_manifest(machine, modules, targets):
    lines = ["version: 1", f"targets: {flow(targets)}", "modules:"] + [f"  - {flow(module)}" for module in modules]
    return machine.write("manifest.yaml", "\n".join(lines) + "\n")


def check_all_proven(checks, what, report, jobs):
    checks.equal(f"{what}: exit status", report.status, 0)
    checks.equal(f"{what}: verdicts", report.verdicts(), {"proven": jobs})
    for reason in report.reasons():
        checks.note(f"{what}: reason", reason)


def natives(report):
    return sorted({device["arch"] for device in report.json["host"]["devices"]})


def first_gpu(report):
    """Architecture of the GPU that programs take here, the first one."""
    return report.json["host"]["devices"][0]["arch"]


def check_run(checks, what, run, status, *words):
    """A program's exit status and the lines that must be among what it printed; all of it is shown where they are not."""
    lines = run.output.splitlines()
    sound = run.status == status and all(word in lines for word in words)
    said = "; ".join(lines + run.errors.splitlines()) or "no output"
    checks.true(what, sound, "" if sound else f"status {run.status}: {said}")


def foreign_stamps(cache, stamp):
    """Entries in the cache that another build than the driver's made."""
    return [name for name in entries_of(cache) if stamp_of(os.path.join(cache, name), stamp) != stamp]


# ---- sources ----------------------------------------------------------------------------------------------------------

def source_variants():
    """Name → NVRTC options; the folder of the program is part of what -lineinfo writes."""
    plain = [f"-I{DATA}", "-DOFFSET=2", "--std=c++17"]
    return {"whole": plain, "lines": [*plain, "-lineinfo"], "relocatable": [*plain, "-rdc=true", "--fmad=false"]}


def run_source(machine, library, options, cache, ptx, settings):
    """The program that compiles whole.cu itself; the emulated driver computes axpb alone and leaves the rest as it is."""
    if machine.emulated:
        # For its own cache the real NVRTC needs more of a driver than that.
        options = [*options, "--no-cache"]
    return machine.run_program(
        "nvrtc_app", f"library={library}", *[f"option={one}" for one in options], f"header=memory.h={data('memory.h')}",
        "kernel=axpb:3:1", f"expression=scale<5>:{machine.size('5:2', '1:0')}", f"ptx={ptx}", data("whole.cu"), cache=cache,
        settings=settings)


def check_sources_cold(machine, checks, library, variants, stamp):
    cache = machine.cache()
    for name, options in variants.items():
        run = run_source(machine, library, options, cache, machine.path("cold.ptx"), JIT_OFF)
        check_run(checks, f"{name}: cold, the program misses", run, 3, "miss")
    left = entries_of(cache)
    checks.note("entries that the program's own NVRTC left in the cold cache",
                f"{len(left)}, {len(foreign_stamps(cache, stamp))} of them under another stamp than the driver's")


def check_sources_warm(machine, checks, report, library, variants, cache):
    stamp, native = report.json["host"]["stamp"], first_gpu(report)
    for name, options in variants.items():
        ptx = machine.path("program.ptx")
        run = run_source(machine, library, options, cache, ptx, JIT_OFF)
        check_run(checks, f"{name}: warmed, the program hits and computes right", run, 0, "hit", "axpb: right")
        if not os.path.exists(ptx):
            raise Broken(f"the program made no PTX: {run.tail()}")
        with open(ptx, "rb") as file:
            expected = entry_name(stamp, native, file.read())
        stored = [entry["name"] for job in report.jobs() if (job["module"], job["target"]) == (name, native)
                  for entry in job["entries"]]
        checks.equal(f"{name}: the name of its entry is that of the program's PTX", stored, [expected])
    options = ["-DOFFSET=3" if one == "-DOFFSET=2" else one for one in variants["whole"]]
    run = run_source(machine, library, options, cache, machine.path("other.ptx"), JIT_OFF)
    check_run(checks, "control: another option, the program misses", run, 3, "miss")


def sources(machine, checks):
    """A program that compiles CUDA C++ with NVRTC at run time hits what was warmed from the source, and computes right."""
    variants, targets = source_variants(), ["native", "sm_80", "sm_120"]
    modules = [{"name": name, "source": data("whole.cu"), "nvrtc": options, "headers": {"memory.h": data("memory.h")},
                "name_expressions": ["scale<5>"]} for name, options in variants.items()]
    manifest, cache = write_manifest(machine, modules, targets), machine.cache()
    report = machine.warm(manifest, cache, *machine.nvrtc())
    jobs = len(variants) * len({*natives(report), *targets[1:]})
    check_all_proven(checks, "warm", report, jobs)
    stamp = report.json["host"]["stamp"]
    checks.equal("entries after warm", len(entries_of(cache)), jobs)
    checks.equal("entries that NVRTC itself left there", foreign_stamps(cache, stamp), [])
    library = (report.json["toolkit"]["nvrtc"] or {}).get("path")
    if not library or not stamp:
        raise Broken(f"the report names no NVRTC or no stamp: {report.json['toolkit']}, {report.reasons()}")
    checks.note("NVRTC", f"{library}, version {report.json['toolkit']['nvrtc']['version']}")
    check_all_proven(checks, "verify", machine.prejit("verify", manifest, cache, *machine.nvrtc()), jobs)
    again = machine.warm(manifest, cache, *machine.nvrtc())
    checks.equal("second run: nothing to do", (again.status, again.summary("nothing_to_do")), (0, True))
    check_sources_cold(machine, checks, library, variants, stamp)
    check_sources_warm(machine, checks, report, library, variants, cache)


# ---- links ------------------------------------------------------------------------------------------------------------

def link_cases(machine):
    """Name → (inputs as TYPE:FILE, options). The emulated driver unpacks nothing, and takes no options beside those that a
    fatbin records."""
    second = {"ptx": "ptx:thrice.ptx", "stored": "fatbin:stored.fatbin", "object": "object:thrice.o",
              "library": "library:libthrice.a", "packed": "fatbin:thrice.fatbin"}
    options = {"max_registers": 64, "optimization_level": 3}
    cases = {}
    for name, text in second.items():
        if not machine.emulated or name != "packed":
            cases[name] = (["ptx:axpb.ptx", text], {})
        if not machine.emulated or name == "ptx":
            cases[f"{name}-options"] = (["ptx:axpb.ptx", text], options)
    return cases


def run_link(machine, inputs, options, cache):
    paths = [f"{kind}:{data(name)}" for kind, _, name in (one.partition(":") for one in inputs)]
    return machine.run_program("link_app", *[f"{name}={value}" for name, value in options.items()], "kernel=axpb:3:1", *paths,
                               cache=cache, settings=JIT_OFF)


def check_links_cold(machine, checks, cases):
    cache = machine.cache()
    for name, (inputs, options) in cases.items():
        run = run_link(machine, inputs, options, cache)
        # A library is opened for what is missing so far, so alone it has nothing to add.
        alone = [f"{data(one.partition(':')[2])} alone: {MISS}" for one in inputs if not one.startswith("library:")]
        check_run(checks, f"{name}: cold, every input misses", run, 3, "miss", *alone)
    checks.equal("entries after the cold runs", entries_of(cache), [])


def links(machine, checks):
    """A program that links with cuLink hits every input that was warmed, native and foreign alike."""
    cases = link_cases(machine)
    modules = [{"name": name, "link": [data(one.partition(":")[2]) for one in inputs],
                **({"options": options} if options else {})} for name, (inputs, options) in cases.items()]
    manifest, cache = write_manifest(machine, modules, ["native", *LINK_TARGETS]), machine.cache()
    check_links_cold(machine, checks, cases)
    report = machine.warm(manifest, cache)
    targets = {*natives(report), *LINK_TARGETS}
    jobs = len(cases) * len(targets)
    check_all_proven(checks, "warm", report, jobs)
    for name in ("ptx", "ptx-options"):
        counts = {job["target"]: len(job["entries"]) for job in report.jobs() if job["module"] == name}
        checks.equal(f"{name}: entries of each target", counts, {target: 2 for target in targets})
    checks.note("entries of all jobs", ", ".join(f"{job['id']} {len(job['entries'])}" for job in report.jobs()))
    foreign = [job for job in report.jobs() if job["target_kind"] == "foreign"]
    checks.equal("foreign jobs", len(foreign), jobs - len(cases) * len(natives(report)))
    checks.equal("foreign jobs without their witness",
                 [job["id"] for job in foreign if job["witnesses"]["jit_disabled"] is not True], [])
    checks.equal("entries of another stamp", foreign_stamps(cache, report.json["host"]["stamp"]), [])
    check_all_proven(checks, "verify", machine.prejit("verify", manifest, cache), jobs)
    before = entries_of(cache)
    for name, (inputs, options) in cases.items():
        run = run_link(machine, inputs, options, cache)
        check_run(checks, f"{name}: warmed, the program hits and computes right", run, 0, "hit", "axpb: right")
    checks.equal("entries the programs added", len(entries_of(cache)) - len(before), 0)


# ---- cubins -----------------------------------------------------------------------------------------------------------

def build_modules(machine):
    """Name → (module of the manifest, its kernels as cubin_app wants them)."""
    axpb, (ptx,) = ["axpb:3:1"], workload.make(machine.path("modules"), 1, "plain", size=1_000)
    return {
        "ptx": ({"ptx": ptx}, axpb),
        "source": ({"source": data("whole.cu"), "nvrtc": [f"-I{DATA}", "-DOFFSET=2"], "headers": {"memory.h": data("memory.h")},
                    "name_expressions": ["scale<5>"]}, [*axpb, "_Z5scaleILi5EEvPfi:5:2"]),
        "ltoir": ({"link": [data("axpb.ltoir"), data("thrice.ltoir")], "linker": "nvjitlink"}, axpb),
        "archive": ({"link": [data("axpb.ptx"), data("libthrice.a")], "linker": "nvjitlink"}, axpb),
        "link": ({"link": [data("axpb.ptx"), data("thrice.ptx")]}, axpb),
    }


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def arch_of_cubin(content):
    """"sm_NN" that an ELF of CUDA 13's layout says it is for: bits 8 to 15 of e_flags."""
    if content[:4] != b"\x7fELF" or content[7] != 0x41:
        return "no cubin of CUDA 13"
    return f"sm_{content[0x31]}"


def check_index(checks, out, modules):
    """Every unit of index.json against the files; gives (module, target) → path of the cubin."""
    index = json.loads(read(os.path.join(out, "index.json")))
    cubins, wrong = {}, []
    for unit in index["units"]:
        name, cubin = f"{unit['module']} {unit['target']}", unit["cubin"]
        if not cubin:
            wrong.append(f"{name}: no cubin")
            continue
        path = os.path.join(out, cubin["path"])
        content = read(path)
        cubins[unit["module"], unit["target"]] = path
        if (digest(content), len(content)) != (cubin["sha256"], cubin["bytes"]):
            wrong.append(f"{name}: not of the SHA-256 and size that the index tells")
        if arch_of_cubin(content) != re.match(r"sm_\d+", unit["target"])[0]:
            wrong.append(f"{name}: is for {arch_of_cubin(content)}")
        for one in unit["inputs"]:
            if digest(read(one["path"])) != one["sha256"]:
                wrong.append(f"{name}: input {one['path']} is not of the SHA-256 that the index tells")
    checks.equal("units in the index", len(index["units"]), len(modules) * len(BUILD_TARGETS))
    checks.equal("cubins that are not as the index tells", wrong, [])
    return cubins


def check_cubins(machine, checks, cubins, modules, native):
    cache = machine.cache()
    for name, (_, kernels) in modules.items():
        if machine.emulated:
            # Its code is noise, all but axpb; and the stand-in reads no kernels out of a real compiler's LTO-IR.
            kernels = kernels[:1]
            if name == "ltoir":
                continue
        paths = [cubins[key] for key in sorted(cubins) if key[0] == name and re.fullmatch(native + "a?", key[1])]
        if not paths:
            checks.true(f"{name}: a cubin for {native}", False)
            continue
        run = machine.run_program("cubin_app", *[f"kernel={one}" for one in kernels], *paths, cache=cache, settings=JIT_OFF)
        lines = [f"{path}: loaded" for path in paths] + [f"{one.partition(':')[0]}: right" for one in kernels]
        check_run(checks, f"{name}: {len(paths)} cubins for {native} load and compute right", run, 0, *lines)
    checks.equal("entries the programs made", entries_of(cache), [])


def cubins(machine, checks):
    """`prejit build` makes cubins of PTX, source, LTO-IR, archive and link group; those for this GPU compute right."""
    modules = build_modules(machine)
    manifest = write_manifest(machine, [{"name": name, **module} for name, (module, _) in modules.items()], BUILD_TARGETS)
    out, cache = machine.path("cubins"), machine.cache()
    settings = {"CUDA_CACHE_PATH": cache}
    report = machine.make_cubins(manifest, "--out-dir", out, settings=settings)
    units = report.json["units"]
    checks.equal("build: exit status", report.status, 0)
    checks.equal("units", len(units), len(modules) * len(BUILD_TARGETS))
    checks.equal("units that were not built", [f"{unit['module']} {unit['target']}: {unit['verdict']}: {unit['reason']}"
                                               for unit in units if unit["verdict"] != "built"], [])
    checks.note("build: whole command", f"{report.wall_ms:.0f} ms")
    found = check_index(checks, out, modules)
    check = machine.make_cubins(manifest, "--check", settings=settings)
    written = [unit["cubin"]["path"] for unit in check.json["units"] if unit["cubin"] and unit["cubin"]["path"]]
    checks.equal("build --check: exit status, cubins written", (check.status, written), (0, []))
    checks.equal("entries in the cache after build", entries_of(cache), [])
    # Which GPU this is, prejit says where it asks the driver.
    one = write_manifest(machine, [{"name": "ptx", **modules["ptx"][0]}], ["native"])
    check_cubins(machine, checks, found, modules, first_gpu(machine.warm(one, machine.cache())))


PROMISES = [sources, links, cubins]
