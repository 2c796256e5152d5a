# SPDX-License-Identifier: Apache-2.0
"""The program is killed: at random moments, at each named point of commit, and by signals it can answer. What is done
stays done, nobody else's entries suffer, and the next run completes."""
import contextlib
import fcntl
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import time

import cache
import harness

NAMES = [f"m{i:02}" for i in range(12)]
COMPILE_MS = 60
KILLS = 40 if harness.SANITIZED else 100
SIGNALS = 15
POINT = re.compile(r'"(S\d\.[a-z-]+)"')


class Kills(harness.Case):
    """Twelve modules of which two workers compile each in some 60 ms, beside entries of somebody else."""

    @classmethod
    def setUpClass(cls):
        cls.seed = int(os.environ.get("PREJIT_SEED", random.randrange(1 << 32)))
        print(f"PREJIT_SEED={cls.seed}", flush=True)
        cls.random = random.Random(cls.seed)

    def setUp(self):
        super().setUp()
        self.scenario(f"compile_base_ms {COMPILE_MS}\n")
        self.modules(NAMES, text="verify: {samples: 1}\n")
        self.ours = {self.entry(name) for name in NAMES}
        self.plant()

    def entry(self, name):
        return cache.name_of(cache.make_key(self.read(f"{name}.ptx").encode(), "sm_90"))

    def stored(self):
        """Our entries that the driver says it has kept somewhere."""
        kept = {line.split("entry=")[1].split()[0] for line in self.events("store") if line.endswith("kept")}
        return {path for path in self.ours if path.replace("/", "") in kept}

    def plant(self):
        """A cache with sound entries of another program."""
        shutil.rmtree(self.cache, ignore_errors=True)
        records = {}
        for i in range(3):
            key = cache.make_key(harness.ptx(f"foreign{i}").encode(), "sm_90")
            entry = cache.make_entry(key, self.foreign_payload())
            cache.write(self.cache, cache.name_of(key), entry)
            records[cache.name_of(key)] = len(entry) - cache.HEADER.size
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))
        self.foreign = cache.contents(self.cache)

    @staticmethod
    def foreign_payload():
        """The shortest thing that counts as a cubin for sm_90."""
        header = bytearray(64)
        header[:8] = b"\x7fELF\x02\x01\x01\x41"
        header[16:24] = b"\x02\0\xbe\0\x01\0\0\0"
        header[48:52] = (90 << 8 | 2).to_bytes(4, "little")
        header[52:54] = (64).to_bytes(2, "little")
        return bytes(header)

    def check_foreign(self):
        left = {path: data for path, data in cache.contents(self.cache).items() if path in self.foreign}
        self.assertEqual(left, self.foreign)

    def check_nothing_chokes(self):
        chokes = [path for path, data in cache.contents(self.cache).items() if cache.chokes(path, data)]
        self.assertEqual(chokes, [])
        cache.read_index(self.cache)

    def check_next_run(self, lost=0):
        """It completes; what a worker had stored is not compiled again, but for `lost` modules at most."""
        compiled_before = self.stored()
        os.remove(self.path("log"))
        result = self.warm(0)
        self.assert_all_proven(result, NAMES)
        # The first modules may have been handed out again before the stamp told that they are there.
        again = self.stored() & compiled_before - {self.entry(name) for name in NAMES[:2]}
        self.assertLessEqual(len(again), lost, f"{again} compiled again: {result}")
        self.check_foreign()
        self.check_nothing_chokes()
        self.assertEqual(self.harm(), [])
        self.assert_no_rubbish()
        listed = set(cache.read_index(self.cache))
        self.assertEqual((self.ours | set(self.foreign)) - listed, set())
        # A kill in the instant between its store and its removal leaves the module that told the stamp.
        surplus = [cache.read(self.cache, path) for path in listed - self.ours - set(self.foreign)]
        self.assertLessEqual(len(surplus), 1)
        self.assertTrue(all(b"prejit_probe" in data for data in surplus), surplus)
        return result

    def kill_after(self, seconds, number):
        process = self.start("warm", "-j", "2")
        time.sleep(seconds)
        os.kill(process.pid, number)
        return process


class Random(Kills):
    def test_kill_at_random_moments(self):
        duration = self.warm(0, "-j", "2").seconds
        for i in range(KILLS):
            moment = self.random.uniform(0, duration)
            with self.subTest(i=i, moment=moment, seed=self.seed):
                # Every fourth goes on where the last one was killed.
                if i % 4 == 0:
                    self.plant()
                    self.write("log", "")
                process = self.kill_after(moment, signal.SIGKILL)
                process.communicate()
                self.assert_no_process_left(process.pid)
                self.check_foreign()
                self.check_nothing_chokes()
                if i % 4 == 3:
                    self.check_next_run()


