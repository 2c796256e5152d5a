# SPDX-License-Identifier: Apache-2.0
"""Runs prejit and plain CUDA programs on the machine at hand or on the emulated driver, always against a clock."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

DEFAULT_TIMEOUT_S = 90
# Settings of the caller that would change what a program does; each run says itself what it needs.
DROPPED = re.compile(r"(CUDA_CACHE|CUDA_DISABLE|CUDA_FORCE|CUDA_MODULE|PREJIT|NVIDIA_FAKE)_")
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
# The profile that is built into prejit; the emulated driver is of the same build.
PROFILE = "580.159.04"


class Broken(Exception):
    """A run that could not be carried out as it must be: nothing was measured."""


class Result:
    def __init__(self, status, output, errors, wall_ms):
        self.status, self.output, self.errors, self.wall_ms = status, output, errors, wall_ms

    def tail(self):
        lines = (self.errors.strip() or self.output.strip()).splitlines()
        return lines[-1] if lines else "no output"


class Report:
    """What `prejit … --format json` said."""

    def __init__(self, result):
        self.result, self.status, self.wall_ms = result, result.status, result.wall_ms
        try:
            self.json = json.loads(result.output)
        except ValueError:
            raise Broken(f"prejit ended with {result.status} and no JSON: {result.tail()}") from None

    def jobs(self):
        return self.json["jobs"]

    def reasons(self):
        """Why jobs or units are not as they should be, for people: "NAME: VERDICT: REASON"."""
        rows = self.json.get("jobs") or self.json.get("units") or []
        return [f"{row.get('id') or row.get('module')}: {row.get('verdict')}: {row.get('reason')}" for row in rows
                if row.get("reason")]

    def summary(self, name):
        return self.json["summary"].get(name)

    def verdicts(self):
        """Verdict → how many jobs."""
        counts = {}
        for job in self.jobs():
            counts[job["verdict"]] = counts.get(job["verdict"], 0) + 1
        return counts

    def number(self, group, name):
        """`group.name` of the report; Broken where it was not measured."""
        value = (self.json.get(group) or {}).get(name)
        if value is None:
            raise Broken(f"the report has no {group}.{name}")
        return value


class Background:
    """A program that runs beside what is measured and says `ready` when it is under way."""

    def __init__(self, process, name):
        self.process, self.name = process, name

    def wait_ready(self, seconds):
        # The program ends by itself after the seconds it was given, which ends this read as well.
        line = self.process.stdout.readline()
        if not line.startswith("ready"):
            self.stop(seconds)
            raise Broken(f"{self.name} did not get ready: {line.strip() or 'no output'}")
        return line.strip()

    def stop(self, seconds=20):
        """Asks it to end; gives what it printed last."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            output, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, _ = self.process.communicate()
        return output.strip().splitlines()[-1] if output.strip() else ""


