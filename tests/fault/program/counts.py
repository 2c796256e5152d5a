# SPDX-License-Identifier: Apache-2.0
"""What can be counted stands in for times: mapped libraries, opened files, started processes, reads."""
import os
import re
import shutil
import subprocess
import time

import cache
import harness

STRACE = shutil.which("strace")


class NothingToDo(harness.Case):
    """A second run of 1,000 modules."""

    COUNT = 1000

    def setUp(self):
        super().setUp()
        self.names = [f"m{i:04}" for i in range(self.COUNT)]
        self.scenario("compile_base_ms 0\ncompile_us_per_kb 0\n")
        self.modules(self.names, text="verify: {samples: 1}\n")
        time.sleep(0.2)  # what was written a moment before the first run would be looked into again

    def trace(self, calls):
        """The second run's system calls among `calls`, one a line, and its result."""
        command = [STRACE, "-f", "-qq", "-e", f"trace={calls}", "-o", self.path("trace"), *self.command("warm")]
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        result = self.finish(process, start)
        return result, self.read("trace").splitlines()

    def test_it_opens_no_driver_and_reads_no_image(self):
        if not STRACE:
            harness.skip("strace is not installed")
        if harness.SANITIZED:
            harness.skip("sanitisers do not run under strace")
        cold = self.warm(0)
        self.assertEqual(cold.report["summary"]["compiled"], self.COUNT)
        before = len(self.read("log").splitlines())
        result, calls = self.trace("file,process,read,pread64,readv,mmap")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.report["summary"], {**cold.report["summary"], "compiled": 0, "reused": self.COUNT,
                                                    "nothing_to_do": True, "seconds": result.report["summary"]["seconds"]})
        opened = [line for line in calls if re.search(r"\bopen(at2?)?\(", line)]
        self.assertEqual([line for line in opened if "libcuda" in line or "libnvidia" in line], [])
        self.assertEqual([line for line in opened if ".ptx" in line], [])
        stats = {name: 0 for name in self.names}
        for line in calls:
            found = re.search(r'stat\w*\(.*?"[^"]*?(m\d{4})\.ptx"', line)
            if found:
                stats[found.group(1)] += 1
        self.assertEqual({name: count for name, count in stats.items() if count != 1}, {})
        # No process: one execve, of the program itself, and no fork, clone or vfork.
        self.assertEqual(len([line for line in calls if "execve(" in line]), 1)
        self.assertEqual([line for line in calls if re.search(r"\b(clone3?|v?fork)\(", line)], [])
        # No entry is read either: what is listed, and of its size and time, is taken as it is.
        self.assertEqual([line for line in opened if re.search(r"/[0-9a-f]/[0-9a-f]/[0-9a-f]{14}", line)], [])
        # Nor did the driver see anything of it.
        self.assertEqual(len(self.read("log").splitlines()), before)

    def test_an_image_touched_is_read_and_no_more(self):
        self.warm(0)
        before = len(self.read("log").splitlines())
        os.utime(self.path("m0500.ptx"), (1, 1))
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])
        self.assertEqual(len(self.read("log").splitlines()), before)


