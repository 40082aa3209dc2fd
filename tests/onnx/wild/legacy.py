"""legacy.py: what PyTorch and TensorFlow exported with opsets 6 to 12."""

import numpy as np
from builder import F, I, Model, floats, positive


def upsample():
    for opset, mode in ((7, "nearest"), (7, "linear"), (9, "nearest"), (9, "linear")):
        m = Model(opset, 3)
        x = m.x("x", ["n", 2, "h", "w"])
        scales = [1.0, 1.0, 2.0, 3.0]
        y = m("Upsample", x, mode=mode, scales=scales) if opset < 9 else m("Upsample", x, scales, mode=mode)
        m.out(m("Relu", y))
        yield f"upsample{opset}_{mode}", m, [{"x": floats(1, 1, 2, 3, 4)}, {"x": floats(2, 2, 2, 5, 1)}]
    m = Model(9, 4)  # TensorFlow's: sizes computed from the shape of another feature map
    x, other = m.x("x", [1, 4, "h", "w"]), m.x("other", [1, 4, "H", "W"])
    size = m("Cast", m("Slice", m("Shape", other), axes=[0], starts=[2], ends=[4]), to=1)
    old = m("Cast", m("Slice", m("Shape", x), axes=[0], starts=[2], ends=[4]), to=1)
    scales = m("Concat", m.c([1.0, 1.0]), m("Div", size, old), axis=0)
    m.out(m("Add", m("Upsample", x, scales, mode="nearest"), other))
    yield "upsample_to_other", m, [{"x": floats(1, 1, 4, 2, 3), "other": floats(2, 1, 4, 4, 6)}]
    m = Model(10, 5)
    x = m.x("x", ["n", 2, "h", "w"])
    m.out(m("Resize", x, [1.0, 1.0, 0.5, 2.0], mode="linear"))
    yield "resize10", m, [{"x": floats(1, 1, 2, 4, 5)}, {"x": floats(2, 2, 2, 6, 3)}]


