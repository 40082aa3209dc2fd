"""What is not a program or a wrong one: a message, exit code 1, no output. tests/onnx/bad_models_test.cpp and
tests/diagnostics hold the messages themselves; here is how the program as a whole answers.

Usage: bad_input_test.py RELAXC RUNTIME [unittest's own]"""

import math
import os
import random
import struct
import subprocess
import time
import unittest
from pathlib import Path

import program
import wire
from program import RELAXC, ProgramTest
from wire import INT64, model, node, value_info


class BadInput(ProgramTest):
    def refused(self, content, text, name="bad.onnx"):
        self.write(name, content)
        self.refuses(1, text, name, "-o", "m.o")

    def test_no_file_at_all(self):
        self.refuses(1, "No such file", "none.onnx", "-o", "m.o")
        self.refuses(1, "No such file", "none.relax", "-o", "m.o")

    def test_a_folder(self):
        for name in ("folder.onnx", "folder.relax"):
            (self.path / name).mkdir()
            self.refuses(1, "not a", name, "-o", "m.o")

    def test_an_empty_file(self):
        self.refused(b"", "empty")
        self.refused(b"", "error", name="bad.relax")

    def test_random_bytes(self):
        numbers = random.Random(3)
        for size in (1, 7, 100, 5000):
            content = bytes(numbers.randrange(256) for _ in range(size))
            self.refused(content, "error")
            self.refused(content, "error", name="bad.relax")

    def test_a_truncated_model(self):
        whole = wire.with_external_data("w.bin")
        for part in (1, len(whole) // 3, len(whole) // 2, len(whole) - 1):
            self.refused(whole[:part], "error")

    def test_text_called_onnx(self):
        self.refused(program.TEXT, "it is a text file")

    def test_an_unknown_operator(self):
        self.refused(model([node("Frobnicate", ["x"], ["y"], name="n7")], [value_info("x", (2,))],
                           [value_info("y", (2,))]), "node 'n7' (Frobnicate, opset 13)")

    def test_a_wrong_dtype(self):
        self.refused(model([node("MatMul", ["x", "w"], ["y"])],
                           [value_info("x", (2, 3)), value_info("w", (3, 2), INT64)], [value_info("y", (2, 2))]),
                     "int64")
        self.refused(model([node("Relu", ["x"], ["y"])], [value_info("x", (2,), 77)], [value_info("y", (2,))]), "77")

    def test_dtypes_that_differ_are_made_equal_by_the_node_of_onnx(self):
        inputs = [value_info("x", (2, 3)), value_info("w", (2, 3), INT64)]
        for op in ("Add", "Concat", "MatMul"):
            attributes = [wire.int_attribute("axis", 0)] if op == "Concat" else []
            self.refused(model([node(op, ["x", "w"], ["y"], attributes=attributes)], inputs, [value_info("y", (2, 3))]),
                         "put a Cast node before one of them")
        self.refused(program.TEXT.replace("nn.relu(x)", 'add(x, R.const(1, "int64"))'), "cast one with astype",
                     name="bad.relax")

    def test_an_axis_of_a_scalar(self):
        scalars = [value_info("x", ()), value_info("w", ())]
        for op, said in (("Concat", "axis 0 of 'concat' is an axis of a scalar, which has none"),
                         ("Gather", "axis 0 is an axis of a scalar, which has none")):
            self.refused(model([node(op, ["x", "w"], ["y"], attributes=[wire.int_attribute("axis", 0)])],
                               scalars if op == "Concat" else [scalars[0], value_info("w", (), INT64)],
                               [value_info("y", (2,))]), said)

    def test_scales_of_a_convolution_are_named(self):
        uint8 = 2
        parts = {"x_scale": wire.tensor("x_scale", (), bytes(4)), "x_zero": wire.tensor("x_zero", (), b"\1", uint8),
                 "w": wire.tensor("w", (3, 2, 1, 1), bytes(6), wire.INT8),
                 "w_scale": wire.tensor("w_scale", (3,), bytes(12)),
                 "w_zero": wire.tensor("w_zero", (3,), bytes(3), wire.INT8),
                 "y_scale": wire.tensor("y_scale", (), bytes(4)), "y_zero": wire.tensor("y_zero", (), b"\1", uint8)}
        convolution = node("QLinearConv", ["x", *parts], ["y"])
        ends = [value_info("x", (1, 2, 4, 4), uint8)], [value_info("y", (1, 3, 4, 4), uint8)]
        self.write("fine.onnx", model([convolution], *ends, parts.values()))
        self.compiles("fine.onnx", "-o", "fine.c")
        for name, dims, dtype, said in (
                ("w_scale", (2,), wire.FLOAT, "'w_scale' has 2 values, must have 1, or 3 as 'w' has output channels"),
                ("x_scale", (2,), wire.FLOAT, "'x_scale' has 2 values, must have 1"),
                ("w_zero", (2,), wire.INT8, "'w_zero_point' has 2 values, must have 1, or 3"),
                ("w_scale", (3, 1), wire.FLOAT, "'w_scale' must be a scalar or a list"),
                ("y_scale", (), 11, "'y_scale' must be float32, found float64; put a Cast node before it")):
            with self.subTest(said):
                size = {wire.FLOAT: 4, wire.INT8: 1, 11: 8}[dtype] * math.prod(dims)
                other = {**parts, name: wire.tensor(name, dims, bytes(size), dtype)}
                self.refused(model([convolution], *ends, other.values()), said)

    def test_contradictory_shapes(self):
        self.refused(model([node("MatMul", ["x", "w"], ["y"])],
                           [value_info("x", (2, 3)), value_info("w", (4, 5))], [value_info("y", (2, 5))]),
                     "node 'matmul' (MatMul, opset 13)")
        self.refused(model([node("Add", ["x", "w"], ["y"])],
                           [value_info("x", (2, 3)), value_info("w", (2, 4))], [value_info("y", (2, 3))]), "'add'")

    def test_a_cycle(self):
        self.refused(model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], [value_info("x", (2,))],
                           [value_info("b", (2,))]), "cycl")

    def test_external_data(self):
        self.refused(wire.with_external_data("gone.bin"), "gone.bin")
        self.write("short.bin", bytes(7))
        self.refused(wire.with_external_data("short.bin"), "short.bin")
        self.write("outside.bin", bytes(8))
        for place in ("../outside.bin", "/etc/passwd", "sub/../../outside.bin"):
            self.write("sub/model.onnx", wire.with_external_data(place))
            self.refuses(1, place, "sub/model.onnx", "-o", "m.o")

    def test_a_link_that_leads_outside(self):
        self.write("secret.bin", bytes(8))
        self.write("sub/model.onnx", wire.with_external_data("w.bin"))
        (self.path / "sub/w.bin").symlink_to("../secret.bin")
        self.refuses(1, "w.bin", "sub/model.onnx", "-o", "m.o")

    def test_a_file_that_is_cut_while_it_is_read(self):
        count = 8 << 20
        weights = wire.external_tensor("w", (count,), "w.bin", length=4 * count)
        self.write("m.onnx", model([node("Add", ["x", "w"], ["y"])], [value_info("x", (count,))], [value_info("y", (count,))], [weights]))
        self.write("w.bin", b"\1\2\3\0" * count)
        running = subprocess.Popen([RELAXC, "m.onnx", "-o", "m.o"], cwd=self.path, stderr=subprocess.PIPE, text=True)
        while running.poll() is None:
            if "w.bin" in Path(f"/proc/{running.pid}/maps").read_text():
                os.truncate(self.path / "w.bin", 4096)
                break
            time.sleep(0.001)
        else:
            self.skipTest("the file was read before it could be cut")
        said = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 1, said)
        self.assertIn("it was cut", said)
        self.assertFalse((self.path / "m.o").exists())

    def test_negative_dims(self):
        self.refused(wire.relu((-2, 3)), "-2")

    def test_sizes_that_overflow(self):
        for dims in ((2**40, 2**40), (2**62, 4), (2**63 - 1,)):
            with self.subTest(dims):
                self.refused(wire.relu(dims), "error")

    def test_tensors_doubled_until_they_overflow(self):
        """The first tensor that no memory holds is refused; with 60 doublings all bytes would not fit 64 bits, with 70 the dim."""
        for times in (60, 62, 70):
            nodes = [node("Concat", [f"x{i}"] * 2, [f"x{i + 1}"], attributes=[wire.int_attribute("axis", 0)]) for i in range(times)]
            untyped = wire.field(1, f"x{times}") + wire.field(2, wire.field(1, wire.field(1, wire.FLOAT)))
            self.refused(model(nodes, [value_info("x0", (2,))], [untyped]), "which is larger than any memory")
            lines = [f"    x{i + 1} = R.cumsum(R.concat((x{i}, x{i}), axis=0), axis=0)" for i in range(times)]
            text = ["@R.function", 'def main(x0: R.Tensor((2,), "float32")):', *lines, f"    return R.sum(x{times})"]
            self.refused("\n".join(text) + "\n", "which is larger than any memory", name="bad.relax")

    def test_more_strings_than_functions_are_copied_for(self):
        calls = [f'        y{i + 1} = Module.f(y{i}, R.str("s{i} {{}}"))' for i in range(1200)]
        text = ["@I.ir_module", "class Module:", "    @R.function(private=True, pure=False)",
                '    def f(x: R.Tensor((4,), "float32"), form: R.Object) -> R.Tensor((4,), "float32"):',
                "        _ = R.print(x, format=form)", "        return x", "    @R.function(pure=False)",
                '    def main(y0: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):', *calls, "        return y1200"]
        self.refused("\n".join(text) + "\n", "calls pass more than 1000 lists of strings to functions", name="bad.relax")

    def test_constants_under_shapes_that_overflow(self):
        for dims in ((2, 2, 2), (0, 3), ()):
            for shape in ((2**62, 4), (2**62, 2), (2**32, 2**32), (2**62, 2**62), (0, 2**62), (2**31, 3)):
                with self.subTest(dims=dims, shape=shape):
                    data = wire.tensor("a", dims, bytes(4 * math.prod(dims)))
                    target = wire.tensor("t", (2,), struct.pack("<2q", *shape), wire.INT64)
                    self.write("m.onnx", model([node("Reshape", ["a", "t"], ["y"])], [], [value_info("y", ("p", "q"))],
                                               [data, target]))
                    self.assertIn(self.relaxc("m.onnx", "-o", "m.o").code, (0, 1))

    def test_an_opset_of_the_future(self):
        self.refused(wire.relu(opset=9999), "9999")

    def test_an_entry_without_outputs(self):
        self.refused(model([node("Relu", ["x"], ["y"])], [value_info("x", (2,))], []), "output")

    def test_a_value_that_no_node_makes(self):
        self.refused(model([node("Relu", ["z"], ["y"])], [value_info("x", (2,))], [value_info("y", (2,))]), "'z'")


if __name__ == "__main__":
    program.main()
