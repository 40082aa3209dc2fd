"""misc.py: the rest of com.microsoft."""

import itertools
import math

import numpy as np
from harness import Const, node

rng = np.random.default_rng(9)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def borrowed():
    x = f32(3, 4)
    for mode in ("constant", "reflect", "edge"):
        yield node("Pad", [x, np.array([1, 0, 2, 1], np.int64)], {"mode": mode}, fixed=True)
    yield node("Pad", [x, Const(np.array([1, 0, 2, 1], np.int64)), Const(np.float32(3.5).reshape(1))], name="Pad by a value")
    for upper, k in itertools.product((0, 1), (-1, 0, 2)):
        yield node("Trilu", [f32(2, 4, 5), Const(np.array(k, np.int64))], {"upper": upper}, name=f"Trilu {upper} {k}")
    yield node("GatherND", [f32(2, 3, 4), np.array([[0, 1], [1, -1]], np.int64)], fixed=True)
    for mode, padding, corners in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"),
                                                    (0, 1)):
        yield node("GridSample", [f32(1, 2, 4, 5), rng.uniform(-1.3, 1.3, (1, 3, 3, 2)).astype(np.float32)],
                   {"mode": mode, "padding_mode": padding, "align_corners": corners}, rtol=1e-4, atol=1e-5)


def made():
    for kind in (np.float32, np.int64, np.int32):
        yield node("Range", [Const(np.array(v, kind)) for v in (1, 10, 3)], name=f"Range {kind.__name__}")
    yield node("Range", [np.array(2, np.int64), np.array(7, np.int64)], name="Range without a step")
    yield node("Range", [np.array([2], np.int64), np.array([9], np.int64), np.array([2], np.int64)], name="Range of lists",
               fixed=True)
    for axis in (0, 1, -1):
        yield node("ExpandDims", [f32(2, 3), Const(np.array(axis, np.int32))], name=f"ExpandDims {axis}")
    x = np.array([3, 1, 3, 2, 1, 3], np.float32)
    yield node("Unique", [x], outputs=3)
    yield node("Unique", [x], outputs=3, symbolic=True)
    for dim, step in ((-1, 1), (-1, 2)):
        yield node("UnfoldTensor", [f32(2, 3, 7)], {"dim": dim, "size": 3, "step": step})
    y = f32(2, 5, 3)
    slices = np.stack([y[:, i : i + 2] for i in range(0, 4, 2)], 1).transpose(0, 1, 3, 2)
    yield node("UnfoldTensor", [y], {"dim": 1, "size": 2, "step": 2}, expected=[slices])


def matrices():
    a = f32(2, 4, 4) + 3 * np.eye(4, dtype=np.float32)
    a[0, 0, 0] = 0  # the first pivot is in another row
    yield node("Inverse", [a], rtol=1e-4, atol=1e-5)
    yield node("Inverse", [f32(3, 3)], rtol=1e-3, atol=1e-4, symbolic=True)
    yield node("Inverse", [a.astype(np.float64)], name="Inverse in double")
    for metric in ("euclidean", "sqeuclidean"):
        yield node("CDist", [f32(3, 5), f32(4, 5)], {"metric": metric}, rtol=1e-4, atol=1e-5)
    a, b = f32(2, 3, 2), f32(2, 3, 2)
    ac, bc = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    for op, product in (("ComplexMul", ac * bc), ("ComplexMulConj", ac * bc.conj())):
        yield node(op, [a, b], expected=[np.stack([product.real, product.imag], -1).astype(np.float32)])


def rest():
    x = f32(2, 3)
    bad = x.copy()
    bad[0, 1] = np.inf
    for operands, attrs, fine in (([x], {}, True), ([x, bad], {}, False), ([bad], {"isnan_only": 1}, True),
                                  ([bad], {"isinf_only": 1}, False)):
        yield node("IsAllFinite", operands, attrs, expected=[np.array(fine)], name=f"IsAllFinite {len(operands)} {attrs}")
    table, ids = f32(5, 4), np.array([[1, 4], [0, 0]], np.int64)
    yield node("TorchEmbedding", [table, ids], expected=[table[ids]])
    bias, residual = f32(3), f32(2, 3)
    yield node("BiasDropout", [x, bias, residual], expected=[x + bias + residual])


def crops():
    rois = np.array([[0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], [-0.2, 0.3, 0.5, 1.4], [0.9, 0.9, 0.1, 0.2]], np.float32)
    for mode, (h, w), value in itertools.product(("bilinear", "nearest"), ((3, 4), (1, 2)), (0.0, -7.0)):
        yield node("CropAndResize", [f32(2, 3, 6, 5), rois, np.array([0, 1, 1, 0], np.int32),
                                     Const(np.array([h, w], np.int32))],
                   {"mode": mode, "extrapolation_value": value}, name=f"CropAndResize {mode} {h} {w} {value}",
                   rtol=1e-4, atol=1e-5)


def slices():
    """Backward slices that begin before the axis: ONNX clamps their start to its first element."""
    x = f32(4, 3)
    for start in (-100, -5, -4, -1, 0, 3, 100):
        for axis, step in ((0, -1), (0, -3), (1, -2)):
            lists = [np.array([v], np.int64) for v in (start, -100, axis, step)]
            for kind in (Const, np.asarray):
                yield node("Slice", [x, kind(lists[0]), *map(Const, lists[1:])], domain="", fixed=kind is not Const,
                           name=f"Slice {start} {axis} {step} {'run' if kind is not Const else 'known'}")


def complement():
    """Erfc, which ONNX Runtime does not have either: to the last digits where it is tiny."""
    x = np.concatenate([np.linspace(-6, 9, 241), [np.inf, -np.inf, np.nan, 0.0]])
    for kind, rtol in ((np.float32, 3e-7), (np.float64, 2e-12), (np.float16, 1e-3)):
        values = x.astype(kind)
        exact = np.array([math.erfc(v) for v in values.astype(np.float64)])
        yield node("Erfc", [values], domain="", expected=[exact.astype(kind)], rtol=rtol, atol=1e-38,
                   name=f"Erfc of {kind.__name__}")


def cases():
    for family in (borrowed, made, matrices, rest, crops, slices, complement):
        yield from family()
