# SPDX-License-Identifier: Apache-2.0
"""A real disk that gets full, of space or of inodes, and a real read-only one: small file systems in a mount namespace of
their own. Nothing that was there suffers, the status is 3 or 4, and with room again the next run completes."""
import contextlib
import os
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../program"))
import cache  # noqa: E402
import harness  # noqa: E402

NAMES = ["a", "b", "c", "d"]


def enter_namespace():
    """The rest of this process, and all it starts, sees mounts of its own."""
    if os.environ.get("PREJIT_OWN_MOUNTS") == "1":
        return True
    os.environ["PREJIT_OWN_MOUNTS"] = "1"
    probe = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False)
    if probe.returncode == 0:
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B", *sys.argv])
    os.environ["PREJIT_OWN_MOUNTS"] = "0"
    return False


class Full(harness.Case):
    def setUp(self):
        super().setUp()
        if os.environ["PREJIT_OWN_MOUNTS"] != "1":
            harness.skip("no right to mount file systems here")
        os.mkdir(self.cache)
        self.scenario("".join(f"payload kernel={name} bytes=30000\n" for name in NAMES))
        self.modules(NAMES, text="verify: {samples: 1}\n")

    @contextlib.contextmanager
    def mounted(self, options):
        """A file system of its own at the cache's path."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"{options},mode=755", "none", self.cache], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", self.cache], check=True)

    def mount(self, options):
        self.enterContext(self.mounted(options))

    def remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.cache], check=True)

    def check_whole(self, before):
        now = cache.contents(self.cache)
        self.assertEqual({path: data for path, data in now.items() if path in before}, before)
        self.assertEqual(set(before) - set(cache.read_index(self.cache)), set())
        self.assertEqual([path for path, data in now.items() if cache.chokes(path, data)], [])

    def check_completes(self):
        result = self.warm(0)
        self.assert_all_proven(result, NAMES)
        self.assertEqual(len(cache.read_index(self.cache)), len(NAMES))
        self.assert_no_rubbish()
        self.assertEqual(self.harm(), [])

    def test_space_runs_out_at_every_size(self):
        """From no room at all to nearly enough, page by page."""
        statuses = set()
        for kilobytes in (8, 16, 24, 40, 56, 72, 88, 104, 128, 160):
            with self.subTest(kilobytes=kilobytes), self.mounted(f"size={kilobytes}k"):
                result = self.run_program("warm", "-j", "2")
                statuses.add(result.status)
                # 4: the run took place, and an entry's folder could not be opened; the reason says so.
                self.assertIn(result.status, (0, 3, 4), result)
                if result.status == 4:
                    self.assertIn("Too many open files", result.output)
                if result.status == 3:
                    self.assertRegex(result.last_line or result.errors.splitlines()[-1],
                                     r"^prejit: .*/nv.*: No space left on device$|^exit 3: the disk of the cache .*/nv is full"
                                     r"|^prejit: .*/nv: .* left on it; make room")
                if os.path.exists(os.path.join(self.cache, "index")):
                    self.check_whole({})
                self.remount("size=2m")
                self.check_completes()
        self.assertIn(3, statuses)

    def test_a_cache_on_a_full_disk_keeps_what_it_has(self):
        self.mount("size=1m")
        self.modules(NAMES[:2], text="verify: {samples: 1}\n")
        self.warm(0)
        before = cache.contents(self.cache)
        self.modules(NAMES, text="verify: {samples: 1}\n")
        self.fill()
        result = self.run_program("warm", "-j", "2")
        self.assertIn(result.status, (3, 4), result)
        self.check_whole(before)
        self.assertEqual(self.run_program("verify", "-m", "a").status, 0)
        os.remove(os.path.join(self.cache, "filler"))
        self.check_completes()

    def fill(self):
        with open(os.path.join(self.cache, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"." * 4096)
            except OSError:
                pass

    def test_inodes_run_out(self):
        for inodes in (4, 8, 12, 16, 24):
            with self.subTest(inodes=inodes), self.mounted(f"size=2m,nr_inodes={inodes}"):
                result = self.run_program("warm", "-j", "2")
                self.assertIn(result.status, (0, 3, 4), result)
                self.remount("nr_inodes=1000")
                self.check_completes()

    def test_read_only(self):
        self.mount("size=1m")
        self.warm(0)
        os.remove(os.path.join(self.cache, ".prejit/receipt.json"))
        before = cache.contents(self.cache)
        self.remount("ro")
        result = self.run_and_expect(3, "warm")
        self.assertRegex(result.errors.splitlines()[-1], r"^prejit: .*/nv/index: .* on a read-only file system: .*mount the cache")
        verdict = self.run_and_expect(4, "verify")
        reason = "the driver reads nothing here: this user cannot write index (Read-only file system)"
        self.assertEqual({job["reason"] for job in verdict.report["jobs"]}, {reason})
        self.assertEqual({job["reason_code"] for job in verdict.report["jobs"]}, {"index-not-writable"})
        self.assertIn(reason, verdict.last_line)
        self.assertEqual(cache.contents(self.cache), before)
        self.remount("rw")
        self.check_completes()

    def test_a_read_only_tree_with_a_writable_index(self):
        """Hits work; a link leads from the read-only tree to an index that can be written [cache-model 18]."""
        self.mount("size=1m")
        self.warm(0)
        index = os.path.join(self.cache, "index")
        shutil.move(index, self.path("index"))
        os.symlink(self.path("index"), index)
        self.remount("ro")
        self.assertEqual(self.run_and_expect(0, "verify").report["summary"]["proven"], len(NAMES))
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])


class Limits(harness.Case):
    """What a service manager or a shell allows: descriptors, and the size of a file."""

    def setUp(self):
        super().setUp()
        self.modules(NAMES, text="verify: {samples: 1}\n")

    def run_within(self, limit, number):
        """One run under a limit, which its workers inherit."""
        process = self.start("warm", "-j", "2", preexec_fn=lambda: resource.setrlimit(limit, (number, number)))
        result = self.finish(process, 0)
        self.assert_no_process_left(process.pid, 1.0)
        return result

    def test_too_few_descriptors(self):
        statuses = []
        for number in range(7, 40, 3):
            with self.subTest(number=number):
                result = self.run_within(resource.RLIMIT_NOFILE, number)
                statuses.append(result.status)
                # 4: the run took place, and an entry's folder could not be opened; the reason says so.
                self.assertIn(result.status, (0, 3, 4), result)
                if result.status == 4:
                    self.assertIn("Too many open files", result.output)
                if result.status == 3:
                    self.assertRegex(result.errors.splitlines()[-1], r"^prejit: .*: Too many open files$")
                self.assert_all_proven(self.warm(0), NAMES)
                self.assert_no_rubbish()
                shutil.rmtree(self.cache)
        self.assertEqual((statuses[0], statuses[-1]), (3, 0))
        order = [3, 4, 0]
        self.assertEqual(statuses, sorted(statuses, key=order.index))

    def test_a_limit_on_the_size_of_files(self):
        self.write("scenario", harness.ONE_GPU)  # the emulated driver ends where it cannot write its log
        for number in (0, 10, 100, 2000):
            with self.subTest(number=number):
                result = self.run_within(resource.RLIMIT_FSIZE, number)
                self.assertIn(result.status, (3, 4), result)
                if result.status == 3:
                    self.assertRegex(result.errors.splitlines()[-1], r"^prejit: .*(/nv|a file in memory).*: File too large$")
                self.assert_all_proven(self.warm(0), NAMES)
                self.assert_no_rubbish()
                shutil.rmtree(self.cache)


if __name__ == "__main__":
    enter_namespace()
    harness.main()
