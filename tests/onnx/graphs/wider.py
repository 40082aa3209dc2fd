"""wider.py: more families of operators to draw from: branches of sizes, loops in branches, sequences, integers as models are
quantized to them, scatters that combine, images, and what normalizes.
"""

import numpy as np
from graph import ONNX_OF, F
from onnx import helper

FLOATS = (np.float32,)
NUMBERS = (np.float32, np.int32, np.int64)


def body(nodes, inputs, outputs, name, constants=()):
    """A subgraph: `inputs` and `outputs` are (name, dtype, rank)."""
    infos = [[helper.make_tensor_value_info(n, ONNX_OF(np.dtype(d)), [None] * r) for n, d, r in values]
             for values in (inputs, outputs)]
    return helper.make_graph(nodes, name, *infos, list(constants))


def flag(g):
    """A bool that the values decide, or None."""
    s = g.pick(NUMBERS, exact=True)
    if s is None or s.array.size == 0:
        return None
    most = g.add("ReduceMax", [s], keepdims=0, exact=True)
    return (g.add("Greater", [most[0], g.const(np.array(g.random.randint(-2, 2), s.array.dtype))], exact=True) or [None])[0] if most else None


def sized_branch(g):
    """An If whose branches give different sizes: a part, or all of it twice, maybe by a loop inside."""
    x = g.pick(FLOATS, rank=range(1, 4), most=300)
    cond = flag(g) if x is not None else None
    if cond is None or not x.shape[0]:
        return
    a, b = g.fresh("b"), g.fresh("b")
    end = g.random.randint(1, x.shape[0])
    begin, stop, axis = (g.const(np.array([v], np.int64)) for v in (0, end, 0))
    part = [helper.make_node("Slice", [x.name, begin.name, stop.name, axis.name], [a + "y"])]
    twice = [helper.make_node("Concat", [x.name, x.name], [b + "y"], axis=0)]
    operands = [cond, x, begin, stop, axis]
    if g.random.random() < 0.5:  # a loop in the branch, which reads what is outside of both
        trips = g.const(np.array(g.random.randint(0, 3), np.int64))
        step = [helper.make_node(g.random.choice(["Add", "Max"]), [b + "v", x.name], [b + "w"]),
                helper.make_node("Identity", [b + "c"], [b + "d"])]
        inner = body(step, [(b + "i", np.int64, 0), (b + "c", bool, 0), (b + "v", F, x.rank)], [(b + "d", bool, 0), (b + "w", F, x.rank)], b)
        twice = [helper.make_node("Loop", [trips.name, "", x.name], [b + "l"], body=inner),
                 helper.make_node("Concat", [b + "l", x.name], [b + "y"], axis=0)]
        operands.append(trips)
    arms = [body(nodes, [], [(n + "y", F, x.rank)], n + "arm") for nodes, n in ((part, a), (twice, b))]
    g.append(helper.make_node("If", [cond.name], [g.fresh()], then_branch=arms[0], else_branch=arms[1]), operands, x.exact)


def deep_loop(g):
    """A Loop in a Scan, both of which read a value around them."""
    x = g.pick(FLOATS, rank=range(1, 4), most=200)
    if x is None or 0 in x.shape:
        return
    y = g.const(g.draw(x.shape[1:]))
    trips = g.const(np.array(g.random.randint(1, 3), np.int64))
    b, rank = g.fresh("d"), x.rank - 1
    step = [helper.make_node(g.random.choice(["Add", "Sub", "Min"]), [b + "v", y.name], [b + "t"]),
            helper.make_node("Tanh", [b + "t"], [b + "w"]), helper.make_node("Identity", [b + "c"], [b + "d"])]
    inner = body(step, [(b + "i", np.int64, 0), (b + "c", bool, 0), (b + "v", F, rank)], [(b + "d", bool, 0), (b + "w", F, rank)], b)
    nodes = [helper.make_node("Add", [b + "h", b + "e"], [b + "s"]),
             helper.make_node("Loop", [trips.name, "", b + "s"], [b + "n"], body=inner),
             helper.make_node("Mul", [b + "n", b + "e"], [b + "y"])]
    outer = body(nodes, [(b + "h", F, rank), (b + "e", F, rank)], [(b + "n", F, rank), (b + "y", F, rank)], b + "o")
    start = g.const(g.draw(x.shape[1:]))
    g.append(helper.make_node("Scan", [start.name, x.name], [g.fresh(), g.fresh()], body=outer, num_scan_inputs=1), [start, x, y, trips], False)


