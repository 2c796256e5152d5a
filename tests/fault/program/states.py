# SPDX-License-Identifier: Apache-2.0
"""Caches in a dangerous state before the run: repaired without losing a sound entry, or refused and left as they are."""
import getpass
import json
import os
import shutil
import struct

import cache
import harness

NAMES = ["a", "b", "c"]
OURS = ["a", "b"]


class States(harness.Case):
    """A cache of two of our modules' entries, and of three that another program made; then something happens to it."""

    def setUp(self):
        super().setUp()
        self.modules(OURS)
        self.warm(0, "--no-receipt")
        self.modules([f"other{i}" for i in range(3)])
        self.warm(0, "--no-receipt")
        self.modules(NAMES)
        self.before = cache.contents(self.cache)
        self.assertEqual(len(self.before), 5)
        self.index = cache.read(self.cache, "index")

    def set_index(self, data):
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(data)

    def check_repaired(self, compiled=("c",), status=0):
        """A warm-up loses nothing, compiles just what was missing, and leaves an index that lists everything."""
        result = self.warm(status)
        self.assert_all_proven(result, NAMES)
        after = cache.contents(self.cache)
        self.assertEqual({path: data for path, data in after.items() if path in self.before}, self.before)
        self.assertEqual(len(after), 6)
        self.assertEqual(cache.read_index(self.cache), {path: len(data) - cache.HEADER.size for path, data in after.items()}
                         | cache.read_index(self.cache))
        self.assertEqual({job["module"] for job in result.report["jobs"] if job["compile_ms"] is not None}, set(compiled))
        self.assertEqual(self.harm(), [])
        self.assert_no_rubbish()
        return result

    def check_harmless(self):
        """The driver takes such an index as it is: whatever becomes of it, nothing is lost."""
        self.assert_all_proven(self.warm(0), NAMES)
        after = cache.contents(self.cache)
        self.assertEqual({path: data for path, data in after.items() if path in self.before}, self.before)
        self.assertEqual(self.harm(), [])

    def test_sound(self):
        self.assertEqual(self.check_repaired().report["notes"], [])

    def test_no_index(self):
        os.remove(os.path.join(self.cache, "index"))
        self.assertEqual(self.check_repaired().report["notes"], [
            "the cache's index is missing, so the driver deletes every entry when it next stores one; it was rebuilt from "
            "the sound entries", "5 sound entries that the index did not list are listed now"])

    def test_empty_index(self):
        self.set_index(b"")
        self.check_repaired()

    def test_random_index(self):
        self.set_index(bytes(range(7, 135)))
        result = self.run_program("warm")
        after = cache.contents(self.cache)
        self.assertEqual({path: data for path, data in after.items() if path in self.before}, self.before)
        self.assertIn(result.status, (0, 3), result)
        self.assertEqual(self.harm(), [])

    def test_index_cut_in_a_record(self):
        self.set_index(self.index[:-5])
        self.check_repaired()

    def test_index_of_eight_bytes(self):
        self.set_index(self.index[:8])
        self.check_repaired()

    def test_index_shorter_than_its_count(self):
        self.set_index(struct.pack("<I", 65) + struct.pack("<I", 500) + self.index[8:])
        # To look is enough for the driver to delete everything: verify must not let it look.
        result = self.run_and_expect(4, "verify")
        self.assertEqual({job["reason_code"] for job in result.report["jobs"]}, {"index-dangerous"})
        self.assertEqual(cache.contents(self.cache), self.before)
        self.check_repaired()

    def test_total_too_high(self):
        self.set_index(self.index[:8] + struct.pack("<Q", 1 << 40) + self.index[16:])
        self.check_repaired()

    def test_total_too_low(self):
        self.set_index(self.index[:8] + struct.pack("<Q", 3) + self.index[16:])
        self.check_repaired()

    def test_count_of_zero(self):
        self.set_index(struct.pack("<IIQ", 65, 0, 0))
        self.check_repaired()

    def test_doubled_record(self):
        count, total = struct.unpack_from("<IQ", self.index, 4)
        record = self.index[16:32]
        size = struct.unpack_from("<Q", record, 8)[0]
        self.set_index(struct.pack("<IIQ", 65, count + 1, total + size) + self.index[16:] + record)
        self.check_harmless()

    def test_zero_record(self):
        count, total = struct.unpack_from("<IQ", self.index, 4)
        self.set_index(struct.pack("<IIQ", 65, count + 1, total) + self.index[16:] + bytes(16))
        self.check_harmless()

    def test_bytes_behind_the_last_record(self):
        self.set_index(self.index + b"x" * 24)
        self.check_repaired()

    def test_entry_without_a_record(self):
        records = cache.read_index(self.cache)
        records.pop(next(iter(records)))
        self.set_index(cache.make_index(records))
        self.check_repaired()

    def test_empty_files(self):
        cache.write(self.cache, "0/0/00000000000000", b"")
        cache.write(self.cache, "f/f/ffffffffffffff", b"")
        self.check_repaired()

    def test_other_names_are_left_alone(self):
        os.makedirs(os.path.join(self.cache, "keep/me"))
        self.write("nv/README", "mine\n")
        self.write("nv/keep/me/too", "mine\n")
        self.check_repaired()
        self.assertEqual(self.read("nv/README") + self.read("nv/keep/me/too"), "mine\nmine\n")


