"""Archives, and models that are programs of their own.

Usage: programs_test.py RELAXC RUNTIME [unittest's own]"""

import ast
import shutil
import struct
import subprocess
from pathlib import Path

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest

INCLUDE = Path(__file__).resolve().parents[2] / "runtime-lite" / "include"


def npy(dims, data, descr="<f4", fortran=False, version=1):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {dims!r}, }}".encode()
    size = 10 if version == 1 else 12
    head += b" " * (-(size + len(head) + 1) % 64) + b"\n"
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + data)


def read_npy(path):
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\1\0", data[:8]
    length = struct.unpack_from("<H", data, 8)[0]
    assert (10 + length) % 64 == 0
    return ast.literal_eval(data[10:10 + length].decode()), data[10 + length:]


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Archives(ProgramTest):
    def test_an_archive_holds_the_object(self):
        self.compiles("relu.onnx", "-o", "m.o")
        self.compiles("relu.onnx", "-o", "m.a", "--name", "m")
        listed = subprocess.run(["ar", "t", "m.a"], cwd=self.path, check=True, capture_output=True).stdout
        self.assertEqual(listed, b"m.o\n")
        member = subprocess.run(["ar", "p", "m.a", "m.o"], cwd=self.path, check=True, capture_output=True).stdout
        self.assertEqual(member, (self.path / "m.o").read_bytes())
        first = (self.path / "m.a").read_bytes()
        self.compiles("relu.onnx", "-o", "m.a")
        self.assertEqual((self.path / "m.a").read_bytes(), first)
        self.write("use.c", '#include "m.h"\nint main(void) { return m_model.num_functions == 1 ? 0 : 1; }\n')
        subprocess.run(["cc", *LINK_FLAGS, "-I", INCLUDE, "use.c", "m.a", RUNTIME, "-o", "use"], cwd=self.path, check=True)
        subprocess.run(["./use"], cwd=self.path, check=True)


