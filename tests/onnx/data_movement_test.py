"""What only moves data, next to NumPy: transpositions by squares with edges of every kind, rows that indices pick, and
images enlarged by whole numbers, by both backends, for CPUs with vectors of 16, 32 and 64 bytes, with dims fixed and open.

Usage: data_movement_test.py RELAXC SOURCE_DIR CC
"""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

RELAXC, SOURCE, CC = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(SOURCE / "bench"))
import rlx  # noqa: E402

TRANSPOSITIONS = [((33, 47), (1, 0)), ((16, 16), (1, 0)), ((5, 9), (1, 0)), ((64, 12), (1, 0)), ((3, 20, 37), (0, 2, 1)),
                  ((20, 3, 37), (2, 1, 0)), ((7, 18, 4, 33), (0, 2, 3, 1)), ((17, 19, 6), (1, 2, 0))]
CPUS = ["x86-64", "x86-64-v3", "x86-64-v4"]


class DataMovement(unittest.TestCase):
    count = itertools.count()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-movement-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)
        flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
        cls.cpus = CPUS[:1] + CPUS[1:2] * ("avx2" in flags) + CPUS[2:] * ("avx512vl" in flags)

    def run_node(self, node, inputs, output, flags=(), is_open=False, backend="llvm", constants=()):
        """`output`: its dtype and shape."""
        def info(name, dtype, shape):
            shape = [f"{name}{i}" for i in range(len(shape))] if is_open else shape
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        graph = helper.make_graph([node], "g", [info(name, x.dtype, x.shape) for name, x in inputs.items()],
                                  [info("y", *output)], constants)
        if is_open:
            graph.output[0].type.tensor_type.ClearField("shape")
        stem = self.path / f"m{next(self.count)}"
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.save(onnx.shape_inference.infer_shapes(model), stem.with_suffix(".onnx"))
        library = stem.with_suffix(".so")
        made = library if backend == "llvm" else stem.with_suffix(".c")
        command = [RELAXC, stem.with_suffix(".onnx"), "--name", "m", "-o", made, *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        if backend == "c":
            subprocess.run([CC, "-std=c99", "-O1", "-w", "-ffp-contract=off", "-fPIC", "-shared",
                            f"-I{SOURCE}/runtime-lite/include", made, RELAXC.parents[1] / "lib/librelax_rt.a", "-lm", "-o",
                            library], check=True)
        return rlx.Model(library, "m").functions["main"](*inputs.values())

    def check_transpose(self, dtype, shape, order, **how):
        x = (np.arange(np.prod(shape)) * 37 % 251).reshape(shape).astype(dtype)
        right = np.ascontiguousarray(x.transpose(order))
        found = self.run_node(helper.make_node("Transpose", ["x"], ["y"], perm=order), {"x": x}, (dtype, right.shape), **how)
        np.testing.assert_array_equal(np.asarray(found).reshape(right.shape), right, str((dtype, shape, order, how)))

    def test_transpositions(self):
        for cpu, is_open, (shape, order) in itertools.product(self.cpus, (False, True), TRANSPOSITIONS):
            self.check_transpose(np.float32, shape, order, flags=["--mcpu=" + cpu], is_open=is_open)

    def test_transpositions_of_every_width(self):
        for dtype, (shape, order) in itertools.product((np.uint8, np.float16, np.float64), TRANSPOSITIONS[:6:2]):
            self.check_transpose(dtype, shape, order, flags=["--mcpu=" + self.cpus[-1]])

    def test_transpositions_in_c(self):
        for shape, order in TRANSPOSITIONS[::2]:
            self.check_transpose(np.float32, shape, order, backend="c", flags=["--mcpu=x86-64"])

    def test_rows(self):
        """A row is read in place, whatever sign its index has."""
        x = np.random.default_rng(0).standard_normal((50, 3, 40)).astype(np.float32)
        for cpu, axis in itertools.product(self.cpus, (0, 1)):
            index = np.array([[0, -1, 2], [1, -3, 0]])
            node = helper.make_node("Gather", ["x", "i"], ["y"], axis=axis)
            right = np.take(x, index, axis)
            found = self.run_node(node, {"x": x, "i": index}, (x.dtype, right.shape), flags=["--mcpu=" + cpu])
            np.testing.assert_array_equal(np.asarray(found).reshape(right.shape), right)

    def test_enlarged_by_whole_numbers(self):
        x = np.random.default_rng(0).standard_normal((2, 3, 5, 37)).astype(np.float32)
        modes = [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("tf_half_pixel_for_nn", "floor")]
        for cpu, times, (mode, rounding) in itertools.product(self.cpus, (2, 3), modes):
            scales = helper.make_tensor("s", 1, [4], [1, 1, times, times])
            resize = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode=rounding,
                                      coordinate_transformation_mode=mode)
            right = x.repeat(times, 2).repeat(times, 3)
            found = self.run_node(resize, {"x": x}, (x.dtype, right.shape), flags=["--mcpu=" + cpu], constants=[scales])
            np.testing.assert_array_equal(np.asarray(found).reshape(right.shape), right, str((cpu, times, mode)))

    def test_no_gather_reads_a_row(self):
        """Vectors of addresses cost a load an element."""
        graph = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"])], "g", [
            helper.make_tensor_value_info("x", 1, [500, 64]), helper.make_tensor_value_info("i", 7, [90])],
            [helper.make_tensor_value_info("y", 1, [90, 64])])
        model, assembly = self.path / "rows.onnx", self.path / "rows.s"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), model)
        subprocess.run([RELAXC, model, "-o", assembly, "--mcpu=x86-64-v4"], check=True)
        self.assertNotIn("gather", assembly.read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
