"""C in the forms that --c-vectors, --c-weights and --c-split choose: clean under strict compilers, the same bits as the
object that LLVM makes, and files that appear together.

Usage: c_style_test.py RELAXC RUNTIME [unittest's own]"""

import re
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest

REPOSITORY = Path(__file__).resolve().parents[2]
INCLUDE = REPOSITORY / "runtime-lite/include"
DIGITS = REPOSITORY / "examples/digits/digits.onnx"
STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -Wundef -ffp-contract=off".split()
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
EMBEDDERS = [name for name in ("gcc-15", "clang-19", "clang-22") if shutil.which(name)]

# Tiles that end inside of vectors, padding (lanes that do not run), strides, conditions, integers that wrap, bytes.
MIXED = """@R.function
def main(x: R.Tensor(("n", 3, 11, 13), "float32"), w: R.Tensor((5, 3, 3, 3), "float32"), m: R.Tensor((37, 29), "float32"),
         b: R.Tensor(("n", 12), "uint8"), k: R.Tensor((23,), "int32")
         ) -> R.Tuple(R.Tensor(("n", 5, 6, 7), "float32"), R.Tensor((37, 37), "float32"), R.Tensor(("n", 9), "int32"),
                      R.Tensor((23,), "int32"), R.Tensor((37, 1), "float32")):
    with R.dataflow():
        c = R.nn.relu(R.nn.conv(x, w, padding=[1, 1, 1, 1], strides=[2, 2]))
        p = R.matmul(m, R.permute_dims(m, axes=[1, 0]))
        s = R.nn.softmax(R.where(R.greater(p, R.const(0.0, "float32")), R.tanh(p), R.minimum(p, R.const(-0.5, "float32"))))
        q = R.matmul(R.astype(b, dtype="int32"), R.astype(R.const([[(7 * 1) - 9, 127, -128, 5, 0, 1, -1, 64, 33]] * 12, "int8"), dtype="int32"))
        i = k * R.const(65537, "int32") - R.maximum(k, R.const(-3, "int32"))
        t = R.mean(R.sqrt(R.abs(m)), axis=[1], keepdims=True)
        R.output(c, s, q, i, t)
    return (c, s, q, i, t)
""".replace("[[(7 * 1) - 9, 127, -128, 5, 0, 1, -1, 64, 33]] * 12",
            str([[(7 * r + 3 * c) % 256 - 128 for c in range(9)] for r in range(12)]))
SUFFIX = {"f4": "f", "i4": "i", "u1": "B"}
INPUTS = [((2, 3, 11, 13), "f4"), ((5, 3, 3, 3), "f4"), ((37, 29), "f4"), ((2, 12), "u1"), ((23,), "i4")]


