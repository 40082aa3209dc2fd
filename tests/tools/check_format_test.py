"""Tests check_format: it accepts what clang-format writes, names a file that is different, and --fix repairs exactly
that."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).with_name("check_format")
STYLE = Path(__file__).parents[2] / ".clang-format"


class CheckFormat(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        shutil.copy(STYLE, self.root / ".clang-format")
        (self.root / "compiler").mkdir()
        self.file = self.root / "compiler/a.cpp"

    def run_tool(self, *flags):
        done = subprocess.run([sys.executable, TOOL, *flags, self.root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_formatted_file_passes(self):
        self.file.write_text("int f(int a) {\n  return a;\n}\n")
        self.assertEqual(self.run_tool(), (0, "1 files, 0 not formatted\n"))

    def test_a_file_that_differs_is_named(self):
        self.file.write_text("int  f( int a ){return a;}\n")
        code, output = self.run_tool()
        self.assertIn("compiler/a.cpp: error: not formatted", output)
        self.assertNotEqual(code, 0)

    def test_fix_makes_the_file_pass(self):
        self.file.write_text("int  f( int a ){return a;}\n")
        self.assertEqual(self.run_tool("--fix")[0], 0)
        self.assertEqual(self.file.read_text(), "int f(int a) {\n  return a;\n}\n")
        self.assertEqual(self.run_tool()[0], 0)

    def test_a_tree_without_sources_fails(self):
        self.assertNotEqual(self.run_tool()[0], 0)


if __name__ == "__main__":
    unittest.main()