class Partial(harness.Case):
    """One thing changed since the last run: just that is done again."""

    NAMES = ["a", "b", "c", "d"]

    def setUp(self):
        super().setUp()
        self.modules(self.NAMES)
        self.warm(0)
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])
        os.remove(self.path("log"))

    def entry(self, name):
        return cache.name_of(cache.make_key(self.read(f"{name}.ptx").encode(), "sm_90"))

    def check(self, compiled, reused, status=0):
        result = self.warm(status)
        summary = result.report["summary"]
        self.assertEqual((summary["compiled"], summary["reused"]), (compiled, reused), result)
        self.assertTrue(self.warm(status).report["summary"]["nothing_to_do"])
        return result

    def proven_again(self):
        """How many loads the driver was asked for while JIT was disabled that it answered from the cache."""
        return len({line.split("entry=")[1].split()[0] for line in self.events("hit")})

    def test_changed_image(self):
        self.write("b.ptx", harness.ptx("b", pad=100))
        self.check(1, 3)
        self.assertEqual(self.proven_again(), 1)

    def test_removed_entry(self):
        os.remove(os.path.join(self.cache, self.entry("c")))
        self.check(1, 3)
        self.assertEqual(self.proven_again(), 1)

    def test_entry_of_another_time(self):
        os.utime(os.path.join(self.cache, self.entry("c")), (1, 1))
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])

    def test_damaged_entry_of_another_time(self):
        path = self.entry("c")
        data = cache.read(self.cache, path)
        cache.write(self.cache, path, data[:-1] + bytes([data[-1] ^ 1]))
        os.utime(os.path.join(self.cache, path), (1, 1))
        self.check(1, 3)

    def test_lost_index(self):
        os.remove(os.path.join(self.cache, "index"))
        result = self.run_program("warm")
        self.assertEqual((result.status, result.report["summary"]["compiled"], result.report["summary"]["reused"]), (0, 0, 4))
        self.assertEqual(len(cache.read_index(self.cache)), 4)
        self.assertEqual(self.harm(), [])

    def test_another_gpu_in_the_listing(self):
        self.write("root/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t H200\nGPU UUID: \t GPU-1\n")
        result = self.warm(0)
        self.assertEqual((result.report["summary"]["compiled"], result.report["summary"]["reused"]), (0, 4))
        self.assertEqual(self.proven_again(), 4)
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])
        # Another model at the same place is another GPU; a line that changes by itself is not.
        self.write("root/proc/driver/nvidia/gpus/0000:01:00.0/information",
                   "Model: \t\t H200\nGPU UUID: \t GPU-1\nVideo BIOS: \t 96\n")
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])
        self.write("root/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t B200\nGPU UUID: \t GPU-2\n")
        self.assertFalse(self.warm(0).report["summary"]["nothing_to_do"])

    def test_other_visible_devices(self):
        self.environment["CUDA_VISIBLE_DEVICES"] = "0"
        self.assertFalse(self.warm(0).report["summary"]["nothing_to_do"])

    def test_driver_gone(self):
        self.environment["PREJIT_DRIVER"] = self.path("libcuda.so.1")
        shutil.copy(harness.DRIVER, self.path("libcuda.so.1"))
        self.warm(0)
        os.remove(self.path("libcuda.so.1"))
        for command in ("warm", "verify"):
            result = self.run_and_expect(3, command)
            self.assertEqual(result.report["error"]["code"], "environment")
            self.assertIn(self.path("libcuda.so.1"), result.errors)
        self.run_and_expect(0, "plan")

    def test_changed_manifest_of_the_same_meaning(self):
        self.write("m.yaml", self.read("m.yaml") + "# a remark\n")
        self.check(0, 4)
        self.assertEqual(self.events("compile"), [])

    def test_another_cap(self):
        self.write("m.yaml", self.read("m.yaml").replace("modules:", "cache: {max_size: 8MiB}\nmodules:"))
        self.check(0, 4)

    def test_a_module_more_and_one_less(self):
        self.modules(["a", "b", "e"])
        self.check(1, 2)

    def test_a_receipt_that_others_can_write(self):
        os.chmod(os.path.join(self.cache, ".prejit/receipt.json"), 0o666)
        result = self.warm(0)
        self.assertFalse(result.report["summary"]["nothing_to_do"])
        self.assertEqual((result.report["summary"]["compiled"], result.report["summary"]["reused"]), (0, 4))

    def test_a_receipt_that_is_none(self):
        self.write("nv/.prejit/receipt.json", "{}")
        self.check(0, 4)

    def test_a_copied_cache(self):
        shutil.copytree(self.cache, self.path("copy"))
        self.cache = self.path("copy")
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])

    def test_without_a_receipt(self):
        result = self.warm(0, "--no-receipt")
        self.assertFalse(result.report["summary"]["nothing_to_do"])
        self.assertEqual((result.report["summary"]["compiled"], result.report["summary"]["reused"]), (0, 4))


class Maps(harness.Case):
    def test_the_parent_never_maps_the_driver(self):
        self.scenario("compile_base_ms 60\n")
        names = [f"m{i}" for i in range(8)]
        self.modules(names)
        process = self.start("warm", "-j", "2")
        start, looks, workers_mapped = time.monotonic(), 0, False
        while process.poll() is None and looks < 2000:
            if "libcuda" in self.maps(process.pid):
                self.finish(process, start)
                self.fail("the parent has the driver mapped")
            looks += 1
            workers = [pid for pid in harness.session_members(process.pid) if pid != process.pid]
            workers_mapped |= any("libcuda" in self.maps(pid) for pid in workers)
        result = self.finish(process, start)
        self.assert_all_proven(result, names)
        self.assertGreater(looks, 5)
        self.assertTrue(workers_mapped, "the test saw no worker with the driver mapped either")

    @staticmethod
    def maps(pid):
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""


class BigData(harness.Case):
    """Modules of 4 MB, whose entries a driver that many processes share a cache with loses now and then."""

    ROUNDS = 20 if harness.FULL else 1 if harness.SANITIZED else 3
    COUNT, WORKERS = 40, 16

    def test_cold_runs(self):
        names = [f"m{i:02}" for i in range(self.COUNT)]
        self.scenario("payload kernel=* bytes=4000000\ncompile_base_ms 20\n")
        self.modules(names, text="verify: {samples: 1}\n")
        for i in range(self.ROUNDS):
            with self.subTest(i=i):
                shutil.rmtree(self.cache, ignore_errors=True)
                result = self.warm(0, "-j", str(self.WORKERS))
                self.assert_all_proven(result, names)
                self.assertGreater(result.report["cache"]["bytes"], self.COUNT * 4000000)
                self.assertEqual(len(cache.read_index(self.cache)), self.COUNT)


if __name__ == "__main__":
    harness.main()
