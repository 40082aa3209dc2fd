"""images.py: what vision models do with shapes: windows, shuffles, pyramids, grids."""

import numpy as np
from builder import F, Model, floats
from transformers import dim, join


def swin():
    m = Model(13)  # windows of 2 x 2 after a cyclic shift, and back
    x = m.x("x", ["b", "h", "w", 3])
    cat = lambda v, axis: m("Concat", m("Slice", v, m.c([1]), m.c([2**31 - 1]), m.c([axis])), m("Slice", v, m.c([0]), m.c([1]), m.c([axis])), axis=axis)
    y = cat(cat(x, 1), 2)
    b, h, w = dim(m, x, 0), dim(m, x, 1), dim(m, x, 2)
    half = lambda v: m("Div", v, np.array(2))
    y = m("Transpose", m("Reshape", y, join(m, b, half(h), 2, half(w), 2, 3)), perm=[0, 1, 3, 2, 4, 5])
    y = m("Reshape", y, m.c([-1, 4, 3]))
    y = m("MatMul", m("Softmax", m("MatMul", y, m("Transpose", y, perm=[0, 2, 1])), axis=-1), y)
    y = m("Transpose", m("Reshape", y, join(m, -1, half(h), half(w), 2, 2, 3)), perm=[0, 1, 3, 2, 4, 5])
    m.out(m("Reshape", y, join(m, b, h, w, 3)))
    yield "swin", m, [{"x": floats(1, b, h, w, 3)} for b, h, w in ((1, 4, 6), (2, 2, 2))]


