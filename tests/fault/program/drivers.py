# SPDX-License-Identifier: Apache-2.0
"""Drivers that are not as the measured one: no library calls, another cache format, stores that get lost."""
import os
import shutil

import cache
import harness

OTHER_FORMAT = "format 77\nlayout alternate\nkey_order alternate\nentry_in_extra_dirs yes\n"
NAMES = ["a", "b", "c", "d"]


class Drivers(harness.Case):
    def plant_files(self):
        """Sound entries of somebody else, listed; gives their contents."""
        records = {}
        for i in range(3):
            key = cache.STAMP + b"HOST64sm_90somebody's text %d\0 " % i
            entry = cache.make_entry(key, b"somebody's payload")
            cache.write(self.cache, cache.name_of(key), entry)
            records[cache.name_of(key)] = len(entry) - cache.HEADER.size
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))
        return cache.contents(self.cache)

    def refusal(self):
        return (f"prejit: this driver does not accept the index of {self.cache}: its next store there would delete 3 entry "
                "files of another driver. Nothing was touched. Use an empty cache directory, or move this one away")

    def test_no_library_calls(self):
        for way in ("scenario", "library"):
            with self.subTest(way=way):
                shutil.rmtree(self.cache, ignore_errors=True)
                if way == "library":
                    self.environment["PREJIT_DRIVER"] = os.path.join(harness.BUILD, "tests/fake/libcuda-nolibrary.so.1")
                self.scenario("no_library_load yes\n" if way == "scenario" else "")
                self.modules(NAMES, text="targets: [native, sm_80]\n")
                result = self.warm(0)
                self.assertEqual(set(result.verdicts().values()), {"proven"}, result)
                self.assertEqual(len(result.report["jobs"]), 8)
                self.assertEqual(len(cache.read_index(self.cache)), 8)

    def test_another_format(self):
        self.scenario(OTHER_FORMAT)
        self.modules(NAMES)
        for run in range(2):
            result = self.warm(0)
            self.assert_all_proven(result, NAMES)
            report = result.report
            self.assertEqual([report["summary"]["compiled"], report["summary"]["reused"]], [4, 0] if run == 0 else [0, 4])
            self.assertEqual([job["entries"] for job in report["jobs"]], [[]] * 4)
            self.assertIsNone(report["host"]["stamp"])
            self.assertIn("this driver's cache format is not known to prejit 0.1.0: entries are compiled in place, without "
                          "names, commit or checks by file", report["notes"])
            self.assert_no_rubbish()
        self.assertEqual(self.run_and_expect(0, "verify").report["summary"]["proven"], 4)

    def test_another_format_and_something_new(self):
        self.scenario(OTHER_FORMAT)
        self.modules(NAMES[:3])
        self.warm(0)
        before = cache.contents(self.cache)
        self.modules(NAMES)
        result = self.warm(0)
        self.assert_all_proven(result, NAMES)
        self.assertEqual([result.report["summary"][name] for name in ("compiled", "reused")], [1, 3])
        self.assertEqual({path: data for path, data in cache.contents(self.cache).items() if path in before}, before)

    def test_another_format_whose_stores_get_lost(self):
        self.scenario(OTHER_FORMAT + "lose_store every=3\n")
        self.modules(NAMES)
        self.assert_all_proven(self.warm(0), NAMES)

    def test_another_format_over_the_entries_of_the_known_one(self):
        """The driver's first store would delete what it finds under an index of a format it does not know."""
        before = self.plant_files()
        self.scenario(OTHER_FORMAT)
        self.modules(NAMES)
        result = self.run_program("warm")
        self.assertEqual({path: data for path, data in cache.contents(self.cache).items() if path in before}, before)
        self.assertEqual(result.status, 3, result)
        self.assertEqual(result.errors.splitlines()[-1], self.refusal())

    def test_an_index_of_another_format_over_files(self):
        before = self.plant_files()
        with open(os.path.join(self.cache, "index"), "r+b") as file:
            file.write(b"\x4d\0\0\0")
        index = cache.read(self.cache, "index")
        self.modules(NAMES)
        result = self.run_and_expect(3, "warm")
        self.assertEqual(cache.contents(self.cache), before)
        self.assertEqual(cache.read(self.cache, "index"), index)
        self.assertEqual(result.errors.splitlines()[-1], self.refusal())

    def test_stores_that_get_lost(self):
        self.scenario("lose_store every=3\n")
        self.modules(NAMES)
        self.assert_all_proven(self.warm(0), NAMES)
        self.assertEqual(len(cache.read_index(self.cache)), 4)

    def test_nothing_is_ever_stored(self):
        self.scenario("lose_store every=1\n")
        self.modules(NAMES)
        result = self.warm(4)
        self.assertEqual(result.report["summary"]["proven"], 0)

    def test_another_build_of_the_driver(self):
        self.modules(NAMES)
        self.warm(0)
        shutil.copy(harness.DRIVER, self.path("libcuda.so.1"))
        self.environment["PREJIT_DRIVER"] = self.path("libcuda.so.1")
        self.scenario("stamp May 01 202718:00:00\n")
        result = self.warm(0)
        self.assert_all_proven(result, NAMES)
        self.assertEqual(result.report["summary"]["compiled"], 4)
        self.assertEqual(result.report["host"]["stamp"], "May 01 202718:00:00")
        self.assertEqual(len(cache.read_index(self.cache)), 8)

    def test_a_driver_replaced_at_its_path(self):
        shutil.copy(harness.DRIVER, self.path("libcuda.so.1"))
        os.utime(self.path("libcuda.so.1"), (1000000, 1000000))
        self.environment["PREJIT_DRIVER"] = self.path("libcuda.so.1")
        self.modules(NAMES)
        self.warm(0)
        os.remove(self.path("libcuda.so.1"))
        shutil.copy(harness.DRIVER, self.path("libcuda.so.1"))
        self.scenario("stamp May 01 202718:00:00\n")
        self.assertEqual(self.warm(0).report["summary"]["compiled"], 4)

    def test_the_proof_is_made_by_the_driver_and_not_by_the_receipt(self):
        self.modules(NAMES)
        self.warm(0)
        for path in cache.paths(self.cache):
            os.remove(os.path.join(self.cache, path))
        result = self.run_and_expect(4, "verify")
        self.assertEqual(set(result.verdicts().values()) - {"missed", "evicted"}, set())


if __name__ == "__main__":
    harness.main()
