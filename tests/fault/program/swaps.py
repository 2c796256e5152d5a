# SPDX-License-Identifier: Apache-2.0
"""Another user swaps every part of the cache's path, and what lies in the cache, while root works on it. Nothing outside
of the cache is written or read, nothing of that user's is loaded. PREJIT_FULL_FAULTS=1 makes 200 runs of each."""
import collections
import os
import random
import shutil
import subprocess

import cache
import harness

USER = 54321  # without a passwd entry
RUNS = 200 if harness.FULL else 5 if harness.SANITIZED else 20
SEED = int(os.environ.get("PREJIT_SEED", random.randrange(1 << 30)))
NAMES = ["a", "b"]


class Swaps(harness.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            harness.skip("only root can become another user")
        self.random = random.Random(SEED)
        print(f"PREJIT_SEED={SEED} ", end="", flush=True)
        self.modules(NAMES, text="verify: {samples: 1}\n")
        os.chmod(self.folder, 0o755)
        for name in ("log", "state"):
            self.write(name, "")
            os.chmod(self.path(name), 0o666)
        self.make_victim()
        self.make_bait()
        self.swapped, self.ends = 0, collections.Counter()
        self.addCleanup(lambda: print(f"{self.swapped} swaps, runs by status: {dict(self.ends)} ", end="", flush=True))

    def make_victim(self):
        """Root's own files, that only a program of root's can reach: a folder that looks like a cache. Its `index` is one
        that is repaired, an entry of it one that is removed."""
        self.write("victim/index", "A" + "\0" * 15 + "precious")
        self.write("victim/a/b/0123456789abcd", "")
        self.write("victim/.prejit/run-1-1/w0/a/b/0123456789abcd", "precious")
        self.write("victim/run-1-1/t/precious", "precious")
        os.chmod(self.path("victim"), 0o700)

    def make_bait(self):
        """A cache of the other user's with entries for what root warms: believed, if root looked there."""
        bait = self.path("bait")
        self.folder_of_user("bait")
        program = [harness.PROGRAM, "warm", "m.yaml", "--cache", bait, "--user", str(USER), "-q"]
        subprocess.run(program, cwd=self.folder, env=self.environment, check=True, capture_output=True)

    def folder_of_user(self, name, mode=0o755):
        os.makedirs(self.path(name))
        os.chown(self.path(name), USER, USER)
        os.chmod(self.path(name), mode)

    def link_of_user(self, target, name):
        os.symlink(target, self.path(name))
        os.lchown(self.path(name), USER, USER)

    def state(self, folder):
        """What lies below a folder, and when files were last read: these times are set back before each run."""
        found = {}
        for path, folders, names in os.walk(self.path(folder)):
            for name in [*folders, *names]:
                full = os.path.join(path, name)
                status = os.lstat(full)
                read = status.st_atime_ns if name in names else None  # folders are read here
                found[os.path.relpath(full, self.folder)] = (status.st_uid, status.st_mode, status.st_size,
                                                             status.st_mtime_ns, status.st_ctime_ns, read)
        return found

    def untouched(self):
        """Access times older than the rest, so that a read shows where the file system keeps any."""
        for folder in ("victim", "bait"):
            for path, folders, names in os.walk(self.path(folder)):
                for name in [*folders, *names]:
                    full = os.path.join(path, name)
                    os.utime(full, ns=(1, os.lstat(full).st_mtime_ns), follow_symlinks=False)
        return self.state("victim"), self.state("bait")

    def attack(self, *arguments):
        program = os.environ["PREJIT_SWAP"]
        process = subprocess.Popen([program, str(USER), str(self.random.randrange(1 << 30)), *arguments],
                                   stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def run_under_attack(self, attack, statuses):
        """One run of root's; its status is one of `statuses`. What is not in the cache stays as it was."""
        before = self.untouched()
        loads = len(self.events("init"))
        attacker = self.attack(*attack)
        result = self.run_program(*self.random.choice((["warm"], ["verify"], ["warm", "--no-receipt"])))
        attacker.terminate()
        self.swapped += int(attacker.communicate(timeout=20)[0])
        self.ends[result.status] += 1
        self.assertIn(result.status, statuses, result)
        self.assertEqual((self.state("victim"), self.state("bait")), before, result)
        if result.status == 3:
            self.assertEqual(len(self.events("init")), loads, result)
        return result

    def refused(self, make, *attack):
        """The attacker can swap, so root refuses each time, whatever it meets."""
        for _ in range(RUNS):
            make()
            self.run_under_attack(attack, (3,))
            shutil.rmtree(self.path("place"))
        self.assertGreater(self.swapped, RUNS)

    def place(self, mode, name="place/nv"):
        os.makedirs(self.path(name))
        os.chmod(self.path(name), mode)
        self.cache = self.path("place/nv")

    def test_the_cache_in_a_folder_that_others_can_write(self):
        def make():
            self.place(0o777, "place")
            self.link_of_user(self.path("victim"), "place/link")
            os.mkdir(self.path("place/nv"))
        self.refused(make, "exchange", self.path("place/nv"), self.path("place/link"))

    def test_the_cache_and_the_bait(self):
        def make():
            self.folder_of_user("place")
            os.mkdir(self.path("place/nv"))
            self.cache = self.path("place/nv")
            shutil.copytree(self.path("bait"), self.path("place/bait"))
        self.refused(make, "exchange", self.path("place/nv"), self.path("place/bait"))

    def test_a_folder_above_the_cache(self):
        def make():
            self.place(0o777, "place")
            os.makedirs(self.path("place/above/nv"))
            os.makedirs(self.path("roots/nv"), exist_ok=True)
            self.link_of_user(self.path("roots"), "place/link")
            self.cache = self.path("place/above/nv")
        self.refused(make, "exchange", self.path("place/above"), self.path("place/link"))
        self.assertEqual(os.listdir(self.path("roots/nv")), [])

    def test_own_folder(self):
        for mode in (0o777, 0o1777):
            with self.subTest(mode=oct(mode)):
                def make(mode=mode):
                    self.place(mode)
                    self.folder_of_user("place/nv/.prejit", 0o777)
                    self.link_of_user(self.path("victim"), "place/nv/link")
                self.refused(make, "exchange", self.path("place/nv/.prejit"), self.path("place/nv/link"))

    def test_hash_folders(self):
        def make():
            self.place(0o777)
            self.link_of_user(self.path("victim/a"), "place/nv/link")
            self.folder_of_user("place/nv/a", 0o777)
        self.refused(make, "exchange", self.path("place/nv/a"), self.path("place/nv/link"))

    def test_hash_folders_below(self):
        """The cache is closed, one folder in it is not: it was made while it was open."""
        def make():
            self.place(0o755)
            os.mkdir(self.path("place/nv/a"))
            os.chmod(self.path("place/nv/a"), 0o777)
            self.link_of_user(self.path("victim/a/b"), "place/nv/a/link")
            self.folder_of_user("place/nv/a/b", 0o777)
        self.refused(make, "exchange", self.path("place/nv/a/b"), self.path("place/nv/a/link"))

    def test_index(self):
        def make():
            self.place(0o777)
            self.write("place/nv/index", "A" + "\0" * 15)
            os.chown(self.path("place/nv/index"), USER, USER)
            self.link_of_user(self.path("victim/index"), "place/nv/link")
        self.refused(make, "exchange", self.path("place/nv/index"), self.path("place/nv/link"))

    def test_where_a_link_of_roots_leads(self):
        """The cache is closed, its `index` a link of root's; a folder on the way to its file is not."""
        def make():
            self.place(0o755)
            os.mkdir(self.path("place/far"))
            os.chmod(self.path("place/far"), 0o777)
            self.folder_of_user("place/far/near")
            self.write("place/far/near/index", "")
            self.link_of_user(self.path("victim"), "place/far/link")
            os.symlink("../far/near/index", self.path("place/nv/index"))
        self.refused(make, "exchange", self.path("place/far/near"), self.path("place/far/link"))

    def test_run_folders(self):
        def make():
            self.place(0o1777)
            self.folder_of_user("place/nv/.prejit", 0o777)
        for _ in range(RUNS):
            make()
            self.run_under_attack(("runs", self.path("place/nv/.prejit"), self.path("victim")), (3,))
            self.assertEqual(os.listdir(self.path("place/nv/.prejit")), [])
            shutil.rmtree(self.path("place"))

    def test_a_name_in_a_folder_like_tmp(self):
        """Who comes first has it: root works where it made the cache itself, and only there."""
        for _ in range(RUNS):
            self.place(0o1777, "place")
            target = self.path(self.random.choice(("victim", "bait")))
            result = self.run_under_attack(("appear", self.path("place/nv"), target), (0, 3, 4))
            if result.status == 0:
                self.assertEqual({os.lstat(path).st_uid for path in (self.cache, os.path.join(self.cache, "index"))}, {0})
                self.assertEqual(len(cache.read_index(self.cache)), len(NAMES))
            shutil.rmtree(self.path("place"))
        self.assertGreater(self.swapped, RUNS)

    def test_a_cache_of_roots_own_is_worked_on(self):
        """The same attacks on a cache that is closed, in a folder like /tmp, move nothing and stop nothing."""
        self.place(0o1777, "place")
        self.warm(0)
        self.link_of_user(self.path("victim"), "place/link")
        attacks = [("exchange", self.cache, self.path("place/link")),
                   ("exchange", os.path.join(self.cache, ".prejit"), self.path("place/link")),
                   ("exchange", os.path.join(self.cache, "index"), self.path("place/link")),
                   ("runs", os.path.join(self.cache, ".prejit"), self.path("victim")),
                   ("appear", self.cache, self.path("victim"))]
        for i in range(RUNS):
            self.run_under_attack(attacks[i % len(attacks)], (0,))
        self.assertEqual(self.swapped, 0)
        self.assertEqual(len(cache.read_index(self.cache)), len(NAMES))


if __name__ == "__main__":
    harness.main()
