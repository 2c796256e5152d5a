# SPDX-License-Identifier: Apache-2.0
"""A machine's life: a driver is upgraded, a reboot is due, the machine boots. The hooks warm what is to be warmed, cost
nothing when nothing changed, and never get into the way of a package transaction."""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault/program"))
import cache  # noqa: E402
import harness  # noqa: E402

HOOKS = os.path.join(harness.SOURCE, "tool/hooks")
USER = 54321  # without a passwd entry
NVRM = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Tue Apr 29 17:12:06 UTC 2026\n"


class Machine(harness.Case):
    """A stand-in root with a loaded kernel module, and the libraries of a driver with its version in the name."""

    def setUp(self):
        super().setUp()
        self.modules(["a", "b"], text="verify: {samples: 1}\n")
        self.boot("580.1.2")
        self.install_driver("580.1.2")

    def boot(self, version):
        self.write("root/proc/driver/nvidia/version", NVRM.format(version))
        self.write("root/proc/sys/kernel/random/boot_id", "b0070000-0000-4000-8000-" + version.replace(".", "") + "\n")

    def install_driver(self, version, scenario=""):
        shutil.rmtree(self.path("lib"), ignore_errors=True)
        os.mkdir(self.path("lib"))
        shutil.copy(harness.DRIVER, self.path(f"lib/libcuda.so.{version}"))
        os.symlink(f"libcuda.so.{version}", self.path("lib/libcuda.so.1"))
        self.environment["PREJIT_DRIVER"] = self.path("lib/libcuda.so.1")
        self.scenario(f"stamp Jan 01 2027{version[-1]}0:00:00\n{scenario}")


class Upgrades(Machine):
    def pending(self, name):
        return (f"prejit: the CUDA driver does not start: cuInit says {name}: a reboot is pending, the loaded kernel module "
                "is 580.1.2 and the driver's libraries are 590.3.4; reboot, then run again")

    def test_a_reboot_is_pending(self):
        for command in ("warm", "verify"):
            for name in ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
                         "CUDA_ERROR_UNKNOWN"):
                with self.subTest(name=name, command=command):
                    self.install_driver("590.3.4", f"init_fail {name}\n")
                    result = self.run_and_expect(75, command)
                    self.assertEqual(result.errors, self.pending(name) + "\n")

    def test_the_same_errors_of_one_version_are_no_reboot(self):
        for name, status, hint in (
                ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", 3,
                 ": forward-compatibility libraries do not work on this GPU; leave them out"),
                ("CUDA_ERROR_UNKNOWN", 3, "; see: prejit doctor")):
            with self.subTest(name=name):
                self.install_driver("580.1.2", f"init_fail {name}\n")
                result = self.run_and_expect(status, "warm")
                self.assertEqual(result.errors, f"prejit: the CUDA driver does not start: cuInit says {name}{hint}\n")

    def test_another_error_is_no_reboot(self):
        self.install_driver("590.3.4", "init_fail CUDA_ERROR_NO_DEVICE\n")
        result = self.run_and_expect(3, "warm")
        self.assertNotIn("reboot", result.errors)

    def test_versions_that_differ_and_work_are_forward_compatibility(self):
        self.install_driver("590.3.4")
        self.assert_all_proven(self.warm(0), ["a", "b"])

    def test_upgrade_reboot_and_after(self):
        self.warm(0)
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])
        self.install_driver("590.3.4", "init_fail CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\n")
        before = cache.contents(self.cache)
        self.warm(75)
        self.assertEqual(cache.contents(self.cache), before)
        self.assert_no_rubbish()
        self.boot("590.3.4")
        self.install_driver("590.3.4")
        result = self.warm(0)
        self.assert_all_proven(result, ["a", "b"])
        self.assertEqual(result.report["summary"]["compiled"], 2)
        self.assertEqual(result.report["host"]["driver_version"], "590.3.4")
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])


