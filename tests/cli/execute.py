# SPDX-License-Identifier: Apache-2.0
"""Carries out one case in a folder of its own, with an environment that holds nothing of the caller's."""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import match
from casefile import CaseError, Statement, key_values, small_ptx

DEFAULT_TIMEOUT_S = 60
# What instrumented builds need from the caller; everything else is dropped.
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX", "GCOV_PREFIX_STRIP")
GRACE_S = 2.0
# What a case needs to be allowed in a mount namespace of its own, and how to find out.
MOUNTS = {"mount": "mount -t tmpfs none /tmp",
          "mount-layers": "mount -t tmpfs none /tmp && cd /tmp && mkdir l u w m && "
                          "mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m"}


class Settings:
    """Where things are: the build folder, the source tree, and whether the build is instrumented."""

    def __init__(self, source, build, sanitized=False):
        self.source, self.build, self.sanitized = os.path.abspath(source), os.path.abspath(build), sanitized
        self.driver = os.path.join(self.build, "tests/fake/libcuda.so.1")

    def lacks(self, need):
        """Why this machine cannot run a case that needs `need`; None where it can."""
        if need == "root":
            return None if os.geteuid() == 0 else "needs root"
        if need == "not-root":
            return None if os.geteuid() != 0 else "needs an ordinary user"
        if need == "plain":
            return "needs a build without sanitizers" if self.sanitized else None
        if need in MOUNTS:
            tried = subprocess.run(["unshare", "-m", "sh", "-c", MOUNTS[need]], check=False,
                                   stderr=subprocess.DEVNULL) if shutil.which("unshare") else None
            return None if tried and tried.returncode == 0 else f"needs the right to {need.replace('-', ' ')}"
        if need.startswith("program:"):
            program = need.removeprefix("program:")
            return None if shutil.which(program) else f"needs the program {program}"
        if need.startswith("library:"):
            library = need.removeprefix("library:")
            return None if can_load(library) else f"needs the library {library}"
        raise CaseError(f"`needs {need}` is none of root, not-root, plain, mount, mount-layers, program:NAME, "
                        "library:NAME")


def can_load(library):
    """Whether the loader finds a library, tried in a process of its own."""
    return subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


