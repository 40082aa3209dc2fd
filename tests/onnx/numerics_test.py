"""docs/numerics.md: every operator of the op table is on the page, and what the page says of NaN, infinities, signed
zeros, overflow and division by zero is what models give, next to NumPy or the reference of the onnx package.

Usage: numerics_test.py RELAXC SOURCE_DIR
"""

import itertools
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RELAXC, SOURCE = sys.argv[1:3]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

FLOATS = (np.float32, np.float64, np.float16)
INTEGERS = (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64)
INF, NAN = np.inf, np.nan


def specials(dtype):
    info = np.finfo(dtype)
    tiny, least, most = info.tiny, info.smallest_subnormal, info.max
    values = [0.0, -0.0, INF, -INF, NAN, 1, -1, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 2, -2, 3, -3, tiny, -tiny, least,
              -least, most, -most, info.eps, 10, -10, 90, -90, 800, -800]
    with np.errstate(all="ignore"):
        return np.array(values, dtype)


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def erf(x):
    import math
    return np.array([math.erf(v) for v in x.ravel()]).reshape(x.shape)


UNARY = {  # operator: function of float64, or of longdouble
    "Abs": np.abs, "Neg": np.negative, "Sign": np.sign, "Floor": np.floor, "Ceil": np.ceil, "Round": np.round,
    "Sqrt": lambda x: np.sqrt(x.astype(np.float64)), "Reciprocal": lambda x: 1 / x, "Exp": np.exp,
    "Log": np.log, "Sin": np.sin, "Cos": np.cos,
    "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh,
    "Tanh": np.tanh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh, "Erf": erf, "Sigmoid": sigmoid,
    "Softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), "Softsign": lambda x: x / (1 + np.abs(x)),
    "Relu": lambda x: np.maximum(x, 0),
}
EXACT = {"Abs", "Neg", "Sign", "Floor", "Ceil", "Round", "Sqrt", "Relu"}
FREE_ZERO = {"Relu"}  # the sign of a zero is open