class Hooked(Machine):
    """A machine with a folder for manifests and one for logs."""

    def setUp(self):
        super().setUp()
        self.environment["PREJIT"] = harness.PROGRAM
        os.makedirs(self.path("root/etc/prejit"))
        os.makedirs(self.path("root/var/log"))

    def manifest(self, name, module):
        shutil.copy(self.path(f"{module}.ptx"), self.path(f"root/etc/prejit/{name}.ptx"))
        self.write(f"root/etc/prejit/{name}.yaml",
                   f"version: 1\ncache: {{path: {self.cache}}}\nverify: {{samples: 1}}\nmodules:\n"
                   f"  - {{name: {name}, ptx: {name}.ptx}}\n")

    def hook(self, mode, **environment):
        process = subprocess.Popen(["/bin/sh", os.path.join(HOOKS, "prejit-hook"), mode], cwd=self.folder,
                                   env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        result = self.finish(process, time.monotonic())
        self.assert_no_process_left(process.pid)
        return result

    def log(self):
        return self.read("root/var/log/prejit-hook.log")

    def stand_in(self, text):
        self.write("bin/stand-in", f"#!/bin/sh\n{text}\n")
        os.chmod(self.path("bin/stand-in"), 0o755)
        return self.path("bin/stand-in")


class Hooks(Hooked):
    """The script, with real runs and with stand-ins for the program."""

    def test_no_manifest_means_nothing(self):
        empty = (f"prejit-hook: {self.path('root/etc/prejit')} has no manifest (*.yaml, *.yml), so there is nothing to do: "
                 "copy one there, with absolute paths or its files beside it, then type: prejit-hook check\n")
        for mode, errors in (("boot", empty), ("apt", ""), ("check", empty)):
            result = self.hook(mode)
            self.assertEqual((result.status, result.output, result.errors), (0, "", errors))
        self.assertFalse(os.path.exists(self.path("root/var/log/prejit-hook.log")))

    def test_every_manifest_is_warmed_at_boot(self):
        self.manifest("one", "a")
        self.manifest("two", "b")
        result = self.hook("boot")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(cache.read_index(self.cache)), 2)

    def test_nothing_changed_opens_no_driver(self):
        self.manifest("one", "a")
        self.assertEqual(self.hook("boot").status, 0)
        inits = len(self.events("init"))
        for mode in ("boot", "apt"):
            self.assertEqual(self.hook(mode).status, 0)
        self.assertEqual(len(self.events("init")), inits)
        self.assertIn("1 job: 1 proven, nothing to do", self.log())

    def test_a_pending_reboot_is_said_and_does_no_harm(self):
        self.manifest("one", "a")
        self.install_driver("590.3.4", "init_fail CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\n")
        result = self.hook("apt")
        self.assertEqual((result.status, result.output, result.errors), (0, "", ""))
        self.assertIn("a reboot is pending, the loaded kernel module is 580.1.2", self.log())
        self.assertIn("one.yaml: not now (status 75); prejit-warm.service does it at the next boot, if enabled", self.log())
        self.assertEqual(self.hook("boot").status, 75)

    def test_arguments_beside_a_manifest(self):
        self.manifest("one", "a")
        self.write("root/etc/prejit/one.args", f"# where\n--cache\n{self.path('other cache')}\n\n--no-receipt")
        self.assertEqual(self.hook("boot").status, 0)
        self.assertFalse(os.path.exists(self.cache))
        self.assertEqual(len(cache.read_index(self.path("other cache"))), 1)
        self.assertFalse(os.path.exists(self.path("other cache/.prejit/receipt.json")))

    def test_apt_goes_on_whatever_happens(self):
        self.manifest("one", "a")
        ends = {f"exit {status}": f"prejit ended with status {status}" for status in (1, 2, 3, 4, 42, 255)}
        ends["kill -SEGV $$"] = f"prejit ended with status {128 + signal.SIGSEGV}"
        ends["sleep 30"] = "stopped after 1 s; what was compiled stays, and the next run goes on"
        for text, said in ends.items():
            with self.subTest(text=text):
                result = self.hook("apt", PREJIT=self.stand_in(text), PREJIT_LIMIT="1")
                self.assertEqual((result.status, result.output, result.errors), (0, "", ""))
                self.assertLess(result.seconds, 8)
                self.assertEqual(self.log().splitlines()[-1],
                                 f"prejit-hook: {self.path('root/etc/prejit/one.yaml')}: {said}")

    def test_apt_goes_on_without_the_program_or_a_log(self):
        self.manifest("one", "a")
        result = self.hook("apt", PREJIT=self.path("none"))
        self.assertEqual((result.status, result.errors), (0, ""))
        self.assertIn(f"there is no program {self.path('none')}", self.log())
        shutil.rmtree(self.path("root/var"))
        result = self.hook("apt", PREJIT=self.path("none"))
        self.assertEqual((result.status, result.output, result.errors), (0, "", ""))

    def test_the_worst_status_is_that_of_the_boot(self):
        self.manifest("one", "a")
        self.manifest("two", "b")
        for statuses, worst in (("0 0", 0), ("4 0", 4), ("4 75", 75), ("75 1", 1), ("3 1", 3), ("2 3", 2)):
            with self.subTest(statuses=statuses):
                first, second = statuses.split()
                program = self.stand_in(f'case $* in *one.yaml) exit {first} ;; *) exit {second} ;; esac')
                self.assertEqual(self.hook("boot", PREJIT=program).status, worst)

    def test_where_systemd_runs_apt_does_not_wait(self):
        self.manifest("one", "a")
        os.makedirs(self.path("root/run/systemd/system"))
        self.write("bin/systemctl", f'#!/bin/sh\necho "$*" >>{self.path("called")}\n')
        os.chmod(self.path("bin/systemctl"), 0o755)
        path = f"{self.path('bin')}:{self.environment['PATH']}"
        self.assertEqual(self.hook("apt", PATH=path, PREJIT=self.stand_in("exit 9")).status, 0)
        self.assertEqual(self.read("called"), "--no-block start prejit-warm.service\n")
        self.assertNotIn("status 9", self.log())
        self.write("bin/systemctl", "#!/bin/sh\nexit 5\n")  # the service is not installed
        self.assertEqual(self.hook("apt", PATH=path, PREJIT=self.stand_in("exit 9")).status, 0)
        self.assertIn("prejit ended with status 9", self.log())

    def test_the_log_stays_small(self):
        self.manifest("one", "a")
        self.write("root/var/log/prejit-hook.log", "x" * 1000001)
        self.hook("apt", PREJIT=self.stand_in("exit 0"))
        self.assertLess(len(self.log()), 200)
        self.assertTrue(os.path.exists(self.path("root/var/log/prejit-hook.log.1")))

    def test_usage(self):
        result = self.hook("what")
        self.assertEqual((result.status, result.errors), (2, "prejit-hook: usage: prejit-hook boot|apt|check\n"))

    def test_both_endings(self):
        self.manifest("one", "a")
        os.rename(self.path("root/etc/prejit/one.yaml"), self.path("root/etc/prejit/one.yml"))
        self.write("root/etc/prejit/one.args", f"--cache\n{self.path('other')}\n")
        self.assertEqual(self.hook("boot").status, 0)
        self.assertEqual(len(cache.read_index(self.path("other"))), 1)

    def test_check_says_what_would_fail(self):
        self.manifest("one", "a")
        self.assertEqual((self.hook("check").status, self.hook("check").errors), (0, ""))
        self.assertEqual(self.events("init"), [])
        self.assertFalse(os.path.exists(self.cache))
        self.write("root/etc/prejit/two.yaml", "version: 1\nmodules: [{name: x, ptx: none.ptx}]\n")
        result = self.hook("check")
        self.assertEqual(result.status, 2)
        self.assertIn("none.ptx", result.errors)
        self.assertTrue(result.errors.endswith(
            f"prejit-hook: {self.path('root/etc/prejit/two.yaml')}: prejit ended with status 2\n"), result.errors)
        result = self.hook("check", PREJIT=self.path("none"))
        self.assertEqual((result.status, result.errors), (3, f"prejit-hook: there is no program {self.path('none')}\n"))


