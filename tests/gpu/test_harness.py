# SPDX-License-Identifier: Apache-2.0
"""Self-test of the GPU run: it believes only what it should, and a broken promise never passes."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import entries
import harness
import offline
import toolkit
import workload
from checks import Checks, table_lines

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "../data/driver/golden/inputs/axpb.ptx")
STAMP = "Apr 29 202617:12:06"


def load_run():
    loader = importlib.machinery.SourceFileLoader("gpu_run", os.path.join(HERE, "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_run", loader))
    loader.exec_module(module)
    return module


class Names(unittest.TestCase):
    def test_hash(self):
        for text, value in ((b"", 0xcbf29ce484222325), (b"a", 0xaf63dc4c8601ec8c), (b"foobar", 0x85944171f73967e8)):
            self.assertEqual(harness.fnv1a(text), value)

    def test_names_that_the_real_driver_gave(self):
        with open(GOLDEN, "rb") as file:
            image = file.read()
        for arch, options, name in (
                ("sm_90", "", "c/a/920786966c763d"), ("sm_80", "", "0/f/936157d6e3da30"),
                ("sm_90", "--split-compile=2", "5/a/e71dff23f168b6"),
                ("sm_90", "--maxrregcount 32 -g", "5/b/ba7cb55ac9a925")):
            self.assertEqual(harness.entry_name(STAMP, arch, image, options), name)
        self.assertEqual(harness.entry_name(STAMP, "sm_90", image + b"\0behind"), "c/a/920786966c763d")


class Judgement(unittest.TestCase):
    def test_nothing_checked_is_not_kept(self):
        checks = Checks(judge_times=True)
        self.assertFalse(checks.kept())
        checks.note("x", "1")
        self.assertFalse(checks.kept())

    def test_each_check_can_fail(self):
        for check in (lambda c: c.equal("a", 1, 2), lambda c: c.true("a", False), lambda c: c.time("a", 11, 10),
                      lambda c: c.ratio("a", 1.2, at_most=1.1), lambda c: c.ratio("a", 4, at_least=5),
                      lambda c: c.broken("a")):
            checks = Checks(judge_times=True)
            checks.equal("sound", 1, 1)
            self.assertTrue(checks.kept())
            check(checks)
            self.assertFalse(checks.kept())

    def test_times_are_not_judged_where_they_mean_nothing(self):
        checks = Checks(judge_times=False)
        checks.equal("sound", 1, 1)
        checks.time("a", 11, 10)
        checks.ratio("b", 4, at_least=5)
        self.assertTrue(checks.kept())
        self.assertEqual(table_lines([("p", checks)]), [
            "promise  what         measured  bound", "p        as expected  1 of 1             ok",
            "p        a            11.0 ms   ≤ 10 ms  -", "p        b            4.00      ≥ 5      -"])

    def test_table_shows_every_breach(self):
        checks = Checks(judge_times=True)
        checks.equal("sound", 1, 1)
        checks.equal("broken", "x" * 70, 2)
        self.assertEqual(table_lines([("p", checks)]), [
            "promise  what         measured" + " " * 54 + "bound",
            "p        as expected  1 of 2" + " " * 63 + "BROKEN",
            f"p        broken       {'x' * 59}…  = 2    BROKEN"])


class Toolkit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="prejit-toolkit-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_architecture_of_cubins(self):
        for name, arch in (("ptxas_sm_75", "sm_75"), ("ptxas_sm_90a", "sm_90"), ("ptxas_sm_100f", "sm_100"),
                           ("ptxas_sm_120", "sm_120")):
            with open(os.path.join(HERE, f"../data/image/{name}.cubin"), "rb") as file:
                self.assertEqual(toolkit.arch_of_cubin(file.read()), arch)
        self.assertEqual(toolkit.arch_of_cubin(b"\x7fELF" + bytes(60)), "no cubin of CUDA 13")

    def test_entries_of_another_stamp_are_found(self):
        for name, stamp in (("0/0/" + "0" * 14, STAMP), ("0/1/" + "0" * 14, "Aug 20 202514:13:52")):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path))
            with open(path, "wb") as file:
                file.write(struct.pack("<IQQQ", 65, 100, 0, 0) + stamp.encode() + b"HOST64sm_90")
        self.assertEqual(toolkit.foreign_stamps(self.folder, STAMP), ["0/1/" + "0" * 14])

    def test_program_that_went_wrong_is_shown(self):
        for status, output, kept, shown in ((0, "a\nhit\n", True, "yes"), (3, "a\nhit\n", False, "status 3: a; hit; oh"),
                                            (0, "a\nmiss\n", False, "status 0: a; miss; oh"),
                                            (0, "hits\n", False, "status 0: hits; oh")):
            checks = Checks(judge_times=True)
            toolkit.check_run(checks, "x", harness.Result(status, output, "oh\n", 1.0), 0, "hit")
            self.assertEqual((checks.kept(), checks.rows[0][1]), (kept, shown))

    def write_index(self, **changes):
        cubin = toolkit.read(os.path.join(HERE, "../data/image/ptxas_sm_90a.cubin"))
        with open(os.path.join(self.folder, "a.cubin"), "wb") as file:
            file.write(cubin)
        unit = {"module": "a", "target": "sm_90a", "inputs": [{"path": GOLDEN, "sha256": toolkit.digest(toolkit.read(GOLDEN))}],
                "cubin": {"path": "a.cubin", "bytes": len(cubin), "sha256": toolkit.digest(cubin)}, **changes}
        with open(os.path.join(self.folder, "index.json"), "w", encoding="utf-8") as file:
            json.dump({"units": [unit]}, file)
        return unit

    def test_index_that_tells_something_else(self):
        unit = self.write_index()
        for changes, wrong in (
                ({}, []), ({"cubin": None}, ["a sm_90a: no cubin"]), ({"target": "sm_80"}, ["a sm_80: is for sm_90"]),
                ({"cubin": {**unit["cubin"], "sha256": "0"}}, ["a sm_90a: not of the SHA-256 and size that the index tells"]),
                ({"cubin": {**unit["cubin"], "bytes": 1}}, ["a sm_90a: not of the SHA-256 and size that the index tells"]),
                ({"inputs": [{"path": GOLDEN, "sha256": "0"}]},
                 [f"a sm_90a: input {GOLDEN} is not of the SHA-256 that the index tells"])):
            self.write_index(**changes)
            checks = Checks(judge_times=True)
            toolkit.check_index(checks, self.folder, {})
            self.assertEqual(checks.rows[1][1:], (str(wrong), "= []", not wrong))


class Entries(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="prejit-entries-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_what_the_real_driver_wrote_is_made_anew(self):
        golden = os.path.join(HERE, "../data/driver/golden")
        seen = 0
        for case in sorted(os.listdir(golden)):
            for name, file in entries.contents(os.path.join(golden, case)).items():
                key, payload = entries.take_apart(file)
                self.assertEqual((entries.name_of(key), entries.put_together(key, payload)), (name, file))
                seen += 1
        self.assertGreater(seen, 10)

    def test_index_of_the_real_driver_is_made_anew(self):
        case = os.path.join(HERE, "../data/driver/golden/library")
        sizes = {name: len(file) for name, file in entries.contents(case).items()}
        self.assertEqual(entries.make_index(sizes), toolkit.read(os.path.join(case, "index")))

    def test_planted_cache(self):
        pairs = [(b"one", b"payload"), (b"two", b"")]
        entries.plant(self.folder, pairs)
        self.assertEqual(entries.contents(self.folder),
                         {entries.name_of(key): entries.put_together(key, payload) for key, payload in pairs})
        index = toolkit.read(os.path.join(self.folder, "index"))
        self.assertEqual(struct.unpack_from("<IIQ", index), (65, 2, 13))
        self.assertEqual(struct.unpack_from("<QQQQ", index, 16), (harness.fnv1a(b"one"), 10, harness.fnv1a(b"two"), 3))

    def test_damaged_entry_is_not_taken_apart(self):
        sound = entries.put_together(b"key", b"payload")
        for damaged in (b"", sound[:27], sound[:-1], sound + b"x", sound[:-1] + b"x", b"\x42" + sound[1:]):
            with self.assertRaises(ValueError):
                entries.take_apart(damaged)

    def test_poison(self):
        made = {kind: offline.poison_of(kind, b"0123456789", b"other") for kind in ("random", "cut", "arch", "empty", "sound")}
        self.assertEqual(made, {**made, "cut": b"01234", "arch": b"other", "empty": b"", "sound": b"0123456789"})
        self.assertEqual(len(made["random"]), 10)
        self.assertNotEqual(made["random"], b"0123456789")


class Watch(unittest.TestCase):
    def look(self, name):
        """What the watch finds while a process below this one has a file of that name mapped."""
        folder = tempfile.mkdtemp(prefix="prejit-watch-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(bytes(4096))
        program = ("import mmap, sys; file = open(sys.argv[1], 'rb'); map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ);"
                   "print(1, flush=True); sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            watch = offline.DriverWatch()
            watch.look()
            process.stdin.close()
        self.assertIn(process.pid, watch.seen)
        return watch.found, path

    def test_a_driver_is_seen(self):
        found, path = self.look("libcuda.so.1")
        self.assertEqual(found, {path})

    def test_another_library_is_none(self):
        self.assertEqual(self.look("libcudart.so.13")[0], set())


class Workload(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="prejit-workload-")
        self.addCleanup(shutil.rmtree, self.folder)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_modules_differ_and_are_the_same_each_time(self):
        for kind, least, most in (("heavy", 180_000, 230_000), ("data", 500, 2_000), ("plain", 3_999, 4_001)):
            one = [self.read(path) for path in workload.make(self.folder + "/1", 3, kind, size=4_000)]
            two = [self.read(path) for path in workload.make(self.folder + "/2", 3, kind, size=4_000)]
            self.assertEqual(one, two)
            self.assertEqual(len(set(one)), 3)
            for text in one:
                self.assertTrue(least <= len(text) <= most, (kind, len(text)))
                self.assertIn(b".entry axpb(", text)

    def test_sources_differ_and_are_the_same_each_time(self):
        one = [self.read(path) for path in workload.make_sources(self.folder + "/1", 3)]
        two = [self.read(path) for path in workload.make_sources(self.folder + "/2", 3)]
        self.assertEqual(one, two)
        self.assertEqual(len(set(one)), 3)
        for text in one:
            self.assertTrue(70_000 <= len(text) <= 110_000, len(text))
            self.assertIn(b"__global__ void axpb(float *x, int n)", text)

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_ptxas_takes_them(self):
        for kind in workload.KINDS:
            path, = workload.make(self.folder, 1, kind, prefix=kind)
            self.assertEqual(os.spawnlp(os.P_WAIT, "ptxas", "ptxas", "-arch=sm_75", "-o", self.folder + "/x", path), 0)

    def test_manifest(self):
        path = workload.write_manifest(self.folder + "/m.yaml", ["/a/m0.ptx"], ["native", "sm_80"], {"max_registers": 64}, 2)
        self.assertEqual(self.read(path).decode(), "version: 1\ntargets: [native, sm_80]\nverify: {samples: 2}\nmodules:\n"
                                                   "  - name: m0\n    ptx: /a/m0.ptx\n    options: {max_registers: 64}\n")


class WholeRun(unittest.TestCase):
    def setUp(self):
        self.build = tempfile.mkdtemp(prefix="prejit-build-")
        self.addCleanup(shutil.rmtree, self.build)
        shutil.copy(os.path.join(HERE, "stand_in_prejit"), self.build + "/prejit")
        for name in ("tests/gpu/calc", "tests/gpu/link_app", "tests/bench/baseline_pool"):
            os.makedirs(os.path.join(self.build, os.path.dirname(name)), exist_ok=True)
            shutil.copy("/bin/false", os.path.join(self.build, name))
        self.addCleanup(os.environ.pop, "STAND_IN", None)

    def run_with(self, mode, *arguments):
        os.environ["STAND_IN"] = mode
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = load_run().main(["--emulated", "--only", "cold_then_nothing_to_do", *arguments, self.build])
        return status, output.getvalue()

    def test_kept(self):
        status, output = self.run_with("")
        self.assertEqual(status, 0, output)
        self.assertIn("\nok 1 - 64 modules of 200 kB on a cold cache, 16 workers: all proven; a second run does nothing #", output)
        self.assertIn("\n1 promises: 1 kept, 0 broken in ", output)

    def test_each_lie_is_seen(self):
        for mode, broken in (
                ("missed", "verdicts: {'missed': 1, 'proven': 5} (= {'proven': 6})  <-- broken"),
                ("forget_module", "modules with a job: 5 (= 6)  <-- broken"),
                ("no_entry", "entries in the cache: 5 (= 6)  <-- broken"),
                ("no_witness", "loads with JIT disabled that hit: 0 (= 6)  <-- broken"),
                ("works_again", "second run: nothing to do: False (= True)  <-- broken"),
                ("no_summary", "compiled: None (= 6)  <-- broken")):
            status, output = self.run_with(mode)
            self.assertEqual(status, 1, mode)
            self.assertIn("\nnot ok 1 - ", output, mode)
            self.assertIn(f"#   {broken}\n", output, mode)

    def test_toolkit_promises_are_not_kept_by_words(self):
        for name, broken in (
                ("sources", "the report is not as promised: KeyError: 'toolkit'  <-- broken"),
                ("links", "ptx: cold, every input misses: status 1: no output (yes)  <-- broken"),
                ("cubins", "could not be carried out: prejit ended with 1 and no JSON: "),
                ("offline_caches", "offline: exit status, verdicts: (0, {'proven': 15}) (= (0, {'stored': 20}))  <-- broken"),
                ("offline_fatbins", "the report is not as promised: KeyError: 'reason_code'"),
                ("against_driver", "ptxas: exit status, verdicts: (0, {'proven': 9}) (= (0, {'stored': 12}))  <-- broken"),
                ("wrong_profile", "verify: status, verdicts: (0, {'proven': 5}) (= (4, {'missed': 5}))  <-- broken"),
                ("poison", "the report is not as promised: "), ("poisoned_links", "the report is not as promised: "),
                ("offline_speed", "could not be carried out: offline ended with 0 and {'proven': 1}: []")):
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = load_run().main(["--emulated", "--only", name, self.build])
            self.assertEqual(status, 1)
            self.assertIn("\nnot ok 1 - ", output.getvalue())
            self.assertIn(broken, output.getvalue())

    def test_program_that_does_not_work(self):
        status, output = self.run_with("garbage")
        self.assertEqual((status, output), (
            1, "Bail out! prejit does not work here: prejit ended with 1 and no JSON: no JSON\n"))

    def test_nothing_built(self):
        os.remove(self.build + "/prejit")
        status, output = self.run_with("")
        self.assertEqual((status, output), (
            1, f"Bail out! {self.build}/prejit is not there: build the preset with its tests first\n"))

    def test_time_limit_of_the_run(self):
        status, output = self.run_with("", "--limit", "-1")
        self.assertEqual(status, 1)
        self.assertIn("could not be carried out: the time limit of the whole run was reached  <-- broken", output)

    def test_command_that_hangs(self):
        machine = harness.Machine(self.build, True)
        self.addCleanup(machine.close)
        with self.assertRaisesRegex(harness.Broken, "^sleep did not end within 0.1 s$"):
            machine.run(["/bin/sleep", "30"], timeout=0.1)

    def test_results(self):
        out = self.build + "/out"
        os.environ["STAND_IN"] = ""
        with contextlib.redirect_stdout(io.StringIO()):
            load_run().main(["--emulated", "--only", "cold_then_nothing_to_do", self.build, out])
        with open(out + "/results.json", encoding="utf-8") as file:
            results = json.load(file)
        self.assertEqual((results["host"], results["promises"][0]["kept"]), ("stand-in; driver 1", True))
        with open(out + "/measurements.md", encoding="utf-8") as file:
            self.assertIn("| cold_then_nothing_to_do | compiled | 6 | = 6 | ok |\n", file.read())


if __name__ == "__main__":
    unittest.main()