def sequence(g):
    """Parts of a value as a sequence, and one of them or some of them back."""
    x = g.pick(NUMBERS, rank=range(1, 4), most=500)
    if x is None:
        return
    axis = g.random.randrange(x.rank)
    if x.shape[axis] < 2:
        return
    cut = g.random.randint(1, x.shape[axis] - 1)
    sizes = g.const(np.array([cut, x.shape[axis] - cut], np.int64))
    parts = g.fresh("q")
    made = [helper.make_node("SplitToSequence", [x.name, sizes.name], [parts], axis=axis)]
    operands = [x, sizes]
    kind = g.random.randrange(3)
    if kind == 0:
        at = g.const(np.array(g.random.choice([-2, -1, 0, 1]), np.int64))
        made.append(helper.make_node("SequenceAt", [parts, at.name], [g.fresh()]))
        operands.append(at)
    elif kind == 1:
        at = g.const(np.array(g.random.choice([0, 1]), np.int64))
        fewer, more = g.fresh("q"), g.fresh("q")
        made += [helper.make_node("SequenceErase", [parts, at.name], [fewer]), helper.make_node("SequenceInsert", [fewer, x.name], [more]),
                 helper.make_node("ConcatFromSequence", [more], [g.fresh()], axis=axis)]
        operands.append(at)
    else:
        made.append(helper.make_node("SequenceLength", [parts], [g.fresh()]))
    g.append_all(made, operands, x.exact)


def integers(g):
    """Products and convolutions of bytes, as quantized models have them."""
    x = g.pick((np.float32,), rank=range(2, 5), exact=True, most=2000)
    if x is None or 0 in x.shape:
        return
    found = g.add("DynamicQuantizeLinear", [x], outputs=3, exact=True) if g.random.random() < 0.3 else None
    if found is None:
        zero = g.const(np.array(g.random.randint(0, 200), np.uint8))
        quantized = g.add("QuantizeLinear", [x, g.const(np.array(0.25, F)), zero], exact=True)
        if not quantized:
            return
        q = quantized[0]
    elif found:
        q, zero = found[0], found[2]
    else:
        return
    if x.rank == 4 and g.random.random() < 0.7:
        kernel = [g.random.randint(1, min(3, d)) for d in x.shape[2:]]
        w = g.const(g.numpy.integers(0, 256, (g.random.randint(1, 5), x.shape[1], *kernel)).astype(np.uint8))
        g.add("ConvInteger", [q, w, zero, g.const(np.array(128, np.uint8))], exact=True, strides=[g.random.randint(1, 2) for _ in kernel])
        return
    n = g.random.randint(1, 9)
    w = g.const(g.numpy.integers(-128, 128, (x.shape[-1], n)).astype(np.int8))
    offset = g.const(np.array(g.random.randint(-9, 9), np.int8))
    if g.random.random() < 0.5:
        g.add("MatMulInteger", [q, w, zero, offset], exact=True)


