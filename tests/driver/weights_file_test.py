"""Weights in a file of their own: written, mapped, and refused when they are not the object's.

Usage: weights_file_test.py RELAXC RUNTIME [unittest's own]"""

import struct
import subprocess
from pathlib import Path

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest

INCLUDE = Path(__file__).resolve().parents[2] / "runtime-lite" / "include"
LIBRARIES = Path(RUNTIME).parent
HEADER = 64

# Runs both calls and prints their statuses, what the record found, and y[5].
RUN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "m.h"
#include "relax_rt_hosted.h"

static float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
static m_arena arena;

int main(int argc, char** argv) {
  rlx_error error = {0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.error = &error;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  int32_t mapped = argc > 1 ? rlx_weights_map(argv[1], &m_model, &context) : 0;
  if (argc > 2) context.weights_bytes -= (uint64_t)atoi(argv[2]);
  m_args args = {x, y};
  int32_t typed = m_run(&context, &args);
  int64_t shape[1] = {8};
  rlx_tensor in = {x, 1, 0, 1, 2, 32, 1, shape, NULL, 0}, out = {y, 1, 0, 1, 2, 32, 1, shape, NULL, 0};
  float first = y[5];
  y[5] = 0;
  int32_t generic = m_model.functions[0].run(&context, &in, 1, &out, 1);
  printf("%d %d %d %g %g\n", (int)mapped, (int)typed, (int)generic, (double)first, (double)y[5]);
  if (argc > 1) rlx_weights_unmap(&context);
  return 0;
}
"""


class WeightsFile(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.onnx", self.net(1.0))
        self.write("other.onnx", self.net(2.0))
        self.write("run.c", RUN)

    @staticmethod
    def net(first):
        """y = (x + w) * v with weights of 8 floats each."""
        data = [struct.pack("<8f", *(first + k * i for i in range(8))) for k in (1, 2)]
        return wire.model([wire.node("Add", ["x", "w"], ["t"]), wire.node("Mul", ["t", "v"], ["y"])],
                          [wire.value_info("x", (8,))], [wire.value_info("y", (8,))],
                          [wire.tensor("w", (8,), data[0]), wire.tensor("v", (8,), data[1])])

    def run_with(self, output, *arguments):
        subprocess.run(["cc", *LINK_FLAGS, "-ffp-contract=off", "-I", INCLUDE, "run.c", output, LIBRARIES / "librelax_rt_hosted.a",
                        RUNTIME, "-o", "run"], cwd=self.path, check=True)
        done = subprocess.run(["./run", *map(str, arguments)], cwd=self.path, check=True, capture_output=True)
        return done.stdout.decode().split()

    def test_both_calls_use_the_mapped_file(self):
        for output in ("m.o", "m.c"):
            with self.subTest(output):
                self.compiles("net.onnx", "-o", output, "--weights", "m.bin")
                self.assertEqual(self.run_with(output, "m.bin"), ["0", "0", "0", "132", "132"])
                self.assertIn("#define M_WEIGHTS_BYTES 160", (self.path / "m.h").read_text())

    def test_the_file_is_a_header_and_the_weights(self):
        self.compiles("net.onnx", "-o", "m.o", "--weights", "m.bin")
        data = (self.path / "m.bin").read_bytes()
        magic, version, header, size = struct.unpack_from("<8sIIQ", data)
        self.assertEqual((magic, version, header, size), (b"RLXWGHT\0", 1, HEADER, len(data)))
        self.assertNotEqual(data[24:56], bytes(32))
        self.assertEqual(data[56:64], bytes(8))
        weights = struct.pack("<8f", *range(1, 9))
        self.assertIn(weights, data)
        self.assertNotIn(weights, (self.path / "m.o").read_bytes())
        self.compiles("net.onnx", "-o", "m.o")
        self.assertIn(weights, (self.path / "m.o").read_bytes())
        self.assertNotIn("WEIGHTS_BYTES", (self.path / "m.h").read_text())

    def test_a_shared_file_of_more_than_2_gb(self):
        far = (1 << 31) + 4096
        with open(self.path / "w.bin", "wb") as file:  # nearly all of it is a hole
            file.write(struct.pack("<8f", *range(1, 9)))
            file.seek(far)
            file.write(struct.pack("<8f", *range(1, 17, 2)))
        tensors = [wire.external_tensor("w", (8,), "w.bin", length=32),
                   wire.external_tensor("v", (8,), "w.bin", offset=far, length=32)]
        nodes = [wire.node("Add", ["x", "w"], ["t"]), wire.node("Mul", ["t", "v"], ["y"])]
        ends = [wire.value_info("x", (8,))], [wire.value_info("y", (8,))]
        self.write("far.onnx", wire.model(nodes, *ends, tensors))
        self.compiles("far.onnx", "-o", "m.o", "--weights", "m.bin")
        self.assertEqual(self.run_with("m.o", "m.bin"), ["0", "0", "0", "132", "132"])
        for v, text in ((wire.external_tensor("v", (8,), "w.bin", offset=far + 1, length=32), "which has only"),
                        (wire.external_tensor("v", (8,), "w.bin", offset=1 << 63, length=32), "which has only"),
                        (wire.external_tensor("v", (8,), "w.bin", offset=far, length=28), "need 32"),
                        (wire.external_tensor("v", (8,), "w.bin", offset="-4"), "not a byte count")):
            self.write("far.onnx", wire.model(nodes, *ends, [tensors[0], v]))
            self.refuses(1, text, "far.onnx", "-o", "k.o")

    def test_transposes_are_made_while_weights_are_written(self):
        rows, columns = 160, 120
        values = [float(i % 251) for i in range(rows * columns)]
        self.write("t.onnx", wire.model(
            [wire.node("Transpose", ["w"], ["wt"]), wire.node("Add", ["x", "wt"], ["y"])],
            [wire.value_info("x", (columns, rows))], [wire.value_info("y", (columns, rows))],
            [wire.tensor("w", (rows, columns), struct.pack(f"<{len(values)}f", *values))]))
        self.compiles("t.onnx", "-o", "t.o", "--weights", "t.bin")
        turned = [values[r * columns + c] for c in range(columns) for r in range(rows)]
        self.assertEqual((self.path / "t.bin").read_bytes()[HEADER:], struct.pack(f"<{len(turned)}f", *turned))

    def test_wrong_files(self):
        self.compiles("other.onnx", "-o", "m.o", "--weights", "other.bin")
        self.compiles("net.onnx", "-O0", "-o", "m.o", "--weights", "flags.bin")
        self.compiles("net.onnx", "-o", "m.o", "--weights", "m.bin")
        data = (self.path / "m.bin").read_bytes()
        for name, content in (("short", data[:-1]), ("shorter", data[:10]), ("none", b""), ("long", data + b"0"),
                              ("magic", b"X" + data[1:]), ("version", data[:8] + b"\2" + data[9:]),
                              ("size", data[:16] + b"\xff" + data[17:]), ("hash", data[:55] + b"?" + data[56:])):
            self.write(name + ".bin", content)
        size, hash_, abi, no_file, form = 16, 17, 19, 64, 65
        for name, status in (("other", hash_), ("flags", hash_), ("hash", hash_), ("short", size), ("shorter", form),
                             ("none", form), ("magic", form), ("version", abi), ("size", size), ("absent", no_file)):
            with self.subTest(name):  # nothing is mapped then, and both calls refuse to run without weights
                self.assertEqual(self.run_with("m.o", name + ".bin"), [str(status), str(size), str(size), "0", "0"])
        self.assertEqual(self.run_with("m.o", "long.bin"), ["0", "0", "0", "132", "132"])

    def test_calls_without_the_file(self):
        for output in ("m.o", "m.c"):
            with self.subTest(output):
                self.compiles("net.onnx", "-o", output, "--weights", "m.bin")
                self.assertEqual(self.run_with(output), ["0", "16", "16", "0", "0"])
                self.assertEqual(self.run_with(output, "m.bin", 1), ["0", "16", "16", "0", "0"])

    def test_usage(self):
        self.refuses(2, "the model has no weights", "relu.onnx", "-o", "m.o", "--weights", "m.bin")
        self.refuses(2, "cannot be both", "net.onnx", "-o", "m.o", "--weights", "m.h")
        self.refuses(2, "--weights", "net.onnx", "-o", "m.relax", "--weights", "m.bin")
        self.refuses(2, "excludes", "net.onnx", "-o", "m.o", "--weights", "m.bin", "--embed-weights")
        self.refuses(1, "cannot write none/m.bin", "net.onnx", "-o", "m.o", "--weights", "none/m.bin")

    def test_same_input_same_file(self):
        self.compiles("net.onnx", "-o", "m.o", "--weights", "a.bin")
        self.compiles("net.onnx", "-o", "m.o", "--weights", "b.bin")
        self.assertEqual((self.path / "a.bin").read_bytes(), (self.path / "b.bin").read_bytes())


if __name__ == "__main__":
    program.main()
