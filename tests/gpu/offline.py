# SPDX-License-Identifier: Apache-2.0
"""What prejit promises of caches that were warmed without a driver, seen by one; as in promises.py."""
import concurrent.futures
import os
import random
import re
import shutil
import statistics
import sys
import threading

import entries
import workload
from harness import PROFILE, Broken, Report, entries_of, entry_name
from promises import JIT_OFF
from toolkit import MISS, check_all_proven, check_run, data, first_gpu, foreign_stamps, read, write_manifest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import offline_pairs

OPTIONS = [{}, {"max_registers": 64}, {"optimization_level": 3, "max_registers": 64, "generate_line_info": True}]
OPTION_TEXTS = ["", "--maxrregcount 64", "-O3 --maxrregcount 64 -lineinfo"]
# A job that hangs must not take the whole run's time with it.
PATIENCE = ["--timeout", "20"]


# ---- what is warmed, and the programs that use it -----------------------------------------------------------------------

def with_comments(machine, name, count):
    """Copies of a file of PTX that differ in a comment: a key of its own each."""
    text, paths = read(data(name)).decode(), []
    for index in range(count):
        paths.append(machine.write(f"{name.removesuffix('.ptx')}{index:02d}.ptx", f"{text}// {index}\n"))
    return paths


class Work:
    """Modules of each kind, with no option, one and three in turn; `counts` are PTX files, sources and links."""

    def __init__(self, machine, counts, targets, foreign):
        ptx, sources, links = counts
        self.targets = targets
        self.ptx = workload.make(machine.path("ptx"), ptx)
        self.sources = workload.make_sources(machine.path("sources"), sources, kernels=1)
        self.links = [[path, data("thrice.ptx")] for path in with_comments(machine, "axpb.ptx", links)]
        self.modules = []
        for kind, items in (("ptx", self.ptx), ("source", self.sources), ("link", self.links)):
            for index, item in enumerate(items):
                module = {"name": f"{kind}{index:02d}", kind: item, "options": OPTIONS[index % 3]}
                if not module["options"]:
                    del module["options"]
                if index % 4 == 0:
                    module["targets"] = [*targets, foreign]
                self.modules.append(module)
        self.jobs = sum(len(module.get("targets", targets)) for module in self.modules)

    def manifest(self, machine, kinds=("ptx", "source", "link")):
        modules = [module for module in self.modules if any(kind in module for kind in kinds)]
        return write_manifest(machine, modules, self.targets), sum(len(one.get("targets", self.targets)) for one in modules)

    @staticmethod
    def turn(items, number):
        """Those of the items that have the options of that number."""
        return [item for index, item in enumerate(items) if index % 3 == number]


def make_work(machine, counts):
    """Work for the first GPU here and, some of it, for an architecture that no GPU here has."""
    native = learn_gpu(machine)
    return Work(machine, counts, [native], "sm_120" if native != "sm_120" else "sm_90")


def learn_gpu(machine):
    one, = workload.make(machine.path("one"), 1, "plain", size=1_000)
    report = machine.warm(workload.write_manifest(machine.path("one.yaml"), [one]), machine.cache())
    if report.json["host"]["driver_version"] != PROFILE and not machine.emulated:
        raise Broken(f"the profile is of driver {PROFILE}, this one is {report.json['host']['driver_version']}")
    machine.show_one_gpu()  # whose entries alone are made
    return first_gpu(report)


def option_words(options):
    return [f"{name}={int(value)}" for name, value in options.items()]


def at_once(machine, function, items):
    """What the function gives for each item; some run beside each other."""
    with concurrent.futures.ThreadPoolExecutor(machine.size(8, 2)) as pool:
        return list(pool.map(function, items))


