# SPDX-License-Identifier: Apache-2.0
"""Random system calls of the program fail. Whatever happens, nobody's entries suffer, nothing is left behind, the status is
a documented one, the message names what failed, and the next run completes.

PREJIT_FULL_FAULTS=1 makes 1,000 trials instead of a sample; PREJIT_FAULTS=N makes N. PREJIT_SEED repeats a run."""
import concurrent.futures
import errno
import functools
import json
import os
import re
import random
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../program"))
import cache  # noqa: E402
import harness  # noqa: E402

INJECT = os.environ.get("PREJIT_INJECT", "")
TRIALS = int(os.environ.get("PREJIT_FAULTS", 1000 if harness.FULL else 40 if harness.SANITIZED else 120))
NAMES = ["a", "b", "c"]
STALE_STAMP = b"Jan 01 202000:00:00"

SHORT = 0
NO_SPACE = [errno.ENOSPC, errno.EDQUOT]
NOT_ALLOWED = [errno.EROFS, errno.EACCES]
ERRORS = {
    "open": NO_SPACE + NOT_ALLOWED + [errno.EMFILE, errno.ENFILE],
    "read": [errno.EIO, SHORT],
    "write": NO_SPACE + [errno.EIO, SHORT],
    "rename": NO_SPACE + NOT_ALLOWED,
    "link": NO_SPACE + NOT_ALLOWED + [errno.EPERM, errno.EMLINK],
    "mkdir": NO_SPACE + NOT_ALLOWED,
    "unlink": NOT_ALLOWED + [errno.EBUSY],
    "sync": NO_SPACE + [errno.EIO],
    "fallocate": NO_SPACE + [errno.EOPNOTSUPP],
    "flock": [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO],
    "fcntl": [errno.EMFILE, errno.ENOLCK],
    "fdopendir": [errno.ENOMEM],
    "memfd": [errno.EMFILE, errno.ENOSPC],
    "socketpair": [errno.EMFILE, errno.ENFILE],
    "spawn": [errno.EAGAIN, errno.ENOMEM, errno.EMFILE],
}
# Where the program goes on without, or tries another way.
STATUSES = {0, 3, 4, 75}


