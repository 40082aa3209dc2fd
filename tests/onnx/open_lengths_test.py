"""Pads and regions whose lists have a length that only the run knows, single points of AffineGrid, and integers of
ReduceLogSumExp, next to NumPy, ONNX Runtime and the reference of the onnx package.

Usage: open_lengths_test.py RELAXC SOURCE_DIR
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

RELAXC, SOURCE = sys.argv[1:3]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

RANDOM = np.random.default_rng(3)
FEW_ROUNDINGS = 8 * np.finfo(np.float32).eps  # of positions and of sums of two or three products, all below 8


def model_of(node, inputs, opset, open_names=()):
    """Dims of the inputs in `open_names` are open."""
    infos = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(x.dtype), [f"{name}{i}" for i in range(x.ndim)] if name in open_names else x.shape)
        for name, x in inputs.items()]
    kind = helper.np_dtype_to_tensor_dtype(next(iter(inputs.values())).dtype)
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


class OpenLengths(unittest.TestCase):
    def run_model(self, model, inputs):
        with tempfile.TemporaryDirectory(prefix="relaxc-lengths-") as folder:
            path, library = Path(folder) / "m.onnx", Path(folder) / "m.so"
            path.write_bytes(model.SerializeToString())
            done = subprocess.run([RELAXC, path, "-o", library], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return np.asarray(rlx.Model(library, "m").functions["main"](*inputs.values())[0])

    def runtime(self, model, inputs):
        return onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]

    def test_pads(self):
        node = helper.make_node("Pad", ["x", "p", "", "a"], ["y"])
        inputs = {"x": RANDOM.random((3, 4, 5), np.float32), "p": np.array([1, 2, 3, 0]), "a": np.array([0, 2])}
        model = model_of(node, inputs, 18, {"p"})
        model.graph.node[0].input[3] = "a_"
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs.pop("a"), "a_"))
        del model.graph.input[2]
        np.testing.assert_array_equal(self.run_model(model, inputs), self.runtime(model, inputs))

    def test_region(self):
        node = helper.make_node("Resize", ["x", "r", "", "s"], ["y"], mode="linear", axes=[1, 2],
                                coordinate_transformation_mode="tf_crop_and_resize")
        inputs = {"x": RANDOM.random((2, 6, 7), np.float32), "r": np.array([0.1, 0.2, 0.8, 0.9], np.float32)}
        model = model_of(node, inputs, 19, {"r"})
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([4, 5]), "s"))
        np.testing.assert_allclose(self.run_model(model, inputs), ReferenceEvaluator(model).run(None, inputs)[0],
                                   rtol=0, atol=FEW_ROUNDINGS)

    def test_single_points(self):
        theta = RANDOM.random((1, 2, 3), np.float32)
        for size in ([1, 1, 1, 3], [1, 1, 4, 1], [1, 1, 1, 1]):
            model = model_of(helper.make_node("AffineGrid", ["t", "s"], ["y"], align_corners=1), {"t": theta}, 20)
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(size), "s"))
            with np.errstate(divide="ignore"):  # the reference divides by the number of steps
                right = ReferenceEvaluator(model).run(None, {"t": theta})[0]
            np.testing.assert_allclose(self.run_model(model, {"t": theta}), right, rtol=0, atol=FEW_ROUNDINGS)

    def test_integers(self):
        for dtype in (np.int32, np.int64):
            x = np.array([[5, 4, 4, 4, 4, 4], [1, 2, 3, -9, 0, 700]], dtype)
            model = model_of(helper.make_node("ReduceLogSumExp", ["x", "a"], ["y"], keepdims=0), {"x": x}, 18)
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "a"))
            most = x.max(1, keepdims=True)
            right = (np.log(np.exp((x - most).astype(float)).sum(1)) + most[:, 0]).astype(dtype)
            np.testing.assert_array_equal(self.run_model(model, {"x": x}), right)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