class Payloads(harness.Case):
    """Entries that the driver believes and cannot load, or does not believe."""

    def plant(self, name, payload):
        key = cache.make_key(self.read(f"{name}.ptx").encode(), "sm_90")
        entry = cache.make_entry(key, payload)
        cache.write(self.cache, cache.name_of(key), entry)
        records = cache.read_index(self.cache) if os.path.exists(os.path.join(self.cache, "index")) else {}
        records[cache.name_of(key)] = len(entry) - cache.HEADER.size
        with open(os.path.join(self.cache, "index"), "wb") as file:
            file.write(cache.make_index(records))
        return cache.name_of(key)

    def good_payload(self, arch):
        """A cubin that the driver made of module a for `arch`."""
        self.warm(0, "--no-receipt", "-m", "a", "-t", arch)
        (path,) = cache.paths(self.cache)
        data = cache.read(self.cache, path)
        shutil.rmtree(self.cache)
        _, key_size, _, _ = cache.HEADER.unpack_from(data)
        return data[cache.HEADER.size + key_size:]

    def check_repaired(self, name, payload, before):
        path = self.plant(name, payload)
        self.assertEqual(self.run_and_expect(4, "verify").verdicts()["a@sm_90"], before)
        result = self.warm(0)
        self.assert_all_proven(result, ["a", "b"])
        self.assertIsNone(cache.problem_of(path, cache.read(self.cache, path)))
        self.assertIn(path, cache.read_index(self.cache))
        self.assertEqual(self.run_and_expect(0, "verify").report["summary"]["proven"], 2)

    def setUp(self):
        super().setUp()
        self.modules(["a", "b"])

    def test_code_for_another_architecture(self):
        self.check_repaired("a", self.good_payload("sm_80"), "missed")

    def test_random_bytes(self):
        self.check_repaired("a", os.urandom(3000), "missed")

    def test_cut_cubin(self):
        self.check_repaired("a", self.good_payload("sm_90")[:700], "missed")

    def test_planted_behind_a_receipt(self):
        """The receipt's entry is replaced by one of the same size and another time."""
        payload = self.good_payload("sm_80")
        self.warm(0)
        path = self.plant("a", payload)
        os.utime(os.path.join(self.cache, path), (1, 1))
        result = self.warm(0)
        self.assert_all_proven(result, ["a", "b"])
        self.assertEqual(result.job("a")["entries"][0]["name"], path)
        self.assertIsNone(cache.problem_of(path, cache.read(self.cache, path)))

    def test_made_by_the_driver_itself(self):
        self.scenario("bad_payload kernel=a arch=sm_80 times=1\n")
        result = self.run_program("warm")
        self.assertIn(result.status, (0, 4), result)
        paths = cache.paths(self.cache)
        self.assertEqual([cache.problem_of(path, cache.read(self.cache, path)) for path in paths], [None] * len(paths))
        self.assertEqual(self.warm(0).report["summary"]["proven"], 2)

    def test_damaged_payload(self):
        self.warm(0)
        path = cache.name_of(cache.make_key(self.read("a.ptx").encode(), "sm_90"))
        data = bytearray(cache.read(self.cache, path))
        data[-1] ^= 1
        cache.write(self.cache, path, data)
        os.utime(os.path.join(self.cache, path), (1, 1))
        result = self.warm(0)
        self.assert_all_proven(result, ["a", "b"])
        self.assertIsNone(cache.problem_of(path, cache.read(self.cache, path)))