class Trial(harness.Case):
    """One cache in some state, one run of which one call fails, and a look at what is left."""

    def runTest(self):
        """Not run by itself."""

    def prepare(self, state):
        self.scenario("compile_base_ms 1\ninit_ms 1\ncontext_ms 1\n")
        self.modules(NAMES, text="verify: {samples: 1}\n")
        getattr(self, f"prepare_{state}")()
        self.before = cache.contents(self.cache) if os.path.exists(self.cache) else {}
        self.before = {path: data for path, data in self.before.items()
                       if cache.problem_of(path, data) is None and STALE_STAMP not in data}

    def entry(self, key):
        """The code must be that of the kernel which the key's PTX defines; a key without PTX takes any."""
        kernel = re.search(rb"\.entry (\w+)", key)
        return cache.make_entry(key, payload(kernel[1].decode() if kernel else "stale"))

    def plant(self, keys):
        """A valid cache with an entry for each key."""
        records = {}
        for key in keys:
            cache.write(self.cache, cache.name_of(key), self.entry(key))
            records[cache.name_of(key)] = len(self.entry(key)) - cache.HEADER.size
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))
        return records

    def foreign_keys(self):
        return [cache.make_key(harness.ptx(f"foreign{i}").encode(), "sm_90") for i in range(3)]

    def prepare_empty(self):
        """No directory at all."""

    def prepare_foreign(self):
        self.plant(self.foreign_keys())

    def prepare_half(self):
        self.plant(self.foreign_keys())
        self.warm(0)
        key = cache.make_key(self.read("b.ptx").encode(), "sm_90")
        os.remove(os.path.join(self.cache, cache.name_of(key)))

    def prepare_done(self):
        self.plant(self.foreign_keys())
        self.warm(0)

    def prepare_short_index(self):
        self.plant(self.foreign_keys())
        os.truncate(os.path.join(self.cache, "index"), 20)

    def prepare_no_index(self):
        self.plant(self.foreign_keys())
        os.remove(os.path.join(self.cache, "index"))

    def prepare_dead_run(self):
        self.plant(self.foreign_keys())
        self.run_program("warm", environment={"PREJIT_TEST_STOP_AT": "S3.locked"})

    def prepare_full_of_stale(self):
        """Room is made by removing what is of another build."""
        stale = [STALE_STAMP + b"HOST64sm_90" + b"." * 20000 + b"%d\0 " % i for i in range(3)]
        self.plant(stale + self.foreign_keys())
        self.write("m.yaml", self.read("m.yaml").replace("modules:", "cache: {max_size: 65kB}\nmodules:"))

    def run_with(self, settings, arguments=("warm", "-j", "2")):
        """One run under the injection; gives its result and whether the failure came about."""
        log = self.path("fault-log")
        if os.path.exists(log):
            os.remove(log)
        environment = {"LD_PRELOAD": INJECT, "FAULT_LOG": log, **settings}
        if harness.SANITIZED:
            environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
        process = self.start(*arguments, environment=environment)
        result = self.finish(process, 0)
        self.assert_no_process_left(process.pid, 1.0)
        return result

    def counts(self):
        lines = [line.split() for line in self.read("fault-log").splitlines()] if os.path.exists(self.path("fault-log")) else []
        return {kind: int(number) for word, kind, number in lines if word == "count"}

    def was_hit(self):
        return os.path.exists(self.path("fault-log")) and "hit " in self.read("fault-log")

    @staticmethod
    def holds_entries(folder):
        """A run that fails leaves what is compiled and not committed to the next one."""
        return any(files for path, _, files in os.walk(folder) if re.search(r"/w[0-9]+/[0-9a-f]/[0-9a-f]$", path))

    def check_cache(self, kind):
        """What was sound before is there, and listed; nothing temporary lies about."""
        own = os.path.join(self.cache, ".prejit")
        left = set(os.listdir(own)) if os.path.exists(own) else set()
        if "receipt.json" in left:
            with open(os.path.join(own, "receipt.json"), encoding="utf-8") as file:
                json.load(file)
        if kind not in ("unlink", "open", "fdopendir", "fcntl"):  # without these nothing can be removed
            kept = {name for name in left if name.startswith("run-") and self.holds_entries(os.path.join(own, name))}
            self.assertLessEqual(left, {"receipt.json", "lock"} | self.dead_runs | kept)
        now = cache.contents(self.cache) if os.path.exists(self.cache) else {}
        self.assertEqual({path: data for path, data in now.items() if path in self.before}, self.before)
        self.assertEqual([path for path, data in now.items() if cache.chokes(path, data)], [])

    def check_listed(self):
        self.assertEqual(set(self.before) - set(cache.read_index(self.cache)), set())

    def check_message(self, result, kind, number):
        """A run that did not take place says which call failed, and about what."""
        message = result.errors.splitlines()[-1] if result.errors else ""
        took_place = result.output and '"error": {"code"' not in result.output
        if result.status == 2 or (result.status == 1 and took_place):
            self.assertRegex(message, r"\.ptx|m\.yaml", result)
        else:
            self.assertIn(result.status, STATUSES, result)
        if message == "prejit: out of memory":
            self.assertEqual((result.status, number), (3, errno.ENOMEM), result)
        elif result.status == 3 and not took_place and number:
            self.assertRegex(message, r"^prejit: ")
            if kind not in ("flock",):
                self.assertIn(os.strerror(number), message)
            self.assertRegex(message, r"/|index|\bworker\b|signals|memory|descriptor|temporary|hash directory")

    def carry_out(self, state, kind, at, number, sticky):
        self.prepare(state)
        own = os.path.join(self.cache, ".prejit")
        self.dead_runs = set(os.listdir(own)) if os.path.exists(own) else set()
        index_was_valid = self.index_is_valid()
        settings = {"FAULT_CALL": kind, "FAULT_AT": str(at), "FAULT_ERRNO": str(number)}
        if sticky:
            settings["FAULT_STICKY"] = "1"
        result = self.run_with(settings)
        self.check_cache(kind)
        # On a disk that takes no write at all any more, what an index that was being rewritten listed stays unlisted until
        # the next run. It hits all the same.
        if index_was_valid and not (kind == "write" and sticky):
            self.check_listed()
        if self.was_hit():
            self.check_message(result, kind, number)
        else:
            self.assertEqual(result.status, 0, result)
        after = self.run_program("warm")
        self.assertEqual(after.status, 0, f"{result}\nand then {after}")
        self.assert_all_proven(after, NAMES)
        self.check_cache("write")
        # An entry that could not be read while the index was rebuilt is left where it is, unlisted. It hits all the same.
        if index_was_valid or kind not in ("read", "open", "fstat"):
            self.check_listed()
        self.assertEqual(self.harm(), [])
        left = set(os.listdir(own)) - {"lock"}
        self.assertEqual(left, {"receipt.json"})
        return result.status

    def look_only(self, arguments, kind, at, number):
        """A command that changes nothing, whatever fails in it; None as the number of the call: just count."""
        before = self.everything()
        settings = {"FAULT_CALL": kind, "FAULT_AT": str(at), "FAULT_ERRNO": str(number)} if kind else {}
        result = self.run_with(settings, arguments)
        self.assertEqual(self.everything(), before)
        if self.was_hit():
            self.check_message(result, kind, number)
        else:
            self.assertEqual(result.status, 0, result)

    def everything(self):
        """{path: contents} of all files in the cache."""
        found = {}
        for folder, _, names in os.walk(self.cache):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(folder, name)] = file.read()
        return found

    def index_is_valid(self):
        try:
            cache.read_index(self.cache)
        except (OSError, ValueError):
            return False
        return True


