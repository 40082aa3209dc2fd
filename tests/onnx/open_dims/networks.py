"""networks.py: networks that compute sizes as exporters of today do, with height, width, length and batch left open.

Each family takes a depth of 1 to 12 levels and a random.Random, and gives a Model with the sizes at which it is run:
two bindings of its symbols. Sizes are written in the ways that exporters write them: read off a tensor by Shape and
Gather, or computed once from the sizes of the inputs, as in `1 + (h - 1) // 8`.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wild"))
from builder import F, Model  # noqa: E402

CHANNELS = 4


def dim(m, x, axis):
    return m("Shape", x, start=axis, end=axis + 1)


def join(m, *parts):
    return m("Concat", *(p if isinstance(p, str) else m.c([p]) for p in parts), axis=0)


def image(m):
    return m.x("x", ["batch", CHANNELS, "h", "w"])


def sizes(**symbols):
    """Two bindings: `h=(33, 40)` is 33 in the first and 40 in the second."""
    return [{name: values[i] for name, values in symbols.items()} for i in range(2)]


def weights(draw, *shape):
    return np.random.default_rng(draw.randrange(1 << 30)).uniform(-0.5, 0.5, shape).astype(F)


def conv(m, draw, x, kernel=3, stride=1, pad=1, rank=2, channels=CHANNELS):
    return m("Conv", x, m.c(weights(draw, channels, channels, *[kernel] * rank)), strides=[stride] * rank,
             pads=[pad] * 2 * rank)


def halved(m, size):
    """1 + (size - 1) // 2, as torch.export writes the size of a strided convolution."""
    return m("Add", m.c([1]), m("Div", m("Add", m.c([-1]), size), m.c([2])))