def normalized():
    for opset in (7, 8, 9):
        m = Model(opset, 3)
        x = m.x("x", ["n", 3, "h", 4])
        y = m("Conv", x, floats(1, 5, 3, 3, 3), floats(2, 5), pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        y = m("BatchNormalization", y, floats(3, 5), floats(4, 5), floats(5, 5), positive(6, 5), epsilon=1e-3, momentum=0.99)
        m.out(m("LeakyRelu", y, alpha=0.1))
        yield f"conv_norm_{opset}", m, [{"x": floats(7, 1, 3, 5, 4)}, {"x": floats(8, 2, 3, 2, 4)}]
    m = Model(7, 3)
    x = m.x("x", ["n", 3, 2])
    m.out(m("BatchNormalization", x, positive(1, 3, 2), floats(2, 3, 2), floats(3, 3, 2), positive(4, 3, 2), spatial=0))
    yield "norm_by_element", m, [{"x": floats(5, 4, 3, 2)}]
    # Before opset 7, of which ONNX Runtime has no kernels: consumed_inputs, is_test, axis with broadcast, pads as paddings.
    m = Model(6, 3)
    x = m.x("x", [2, 3, 4])
    s, b, mean, var = floats(1, 3), floats(2, 3), floats(3, 3), positive(4, 3)
    m.out(m("BatchNormalization", x, s, b, mean, var, is_test=1, epsilon=1e-5))
    data = floats(5, 2, 3, 4)
    turn = lambda v: v.reshape(3, 1)
    want = (data - turn(mean)) / np.sqrt(turn(var) + F(1e-5)) * turn(s) + turn(b)
    yield "norm6", m, [{"x": data}], [[want]]


def broadcasts():
    data, side = floats(1, 2, 3, 4), floats(2, 3)
    ops = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
    for op, numpy in ops.items():
        m = Model(6, 3)
        m.out(m(op, m.x("x", ["n", 3, 4]), side, broadcast=1, axis=1))
        yield f"{op.lower()}6_axis", m, [{"x": data}], [[numpy(data, side.reshape(3, 1))]]
    m = Model(6, 3)
    m.out(m("Greater", m.x("x", ["n", 3, 4]), np.zeros(4, F), broadcast=1))
    yield "greater6", m, [{"x": data}], [[data > 0]]
    m = Model(6, 3)
    m.out(m("Gemm", m.x("x", ["n", 4]), floats(3, 5, 4), floats(4, 5), transB=1, broadcast=1, alpha=0.5, beta=2.0))
    x = floats(5, 3, 4)
    yield "gemm6", m, [{"x": x}], [[(0.5 * x @ floats(3, 5, 4).T + 2 * floats(4, 5)).astype(F)]]
    m = Model(6, 3)
    m.out(m("PRelu", m.x("x", ["n", 3, 4]), np.array([0.1, 0.2, 0.3], F)))
    yield "prelu6_channels", m, [{"x": data}], [[np.where(data < 0, data * np.array([.1, .2, .3], F).reshape(3, 1), data)]]


def ones():
    """Opset 1: shapes and limits as attributes, types as words."""
    m = Model(1, 3)
    x = m.x("x", [2, 3, 4])
    y = m("Reshape", x, shape=[0, -1], consumed_inputs=[0])
    y = m("Pad", y, paddings=[0, 1, 0, 2], mode="constant", value=3.0)
    y = m("Clip", y, min=-1.0, max=1.0)
    y = m("Slice", y, axes=[1], starts=[1], ends=[-1])
    m.out(m("Cast", y, to="DOUBLE"))
    data = floats(1, 2, 3, 4)
    want = np.clip(np.pad(data.reshape(2, 12), ((0, 0), (1, 2)), constant_values=3), -1, 1)[:, 1:-1]
    yield "opset1", m, [{"x": data}], [[want.astype(np.float64)]]
    m = Model(2, 3)
    x = m.x("x", ["n", 6])
    a, b = m("Split", x, axis=1, split=[2, 4], outs=2)
    m.out(m("Concat", b, a, axis=1), m("Squeeze", m("Unsqueeze", a, axes=[0]), axes=[0]), m("TopK", b, axis=1, k=2, outs=2)[1])
    data = floats(2, 3, 6)
    order = np.argsort(-data[:, 2:], axis=1)[:, :2]
    yield "opset2", m, [{"x": data}], [[np.concatenate([data[:, 2:], data[:, :2]], 1), data[:, :2], order]]


def dropouts():
    for opset in (7, 10, 12, 13):
        m = Model(opset, 3 if opset < 12 else 7)
        x = m.x("x", ["n", 4])
        operands = [x, 0.5, np.array(False)] if opset >= 12 else [x]
        y, mask = m("Dropout", *operands, outs=2, **({} if opset >= 12 else {"ratio": 0.5}))
        m.out(m("Add", y, y), mask)
        feeds = [{"x": floats(1, 3, 4)}]
        want = [[feeds[0]["x"] * 2, np.ones((3, 4), F if opset < 10 else bool)]]
        yield f"dropout{opset}_mask", m, feeds, want


def exports():
    """A classifier as PyTorch 0.4 and 1.0 exported it: flatten by shape arithmetic, and a TensorFlow one."""
    for opset in (8, 9, 11):
        m = Model(opset, 4)
        x = m.x("x", ["batch", 3, 8, 8])
        y = m("Relu", m("Conv", x, floats(1, 6, 3, 3, 3), kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]))
        y = m("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
        batch = m("Gather", m("Shape", y), np.array(0), axis=0)
        batch = m("Unsqueeze", batch, axes=[0])
        y = m("Reshape", y, m("Concat", batch, m.c([-1]), axis=0))
        m.out(m("LogSoftmax", m("Gemm", y, floats(2, 10, 24), floats(3, 10), transB=1), axis=1))
        yield f"classifier{opset}", m, [{"x": floats(4, 1, 3, 8, 8)}, {"x": floats(5, 3, 3, 8, 8)}]
    m = Model(8, 3)  # channels last outside, first inside
    x = m.x("image", ["n", 6, 7, 3])
    y = m("Transpose", x, perm=[0, 3, 1, 2])
    y = m("Conv", y, floats(1, 4, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[3, 3])
    y = m("BatchNormalization", y, floats(2, 4), floats(3, 4), floats(4, 4), positive(5, 4))
    y = m("Transpose", m("Clip", y, min=0.0, max=6.0), perm=[0, 2, 3, 1])
    y = m("ReduceMean", y, axes=[1, 2], keepdims=0)
    m.out(m("Softmax", m("MatMul", y, floats(6, 4, 5)), axis=1))
    yield "tensorflow", m, [{"image": floats(7, 1, 6, 7, 3)}, {"image": floats(8, 2, 6, 7, 3)}]
    m = Model(8, 4)
    x = m.x("x", ["t", 1, 3])
    h = m("Scan", None, np.zeros((1, 1, 4), F), m("Unsqueeze", m("Squeeze", x, axes=[1]), axes=[0]), outs=2,
          num_scan_inputs=1, body=scan8_body(m))
    m.out(*h)
    yield "scan8", m, [{"x": floats(1, 5, 1, 3)}, {"x": floats(2, 2, 1, 3)}]
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        m = Model(7, 3)
        x = m.x("x", ["t", "b", 3])
        y = m(op, x, floats(1, 2, gates * 4, 3), floats(2, 2, gates * 4, 4), floats(3, 2, gates * 8), 
              direction="bidirectional", hidden_size=4, outs=2)
        turned = m("Reshape", m("Transpose", y[0], perm=[0, 2, 1, 3]), m.c([0, 0, -1]))
        m.out(turned, y[1])
        yield f"{op.lower()}7", m, [{"x": floats(4, 5, 2, 3)}, {"x": floats(5, 1, 1, 3)}]


def scan8_body(m):
    s = m.sub()
    s.x("h", [1, 4]), s.x("e", [3])
    new = s("Tanh", s("Add", "h", s("MatMul", s("Unsqueeze", "e", axes=[0]), floats(9, 3, 4))))
    return s.body(new, s("Identity", new))


def cases():
    for family in (upsample, normalized, broadcasts, ones, dropouts, exports):
        yield from family()
