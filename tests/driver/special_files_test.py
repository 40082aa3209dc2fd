"""What is not a regular file: a pipe, a folder, a device, a file that says it is huge. As an input of any kind it is refused
with one sentence and at once, as an output it is refused and stays what it was.

Usage: special_files_test.py RELAXC RUNTIME [unittest's own]"""

import os
import resource
import stat
import struct
import subprocess
import unittest

import program
import wire
from program import RELAXC, RUNTIME, ProgramTest

SECONDS = 20  # what takes longer waits for a pipe, or reads without end
MEMORY = 1 << 30
SPARSE = 200 << 30
KINDS = ("pipe", "folder", "device", "link")

LINEAR = """@R.function
def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 2), "float32")):
    R.func_attr({"num_input": 1})
    return R.matmul(x, w)
"""
CONSTANT = """metadata = relaxc.load_params("%s")
@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.add(x, metadata["relax.expr.Constant"][0])
"""
# Where a file is read: its extension and the command, with FILE for its name; folders are inputs in places of their own.
INPUTS = {
    "model": (".onnx", ["FILE", "-o", "m.o"]),
    "tflite model": (".tflite", ["FILE", "-o", "m.o"]),
    "text": (".relax", ["FILE", "-o", "m.o"]),
    "model by content": ("", ["FILE", "-o", "m.o"]),
    "one of several": (".onnx", ["relu.onnx", "FILE", "-o", "m.o"]),
    "external data": (".bin", ["data.onnx", "-o", "m.o"]),
    "parameters": (".npz", ["linear.relax", "--params", "FILE", "-o", "m.o"]),
    "parameters of tensors": (".safetensors", ["linear.relax", "--params", "FILE", "-o", "m.o"]),
    "parameters that the text names": (".safetensors", ["constant.relax", "-o", "m.o"]),
    "description": (".json", ["relu.onnx", "--target", "./FILE", "-o", "m.o"]),
    "custom operators": (".json", ["relu.onnx", "--custom-op", "FILE", "-o", "m.o"]),
    "schedules": (".txt", ["relu.onnx", "--schedules", "FILE", "-o", "m.o"]),
    "choices": (".txt", ["relu.onnx", "--tune-log", "FILE", "-o", "m.o"]),
    "runtime": (".a", ["relu.onnx", "--runtime", "./FILE", "-o", "m.so"]),
    "self-test": (".npy", ["relu.onnx", "--emit-selftest", "--selftest-data", "FILE", "-o", "m.o"]),
    "self-test of protobuf": (".pb", ["relu.onnx", "--emit-selftest", "--selftest-data", "FILE", "-o", "m.o"]),
    "input": (".npy", ["run", "relu.onnx", "FILE", "--runtime", RUNTIME]),
    "input of protobuf": (".pb", ["run", "relu.onnx", "FILE", "--runtime", RUNTIME]),
    "input by name": (".npy", ["run", "relu.onnx", "x=FILE", "--runtime", RUNTIME]),
    "inputs": (".npz", ["run", "relu.onnx", "FILE", "--runtime", RUNTIME]),
    "inputs of tensors": (".safetensors", ["verify", "relu.onnx", "FILE", "--runtime", RUNTIME]),
    "expected": (".npy", ["verify", "relu.onnx", "x.npy", "--expect", "FILE", "--runtime", RUNTIME]),
    "timed": (".npy", ["bench", "relu.onnx", "FILE", "--runtime", RUNTIME]),
    "library": (".so", ["run", "relu.onnx", "x.npy", "--load", "FILE", "--runtime", RUNTIME]),
}
FOLDERS = ("runtime", "self-test", "self-test of protobuf", "input", "input of protobuf", "inputs", "inputs of tensors", "timed")
# Flags that name a file to write; the output itself is the first.
OUTPUTS = {"-o": ["--emit", "obj", "--name", "m"], "--weights": ["-o", "m.o"], "--manifest": ["-o", "m.o"],
           "--report": ["-o", "m.o"], "--rust": ["-o", "m.o"], "--write-schedules": ["-o", "m.o"], "-MF": ["-o", "m.o", "-MD"]}
WIDE = wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (300,))], [wire.value_info("y", (300,))],
                  [wire.tensor("w", (300,), bytes(1200))])


