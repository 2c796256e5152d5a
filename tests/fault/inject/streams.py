# SPDX-License-Identifier: Apache-2.0
"""Standard output that is full or closed, standard error that is closed, readers that go away: the work is done all the
same, nothing is left behind, and a lost report has a status."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../program"))
import cache  # noqa: E402
import harness  # noqa: E402

NAMES = ["a", "b"]
LOST = "prejit: the report could not be written to standard output"


class Streams(harness.Case):
    def setUp(self):
        super().setUp()
        self.modules(NAMES, text="verify: {samples: 1}\n")

    def shell(self, redirections, command="warm", more=""):
        """Runs the program by a shell with these redirections; gives status and standard error."""
        line = f'"$@" {redirections}'
        process = subprocess.run(["/bin/sh", "-c", line, "sh", *self.command(command, json_format=False), *more.split()],
                                 cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=50, check=False)
        return process.returncode, process.stderr.decode()

    def assert_done(self):
        """All of it is in the cache, and the next run has nothing to do."""
        self.assertEqual(len(cache.read_index(self.cache)), len(NAMES))
        self.assert_no_rubbish()
        self.assertTrue(self.warm(0).report["summary"]["nothing_to_do"])

    def test_output_is_full(self):
        for more in ("", "--format json", "-q"):
            with self.subTest(more=more):
                status, errors = self.shell(">/dev/full", more=more)
                self.assertEqual(status, 3, errors)
                self.assertIn(LOST, errors.splitlines())
                self.assert_done()

    def test_output_is_closed(self):
        status, errors = self.shell(">&-")
        self.assertEqual(status, 3, errors)
        self.assertIn(LOST, errors.splitlines())
        self.assert_done()

    def test_the_reader_is_gone(self):
        status, errors = self.shell("| true; exit 0")
        self.assertEqual(status, 0, errors)
        self.assert_done()

    def test_errors_are_closed_or_full(self):
        for where in ("2>&-", "2>/dev/full"):
            with self.subTest(where=where):
                self.assertEqual(self.shell(where)[0], 0)
                self.assert_done()

    def test_both_are_closed(self):
        self.assertEqual(self.shell(">&- 2>&-")[0], 3)
        self.assert_done()

    def test_all_three_are_closed(self):
        self.assertEqual(self.shell("<&- >&- 2>&-")[0], 3)
        self.assert_done()

    def test_a_worse_status_stays(self):
        self.scenario("crash kernel=b\n")
        status, errors = self.shell(">/dev/full")
        self.assertEqual(status, 1, errors)
        self.assertIn(LOST, errors.splitlines())

    def test_help_and_version_into_a_full_output(self):
        for arguments in (["--help"], ["--version"], ["warm", "--help"], ["cache", "--help"], ["--help", "manifest"],
                          ["cache", "ls", "--cache", self.cache]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                process = subprocess.run([harness.PROGRAM, *arguments], env=self.environment, stdout=full,
                                         stderr=subprocess.PIPE, check=False)
                self.assertEqual(process.returncode, 3, arguments)
                self.assertEqual(process.stderr.decode(),
                                 "prejit: cannot write to standard output: No space left on device\n")


if __name__ == "__main__":
    harness.main()
