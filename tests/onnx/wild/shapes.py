"""shapes.py: sizes that the run decides, and sizes of nothing."""

import numpy as np
from builder import F, I, Model, floats
from transformers import dim, join


def decided():
    m = Model(13)
    x, shape = m.x("x", ["n"]), m.x("shape", [3], I)
    m.out(m("Reshape", x, shape))
    yield "reshape_by_input", m, [{"x": floats(1, 12), "shape": np.array(s)} for s in ([2, 3, 2], [-1, 1, 4])]
    m = Model(13)
    x, shape = m.x("x", ["n", 1]), m.x("shape", [3], I)
    m.out(m("Expand", x, shape))
    yield "expand_by_input", m, [{"x": floats(1, n, 1), "shape": np.array(s)} for n, s in ((3, [2, 3, 4]), (1, [2, 5, 1]))]
    m = Model(13)
    x, reps = m.x("x", ["n", 2]), m.x("reps", [2], I)
    m.out(m("ReduceSum", m("Tile", x, reps), m.c([0]), keepdims=0))
    yield "tile_by_input", m, [{"x": floats(1, 3, 2), "reps": np.array(r)} for r in ([2, 1], [1, 3])]
    m = Model(13)
    x, a, b, s = m.x("x", ["n", 6]), m.x("a", [1], I), m.x("b", [1], I), m.x("s", [1], I)
    m.out(m("Slice", x, a, b, m.c([1]), s))
    yield "slice_by_input", m, [{"x": floats(1, 2, 6), "a": np.array([p]), "b": np.array([q]), "s": np.array([r])}
                                for p, q, r in ((0, 6, 2), (-3, 100, 1), (4, -7, -2), (5, 2, 1))]
    m = Model(13)
    x, k = m.x("x", ["n", "m"]), m.x("k", [1], I)
    values, order = m("TopK", x, k, axis=0, outs=2)
    m.out(values, order, m("CumSum", values, np.array(0)))
    yield "topk_by_input", m, [{"x": floats(1, 5, 3), "k": np.array([k])} for k in (1, 5)]
    m = Model(13)
    a, b, c = m.x("a", [], I), m.x("b", [], I), m.x("c", [], I)
    r = m("Range", a, b, c)
    m.out(r, m("OneHot", r, np.array(5), m.c(np.array([0, 1], F))))
    yield "range_by_input", m, [{"a": np.array(p), "b": np.array(q), "c": np.array(s)} for p, q, s in ((0, 4, 1), (4, -1, -2), (3, 3, 1))]
    m = Model(13)
    x, t = m.x("x", ["n", "m"]), m.x("t", [])
    at = m("NonZero", m("Greater", x, t))
    picked = m("GatherND", x, m("Transpose", at, perm=[1, 0]))
    m.out(picked, m("Shape", picked), m("ReduceSum", picked, keepdims=0), m("Add", m("ScatterND", m("Mul", x, 0.0), m("Transpose", at), picked), x))
    yield "nonzero_chain", m, [{"x": floats(s, 3, 4), "t": np.array(t, F)} for s, t in ((1, 0.5), (2, 9), (3, -9))]
    m = Model(13)
    x = m.x("x", ["n"], I)
    u, first, inverse, counts = m("Unique", x, outs=4)
    m.out(u, first, inverse, counts, m("Gather", u, inverse))
    yield "unique_chain", m, [{"x": np.array([3, 1, 3, 2, 1, 1])}, {"x": np.array([7])}]
    m = Model(13)
    x, a, b = m.x("x", [1, 1, "h", "w"]), m.x("a", [], I), m.x("b", [], I)
    size = join(m, 1, 1, a, b)
    y = m("Resize", x, None, None, size, mode="linear", coordinate_transformation_mode="align_corners")
    m.out(y, m("MaxPool", y, kernel_shape=[2, 2]))
    yield "resize_by_input", m, [{"x": floats(1, 1, 1, 3, 4), "a": np.array(a), "b": np.array(b)} for a, b in ((5, 7), (2, 2))]
    m = Model(13)
    x, p = m.x("x", ["n", 3]), m.x("p", [4], I)
    m.out(m("Pad", x, p, m.c(np.array(9, F))), m("Pad", x, p, mode="edge"))
    yield "pad_by_input", m, [{"x": floats(1, 2, 3), "p": np.array(p)} for p in ([1, 0, 2, 1], [0, 0, 0, 0])]
    m = Model(18)
    x, n = m.x("x", ["n", 6]), m.x("sizes", [3], I)
    m.out(*m("Split", x, n, axis=1, outs=3))
    yield "split_by_input", m, [{"x": floats(1, 2, 6), "sizes": np.array(s)} for s in ([1, 2, 3], [6, 0, 0])]
    m = Model(13)
    x = m.x("x", ["n", "m"])
    flat = m("Flatten", x, axis=0)
    n = m("Size", x)
    m.out(m("Reshape", flat, join(m, n)), m("Div", m("ReduceSum", flat, keepdims=0), m("Cast", n, to=1)), m("Einsum", x, x, equation="ij,kj->ik"), m("Mean", x, m("Neg", x), x))
    yield "sizes_as_values", m, [{"x": floats(1, a, b)} for a, b in ((2, 3), (1, 5))]


