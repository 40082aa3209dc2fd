"""Code generated on several threads (-j N): one object, and the same bytes for any N.

Usage: jobs_test.py RELAXC RUNTIME [unittest's own]"""

import subprocess
import sys
import unittest
from pathlib import Path

import program
from program import ProgramTest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "embedded"))
from programs import layers  # noqa: E402


class Jobs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("layers.relax", layers())

    def compiled(self, name, *flags):
        done = self.relaxc("layers.relax", "-o", f"{name}/m.o", *flags)
        self.assertEqual(done.code, 0, done.err)
        return (self.path / name / "m.o").read_bytes()

    def symbols(self, path):
        lines = subprocess.run(["nm", path], cwd=self.path, capture_output=True, text=True, check=True).stdout
        return [line.split()[-2:] for line in lines.splitlines()]

    def test_the_number_of_threads_does_not_change_a_byte(self):
        for flags in ([], ["--mcpu=x86-64-v3,x86-64-v4"], ["--target=armv7-a"]):
            (self.path / "one").mkdir(exist_ok=True)
            (self.path / "many").mkdir(exist_ok=True)
            self.assertEqual(self.compiled("one", "-j1", *flags), self.compiled("many", "-j5", *flags))

    def test_what_parts_know_of_each_other_is_local(self):
        (self.path / "one").mkdir()
        self.compiled("one", "-j2")
        kinds = {}
        for kind, name in self.symbols("one/m.o"):
            kinds.setdefault(kind, []).append(name)
        self.assertTrue(all(name.startswith("rlx_") or name in ("memcpy", "memmove", "memset") for name in kinds["U"]))
        self.assertTrue(all(not name.startswith("m.") for name in kinds["T"]))
        kernels = [name for name in kinds["t"] if ".f." in name]
        self.assertEqual(len(kernels), len(set(kernels)))
        self.assertGreater(len(kernels), 12)

    def test_the_object_computes_what_the_interpreter_does(self):
        done = self.relaxc("verify", "layers.relax", "--random")
        self.assertEqual(done.code, 0, done.out + done.err)


if __name__ == "__main__":
    program.main()