@functools.lru_cache
def payload(kernel):
    """A cubin for sm_90 as the driver makes them."""
    trial = Trial()
    trial.setUp()
    try:
        trial.modules([kernel])
        trial.warm(0)
        (data,) = cache.contents(trial.cache).values()
        _, key_size, _, _ = cache.HEADER.unpack_from(data)
        return data[cache.HEADER.size + key_size:]
    finally:
        trial.doCleanups()


STATES = sorted(name[len("prepare_"):] for name in dir(Trial) if name.startswith("prepare_"))


def one(state, kind, at, number, sticky):
    """None, or what was wrong."""
    trial = Trial()
    try:
        trial.setUp()
        trial.carry_out(state, kind, at, number, sticky)
    except AssertionError as problem:
        return str(problem)
    finally:
        trial.doCleanups()
    return None


class Faults(unittest.TestCase):
    def count_calls(self, state):
        """How often each call is made in a run on a cache in this state."""
        trial = Trial()
        trial.setUp()
        try:
            trial.prepare(state)
            trial.run_with({})
            return trial.counts()
        finally:
            trial.doCleanups()

    def test_random_failures(self):
        seed = int(os.environ.get("PREJIT_SEED", random.randrange(1 << 32)))
        print(f"PREJIT_SEED={seed} PREJIT_FAULTS={TRIALS}", flush=True)
        chance = random.Random(seed)
        counts = {state: self.count_calls(state) for state in STATES}
        for state, kinds in counts.items():
            self.assertGreater(kinds.get("open", 0), 5, f"{state}: {kinds}")
        self.assertEqual(set().union(*counts.values()) - set(ERRORS), set())
        self.assertEqual(set(ERRORS) - set().union(*counts.values()), set(), "a kind of call is never made")
        plan = []
        for i in range(TRIALS):
            state = STATES[i % len(STATES)]
            kind = chance.choice(sorted(counts[state]))
            plan.append((state, kind, chance.randint(1, counts[state][kind]), chance.choice(ERRORS[kind]),
                         chance.random() < 0.3))
        self.run_all(one, plan)

    def run_all(self, function, plan):
        """All trials, two at a time."""
        problems = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for trial, problem in zip(plan, pool.map(lambda trial: function(*trial), plan)):
                if problem:
                    problems.append(f"{trial}: {problem}")
        for problem in problems:
            print(problem, flush=True)
        self.assertEqual(len(problems), 0, f"of {len(plan)} trials; the first: {problems[:1]}")

    def test_commands_that_change_nothing(self):
        seed = int(os.environ.get("PREJIT_SEED", random.randrange(1 << 32)))
        print(f"PREJIT_SEED={seed}", flush=True)
        chance = random.Random(seed)
        plan = []
        for command in ("verify", "plan"):
            trial = Trial()
            trial.setUp()
            try:
                trial.prepare("done")
                trial.look_only([command], "", 0, 0)
                counts = trial.counts()
            finally:
                trial.doCleanups()
            self.assertGreater(counts.get("open", 0), 5)
            kinds = [kind for kind in sorted(counts) for _ in range(max(1, TRIALS // 60))]
            plan += [(command, kind, chance.randint(1, counts[kind]), chance.choice(ERRORS[kind])) for kind in kinds]
        self.run_all(look, plan)


def look(command, kind, at, number):
    """None, or what was wrong."""
    trial = Trial()
    try:
        trial.setUp()
        trial.prepare("done")
        trial.look_only([command], kind, at, number)
    except AssertionError as problem:
        return str(problem)
    finally:
        trial.doCleanups()
    return None


def load_tests(loader, _tests, _pattern):
    """A trial is run by the tests, not beside them."""
    return loader.loadTestsFromTestCase(Faults)


if __name__ == "__main__":
    if not os.path.exists(INJECT) or shutil.which("env") is None:
        sys.exit("PREJIT_INJECT must name the library to be preloaded")
    harness.main()
