"""quantized.py: what ONNX Runtime's quantizer writes. Results in integers may differ by one quantum: the order of the
float operations around a rounding is not part of an operator's meaning."""

import itertools

import numpy as np
from harness import Const, node, reference

rng = np.random.default_rng(4)
KINDS = (np.uint8, np.int8)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(kind, *shape):
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


def scale(value):
    return Const(np.float32(value))


def zero(kind, value=3):
    return Const(np.array(value if kind == np.int8 else value + 120, kind))


def elementwise():
    for kind in KINDS:
        a, b = ints(kind, 2, 3, 4), ints(kind, 3, 4)
        pair = [a, scale(0.02), zero(kind), b, scale(0.03), zero(kind, -2)]
        one = pair[:3]
        for op in ("QLinearAdd", "QLinearMul"):
            yield node(op, [*pair, scale(0.05), zero(kind, 5)], quanta=1, name=f"{op} {kind.__name__}")
            nothing = Const(np.array(0, kind))
            explicit = node(op, [a, scale(0.02), nothing, b, scale(0.03), nothing, scale(0.05), nothing])
            yield node(op, [a, scale(0.02), None, b, scale(0.03), None, scale(0.05), None], quanta=1,
                       expected=reference(explicit), name=f"{op} {kind.__name__} without zero points")
        yield node("QLinearAdd", [*pair, scale(0.05), zero(kind, 5)], quanta=1, symbolic=True)
        yield node("QLinearSigmoid", [*one, scale(1 / 256), zero(kind)], quanta=1, name=f"QLinearSigmoid {kind.__name__}")
        for alpha in (0.01, 0.3):
            yield node("QLinearLeakyRelu", [*one, scale(0.03), zero(kind, 7)], {"alpha": alpha}, quanta=1)
        for axis, opset in ((-1, 13), (1, 13), (1, 12), (2, 12), (0, 12)):
            yield node("QLinearSoftmax", [*one, scale(1 / 256), zero(kind, -120 if kind == np.uint8 else -128)],
                       {"axis": axis, "opset": opset}, quanta=1)
        yield node("QLinearWhere", [rng.integers(0, 2, (2, 3, 4)).astype(bool), *pair, scale(0.025), zero(kind)],
                   quanta=1, name=f"QLinearWhere {kind.__name__}")
        parts = [scale(0.03), zero(kind, 2), *pair[:3], a[:, :2].copy(), scale(0.01), zero(kind, 9)]
        yield node("QLinearConcat", parts, {"axis": 1}, quanta=1)
        yield node("QLinearConcat", parts, {"axis": -2}, quanta=1, symbolic=True)
        mean = ((a.astype(np.float64) - 3) * 0.02).mean((0, 2), keepdims=True)
        if kind == np.int8:
            y = np.clip(np.round(mean / 0.01) + 5, -128, 127).astype(np.int8)
            yield node("QLinearReduceMean", [a, scale(0.02), zero(kind), scale(0.01), zero(kind, 5)],
                       {"axes": [0, 2], "keepdims": 1}, quanta=1, expected=[y])


def pools():
    for kind, last in itertools.product(KINDS, (0, 1)):
        x = ints(kind, 2, 6, 7, 3)
        given = x if last else x.transpose(0, 3, 1, 2).copy()
        tail = [scale(0.02), zero(kind), scale(0.015), zero(kind, 6)]
        # Not both: where a window ends behind the padding, ONNX Runtime counts what AveragePool does not since opset 19.
        for include, ceil in ((0, 0), (0, 1), (1, 0)):
            attrs = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "count_include_pad": include,
                     "ceil_mode": ceil, "channels_last": last}
            yield node("QLinearAveragePool", [given, *tail], attrs, quanta=1)
        yield node("QLinearGlobalAveragePool", [given, *tail], {"channels_last": last}, quanta=1)
        attrs = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2]}
        if last:
            yield node("NhwcMaxPool", [x], attrs)
        # Weights of 7 bits: with more, ONNX Runtime saturates sums of this operator on CPUs without dot products of bytes.
        w, b = ints(np.int8, 4, 3, 3, 3) // 2, rng.integers(-500, 500, 4).astype(np.int32)
        conv = {"pads": [1, 1, 0, 0], "strides": [1, 2], "channels_last": last}
        yield node("QLinearConv", [given, scale(0.02), zero(kind), Const(w), Const(np.abs(f32(4)) * 0.01 + 0.002),
                                   Const(np.zeros(4, np.int8)), scale(0.3), zero(kind, 1), Const(b)], conv, quanta=1)