class Others(Hooked):
    """What other users can change is not run, not read and not written."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            harness.skip("only root can give files to other users")
        self.manifest("one", "a")
        self.file = self.path("root/etc/prejit/one.yaml")
        self.environment["PREJIT"] = self.stand_in(f'echo "$*" >>{self.path("called")}')

    def called(self):
        return os.path.exists(self.path("called"))

    def refused(self, culprit, file=None):
        file = file or self.file
        result = self.hook("boot")
        self.assertEqual((result.status, result.errors.splitlines()[0]),
                         (3, f"prejit-hook: {file}: not used, because others can change {culprit}: chown root {culprit} && "
                             f"chmod go-w {culprit}"))
        self.assertEqual(self.hook("check").status, 3)
        self.assertEqual(self.hook("apt").status, 0)
        self.assertIn(f"{file}: not used, because others can change {culprit}", self.log())
        self.assertFalse(self.called())
        subprocess.run(f"chown root {culprit} && chmod go-w {culprit}", shell=True, check=True)
        self.assertEqual(self.hook("boot").status, 0)
        self.assertTrue(self.called())
        os.remove(self.path("called"))

    def test_manifests(self):
        os.chown(self.file, USER, USER)
        self.refused(self.file)
        os.chmod(self.file, 0o666)
        self.refused(self.file)
        os.chown(self.file, 0, USER)
        os.chmod(self.file, 0o664)
        self.refused(self.file)

    def test_arguments(self):
        arguments = self.path("root/etc/prejit/one.args")
        self.write("root/etc/prejit/one.args", "--driver\n/home/evil.so\n")
        os.chown(arguments, USER, USER)
        self.refused(arguments, arguments)
        os.chmod(arguments, 0o666)
        self.refused(arguments, arguments)

    def test_folders(self):
        for name in ("root/etc/prejit", "root/etc", "root"):
            os.chown(self.path(name), USER, USER)
            self.refused(self.path(name))
            os.chmod(self.path(name), 0o777)
            self.refused(self.path(name))

    def test_links(self):
        """Root's link to a file of root's is followed; where others are on the way, it is not."""
        os.makedirs(self.path("far/near"))
        os.rename(self.file, self.path("far/near/m.yaml"))
        os.symlink("../../../far/near/m.yaml", self.file)
        self.assertEqual(self.hook("boot").status, 0)
        os.remove(self.path("called"))
        os.chown(self.path("far"), USER, USER)
        self.refused(self.path("far"))
        os.lchown(self.file, USER, USER)
        result = self.hook("boot")
        self.assertEqual((result.status, self.called()), (3, False))

    def test_no_fifo_is_waited_for(self):
        for name, status in (("one.args", 3), ("one.yaml", 3)):
            path = self.path(f"root/etc/prejit/{name}")
            if os.path.exists(path):
                os.remove(path)
            os.mkfifo(path)
            result = self.hook("boot")
            self.assertEqual((result.status, result.errors.splitlines()[0]),
                             (status, f"prejit-hook: {path}: not used, it is no regular file"))
            self.assertFalse(self.called())
            os.remove(path)

    def test_a_log_that_is_none(self):
        log, victim = self.path("root/var/log/prejit-hook.log"), self.path("victim")
        self.write("victim", "precious\n")
        os.chmod(victim, 0o600)

        def fifo():
            os.mkfifo(log)

        def link():
            os.symlink(victim, log)

        def dangling():
            os.symlink(self.path("none"), log)

        def hard_link():
            os.link(victim, log)

        def folder():
            os.mkdir(log)

        def of_another():
            self.write("root/var/log/prejit-hook.log", "")
            os.chown(log, USER, USER)
        for make in (fifo, link, dangling, hard_link, folder, of_another):
            with self.subTest(make=make.__name__):
                make()
                before = os.lstat(log)
                result = self.hook("apt")
                self.assertEqual((result.status, result.errors),
                                 (0, f"prejit-hook: {log}: nothing is written to it, because it is no file of root's alone: "
                                     "remove it\n"))
                self.assertTrue(self.called())
                self.assertEqual((os.lstat(log).st_size, os.lstat(log).st_mode), (before.st_size, before.st_mode))
                self.assertEqual(self.read("victim"), "precious\n")
                self.assertFalse(os.path.exists(self.path("none")))
                subprocess.run(["rm", "-rf", log], check=True)
                os.remove(self.path("called"))


NEXT = """/etc/prejit has no manifest yet, so the hooks do nothing: copy one there (with absolute paths, or its files beside it),
look at it, and let the hook warm it once:
    cp app.yaml /etc/prejit/
    /usr/libexec/prejit/prejit-hook check
    /usr/libexec/prejit/prejit-hook boot