class Numerics(unittest.TestCase):
    count = itertools.count()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-numerics-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)

    def run_nodes(self, nodes, inputs, outputs, constants=(), flags=()):
        """What the compiled model gives: (name, array) inputs, (name, dtype) outputs."""
        def info(name, dtype, shape):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        graph = helper.make_graph(
            nodes, "g", [info(name, x.dtype, x.shape) for name, x in inputs.items()],
            [info(name, dtype, None) for name, dtype in outputs], [numpy_helper.from_array(v, k) for k, v in constants])
        for output in graph.output:
            output.type.tensor_type.ClearField("shape")
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        file, library = self.path / "m.onnx", self.path / f"m{next(self.count)}.so"
        onnx.save(onnx.shape_inference.infer_shapes(model), file)
        done = subprocess.run([RELAXC, file, "-o", library, *flags], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(zip([name for name, _ in outputs], rlx.Model(library).functions["main"](*inputs.values())))

    def same(self, found, right, what, exact=True, free_zero=False, tolerance=None):
        """NaN for NaN, infinity for infinity, and signs of zeros."""
        right = right.astype(found.dtype)
        wide, other = found.astype(np.float64), right.astype(np.float64)
        self.assertEqual(found.shape, right.shape, what)
        wrong = np.isnan(wide) != np.isnan(other)
        special = np.isinf(other) | (other == 0)
        if exact:
            wrong |= (wide != other) & ~np.isnan(other)
        else:
            near = np.abs(wide - other) <= tolerance * np.abs(other) + float(np.finfo(found.dtype).smallest_subnormal)
            wrong |= special & (wide != other) & ~(other == 0) | ~special & ~near & ~np.isnan(other)
        if not free_zero:
            wrong |= (other == 0) & (wide == 0) & (np.signbit(wide) != np.signbit(other))
        if wrong.any():
            places = np.argwhere(wrong)[:4]
            self.fail(f"{what}: " + "; ".join(
                f"at {tuple(map(int, p))}: {found[tuple(p)]}, right is {right[tuple(p)]}" for p in places))

    def test_the_page_names_every_operator(self):
        table = set(re.findall(r"^\| `([^`]+)`", (Path(SOURCE) / "docs/operators.md").read_text(), re.M))
        page = (Path(SOURCE) / "docs/numerics.md").read_text()
        named = re.findall(r"`([a-z][a-z0-9_.]*)`", "\n".join(re.findall(r"^\|([^|]*)\|", page, re.M)))
        self.assertGreater(len(table), 150)
        self.assertEqual(table - set(named), set(), "not on the page")
        self.assertEqual({name for name in named if named.count(name) > 1}, set(), "twice on the page")

    def test_unary(self):
        with np.errstate(all="ignore"):
            for dtype in FLOATS:
                x = specials(dtype)
                nodes = [helper.make_node(kind, ["x"], [kind]) for kind in UNARY]
                for flags in ([], ["-O0"]):
                    found = self.run_nodes(nodes, {"x": x}, [(kind, dtype) for kind in UNARY], flags=flags)
                    for kind, function in UNARY.items():
                        right = function(x.astype(np.longdouble if kind != "Erf" else np.float64))
                        with self.subTest(kind, dtype=np.dtype(dtype), flags=flags):
                            for place in range(len(x)):
                                self.same(found[kind][place:place + 1], right[place:place + 1], f"{kind} of {x[place]}",
                                          kind in EXACT, kind in FREE_ZERO, 4 * float(np.finfo(dtype).eps))

    def binary(self, kinds, a, b, dtype, **attributes):
        """All pairs of the values, by one model."""
        x, y = np.repeat(a, len(b)), np.tile(b, len(a))
        nodes = [helper.make_node(kind, ["x", "y"], [kind], **attributes) for kind in kinds]
        return x, y, self.run_nodes(nodes, {"x": x, "y": y}, [(kind, dtype) for kind in kinds])

    def test_binary_floats(self):
        right = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power,
                 "Max": np.maximum, "Min": np.minimum}
        with np.errstate(all="ignore"):
            for dtype in FLOATS:
                values = specials(dtype)
                x, y, found = self.binary(right, values, values, dtype)
                wide = np.longdouble if dtype != np.float64 else dtype
                for kind, function in right.items():
                    with self.subTest(kind, dtype=np.dtype(dtype)):
                        exact = kind != "Pow"
                        computed = wide if not exact else dtype
                        self.same(found[kind], function(x.astype(computed), y.astype(computed)), kind, exact,
                                  kind in ("Max", "Min"), 8 * float(np.finfo(dtype).eps))
                x, y, found = self.binary(["Mod"], values, values, dtype, fmod=1)
                self.same(found["Mod"], np.fmod(x, y), "fmod")
                x, y, found = self.binary(["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"], values, values,
                                          bool)
                for kind, function in (("Equal", np.equal), ("Less", np.less), ("LessOrEqual", np.less_equal),
                                       ("Greater", np.greater), ("GreaterOrEqual", np.greater_equal)):
                    np.testing.assert_array_equal(found[kind], function(x, y), kind)

    def test_integers_wrap_and_division_by_zero_gives_zero(self):
        for dtype in INTEGERS:
            info = np.iinfo(dtype)
            values = np.array([0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1,
                               *([-1, -2, -7] if info.min else [])], dtype)
            x, y, found = self.binary(["Add", "Sub", "Mul", "Div"], values, values, dtype)
            bits = info.bits

            def wrap(value):
                value &= (1 << bits) - 1
                return value - (1 << bits) if info.min and value >> bits - 1 else value

            def divide(a, b):
                return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            for kind, function in (("Add", lambda a, b: a + b), ("Sub", lambda a, b: a - b),
                                   ("Mul", lambda a, b: a * b), ("Div", divide)):
                expected = np.array([wrap(function(int(a), int(b))) for a, b in zip(x, y)], dtype)
                np.testing.assert_array_equal(found[kind], expected, f"{kind} of {np.dtype(dtype)}")
            x, y, found = self.binary(["Mod"], values, values, dtype)
            expected = np.array([0 if b == 0 else int(a) % int(b) for a, b in zip(x.tolist(), y.tolist())], dtype)
            np.testing.assert_array_equal(found["Mod"], expected, f"Mod of {np.dtype(dtype)}")

    def test_reductions(self):
        with np.errstate(all="ignore"):
            for dtype in FLOATS:
                rows = np.array([[1, 2, 3], [NAN, 1, 2], [1, NAN, 3], [1, 2, NAN], [INF, 1, 2], [-INF, 1, 2],
                                 [INF, -INF, 1], [-INF, -INF, -INF], [0.0, -0.0, 0.0], [NAN, NAN, NAN],
                                 [INF, INF, 1], [5, 5, 1]], dtype)
                kinds = {"ReduceSum": np.sum, "ReduceProd": np.prod, "ReduceMax": np.max, "ReduceMin": np.min,
                         "ReduceMean": np.mean}
                nodes = [helper.make_node(kind, ["x", "axes"], [kind], keepdims=0) for kind in kinds]
                nodes += [helper.make_node("ArgMax", ["x"], ["ArgMax"], axis=1, keepdims=0),
                          helper.make_node("ArgMin", ["x"], ["ArgMin"], axis=1, keepdims=0),
                          helper.make_node("ArgMax", ["x"], ["Last"], axis=1, keepdims=0, select_last_index=1),
                          helper.make_node("Softmax", ["x"], ["Softmax"], axis=1),
                          helper.make_node("LogSoftmax", ["x"], ["LogSoftmax"], axis=1),
                          helper.make_node("ReduceLogSumExp", ["x", "axes"], ["LogSumExp"], keepdims=0),
                          helper.make_node("Hardmax", ["x"], ["Hardmax"], axis=1),
                          helper.make_node("TopK", ["x", "k"], ["TopK", "TopKIndices"], axis=1),
                          helper.make_node("TopK", ["x", "k"], ["BottomK", "BottomKIndices"], axis=1, largest=0),
                          helper.make_node("CumSum", ["x", "one"], ["CumSum"])]
                outputs = [(kind, dtype) for kind in (*kinds, "Softmax", "LogSoftmax", "LogSumExp", "Hardmax", "TopK",
                                                      "BottomK", "CumSum")]
                outputs += [(kind, np.int64) for kind in ("ArgMax", "ArgMin", "Last", "TopKIndices", "BottomKIndices")]
                constants = [("axes", np.array([1])), ("k", np.array([3])), ("one", np.array(1))]
                for flags in ([], ["-O0"]):
                    found = self.run_nodes(nodes, {"x": rows}, outputs, constants, flags)
                    for kind, function in kinds.items():
                        self.same(found[kind], function(rows.astype(np.float64), axis=1), kind, False, True,
                                  4 * float(np.finfo(dtype).eps))
                    wide = rows.astype(np.float64)
                    np.testing.assert_array_equal(found["ArgMax"], np.argmax(rows, axis=1))
                    np.testing.assert_array_equal(found["ArgMin"], np.argmin(rows, axis=1))
                    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
                    softmax = powers / powers.sum(axis=1, keepdims=True)
                    self.same(found["Softmax"], softmax, "Softmax", False, True, 8 * float(np.finfo(dtype).eps))
                    self.assertEqual(np.isnan(found["LogSoftmax"]).tolist(), np.isnan(softmax).tolist())
                    ascending = np.argsort(wide, axis=1, kind="stable")
                    np.testing.assert_array_equal(found["BottomKIndices"], ascending)
                    last_first = np.array([
                        sorted(range(3), key=lambda j: (not np.isnan(row[j]), 0 if np.isnan(row[j]) else -row[j], j))
                        for row in wide])
                    np.testing.assert_array_equal(found["TopKIndices"], last_first)
                    np.testing.assert_array_equal(found["Hardmax"].argmax(axis=1), np.argmax(rows, axis=1))
                    self.same(found["CumSum"], np.cumsum(wide, axis=1), "CumSum", False, True,
                              4 * float(np.finfo(dtype).eps))

    def test_empty_reductions(self):
        x = np.zeros((2, 0), np.float32)
        kinds = {"ReduceSum": 0.0, "ReduceProd": 1.0, "ReduceMax": -INF, "ReduceMin": INF, "ReduceMean": NAN,
                 "ReduceLogSumExp": -INF}
        nodes = [helper.make_node(kind, ["x", "axes"], [kind], keepdims=0) for kind in kinds]
        found = self.run_nodes(nodes, {"x": x}, [(kind, np.float32) for kind in kinds], [("axes", np.array([1]))])
        for kind, value in kinds.items():
            self.same(found[kind], np.full(2, value), kind)

    def test_maximum_pools(self):
        for dtype in FLOATS:
            x = np.array([[[1, 2, NAN, 3, -INF, -INF, INF, NAN, NAN, 0, -0.0, 5]]], dtype)
            nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2]),
                     helper.make_node("MaxPool", ["x"], ["z", "at"], kernel_shape=[2], strides=[2])]
            for flags in ([], ["-O0"]):
                found = self.run_nodes(nodes, {"x": x}, [("y", dtype), ("z", dtype), ("at", np.int64)], flags=flags)
                self.same(found["y"], np.maximum(x[..., :-1], x[..., 1:]), "MaxPool", free_zero=True)
                self.same(found["z"], np.maximum(x[..., ::2], x[..., 1::2]), "MaxPool", free_zero=True)
                self.assertEqual(found["at"].ravel().tolist(), [1, 2, 4, 7, 8, 11])

    def test_clip_and_selection(self):
        for dtype in FLOATS:
            x = specials(dtype)
            nodes = [helper.make_node("Clip", ["x", "low", "high"], ["clip"]),
                     helper.make_node("LeakyRelu", ["x"], ["leaky"], alpha=0.5),
                     helper.make_node("ThresholdedRelu", ["x"], ["thresholded"], alpha=1.0),
                     helper.make_node("Elu", ["x"], ["elu"])]
            found = self.run_nodes(nodes, {"x": x}, [(n, dtype) for n in ("clip", "leaky", "thresholded", "elu")],
                                   [("low", np.array(-1.5, dtype)), ("high", np.array(2, dtype))])
            self.same(found["clip"], np.clip(x, dtype(-1.5), dtype(2)), "Clip")
            with np.errstate(all="ignore"):
                self.same(found["leaky"], np.where(x < 0, x * dtype(0.5), x), "LeakyRelu")
                self.same(found["thresholded"], np.where(x > 1, x, 0).astype(dtype), "ThresholdedRelu", free_zero=True)
                self.assertEqual(np.isnan(found["elu"]).tolist(), np.isnan(x).tolist())

    def test_quantize(self):
        x = specials(np.float32)
        for dtype in (np.uint8, np.int8, np.uint16, np.int16):
            info, zero = np.iinfo(dtype), 3
            constants = [("scale", np.array(0.5, np.float32)), ("zero", np.array(zero, dtype))]
            nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
                     helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"])]
            found = self.run_nodes(nodes, {"x": x}, [("q", dtype), ("d", np.float32)], constants)
            scaled = x.astype(np.float64) * 2
            rounded = np.round(np.where(np.isnan(x), 0, scaled))
            right = np.where(np.isnan(x), zero, np.clip(rounded + zero, info.min, info.max))
            np.testing.assert_array_equal(found["q"].astype(np.int64), right.astype(np.int64), str(dtype))
            np.testing.assert_array_equal(found["d"], ((right - zero) * 0.5).astype(np.float32), str(dtype))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
