"""names.py: names as they come: odd, twice, empty, with slashes; defaults, and values that are outputs as they are."""

import numpy as np
from builder import F, Model, floats
from onnx import numpy_helper


def cases():
    m = Model(13)
    x = m.x("/model/0 input:0", ["batch size", "sequence length"])
    y = m("Relu", x, outs=["α/β.γ-output"])
    z = m("Neg", y, outs=["int"])
    m.out(y, z, m("Add", y, z, outs=["main"]), m("Exp", z, outs=["1"]))
    yield "odd", m, [{"/model/0 input:0": floats(1, 2, 3)}]
    m = Model(13)
    x = m.x("x", ["n", 3])
    w = m.c(floats(1, 3))
    y = m("Identity", x)
    m.out(y, w, m("Identity", y), m("Add", x, w))
    yield "as_they_are", m, [{"x": floats(2, 2, 3)}]
    m = Model(13)
    x = m.x("x", ["n", 4])
    steps = m("Unsqueeze", x, m.c([1]))
    top = m("GRU", steps, floats(3, 1, 6, 4), floats(4, 1, 6, 2), outs=["", "last"], hidden_size=2)[1]
    y = m("Clip", x, None, m.c(np.array(1, F)))
    m.out(top, m("Resize", m("Unsqueeze", y, m.c([0, 1])), None, m.c([1.0, 1.0, 1.0, 2.0])))
    yield "left_out", m, [{"x": floats(1, 3, 4)}]
    m = Model(13)  # shapes are named after what they are, and equal names must be equal
    a, b = m.x("a", ["n", "k"]), m.x("b", ["k", "n"])
    m.out(m("Add", m("MatMul", a, b), m("MatMul", m("Transpose", b), m("Transpose", a))))
    yield "shared_dims", m, [{"a": floats(1, n, k), "b": floats(2, k, n)} for n, k in ((2, 3), (4, 1))]
    m = Model(13)  # constants by Constant nodes of every form
    x = m.x("x", ["n"])
    parts = [m("Constant", value_float=1.5), m("Constant", value_floats=[1.0, 2.0, 3.0]), m("Constant", value=numpy_helper.from_array(np.array([[2.0]], F)))]
    y = x
    for part in parts:
        y = m("Add", y, part)
    m.out(y, m("Constant", value_ints=[3, 4]), m("Constant", value_int=7))
    yield "constants", m, [{"x": floats(1, 3)}]
