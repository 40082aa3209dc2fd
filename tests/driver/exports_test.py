"""A shared library exports the symbols of its model and nothing else, and none of its pages stays writable that need not.

Usage: exports_test.py RELAXC RUNTIME [unittest's own]"""

import ctypes
import itertools
import subprocess

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PRINTS = """@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    R.print(x, format="{}")
    y = R.nn.relu(x)
    return y
"""

CALLS = """@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    with R.dataflow():
        y = R.call_dps_packed("twice", (x,), out_sinfo=R.Tensor((4,), "float32"))
        R.output(y)
    return y
"""

FLAGS = [(), ("-O0",), ("--fast-codegen",), ("--threads", "4"), ("-g",), ("--trace", "--poll"), ("--names=none",), ("--emit-selftest",),
         ("--mcpu=x86-64,x86-64-v3",), ("--weights=w.bin",), ("--pool", "fast=4K"), ("-j", "2")]


class Exports(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("prints.relax", PRINTS)
        self.write("calls.relax", CALLS)
        weights = wire.tensor("w", [4, 4], bytes(64))
        self.write("net.onnx", wire.model([wire.node("MatMul", ["x", "w"], ["y"])], [wire.value_info("x", ("n", 4))],
                                          [wire.value_info("y", ("n", 4))], [weights]))

    def tool(self, *words):
        return subprocess.run(words, cwd=self.path, check=True, capture_output=True, text=True).stdout

    def check(self, name, undefined=()):
        """Symbols and segments of NAME.so."""
        rows = [line.split() for line in self.tool("nm", "-D", f"{name}.so").splitlines()]
        defined = [row[-1] for row in rows if row[-2] not in ("U", "w", "v")]
        self.assertIn(f"{name}_model", defined)
        self.assertEqual([symbol for symbol in defined if not symbol.startswith(f"{name}_")], [])
        wanted = {row[-1].split("@")[0] for row in rows if row[-2] == "U"}
        self.assertEqual({symbol for symbol in wanted if symbol.startswith("rlx")}, set())
        self.assertLessEqual(set(undefined), wanted)
        self.assertIn("GNU_RELRO", self.tool("readelf", "-lW", f"{name}.so"))
        dynamic = self.tool("readelf", "-dW", f"{name}.so")
        self.assertTrue("BIND_NOW" in dynamic or "(FLAGS_1)" in dynamic and "NOW" in dynamic, dynamic)
        self.assertNotIn("TEXTREL", dynamic)

    def test_every_kind_of_library(self):
        sources = ("prints.relax", "calls.relax", "net.onnx")
        runtimes = (RUNTIME, ROOT / "runtime-lite")
        for (source, flags), runtime in itertools.product(itertools.product(sources, FLAGS), runtimes):
            if runtime != RUNTIME and (flags not in FLAGS[:2] or LINK_FLAGS):
                continue  # the sources are compiled anew each time
            if "--weights=w.bin" in flags and source != "net.onnx":
                continue
            if "--emit-selftest" in flags and source == "calls.relax":
                continue  # there is nothing to call at compile time
            with self.subTest(source=source, flags=flags, runtime=str(runtime)):
                self.compiles(source, "-o", "m.so", "--name", "m", "--runtime", runtime, "--cc", self.linker(), *flags)
                self.check("m", ("twice",) if source == "calls.relax" else ())

    def test_two_in_one_process_do_not_see_each_other(self):
        """Both of one name even, and both open to all."""
        self.compiles("net.onnx", "-o", "a.so", "--name", "m", "--runtime", RUNTIME, "--cc", self.linker())
        self.write("other.onnx", wire.model([wire.node("Relu", ["p"], ["q"])], [wire.value_info("p", (2,))], [wire.value_info("q", (2,))]))
        self.compiles("other.onnx", "-o", "b.so", "--name", "m", "--runtime", RUNTIME, "--cc", self.linker())
        if LINK_FLAGS:
            self.skipTest("Python has no sanitizer")
        names = []
        for library in ("a.so", "b.so"):
            loaded = ctypes.CDLL(str(self.path / library), mode=ctypes.RTLD_GLOBAL)
            words = (ctypes.c_void_p * 8).in_dll(loaded, "m_model")
            function = ctypes.cast(words[2], ctypes.POINTER(ctypes.c_void_p))  # rlx_model.functions, rlx_function.inputs
            spec = ctypes.cast(function[3], ctypes.POINTER(ctypes.c_char_p))
            names.append(spec[0])
        self.assertEqual(names, [b"x", b"p"])


if __name__ == "__main__":
    program.main()
