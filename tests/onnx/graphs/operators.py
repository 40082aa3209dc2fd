"""operators.py: what random graphs are drawn from, a function for each family of operators.

Left out is what ONNX Runtime does otherwise than ONNX says: products over no terms, slices that go backwards to an end
behind their start, windows larger than what they slide over, resizes by fractions of an element with aligned corners,
and what a loop of no trips collects.
"""

import numpy as np
import wider
from graph import ONNX_OF, F, Graph, Value, run_node
from onnx import TensorProto, helper


FLOATS = (np.float32,)
NUMBERS = (np.float32, np.int32, np.int64)


def unary(g):
    x = g.pick(FLOATS)
    if x is None:
        return
    if x.exact and g.random.random() < 0.5:
        g.add(g.random.choice(["Abs", "Neg", "Relu", "Floor", "Ceil", "Round", "Sign", "Identity"]), [x], exact=True)
    else:
        op = g.random.choice(["Sigmoid", "Tanh", "Erf", "Softplus", "Elu", "Selu", "Sin", "Cos", "Exp", "LeakyRelu", "Gelu",
                              "HardSigmoid", "HardSwish", "Mish", "Softsign", "Atan", "Abs", "Neg", "Relu", "ThresholdedRelu", "Celu"])
        g.add(op, [x])


def operand_like(g, x):
    """Something that broadcasts with x: another value, or a constant."""
    others = [v for v in g.values if v.array.dtype == x.array.dtype and broadcasts(v.shape, x.shape)]
    if others and g.random.random() < 0.7:
        return g.random.choice(others)
    shape = [d if g.random.random() < 0.6 else 1 for d in x.shape]
    if g.random.random() < 0.3:
        shape = shape[g.random.randrange(len(shape) + 1):]
    return g.const(g.draw(tuple(shape), x.array.dtype))


def broadcasts(a, b):
    return all(x == y or x == 1 or y == 1 for x, y in zip(reversed(a), reversed(b)))


def binary(g):
    x = g.pick(NUMBERS)
    if x is None:
        return
    y = operand_like(g, x)
    if g.random.random() < 0.5:
        x, y = y, x
    exact = x.exact and y.exact
    op = g.random.choice(["Add", "Sub", "Mul", "Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"])
    if op in ("Div", "Mod"):
        if (y.array == 0).any() or (op == "Mod" and not exact):
            return
        if op == "Mod":
            g.add(op, [x, y], exact=True, fmod=1 if x.array.dtype.kind == "f" else g.random.choice([0, 1]))
            return
        exact = exact and x.array.dtype.kind == "i"
    g.add(op, [x, y], exact=exact)


def compare(g):
    x = g.pick(NUMBERS, exact=True)
    if x is None:
        return
    y = operand_like(g, x)
    if not y.exact:
        return
    found = g.add(g.random.choice(["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"]), [x, y], exact=True)
    if found and g.random.random() < 0.3:
        found = g.add("Not", found, exact=True)
    if not found:
        return
    z = g.pick(NUMBERS)
    if g.random.random() < 0.6 and z is not None and broadcasts(z.shape, found[0].shape):
        w = operand_like(g, z)
        g.add("Where", [found[0], z, w], exact=z.exact and w.exact)


def logic(g):
    x = g.pick((bool,))
    if x is None:
        return
    y = operand_like(g, x)
    g.add(g.random.choice(["And", "Or", "Xor"]), [x, y], exact=x.exact and y.exact)


def cast(g):
    x = g.pick()
    if x is None:
        return
    to = g.random.choice([np.float32, np.int32, np.int64, np.float32, bool, np.float64, np.float16, np.uint8, np.int8])
    if x.array.dtype.kind == "f" and np.dtype(to).kind in "iub":
        if not x.exact or np.dtype(to).kind == "u" or (np.abs(x.array) > 100).any():
            return  # out of range anything goes
    if np.dtype(to) == np.float16:
        found = g.add("Cast", [x], to=TensorProto.FLOAT16, exact=x.exact)
        if found:
            g.add("Cast", [found[0]], to=TensorProto.FLOAT, exact=found[0].exact)
        return
    g.add("Cast", [x], to=ONNX_OF(np.dtype(to)), exact=x.exact)