def products():
    for kind, columns in itertools.product(KINDS, (False, True)):
        title = f"{kind.__name__}, by column {columns}"
        a, b = ints(np.uint8, 4, 5), ints(kind, 5, 3)
        b_scale = Const(np.abs(f32(3)) * 0.01) if columns else scale(0.01)
        b_zero = Const(ints(np.int8, 3).astype(kind) // 8) if columns else zero(kind)
        c = rng.integers(-3000, 3000, 3).astype(np.int32)
        for ta, tb in itertools.product((0, 1), (0, 1)):
            given = [a.T.copy() if ta else a, scale(0.02), zero(np.uint8), Const(b.T.copy() if tb else b), b_scale, b_zero]
            attrs = {"transA": ta, "transB": tb, "alpha": 0.5}
            yield node("QGemm", [*given, Const(c), scale(0.05), zero(np.uint8)], attrs, quanta=1,
                       name=f"QGemm {title} {ta}{tb}")
            yield node("QGemm", [*given, Const(c)], attrs, name=f"QGemm to float {title} {ta}{tb}")
        yield node("QGemm", given, attrs, name=f"QGemm without C {title}")
        # One quantum of the dynamic quantization may go either way, so these are bounded by it times the weights.
        yield node("DynamicQuantizeMatMul", [f32(2, 4, 5), Const(b), b_scale, b_zero, Const(f32(3))], atol=5e-3,
                   name=f"DynamicQuantizeMatMul {title}")
        yield node("DynamicQuantizeMatMul", [f32(4, 5), Const(b), b_scale], atol=5e-3,
                   name=f"DynamicQuantizeMatMul alone {title}")
        for x in (ints(np.uint8, 2, 4, 5), ints(np.int8, 4, 5) if kind == np.int8 else ints(np.uint8, 4, 5)):
            yield node("MatMulIntegerToFloat", [x, Const(b), scale(0.02), b_scale, Const(np.array(3, x.dtype)), b_zero,
                                                Const(f32(3))], name=f"MatMulIntegerToFloat {title} {x.dtype}")
        yield node("MatMulIntegerToFloat", [a, Const(b), scale(0.02), b_scale], name=f"MatMulIntegerToFloat plain {title}",
                   symbolic=True)
    yield node("MatMulInteger16", [ints(np.int16, 2, 3), ints(np.int16, 3, 4)])
    a, b = ints(np.int8, 2, 3), ints(np.int8, 3)
    yield node("MulInteger", [a, Const(np.array(2, np.int8)), b, Const(np.array(-3, np.int8))],
               expected=[(a.astype(np.int32) - 2) * (b.astype(np.int32) + 3)])
    yield node("ReduceSumInteger", [a], {"axes": [1], "keepdims": 0}, expected=[a.sum(1, dtype=np.int32)])


def linear():
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        x, z = ints(kind, 3, 4), Const(np.array(7, kind))
        yield node("DequantizeLinear", [x, scale(0.02), z], name=f"DequantizeLinear {kind.__name__}")
        yield node("QuantizeLinear", [100 * f32(3, 4), scale(0.7), z], name=f"QuantizeLinear {kind.__name__}")
    yield node("QuantizeLinear", [100 * f32(3, 4), scale(0.7)], name="QuantizeLinear without a zero point")
    for axis in (0, 1, -1):
        n = (3, 4)[axis]
        s, z = Const(np.abs(f32(n)) + 0.1), Const(ints(np.int8, n))
        yield node("DequantizeLinear", [ints(np.int8, 3, 4), s, z], {"axis": axis})
        yield node("QuantizeLinear", [30 * f32(3, 4), s, z], {"axis": axis})


def embeddings():
    ids, segments = rng.integers(0, 10, (2, 5), np.int32), rng.integers(0, 2, (2, 5), np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    tables = [Const(ints(np.uint8, n, 8)) for n in (10, 7, 2)]
    gamma, beta = Const(ints(np.uint8, 8)), Const(ints(np.uint8, 8))
    scales, zeros = [scale(0.01 * (i + 1)) for i in range(5)], [zero(np.uint8, i) for i in range(5)]
    yield node("QEmbedLayerNormalization", [ids, segments, *tables, gamma, beta, mask, *scales, *zeros], outputs=2,
               rtol=1e-4, atol=1e-5)


def cases():
    yield from elementwise()
    yield from pools()
    yield from products()
    yield from linear()
    yield from embeddings()
