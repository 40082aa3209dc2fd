"""control.py: branches, loops and scans in each other, with captures, sequences and functions."""

import numpy as np
from builder import B, F, I, Model, floats
from onnx import AttributeProto, TensorProto, helper


def loop(m, trips, condition, body, *carried, outs):
    return m("Loop", trips, condition, *carried, body=body, outs=outs)


def nested():
    # If in Loop in Scan, which read values of every level, and an If whose branches have different shapes.
    m = Model(17)
    x, k, w = m.x("x", ["t", 3]), m.x("k", [], I), m.x("w", [3])
    scan = m.sub()
    scan.x("h", [3]), scan.x("e", [3])
    inner = scan.sub()
    inner.x("i", [], I), inner.x("go", [], B), inner.x("a", [3])
    even = inner("Equal", inner("Mod", "i", np.array(2)), np.array(0))
    yes, no = inner.sub(), inner.sub()
    total_yes = yes("Add", yes("Mul", "a", w), "e")
    total_no = no("Sub", "a", no("Mul", "h", 0.5))
    a = inner("If", even, then_branch=yes.body(total_yes), else_branch=no.body(total_no))
    body = inner.body(inner("Identity", "go"), a, inner("ReduceSum", a, keepdims=0))
    after, sums = scan("Loop", k, "", "h", body=body, outs=2)
    of = helper.make_tensor_value_info
    scan_body = scan.body(of(scan("Tanh", after), 1, [3]), of(sums, 1, [None]))
    m.out(*m("Scan", np.zeros(3, F), x, body=scan_body, num_scan_inputs=1, outs=2))
    feeds = [{"x": floats(t, t, 3), "k": np.array(k), "w": floats(9, 3)} for t, k in ((4, 3), (2, 5), (3, 1))]
    yield "if_in_loop_in_scan", m, feeds
    m = Model(17)
    x, flag = m.x("x", ["n", 4]), m.x("flag", [], B)
    yes, no = m.sub(), m.sub()
    a = yes("Concat", x, x, axis=0)
    b = no("Slice", x, m.c([0]), m.c([2]), m.c([0]))
    y = m("If", flag, then_branch=yes.body(a), else_branch=no.body(b))
    m.out(m("ReduceSum", y, m.c([0]), keepdims=0), m("Relu", y))
    yield "branches_of_sizes", m, [{"x": floats(n, n, 4), "flag": np.array(f)} for n, f in ((3, True), (3, False), (1, False))]
    m = Model(17)  # three levels of If, and a capture from each
    x, p, q, r = m.x("x", ["n"]), m.x("p", [], B), m.x("q", [], B), m.x("r", [], B)
    first = m.sub()
    one = first("Mul", x, 2.0)
    second = first.sub()
    two = second("Add", one, x)
    third, other = second.sub(), second.sub()
    y3 = third("Sub", third("Mul", two, one), x)
    y4 = other("Neg", two)
    three = second("If", r, then_branch=third.body(y3), else_branch=other.body(y4))
    side = first.sub()
    four = first("If", q, then_branch=second.body(three), else_branch=side.body(side("Abs", one)))
    rest = m.sub()
    m.out(m("If", p, then_branch=first.body(four), else_branch=rest.body(rest("Identity", x))))
    flags = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    yield "if_of_three", m, [{"x": floats(3, 5), **{n: np.array(bool(v)) for n, v in zip("pqr", f)}} for f in flags]


