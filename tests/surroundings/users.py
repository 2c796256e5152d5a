# SPDX-License-Identifier: Apache-2.0
"""Root, other users, and whose cache it is: what is proven with --user is what that user gets."""
import os
import shutil
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault/program"))
import cache  # noqa: E402
import harness  # noqa: E402

USER, OTHER = 54321, 54322  # without passwd entries
NAMES = ["a", "b"]
NOTE = (f"prejit: user {USER} has no passwd entry: HOME is /, the group is {USER}, and its cache is where CUDA_CACHE_PATH, "
        "--cache or the manifest says")


class Users(harness.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            harness.skip("only root can become other users")
        # Leaks are looked for by ptrace, which a process that changed its user forbids.
        if harness.SANITIZED:
            self.environment["ASAN_OPTIONS"] = self.environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        self.modules(NAMES, text="verify: {samples: 1}\n")
        os.chmod(self.folder, 0o755)
        self.open_for_all()
        os.mkdir(self.path("theirs"))
        os.chown(self.path("theirs"), USER, USER)
        self.cache = self.path("theirs/nv")

    def open_for_all(self):
        """The emulated driver writes its log and state as whoever loads it."""
        for name in ("log", "state"):
            self.write(name, "")
            os.chmod(self.path(name), 0o666)

    def owners(self):
        """(uid, gid) of everything in the cache."""
        found = set()
        for folder, folders, names in os.walk(self.cache):
            for name in folders + names + ["."]:
                status = os.lstat(os.path.join(folder, name))
                found.add((status.st_uid, status.st_gid))
        return found

    def as_user(self, uid, *arguments, **more):
        return self.run_program(*arguments, user=uid, group=uid, extra_groups=[], **more)

    def test_a_cache_warmed_for_a_user_is_that_users(self):
        result = self.warm(0, "--user", str(USER))
        self.assert_all_proven(result, NAMES)
        self.assertEqual(self.owners(), {(USER, USER)})
        self.assertEqual(result.errors.splitlines()[0], NOTE)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.cache, "index")).st_mode), 0o644)
        self.assertTrue(self.as_user(USER, "warm").report["summary"]["nothing_to_do"])
        self.assertEqual(self.as_user(USER, "verify").report["summary"]["proven"], 2)
        self.assertTrue(self.warm(0, "--user", str(USER)).report["summary"]["nothing_to_do"])

    def test_group_and_umask(self):
        process = self.start("warm", "--user", f"{USER}:{OTHER}", umask=0o077)
        result = self.finish(process, time.monotonic())
        self.assertEqual(result.status, 0, result)
        self.assertEqual(self.owners(), {(USER, OTHER)})
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.cache, "index")).st_mode), 0o644)

    def refusal(self, path=None):
        return (f"prejit: the cache {path or self.cache} belongs to user {USER}, and prejit runs as root, whose files that "
                f"user's programs could not write: work as that user with --user {USER}, or give the cache to root with chown "
                f"-R root {path or self.cache}\n")

    def make_cache_of_user(self):
        """A cache of the user's in a folder of root's, as /var/cache is."""
        self.cache = self.path("nv")
        os.mkdir(self.cache)
        os.chown(self.cache, USER, USER)
        self.warm(0, "--user", str(USER))

    def test_root_on_the_cache_of_a_user_is_refused(self):
        self.make_cache_of_user()
        inits = len(self.events("init"))
        for command in ("warm", "verify"):
            self.assertEqual(self.run_and_expect(3, command).errors, self.refusal())
        self.assertEqual(self.owners(), {(USER, USER)})
        self.assertEqual(len(self.events("init")), inits)

    def test_a_cache_of_root_in_a_users_folder_is_refused(self):
        """Whoever owns the folder can put another cache in its place at any moment."""
        self.warm(0, "--user", str(USER))
        subprocess.run(["chown", "-R", "root", self.cache], check=True)
        for command in ("warm", "verify"):
            self.assertEqual(
                self.run_and_expect(3, command).errors,
                f"prejit: the cache {self.cache} lies in {self.path('theirs')}, which belongs to user {USER}, and "
                "prejit runs as root, whose files that user's programs could not write: work as that user with --user "
                f"{USER}, or name a cache of root's own with --cache\n")

    def test_both_ways_out_work(self):
        self.make_cache_of_user()
        self.assertEqual(self.run_and_expect(0, "verify", "--user", str(USER)).report["summary"]["proven"], 2)
        subprocess.run(["chown", "-R", "root", self.cache], check=True)
        self.assertEqual(self.run_and_expect(0, "verify").report["summary"]["proven"], 2)

    def test_a_cache_that_root_would_make_in_a_users_folder_is_refused(self):
        for command in ("warm", "verify"):
            self.assertEqual(
                self.run_and_expect(3, command).errors,
                f"prejit: the cache {self.cache} would be made in {self.path('theirs')}, which belongs to user {USER}, and "
                "prejit runs as root, whose files that user's programs could not write: work as that user with --user "
                f"{USER}, or name a cache of root's own with --cache\n")
        self.assertEqual(os.listdir(self.path("theirs")), [])

    def test_a_new_cache_in_a_folder_for_everybody_is_roots(self):
        """In root's, that is: the owner of a sticky folder can rename what others make there."""
        os.chmod(self.path("theirs"), 0o1777)
        self.warm(3)
        os.chown(self.path("theirs"), 0, 0)
        self.warm(0)
        self.assertEqual({uid for uid, _ in self.owners()}, {0})

    def test_a_cache_of_root_gives_a_user_nothing(self):
        """Until it is opened: driver's directories are 0700, and `index` must be writable."""
        self.cache = self.path("roots")
        self.warm(0)
        reason = "the driver reads nothing here: this user cannot write index (Permission denied)"
        index = os.path.join(self.cache, "index")
        notes = [
            f"{index} cannot be opened or made by user {USER}: Permission denied; the driver then reads nothing from this "
            "cache, without a word: ",
            f"{index} (mode 0644, owner root) cannot be opened for writing by user {USER}: Permission denied; the driver "
            "then reads nothing from this cache, without a word: ",
        ]
        found = [
            f"it belongs to user root (mode 0700), and user {USER} may not pass it; ",
            f"owner 0, group 0, mode 0644: user {USER} cannot open it for reading and writing, so the driver reads nothing "
            "from this cache; ",
        ]
        cure = (f"give it to that user, as root: chown -R {USER} {self.cache} && chmod -R u+rwX {self.cache}; or let every user "
                f"read it: chmod -R a+rX {self.cache} && chmod a+rw {index}")
        for note, why in zip(notes, found):
            result = self.run_and_expect(4, "verify", "--user", str(USER))
            self.assertEqual({(job["verdict"], job["reason_code"], job["reason"]) for job in result.report["jobs"]},
                             {("missed", "index-not-writable", reason)})
            self.assertIn(note + why + cure, result.report["notes"])
            self.assertTrue(result.last_line.startswith(
                f"exit 4: 2 of 2 will be compiled at first use: a sm_90, b sm_90 (missed: {reason}); see: prejit doctor "), result.last_line)
            self.assertEqual(result.report["exit_code"], 4)
            for folder, _, _ in os.walk(self.cache):
                os.chmod(folder, 0o755)
        self.assertEqual(self.run_and_expect(3, "warm", "--user", str(USER)).errors.splitlines()[-1].split(":")[0], "prejit")
        os.chmod(index, 0o666)
        self.assertEqual(self.run_and_expect(0, "verify", "--user", str(USER)).report["summary"]["proven"], 2)

    def test_group_0_of_root_is_not_kept(self):
        """A folder that root's group may enter would else be proven for somebody who may not."""
        self.cache = self.path("roots")
        self.warm(0)
        for folder, _, names in os.walk(self.cache):
            os.chmod(folder, 0o770)
            for name in names:
                os.chmod(os.path.join(folder, name), 0o660)
        self.run_and_expect(0, "verify")
        process = self.start("verify", "--user", str(USER), extra_groups=[0, OTHER])
        self.assertEqual(self.finish(process, 0).status, 4)

    def test_groups_of_the_caller_that_own_devices_are_kept(self):
        """Containers give devices by them; any other group shows what the user's programs cannot read."""
        self.cache = self.path("roots")
        self.warm(0)
        for folder, folders, names in os.walk(self.cache):
            for name in folders + names + ["."]:
                os.chown(os.path.join(folder, name), 0, OTHER)
                os.chmod(os.path.join(folder, name), 0o770)

        def verify(*groups):
            return self.finish(self.start("verify", "--user", str(USER), extra_groups=groups), 0).status
        self.assertEqual(verify(OTHER), 4)
        for node in ("nvidia0", "dxg", "dri/renderD128"):
            with self.subTest(node=node):
                self.write(f"root/dev/{node}", "")
                os.chown(self.path(f"root/dev/{node}"), 0, OTHER)
                os.chmod(self.path(f"root/dev/{node}"), 0o660)
                self.assertEqual((verify(OTHER), verify(), verify(OTHER + 1)), (0, 4, 4))
                os.remove(self.path(f"root/dev/{node}"))

    def test_the_default_cache_is_in_that_users_home(self):
        """`nobody` has a home that does not exist; a user without an entry has /."""
        for user, home in (("nobody", "/nonexistent"), (str(USER), "")):
            with self.subTest(user=user):
                process = subprocess.run([harness.PROGRAM, "warm", "m.yaml", "--user", user], cwd=self.folder,
                                         env=self.environment, capture_output=True, text=True, check=False)
                self.assertEqual(process.returncode, 3, process)
                self.assertIn(f"{home}/.nv", process.stderr)
                self.assertIn("may not write", process.stderr)

    def test_cache_ls_and_plan_as_a_user(self):
        self.warm(0, "--user", str(USER))
        for arguments in (["cache", "ls", "--cache", self.cache], ["plan", "m.yaml", "--cache", self.cache]):
            for uid, status in ((USER, 0), (OTHER, 3)):
                with self.subTest(arguments=arguments, uid=uid):
                    process = subprocess.run([harness.PROGRAM, *arguments, "--user", str(uid)], cwd=self.folder,
                                             env=self.environment, capture_output=True, text=True, check=False)
                    self.assertEqual(process.returncode, status, process)

    def test_what_is_no_user(self):
        same = "it is UID, UID:GID or a user's name"
        for text, problem in (("", same), ("12:", same), (":5", same), ("1:2:3", same), ("4294967295", same),
                              ("99999999999", same),
                              ("no-such", "there is no user of this name in the passwd database; give UID or UID:GID"),
                              ("a\tb", "there is no user of this name in the passwd database; give UID or UID:GID")):
            shown = text.replace("\t", "\\x09")
            result = self.run_and_expect(2, "warm", "--user", text)
            self.assertEqual(result.errors, f"prejit: --user {shown}: {problem}\n")

    def test_who_is_not_root_can_be_itself_alone(self):
        os.chown(self.path("theirs"), USER, USER)
        self.assertEqual(self.as_user(USER, "warm", "--user", str(USER)).status, 0)
        for text, what in ((str(OTHER), "user"), (f"{USER}:{OTHER}", "group"), ("0", "user")):
            result = self.as_user(USER, "verify", "--user", text)
            name = {"0": "root", str(OTHER): str(OTHER)}.get(text, str(USER))
            self.assertEqual((result.status, result.errors),
                             (2, f"prejit: --user {name}: only root can become another {what}, and this is user {USER}, "
                                 f"group {USER}; leave --user out, or run prejit as root\n"))

    def test_a_user_namespace_without_that_user(self):
        """As in a rootless container: root there cannot become everybody."""
        line = ["unshare", "-U", "-r", harness.PROGRAM, "warm", "m.yaml", "--cache", self.path("new"), "--user", str(USER)]
        if subprocess.run(["unshare", "-U", "-r", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            harness.skip("no user namespaces here")
        process = subprocess.run(line, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((process.returncode, process.stderr),
                         (3, f"prejit: cannot become user {USER}: its groups cannot be set (are they part of this user "
                             "namespace?): Operation not permitted\n"))
        self.assertFalse(os.path.exists(self.path("new")))

    def test_a_program_that_the_user_cannot_execute(self):
        program = self.path("prejit")
        shutil.copy(harness.PROGRAM, program)
        os.chmod(program, 0o700)
        process = subprocess.run([program, "warm", "m.yaml", "--cache", self.cache, "--user", str(USER)], cwd=self.folder,
                                 env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((process.returncode, process.stderr),
                         (3, f"prejit: user {USER} cannot execute {program}, from which prejit starts its workers; open it "
                             "with chmod a+rx, or install prejit where that user can execute it: Permission denied\n"))
        self.assertFalse(os.path.exists(self.cache))

    def test_a_program_in_a_closed_folder_works(self):
        """Workers are started from the program that runs, not by its path."""
        os.mkdir(self.path("closed"))
        shutil.copy(harness.PROGRAM, self.path("closed/prejit"))
        os.chmod(self.path("closed/prejit"), 0o755)
        os.chmod(self.path("closed"), 0o700)
        process = subprocess.run([self.path("closed/prejit"), "warm", "m.yaml", "--cache", self.cache, "--user", str(USER)],
                                 cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process)

    def test_inputs_are_read_as_that_user(self):
        os.chmod(self.path("a.ptx"), 0o600)
        result = self.run_program("warm", "--user", str(USER))
        self.assertNotEqual(result.status, 0)
        self.assertIn("a.ptx", result.errors)
        self.assertIn("Permission denied", result.errors + result.output)

    def test_a_worker_of_that_user_dies_with_its_parent(self):
        self.scenario("hang kernel=a\n")
        process = self.start("warm", "--user", str(USER))
        end = time.monotonic() + 10
        while not self.events("hang") and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(self.events("hang"))
        process.kill()
        process.communicate()
        self.assert_no_process_left(process.pid)
        self.scenario("")
        self.assert_all_proven(self.warm(0, "--user", str(USER)), NAMES)
        self.assertEqual(self.owners(), {(USER, USER)})

    def test_a_cure_names_the_user(self):
        os.mkdir(self.cache)
        os.chown(self.cache, USER, USER)
        result = self.run_and_expect(4, "verify", "--user", str(USER))
        self.assertTrue(result.last_line.endswith(
            f"; run: prejit warm --cache {self.cache} --user {USER} m.yaml"), result.last_line)
        self.assertEqual(cache.paths(self.cache), [])


if __name__ == "__main__":
    harness.main()