def check_loads(machine, checks, work, cache):
    """Programs that load PTX, with no option, one and three."""
    for options, number in zip(OPTIONS, range(3)):
        files = work.turn(work.ptx, number)
        run = machine.run_program("calc", *option_words(options), *files, cache=cache, settings=JIT_OFF)
        checks.equal(f"PTX with {len(options)} options: status, right results", (run.status, run.output.count("RIGHT")),
                     (0, len(files)))


def check_sources(machine, checks, work, cache, library):
    """Programs that compile with NVRTC, whose PTX is then loaded with the options."""
    ptx = [machine.path("program.ptx") for _ in work.sources]

    def run(pair):
        return machine.run_program("nvrtc_app", f"library={library}", "option=--no-cache", "kernel=axpb:3:1",
                                   f"ptx={pair[1]}", pair[0], cache=cache, settings=JIT_OFF)
    runs = at_once(machine, run, list(zip(work.sources, ptx)))
    for run in work.turn(runs, 0):
        check_run(checks, "source without options: the program hits and computes right", run, 0, "hit", "axpb: right")
    for run in [*work.turn(runs, 1), *work.turn(runs, 2)]:
        check_run(checks, "source with options, loaded without: misses", run, 3, "miss")
    for options, number in zip(OPTIONS, range(3)):
        files = work.turn(ptx, number)
        run = machine.run_program("calc", *option_words(options), *files, cache=cache, settings=JIT_OFF)
        checks.equal(f"sources' PTX with {len(options)} options: status, right results",
                     (run.status, run.output.count("RIGHT")), (0, len(files)))


def run_link(machine, options, inputs, cache, settings):
    return machine.run_program("link_app", *option_words(options), "kernel=axpb:3:1", *[f"ptx:{path}" for path in inputs],
                               cache=cache, timeout=20, settings=settings)


def check_links(machine, checks, work, cache):
    items = [(OPTIONS[index % 3], inputs) for index, inputs in enumerate(work.links)]
    runs = at_once(machine, lambda item: run_link(machine, *item, cache, JIT_OFF), items)
    for (options, _), run in zip(items, runs):
        check_run(checks, f"link with {len(options)} options: hits and computes right", run, 0, "hit", "axpb: right")


# ---- no driver --------------------------------------------------------------------------------------------------------

