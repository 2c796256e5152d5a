# SPDX-License-Identifier: Apache-2.0
"""Self-test: each way to break the dependency law is planted once and must be found, by its exact words."""
import os
import subprocess
import unittest

import dependencies
import law
from planted import PlantedTree


class Includes(PlantedTree):
    def found(self):
        return dependencies.check_tree(self.root)[0]

    def setUp(self):
        super().setUp()
        self.write_header("tool/base/text.h")
        self.write_c("tool/base/text.c", '#include "base/text.h"\n#include <string.h>\n')
        self.write_header("tool/arch/arch.h", '#include "base/text.h"\n')

    def test_sound_tree_has_no_finding(self):
        self.write_c("tool/arch/arch.c", '#include "arch/arch.h"\n#include <stdint.h>\n')
        self.write_c("tool/base/digest.c", "#include <nettle/sha2.h>\n")
        self.assertEqual(dependencies.check_tree(self.root), ([], 5))

    def test_upward_include(self):
        self.write_c("tool/base/up.c", '#include "arch/arch.h"\n')
        self.assertEqual(self.found(), [
            "tool/base/up.c:3: base may not include tool/arch/arch.h of arch (it may include: public)",
            "modules include each other: arch → base → arch",
            "tool/base/up.c: base reaches tool/arch/arch.h of arch through its headers"])

    def test_include_by_relative_path(self):
        self.write_c("tool/base/up.c", '#include "../arch/arch.h"\n')
        self.assertIn("tool/base/up.c:3: base may not include tool/arch/arch.h of arch (it may include: public)",
                      self.found())

    def test_parts_of_job_are_told_apart(self):
        self.write_header("tool/cuda/driver.h")
        self.write_c("tool/job/worker_compile.c", '#include "cuda/driver.h"\n')
        self.assertEqual(self.found(), [])
        self.write_c("tool/job/pool.c", '#include "cuda/driver.h"\n')
        self.assertIn("tool/job/pool.c:3: job/pool may not include tool/cuda/driver.h of cuda "
                      "(it may include: base, job/wire, job/plan, host)", self.found())

    def test_session_may_not_include_the_worker(self):
        self.write_header("tool/job/worker.h")
        self.write_c("tool/session/warm.c", '#include "job/worker.h"\n')
        self.assertIn("tool/session/warm.c: session reaches tool/job/worker.h of job/worker through its headers",
                      self.found())

    def test_rooms_of_session_are_told_apart(self):
        self.write_header("tool/session/prepare/source.h")
        self.write_c("tool/session/build/plan.c", '#include "session/prepare/source.h"\n')
        self.assertEqual(self.found(), [])
        self.write_c("tool/session/engine/prove.c", '#include "session/prepare/source.h"\n')
        self.assertTrue(self.found()[0].startswith("tool/session/engine/prove.c:3: session/engine may not include "
                                                   "tool/session/prepare/source.h of session/prepare (it may include: "))

    def test_room_that_the_table_does_not_know(self):
        self.write_c("tool/session/attic/box.c")
        self.assertEqual(self.found(), [
            "tool/session/attic/box.c: belongs to no part that tests/lint/law.py knows: name it after one"])

    def test_only_the_worker_command_includes_the_worker(self):
        self.write_header("tool/job/worker.h")
        self.write_c("tool/cli/worker.c", '#include "job/worker.h"\n')
        self.assertEqual(self.found(), [])
        self.write_c("tool/cli/warm.c", '#include "job/worker.h"\n')
        self.assertEqual(self.found()[0], "tool/cli/warm.c:3: cli may not include tool/job/worker.h of job/worker "
                                          "(it may include: public, base, session/frame, report)")

    def test_file_of_no_part(self):
        self.write_c("tool/job/helper.c")
        self.assertEqual(self.found(),
                         ["tool/job/helper.c: belongs to no part that tests/lint/law.py knows: name it after one"])

    def test_header_reached_through_another(self):
        self.write_header("tool/cuda/driver.h")
        self.write_header("tool/arch/leak.h", '#include "cuda/driver.h"\n')
        self.write_c("tool/image/ptx.c", '#include "arch/leak.h"\n')
        self.assertIn("tool/image/ptx.c: image reaches tool/cuda/driver.h of cuda through its headers", self.found())

    def test_library_of_another_module(self):
        self.write_c("tool/manifest/read.c", "#include <yaml.h>\n")
        self.assertEqual(self.found(), [
            "tool/manifest/read.c:3: <yaml.h> belongs to libyaml, which only yaml may include"])

    def test_unknown_library(self):
        self.write_c("tool/base/net.c", "#include <curl/curl.h>\n")
        self.assertEqual(self.found()[0],
                         "tool/base/net.c:3: <curl/curl.h> belongs to no library that tests/lint/law.py lists")

    def test_missing_header_is_not_passed_over(self):
        self.write_c("tool/base/lost.c", '#include "base/lost.h"\n')
        self.assertTrue(any(finding.startswith("gcc -MM failed: tool/base/lost.c:3") for finding in self.found()))

    def test_private_header(self):
        self.write_header("tool/session/warm_private.h")
        self.write_c("tool/session/warm_proof.c", '#include "session/warm_private.h"\n')
        self.assertEqual(self.found(), [])
        self.write_c("tool/session/verify.c", '#include "session/warm_private.h"\n')
        self.assertEqual(self.found(), ["tool/session/verify.c:3: tool/session/warm_private.h is private to the files "
                                        "warm*.c beside it"])

    def test_private_header_of_another_module(self):
        self.write_header("tool/session/build/private.h")
        self.write_c("tool/session/build/plan.c", '#include "session/build/private.h"\n')
        self.write_header("tool/arch/table_private.h")
        self.write_c("tool/arch/target.c", '#include "arch/table_private.h"\n')
        self.assertEqual(self.found(), [])
        self.write_c("tool/host/root.c", '#include "arch/table_private.h"\n')
        self.assertEqual(self.found(), ["tool/host/root.c:3: tool/arch/table_private.h is private to tool/arch"])

    def test_headers_that_include_each_other(self):
        self.write_header("tool/host/a.h", '#include "host/b.h"\n')
        self.write_header("tool/host/b.h", '#include "host/a.h"\n')
        self.assertEqual(self.found(), ["headers include each other: tool/host/a.h → tool/host/b.h → tool/host/a.h"])

    def test_the_table_has_no_cycle(self):
        self.assertIsNone(dependencies.find_cycle(law.MAY_INCLUDE))
        self.assertEqual(dependencies.find_cycle({"a": ["b"], "b": ["c"], "c": ["b"]}), ["b", "c", "b"])

    def test_what_nothing_calls(self):
        self.write_header("tool/base/names.h", "int pj_names_count(void);\n/* pj_names_count() */\n")
        self.write_c("tool/base/names.c", '#include "base/names.h"\nint pj_names_count(void)\n{\n    return 1;\n}\n')
        self.assertEqual(self.found(), ["tool/base/names.h: nothing in the program calls pj_names_count"])
        self.write_c("tool/base/more.c", '#include "base/names.h"\nint more(void)\n{\n    return pj_names_count();\n}\n')
        self.assertEqual(self.found(), [])

    def test_cuda_is_out_of_reach_of_session(self):
        self.assertNotIn("cuda", law.reachable("session"))
        self.assertNotIn("cuda", law.reachable("cli"))