def factors(g, size, rank):
    dims = [1] * rank
    rest = size
    while rest > 1:
        p = next(p for p in range(2, rest + 1) if rest % p == 0)
        dims[g.random.randrange(rank)] *= p
        rest //= p
    return dims


def reshape(g):
    x = g.pick()
    if x is None or x.array.size == 0:
        return
    kind = g.random.random()
    if kind < 0.35:
        dims = factors(g, x.array.size, g.random.randint(1, 4))
        if g.random.random() < 0.5:
            dims[g.random.randrange(len(dims))] = -1
        g.add("Reshape", [x, g.const(np.array(dims, np.int64))], exact=x.exact)
    elif kind < 0.5 and x.rank >= 2:  # by what Shape says
        shape = g.add("Shape", [x], exact=True)
        if not shape:
            return
        order = list(range(x.rank))
        g.random.shuffle(order)
        new = g.add("Gather", [shape[0], g.const(np.array(order, np.int64))], exact=True)
        g.add("Reshape", [x, new[0]], exact=x.exact)
    elif kind < 0.6 and x.rank >= 2:
        first = g.add("Shape", [x], start=0, end=1, exact=True)
        if first:
            target = g.add("Concat", [first[0], g.const(np.array([-1], np.int64))], axis=0, exact=True)
            g.add("Reshape", [x, target[0]], exact=x.exact)
    elif kind < 0.75:
        g.add("Flatten", [x], axis=g.random.randint(-x.rank, x.rank), exact=x.exact)
    elif kind < 0.88:
        axes = sorted(g.random.sample(range(x.rank + 1), 1))
        g.add("Unsqueeze", [x, g.const(np.array(axes, np.int64))], exact=x.exact)
    else:
        ones = [i for i, d in enumerate(x.shape) if d == 1]
        if ones:
            g.add("Squeeze", [x, g.const(np.array([g.random.choice(ones)], np.int64))], exact=x.exact)


def transpose(g):
    x = g.pick(rank=range(1, 7))
    if x is None:
        return
    perm = list(range(x.rank))
    g.random.shuffle(perm)
    g.add("Transpose", [x], perm=perm, exact=x.exact)


def concat(g):
    x = g.pick(rank=range(1, 6))
    if x is None:
        return
    axis = g.random.randrange(x.rank)
    fits = [v for v in g.values if v.array.dtype == x.array.dtype and v.rank == x.rank and
            all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)]
    parts = [x] + [g.random.choice(fits) for _ in range(g.random.randint(0, 2))]
    g.random.shuffle(parts)
    g.add("Concat", parts, axis=g.random.choice([axis, axis - x.rank]), exact=all(p.exact for p in parts))


def split(g):
    x = g.pick(rank=range(1, 6))
    if x is None:
        return
    axis = g.random.randrange(x.rank)
    size = x.shape[axis]
    if size < 2:
        return
    if g.random.random() < 0.5:
        at = g.random.randrange(0, size + 1)
        g.add("Split", [x, g.const(np.array([at, size - at], np.int64))], outputs=2, axis=axis, exact=x.exact)
    else:
        parts = g.random.randint(2, min(size, 3))
        g.add("Split", [x], outputs=parts, axis=axis, num_outputs=parts, exact=x.exact)


def slice_(g):
    x = g.pick(rank=range(1, 6))
    if x is None:
        return
    axes = g.random.sample(range(x.rank), g.random.randint(1, x.rank))
    starts = [g.random.choice([0, 1, -1, -2, 2, 100, -100]) for _ in axes]
    ends = [g.random.choice([0, 1, 2, 3, -1, 2**63 - 1, 2**31 - 1, -(2**31), -100]) for _ in axes]
    steps = [g.random.choice([1, 1, 1, 2, -1, -2]) for _ in axes]
    ends = [-100 if e > 100 and s < 0 else e for e, s in zip(ends, steps)]
    args = [g.const(np.array(a, np.int64)) for a in (starts, ends, axes, steps)]
    g.add("Slice", [x] + args, exact=x.exact)