def combine(g):
    """Scatters that add, multiply or compare, and a one-hot."""
    x = g.pick(FLOATS, rank=range(1, 4), exact=True, most=500)
    if x is None or 0 in x.shape:
        return
    reduction = g.random.choice(["add", "max", "min", "mul"])
    if g.random.random() < 0.5:
        shape = [g.random.randint(1, d) for d in x.shape]
        axis = g.random.randrange(x.rank)
        index = g.const(g.numpy.integers(-x.shape[axis], x.shape[axis], shape))
        g.add("ScatterElements", [x, index, g.const(g.draw(tuple(shape)))], axis=axis, reduction=reduction, exact=True)
    else:
        last = g.random.randint(1, x.rank)
        index = np.stack([g.numpy.integers(0, d, (4,)) for d in x.shape[:last]], -1)
        g.add("ScatterND", [x, g.const(index), g.const(g.draw((4,) + x.shape[last:]))], reduction=reduction, exact=True)


def images(g):
    x = g.pick(FLOATS, rank=4, most=2000)
    if x is None or 0 in x.shape:
        return
    n, c, h, w = x.shape
    kind = g.random.randrange(5)
    if kind == 0:
        sizes = g.const(np.array([n, c, g.random.randint(1, 9), g.random.randint(1, 9)], np.int64))
        g.add("Resize", [x, None, None, sizes], mode=g.random.choice(["linear", "cubic", "nearest"]), coordinate_transformation_mode="half_pixel")
    elif kind == 1:
        grid = g.const(g.numpy.uniform(-1.2, 1.2, (n, 3, 4, 2)).astype(F))
        g.add("GridSample", [x, grid], mode=g.random.choice(["linear", "nearest"]), padding_mode=g.random.choice(["zeros", "border"]), align_corners=g.random.randint(0, 1))
    elif kind == 2:
        low = g.numpy.uniform(0, 3, (3, 2))
        rois = g.const(np.concatenate([low, low + g.numpy.uniform(1, 4, (3, 2))], 1).astype(F))
        g.add("RoiAlign", [x, rois, g.const(g.numpy.integers(0, n, 3))], output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.5)
    elif kind == 3:
        if h % 2 == 0 and w % 2 == 0:
            g.add("SpaceToDepth", [x], blocksize=2, exact=x.exact)
        elif c % 4 == 0:
            g.add("DepthToSpace", [x], blocksize=2, mode=g.random.choice(["DCR", "CRD"]), exact=x.exact)
    else:
        g.add("LpPool", [x], kernel_shape=[g.random.randint(1, min(2, h)), g.random.randint(1, min(2, w))], p=2)


def scaled(g):
    """What normalizes, and sums in odd ways."""
    x = g.pick(FLOATS, rank=range(1, 5))
    if x is None or 0 in x.shape:
        return
    kind = g.random.randrange(5)
    if kind == 0:
        moved = g.add("Add", [x, g.const(np.array(20, F))])  # away from 0; nothing if a result were infinite
        if moved:
            g.add("LpNormalization", moved, axis=g.random.randrange(x.rank), p=g.random.randint(1, 2))
    elif kind == 1 and x.rank >= 3:
        c = x.shape[1]
        groups = g.random.choice([d for d in range(1, c + 1) if c % d == 0])
        g.add("GroupNormalization", [x, g.const(g.draw((c,))), g.const(g.draw((c,)))], num_groups=groups, epsilon=0.5)
    elif kind == 2 and x.rank >= 2 and x.exact:
        lengths = g.const(g.numpy.integers(1, x.shape[0] + 1, x.shape[1]))
        g.add("ReverseSequence", [x, lengths], time_axis=0, batch_axis=1, exact=True)
    elif kind == 3 and x.rank >= 2:
        g.add("Einsum", [x], equation=g.random.choice(["...ij->...ji", "...ij->...i", "...ij->...", "...i->i..."]))
    elif kind == 4 and x.exact:
        g.add("Hardmax", [x], axis=g.random.randrange(x.rank), exact=True)


FAMILIES = [(sized_branch, 0.5), (deep_loop, 0.4), (sequence, 0.6), (integers, 0.7), (combine, 0.6), (images, 0.8), (scaled, 0.8)]