class Points(Kills):
    def test_kill_at_each_point_of_commit(self):
        points = self.points()
        self.assertGreater(len(points), 12)
        reached = []
        for point in points:
            with self.subTest(point=point):
                self.prepare_for(point)
                with self.busy_reader(point):
                    result = self.run_program("warm", "-j", "2", environment={"PREJIT_TEST_STOP_AT": point})
                if result.status == -signal.SIGKILL:
                    reached.append(point)
                else:
                    self.assertIn(result.status, (0, 3), result)
                self.check_foreign()
                if point == "S8.run-folder-removed":
                    # The receipt comes last: a next run with nothing to do would not look for folders.
                    self.assertEqual(os.listdir(os.path.join(self.cache, ".prejit")), [])
                if os.path.exists(os.path.join(self.cache, "index")):
                    self.assertEqual([path for path, data in cache.contents(self.cache).items()
                                      if cache.chokes(path, data)], [])
                result = self.warm(0)
                self.assert_all_proven(result, NAMES)
                self.check_foreign()
                self.check_nothing_chokes()
                self.assertEqual(self.harm(), [])
                self.assert_no_rubbish()
        self.assertEqual(reached, points)

    @staticmethod
    def points():
        """The names of all points: what tests/fault/points.h lists, which is what the store's sources name."""
        with open(os.path.join(harness.SOURCE, "tests/fault/points.h"), encoding="utf-8") as file:
            listed = POINT.findall(file.read())
        named = set()
        for path in glob.glob(os.path.join(harness.SOURCE, "tool/cache/*.c")):
            with open(path, encoding="utf-8") as file:
                named.update(POINT.findall(file.read()))
        assert named == set(listed), f"tests/fault/points.h and tool/cache differ: {named ^ set(listed)}"
        return listed

    def prepare_for(self, point):
        """A cache in which a run comes by `point`."""
        self.plant()
        self.scenario("compile_base_ms 5\n")
        if point in ("S0.index-staged", "S0.index-created"):
            os.remove(os.path.join(self.cache, "index"))
        if point == "S0.index-made-valid":
            os.truncate(os.path.join(self.cache, "index"), 20)
        if point in ("S0.harvested", "S0.run-removed"):
            self.run_program("warm", environment={"PREJIT_TEST_STOP_AT": "S2.staged"})
        if point in ("S3.removed", "S3.header-shortened"):
            self.plant_unloadable()
        if point == "S3.evicted":
            self.plant_stale()

    @contextlib.contextmanager
    def busy_reader(self, point):
        """Somebody who reads all the time, where only that makes a run come by `point`."""
        if point not in ("S3.index-copied", "S3.index-taken-over"):
            yield
            return
        with open(os.path.join(self.cache, "index"), "rb") as index:
            fcntl.lockf(index, fcntl.LOCK_SH)
            yield

    def plant_unloadable(self):
        """Our first module's entry with code for another architecture, which must go."""
        key = cache.make_key(self.read(f"{NAMES[0]}.ptx").encode(), "sm_90")
        payload = bytearray(self.foreign_payload())
        payload[49] = 80
        cache.write(self.cache, cache.name_of(key), cache.make_entry(key, bytes(payload)))
        records = cache.read_index(self.cache)
        records[cache.name_of(key)] = len(key) + len(payload)
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))

    def plant_stale(self):
        """An entry of another driver build that fills the cache up to its cap, and must go."""
        key = b"Jan 01 202000:00:00HOST64sm_90" + b"." * 200000 + b"\0 "
        entry = cache.make_entry(key, self.foreign_payload())
        cache.write(self.cache, cache.name_of(key), entry)
        records = {cache.name_of(key): len(entry) - cache.HEADER.size, **cache.read_index(self.cache)}
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))
        self.write("m.yaml", self.read("m.yaml").replace("modules:", "cache: {max_size: 205kB}\nmodules:"))


