# SPDX-License-Identifier: Apache-2.0
"""Programs that load from the cache without pause while other modules are warmed into it."""
import json
import os
import subprocess

import cache
import harness

READERS, READ, WARMED = 6, 6, 60


class Readers(harness.Case):
    def start_reader(self, program, files):
        environment = {**self.environment, "CUDA_CACHE_PATH": self.cache,
                       "LD_LIBRARY_PATH": os.path.dirname(harness.DRIVER),
                       "ASAN_OPTIONS": "detect_leaks=0"}  # the driver keeps what it has read until the end
        reader = subprocess.Popen([program, "50", *files], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(reader.stdout.close)
        self.addCleanup(reader.stderr.close)
        self.addCleanup(reader.kill)
        return reader

    def test_readers_never_miss_and_nothing_is_lost(self):
        program = os.environ.get("PREJIT_READERS", "")
        if not os.access(program, os.X_OK):
            harness.skip("the reader program was not built")
        old = [f"old{i}" for i in range(READ)]
        new = [f"new{i:02}" for i in range(WARMED)]
        self.modules(old, text="verify: {samples: 1}\n")
        self.warm(0)
        before = cache.contents(self.cache)
        readers = [self.start_reader(program, [f"{name}.ptx" for name in old]) for _ in range(READERS)]
        for reader in readers:
            self.assertEqual(reader.stdout.readline(), "ready\n")
        self.modules(new, text="verify: {samples: 1}\n")
        result = self.warm(0, "-j", "4")
        counts = []
        for reader in readers:
            reader.terminate()
            output, errors = reader.communicate(timeout=20)
            self.assertEqual((reader.returncode, errors), (0, ""))
            counts.append(json.loads(output))
        self.assert_all_proven(result, new)
        self.assertEqual([(one["misses"], one["errors"]) for one in counts], [(0, 0)] * READERS)
        self.assertGreater(min(one["hits"] for one in counts), READ)
        self.assertEqual(result.report["summary"]["repaired"], 0)
        self.assertEqual(len(cache.read_index(self.cache)), READ + WARMED)
        self.assertEqual({path: data for path, data in cache.contents(self.cache).items() if path in before}, before)
        self.assertEqual(self.harm(), [])
        self.assertGreater(result.report["store"]["lock_holds"], 0)  # how long is judged on a GPU machine, not in CI


if __name__ == "__main__":
    harness.main()