class Libraries(PlantedTree):
    def found(self, module, body, name=None):
        source = self.write_c(f"{module}.c", body)
        folder = os.path.join(self.root, "tool", module)
        os.makedirs(folder, exist_ok=True)
        # Hardened as in the real build, where printf is called __printf_chk.
        subprocess.run(["gcc", "-c", "-O2", "-fPIC", "-fdata-sections", "-D_FORTIFY_SOURCE=2", "-D_GNU_SOURCE", "-o",
                        f"{module}.o", source], cwd=self.root, check=True)
        subprocess.run(["ar", "rc", f"tool/{module}/lib{name or 'prejit_' + module}.a", f"{module}.o"], cwd=self.root,
                       check=True)
        return dependencies.check_archives(self.root)

    def test_dynamic_loader(self):
        body = '#include <dlfcn.h>\nvoid *f(void) { return dlopen("x", RTLD_NOW); }\n'
        self.assertEqual(self.found("cuda", body), [])
        self.assertEqual(self.found("job", body), ["job: job.o needs dlopen: the dynamic loader is for cuda alone"])

    def test_printing(self):
        body = '#include <stdio.h>\nvoid f(int i) { printf("%d", i); }\n'
        self.assertEqual(self.found("cli", body), [])
        self.assertEqual(self.found("host", body), ["host: host.o needs __printf_chk: a library never prints"])

    def test_printing_to_stderr(self):
        self.assertEqual(self.found("base", '#include <stdio.h>\nvoid f(void) { fputs("x", stderr); }\n'),
                         ["base: base.o needs stderr: a library never prints"])

    def test_printing_to_a_given_file_is_allowed(self):
        self.assertEqual(self.found("base", '#include <stdio.h>\nvoid f(FILE *o, int i) { fprintf(o, "%d", i); }\n'), [])

    def test_formatting_into_memory_is_allowed(self):
        body = '#include <stdio.h>\nint f(char *o, int i) { return snprintf(o, 9, "%d", i); }\n'
        self.assertEqual(self.found("base", body), [])

    def test_exiting(self):
        for call, symbol in (("exit(1)", "exit"), ("abort()", "abort")):
            self.assertEqual(self.found("image", f"#include <stdlib.h>\nvoid f(void) {{ {call}; }}\n"),
                             [f"image: image.o needs {symbol}: a library never exits"])

    def test_child_between_fork_and_exec_may_end_itself(self):
        body = "#include <unistd.h>\nvoid f(void) { _exit(1); }\n"
        self.assertEqual(self.found("job", body), [])
        self.assertEqual(self.found("cache", body), ["cache: cache.o needs _exit: a library never exits"])

    def test_archive_with_another_name(self):
        self.assertEqual(self.found("yaml", "#include <stdlib.h>\nvoid f(void) { abort(); }\n", "prejit_yaml_events"),
                         ["yaml: yaml.o needs abort: a library never exits"])

    def test_variables(self):
        body = ('static int counter; static const int fixed = 3; static const char *const names[] = {"a", "b"};\n'
                "const char *f(int i) { counter += i; return names[(counter + fixed) % 2]; }\n")
        self.assertEqual(self.found("base", body), [
            "base: base.o has the variable counter in .bss.counter: state lives in structs that are passed"])

    def test_no_library_at_all(self):
        self.assertEqual(dependencies.check_archives(self.root), [f"{self.root}/tool holds no module library: build first"])


if __name__ == "__main__":
    unittest.main()