def npy(shape, data=b""):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def little_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class SpecialFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("relu.onnx", wire.relu((2, 3)))
        self.write("x.npy", npy((2, 3), bytes(24)))
        self.write("linear.relax", LINEAR)

    def answer(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.path, capture_output=True, text=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, preexec_fn=little_memory, check=False)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        errors = [line for line in done.stderr.splitlines() if "error: " in line and "collect2" not in line]
        self.assertEqual(len(errors), 1, done.stderr)
        return errors[0]

    def make(self, kind, name):
        path = self.path / name
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero" if kind == "device" else "/dev/stdin")
        return path

    def name_in_models(self, name):
        """What a model and a program name is not on the command line."""
        self.write("data.onnx", wire.with_external_data(name))
        self.write("constant.relax", CONSTANT % name)

    def test_every_input(self):
        for what, (extension, command) in INPUTS.items():
            for kind in KINDS:
                if kind == "folder" and what in FOLDERS:
                    continue
                with self.subTest(input=what, kind=kind):
                    name = "special" + extension
                    self.name_in_models(name)
                    made = self.make(kind, name)
                    before = self.files()
                    said = self.answer(RELAXC, *(word.replace("FILE", name) for word in command))
                    self.assertIn(name, said)
                    self.assertRegex(said, "regular file|symbolic link|is not an ONNX or TFLite model")
                    self.assertEqual(self.files(), before)
                    made.rmdir() if kind == "folder" else made.unlink()

    def test_files_that_say_they_are_huge(self):
        """Of zeros, which a disk does not hold: behind a head that is right, or from the beginning."""
        heads = {".npy": npy((SPARSE // 4,)), ".pb": wire.fields(1, (SPARSE // 4,)) + wire.field(2, wire.FLOAT)}
        for what, (extension, command) in INPUTS.items():
            if what in ("external data", "runtime"):
                continue  # of which a part is used, and which is the linker's to read
            for head in filter(None, (b"\0", heads.get(extension))):
                with self.subTest(input=what, head=head[:8]):
                    name = "huge" + extension
                    self.name_in_models(name)
                    self.write(name, head)
                    os.truncate(self.path / name, len(head) + SPARSE)
                    before = self.files()
                    self.assertIn("huge", self.answer(RELAXC, *(word.replace("FILE", name) for word in command)))
                    self.assertEqual(self.files(), before)
                    (self.path / name).unlink()

    def test_a_small_file_that_claims_much(self):
        self.write("big.pb", wire.fields(1, (1 << 40,)) + wire.field(2, wire.FLOAT))
        self.write("big.npy", npy((1 << 40,), bytes(64)))
        for name in ("big.pb", "big.npy"):
            self.assertIn("match its shape", self.answer(RELAXC, "run", "relu.onnx", name, "--runtime", RUNTIME))

    def test_the_program_of_a_model(self):
        self.compiles("relu.onnx", "-o", "m", "--runtime", RUNTIME, "--cc", self.linker())
        for extension in (".npy", ".pb"):
            for kind in KINDS:
                with self.subTest(extension=extension, kind=kind):
                    made = self.make(kind, "special" + extension)
                    self.assertIn("it is not a regular file", self.answer("./m", made.name))
                    made.rmdir() if kind == "folder" else made.unlink()
            self.write("huge" + extension, npy((SPARSE // 4,)))
            os.truncate(self.path / ("huge" + extension), len(npy((SPARSE // 4,))) + SPARSE)
            self.assertIn("huge", self.answer("./m", "huge" + extension))

    def test_the_weights_of_a_program(self):
        self.write("add.onnx", WIDE)
        self.write("long.npy", npy((300,), bytes(1200)))
        self.compiles("add.onnx", "-o", "m", "--weights", "m.weights", "--runtime", RUNTIME, "--cc", self.linker())
        for kind in KINDS:
            with self.subTest(kind):
                made = self.make(kind, "special.weights")
                done = subprocess.run(["./m", "long.npy", "--weights", made.name], cwd=self.path, capture_output=True, text=True,
                                      timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 1)
                self.assertIn("cannot use the weights in special.weights", done.stderr)
                made.rmdir() if kind == "folder" else made.unlink()

    def test_a_file_on_the_standard_input(self):
        """/dev/stdin is what the shell made it: a file is read, a pipe is refused."""
        with open(self.path / "relu.onnx", "rb") as model:
            done = subprocess.run([RELAXC, "/dev/stdin", "-o", "m.o"], cwd=self.path, stdin=model, capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([RELAXC, "/dev/stdin", "-o", "m.o"], cwd=self.path, input=b"", capture_output=True,
                              timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"not a regular file", done.stderr)

    def test_every_output(self):
        self.write("add.onnx", WIDE)
        for flag, more in OUTPUTS.items():
            name = "special.html" if flag == "--report" else "special"  # a report is known by its extension
            for kind in ("pipe", "folder", "/dev/full", "/dev/null", "/dev/stdout")[:2 if flag == "--report" else None]:
                with self.subTest(flag=flag, kind=kind):
                    made = None if kind.startswith("/") else self.make(kind, name)
                    before = self.files()
                    said = self.answer(RELAXC, "add.onnx", flag, kind if made is None else name, *more)
                    self.assertRegex(said, "cannot write .*: it is (not a regular file|a directory|a link to a file that is open)")
                    self.assertEqual(self.files(), before)
                    if kind == "pipe":
                        self.assertTrue(stat.S_ISFIFO(made.stat().st_mode))
                        made.unlink()
                    elif made is not None:
                        made.rmdir()

    def test_outputs_of_tools(self):
        for kind in ("pipe", "folder", "/dev/full", "/dev/stdout"):
            for tool in (["tune", "relu.onnx", "--budget", "1"], ["tune", "--machine"]):
                with self.subTest(kind=kind, tool=tool):
                    made = None if kind.startswith("/") else self.make(kind, "special")
                    self.assertIn("cannot write", self.answer(RELAXC, *tool, "-o", kind if made is None else "special"))
                    if made is not None:
                        made.rmdir() if kind == "folder" else made.unlink()
        self.make("pipe", "special")
        self.assertIn("cannot write", self.answer(RELAXC, "run", "relu.onnx", "x.npy", "-o", "special", "--runtime", RUNTIME))
        self.assertIn("cannot write", self.answer(RELAXC, "relu.onnx", "-o", "m.o", "--dump-passes", "special"))
        (self.path / "dump").mkdir()
        os.mkfifo(self.path / "dump/00_input.relax")
        self.assertIn("not a regular file", self.answer(RELAXC, "relu.onnx", "-o", "m.o", "--dump-passes", "dump"))


if __name__ == "__main__":
    program.main()
