# SPDX-License-Identifier: Apache-2.0
"""Self-test: each breach of style is planted once and must be found, at its line and by its exact words."""
import os
import unittest

import headers
import layout
import style
import tidy
from planted import C_HEAD, PlantedTree

LICENCE = "SPDX-License-" "Identifier: Apache-2.0"


class Style(PlantedTree):
    def found(self):
        return style.check_tree(self.root)[0]

    def test_sound_files_have_no_finding(self):
        self.write_header("tool/base/a.h")
        self.write_c("tool/base/a.c", '/* strcpy(a, b) */\nconst char *a = "atoi(x)";\n')
        self.write("tests/run", f"#!/usr/bin/env bash\n# {LICENCE}\n# Runs the tests.\n")
        self.write("tests/lint/x.py", f'# {LICENCE}\n"""Looks at x."""\n')
        self.write("tool/base/CMakeLists.txt", f"# {LICENCE}\nprejit_module(base)\n")
        self.assertEqual(style.check_tree(self.root), ([], 5))

    def test_a_folder_called_build_is_source_below_the_root(self):
        self.write("tool/session/build/bad.c", "int x;\n")
        self.write("build/dev/bad.c", "int x;\n")
        self.assertEqual({finding.split(":")[0] for finding in style.check_tree(self.root)[0]}, {"tool/session/build/bad.c"})

    def test_licence(self):
        self.write("tool/base/a.c", "/* No licence. */\nint a;\n")
        self.write("tool/base/CMakeLists.txt", "prejit_module(base)\n")
        self.write("tests/run", "#!/bin/sh\necho\n")
        self.assertEqual(self.found(), [
            f"tests/run:1: the first line must be `# {LICENCE}`",
            f"tool/base/CMakeLists.txt:1: the first line must be `# {LICENCE}`",
            f"tool/base/a.c:1: the first line must be `/* {LICENCE} */`"])

    def test_purpose(self):
        self.write("tool/base/a.c", f"/* {LICENCE} */\n#include <stdio.h>\n")
        self.assertEqual(self.found(),
                         ["tool/base/a.c:2: the second line must be a comment that says what the file is for"])

    def test_purpose_of_a_case(self):
        self.write("tests/cli/cases/a/b.case", "run true\nexit 0\n")
        self.assertEqual(self.found(), ["tests/cli/cases/a/b.case:1: the first line must be a comment that says what the "
                                        "case shows"])

    def test_banned_calls(self):
        for call in ("strcpy", "strcat", "sprintf", "gets", "atoi", "alloca", "strtok"):
            self.write_c("tests/fake/a.c", f"void f(char *a) {{ {call} (a); }}\n")
            self.assertEqual(self.found(), [f"tests/fake/a.c:3: {call} is banned"])

    def test_calls_banned_in_the_program_alone(self):
        self.write_c("tests/fake/a.c", "void f(char *a) { system(a); }\n")
        self.assertEqual(self.found(), [])
        self.write_c("tool/base/a.c", "void f(char *a) { system(a); }\n")
        self.assertEqual(self.found(), ["tool/base/a.c:3: system is banned"])

    def test_length(self):
        self.write_c("tool/base/a.c", "int a;\n" * 598)
        self.assertEqual(self.found(), [])
        self.write_c("tool/base/a.c", "int a;\n" * 599)
        self.assertEqual(self.found(), ["tool/base/a.c:601: 601 lines, more than 600: two subjects?"])

    def test_unfinished(self):
        for mark in ("TO" "DO", "FIX" "ME", "X" "XX"):
            self.write_c("tool/base/a.c", f"/* {mark}: later */\n")
            self.assertEqual(self.found(), ["tool/base/a.c:3: a mark of unfinished work"])
        self.write_c("tool/base/a.c", 'const char *a = "/tmp/prejit-XXXX" "XX";\n')
        self.assertEqual(self.found(), [])

    def test_white_space(self):
        self.write_c("tool/base/a.c", "int a; \nint\tb;\n\n")
        self.assertEqual(self.found(), ["tool/base/a.c:3: blanks at the end of the line", "tool/base/a.c:4: a tab",
                                        "tool/base/a.c:6: the file must end in exactly one line end"])

    def test_guard(self):
        self.write_c("tool/base/a.h", "#ifndef A_H\n#define A_H\n#endif\n")
        self.assertEqual(self.found(), ["tool/base/a.h:1: the include guard must be PREJIT_BASE_A_H"])

    def test_guard_of_a_test(self):
        self.write_c("tests/fake/a.h", "#ifndef FAKE_A_H\n#define FAKE_A_H\n#endif\n")
        self.assertEqual(self.found(), [])
        self.write_c("tests/fake/a.h", "#ifndef FAKE_B_H\n#define FAKE_B_H\n#endif\n")
        self.assertEqual(self.found(), ["tests/fake/a.h:1: the include guard must end in _A_H"])


