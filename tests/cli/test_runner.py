# SPDX-License-Identifier: Apache-2.0
"""Self-test of the case runner: what must pass passes, and every kind of difference is seen."""
import contextlib
import io
import os
import shutil
import tempfile
import unittest

import casefile
import match
import run

PROGRAM = """#!/bin/sh
case "$1" in
    greet) echo "hello $2"; echo "took 12.5 ms" >&2 ;;
    fail) echo "bad" >&2; exit 3 ;;
    env) env | sort ;;
    star) echo "a * b"; echo "..." ;;
    cut) printf "no end" ;;
    linger) sleep 30 & ;;
    hang) sleep 30 ;;
    die) kill -TERM $$ ;;
    lines) for i in 1 2 3 4; do echo "line $i"; done ;;
esac
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="prejit-runner-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("build/prejit", PROGRAM)
        os.chmod(os.path.join(self.folder, "build/prejit"), 0o755)
        for name in ("PREJIT_UPDATE", "PREJIT_MUST_WORK"):
            os.environ.pop(name, None)
            self.addCleanup(os.environ.pop, name, None)

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            return file.read()

    def run_all(self, *wanted):
        """Exit status and lines of the runner, the last one without its time."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = run.main(["--build", self.folder + "/build", "--source", self.folder, "--cases",
                               self.folder + "/cases", "--jobs", "2", *wanted])
        lines = output.getvalue().splitlines()
        lines[-1] = lines[-1].rsplit(" in ", 1)[0]
        return status, lines

    def run_case(self, text):
        self.write("cases/area/one.case", "# What this case is there for.\n" + text)
        status, lines = self.run_all()
        self.assertEqual(lines[0], "1..1")
        return status, lines[1:-1]

    def assert_passes(self, text):
        self.assertEqual(self.run_case(text), (0, ["ok 1 - area/one"]))

    def assert_fails(self, text, *problems):
        self.assertEqual(self.run_case(text), (1, ["not ok 1 - area/one", *[f"#   {problem}" for problem in problems]]))

    def test_exact_output(self):
        self.assert_passes("run prejit greet you\nexit 0\nstdout\n| hello you\nstderr\n| took 12.5 ms\n")

    def test_other_output(self):
        self.assert_fails("run prejit greet me\nexit 0\nstdout\n| hello you\nstderr\n| took * ms\n",
                          "stdout is not as expected", "- hello you", "+ hello me")

    def test_output_that_nobody_expected(self):
        self.assert_fails("run prejit greet me\nexit 0\nstdout\n| hello me\n",
                          "stderr is not as expected", "- (nothing)", "+ took 12.5 ms")

    def test_output_that_did_not_come(self):
        self.assert_fails("run prejit env >/dev/null\nexit 0\nstdout\n| x\n", "stdout is not as expected", "- x", "+ (nothing)")

    def test_exit_status(self):
        self.assert_passes("run prejit fail\nexit 3\nstderr\n| bad\n")
        self.assert_fails("run prejit fail\nexit 0\nstderr\n| bad\n", "exit status is 3, expected 0")
        self.assert_fails("run prejit fail\nstderr\n| bad\n", "exit status is 3, expected one to be named")
        self.assert_passes("run sh -c 'prejit die; exit $?'\nexit 143\nstderr\n...\n".replace("\n...", "\n| ..."))

    def test_missing_line_end_is_seen(self):
        self.assert_passes("run prejit cut\nexit 0\nstdout\n| no end\n| \\ no line end\n")
        self.assert_fails("run prejit cut\nexit 0\nstdout\n| no end\n", "stdout is not as expected", "  no end",
                          "+ \\ no line end")

    def test_environment_is_clean(self):
        os.environ["CUDA_CACHE_DISABLE"] = "1"
        self.addCleanup(os.environ.pop, "CUDA_CACHE_DISABLE")
        self.assert_passes("env A=@DIR@/a\nunset PREJIT_ROOT\nscenario\n| init_ms 1\nrun prejit env\nexit 0\nstdout\n"
                           "| A=@DIR@/a\n| ...\n| HOME=@DIR@/home\n| LANG=C\n| LC_ALL=C\n"
                           "| NVIDIA_FAKE_SCENARIO=@DIR@/scenario\n| PATH=@BUILD@:*\n| PREJIT_DRIVER=@DRIVER@\n"
                           "| PWD=@DIR@\n| ...\n| TMPDIR=@DIR@/tmp\n| ...\n")
        self.assertEqual(self.run_case("run prejit env | grep -c CUDA_\nexit 1\nstdout\n| 0\n")[0], 0)

    def test_setup(self):
        self.write("tests/data/x", "copied\n")
        self.assert_passes("file a/m.yaml\n| one\n|\n|   @DIR@\nptx b/k.ptx kernels=f,g target=sm_90\n"
                           "copy tests/data/x c/y\ndo mkdir d && touch d/e\nscenario\n| x\n"
                           "run cat a/m.yaml c/y scenario b/k.ptx; ls d; ls root/proc/driver/nvidia\nexit 0\nstdout\n"
                           "| one\n|\n|   @DIR@\n| copied\n| x\n| .version 6.4\n| .target sm_90\n| .address_size 64\n"
                           "| .visible .entry f()\n| {\n| \tret;\n| }\n| .visible .entry g()\n| {\n| \tret;\n| }\n"
                           "| e\n| gpus\n")
        self.assertEqual(len(casefile.small_ptx(pad="5000")), len(casefile.small_ptx()) + 5000)

    def test_setup_that_fails(self):
        self.assert_fails("do echo why; false\nrun true\nexit 0\n", "`do echo why; false` ended with 1", "why")

    def test_cases_do_not_see_each_other(self):
        self.write("cases/area/two.case", "# What this case is there for.\ndo touch shared\nrun ls shared\nexit 0\n"
                                          "stdout\n| shared\n")
        self.write("cases/area/one.case", "# What this case is there for.\nrun ls\nexit 0\nstdout\n| home\n| root\n| tmp\n")
        self.assertEqual(self.run_all(), (0, ["1..2", "ok 1 - area/one", "ok 2 - area/two",
                                              "2 cases: 2 passed, 0 failed, 0 skipped"]))

    def test_process_left_behind(self):
        self.assert_fails("run prejit linger\nexit 0\n", "`prejit linger` left a process behind")

    def test_command_that_hangs(self):
        self.assert_fails("timeout 0.2\nrun prejit hang\nexit 0\n", "`prejit hang` did not end within 0.2 s")

    def test_second_run_is_checked_too(self):
        self.assert_fails("run true\nexit 0\nrun prejit greet x\nexit 0\nstderr\n| took *\n",
                          "stdout is not as expected", "- (nothing)", "+ hello x")

    def test_needs(self):
        self.assertEqual(self.run_case("needs program:no-such-program\nrun false\nexit 0\n"),
                         (77, ["ok 1 - area/one # SKIP needs the program no-such-program"]))
        self.assertEqual(self.run_case("needs library:no-such-library.so.1\nrun false\nexit 0\n"),
                         (77, ["ok 1 - area/one # SKIP needs the library no-such-library.so.1"]))
        self.assertEqual(self.run_case("needs library:libc.so.6\nrun true\nexit 0\n"), (0, ["ok 1 - area/one"]))
        os.environ["PREJIT_MUST_WORK"] = "1"
        self.assertEqual(self.run_case("needs program:no-such-program\nrun false\nexit 0\n"),
                         (1, ["not ok 1 - area/one",
                              "#   needs the program no-such-program, and PREJIT_MUST_WORK is set"]))

    def test_malformed_cases(self):
        for text, problem in (
                ("runn x\n", "area/one:2: `runn` is none of copy, do, env, exit, file, needs, ptx, run, scenario, stderr, "
                             "stdout, timeout, unset"),
                ("exit 0\n", "area/one:2: `exit` without a `run` before it"),
                ("run true\nexit 0\nexit 1\n", "area/one:4: a second `exit` for one `run`"),
                ("run true\n| x\n", "area/one:3: a `|` line belongs behind scenario, file, stdout or stderr"),
                ("env A=1\n", "area/one: no `run`: nothing is tested"),
                ("run\n", "area/one:2: `run` wants something behind it"),
                ("ptx a colour=red\nrun true\n", "`colour=red` is no kernels=… or target=… or version=… or pad=…"),
                ("needs luck\nrun true\n", "`needs luck` is none of root, not-root, plain, mount, mount-layers, program:NAME, "
                 "library:NAME")):
            self.assert_fails(text, problem)
        self.write("cases/area/one.case", "run true\nexit 0\n")
        self.assertEqual(self.run_all()[1][2],
                         "#   area/one:1: the first line must be a comment that says what the case shows")

    def test_selection(self):
        for name in ("a/x", "a/y", "b/x"):
            self.write(f"cases/{name}.case", "# What this case is there for.\nrun true\nexit 0\n")
        self.assertEqual(self.run_all("a/y", "b")[1][1:3], ["ok 1 - a/y", "ok 2 - b/x"])
        self.assertEqual(self.run_all("c")[0], 2)

    def test_nothing_to_run_is_a_failure(self):
        os.makedirs(self.folder + "/cases")
        self.assertEqual(self.run_all(), (1, ["1..0", "0 cases: 0 passed, 0 failed, 0 skipped"]))

    def test_update(self):
        os.environ["PREJIT_UPDATE"] = "1"
        old = "# comment\nfile a\n| b\n|\nrun prejit greet you\nexit 4\nstdout\n| hello *\n| more\n\nrun prejit star\n"
        status, lines = self.run_case(old)
        self.assertEqual((status, lines), (0, ["ok 1 - area/one # updated"]))
        self.assertEqual(self.read("cases/area/one.case"),
                         "# What this case is there for.\n# comment\nfile a\n| b\n|\nrun prejit greet you\nexit 0\nstdout\n"
                         "| hello *\nstderr\n| took * ms\n\nrun prejit star\nexit 0\nstdout\n| a \\* b\n| \\...\n")
        del os.environ["PREJIT_UPDATE"]
        self.assertEqual(self.run_all()[0], 0)

    def test_update_leaves_what_fits(self):
        os.environ["PREJIT_UPDATE"] = "1"
        text = "run prejit lines\nexit 0\nstdout\n| line 1\n| ...\n| line *\n"
        self.assertEqual(self.run_case(text), (0, ["ok 1 - area/one"]))
        self.assertEqual(self.read("cases/area/one.case"), "# What this case is there for.\n" + text)