def convolutions():
    m = Model(11)  # ShuffleNet
    x = m.x("x", ["b", 6, "h", "w"])
    y = m("Reshape", x, m("Concat", m("Slice", m("Shape", x), m.c([0]), m.c([1])), m.c([2, 3]), m("Slice", m("Shape", x), m.c([2]), m.c([4])), axis=0))
    y = m("Reshape", m("Transpose", y, perm=[0, 2, 1, 3, 4]), m("Shape", x))
    a, b = m("Split", y, axis=1, outs=2)
    b = m("Conv", b, floats(1, 3, 1, 3, 3), group=3, pads=[1] * 4, kernel_shape=[3, 3])
    m.out(m("Concat", a, m("Relu", b), axis=1))
    yield "shufflenet", m, [{"x": floats(2, b, 6, h, w)} for b, h, w in ((1, 4, 5), (2, 1, 3))]
    m = Model(11)  # squeeze and excitation with hard swish by Clip
    x = m.x("x", ["b", 8, "h", "w"])
    s = m("Relu", m("Conv", m("GlobalAveragePool", x), floats(1, 2, 8, 1, 1), floats(2, 2)))
    s = m("Conv", s, floats(3, 8, 2, 1, 1), floats(4, 8))
    s = m("Div", m("Clip", m("Add", s, 3.0), 0.0, 6.0), 6.0)
    m.out(m("Mul", x, s))
    yield "excitation", m, [{"x": floats(5, b, 8, h, w)} for b, h, w in ((1, 3, 3), (2, 5, 1))]
    m = Model(13)  # a pyramid: what is coarse is resized to what is fine, padded where odd
    x = m.x("x", [1, 3, "h", "w"])
    c1 = m("Relu", m("Conv", x, floats(1, 4, 3, 3, 3), pads=[1] * 4, strides=[2, 2]))
    c2 = m("Relu", m("Conv", c1, floats(2, 4, 4, 3, 3), pads=[1] * 4, strides=[2, 2]))
    size = m("Concat", m("Slice", m("Shape", c2), m.c([0]), m.c([2])), m("Slice", m("Shape", c1), m.c([2]), m.c([4])), axis=0)
    up = m("Resize", c2, None, None, size, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    m.out(m("Add", c1, up), m("AveragePool", c2, kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1, ceil_mode=1, strides=[2, 2]))
    yield "pyramid", m, [{"x": floats(3, 1, 3, h, w)} for h, w in ((8, 8), (7, 13))]
    m = Model(13)  # U-Net: transposed convolution, padded to the size of what it meets
    x = m.x("x", [1, 2, "h", "w"])
    d = m("MaxPool", m("Conv", x, floats(1, 4, 2, 3, 3), pads=[1] * 4), kernel_shape=[2, 2], strides=[2, 2])
    u = m("ConvTranspose", d, floats(2, 4, 2, 2, 2), floats(3, 2), kernel_shape=[2, 2], strides=[2, 2])
    dy, dx = (m("Sub", dim(m, x, a), dim(m, u, a)) for a in (2, 3))
    u = m("Pad", u, join(m, 0, 0, 0, 0, 0, 0, dy, dx), mode="constant")
    m.out(m("Concat", x, u, axis=1))
    yield "unet", m, [{"x": floats(4, 1, 2, h, w)} for h, w in ((4, 6), (5, 7))]
    m = Model(11)  # pixel shuffle and its inverse by Reshape
    x = m.x("x", ["b", 8, "h", "w"])
    y = m("Reshape", x, m("Concat", m("Slice", m("Shape", x), m.c([0]), m.c([1])), m.c([2, 2, 2]), m("Slice", m("Shape", x), m.c([2]), m.c([4])), axis=0))
    y = m("Transpose", y, perm=[0, 1, 4, 2, 5, 3])
    hw = m("Mul", m("Slice", m("Shape", x), m.c([2]), m.c([4])), m.c([2, 2]))
    y = m("Reshape", y, m("Concat", m.c([0, 2]), hw, axis=0))
    m.out(y, m("DepthToSpace", x, blocksize=2, mode="CRD"), m("SpaceToDepth", y, blocksize=2))
    yield "pixel_shuffle", m, [{"x": floats(1, b, 8, h, w)} for b, h, w in ((1, 2, 3), (2, 1, 1))]


def grids():
    m = Model(16)  # deformable attention: points sampled from a level of a flattened pyramid
    value, points, weights = m.x("value", ["b", "hw", 2, 4]), m.x("points", ["b", "q", 2, 3, 2]), m.x("weights", ["b", "q", 2, 3])
    b, q = dim(m, points, 0), dim(m, points, 1)
    v = m("Reshape", m("Transpose", value, perm=[0, 2, 3, 1]), join(m, m("Mul", b, np.array(2)), 4, 3, -1))
    grid = m("Sub", m("Mul", points, 2.0), 1.0)
    grid = m("Reshape", m("Transpose", grid, perm=[0, 2, 1, 3, 4]), join(m, m("Mul", b, np.array(2)), q, 3, 2))
    y = m("GridSample", v, grid, mode="bilinear", padding_mode="zeros", align_corners=0)
    w = m("Reshape", m("Transpose", m("Softmax", weights, axis=-1), perm=[0, 2, 1, 3]), join(m, m("Mul", b, np.array(2)), 1, q, 3))
    y = m("ReduceSum", m("Mul", y, w), m.c([-1]), keepdims=0)
    m.out(m("Transpose", m("Reshape", y, join(m, b, 8, q)), perm=[0, 2, 1]))
    yield "deformable", m, [{"value": floats(1, b, 12, 2, 4), "points": np.abs(floats(2, b, q, 2, 3, 2)) % 1, "weights": floats(3, b, q, 2, 3)}
                            for b, q in ((1, 5), (2, 1))]
    m = Model(16)  # optical flow: a grid of pixels moved and normalized by its own size
    x, flow = m.x("x", ["b", 2, "h", "w"]), m.x("flow", ["b", 2, "h", "w"])
    h, w = dim(m, x, 2), dim(m, x, 3)
    ys, xs = (m("Cast", m("Range", np.array(0), n, np.array(1)), to=1) for n in (h, w))
    gx = m("Expand", m("Unsqueeze", xs, m.c([0])), join(m, h, w))
    gy = m("Expand", m("Unsqueeze", ys, m.c([1])), join(m, h, w))
    grid = m("Add", m("Unsqueeze", m("Concat", m("Unsqueeze", gx, m.c([0])), m("Unsqueeze", gy, m.c([0])), axis=0), m.c([0])), flow)
    last = m("Cast", m("Sub", m("Concat", m("Unsqueeze", w, m.c([0])), m("Unsqueeze", h, m.c([0])), axis=0), m.c([1])), to=1)
    grid = m("Sub", m("Mul", m("Div", grid, m("Reshape", last, m.c([1, 2, 1, 1]))), 2.0), 1.0)
    m.out(m("GridSample", x, m("Transpose", grid, perm=[0, 2, 3, 1]), align_corners=1, padding_mode="border"))
    yield "flow", m, [{"x": floats(1, b, 2, h, w), "flow": floats(2, b, 2, h, w)} for b, h, w in ((1, 4, 5), (2, 3, 2))]
    m = Model(13)  # positions interpolated to the patches of an image of any size
    x = m.x("x", ["b", 3, "h", "w"])
    y = m("Conv", x, floats(1, 6, 3, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    size = m("Concat", m.c([1, 6]), m("Slice", m("Shape", y), m.c([2]), m.c([4])), axis=0)
    table = m("Resize", floats(2, 1, 6, 3, 3), None, None, size, mode="cubic", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75)
    y = m("Add", y, table)
    y = m("Transpose", m("Reshape", y, m.c([0, 6, -1])), perm=[0, 2, 1])
    first = m("Expand", floats(3, 1, 1, 6), join(m, dim(m, x, 0), 1, 1))
    m.out(m("Concat", first, y, axis=1))
    yield "vit", m, [{"x": floats(4, b, 3, h, w)} for b, h, w in ((1, 6, 6), (2, 4, 10))]


def cases():
    for family in (swin, convolutions, grids):
        yield from family()