"""


class Installation(Hooked):
    def setUp(self):
        super().setUp()
        self.prefix("root/opt/prejit")

    def prefix(self, name):
        """A prefix that prejit and its hooks are installed in."""
        shutil.copytree(HOOKS, self.path(f"{name}/share/prejit/hooks"))
        self.write(f"{name}/bin/prejit", f'#!/bin/sh\necho "$*" >>{self.path("called")}\n')
        os.chmod(self.path(f"{name}/bin/prejit"), 0o755)

    def install(self, status, *arguments, hooks="root/opt/prejit/share/prejit/hooks"):
        script = os.path.join(self.path(hooks), "install-hooks")
        process = subprocess.run(["/bin/sh", script, "--root", self.path("root"), *arguments],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout, process.stderr

    def files(self):
        found = []
        for top in ("usr", "etc/systemd", "etc/apt"):
            for folder, _, names in os.walk(self.path(f"root/{top}")):
                found += [os.path.relpath(os.path.join(folder, name), self.path("root")) for name in names]
        return sorted(found)

    def test_each_is_put_in_place_only_when_asked_for(self):
        hook, service = "usr/libexec/prejit/prejit-hook", "etc/systemd/system/prejit-warm.service"
        self.assertIn("usage:", self.install(2)[1])
        self.assertEqual(self.files(), [])
        self.install(0, "--apt")
        self.assertEqual(self.files(), ["etc/apt/apt.conf.d/99prejit", hook])
        self.install(0, "--remove")
        self.assertEqual(self.files(), [])
        self.assertEqual(self.install(0, "--boot"), ("now enable it: systemctl enable prejit-warm.service\n" + NEXT, ""))
        self.install(0, "--boot", "--apt")
        self.assertEqual(self.files(), ["etc/apt/apt.conf.d/99prejit", service, hook])
        self.assertTrue(os.access(self.path(f"root/{hook}"), os.X_OK))
        self.install(0, "--remove")
        self.assertEqual(self.files(), [])

    def test_hooks_know_their_prefix(self):
        self.manifest("one", "a")
        self.assertEqual(self.install(0, "--apt"), ("", ""))
        hook = self.path("root/usr/libexec/prejit/prejit-hook")
        self.assertIn("\ninstalled='/opt/prejit/bin/prejit'\n", self.read("root/usr/libexec/prejit/prejit-hook"))
        text = self.read("root/usr/libexec/prejit/prejit-hook").replace("'/opt/", f"'{self.path('root')}/opt/")
        self.write("root/usr/libexec/prejit/prejit-hook", text)
        environment = {name: value for name, value in self.environment.items() if name != "PREJIT"}
        subprocess.run(["/bin/sh", hook, "boot"], env=environment, check=True, timeout=20)
        self.assertEqual(self.read("called"), f"warm --quiet {self.path('root/etc/prejit/one.yaml')}\n")

    def test_what_would_fail_later_is_said_at_once(self):
        os.remove(self.path("root/opt/prejit/bin/prejit"))
        self.assertIn("install-hooks: there is no prejit in ", self.install(3, "--boot")[1])
        self.assertEqual(self.install(3, "--boot", "--program", "/none")[1],
                         "install-hooks: --program /none: there is no such program\n")
        self.assertEqual(self.install(2, "--boot", "--program", "prejit")[1],
                         "install-hooks: --program prejit: write the whole path, which the hooks find from any folder\n")
        self.assertEqual(self.files(), [])

    def test_what_is_not_understood(self):
        self.assertEqual(self.install(2, "--aptt")[1],
                         "install-hooks: there is no option '--aptt'; see: install-hooks --help\n")
        self.assertEqual(self.install(2, "--remove", "--apt")[1], "install-hooks: --remove stands alone\n")

    def test_apt_understands_the_fragment_and_a_missing_script_is_no_error(self):
        if not shutil.which("apt-config"):
            harness.skip("no apt-config here")
        dump = subprocess.run(["apt-config", "-c", os.path.join(HOOKS, "99prejit"), "dump", "DPkg::Post-Invoke"],
                              capture_output=True, text=True, check=True).stdout
        (command,) = [line.split('"', 1)[1].rsplit('"', 1)[0] for line in dump.splitlines() if "prejit" in line]
        self.assertEqual(command, "if [ -x /usr/libexec/prejit/prejit-hook ]; then /usr/libexec/prejit/prejit-hook apt || "
                                  "true; fi")
        for hook, body in (("none", None), ("bad", "exit 9")):
            if body:
                self.write(hook, f"#!/bin/sh\n{body}\n")
                os.chmod(self.path(hook), 0o755)
            moved = command.replace("/usr/libexec/prejit/prejit-hook", self.path(hook))
            self.assertEqual(subprocess.run(["/bin/sh", "-e", "-c", moved], check=False).returncode, 0)

    def test_systemd_understands_the_unit(self):
        if not shutil.which("systemd-analyze"):
            harness.skip("no systemd-analyze here")
        self.install(0, "--boot")
        process = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                                  self.path("root/etc/systemd/system/prejit-warm.service")],
                                 capture_output=True, text=True, check=False)
        # The program of ExecStart is not on this machine; everything else must be right.
        problems = [line for line in process.stderr.splitlines()
                    if "prejit-warm.service" in line and "is not executable" not in line]
        self.assertEqual(problems, [])

    def test_scripts_pass_shellcheck(self):
        if not shutil.which("shellcheck"):
            harness.skip("no shellcheck here")
        process = subprocess.run(["shellcheck", os.path.join(HOOKS, "prejit-hook"), os.path.join(HOOKS, "install-hooks")],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.stdout, "")


if __name__ == "__main__":
    harness.main()
