# SPDX-License-Identifier: Apache-2.0
"""The manual pages say what the program says: every command has one, with the options of its help in their order and with
its summary; and they can be read."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault/program"))
import harness  # noqa: E402

PAGES = os.path.join(harness.SOURCE, "docs/man")


def help_text(*arguments):
    return subprocess.run([harness.PROGRAM, *arguments, "--help"], capture_output=True, text=True, check=True).stdout


def commands():
    """{name: summary} of the program's help."""
    return dict(re.findall(r"^  (?!prejit )([a-z]+) +(\S.*)$", help_text(), re.M))


def options_of_help(command):
    """["--cache DIR", "-t, --target ARCH", …]"""
    lines = re.findall(r"^  ((?:-\w, |    )--\S+(?: [A-Z]+)?)  +\S", help_text(command), re.M)
    return [line.strip() for line in lines]


def plain(text):
    """troff's fonts and dashes taken out."""
    return re.sub(r"\\f[BIR]", "", text).replace("\\-", "-")


def page(name):
    with open(os.path.join(PAGES, f"{name}.1"), encoding="utf-8") as file:
        return file.read()


def section(text, title):
    match = re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S)
    return match.group(1) if match else ""


class Pages(unittest.TestCase):
    maxDiff = None

    def test_every_command_has_a_page_and_every_page_a_command(self):
        self.assertGreaterEqual(set(commands()), {"warm", "verify", "plan", "cache"})
        names = {os.path.basename(path)[:-2] for path in glob.glob(os.path.join(PAGES, "*.1"))}
        self.assertEqual(names, {"prejit"} | {f"prejit-{name}" for name in commands()})

    def test_summaries(self):
        for name, summary in commands().items():
            with self.subTest(name=name):
                self.assertEqual(plain(section(page(f"prejit-{name}"), "NAME")), f"prejit-{name} - {summary}\n")

    def test_options(self):
        for name in commands():
            with self.subTest(name=name):
                documented = re.findall(r"^\.TP\n(.*)$", section(page(f"prejit-{name}"), "OPTIONS"), re.M)
                self.assertGreater(len(documented), 3)
                self.assertEqual([plain(line) for line in documented], options_of_help(name))

    def test_statuses(self):
        """A page explains each status that the command's help names."""
        for name in commands():
            with self.subTest(name=name):
                sentence = re.search(r"Exit status: (.*?)\n\n", help_text(name), re.S).group(1)
                told = set(re.findall(r"(?:^|; |;\n)(\d+)\b", sentence))
                self.assertIn("0", told)
                explained = set(re.findall(r"^\.B (\d+)$", section(page(f"prejit-{name}"), "EXIT STATUS"), re.M))
                self.assertEqual(told - explained, set())

    def test_the_first_page_names_all_commands(self):
        self.assertEqual(re.findall(r"^\\fBprejit (\w+)\\fR$", section(page("prejit"), "COMMANDS"), re.M), list(commands()))

    def test_references_lead_somewhere(self):
        for path in glob.glob(os.path.join(PAGES, "*.1")):
            with open(path, encoding="utf-8") as file:
                for name in re.findall(r"(prejit[-a-z]*)\(1\)", plain(file.read())):
                    self.assertTrue(os.path.exists(os.path.join(PAGES, f"{name}.1")), f"{path}: {name}")

    def test_what_pages_link_to_is_installed(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", harness.BUILD, "--prefix", prefix], check=True,
                           stdout=subprocess.DEVNULL)
            (readme,) = glob.glob(f"{prefix}/share/doc/*/README.md")
            pages = glob.glob(f"{os.path.dirname(readme)}/**/*.md", recursive=True)
            self.assertGreater(len(pages), 4)
            for name in pages:
                with open(name, encoding="utf-8") as file:
                    links = re.findall(r"\]\((?!\w+:)([^)#]+)", file.read())
                self.assertTrue(links or name != readme)
                for link in links:
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(name), link)), f"{name}: {link}")

    def test_they_can_be_read(self):
        if not shutil.which("groff"):
            harness.skip("no groff here")
        for path in sorted(glob.glob(os.path.join(PAGES, "*.1"))):
            with self.subTest(path=path):
                process = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", path], capture_output=True, text=True,
                                         check=False)
                self.assertEqual((process.returncode, process.stderr), (0, ""))


if __name__ == "__main__":
    harness.main()