class DriverWatch:
    """Looks, every few milliseconds, at what the processes below this one have mapped."""

    def __init__(self):
        self.seen, self.found, self.done = set(), set(), threading.Event()

    @staticmethod
    def parents():
        """Process → its parent, of all that there are."""
        found = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                        found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
                except (OSError, ValueError, IndexError):
                    continue
        return found

    @staticmethod
    def below(parents, process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    def look(self):
        parents = self.parents()
        for process in parents:
            if process == os.getpid() or not self.below(parents, process):
                continue
            try:
                with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
                    maps = file.read()
            except OSError:
                continue
            self.seen.add(process)
            driver = re.search(r"\S*/libcuda\.so\S*", maps)
            if driver:
                # NVRTC asks for it by itself; nobody else has a reason to.
                self.found.add(("NVRTC's process: " if "/libnvrtc" in maps else "") + driver[0])

    def watch(self):
        while not self.done.wait(0.005):
            self.look()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join(10)


def check_no_driver(checks, watch, report):
    checks.true("processes of the offline run that were looked at", len(watch.seen) > 1, str(len(watch.seen)))
    checks.equal("of those, with a driver", sorted(one for one in watch.found if not one.startswith("NVRTC")), [])
    for one in sorted(one for one in watch.found if one.startswith("NVRTC")):
        checks.note("NVRTC opened by itself", one)
    host = report.json["host"]
    checks.equal("what it knows of driver and GPUs", (host["driver_version"], host["devices"]), (None, []))


# ---- promises ---------------------------------------------------------------------------------------------------------

def warm_offline(machine, checks, what, manifest, jobs, *arguments):
    """(cache, report) of a run that must store everything."""
    cache = machine.cache()
    report = machine.warm_offline(manifest, cache, *arguments, *machine.nvrtc())
    checks.equal(f"{what}: exit status, verdicts", (report.status, report.verdicts()), (0, {"stored": jobs}))
    for reason in report.reasons():
        checks.note(f"{what}: reason", reason)
    return cache, report


def check_names(machine, checks, work, report, cache):
    """The names are those that the driver's rule gives, worked out here."""
    stamp = report.json["offline"]["profiles"][0]["stamp"]
    named = {entry["name"] for job in report.jobs() for entry in job["entries"]}
    checks.equal("entries of another name than reported", sorted(set(entries_of(cache)) ^ named), [])
    checks.equal("entries of another stamp", foreign_stamps(cache, stamp), [])
    wrong = []
    for number, file in enumerate(work.ptx[:3]):
        job, = [job for job in report.jobs() if (job["module"], job["target"]) == (f"ptx{number:02d}", work.targets[0])]
        expected = entry_name(stamp, work.targets[0], read(file), OPTION_TEXTS[number])
        wrong += [job["id"]] if [entry["name"] for entry in job["entries"]] != [expected] else []
    checks.equal("PTX under another name than predicted", wrong, [])
    links = [job for job in report.jobs() if job["module"].startswith("link")]
    checks.equal("entries of each link", {len(job["entries"]) for job in links}, {2})


def check_witnesses(checks, what, report, names):
    """Each job with its witness, and beside it the load that must fail and did (the canary)."""
    for name in names:
        lacking = [job["id"] for job in report.jobs() if job["witnesses"][name] is not True]
        checks.equal(f"{what}: jobs without the witness {name}", lacking, [])


def list_cache(machine, cache):
    """Name → (listed in index, state), as `cache ls` has them."""
    result = machine.run([os.path.join(machine.build, "prejit"), "cache", "ls", "--cache", cache, "--format", "json"])
    return {entry["name"]: (entry["listed"], entry["state"]) for entry in Report(result).json["entries"]}


def check_later_stores(machine, checks, cache):
    """The driver stores other modules into the same cache: nothing of what is there goes or changes."""
    before, listed = entries.contents(cache), list_cache(machine, cache)
    files = workload.make(machine.path("later"), machine.size(8, 2), "plain", prefix="later", size=2_000)
    other, = with_comments(machine, "axpb.ptx", 1)
    other = [machine.write("later.ptx", read(other).decode() + "// later\n"), data("thrice.ptx")]
    run = machine.run_program("calc", *files, cache=cache)
    checks.equal("later: other modules load and compute", (run.status, run.output.count("RIGHT")), (0, len(files)))
    run = run_link(machine, {}, other, cache, None)
    check_run(checks, "later: another link computes", run, 0, "axpb: right")
    after, still = entries.contents(cache), list_cache(machine, cache)
    checks.equal("later: entries that the driver added", len(after) - len(before), len(files) + 1)
    checks.equal("later: entries that went or changed", [name for name in before if after.get(name) != before[name]], [])
    checks.equal("later: entries that cache ls tells otherwise", [name for name in listed if still.get(name) != listed[name]],
                 [])
    checks.equal("later: entries that are not listed and sound",
                 [name for name, state in still.items() if state != (True, "sound")], [])


def offline_caches(machine, checks):
    """64 modules (PTX, sources, links; no option, one, three) warmed without a driver: the driver takes them all."""
    work = make_work(machine, machine.size((24, 18, 22), (6, 3, 6)))
    manifest, jobs = work.manifest(machine)
    with DriverWatch() as watch:
        made, report = warm_offline(machine, checks, "offline", manifest, jobs)
    check_no_driver(checks, watch, report)
    checks.equal("modules", len(work.modules), machine.size(64, 15))
    checks.note("offline: compiler, whole command", f"{report.json['offline']['compiler']}, {report.wall_ms:.0f} ms")
    check_names(machine, checks, work, report, made)
    cache = machine.path("carried")
    shutil.copytree(made, cache)
    before = entries.contents(cache)
    with DriverWatch() as watch:
        verify = machine.prejit("verify", manifest, cache, *PATIENCE, *machine.nvrtc())
    checks.true("control: the watch sees a driver where there is one", bool(watch.found))
    check_all_proven(checks, "verify", verify, work.jobs)
    # Which file a job's entry is, verify does not know before a run with this driver left its receipt.
    check_witnesses(checks, "verify", verify, ("jit_disabled", "canary"))
    check_loads(machine, checks, work, cache)
    check_sources(machine, checks, work, cache, report.json["toolkit"]["nvrtc"]["path"])
    check_links(machine, checks, work, cache)
    checks.equal("entries after the programs", entries.contents(cache) == before, True)
    check_later_stores(machine, checks, cache)
    check_all_proven(checks, "verify after that", machine.prejit("verify", manifest, cache, *PATIENCE, *machine.nvrtc()), jobs)
    warm = machine.warm(manifest, cache, *PATIENCE, *machine.nvrtc())
    check_all_proven(checks, "warm", warm, jobs)
    check_witnesses(checks, "warm", warm, ("jit_disabled", "canary", "entry_present"))
    checks.equal("warm: compiled, repaired", (warm.summary("compiled"), warm.summary("repaired")), (0, 0))
    again = machine.warm(manifest, cache, *machine.nvrtc())
    checks.equal("warm again: nothing to do", (again.status, again.summary("nothing_to_do")), (0, True))


def offline_fatbins(machine, checks):
    """What is not predicted of fatbins in links, offline leaves out and says so; `warm` on the GPU adds just that."""
    native = learn_gpu(machine)
    modules = [{"name": "ptx", "link": [data("axpb.ptx"), data("thrice.ptx")]},
               {"name": "fatbin", "link": [data("axpb.ptx"), data("stored.fatbin")]}]
    if not machine.emulated:
        modules.append({"name": "packed", "link": [data("axpb.ptx"), data("thrice.fatbin")]})
    manifest, cache = write_manifest(machine, modules, [native]), machine.cache()
    report = machine.warm_offline(manifest, cache)
    said = {job["module"]: (job["verdict"], job["reason_code"]) for job in report.jobs()}
    left_out = [name for name, what in said.items() if what == ("rejected", "not-predicted")]
    checks.note("offline: links that it left out", ", ".join(left_out) or "none")
    checks.equal("offline: links that it neither stored nor left out",
                 [name for name, what in said.items() if name not in left_out and what != ("stored", None)], [])
    checks.equal("offline: exit status, PTX", (report.status, said["ptx"]), (1 if left_out else 0, ("stored", None)))
    before = entries.contents(cache)
    warm = machine.warm(manifest, cache, *PATIENCE)
    check_all_proven(checks, "warm", warm, len(modules))
    checks.equal("warm: compiled", warm.summary("compiled"), len(left_out))
    after = entries.contents(cache)
    checks.equal("offline entries that changed", [name for name in before if after.get(name) != before[name]], [])
    run = machine.run_program("link_app", "kernel=axpb:3:1", f"ptx:{data('axpb.ptx')}", f"fatbin:{data('stored.fatbin')}",
                              cache=cache, settings=JIT_OFF)
    check_run(checks, "the fatbin's program hits and computes right", run, 0, "hit", "axpb: right")


def compare(machine, checks, what, manifest, cache, jobs):
    """How many jobs' code is the driver's own."""
    before = entries.contents(cache)
    report = machine.prejit("verify", manifest, cache, "--against-driver", *PATIENCE, *machine.nvrtc())
    check_all_proven(checks, f"{what}: verify --against-driver", report, jobs)
    results = [(job["id"], (job["against_driver"] or {}).get("result"), (job["against_driver"] or {}).get("detail"))
               for job in report.jobs()]
    checks.equal(f"{what}: jobs that were not compared",
                 [one for one in results if one[1] not in ("same-code", "other-code")], [])
    checks.equal(f"{what}: the cache is as before", entries.contents(cache) == before, True)
    for one in [one for one in results if one[1] == "other-code"][:4]:
        checks.note(f"{what}: other code", f"{one[0]}: {one[2]}")
    checks.note(f"{what}: --against-driver, whole command", f"{report.wall_ms:.0f} ms")
    return sum(one[1] == "same-code" for one in results)


def against_driver(machine, checks):
    """ptxas makes the driver's own code in every job; how often nvJitLink does is told."""
    work = make_work(machine, machine.size((12, 6, 6), (3, 3, 3)))
    manifest, jobs = work.manifest(machine)
    cache, report = warm_offline(machine, checks, "ptxas", manifest, jobs)
    usage = machine.run([os.path.join(machine.build, "prejit"), "verify", "--help"])
    if "--against-driver" not in usage.output:
        checks.note("SKIPPED: the code was not compared", "this prejit has no verify --against-driver")
        return
    checks.equal(f"{report.json['offline']['compiler']}: jobs with the driver's code",
                 compare(machine, checks, "ptxas", manifest, cache, jobs), jobs)
    if machine.emulated:
        checks.note("SKIPPED: nvJitLink", "the stand-in is of no version that the profile was proven with")
        return
    # It makes nothing that is to be linked, and what it makes is not held to the driver's code.
    manifest, jobs = work.manifest(machine, ("ptx", "source"))
    cache, report = warm_offline(machine, checks, "nvJitLink", manifest, jobs, *nvjitlink(machine))
    same = compare(machine, checks, "nvJitLink", manifest, cache, jobs)
    checks.note(f"{report.json['offline']['compiler']}: jobs with the driver's code", f"{same} of {jobs}")


def nvjitlink(machine):
    return ["--nvjitlink", machine.toolkit or "/usr/local/cuda/lib64"]


def change_profile(machine, pattern, replacement):
    """A copy of the shipped profile with one change."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(folder, "manifests/drivers", PROFILE + ".yaml") for folder in (here + "/../..", machine.build)]
    found = [place for place in places if os.path.exists(place)]
    if not found:
        raise Broken(f"the shipped profile is in none of {places}")
    text, count = re.subn(pattern, replacement, read(found[0]).decode(), flags=re.MULTILINE)
    if count != 1:
        raise Broken(f"{found[0]} has {count} lines like {pattern}")
    return machine.write("changed.yaml", text)


def wrong_profile(machine, checks):
    """Entries under a stamp that differs in one character: no hit, no error, and `warm` repairs all."""
    native = learn_gpu(machine)
    cache = machine.cache()
    own = workload.make(machine.path("own"), 4, "plain", prefix="own", size=1_000)
    own_manifest = workload.write_manifest(machine.path("own.yaml"), own, [native])
    check_all_proven(checks, "the driver's own first", machine.warm(own_manifest, cache), 4)
    mine = entries.contents(cache)
    ptx = workload.make(machine.path("ptx"), 4, "plain", prefix="p", size=1_000)
    modules = [{"name": f"p{index}", "ptx": path, **({"options": OPTIONS[index % 3]} if index % 3 else {})}
               for index, path in enumerate(ptx)] + [{"name": "link", "link": [data("axpb.ptx"), data("thrice.ptx")]}]
    manifest = write_manifest(machine, modules, [native])
    profile = change_profile(machine, r'^(  stamp: ".*)(\d)"', lambda match: f'{match[1]}{(int(match[2]) + 1) % 10}"')
    report = machine.warm_offline(manifest, cache, profile=profile)
    checks.equal("offline with a wrong stamp: status, verdicts", (report.status, report.verdicts()), (0, {"stored": 5}))
    planted = entries.contents(cache)
    checks.equal("entries it added", len(planted) - len(mine), 6)
    verify = machine.prejit("verify", manifest, cache, *PATIENCE)
    checks.equal("verify: status, verdicts", (verify.status, verify.verdicts()), (4, {"missed": 5}))
    run = machine.run_program("calc", ptx[0], cache=cache, settings=JIT_OFF)
    checks.equal("a program finds nothing", (run.status, MISS in run.output), (3, True))
    warm = machine.warm(manifest, cache, *PATIENCE)
    check_all_proven(checks, "warm", warm, 5)
    checks.equal("warm: compiled", warm.summary("compiled"), 5)
    run = machine.run_program("calc", ptx[0], cache=cache, settings=JIT_OFF)
    checks.equal("the program hits and computes", (run.status, run.output.count("RIGHT")), (0, 1))
    after = entries.contents(cache)
    checks.equal("the driver's own entries that went or changed", [name for name in mine if after.get(name) != mine[name]], [])
    checks.note("entries of the wrong stamp that are still there",
                f"{sum(name in after for name in planted if name not in mine)} of {len(planted) - len(mine)}")
    check_all_proven(checks, "the driver's own at last", machine.prejit("verify", own_manifest, cache, *PATIENCE), 4)
    profile = change_profile(machine, r"^cache_format: 65$", "cache_format: 66")
    checks.equal("a profile of another format: exit status",
                 machine.warm_offline(manifest, machine.cache(), profile=profile).status, 3)
    other = machine.cache()
    with open(os.path.join(other, "index"), "wb") as file:
        file.write(b"\x42" + entries.make_index({})[1:])
    checks.equal("a cache of another format: exit status", machine.warm_offline(manifest, other).status, 3)


def poison_of(kind, payload, other):
    """What stands in the payload's place; `other` is the same module's code for another architecture."""
    return {"random": random.Random(kind).randbytes(len(payload)), "cut": payload[:len(payload) // 2], "arch": other,
            "empty": b"", "sound": payload}[kind]


def plant_poison(machine, modules, native, other):
    """A cache with the modules' entries, each with the payload that its name says; of a link the first input's."""
    source = machine.cache()
    report = machine.warm_offline(write_manifest(machine, modules, [native, other]), source)
    if report.status != 0:
        raise Broken(f"offline ended with {report.status}: {report.reasons()}")
    found, pairs = {name: entries.take_apart(content) for name, content in entries.contents(source).items()}, {}
    for module in modules:
        text = read(module.get("ptx") or module["link"][0])
        kind = module["name"].removeprefix("link-")
        of = {job["target"]: [found[entry["name"]] for entry in job["entries"]] for job in report.jobs()
              if job["module"] == module["name"]}
        foreign, = [payload for key, payload in of[other] if text in key]
        for key, payload in of[native]:
            pairs[key] = poison_of(kind, payload, foreign) if text in key else payload
    cache = machine.cache()
    entries.plant(cache, pairs.items())
    return cache


def poison(machine, checks):
    """Entries planted by hand with a random, cut, wrong-arch or no payload: `verify` names each, `warm` cures all."""
    native = learn_gpu(machine)
    other = "sm_80" if native != "sm_80" else "sm_90"
    kinds = ["random", "cut", "arch", "empty", "sound"]
    files = dict(zip(kinds, workload.make(machine.path("ptx"), len(kinds), "plain", size=1_000)))
    modules = [{"name": kind, "ptx": file} for kind, file in files.items()]
    cache, manifest = plant_poison(machine, modules, native, other), write_manifest(machine, modules, [native])
    for kind in ("random", "cut", "arch"):
        run = machine.run_program("calc", files[kind], cache=cache)
        checks.equal(f"control, {kind}: the driver believes it", (run.status, "CUDA_ERROR_INVALID" in run.output), (3, True))
    verify = machine.prejit("verify", manifest, cache, *PATIENCE)
    checks.equal("verify: status", verify.status, 4)
    checks.equal("verify: verdicts", {job["module"]: job["verdict"] for job in verify.jobs()},
                 {kind: "proven" if kind == "sound" else "missed" for kind in kinds})
    for job in verify.jobs():
        checks.note(f"verify says of {job['module']}", f"{job['verdict']}: {job['reason_code']}: {job['reason']}")
    warm = machine.warm(manifest, cache, *PATIENCE)
    check_all_proven(checks, "warm", warm, len(kinds))
    run = machine.run_program("calc", *files.values(), cache=cache, settings=JIT_OFF)
    checks.equal("programs hit and compute", (run.status, run.output.count("RIGHT")), (0, len(kinds)))


def poisoned_links(machine, checks):
    """The same in the entries of links."""
    native = learn_gpu(machine)
    other = "sm_80" if native != "sm_80" else "sm_90"
    kinds = ["random", "cut", "arch", "empty", "sound"]
    inputs = {kind: [path, data("thrice.ptx")] for kind, path in zip(kinds, with_comments(machine, "axpb.ptx", len(kinds)))}
    modules = [{"name": f"link-{kind}", "link": one} for kind, one in inputs.items()]
    cache, manifest = plant_poison(machine, modules, native, other), write_manifest(machine, modules, [native])
    for kind in kinds:
        run = run_link(machine, {}, inputs[kind], cache, JIT_OFF)
        checks.note(f"a program that meets {kind}", f"{run.status}: {'; '.join(run.output.splitlines()[-3:])}")
    # What the real linker does with such an entry was never measured: it may also crash.
    verify = machine.prejit("verify", manifest, cache, "--timeout", 8)
    checks.true("verify: does not pass", verify.status in (1, 4), f"exit status {verify.status}")
    checks.equal("verify: links that are proven", [job["module"] for job in verify.jobs() if job["verdict"] == "proven"],
                 ["link-sound"])
    for job in verify.jobs():
        checks.note(f"verify says of {job['module']}", f"{job['verdict']}: {job['reason_code']}: {job['reason']}")
    check_all_proven(checks, "warm", machine.warm(manifest, cache, *PATIENCE), len(kinds))
    for kind in kinds:
        check_run(checks, f"{kind}: cured, the program hits and computes right",
                  run_link(machine, {}, inputs[kind], cache, JIT_OFF), 0, "hit", "axpb: right")


def offline_speed(machine, checks):
    """Offline beside the driver's way, and on two cores beside ptxas in turn."""
    native = learn_gpu(machine)
    files = workload.make(machine.path("modules"), machine.size(64, 4))
    rounds = offline_pairs.measure_driver(machine, files, native, machine.size(3, 1))
    for name in ("offline_ms", "offline_compile_ms", "driver_ms", "driver_compile_ms"):
        checks.note(f"{name} (median)", f"{statistics.median(one[name] for one in rounds):.0f} ms")
    checks.equal("jobs that were not stored or not proven", sum(one["lacking"] for one in rounds), 0)
    checks.ratio("driver's way : offline, whole commands (median of pairs)",
                 statistics.median(one["driver_ms"] / one["offline_ms"] for one in rounds), at_least=1.4)
    checks.note("driver's way : offline, compile phases",
                f"{statistics.median(one['driver_compile_ms'] / one['offline_compile_ms'] for one in rounds):.2f}")
    one, = offline_pairs.measure_serial(machine, files, native, 1)
    checks.note("ptxas in turn", f"{one['serial_ms']:.0f} ms, {one['serial_cpu_ms']:.0f} ms of CPU")
    checks.note(f"offline on {one['cores']} cores, compile phase",
                f"{one['two_compile_ms']:.0f} ms, {one['two_cpu_ms']:.0f} ms of CPU")
    checks.ratio(f"compile phase on {one['cores']} cores : ptxas in turn / {one['cores']}",
                 one["two_compile_ms"] / (one["serial_ms"] / one["cores"]), at_most=1.10)


PROMISES = [offline_caches, offline_fatbins, against_driver, wrong_profile, poison, poisoned_links]
LONG = [offline_speed]