def growing():
    m = Model(17)  # autoregressive: what is carried grows by one each time
    x, steps = m.x("x", [1, "n"], I), m.x("steps", [], I)
    s = m.sub()
    s.x("i", [], I), s.x("go", [], B), s.x("ids", [1, "len"], I)
    last = s("Gather", "ids", m.c(np.array([-1])), axis=1)
    token = s("Mod", s("Add", s("Mul", last, m.c([[3]])), s("ReduceMax", "ids", keepdims=1)), m.c([[7]]))
    ids = s("Concat", "ids", token, axis=1)
    stop = s("Not", s("Equal", s("Squeeze", token, s.c([0, 1])), np.array(5)))
    ids, tokens = m("Loop", steps, m.c(np.array(True)), x, body=s.body(stop, ids, s("Squeeze", token, m.c([0]))), outs=2)
    m.out(ids, tokens)
    yield "tokens_until_stop", m, [{"x": np.array([v]), "steps": np.array(n)} for v, n in (([1, 2], 6), ([4], 3), ([0, 5, 6], 9))]
    m = Model(17)  # while without a count
    x = m.x("x", ["n"])
    s = m.sub()
    s.x("i", [], I), s.x("go", [], B), s.x("v", ["n"])
    v = s("Mul", "v", 0.5)
    y = m("Loop", "", m.c(np.array(True)), x, body=s.body(s("Greater", s("ReduceMax", s("Abs", v), keepdims=0), 0.1), v), outs=1)
    m.out(y)
    yield "while", m, [{"x": np.array([1, -3, 2], F)}, {"x": np.array([.01], F)}]
    m = Model(17)  # a loop over rows that collects rows, as torch.jit.script writes it
    x = m.x("x", ["n", 3])
    rows = m("Gather", m("Shape", x), np.array(0))
    s = m.sub()
    s.x("i", [], I), s.x("go", [], B), s.x("acc", [3])
    row = s("Gather", x, "i", axis=0)
    acc = s("Add", "acc", row)
    total, all_ = m("Loop", rows, m.c(np.array(True)), m.c(np.zeros(3, F)), body=s.body(s("Identity", "go"), acc, s("Mul", acc, row)), outs=2)
    m.out(total, m("ReduceMean", all_, axes=[0]))
    yield "rows", m, [{"x": floats(n, n, 3)} for n in (1, 4)]


def sequences():
    m = Model(17)
    x, n = m.x("x", ["t", 2]), m.x("n", [], I)
    s = m.sub()
    s.x("i", [], I), s.x("go", [], B)
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    s.inputs.append(helper.make_value_info("seq", kind))
    part = s("Slice", x, m.c([0]), s("Unsqueeze", s("Add", "i", np.array(1)), m.c([0])), m.c([0]))
    grown = s("SequenceInsert", "seq", part)
    body = s.body(s("Identity", "go"), helper.make_value_info(grown, kind))
    seq = m("Loop", n, "", m("SequenceEmpty"), body=body, outs=1)
    m.out(m("ConcatFromSequence", seq, axis=0), m("SequenceLength", seq), m("SequenceAt", seq, np.array(-1)))
    yield "sequence_in_loop", m, [{"x": floats(1, 6, 2), "n": np.array(k)} for k in (3, 1)]
    m = Model(17)
    x = m.x("x", ["n", 4])
    parts = m("SplitToSequence", x, m.c([1, 3]), axis=1)
    m.out(m("SequenceAt", parts, np.array(1)), m("ConcatFromSequence", m("SequenceErase", parts, np.array(0)), axis=0))
    yield "split_to_sequence", m, [{"x": floats(1, 2, 4)}, {"x": floats(2, 5, 4)}]
    m = Model(17)
    x, i = m.x("x", ["n", 4]), m.x("i", [], I)
    parts = m("SequenceConstruct", x, m("Relu", x), m("Concat", x, x, axis=0))
    m.out(m("SequenceAt", parts, i), m("SequenceLength", parts))
    yield "sequence_at_run", m, [{"x": floats(1, 2, 4), "i": np.array(k)} for k in (0, -1, 1)]
    m = Model(18)  # elements of different ranks, which the body changes, and no type of its results: atleast_2d of PyTorch
    x, y = m.x("x", ["n", 4]), m.x("y", ["k"])
    s = m.sub()
    s.x("e", None), s.x("scale", [])
    low, high = s.sub(), s.sub()
    rank = s("Size", s("Shape", "e"))
    padded = low("Reshape", "e", low.c([1, -1]))
    tall = s("If", s("Less", rank, np.array(2)), then_branch=low.body(padded), else_branch=high.body(high("Identity", "e")))
    parts = m("SequenceMap", m("SequenceConstruct", x, y), m.c(0.5), body=s.body(s("Mul", tall, "scale"), s("Shape", "e")), outs=2)
    zero, one = np.array(0), np.array(1)
    m.out(*(m("SequenceAt", part, k) for part in parts for k in (zero, one)), m("SequenceLength", parts[0]))
    feeds = [{"x": floats(1, n, 4), "y": floats(2, k)} for n, k in ((2, 3), (1, 5))]
    half = [(f["x"] * F(0.5), f["y"][None] * F(0.5)) for f in feeds]  # ONNX Runtime needs types of the body's results
    shapes = [tuple(np.array(v.shape) for v in f.values()) for f in feeds]
    yield "sequence_map_of_ranks", m, feeds, [[*a, *b, np.array(2)] for a, b in zip(half, shapes)]


