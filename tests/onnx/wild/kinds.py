"""kinds.py: graphs in narrow and wide element types, and quantized ones."""

import ml_dtypes
import numpy as np
from builder import F, I, Model, floats
from onnx import TensorProto, helper


def halves():
    for name, dtype, code in (("float16", np.float16, 10), ("float64", np.float64, 11)):
        m = Model(17)
        x = m.x("x", ["n", 8], dtype)
        y = m("MatMul", x, m.c(floats(1, 8, 8), dtype))
        y = m("LayerNormalization", y, m.c(np.ones(8), dtype), m.c(np.zeros(8), dtype)) if dtype != np.float16 else y
        y = m("Mul", y, m("Sigmoid", y))
        m.out(m("Softmax", m("Add", y, m.c(0.5, dtype))), m("Cast", m("ReduceMean", y, axes=[1]), to=1))
        yield f"chain_{name}", m, [{"x": floats(n, n, 8).astype(dtype)} for n in (2, 5)]
    m = Model(17)  # float16 in the middle of a float32 graph, as mixed precision leaves it
    x = m.x("x", ["n", 2, 6])
    y = m("Cast", x, to=10)
    y = m("Conv", y, floats(1, 4, 2, 3).astype(np.float16), floats(2, 4).astype(np.float16), pads=[1, 1])
    y = m("Cast", m("Relu", y), to=1)
    m.out(m("ReduceMax", y, axes=[2], keepdims=0))
    yield "mixed", m, [{"x": floats(3, n, 2, 6)} for n in (1, 3)]
    for code in (TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FNUZ):
        m = Model(19, 9)
        x = m.x("x", ["n", 5])
        m.out(m("Cast", m("Cast", m("Mul", x, 3.0), to=code), to=1))
        yield f"through_{TensorProto.DataType.Name(code).lower()}", m, [{"x": floats(n, n, 5) * F(50)} for n in (1, 4)]
    m = Model(22, 10)
    x = m.x("x", ["n", 4])
    weight = m.fresh("w")
    m.constants.append(helper.make_tensor(weight, TensorProto.BFLOAT16, [4, 3], floats(1, 12).astype(ml_dtypes.bfloat16).tobytes(), raw=True))
    m.out(m("MatMul", x, m("Cast", weight, to=1)))
    yield "bfloat16_weights", m, [{"x": floats(2, n, 4)} for n in (1, 3)]


def quantized():
    m = Model(13)  # QDQ around a convolution with a weight per channel, an addition, and a pool
    x = m.x("x", ["n", 3, 6, 6])

    def qdq(v, scale, zero):
        q = m("QuantizeLinear", v, scale, np.array(zero, np.uint8))
        return m("DequantizeLinear", q, scale, np.array(zero, np.uint8))

    w = np.random.default_rng(1).integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    scale = np.array([1 / 64, 1 / 32, 1 / 128, 1 / 16], F)
    y = m("Conv", qdq(x, 0.0625, 128), m("DequantizeLinear", w, scale, np.zeros(4, np.int8), axis=0), pads=[1] * 4)
    y = qdq(m("Relu", y), 0.125, 0)
    m.out(m("GlobalAveragePool", y))
    yield "qdq_conv", m, [{"x": floats(2, n, 3, 6, 6)} for n in (1, 2)]
    m = Model(11)  # dynamic quantization as ONNX Runtime's tool writes it
    x = m.x("x", ["b", "s", 8])
    q, s, z = m("DynamicQuantizeLinear", x, outs=3)
    w = np.random.default_rng(2).integers(-127, 128, (8, 5)).astype(np.int8)
    y = m("MatMulInteger", q, w, z, np.array(0, np.int8))
    y = m("Mul", m("Cast", y, to=1), m("Mul", s, 0.02))
    m.out(m("Add", y, floats(3, 5)))
    yield "dynamic_quantized", m, [{"x": floats(4, b, n, 8)} for b, n in ((1, 3), (2, 1))]
    m = Model(21, 10)  # weights of 4 bits by blocks
    x = m.x("x", ["n", 8])
    weight, zero = m.fresh("w"), m.fresh("z")
    values = np.random.default_rng(3).integers(-8, 8, (8, 6)).astype(ml_dtypes.int4)
    pack = lambda a: ((a.astype(np.int8).ravel()[0::2] & 15) | ((a.astype(np.int8).ravel()[1::2] & 15) << 4)).astype(np.uint8).tobytes()
    m.constants.append(helper.make_tensor(weight, TensorProto.INT4, [8, 6], pack(values), raw=True))
    m.constants.append(helper.make_tensor(zero, TensorProto.INT4, [2, 6], pack(np.zeros((2, 6), np.int8)), raw=True))
    m.out(m("MatMul", x, m("DequantizeLinear", weight, np.abs(floats(4, 2, 6)) / 8, zero, axis=0, block_size=4)))
    yield "int4_blocks", m, [{"x": floats(5, n, 8)} for n in (1, 3)]


def integers():
    m = Model(18)
    x = m.x("x", ["n"], np.uint8)
    y = m("Cast", x, to=6)
    m.out(m("Mod", y, m.c(np.array(7, np.int32))), m("BitShift", x, m.c(np.array(1, np.uint8)), direction="LEFT"),
          m("BitwiseAnd", x, m.c(np.array(15, np.uint8))), m("Add", x, x), m("Div", m("Neg", y), m.c(np.array(3, np.int32))))
    yield "bytes", m, [{"x": np.array([0, 1, 127, 128, 200, 255], np.uint8)}, {"x": np.array([9], np.uint8)}]
    m = Model(13)
    x = m.x("x", ["n"], I)
    far = 2**40
    m.out(m("Add", x, m.c(np.array(far))), m("Mul", x, m.c(np.array(far))), m("ReduceMax", x, keepdims=0), m("Clip", x, m.c(np.array(-far)), m.c(np.array(far))))
    yield "int64", m, [{"x": np.array([far * 3, -far * 2, 5, -(2**62)])}]
    m = Model(13)
    x = m.x("x", ["n", 3], bool)
    m.out(m("Not", x), m("Where", x, 1.0, 2.0), m("ReduceMax", m("Cast", x, to=6), axes=[1]), m("Concat", x, m("Not", x), axis=1), m("NonZero", x))
    yield "bools", m, [{"x": np.random.default_rng(n).integers(0, 2, (n, 3)).astype(bool)} for n in (2, 4)]


def cases():
    for family in (halves, quantized, integers):
        yield from family()