class Match(unittest.TestCase):
    def test_lines(self):
        for pattern, line, expected in (
                ("a", "a", True), ("a", "ab", False), ("a*", "ab", True), ("*", "", True), ("a.c", "abc", False),
                ("a\\*", "a*", True), ("a\\*", "ab", False), ("\\...", "...", True), ("\\x1b*", "\\x1b[0m", True),
                ("COMPILE     WARM", "COMPILE  WARM", True), ("-        -", "-    -", True), ("a  b", "a b", False),
                ("  a", "    a", False), ("a  *x   9 B", "a     139x  9 B", True),
                ("in * ms;", "in 302 ms;", True), ("in * ms;", "in 1.5 s;", True), ("in * ms;", "in 2 min 5 s;", True),
                ("a  * ms", "a       1.2 s", True), ("in * ms", "in 5 MB", False), ("in * ms", "in ms", False)):
            self.assertEqual(match.line_matches(pattern, line), expected, (pattern, line))

    def test_what_varies_is_starred(self):
        for line, pattern in (
                ("1 job in 302 ms; 54 kB", "1 job in * ms; 54 kB"), ("took 1.5 s", "took * ms"), ("2 jobs", "2 jobs"),
                ("1 min 5 s", "* ms"), ("2 minutes", "2 minutes"),
                ("a  proven     14 ms  0.1 ms     139x   18 kB", "a  proven  * ms  * ms  *x   18 kB"),
                ("0x12", "0x12"), ("a * b", "a \\* b"), ("...", "\\...")):
            self.assertEqual(match.as_pattern(line), pattern)
            self.assertTrue(match.line_matches(pattern, line))

    def test_difference_shows_the_places(self):
        patterns = ["a", "b", "c *", "d", "e", "f", "g"]
        self.assertEqual(match.difference("stdout", patterns, ["a", "b", "c 1", "d", "x", "f", "g"]), [
            "stdout is not as expected", "  c 1", "  d", "- e", "+ x", "  f", "  g"])

    def test_any_lines(self):
        for patterns, lines, expected in (
                (["..."], [], True), (["..."], ["a", "b"], True), (["a", "...", "c"], ["a", "b", "b", "c"], True),
                (["a", "...", "c"], ["a", "c"], True), (["a", "...", "c"], ["a", "c", "d"], False), ([], ["a"], False),
                (["...", "b", "..."], ["a", "b", "b", "c"], True), (["a"], [], False)):
            self.assertEqual(match.lines_match(patterns, lines), expected, (patterns, lines))


if __name__ == "__main__":
    unittest.main()
