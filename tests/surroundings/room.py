# SPDX-License-Identifier: Apache-2.0
"""Room in the cache: what is of other driver builds goes first and is counted, entries of this build go only when told to,
and what does not fit names the limit that would do."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault/program"))
import cache  # noqa: E402
import harness  # noqa: E402

PAYLOAD = 20000
NAMES = ["a", "b", "c"]


class Room(harness.Case):
    """Modules whose entries have some 20 kB each."""

    def setUp(self):
        super().setUp()
        self.scenario("")

    def scenario(self, text, devices=harness.ONE_GPU):
        super().scenario(f"payload kernel=* bytes={PAYLOAD}\n{text}", devices)

    def manifest(self, names, limit=None):
        settings = f"cache: {{max_size: {limit}}}\n" if limit else ""
        self.modules(names, text=f"{settings}verify: {{samples: 1}}\n")

    def upgrade(self):
        """Another build of the driver at its path."""
        shutil.copy(harness.DRIVER, self.path("libcuda.so.1"))
        self.environment["PREJIT_DRIVER"] = self.path("libcuda.so.1")
        self.scenario("stamp May 01 202718:00:00\n")

    def record_sizes(self):
        return list(cache.read_index(self.cache).values())

    def test_stale_builds_go_first_and_are_counted(self):
        self.manifest(NAMES)
        self.warm(0)
        old = list(cache.read_index(self.cache))
        size = max(self.record_sizes())
        self.upgrade()
        self.manifest(NAMES, limit=4 * size + 100)
        result = self.warm(0)
        self.assert_all_proven(result, NAMES)
        records = list(cache.read_index(self.cache))
        self.assertEqual(len(records), 4)
        self.assertEqual(records[0], old[2], "the youngest of the old ones stays")
        self.assertEqual(result.report["notes"], [
            "the cache was warmed for the driver built Apr 29 202617:12:06, and this one is the driver built "
            "May 01 202718:00:00, which finds none of those entries"])
        self.assertEqual(result.report["store"]["stale_evicted"], 2)
        self.assertIn("; 2 entries of other driver builds made room; ", result.last_line)
        self.assertEqual(result.report["environment"], [
            {"name": "CUDA_CACHE_PATH", "value": self.cache}, {"name": "CUDA_CACHE_MAXSIZE", "value": str(4 * size + 100)}])

    def test_one_stale_entry_is_not_plural(self):
        self.manifest(NAMES[:1])
        self.warm(0)
        size = max(self.record_sizes())
        self.upgrade()
        self.manifest(NAMES[:1], limit=size + 100)
        self.assertIn("; 1 entry of other driver builds made room; ", self.warm(0).last_line)

    def test_entries_of_this_build_stay_unless_told(self):
        self.manifest(NAMES)
        self.warm(0)
        before = cache.contents(self.cache)
        size = max(self.record_sizes())
        self.manifest(["d"], limit=3 * size + 100)
        result = self.warm(3)
        self.assertEqual(result.verdicts(), {"d@sm_90": "too-large"})
        self.assertEqual(cache.contents(self.cache), before)
        fitting = sum(self.record_sizes()) + size
        self.assertIn(f"set cache.max_size: {fitting} in m.yaml, and CUDA_CACHE_MAXSIZE={fitting} for the program, or "
                      "let --evict remove older entries", result.job("d")["reason"])
        self.assertTrue(result.last_line.startswith("exit 3: 1 of 1 too large for the cache: d sm_90 (too-large: the entry of "),
                        result.last_line)
        self.manifest(["d"], limit=fitting)
        self.assert_all_proven(self.warm(0), ["d"])
        self.assertEqual({path for path in before if path not in cache.read_index(self.cache)}, set())

    def test_evict(self):
        self.manifest(NAMES)
        self.warm(0)
        old = list(cache.read_index(self.cache))
        size = max(self.record_sizes())
        self.manifest(["d"], limit=3 * size + 100)
        result = self.warm(0, "--evict")
        self.assert_all_proven(result, ["d"])
        self.assertEqual([path for path in old if path not in cache.read_index(self.cache)], old[:1])
        self.assertEqual(result.report["notes"], [])
        self.assertIn("; 1 entry of this driver build made room (--evict); ", result.last_line)

    def test_a_cap_below_one_module(self):
        self.manifest(NAMES[:1], limit=5000)
        result = self.warm(3)
        self.assertEqual(result.verdicts(), {"a@sm_90": "too-large"})
        self.assertNotIn("--evict", result.job("a")["reason"])
        limit = int(result.job("a")["reason"].split("CUDA_CACHE_MAXSIZE=")[1].split()[0])
        self.manifest(NAMES[:1], limit=limit - 1)
        self.assertEqual(self.warm(3).verdicts(), {"a@sm_90": "too-large"})
        self.manifest(NAMES[:1], limit=limit)
        self.assert_all_proven(self.warm(0), NAMES[:1])

    def test_a_cap_below_the_sum_keeps_the_first_of_the_manifest(self):
        self.manifest(NAMES[:1])
        self.warm(0)
        size = max(self.record_sizes())
        shutil.rmtree(self.cache)
        self.manifest(NAMES, limit=2 * size + 100)
        result = self.warm(3, "--evict")
        self.assertEqual(result.verdicts(), {"a@sm_90": "proven", "b@sm_90": "proven", "c@sm_90": "too-large"}, result)
        self.assertEqual(self.warm(3).verdicts(), {"a@sm_90": "proven", "b@sm_90": "proven", "c@sm_90": "too-large"})
        self.assertEqual(self.harm(), [])

    def test_the_cap_may_come_from_the_environment(self):
        self.manifest(NAMES[:1])
        result = self.warm(0, environment={"CUDA_CACHE_MAXSIZE": "3000000000"})
        self.assertIn({"name": "CUDA_CACHE_MAXSIZE", "value": "3000000000"}, result.report["environment"])
        result = self.warm(0)
        self.assertEqual([variable["name"] for variable in result.report["environment"]], ["CUDA_CACHE_PATH"])

    def test_more_than_the_default_limit_is_said(self):
        """Records without files count; a big sparse file is one with a file."""
        self.manifest(NAMES[:1], limit="4GiB")
        self.warm(0)
        records = cache.read_index(self.cache)
        key = cache.make_key(b"a big one", "sm_90")
        path, size = cache.name_of(key), (1 << 30) + 5
        cache.write(self.cache, path, b"")
        os.truncate(os.path.join(self.cache, path), size + cache.HEADER.size)
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index({**records, path: size}))
        self.manifest(NAMES[:2], limit="4GiB")
        result = self.warm(0)
        (note,) = [note for note in result.report["notes"] if "default limit" in note]
        self.assertEqual(note, "the cache holds 1.1 GB, more than the driver's default limit of 1.0 GiB: a program without "
                               "CUDA_CACHE_MAXSIZE=4294967296 in its environment evicts the oldest entries at its next store")


if __name__ == "__main__":
    harness.main()