class Access(harness.Case):
    """Directories that this user cannot use. Root can use all of them, so the program runs as nobody there."""

    NOBODY = 65534

    def setUp(self):
        super().setUp()
        self.modules(["a"])
        self.root = os.geteuid() == 0
        if self.root:
            os.chmod(self.folder, 0o755)
            for folder, _, _ in os.walk(self.path("home")):
                os.chown(folder, self.NOBODY, self.NOBODY)
            for path in (harness.PROGRAM, harness.DRIVER):
                while path != "/":
                    if not os.stat(path).st_mode & 0o001 and os.path.isdir(path):
                        harness.skip(f"{path} is closed to other users")
                    path = os.path.dirname(path)

    def as_user(self):
        return {"user": self.NOBODY, "group": self.NOBODY, "extra_groups": []} if self.root else {}

    def uid(self):
        return self.NOBODY if self.root else os.geteuid()

    def test_not_writable(self):
        os.makedirs(self.cache, 0o755)
        os.chmod(self.cache, 0o555)
        self.scenario("", harness.ONE_GPU)
        self.write("scenario", harness.ONE_GPU)
        result = self.run_and_expect(3, "warm", **self.as_user())
        self.assertEqual(json.loads(result.output)["error"]["code"], "environment")
        self.assertIn(f"{self.cache}/index is missing, and user {self.uid()} may not write its directory", result.errors)

    def test_cannot_be_made(self):
        os.makedirs(self.path("closed"), 0o555)
        self.cache = self.path("closed/nv")
        self.write("scenario", harness.ONE_GPU)
        result = self.run_and_expect(3, "warm", **self.as_user())
        self.assertIn(f"{self.cache} is missing, and user {self.uid()} may not write", result.errors)

    def test_is_a_file(self):
        self.write("nv", "")
        self.write("scenario", harness.ONE_GPU)
        result = self.run_and_expect(3, "warm")
        self.assertIn("it is no directory; move", result.errors)
        self.assertEqual(self.read("nv"), "")

    def test_another_users_index(self):
        """The driver reads nothing where it cannot open `index` for writing; verify says so."""
        self.warm(0)
        os.remove(self.path("log"))
        self.write("scenario", harness.ONE_GPU)
        for folder, folders, files in os.walk(self.cache):
            for name in folders:
                os.chmod(os.path.join(folder, name), 0o755)
            for name in files:
                os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(self.cache, 0o755)
        result = self.run_and_expect(4, "verify", **self.as_user())
        self.assertEqual(result.verdicts(), {"a@sm_90": "missed"})
        owner, user = ("root", "nobody") if self.root else (getpass.getuser(),) * 2
        (note,) = [note for note in result.report["notes"] if "index" in note]
        self.assertTrue(note.startswith(
            f"{self.cache}/index (mode 0444, owner {owner}) cannot be opened for writing by user {user}: Permission denied; "
            "the driver then reads nothing from this cache, without a word: "), note)

    def test_root_on_another_users_cache(self):
        if not self.root:
            harness.skip("needs root")
        os.makedirs(self.cache)
        os.chown(self.cache, self.NOBODY, 0)
        self.write("scenario", harness.ONE_GPU)
        result = self.run_and_expect(3, "warm")
        self.assertEqual(os.listdir(self.cache), [], result)
        self.assertEqual(result.errors, (
            f"prejit: the cache {self.cache} belongs to user nobody, and prejit runs as root, whose files that user's "
            "programs could not write: work as that user with --user nobody, or give the cache to root with "
            f"chown -R root {self.cache}\n"))
        self.assert_all_proven(self.warm(0, "--user", "nobody"), ["a"])
        owners = {os.lstat(os.path.join(folder, name)).st_uid for folder, folders, files in os.walk(self.cache)
                  for name in folders + files}
        self.assertEqual(owners, {self.NOBODY})

    def test_links_below_the_cache(self):
        self.warm(0)
        outside = self.path("outside")
        path = cache.paths(self.cache)[0]
        shutil.move(os.path.join(self.cache, path[0]), outside)
        os.symlink(outside, os.path.join(self.cache, path[0]))
        before = sorted(os.listdir(os.path.join(outside, path[2])))
        result = self.run_program("warm")
        self.assertEqual(sorted(os.listdir(os.path.join(outside, path[2]))), before, result)
        self.assertNotEqual(result.status, 0, result)


if __name__ == "__main__":
    harness.main()