class Run:
    """One case being carried out."""

    def __init__(self, settings, statements):
        self.settings, self.statements = settings, statements
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="prejit-cli-"))
        self.timeout = DEFAULT_TIMEOUT_S
        self.result = None  # (exit status, stdout lines, stderr lines) of the last `run`
        self.problems = []
        for folder in ("home", "tmp", "root/proc/driver/nvidia/gpus", "root/dev", "root/etc"):
            os.makedirs(os.path.join(self.folder, folder))
        self.write("root/proc/sys/kernel/random/boot_id", "b0070000-0000-4000-8000-000000000001\n")
        self.environment = {
            "PATH": f"{settings.build}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": os.path.join(self.folder, "home"), "TMPDIR": os.path.join(self.folder, "tmp"),
            "LANG": "C", "LC_ALL": "C", "PREJIT_ROOT": os.path.join(self.folder, "root"),
            "PREJIT_DRIVER": settings.driver,
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        }

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def names(self):
        return {"@DIR@": self.folder, "@DRIVER@": self.settings.driver, "@BUILD@": self.settings.build,
                "@SOURCE@": self.settings.source}

    def expand(self, text):
        for name, value in self.names().items():
            text = text.replace(name, value)
        return text

    def contract(self, text):
        """Output with this run's paths replaced by their names, the longest first."""
        for name, value in sorted(self.names().items(), key=lambda pair: -len(pair[1])):
            text = text.replace(value, name)
        return text

    def write(self, path, text):
        path = os.path.join(self.folder, self.expand(path))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def block_text(self, one):
        return self.expand("".join(line + "\n" for line in one.block))

    def set_up(self, one):
        if one.word == "timeout":
            self.timeout = float(one.rest)
        elif one.word == "env":
            name, equals, value = self.expand(one.rest).partition("=")
            if not equals:
                raise CaseError("`env` wants NAME=VALUE")
            self.environment[name] = value
        elif one.word == "unset":
            self.environment.pop(one.rest, None)
        elif one.word == "scenario":
            self.write("scenario", self.block_text(one))
            self.environment["NVIDIA_FAKE_SCENARIO"] = os.path.join(self.folder, "scenario")
        elif one.word == "file":
            self.write(one.rest, self.block_text(one))
        elif one.word == "ptx":
            path, values = key_values(one.rest, {"kernels": "k", "target": "sm_75", "version": "6.4", "pad": "0"})
            self.write(path, small_ptx(**values))
        elif one.word == "copy":
            source, _, target = one.rest.partition(" ")
            target = os.path.join(self.folder, target.strip() or os.path.basename(source))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(self.settings.source, source), target)

    def execute(self, command):
        """Exit status (128 + N for a signal), output and error output of a shell command; kills what outlasts it."""
        streams = [tempfile.TemporaryFile(dir=os.path.join(self.folder, "tmp")) for _ in range(2)]
        with streams[0] as output, streams[1] as errors:
            process = subprocess.Popen(["/bin/sh", "-c", self.expand(command)], cwd=self.folder, env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True,
                                       umask=0o022)
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                self.problems.append(f"`{command}` did not end within {self.timeout:g} s")
                status = None
            self.end_session(process, command, status is not None)
            if status is not None and status < 0:
                status = 128 - status
            texts = []
            for stream in (output, errors):
                stream.seek(0)
                texts.append(self.contract(stream.read().decode("utf-8", "backslashreplace")))
        return status, *(match.to_lines(text) for text in texts)

    def end_session(self, process, command, must_be_gone):
        """Nothing of the command may outlive it for long."""
        deadline = time.monotonic() + (GRACE_S if must_be_gone else 0)
        while members := session_members(process.pid):
            if time.monotonic() >= deadline:
                if must_be_gone:
                    self.problems.append(f"`{command}` left a process behind")
                    must_be_gone = False
                for member in members:
                    try:
                        os.kill(member, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            time.sleep(0.01)
        process.wait()

    def check(self, statements, update):
        """Compares the last `run` with the expectations behind it; gives the statements as they should be."""
        given = {one.word: one for one in statements if one.word}
        status, output, errors = self.result
        found = []
        if status is not None and ("exit" not in given or given["exit"].rest != str(status)):
            found.append(f"exit status is {status}, expected {given['exit'].rest if 'exit' in given else 'one to be named'}")
        for word, lines in (("stdout", output), ("stderr", errors)):
            patterns = given[word].block if word in given else []
            if not match.lines_match([self.contract(self.expand(pattern)) for pattern in patterns], lines):
                found += match.difference(word, patterns, lines)
                given[word] = Statement(word, "", match.updated(patterns, lines))
        if update and status is not None:
            given["exit"] = Statement("exit", str(status))
            others = [one for one in statements if one.word is None]
            return [given[word] for word in ("exit", "stdout", "stderr")
                    if word in given and (word == "exit" or given[word].block)] + others
        self.problems += found
        return statements

    def carry_out(self, update=False):
        """Runs the whole case; gives its statements, with new expectations where `update`."""
        result, waiting = [], None
        for one in self.statements + [Statement("end")]:
            if waiting is not None and one.word in (None, "exit", "stdout", "stderr"):
                waiting.append(one)
                continue
            if waiting is not None:
                result += self.check(waiting, update)
                waiting = None
            if self.problems or one.word == "end":
                break
            result.append(one)
            if one.word == "run":
                self.result, waiting = self.execute(one.rest), []
            elif one.word == "do":
                status, output, errors = self.execute(one.rest)
                if status != 0:
                    self.problems += [f"`do {one.rest}` ended with {status}", *output, *errors]
            elif one.word and one.word != "needs":
                self.set_up(one)
        return result


def session_members(session):
    """Processes of a session that run; zombies that only wait to be collected do not count."""
    members = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    state, _, _, owner = file.read().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(owner) == session and state not in "ZX":
                members.append(int(name))
    return members


def needs_of(statements):
    return [need for one in statements if one.word == "needs" for need in shlex.split(one.rest)]