def nothing():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        m = Model(14)
        x = m.x("x", ["t", "b", 3])
        m.out(*m(op, x, floats(1, 1, gates * 2, 3), floats(2, 1, gates * 2, 2), outs=3 if op == "LSTM" else 2, hidden_size=2))
        zero = [np.zeros((0, 1, 2, 2), F)] + [np.zeros((1, 2, 2), F)] * (2 if op == "LSTM" else 1)
        yield f"{op.lower()}_no_steps", m, [{"x": np.zeros((0, 2, 3), F)}], [zero]
        m = Model(14)
        x = m.x("x", [0, 2, 3])
        m.out(*m(op, x, floats(1, 1, gates * 2, 3), floats(2, 1, gates * 2, 2), outs=3 if op == "LSTM" else 2, hidden_size=2))
        yield f"{op.lower()}_never_steps", m, [{"x": np.zeros((0, 2, 3), F)}], [zero]
    m = Model(13)
    x = m.x("x", ["n", 4])
    y = m("Softmax", m("MatMul", m("Relu", x), floats(1, 4, 3)), axis=-1)
    m.out(y, m("ReduceSum", y, m.c([0]), keepdims=0), m("Concat", y, y, axis=0), m("Transpose", y), m("NonZero", y))
    yield "batch_of_none", m, [{"x": floats(1, n, 4)} for n in (0, 2)]
    m = Model(13)
    x = m.x("x", [])
    y = m("Reshape", m("Sigmoid", x), m.c(np.zeros(0, I)))
    m.out(y, m("Unsqueeze", y, m.c([0, 1])), m("ReduceSum", y, keepdims=0), m("Shape", y), m("Size", y), m("Expand", y, m.c([2, 0])))
    yield "scalars", m, [{"x": np.array(0.5, F)}]
    m = Model(13)
    x = m.x("x", ["a", "b", 2, "c", 1, 2, "d", 1])
    y = m("Transpose", m("Add", x, floats(1, 2, 1, 1)), perm=[7, 5, 3, 1, 6, 4, 2, 0])
    m.out(m("ReduceMean", y, axes=[0, 2, 5]), m("Reshape", y, m.c([0, -1])), m("Squeeze", x, m.c([-1, 4])), m("ArgMax", y, axis=7))
    yield "rank8", m, [{"x": floats(2, *s)} for s in ((2, 3, 2, 1, 1, 2, 2, 1), (1, 1, 2, 3, 1, 2, 1, 1))]


def cases():
    for family in (decided, nothing):
        yield from family()