class Machine:
    """Where the programs are, which driver and toolkit they meet, and a working folder that goes away."""

    def __init__(self, build, emulated, toolkit=None, ptxas=None):
        self.build, self.emulated = os.path.abspath(build), emulated
        self.folder = tempfile.mkdtemp(prefix="prejit-gpu-")
        self.count = 0
        self.running = []
        self.environment = {name: value for name, value in os.environ.items() if not DROPPED.match(name)}
        if emulated:
            fake = os.path.join(self.build, "tests/fake")
            root = os.path.join(self.folder, "root")
            os.makedirs(os.path.join(root, "proc/driver/nvidia/gpus"))
            os.makedirs(os.path.join(root, "proc/sys/kernel/random"))
            with open(os.path.join(root, "proc/sys/kernel/random/boot_id"), "w", encoding="ascii") as file:
                file.write("b0070000-0000-4000-8000-000000000001\n")
            self.environment.update(LD_LIBRARY_PATH=fake, PREJIT_DRIVER=os.path.join(fake, "libcuda.so.1"),
                                    PREJIT_ROOT=root)
            self.environment.pop("CUDA_VISIBLE_DEVICES", None)
            toolkit = toolkit or os.path.join(fake, "toolkit")
            ptxas = ptxas or os.path.join(fake, "toolkit/bin/ptxas")
        self.ptxas = ptxas and os.path.abspath(ptxas)
        # A real compiler's code is noise to the emulated driver all the same: it computes `axpb` and nothing else.
        self.toolkit = toolkit and os.path.abspath(toolkit)
        for need in ("prejit", "tests/gpu/calc", "tests/bench/baseline_pool"):
            if not os.path.exists(os.path.join(self.build, need)):
                raise Broken(f"{self.build}/{need} is not there: build the preset with its tests first")

    def close(self):
        for background in self.running:
            background.stop(5)
        shutil.rmtree(self.folder, ignore_errors=True)

    def show_one_gpu(self):
        """From now on the first GPU is the only one; others that no target is for would be told by status 4."""
        visible = self.environment.get("CUDA_VISIBLE_DEVICES", "0")
        self.environment["CUDA_VISIBLE_DEVICES"] = visible.split(",")[0]

    def size(self, real, emulated):
        return emulated if self.emulated else real

    def path(self, name):
        self.count += 1
        return os.path.join(self.folder, f"{self.count:03d}-{name}")

    def cache(self):
        """A new, empty cache folder."""
        path = self.path("cache")
        os.makedirs(path)
        return path

    def write(self, name, text):
        """Path of a new file in the working folder, where commands run."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def scenario(self, text):
        """Settings that make the emulated driver behave as `text` says."""
        return {"NVIDIA_FAKE_SCENARIO": self.write("scenario", text)}

    def run(self, command, timeout=DEFAULT_TIMEOUT_S, settings=None, environment=None):
        """Runs to the end or to the time limit; nothing of it stays behind."""
        environment = {**(self.environment if environment is None else environment), **(settings or {})}
        start = time.monotonic()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=self.folder,
                                       env=environment, start_new_session=True)
            # Popen.wait with a time limit polls, and would add up to 50 ms to what is measured.
            late = threading.Event()
            timer = threading.Timer(timeout, lambda: (late.set(), os.killpg(process.pid, signal.SIGKILL)))
            timer.start()
            try:
                status = process.wait()
            finally:
                timer.cancel()
            if late.is_set():
                raise Broken(f"{os.path.basename(command[0])} did not end within {timeout} s")
            wall_ms = (time.monotonic() - start) * 1e3
            texts = []
            for stream in (output, errors):
                stream.seek(0)
                texts.append(stream.read().decode("utf-8", "backslashreplace"))
        return Result(status, *texts, wall_ms)

    def program(self, name):
        """Path of one of the test programs."""
        for folder in ("tests/gpu", "tests/bench"):
            path = os.path.join(self.build, folder, name)
            if os.path.exists(path):
                return path
        raise Broken(f"the program {name} was not built")

    def run_program(self, name, *arguments, cache, timeout=DEFAULT_TIMEOUT_S, settings=None):
        return self.run([self.program(name), *map(str, arguments)], timeout,
                        {"CUDA_CACHE_PATH": cache, "CUDA_CACHE_MAXSIZE": str(4 << 30), **(settings or {})})

    def start_program(self, name, *arguments, cache, settings=None):
        environment = {**self.environment, "CUDA_CACHE_PATH": cache, "CUDA_CACHE_MAXSIZE": str(4 << 30),
                       **(settings or {})}
        process = subprocess.Popen([self.program(name), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                                   cwd=self.folder)
        self.running.append(Background(process, name))
        return self.running[-1]

    def prejit(self, command, manifest, cache, *arguments, timeout=DEFAULT_TIMEOUT_S, settings=None):
        return Report(self.run([os.path.join(self.build, "prejit"), command, manifest, "--cache", cache, "--format", "json",
                                *map(str, arguments)], timeout, settings))

    def warm(self, manifest, cache, *arguments, jobs=16, **more):
        return self.prejit("warm", manifest, cache, "-j", jobs, *arguments, **more)

    def warm_offline(self, manifest, cache, *arguments, profile=PROFILE, timeout=DEFAULT_TIMEOUT_S):
        """As in an image build: no way to a driver is told, and no GPU would be visible to one that is found."""
        bare = {name: value for name, value in self.environment.items() if name not in ("PREJIT_DRIVER", "LD_LIBRARY_PATH")}
        ptxas = ["--ptxas", self.ptxas] if self.ptxas and "--nvjitlink" not in arguments else []
        return Report(self.run([os.path.join(self.build, "prejit"), "warm", manifest, "--offline", profile, "--cache", cache,
                                "--format", "json", *ptxas, *map(str, arguments)], timeout, {"CUDA_VISIBLE_DEVICES": ""}, bare))

    def nvrtc(self):
        """Arguments that say which NVRTC prejit takes; none: the one it finds by itself."""
        return ["--nvrtc", self.toolkit] if self.toolkit else []

    def make_cubins(self, manifest, *arguments, settings=None):
        """What `prejit build` says."""
        linker = ["--nvjitlink", self.toolkit] if self.toolkit else []
        return Report(self.run([os.path.join(self.build, "prejit"), "build", "--format", "json", *self.nvrtc(), *linker,
                                *map(str, arguments), manifest], settings=settings))


def entries_of(cache):
    """Names of the entry files in a cache: x/y/ and 14 hex digits."""
    found = []
    for directory, folders, names in os.walk(cache):
        folders[:] = [name for name in folders if name != ".prejit"]
        found += [os.path.relpath(os.path.join(directory, name), cache) for name in names]
    return sorted(name for name in found if re.fullmatch(r"[0-9a-f]/[0-9a-f]/[0-9a-f]{14}", name))


def stamp_of(path, stamp):
    """What stands in the place of the driver's build stamp in an entry's key."""
    with open(path, "rb") as file:
        return file.read(28 + len(stamp))[28:].decode("ascii", "backslashreplace")


def fnv1a(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def entry_name(stamp, arch, image, options=""):
    """Name of the entry the driver makes of an image: worked out here, apart from prejit's own code."""
    key = stamp.encode() + b"HOST64" + arch.encode() + image.split(b"\0")[0] + b"\0 " + options.encode()
    digits = f"{fnv1a(key):016x}"
    return f"{digits[0]}/{digits[1]}/{digits[2:]}"