class Headers(PlantedTree):
    def test_header_that_needs_another(self):
        self.write_header("tool/base/good.h", "#include <stddef.h>\nsize_t pj_good(void);\n")
        self.write_header("tool/base/bad.h", "size_t pj_bad(void);\n")
        findings, count = headers.check_tree(self.root)
        self.assertEqual(count, 2)
        self.assertEqual([finding.split(": tool")[0] for finding in findings],
                         ["tool/base/bad.h: does not compile alone as C", "tool/base/bad.h: does not compile alone as C++"])

    def test_header_that_is_no_cplusplus(self):
        self.write_header("tool/base/bad.h", "int pj_bad(int new);\n")
        self.assertEqual([finding.split(": tool")[0] for finding in headers.check_tree(self.root)[0]],
                         ["tool/base/bad.h: does not compile alone as C++"])

    def test_header_without_guard(self):
        self.write_c("tool/base/bad.h", "struct pj_bad {\n    int a;\n};\n")
        self.assertEqual(len(headers.check_tree(self.root)[0]), 2)


class Layout(PlantedTree):
    def test_layout(self):
        self.write(".clang-format", "BasedOnStyle: LLVM\nIndentWidth: 4\n")
        self.write_c("tool/base/good.c", "int pj_good;\n")
        self.write_c("tool/base/bad.c", "int   pj_bad;\n")
        self.assertEqual(layout.check_tree(self.root), (
            ["tool/base/bad.c:3: not as clang-format lays it out (clang-format -i tool/base/bad.c)"], 2))

    def test_broken_configuration_is_a_finding(self):
        self.write(".clang-format", "BasedOnStyle: Nobody\n")
        self.write_c("tool/base/good.c", "int pj_good;\n")
        findings, _ = layout.check_tree(self.root)
        self.assertEqual(len(findings), 1)
        self.assertTrue(findings[0].startswith("clang-format failed: "), findings[0])


class Tidy(PlantedTree):
    def setUp(self):
        super().setUp()
        with open(CONFIGURATION, encoding="utf-8") as file:
            self.write(".clang-tidy", file.read())
        self.write("tests/lint/tidy.py", "")

    def found(self, body):
        path = self.write_c("tool/base/a.c", body)
        self.write("build/compile_commands.json",
                   f'[{{"directory": "{self.root}", "file": "{path}", "command": "gcc -std=c11 -D_GNU_SOURCE -Itool -c {path}"}}]')
        findings, count = tidy.check_tree(self.root, self.root + "/build")
        self.assertEqual(count, 1)
        return [finding.rsplit(" ", 1)[1] for finding in findings]

    def test_sound_file(self):
        self.assertEqual(self.found("int pj_a(int a);\nint pj_a(int a)\n{\n    return a + 1;\n}\n"), [])

    def test_memory_used_after_free(self):
        self.assertEqual(self.found("#include <stdlib.h>\nint pj_a(int *a);\nint pj_a(int *a)\n{\n    free(a);\n"
                                    "    return *a;\n}\n"), ["[clang-analyzer-unix.Malloc]"])

    def test_descriptor_that_children_inherit(self):
        self.assertEqual(self.found("#include <fcntl.h>\nint pj_a(void);\nint pj_a(void)\n{\n"
                                    '    return open("a", O_RDONLY);\n}\n'), ["[android-cloexec-open]"])

    def test_condition_that_is_always_true(self):
        self.assertEqual(self.found("int pj_a(int a);\nint pj_a(int a)\n{\n    return a > 2 && a > 2;\n}\n"),
                         ["[misc-redundant-expression]"])

    def test_fault_in_a_header(self):
        self.write_c("tool/base/a.h", "static inline int pj_b(int a)\n{\n    return a > 2 && a > 2;\n}\n")
        self.assertEqual(self.found('#include "a.h"\nint pj_a(void);\nint pj_a(void)\n{\n    return pj_b(1);\n}\n'),
                         ["[misc-redundant-expression]"])

    def test_clean_file_is_looked_at_again_when_its_header_changes(self):
        body = '#include "a.h"\nint pj_a(int a);\nint pj_a(int a)\n{\n    return pj_b(a);\n}\n'
        self.write_c("tool/base/a.h", "static inline int pj_b(int a)\n{\n    return a > 2;\n}\n")
        self.assertEqual(self.found(body), [])
        self.assertEqual(len(os.listdir(self.root + "/build/lint-clean")), 1)
        self.write_c("tool/base/a.h", "static inline int pj_b(int a)\n{\n    return a > 2 && a > 2;\n}\n")
        self.assertEqual(self.found(body), ["[misc-redundant-expression]"])
        self.assertEqual(self.found(body), ["[misc-redundant-expression]"])

    def test_file_that_does_not_compile(self):
        self.assertEqual(self.found("int pj_a(void)\n{\n    return b;\n}\n"), ["[clang-diagnostic-error]"])


CONFIGURATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.clang-tidy")
assert C_HEAD.startswith(f"/* {LICENCE} */")

if __name__ == "__main__":
    unittest.main()