def strided(depth, draw):
    """Convolutions and pools that halve, each with other windows."""
    m = Model(18)
    x = image(m)
    for level in range(depth):
        kernel = draw.choice([2, 3, 5])
        stride = 2 if level < 4 else 1
        pad = draw.choice([0, kernel // 2]) if level < 2 else kernel // 2
        if draw.random() < 0.6:
            x = conv(m, draw, x, kernel, stride, pad)
        else:
            x = m("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                  ceil_mode=draw.randrange(2))
    m.out(x, m("GlobalAveragePool", x))
    return m, sizes(batch=(1, 2), h=(97, 128), w=(101, 96))


def shuffled(depth, draw):
    """Channel shuffles between convolutions; sizes are computed from those of the input."""
    m = Model(18)
    x = image(m)
    batch, h, w = (dim(m, x, axis) for axis in (0, 2, 3))
    for level in range(depth):
        if level < 3:
            x, h, w = conv(m, draw, x, stride=2), halved(m, h), halved(m, w)
        split = m("Reshape", x, join(m, batch, 2, CHANNELS // 2, h, w))
        turned = m("Transpose", split, perm=[0, 2, 1, 3, 4])
        x = m("Reshape", turned, join(m, batch, CHANNELS, h, w))
        x = m("Relu", conv(m, draw, x))
    m.out(x)
    return m, sizes(batch=(1, 3), h=(33, 40), w=(29, 64))


def shuffled_by_shape(depth, draw):
    """The same as the older exporter writes it: sizes are read off each tensor."""
    m = Model(18)
    x = image(m)
    for level in range(depth):
        x = conv(m, draw, x, stride=2 if level < 3 else 1, pad=draw.randrange(2) if level < 2 else 1)
        shape = m("Shape", x)
        batch, h, w = (m("Unsqueeze", m("Gather", shape, np.array(axis)), m.c([0])) for axis in (0, 2, 3))
        split = m("Reshape", x, join(m, batch, 2, CHANNELS // 2, h, w))
        x = m("Reshape", m("Transpose", split, perm=[0, 2, 1, 3, 4]), join(m, batch, -1, h, w))
    m.out(x)
    return m, sizes(batch=(1, 2), h=(45, 60), w=(50, 41))


def windowed(depth, draw):
    """Attention windows: padding to a multiple, partition, merge, and the padding off again."""
    m = Model(18)
    x = image(m)
    for _ in range(depth):
        size = draw.choice([2, 3, 4])
        batch, h, w = (dim(m, x, axis) for axis in (0, 2, 3))
        more = [m("Mod", m("Sub", m.c([size]), m("Mod", s, m.c([size]))), m.c([size])) for s in (h, w)]
        padded = m("Pad", x, join(m, 0, 0, 0, 0, 0, 0, *more))
        rows, columns = (m("Div", dim(m, padded, axis), m.c([size])) for axis in (2, 3))
        parts = m("Reshape", padded, join(m, batch, CHANNELS, rows, size, columns, size))
        parts = m("Reshape", m("Transpose", parts, perm=[0, 2, 4, 3, 5, 1]), m.c([-1, size * size, CHANNELS]))
        scores = m("MatMul", parts, m("Transpose", parts, perm=[0, 2, 1]))
        parts = m("MatMul", m("Softmax", scores, axis=-1), parts)
        parts = m("Reshape", parts, join(m, batch, rows, columns, size, size, CHANNELS))
        whole = m("Transpose", parts, perm=[0, 5, 1, 3, 2, 4])
        height, width = m("Mul", rows, m.c([size])), m("Mul", columns, m.c([size]))
        whole = m("Reshape", whole, join(m, batch, CHANNELS, height, width))
        x = m("Add", x, m("Slice", whole, m.c([0, 0]), join(m, h, w), m.c([2, 3])))
    m.out(x)
    return m, sizes(batch=(1, 2), h=(7, 12), w=(10, 5))


def pyramid(depth, draw):
    """Feature maps of several levels, each brought to the size of the one above and added or concatenated."""
    m = Model(18)
    x = image(m)
    levels = [x]
    for _ in range(min(depth, 5)):
        levels.append(m("Relu", conv(m, draw, levels[-1], stride=2, pad=draw.randrange(2))))
    top = levels.pop()
    for level in reversed(levels):
        size = join(m, m("Shape", top, start=0, end=2), m("Shape", level, start=2))
        top = m("Resize", top, None, None, size, mode=draw.choice(["nearest", "linear"]))
        top = m("Add", top, level) if draw.random() < 0.5 else \
            m("Conv", m("Concat", top, level, axis=1), m.c(weights(draw, CHANNELS, 2 * CHANNELS, 1, 1)))
    m.out(top)
    return m, sizes(batch=(1, 2), h=(95, 128), w=(127, 100))


def doubled(depth, draw):
    """A network that halves by pools and doubles by Resize, with the difference to the map beside it padded away."""
    m = Model(18)
    x = image(m)
    beside = []
    for _ in range(min(depth, 4)):
        beside.append(x)
        x = m("MaxPool", conv(m, draw, x), kernel_shape=[2, 2], strides=[2, 2])
    for other in reversed(beside):
        x = m("Resize", x, None, m.c([1, 1, 2, 2], F), mode="nearest")
        more = [m("Sub", dim(m, other, axis), dim(m, x, axis)) for axis in (2, 3)]
        half = [m("Div", d, m.c([2])) for d in more]
        x = m("Pad", x, join(m, 0, 0, *half, 0, 0, *(m("Sub", d, e) for d, e in zip(more, half))))
        x = m("Conv", m("Concat", other, x, axis=1), m.c(weights(draw, CHANNELS, 2 * CHANNELS, 1, 1)))
    m.out(x)
    return m, sizes(batch=(1, 2), h=(37, 48), w=(50, 33))


def tokens(depth, draw):
    """Attention over h * w tokens of a map that a strided convolution made, and back to a map for the next."""
    m = Model(18)
    x = image(m)
    for level in range(depth):
        x = conv(m, draw, x, stride=2 if level < 2 else 1)
        batch, h, w = (dim(m, x, axis) for axis in (0, 2, 3))
        t = m("Transpose", m("Reshape", x, join(m, batch, CHANNELS, m("Mul", h, w))), perm=[0, 2, 1])
        keys = t
        if draw.random() < 0.5:  # keys of a smaller map
            small = m("Conv", x, m.c(weights(draw, CHANNELS, CHANNELS, 2, 2)), strides=[2, 2])
            keys = m("Transpose", m("Reshape", small, join(m, batch, CHANNELS, -1)), perm=[0, 2, 1])
        scores = m("MatMul", t, m("Transpose", keys, perm=[0, 2, 1]))
        t = m("Add", t, m("MatMul", m("Softmax", scores, axis=-1), keys))
        x = m("Reshape", m("Transpose", t, perm=[0, 2, 1]), join(m, batch, CHANNELS, h, w))
    m.out(x)
    return m, sizes(batch=(1, 2), h=(21, 32), w=(30, 17))


def framed(depth, draw):
    """Audio: strided convolutions over time, padding to whole frames, frames, and what remains of the length."""
    m = Model(18)
    x = m.x("x", ["batch", CHANNELS, "length"])
    for level in range(depth):
        x = conv(m, draw, x, kernel=draw.choice([3, 4, 5]), stride=2 if level < 4 else 1, pad=1, rank=1)
        if level % 3 == 2:
            size = draw.choice([4, 5])
            batch, length = dim(m, x, 0), dim(m, x, 2)
            more = m("Mod", m("Sub", m.c([size]), m("Mod", length, m.c([size]))), m.c([size]))
            frames = m("Reshape", m("Pad", x, join(m, 0, 0, 0, 0, 0, more)), join(m, batch, CHANNELS, -1, size))
            frames = m("Mul", frames, m("Softmax", frames, axis=-1))
            whole = m("Reshape", frames, join(m, batch, CHANNELS, -1))
            x = m("Slice", whole, m.c([0]), length, m.c([2]))
        elif level % 3 == 1:
            odd, even = (m("Slice", x, m.c([at]), m.c([1 << 40]), m.c([2]), m.c([2])) for at in (0, 1))
            x = m("Concat", odd, even, axis=2)
    m.out(x)
    return m, sizes(batch=(1, 2), length=(403, 520))


def cached(depth, draw):
    """Layers with caches of their own lengths, or of one length."""
    m = Model(18)
    x = m.x("x", ["batch", "new", CHANNELS])
    own = draw.random() < 0.5
    names, outs = [], []
    for level in range(depth):
        names.append(f"past{level}" if own else "past")
        past = m.x(f"cache{level}", ["batch", names[-1], CHANNELS])
        keys = m("Concat", past, m("MatMul", x, m.c(weights(draw, CHANNELS, CHANNELS))), axis=1)
        scores = m("MatMul", x, m("Transpose", keys, perm=[0, 2, 1]))
        x = m("Add", x, m("MatMul", m("Softmax", scores, axis=-1), keys))
        outs.append(keys)
    m.out(x, *outs)
    lengths = {name: (4 + i, 9 - i % 4) for i, name in enumerate(dict.fromkeys(names))}
    return m, sizes(batch=(1, 2), new=(1, 3), **lengths)


def many_inputs(depth, draw):
    """Inputs with dims of their own, each of which meets some others."""
    m = Model(18)
    count = 4 * depth
    lengths = [f"n{i}" for i in range(count)]
    x = [m.x(f"x{i}", [lengths[i], CHANNELS]) for i in range(count)]
    parts = [m("MatMul", v, m.c(weights(draw, CHANNELS, CHANNELS))) for v in x]
    joined = [m("Concat", a, b, axis=0) for a, b in zip(parts, parts[1:])]
    m.out(*joined, m("ReduceSum", m("Concat", *parts, axis=0), m.c([0]), keepdims=0))
    return m, sizes(**{n: (draw.randrange(1, 5), draw.randrange(1, 5)) for n in lengths})


def rows_of_classes(depth, draw):
    """What a data-dependent number of rows of each class leaves, one behind the other."""
    m = Model(18)
    x = m.x("x", ["boxes", 4])
    scores = m.x("scores", ["boxes", 3 * depth])
    found = []
    for k in range(3 * depth):
        column = m("Squeeze", m("Slice", scores, m.c([k]), m.c([k + 1]), m.c([1])), m.c([1]))
        at = m("Squeeze", m("NonZero", m("Greater", column, m.c(0.25))), m.c([0]))
        found.append(m("Gather", x, at, axis=0))
    every = m("Concat", *found, axis=0)
    m.out(every, m("ReduceSum", every, m.c([0]), keepdims=0))
    return m, sizes(boxes=(9, 14))


FAMILIES = [strided, shuffled, shuffled_by_shape, windowed, pyramid, doubled, tokens, framed, cached, many_inputs,
            rows_of_classes]


def inputs_of(m, binding, draw):
    """Arrays for the inputs at a binding of the symbols."""
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    arrays = {}
    for value in m.inputs:
        shape = [binding[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
        arrays[value.name] = numbers.uniform(-1, 1, shape).astype(F)
    return arrays