def gather(g):
    x = g.pick(rank=range(1, 6))
    if x is None or 0 in x.shape:
        return
    axis = g.random.randrange(x.rank)
    size = x.shape[axis]
    kind = g.random.random()
    if kind < 0.5:
        shape = g.random.choice([(), (2,), (2, 3), (1,), (0,)])
        g.add("Gather", [x, g.const(g.numpy.integers(-size, size, shape))], axis=axis, exact=x.exact)
    elif kind < 0.7:
        shape = [g.random.randint(1, d) for d in x.shape]
        shape[axis] = g.random.randint(1, 4)
        g.add("GatherElements", [x, g.const(g.numpy.integers(-size, size, shape))], axis=axis, exact=x.exact)
    elif kind < 0.8:
        last = g.random.randint(1, x.rank)
        index = np.stack([g.numpy.integers(-d, d, (3,)) for d in x.shape[:last]], -1)
        g.add("GatherND", [x, g.const(index)], exact=x.exact)
    elif kind < 0.9:
        shape = [g.random.randint(1, d) for d in x.shape]
        updates = g.const(g.draw(tuple(shape), x.array.dtype))
        index = np.argsort(g.numpy.random(x.shape), axis=axis)[tuple(slice(0, s) for s in shape)]
        g.add("ScatterElements", [x, g.const(index.astype(np.int64)), updates], axis=axis, exact=x.exact)
    else:
        index = g.numpy.permutation(x.shape[0])[: max(1, x.shape[0] // 2)].reshape(-1, 1)
        updates = g.const(g.draw((len(index),) + x.shape[1:], x.array.dtype))
        g.add("ScatterND", [x, g.const(index.astype(np.int64)), updates], exact=x.exact)


def spread(g):
    x = g.pick(rank=range(1, 5), most=1000)
    if x is None:
        return
    kind = g.random.random()
    if kind < 0.3:
        target = [d if d != 1 else g.random.randint(1, 3) for d in x.shape]
        if g.random.random() < 0.3:
            target = [2] + target
        g.add("Expand", [x, g.const(np.array(target, np.int64))], exact=x.exact)
    elif kind < 0.5:
        g.add("Tile", [x, g.const(np.array([g.random.choice([1, 1, 2, 0 if g.random.random() < .1 else 3]) for _ in x.shape], np.int64))], exact=x.exact)
    elif kind < 0.9:
        mode = g.random.choice(["constant", "edge", "reflect", "wrap"])
        low = -1 if mode == "constant" else 0
        pads = [g.random.randint(low, 2) for _ in range(2 * x.rank)]
        g.add("Pad", [x, g.const(np.array(pads, np.int64))], mode=mode, exact=x.exact)
    elif x.rank >= 2:
        g.add("Trilu", [x, g.const(np.array(g.random.randint(-2, 2), np.int64))], upper=g.random.randint(0, 1), exact=x.exact)


def reduce(g):
    x = g.pick(FLOATS if g.random.random() < 0.8 else (np.int32, np.int64), rank=range(1, 6))
    if x is None or 0 in x.shape:
        return
    op = g.random.choice(["Sum", "Mean", "Max", "Min", "L1", "L2", "LogSumExp", "SumSquare", "Prod"])
    if x.array.dtype.kind == "i" and op not in ("Sum", "Max", "Min", "Prod"):
        op = "Sum"
    exact = x.exact and op in ("Sum", "Max", "Min", "L1", "SumSquare")
    axes = g.random.sample(range(x.rank), g.random.randint(1, x.rank))
    if g.random.random() < 0.3:
        axes = [a - x.rank for a in axes]
    operands = [x] if g.random.random() < 0.15 else [x, g.const(np.array(axes, np.int64))]
    g.add("Reduce" + op, operands, keepdims=g.random.randint(0, 1), exact=exact)


def arg(g):
    x = g.pick(NUMBERS, rank=range(1, 6), exact=True)
    if x is None or 0 in x.shape:
        return
    axis = g.random.randrange(x.rank)
    if g.random.random() < 0.6:
        g.add(g.random.choice(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=g.random.randint(0, 1), exact=True,
              select_last_index=g.random.randint(0, 1))
    else:
        k = g.random.randint(1, x.shape[axis])
        g.add("TopK", [x, g.const(np.array([k], np.int64))], outputs=2, axis=axis, largest=g.random.randint(0, 1), exact=True)


def rows(g):
    x = g.pick(FLOATS, rank=range(1, 5))
    if x is None or 0 in x.shape:
        return
    kind = g.random.random()
    if kind < 0.4:
        g.add(g.random.choice(["Softmax", "LogSoftmax"]), [x], axis=g.random.randint(-x.rank, x.rank - 1))
    elif kind < 0.6:
        axis = g.random.randrange(x.rank)
        scale, bias = g.const(g.draw(x.shape[axis:])), g.const(g.draw(x.shape[axis:]))
        g.add("LayerNormalization", [x, scale, bias], axis=axis)
    elif kind < 0.8:
        g.add("CumSum", [x, g.const(np.array(g.random.randrange(x.rank), np.int64))], exact=x.exact,
              exclusive=g.random.randint(0, 1), reverse=g.random.randint(0, 1))
    elif x.rank >= 3:
        c = x.shape[1]
        if g.random.random() < 0.5:
            g.add("InstanceNormalization", [x, g.const(g.draw((c,))), g.const(g.draw((c,)))])
        else:
            stats = [g.const(a) for a in (g.draw((c,)), g.draw((c,)), g.draw((c,)), np.abs(g.draw((c,))) + F(0.5))]
            g.add("BatchNormalization", [x] + stats)


def product(g):
    a = g.pick(FLOATS, rank=range(1, 5))
    if a is None:
        return
    inner = a.shape[-1]
    if 0 in a.shape:
        return
    if g.random.random() < 0.6:
        fits = [v for v in g.values if v.array.dtype == np.float32 and v.rank >= 1 and
                (v.shape[-2] if v.rank > 1 else v.shape[0]) == inner and broadcasts(v.shape[:-2], a.shape[:-2])]
        b = g.random.choice(fits) if fits else None
        if b is None and a.rank >= 2:  # a matrix with itself
            turned = g.add("Transpose", [a], perm=list(range(a.rank - 2)) + [a.rank - 1, a.rank - 2], exact=a.exact)
            b = turned[0] if turned else None
        if b is not None:
            g.add("MatMul", [a, b])
    elif a.rank == 2:
        ta, tb = g.random.randint(0, 1), g.random.randint(0, 1)
        k, n = (a.shape[0] if ta else a.shape[1]), g.random.randint(1, 9)
        b = g.const(g.draw((n, k) if tb else (k, n)))
        m = a.shape[1] if ta else a.shape[0]
        c = g.random.choice([None, g.const(g.draw((n,))), g.const(g.draw((1, n))), g.const(g.draw(()))])
        g.add("Gemm", [a, b] + ([c] if c else []), transA=ta, transB=tb, alpha=g.random.choice([1.0, 0.5]), beta=g.random.choice([1.0, 2.0]))
    else:
        g.add("MatMul", [a, g.const(g.draw((inner, g.random.randint(1, 9))))])


def windows(g):
    x = g.pick(FLOATS, rank=(3, 4, 5), most=2000)
    if x is None:
        return
    spatial = x.rank - 2
    kernel = [g.random.randint(1, 3) for _ in range(spatial)]
    strides = [g.random.randint(1, 2) for _ in range(spatial)]
    pads = [g.random.randint(0, k - 1) for k in kernel * 2]
    if 0 in x.shape or any(d < 6 for d in x.shape[2:]) and max(kernel) > min(x.shape[2:]):
        return
    c = x.shape[1]
    kind = g.random.random()
    if kind < 0.45:
        groups = g.random.choice([d for d in range(1, c + 1) if c % d == 0])
        out = groups * g.random.randint(1, 4)
        w = g.const(g.draw((out, c // groups, *kernel)))
        extra = [g.const(g.draw((out,)))] if g.random.random() < 0.5 else []
        auto = {"auto_pad": g.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])} if g.random.random() < 0.2 else {"pads": pads}
        g.add("Conv", [x, w] + extra, kernel_shape=kernel, strides=strides, group=groups,
              dilations=[g.random.randint(1, 2) for _ in kernel], **auto)
    elif kind < 0.6:
        groups = g.random.choice([d for d in range(1, c + 1) if c % d == 0])
        w = g.const(g.draw((c, g.random.randint(1, 3), *kernel)))
        g.add("ConvTranspose", [x, w], kernel_shape=kernel, strides=strides, group=groups, pads=pads,
              output_padding=[g.random.randint(0, s - 1) for s in strides])
    elif kind < 0.75:
        g.add("MaxPool", [x], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=g.random.randint(0, 1), exact=x.exact)
    elif kind < 0.85:
        g.add("AveragePool", [x], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=g.random.randint(0, 1),
              count_include_pad=g.random.randint(0, 1))
    elif kind < 0.9:
        g.add(g.random.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x])
    elif spatial == 2:
        scales = g.const(np.array([1, 1, g.random.choice([.5, 1, 1.5, 2]), g.random.choice([.5, 2, 3])], F))
        g.add("Resize", [x, None, scales], mode=g.random.choice(["nearest", "linear"]),
              coordinate_transformation_mode=g.random.choice(["half_pixel", "asymmetric", "pytorch_half_pixel"]))


def data_sized(g):
    x = g.pick(NUMBERS, rank=range(1, 4), exact=True, most=60)
    if x is None:
        return
    kind = g.random.random()
    axis = g.random.randrange(x.rank)
    if kind < 0.4:
        g.add("NonZero", [x], exact=True)
    elif kind < 0.7 and x.array.shape[axis]:  # a condition that is longer than its axis is refused, not cut
        g.add("Compress", [x, g.const(g.draw((1,), bool))], axis=axis, exact=True)
    else:
        g.add("Unique", [x], outputs=1, exact=True)


def branch(g):
    """An If on a comparison; both branches compute from outer values."""
    x = g.pick(FLOATS, rank=range(0, 4))
    s = g.pick(NUMBERS, exact=True)
    if x is None or s is None or s.array.size == 0:
        return
    total = g.add("ReduceMax", [s], keepdims=0, exact=True)
    if not total:
        return
    zero = g.const(np.array(g.random.randint(-2, 2), s.array.dtype))
    cond = g.add("Greater", [total[0], zero], exact=True)
    if not cond:
        return
    arms = []
    for op in g.random.sample(["Abs", "Neg", "Tanh", "Identity", "Sigmoid", "Relu"], 2):
        name = g.fresh("b")
        inner = [helper.make_node(op, [x.name], [name])]
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * x.rank)
        arms.append(helper.make_graph(inner, name + "_arm", [], [out]))
    g.append(helper.make_node("If", [cond[0].name], [g.fresh()], then_branch=arms[0], else_branch=arms[1]), [cond[0], x],
             False)


def subgraph(nodes, inputs, outputs, name):
    """A body: `inputs` and `outputs` are (name, dtype, rank)."""
    infos = [[helper.make_tensor_value_info(n, ONNX_OF(np.dtype(d)), [None] * r) for n, d, r in values]
             for values in (inputs, outputs)]
    return helper.make_graph(nodes, name, *infos)


def loop(g):
    """A Loop that carries a value over, reads an outer one and collects what it had; it may stop early."""
    x = g.pick(FLOATS, rank=range(0, 4), most=300)
    if x is None:
        return
    y = operand_like(g, x)
    if np.broadcast_shapes(x.shape, y.shape) != x.shape:
        return
    trips = g.const(np.array(g.random.randint(1, 4), np.int64))
    stop = g.random.randint(1, 4)
    last = g.const(np.array(stop, np.int64))
    b = g.fresh("l")
    step = g.random.choice(["Add", "Sub", "Max", "Min"])
    nodes = [helper.make_node(step, [b + "x", y.name], [b + "y"]),
             helper.make_node("Less", [b + "i", last.name], [b + "c"]),
             helper.make_node("Tanh" if g.random.random() < 0.5 else "Identity", [b + "x"], [b + "s"])]
    body = subgraph(nodes, [(b + "i", np.int64, 0), (b + "cond", bool, 0), (b + "x", F, x.rank)],
                    [(b + "c", bool, 0), (b + "y", F, x.rank), (b + "s", F, x.rank)], b)
    made = helper.make_node("Loop", [trips.name, "", x.name], [g.fresh(), g.fresh()], body=body)
    g.append(made, [trips, last, x, y], False)


def scan(g):
    """A Scan along an axis of one value, in a direction, with a state."""
    x = g.pick(FLOATS, rank=range(1, 5), most=1000)
    if x is None or 0 in x.shape:
        return
    axis = g.random.randrange(x.rank)
    rest = x.shape[:axis] + x.shape[axis + 1:]
    state = g.const(g.draw(rest))
    b = g.fresh("s")
    step = g.random.choice(["Add", "Max", "Sub"])
    nodes = [helper.make_node(step, [b + "h", b + "x"], [b + "n"]),
             helper.make_node(g.random.choice(["Identity", "Sigmoid", "Neg"]), [b + "n"], [b + "y"])]
    rank = x.rank - 1
    body = subgraph(nodes, [(b + "h", F, rank), (b + "x", F, rank)], [(b + "n", F, rank), (b + "y", F, rank)], b)
    made = helper.make_node("Scan", [state.name, x.name], [g.fresh(), g.fresh()], body=body, num_scan_inputs=1,
                            scan_input_axes=[axis], scan_input_directions=[g.random.randint(0, 1)],
                            scan_output_axes=[g.random.randrange(x.rank)],
                            scan_output_directions=[g.random.randint(0, 1)])
    g.append(made, [state, x], False)


def recurrent(g):
    """LSTM, GRU and RNN in every direction."""
    x = g.pick(FLOATS, rank=3, most=1000)
    if x is None or 0 in x.shape:
        return
    op, gates, outputs = g.random.choice([("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2)])
    direction = g.random.choice(["forward", "reverse", "bidirectional"])
    ways, hidden = 2 if direction == "bidirectional" else 1, g.random.randint(1, 5)
    w = g.const(g.draw((ways, gates * hidden, x.shape[2])) / F(4))
    r = g.const(g.draw((ways, gates * hidden, hidden)) / F(4))
    b = g.random.choice([None, g.const(g.draw((ways, 2 * gates * hidden)) / F(4))])
    attrs = {"linear_before_reset": g.random.randint(0, 1)} if op == "GRU" else {}
    g.add(op, [x, w, r, b], outputs=outputs, direction=direction, hidden_size=hidden, **attrs)


def quantize(g):
    x = g.pick(FLOATS, rank=range(1, 5), exact=True)
    if x is None:
        return
    dtype = g.random.choice([np.int8, np.uint8])
    axis = g.random.randrange(x.rank)
    shape = (x.shape[axis],) if g.random.random() < 0.4 and x.shape[axis] else ()
    scale = g.const(np.asarray(g.numpy.choice([0.25, 0.5, 1, 2], shape), F))
    zero = g.const(np.asarray(g.numpy.integers(0, 5, shape), dtype))
    found = g.add("QuantizeLinear", [x, scale, zero], axis=axis, exact=True)
    if found:
        g.add("DequantizeLinear", [found[0], scale, zero], axis=axis, exact=True)


def einsum(g):
    a = g.pick(FLOATS, rank=range(1, 5), most=1000)
    if a is None or 0 in a.shape:
        return
    letters = "abcdef"
    left = letters[: a.rank]
    shared = "".join(c for c in left if g.random.random() < 0.5)
    right = "".join(g.random.sample(shared + "x", len(shared) + 1))
    sizes = dict(zip(left, a.shape), x=3)
    b = g.const(g.draw(tuple(sizes[c] for c in right)))
    kept = [c for c in left + "x" if g.random.random() < 0.7]
    g.random.shuffle(kept)
    g.add("Einsum", [a, b], equation=f"{left},{right}->{''.join(kept)}")


FAMILIES = [(unary, 4), (binary, 5), (compare, 2), (logic, 1), (cast, 2), (reshape, 3), (transpose, 2), (concat, 2),
            (split, 1), (slice_, 2), (gather, 2), (spread, 2), (reduce, 3), (arg, 1), (rows, 2), (product, 3),
            (windows, 3), (data_sized, 0.4), (branch, 0.5), (loop, 0.6), (scan, 0.6), (recurrent, 0.7), (quantize, 0.7),
            (einsum, 0.7)] + wider.FAMILIES


def drawn(seed, sizes, most):
    """The graph of a seed; `sizes` of symbols, `most` elements of a value."""
    g = Graph(seed, sizes, most)
    for _ in range(g.random.randint(1, 3)):
        dims = [g.random.choice(["n", "m", "k", "n", 1, 2, 4, 7]) for _ in range(g.random.choice([0, 1, 2, 2, 3, 3, 4, 4, 5]))]
        g.input(dims, g.random.choice([F, F, F, F, np.int64, np.int32, bool]))
    nodes = g.random.randint(2, 25)
    families, weights = zip(*FAMILIES)
    for _ in range(8 * nodes):
        if len(g.nodes) >= nodes:
            break
        g.random.choices(families, weights)[0](g)
    return g
