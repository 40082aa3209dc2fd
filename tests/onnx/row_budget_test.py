"""row_budget_test.py: networks of floats that run a few rows at a time (--ram-budget) give what they give as a whole.

Networks with channels second, as ONNX has them, are compiled without a budget and with some, for this machine and as the
C of a Cortex-M4's schedules, and called on the same numbers: convolutions with strides, dilations, groups and padding of
each side, both pools, residual sums and concatenations. Results are ONNX Runtime's within rounding, and those of the C to
the bit, since kernels without vectors keep the order of sums. The arenas must be what was asked for.

Usage: row_budget_test.py RELAXC SOURCE_DIR
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RELAXC, SOURCE = Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

MNIST = Path(os.environ.get("RELAXC_MODELS", "")) / "mnist-8/model.onnx"


class Network:
    """A model of one input [1, C, H, W] as it grows; values are names."""

    def __init__(self, *shape):
        self.rng, self.nodes, self.constants, self.shape, self.count = np.random.default_rng(4), [], [], shape, itertools.count()

    def op(self, kind, *operands, **attrs):
        name = f"v{next(self.count)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attrs))
        return name

    def constant(self, *shape, scale=1.0):
        name = f"c{next(self.count)}"
        values = (self.rng.standard_normal(shape) * scale).astype(np.float32)
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x, inputs, outputs, size, group=1, relu=True, **attrs):
        terms = inputs // group * size * size
        weight = self.constant(outputs, inputs // group, size, size, scale=(2 / terms) ** 0.5)
        y = self.op("Conv", x, weight, self.constant(outputs), group=group, **attrs)
        return self.op("Relu", y) if relu else y

    def save(self, path, *results):
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(self.nodes, "g", [given], made, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def plain(path):
    """As LeNet: one channel, a pool behind each convolution, a product of what is left."""
    n = Network(1, 1, 28, 28)
    y = n.op("MaxPool", n.conv("x", 1, 8, 5, pads=[2, 2, 2, 2]), kernel_shape=[2, 2], strides=[2, 2])
    y = n.op("AveragePool", n.conv(y, 8, 16, 5, pads=[2, 2, 2, 2]), kernel_shape=[3, 3], strides=[3, 3], pads=[1, 1, 0, 0])
    n.save(path, n.op("MatMul", n.op("Flatten", y), n.constant(16 * 5 * 5, 10, scale=0.1)))


def separable(path):
    """As MobileNet: three channels, depthwise convolutions with strides, a residual sum, a mean of all pixels."""
    n = Network(1, 3, 40, 36)
    y = n.conv("x", 3, 8, 3, strides=[2, 2], pads=[0, 0, 1, 1])
    y = n.conv(n.conv(y, 8, 8, 3, group=8, pads=[1, 1, 1, 1]), 8, 16, 1)
    z = n.conv(n.conv(y, 16, 16, 3, group=16, pads=[1, 1, 1, 1]), 16, 16, 1, relu=False)
    y = n.op("Clip", n.op("Add", y, z), "", "")
    y = n.conv(n.conv(y, 16, 16, 3, group=16, strides=[2, 2], pads=[1, 1, 1, 1]), 16, 24, 1)
    n.save(path, n.op("Flatten", n.op("GlobalAveragePool", y)))


def branching(path):
    """Padding of each side, dilations, two results, parts side by side, and pools whose windows overlap."""
    n = Network(1, 2, 31, 20)
    y = n.conv("x", 2, 6, 3, pads=[1, 0, 2, 1])
    a = n.conv(y, 6, 4, 3, dilations=[2, 2], pads=[2, 2, 2, 2])
    b = n.op("MaxPool", y, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    y = n.op("Concat", a, n.op("Sigmoid", b), axis=1)
    c = n.op("AveragePool", y, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1)
    n.save(path, n.conv(c, 10, 3, 1), n.conv(y, 10, 2, 3, strides=[3, 1]))


class RowBudgets(unittest.TestCase):
    def entry(self, folder, model, *flags, through_c=False):
        """The entry of a library, and its arena."""
        library = Path(folder) / "libmodel.so"
        if through_c:
            target = ["--target", "cortex-m4", "-O3"]
            subprocess.run([RELAXC, model, *target, "-o", "model.c", *flags], cwd=folder, check=True, capture_output=True)
            subprocess.run(["cc", "-std=c99", "-O1", "-ffp-contract=off", "-fPIC", "-shared", f"-I{SOURCE}/runtime-lite/include",
                            "model.c", RELAXC.parents[1] / "lib/librelax_rt.a", "-lm", "-o", library],
                           cwd=folder, check=True, capture_output=True)
        else:
            subprocess.run([RELAXC, model, "-o", library, "--name", "model", *flags], check=True, capture_output=True)
        header = (Path(folder) / ("model.h" if through_c else "libmodel.h")).read_text()
        entry = next(iter(rlx.Model(str(library), "model").functions.values()))
        return entry, int(re.search(r"ARENA_BYTES (\d+)", header)[1])

    def outputs(self, model, x, *flags, through_c=False):
        with tempfile.TemporaryDirectory() as folder:
            entry, arena = self.entry(folder, model, *flags, through_c=through_c)
            return [np.array(result) for result in entry(x)], arena

    def compare(self, model, x, most):
        """Whole and by rows; `most` is the share of the arena that is asked for."""
        right = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, {self.input: x})
        for through_c in (False, True):
            wanted, whole = self.outputs(model, x, through_c=through_c)
            for budget in (int(whole * most), "min"):
                given, arena = self.outputs(model, x, f"--ram-budget={budget}", through_c=through_c)
                self.assertLess(arena, whole)
                if budget != "min":
                    self.assertLessEqual(arena, budget)
                for a, b, c in zip(given, wanted, right, strict=True):
                    np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-4)
                    if through_c:
                        np.testing.assert_array_equal(a, b)

    def try_network(self, make, most):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.onnx"
            make(path)
            self.input = "x"
            shape = [dim.dim_value for dim in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
            self.compare(path, np.random.default_rng(5).standard_normal(shape).astype(np.float32), most)

    def test_pools_and_a_product(self):
        self.try_network(plain, 0.4)

    def test_depthwise_layers_and_a_residual_sum(self):
        self.try_network(separable, 0.5)

    def test_branches_with_uneven_padding(self):
        self.try_network(branching, 0.5)

    @unittest.skipUnless(MNIST.exists(), "needs RELAXC_MODELS")
    def test_a_real_network(self):
        self.input = "Input3"
        self.compare(MNIST, np.random.default_rng(6).uniform(0, 255, (1, 1, 28, 28)).astype(np.float32), 0.5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
