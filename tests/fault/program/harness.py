# SPDX-License-Identifier: Apache-2.0
"""What the tests of the whole program share: a folder of its own with PTX, manifest and scenario, runs of the program in
it, and looks at what a run left behind.

PREJIT_BUILD and PREJIT_SOURCE name build and source tree; PREJIT_FULL_FAULTS=1 runs everything as often as was promised,
PREJIT_SEED=N repeats the random moments of a run, PREJIT_MUST_WORK=1 makes skips failures."""
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jsonschema

BUILD = os.environ.get("PREJIT_BUILD", "")
SOURCE = os.environ.get("PREJIT_SOURCE", "")
MUST_WORK = os.environ.get("PREJIT_MUST_WORK") == "1"
FULL = os.environ.get("PREJIT_FULL_FAULTS") == "1"
PROGRAM = os.path.join(BUILD, "prejit")
DRIVER = os.path.join(BUILD, "tests/fake/libcuda.so.1")
# Sanitised programs start more slowly, and their runs are spread further.
SANITIZED = os.environ.get("PREJIT_SANITIZED") == "1"
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX", "GCOV_PREFIX_STRIP")
# Holding larger reports against the schema takes too long.
SCHEMA_CHECK_BYTES = 200000
ONE_GPU = "device sm_90 H200 GPU-00000000-0000-4000-8000-000000000001\n"


def ptx(*kernels, target="sm_75", version="6.4", pad=0):
    """A valid PTX module with empty kernels; a comment makes it `pad` bytes longer."""
    bodies = "".join(f".visible .entry {kernel}()\n{{\n\tret;\n}}\n" for kernel in kernels)
    filler = "//" + "." * (pad - 3) + "\n" if pad > 3 else ""
    return f".version {version}\n.target {target}\n.address_size 64\n{filler}{bodies}"


class Result:
    """How one run of the program ended."""

    def __init__(self, status, output, errors, seconds):
        self.status, self.output, self.errors, self.seconds = status, output, errors, seconds

    @property
    def report(self):
        def refuse(constant):
            raise ValueError(f"{constant} is no JSON")
        return json.loads(self.output, parse_constant=refuse)

    @property
    def last_line(self):
        """The answer: the last line of standard error beside JSON, of standard output else."""
        text = self.errors if self.output.startswith("{") else self.output
        return text.splitlines()[-1] if text else ""

    def verdicts(self):
        return {job["id"]: job["verdict"] for job in self.report["jobs"]}

    def job(self, start):
        (job,) = [job for job in self.report["jobs"] if job["id"].startswith(start)]
        return job

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.output[-6000:]}\n--- stderr\n{self.errors[-3000:]}"


class Case(unittest.TestCase):
    """One test: an empty folder with `m.yaml`, PTX files, `scenario`, a stand-in root and the cache `nv`."""

    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="prejit-program-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("home", "tmp", "root/proc/driver/nvidia/gpus", "root/dev", "root/etc"):
            os.makedirs(self.path(name))
        self.write("root/proc/sys/kernel/random/boot_id", "b0070000-0000-4000-8000-000000000001\n")
        self.cache = self.path("nv")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.path("home"), "TMPDIR": self.path("tmp"), "LANG": "C",
            "PREJIT_ROOT": self.path("root"), "PREJIT_DRIVER": DRIVER,
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        }
        self.scenario("")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def scenario(self, text, devices=ONE_GPU):
        """What the emulated driver does from now on; it keeps a log of events in `log`."""
        self.write("scenario", f"{devices}log {self.path('log')}\nstate {self.path('state')}\n{text}")
        self.environment["NVIDIA_FAKE_SCENARIO"] = self.path("scenario")

    def events(self, word):
        """Lines of the driver's log that begin with `word`."""
        if not os.path.exists(self.path("log")):
            return []
        return [line for line in self.read("log").splitlines() if line.split()[0] == word]

    def harm(self):
        """What the driver did to the cache itself, and not to a private one, that entries could not survive."""
        return [line for line in self.events("wipe") if line.endswith(f" path={self.cache}")] + self.events("evict")

    def modules(self, names, text="", pad=0):
        """PTX files and `m.yaml` with one module for each name; its kernel has the module's name."""
        for name in names:
            self.write(f"{name}.ptx", ptx(name, pad=pad))
        lines = "".join(f"  - {{name: {name}, ptx: {name}.ptx}}\n" for name in names)
        self.write("m.yaml", f"version: 1\n{text}modules:\n{lines}")

    def command(self, *arguments, json_format=True):
        command = [PROGRAM, *arguments, "m.yaml", "--cache", self.cache]
        return command + (["--format", "json"] if json_format else [])

    def start(self, *arguments, environment=None, json_format=True, **more):
        return subprocess.Popen(self.command(*arguments, json_format=json_format), cwd=self.folder,
                                env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more)

    def finish(self, process, start, timeout=50):
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail(f"the program did not end within {timeout} s")
        result = Result(process.returncode, output.decode(), errors.decode(errors="backslashreplace"),
                        time.monotonic() - start)
        self.assertNotIn("Sanitizer", result.errors)
        if result.output.startswith("{") and len(result.output) < SCHEMA_CHECK_BYTES:
            problems = [f"{error.json_path}: {error.message}" for error in validator().iter_errors(result.report)]
            self.assertEqual(problems, [], result)
        return result

    def run_program(self, *arguments, **more):
        start = time.monotonic()
        return self.finish(self.start(*arguments, **more), start)

    def run_and_expect(self, status, *arguments, **more):
        result = self.run_program(*arguments, **more)
        self.assertEqual(result.status, status, result)
        return result

    def warm(self, status, *arguments, **more):
        return self.run_and_expect(status, "warm", *arguments, **more)

    def assert_all_proven(self, result, names, target="sm_90"):
        self.assertEqual(result.verdicts(), {f"{name}@{target}": "proven" for name in names}, result)

    def assert_no_process_left(self, group, seconds=2.0):
        """All processes of the session `group` are gone within `seconds`."""
        deadline = time.monotonic() + seconds
        while members := session_members(group):
            if time.monotonic() > deadline:
                for member in members:
                    os.kill(member, signal.SIGKILL)
                self.fail(f"processes {members} were left behind after {seconds} s")
            time.sleep(0.005)

    def assert_no_rubbish(self):
        """Nothing of a finished run stays in the cache but its receipt."""
        self.assertEqual(sorted(os.listdir(os.path.join(self.cache, ".prejit"))), ["receipt.json"])


@functools.cache
def validator():
    with open(os.path.join(SOURCE, "docs/report.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    return jsonschema.validators.validator_for(schema)(schema)


def session_members(session):
    """Processes of a session that run; zombies do not count."""
    members = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state, _, _, owner = file.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(owner) == session and state not in "ZX":
            members.append(int(name))
    return members


def skip(reason):
    """Skips the running test visibly; a failure where everything must work."""
    if MUST_WORK:
        raise AssertionError(f"{reason}, and PREJIT_MUST_WORK is set")
    raise unittest.SkipTest(reason)


def main():
    if not os.access(PROGRAM, os.X_OK) or not os.path.exists(DRIVER):
        sys.exit("PREJIT_BUILD must name a build folder with prejit and the emulated driver")
    unittest.main(verbosity=2)
