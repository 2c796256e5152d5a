# SPDX-License-Identifier: Apache-2.0
"""A small tree in a temporary folder, in which the self-tests of the lints plant their violations."""
import os
import shutil
import tempfile
import unittest

C_HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* A planted file. */\n"


class PlantedTree(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="prejit-lint-")
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def write_c(self, path, body=""):
        return self.write(path, C_HEAD + body)

    def write_header(self, path, body=""):
        guard = path.removeprefix("tool/").replace("/", "_").replace(".", "_").upper()
        guard = f"PREJIT_{guard}"
        return self.write_c(path, f"#ifndef {guard}\n#define {guard}\n{body}#endif\n")