def functions():
    m = Model(18, 10, local=1)
    def function(name, inputs, outputs, nodes, attributes=(), overload="", defaults=()):
        m.functions.append(helper.make_function(
            "local", name, inputs, outputs, nodes, [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)],
            attributes=list(attributes), attribute_protos=list(defaults), overload=overload))
    ref = helper.make_node("LeakyRelu", ["a"], ["b"])
    ref.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    function("leak", ["a"], ["b"], [ref], ["slope"])
    call = helper.make_node("leak", ["a"], ["b"], domain="local")
    call.attribute.append(AttributeProto(name="slope", ref_attr_name="factor", type=AttributeProto.FLOAT))
    function("block", ["a", "w"], ["c"], [call, helper.make_node("MatMul", ["b", "w"], ["c"])], defaults=[helper.make_attribute("factor", 0.25)])
    function("norm", ["a"], ["b"], [helper.make_node("Softmax", ["a"], ["b"], axis=-1)], overload="soft")
    function("norm", ["a"], ["b"], [helper.make_node("Tanh", ["a"], ["b"])], overload="hard")
    x = m.x("x", ["n", 3])
    y = m("block", x, floats(1, 3, 3), domain="local", factor=0.75)
    s = m.sub()
    s.x("i", [], I), s.x("go", [], B), s.x("v", ["n", 3])
    v = s("norm", s("block", "v", floats(2, 3, 3), domain="local"), domain="local", overload="soft")
    y = m("Loop", np.array(3), "", y, body=s.body(s("Identity", "go"), v), outs=1)
    m.out(m("norm", y, domain="local", overload="hard"))
    data = [floats(n, n, 3) for n in (2, 5)]
    leak = lambda a, k: np.where(a < 0, a * F(k), a)
    soft = lambda a: np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True)
    def want(a):
        a = leak(a, 0.75) @ floats(1, 3, 3)
        for _ in range(3):
            a = soft(leak(a, 0.25) @ floats(2, 3, 3))
        return np.tanh(a)
    yield "functions", m, [{"x": d} for d in data], [[want(d)] for d in data]


def optional():
    m = Model(18)
    x, flag = m.x("x", ["n"]), m.x("flag", [], B)
    y = m("Optional", x)
    has = m("OptionalHasElement", y)
    yes, no = m.sub(), m.sub()
    m.out(m("If", m("And", has, flag), then_branch=yes.body(yes("Neg", yes("OptionalGetElement", y))), else_branch=no.body(no("Identity", x))))
    yield "optional", m, [{"x": floats(1, 3), "flag": np.array(f)} for f in (True, False)]


def scans():
    for direction in (0, 1):
        m = Model(17)
        x, y = m.x("x", ["b", "t", 3]), m.x("y", ["b", 3, "t"])
        s = m.sub()
        s.x("h", ["b", 3]), s.x("k", [], I), s.x("e", ["b", 3]), s.x("f", ["b", 3])
        h = s("Add", "h", s("Mul", "e", "f"))
        k = s("Add", "k", np.array(1))
        out = m("Scan", m("ConstantOfShape", m("Concat", m("Shape", x, start=0, end=1), m.c([3]), axis=0)), np.array(0), x, y,
                body=s.body(h, k, s("Sigmoid", h), s("Identity", k)), num_scan_inputs=2, scan_input_axes=[1, 2],
                scan_input_directions=[direction, 0], scan_output_axes=[-1, 0], scan_output_directions=[0, direction], outs=4)
        m.out(*out)
        yield f"scan_axes_{direction}", m, [{"x": floats(1, b, t, 3), "y": floats(2, b, 3, t)} for b, t in ((2, 4), (1, 1), (3, 2))]


def cases():
    for family in (nested, growing, sequences, functions, optional, scans):
        yield from family()