class Signals(Kills):
    def test_signals_at_random_moments(self):
        duration = self.warm(0, "-j", "2").seconds
        for i in range(SIGNALS):
            number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[i % 3]
            moment = self.random.uniform(0.03, duration * 0.9)
            with self.subTest(i=i, moment=moment, signal=number, seed=self.seed):
                self.plant()
                self.write("log", "")
                process = self.kill_after(moment, number)
                start = time.monotonic()
                result = self.finish(process, start)
                self.assertLess(result.seconds, 2.5)
                self.assertIn(result.status, (-number, 0), result)
                self.assert_no_process_left(process.pid, 0.5)
                if result.status == 0 or result.output == "" or result.report["error"]:
                    # Too late, the work was done; or so early that there was no program, or no run, to answer.
                    self.assertTrue(result.status == 0 or moment < 0.1, result)
                    continue
                self.check_interrupted(result)
                self.check_next_run(lost=2)

    def check_interrupted(self, result):
        """The report is complete: what was compiled is in the cache, what was not says why."""
        report = result.report
        self.assertEqual(report["exit_code"], 75, result)
        name = signal.Signals(-result.status).name
        self.assertTrue(report["exit_reason"].startswith(f"interrupted by {name}"), result)
        self.assertTrue(result.last_line.startswith(f"interrupted by {name}"), result.last_line)
        self.assertIn("; run again: prejit warm ", result.last_line)
        self.check_foreign()
        self.check_nothing_chokes()
        # All but what the two workers had not told of yet.
        self.assertLessEqual(len(self.stored() - set(cache.read_index(self.cache))), 2)
        self.assertTrue(os.path.exists(os.path.join(self.cache, ".prejit/receipt.json")) or not report["jobs"], result)
        self.assert_no_rubbish_but_receipt()

    def assert_no_rubbish_but_receipt(self):
        self.assertLessEqual(set(os.listdir(os.path.join(self.cache, ".prejit"))), {"receipt.json"})

    def test_a_signal_while_it_waits_for_another_run(self):
        first = self.start("warm", "-j", "1")
        time.sleep(0.2)
        second = self.start("warm")
        time.sleep(0.3)
        second.terminate()
        try:
            second.wait(2)
        except subprocess.TimeoutExpired:
            pass
        waited = second.poll() is None
        first.kill()
        first.communicate()
        result = self.finish(second, time.monotonic())
        self.assertFalse(waited, "it went on waiting for the lock")
        self.assertEqual(result.status, -signal.SIGTERM, result)

    def test_a_signal_while_the_driver_starts(self):
        self.scenario("init_ms 5000\n")
        for command in ("warm", "verify"):
            process = self.start(command)
            while len(harness.session_members(process.pid)) < 2:
                time.sleep(0.01)
            time.sleep(0.1)
            process.terminate()
            result = self.finish(process, time.monotonic())
            self.assertEqual((result.status, result.report["exit_code"]), (-signal.SIGTERM, 75), result)
            self.assertLess(result.seconds, 1.5)
            self.assert_no_process_left(process.pid, 0.5)

    def test_a_deadline_before_anything_is_known(self):
        self.scenario("init_ms 5000\n")
        result = self.warm(75, "--deadline", "1")
        self.assertEqual(result.report["exit_code"], 75)
        self.assertEqual(result.last_line, "exit 75: the deadline passed before the jobs were known; run again: "
                                           f"prejit warm --cache {self.cache} m.yaml")
        self.check_foreign()


class Others(Kills):
    def test_a_long_compile_is_not_done_again_after_a_kill(self):
        self.scenario("compile_base_ms 5\nslow kernel=m00 ms=600\nslow kernel=m11 ms=30000\n")
        process = self.start("warm", "-j", "2")
        while not any(self.entry("m00").replace("/", "") in line for line in self.events("store")):
            time.sleep(0.02)
        process.kill()
        process.communicate()
        self.assert_no_process_left(process.pid)
        self.write("log", "")
        self.scenario("compile_base_ms 5\nslow kernel=m00 ms=20000\n")
        result = self.warm(0, "-j", "2")
        self.assert_all_proven(result, NAMES)
        self.assertEqual(result.job("m00")["origin"], "reused")
        self.assertLess(result.seconds, 10)
        self.assertEqual(self.harm(), [])

    def test_a_receipt_half_written(self):
        self.warm(0)
        self.write("nv/.prejit/receipt.json.0123456789abcdef", "{")
        self.write("m.yaml", self.read("m.yaml") + "# changed\n")
        self.warm(0)
        self.assert_no_rubbish()

    def test_a_killed_worker_costs_nothing(self):
        process = self.start("warm", "-j", "2")
        time.sleep(0.25)
        workers = [pid for pid in harness.session_members(process.pid) if pid != process.pid]
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        result = self.finish(process, time.monotonic())
        self.assertEqual(result.status, 0, result)
        self.assert_all_proven(result, NAMES)

    def test_workers_in_the_middle_of_a_long_compile_go_with_their_parent(self):
        self.scenario("compile_base_ms 2\nhang kernel=m*\n")
        process = self.start("warm", "-j", "2")
        while len(self.events("hang")) < 2:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        self.assert_no_process_left(process.pid)
        self.check_foreign()


if __name__ == "__main__":
    harness.main()