class Programs(ProgramTest):
    def run_model(self, name, *arguments, code=0):
        done = subprocess.run(["./" + name, *map(str, arguments)], cwd=self.path, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode() if code == 0 else done.stderr.decode()

    def compiles_program(self, source, name, *flags):
        self.compiles(source, "-o", name, "--runtime", RUNTIME, "--cc", self.linker(), *flags)
        self.assertFalse((self.path / (name + ".h")).exists())

    def test_runs_on_npy_and_pb(self):
        self.compiles_program("relu.onnx", "relu")
        values = (1, -2, 3, -4, 5, -6)
        self.write("x.npy", npy((2, 3), floats(*values)))
        self.write("x2.npy", npy((2, 3), floats(*values), version=2))
        self.write("raw.pb", wire.tensor("x", (2, 3), floats(*values)))
        listed = wire.fields(1, (2, 3)) + wire.field(2, wire.FLOAT) + wire.field(4, floats(*values))
        self.write("listed.pb", listed)
        for file in ("x.npy", "x2.npy", "raw.pb", "listed.pb", "x=x.npy"):
            with self.subTest(file):
                self.assertEqual(self.run_model("relu", file), "y: float32 [2, 3] = 1 0 3 0 5 0\n")
        self.run_model("relu", "-o", "out", "--threads", 2, "--repeat", 3, "x.npy")
        head, data = read_npy(self.path / "out" / "y.npy")
        self.assertEqual(head, {"descr": "<f4", "fortran_order": False, "shape": (2, 3)})
        self.assertEqual(data, floats(1, 0, 3, 0, 5, 0))
        self.assertEqual(self.run_model("relu", "out/y.npy"), "y: float32 [2, 3] = 1 0 3 0 5 0\n")

    def test_open_dims_and_sizes_that_the_run_finds(self):
        self.compiles_program("relu.relax", "relu")
        self.write("x.npy", npy((3, 4), floats(*range(-6, 6))))
        self.assertIn(": float32 [3, 4] = 0 0 0 0 0 0 0 1 …\n", self.run_model("relu", "x.npy"))
        self.write("empty.npy", npy((0, 4), b""))
        self.assertIn("[0, 4] =", self.run_model("relu", "empty.npy"))
        self.write("found.onnx", wire.model([wire.node("NonZero", ["x"], ["i"])], [wire.value_info("x", ("n",))],
                                            [wire.value_info("i", (1, "k"), wire.INT64)]))
        self.compiles_program("found.onnx", "found")
        self.write("v.npy", npy((5,), floats(0, 7, 0, 8, 9)))
        self.assertEqual(self.run_model("found", "v.npy"), "i: int64 [1, 3] = 1 3 4\n")

    def test_help(self):
        self.compiles_program("relu.relax", "relu", "--dim", "n=1..8")
        text = self.run_model("relu", "--help")
        self.assertIn("input  x: float32 [n, 4]", text)
        self.assertIn("dim    n: 1..8", text)

    def test_wrong_inputs(self):
        self.compiles_program("relu.onnx", "relu")
        good = npy((2, 3), floats(1, 2, 3, 4, 5, 6))
        files = {"short": (good[:-4], "its number of bytes does not match"), "head": (good[:20], "not an .npy file"),
                 "big": (npy((2, 3), bytes(24), ">f4"), "big-endian"),
                 "objects": (npy((2, 3), bytes(24), "|O"), "plain numbers"),
                 "fortran": (npy((2, 3), bytes(24), fortran=True), "Fortran"),
                 "double": (npy((2, 3), bytes(48), "<f8"), "holds float64, but input 'x' is float32"),
                 "shape": (npy((3, 2), bytes(24)), "input 'x': dim 0 is 3, must be 2 (STATIC_DIM)"),
                 "rank": (npy((6,), bytes(24)), "input 'x': the number of dims is 1, must be 2 (RANK)"),
                 "huge": (npy((1 << 62, 8), b""), "overflows"),
                 "ranks": (npy((1,) * 40, bytes(4)), "more than 32 dims")}
        for name, (content, text) in files.items():
            with self.subTest(name):
                self.write(name + ".npy", content)
                self.assertIn(text, self.run_model("relu", name + ".npy", code=1))
        for name, content, text in (("cut.pb", wire.tensor("x", (2, 3), bytes(24))[:-1], "TensorProto"),
                                    ("few.pb", wire.tensor("x", (2, 3), bytes(20)), "its number of elements does not match"),
                                    ("strings.pb", wire.tensor("x", (2, 3), b"", 8), "its type is not one"),
                                    ("x.txt", "1", "the extension selects no format"), ("none/x.npy", None, "No such file")):
            with self.subTest(name):
                if content is not None:
                    self.write(name, content)
                self.assertIn(text, self.run_model("relu", name, code=1))
        self.write("x.npy", good)
        for arguments in ([], ["x.npy", "x.npy"], ["--wrong"], ["-o"], ["--threads", "0", "x.npy"],
                          ["--function", "other", "x.npy"], ["--weights", "w", "x.npy"]):
            with self.subTest(arguments):
                self.run_model("relu", *arguments, code=2)

    def test_weights_beside_the_program(self):
        self.write("add.onnx", wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (4,))],
                                          [wire.value_info("y", (4,))],
                                          [wire.tensor("w", (4,), floats(10, 20, 30, 40))]))
        self.compiles_program("add.onnx", "add", "--weights", "add.weights")
        self.write("x.npy", npy((4,), floats(1, 2, 3, 4)))
        self.assertEqual(self.run_model("add", "x.npy"), "y: float32 [4] = 11 22 33 44\n")
        (self.path / "add.weights").rename(self.path / "moved")
        self.assertIn("cannot use the weights in ./add.weights", self.run_model("add", "x.npy", code=1))
        self.assertEqual(self.run_model("add", "--weights", "moved", "x.npy"), "y: float32 [4] = 11 22 33 44\n")

    def test_the_runtime_must_be_there(self):
        self.refuses(2, "--runtime none.a: there is no such file", "relu.onnx", "-o", "relu", "--runtime", "none.a")
        self.write("alone/librelax_rt.a", b"")
        self.refuses(2, "librelax_rt_runner.a", "relu.onnx", "-o", "relu", "--runtime", "alone/librelax_rt.a")
        self.refuses(2, "there is no program 'no-such-cc'", "relu.onnx", "-o", "relu", "--runtime", RUNTIME, "--cc",
                     "no-such-cc")
        away = self.path / "away"
        away.mkdir()
        shutil.copy(RUNTIME, away)
        self.refuses(2, "librelax_rt_runner.a", "relu.onnx", "-o", "relu", "--runtime", away / Path(RUNTIME).name)


if __name__ == "__main__":
    program.main()
