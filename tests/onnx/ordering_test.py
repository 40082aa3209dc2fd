"""Orders, and what is selected by them, next to NumPy: TopK and Unique of sorted, reversed, equal and random rows of every
dtype, in both backends, with dims fixed and open; running sums,
and suppression of boxes by score. NumPy's stable sort says which of equal elements comes first.

Usage: ordering_test.py RELAXC SOURCE_DIR CC [all]
LLVM gets its full time for every fourth model, and every second goes through C; with `all`, all do.
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
from onnx.reference import ReferenceEvaluator

RELAXC, SOURCE, CC = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
ALL = sys.argv[4:] == ["all"]
sys.path.insert(0, str(SOURCE / "bench"))
import rlx  # noqa: E402

DTYPES = (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
          np.uint64)
KINDS = ("random", "few", "sorted", "reversed", "rising", "falling", "equal", "special")


def row(kind, count, dtype, seed=0):
    """`rising` and `falling`: steps of equal elements. `special`: extremes of the dtype, NaN, infinities and zeros of either sign among others."""
    rng = np.random.default_rng(seed + count)
    if np.issubdtype(dtype, np.floating):
        x = rng.standard_normal(count).astype(dtype)
        extremes = [np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal]
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        extremes = [info.min, info.max, 0, 1]
    if kind in ("few", "rising", "falling", "special"):
        chosen = rng.integers(0, 5, count).astype(dtype)
        x = np.where(rng.random(count) < 0.5, rng.choice(np.array(extremes, dtype), count), chosen) \
            if kind == "special" else chosen
    if kind == "equal":
        x = np.full(count, 3, dtype)
    if kind in ("sorted", "rising"):
        x = np.sort(x)
    if kind in ("reversed", "falling"):
        x = np.sort(x)[::-1].copy()
    return x


def order(x, largest):
    """Positions in order: NaN is larger than all numbers, and equal elements keep their order."""
    if not largest:
        return np.argsort(x, kind="stable")
    return len(x) - 1 - np.argsort(x[::-1], kind="stable")[::-1]


class Ordering(unittest.TestCase):
    count = itertools.count()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-ordering-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)

    def functions(self, node, inputs, outputs, constants=(), flags=()):
        """The entry points of both backends, or of LLVM's alone; `inputs`: name -> (dtype, shape), `outputs`: name -> dtype."""
        def info(name, dtype, shape):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        graph = helper.make_graph([node], "g", [info(name, *typed) for name, typed in inputs.items()],
                                  [info(name, dtype, None) for name, dtype in outputs.items()],
                                  [onnx.numpy_helper.from_array(np.array(v), k) for k, v in constants])
        for output in graph.output:
            output.type.tensor_type.ClearField("shape")
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        number = next(self.count)
        stem = self.path / f"m{number}"
        onnx.save(onnx.shape_inference.infer_shapes(model), stem.with_suffix(".onnx"))
        libraries = [stem.with_suffix(".so")]
        self.compile(stem, ".so", *flags, *([] if ALL or (number + number // 4) % 4 == 0 else ["--fast-codegen"]))
        if ALL or (number + number // 2) % 2 == 0:  # not in step with what the tests count through
            libraries.append(self.through_c(stem, flags))
        return [rlx.Model(library, "m").functions["main"] for library in libraries]

    def compile(self, stem, extension, *flags):
        command = [RELAXC, stem.with_suffix(".onnx"), "--name", "m", "-o", stem.with_suffix(extension), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def through_c(self, stem, flags):
        self.compile(stem, ".c", *flags)
        compiled = f"{stem}.c.so"
        subprocess.run([CC, "-std=c99", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-march=native",
                        f"-I{SOURCE}/runtime-lite/include", stem.with_suffix(".c"),
                        RELAXC.parents[1] / "lib/librelax_rt.a", "-lm", "-o", compiled], check=True)
        return compiled

    def check_topk(self, x, k, largest, functions, what, axis=-1):
        right = np.apply_along_axis(order, axis, x, largest).take(range(k), axis)
        for function, backend in zip(functions, ("llvm", "c")):
            arguments = [x] if len(function.inputs) == 1 else [x, np.array([k])]
            values, places = function(*arguments)
            np.testing.assert_array_equal(places, right, f"{what} {backend}")
            np.testing.assert_array_equal(values, np.take_along_axis(x, right, axis), f"{what} {backend}")

    def topk(self, dtype, shape, k, axis=-1, largest=1):
        node = helper.make_node("TopK", ["x", "k"], ["values", "places"], axis=axis, largest=largest)
        return self.functions(node, {"x": (dtype, shape)}, {"values": dtype, "places": np.int64}, [("k", np.array([k]))])

    def test_every_dtype(self):
        for dtype in DTYPES:
            for largest in (0, 1):
                functions = self.topk(dtype, ["n"], 3, largest=largest)
                for kind, count in itertools.product(KINDS, (3, 40, 700, 2000)):
                    self.check_topk(row(kind, count, dtype), 3, largest, functions, (dtype, kind, count, largest))

    def test_every_way_to_select(self):
        """All are sorted, few or many; the bound is of elements or of blocks, and of these the last is not whole."""
        for count, k in ((0, 0), (1, 1), (33, 33), (33, 32), (70, 0), (100, 20), (513, 2), (5000, 15), (5000, 300),
                         (5000, 4999), (20001, 64), (70000, 70000), (70000, 33)):
            functions = self.topk(np.float32, [count], k)
            for kind in KINDS if count < 10000 else ("random", "few"):
                self.check_topk(row(kind, count, np.float32), k, 1, functions, (kind, count, k))

    def test_open_dims(self):
        """n and k are known only when the model runs, so that one function has all ways to select."""
        node = helper.make_node("TopK", ["x", "k"], ["values", "places"], axis=1)
        functions = self.functions(node, {"x": (np.float32, ["rows", "n"]), "k": (np.int64, [1])},
                                   {"values": np.float32, "places": np.int64})
        for count, k in ((0, 0), (5, 3), (5, 5), (100, 100), (100, 7), (3000, 2), (3000, 700), (3000, 0)):
            for kind in KINDS:
                x = np.stack([row(kind, count, np.float32, seed) for seed in range(3)])
                self.check_topk(x, k, 1, functions, (kind, count, k), 1)

    def test_any_axis(self):
        for axis, k in itertools.product((0, 1, 2), (2, 5)):
            shape = [6, 6, 6]
            shape[axis] = 90
            x = row("few", 36 * 90, np.float32).reshape(shape)
            self.check_topk(x, k, 0, self.topk(np.float32, shape, k, axis, 0), (axis, k), axis)

    def test_unique(self):
        for dtype in (np.float32, np.float64, np.int8, np.int32, np.int64):
            for in_order in (0, 1):
                node = helper.make_node("Unique", ["x"], ["values", "first", "inverse", "counts"], sorted=in_order)
                functions = self.functions(node, {"x": (dtype, ["n"])}, {"values": dtype, "first": np.int64,
                                                                         "inverse": np.int64, "counts": np.int64})
                for kind, count in itertools.product(KINDS, (0, 1, 7, 50, 3000)):
                    x = row(kind, count, dtype)
                    values, first, inverse, counts = np.unique(x, True, True, True)
                    if not in_order:
                        rank = np.argsort(first)
                        values, first, counts = values[rank], first[rank], counts[rank]
                        inverse = np.argsort(rank)[inverse]
                    for function, backend in zip(functions, ("llvm", "c")):
                        for found, right in zip(function(x), (values, first, inverse.ravel(), counts)):
                            np.testing.assert_array_equal(found, right, str((dtype, in_order, kind, count, backend)))

    def test_extremes(self):
        """NaN is the extreme, either way; the first of equal ones counts, or the last."""
        for dtype, (kind, function), last in itertools.product(
                (np.float32, np.float16, np.int8, np.uint8, np.int64), (("ArgMax", np.argmax), ("ArgMin", np.argmin)), (0, 1)):
            node = helper.make_node(kind, ["x"], ["y"], axis=1, keepdims=0, select_last_index=last)
            functions = self.functions(node, {"x": (dtype, ["rows", "n"])}, {"y": np.int64})
            for of, count in itertools.product(KINDS, (1, 5, 70, 300)):
                x = np.stack([row(of, count, dtype, seed) for seed in range(4)])
                right = count - 1 - function(x[:, ::-1], axis=1) if last else function(x, axis=1)
                for found in functions:
                    np.testing.assert_array_equal(np.asarray(found(x)).ravel(), right, str((dtype, kind, last, of, count)))

    def test_extremes_of_columns(self):
        for keepdims, last, (kind, function) in itertools.product((0, 1), (0, 1), (("ArgMax", np.argmax), ("ArgMin", np.argmin))):
            node = helper.make_node(kind, ["x"], ["y"], axis=1, keepdims=keepdims, select_last_index=last)
            functions = self.functions(node, {"x": (np.float32, [2, "n", 9, 3])}, {"y": np.int64})
            for of in ("few", "special"):
                x = row(of, 2 * 40 * 27, np.float32).reshape(2, 40, 9, 3)
                right = 39 - function(x[:, ::-1], axis=1) if last else function(x, axis=1)
                for found in functions:
                    np.testing.assert_array_equal(np.asarray(found(x)).ravel(), right.ravel(), str((kind, last, of)))

    def test_running_sums(self):
        x = np.random.default_rng(0).integers(-9, 9, (4, 5, 6)).astype(np.float32)  # sums of integers are exact
        for axis, exclusive, reverse in itertools.product((0, 1, 2), (0, 1), (0, 1)):
            node = helper.make_node("CumSum", ["x", "axis"], ["y"], exclusive=exclusive, reverse=reverse)
            functions = self.functions(node, {"x": (np.float32, ["a", "b", "c"])}, {"y": np.float32}, [("axis", axis)])
            turned = np.flip(x, axis) if reverse else x
            right = np.cumsum(turned, axis) - (turned if exclusive else 0)
            right = np.flip(right, axis) if reverse else right
            for function in functions:
                np.testing.assert_array_equal(np.asarray(function(x)).reshape(x.shape), right, str((axis, exclusive)))

    def test_suppression(self):
        """Next to the reference of the onnx package, which compares boxes one by one; scores of equal boxes differ."""
        rng = np.random.default_rng(0)
        for count, threshold in ((5, 0.0), (40, 0.3), (300, 0.0), (300, 0.95)):
            low = rng.random((2, count, 2)).astype(np.float32)
            boxes = np.concatenate([low, low + rng.random((2, count, 2)).astype(np.float32) * np.float32(0.3)], 2)
            scores = rng.permutation(2 * 3 * count).reshape(2, 3, count).astype(np.float32) / np.float32(6 * count)
            node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["rows"])
            constants = [("most", np.array([20])), ("iou", np.array([0.4], np.float32)),
                         ("score", np.array([threshold], np.float32))]
            functions = self.functions(node, {"boxes": (np.float32, boxes.shape), "scores": (np.float32, scores.shape)},
                                       {"rows": np.int64}, constants)
            model = onnx.load(self.path / f"m{next(self.count) - 1}.onnx")
            right = ReferenceEvaluator(model).run(None, {"boxes": boxes, "scores": scores})[0]
            for function in functions:
                np.testing.assert_array_equal(np.asarray(function(boxes, scores)).reshape(-1, 3), right)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