def npy(dims, kind):
    """Numbers of both signs, the same everywhere."""
    count, seed, values = 1, 7, []
    for dim in dims:
        count *= dim
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        values.append(seed / (1 << 29) - 2 if kind == "f4" else seed % 256 if kind == "u1" else seed - (1 << 30))
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(dims)!r}, }}".encode()
    head += b" " * (-(11 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{count}{SUFFIX[kind]}", *values)


class CStyle(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("mixed.relax", MIXED)
        self.names = []
        for at, (dims, kind) in enumerate(INPUTS):
            self.names.append(f"x{at}.npy")
            self.write(self.names[-1], npy(dims, kind))

    def outputs(self, folder):
        return {file.name: file.read_bytes() for file in sorted((self.path / folder).iterdir())}

    def run_c(self, compiler, sources, *flags):
        """What the program of these files gives."""
        rest = [Path(RUNTIME).with_name(f"librelax_rt{part}.a") for part in ("_runner", "_hosted", "")]
        subprocess.run([compiler, *STRICT, *flags, "-I", INCLUDE, "-c", *sources], cwd=self.path, check=True)
        objects = [Path(source).with_suffix(".o").name for source in sources]
        subprocess.run(["cc", *LINK_FLAGS, "-Wl,--defsym=rlx_runner_model=m_model", "-Wl,--fatal-warnings", *objects, *rest,
                        "-lpthread", "-lm", "-o", "program"], cwd=self.path, check=True)
        shutil.rmtree(self.path / "there", ignore_errors=True)
        subprocess.run(["./program", "-o", "there", *self.names], cwd=self.path, check=True, capture_output=True)
        return self.outputs("there")

    def expected(self, *flags):
        self.compiles("mixed.relax", *flags, "-o", "here_program", "--name", "m", "--runtime", RUNTIME, "--cc", self.linker())
        subprocess.run(["./here_program", "-o", "here", *self.names], cwd=self.path, check=True, capture_output=True)
        return self.outputs("here")

    def test_a_sum_of_many_integers_is_one_expression_of_that_many_operands(self):
        terms = " + ".join(f"X[{i}]" for i in range(64))
        self.write("sum.relax", f"""@T.prim_func
def total(x: T.handle, y: T.handle):
    X = T.match_buffer(x, (64,), "int32")
    Y = T.match_buffer(y, (1,), "int32")
    Y[0] = {terms}
""")
        self.compiles("sum.relax", "-o", "sum.c")
        text = (self.path / "sum.c").read_text()
        self.assertEqual(text.count("X[63]"), 1)

    def test_all_styles_give_the_bits_of_the_object(self):
        plain, vectors, parts = ["--c-vectors=none"], ["--c-vectors=gnu"], ["--c-split=3K", "--c-vectors=gnu"]
        for cpu, machine, styles in (("x86-64", [], (vectors,)),
                                     ("x86-64-v3", ["-mavx2", "-mfma"], (plain, vectors, parts, ["--c-weights=incbin"]))):
            expected = self.expected("--mcpu", cpu)
            self.assertEqual(len(expected), 5)
            for style in styles:
                for file in self.path.glob("m*.c"):
                    file.unlink()
                self.compiles("mixed.relax", "--mcpu", cpu, "-o", "m.c", *style)
                sources = sorted(file.name for file in self.path.glob("m*.c"))
                for compiler in COMPILERS if style is vectors else COMPILERS[:1]:
                    with self.subTest(cpu=cpu, style=style, compiler=compiler):
                        self.assertEqual(self.run_c(compiler, sources, "-O1", *machine), expected)

    def test_vectors_of_a_machine_without_them(self):
        """Types are the compiler's: a baseline CPU runs what was tiled for AVX-512."""
        self.compiles("mixed.relax", "--mcpu", "x86-64-v4", "-o", "m.c", "--c-vectors=gnu")
        self.assertIn("vector_size(64)", (self.path / "m.c").read_text())
        first = self.run_c(COMPILERS[0], ["m.c"], "-O1")
        self.compiles("mixed.relax", "--mcpu", "x86-64-v4", "-o", "m.c", "--c-vectors=none")
        self.assertEqual(self.run_c(COMPILERS[0], ["m.c"], "-O1"), first)

    def test_vectors_that_gcc_computes_wrong_are_asked_for(self):
        flags = (DIGITS, "--dim", "n=1", "--target", "cortex-m55", "-o", "m.c")
        self.compiles(*flags)
        self.assertNotIn("vector_size", (self.path / "m.c").read_text())
        self.compiles(*flags, "--c-vectors=gnu")
        self.assertIn("vector_size", (self.path / "m.c").read_text())

    def test_parts_are_named_in_order_and_compile_separately(self):
        self.compiles(DIGITS, "-o", "sub.c", "--name", "m", "--c-split=4K", "-MD")
        parts = sorted(file.name for file in self.path.glob("sub*.c"))
        self.assertEqual(parts[0], "sub.c")
        count = len(parts) - 2
        self.assertGreater(count, 2)
        self.assertEqual(set(parts), {"sub.c", "sub_weights.c", *(f"sub_{i + 1}.c" for i in range(count))})
        first = {name: (self.path / name).read_bytes() for name in parts}
        for compiler in COMPILERS:
            for name in parts:
                subprocess.run([compiler, *STRICT, "-I", INCLUDE, "-c", name, "-o", "x.o"], cwd=self.path, check=True)
        targets = (self.path / "sub.d").read_text().split(":")[0].split()
        self.assertEqual(sorted(targets), parts)
        self.write("other/keep", "")
        self.compiles(DIGITS, "-o", "other/sub.c", "--name", "m", "--c-split=4K")
        self.assertEqual({name: (self.path / "other" / name).read_bytes() for name in parts}, first)
        hidden = subprocess.run(["cc", "-I", INCLUDE, "-shared", "-fPIC", *parts, RUNTIME, "-lm", "-o", "sub.so"], cwd=self.path,
                                check=False, capture_output=True)
        self.assertEqual(hidden.returncode, 0, hidden.stderr)
        shown = subprocess.run(["nm", "-D", "--defined-only", "sub.so"], cwd=self.path, check=True, capture_output=True).stdout
        self.assertNotRegex(shown.decode(), r"m_k_|m_weights")

    def test_weights_in_a_file(self):
        self.compiles(DIGITS, "-o", "a.c", "--name", "m")
        array = re.search(r"rlx_weights = \{\{((?:[\d,\s]|RLX_4\(|\))*)\}\};", (self.path / "a.c").read_text())[1]
        data = bytes(int(number) for number in re.findall(r"(?<!_)\b\d+", array))
        for form in ("incbin", "embed"):
            with self.subTest(form):
                self.compiles(DIGITS, "-o", f"{form}.c", "--name", "m", f"--c-weights={form}", "-MD")
                self.assertEqual((self.path / f"{form}.weights.bin").read_bytes(), data)
                targets = (self.path / f"{form}.d").read_text().split(":")[0].split()
                self.assertEqual(targets, [f"{form}.c", f"{form}.weights.bin"])
                self.assertLess((self.path / f"{form}.c").stat().st_size, 100_000)
        self.assertIn('\n#embed "embed.weights.bin"\n', (self.path / "embed.c").read_text())
        (self.path / "incbin.weights.bin").rename(self.path / "moved.bin")
        for compiler in COMPILERS:
            subprocess.run([compiler, *STRICT, "-DM_WEIGHTS_FILE=\"moved.bin\"", "-I", INCLUDE, "-c", "incbin.c", "-o", "x.o"],
                           cwd=self.path, check=True)
            self.assertIn(data, (self.path / "x.o").read_bytes())
        for compiler in EMBEDDERS:
            subprocess.run([compiler, *STRICT, "-std=c23", "-I", INCLUDE, "-c", "embed.c", "-o", "x.o"], cwd=self.path, check=True)
            self.assertIn(data, (self.path / "x.o").read_bytes())

    def test_all_files_or_none(self):
        self.write("m_2.c/in_the_way", "")
        self.refuses(1, "cannot write m_2.c: it is a directory", DIGITS, "-o", "m.c", "--c-split=4K")
        self.write("w.weights.bin/in_the_way", "")
        self.refuses(1, "cannot write w.weights.bin: it is a directory", DIGITS, "-o", "w.c", "--c-weights=incbin")

    def test_what_does_not_go_together(self):
        for flag in ("--c-vectors=gnu", "--c-weights=embed", "--c-split=64K"):
            name = flag.split("=")[0]
            self.refuses(2, f"{name} is for C", DIGITS, "-o", "m.o", flag)
            self.refuses(2, "--c-profile=misra is one file of C99", DIGITS, "-o", "m.c", "--c-profile=misra", flag)


if __name__ == "__main__":
    program.main()
