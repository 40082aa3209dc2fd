"""detection.py: postprocessing as exporters of YOLO, SSD, Faster R-CNN, DETR and face detectors write it."""

import numpy as np
from builder import F, I, Model, floats
from onnx import helper


def boxes(seed, n):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 50, (n, 2)).astype(F)
    return np.concatenate([low, low + rng.uniform(5, 30, (n, 2)).astype(F)], 1)


def scores(seed, *shape):
    return np.random.default_rng(seed).uniform(0, 1, shape).astype(F)


def yolo():
    m = Model(11)  # NMS, then the boxes and scores that stay
    x, s = m.x("boxes", ["n", "k", 4]), m.x("scores", ["n", 3, "k"])
    found = m("NonMaxSuppression", x, s, m.c([20]), m.c([0.5]), m.c([0.3]))
    batch = m("Squeeze", m("Slice", found, m.c([0]), m.c([1]), m.c([1])), axes=[1])
    kind = m("Gather", found, np.array(1), axis=1)
    at = m("Gather", found, m.c([0, 2]), axis=1)
    picked = m("GatherND", x, at)
    score = m("GatherND", s, found)
    m.out(m("Concat", m("Cast", m("Unsqueeze", batch, axes=[1]), to=1), picked, m("Unsqueeze", score, axes=[1]), axis=1), kind)
    yield "yolo_nms", m, [{"boxes": np.stack([boxes(b, k) for b in range(n)]), "scores": scores(3, n, 3, k)} for n, k in ((1, 12), (2, 7))]
    m = Model(12)  # YOLOv5: grids decoded at three strides, then concatenated
    parts = []
    for i, stride in enumerate((8, 16)):
        x = m.x(f"p{i}", ["b", 18, f"h{i}", f"w{i}"])
        shape = m("Shape", x)
        b, h, w = (m("Gather", shape, np.array(d)) for d in (0, 2, 3))
        dims = lambda *v: m("Concat", *(m("Unsqueeze", a, axes=[0]) if isinstance(a, str) else m.c([a]) for a in v), axis=0)
        y = m("Sigmoid", m("Transpose", m("Reshape", x, dims(b, 3, 6, h, w)), perm=[0, 1, 3, 4, 2]))
        ys = m("Range", np.array(0), h, np.array(1))
        xs = m("Range", np.array(0), w, np.array(1))
        gy = m("Expand", m("Reshape", ys, m.c([1, 1, -1, 1, 1])), dims(1, 1, h, w, 1))
        gx = m("Expand", m("Reshape", xs, m.c([1, 1, 1, -1, 1])), dims(1, 1, h, w, 1))
        grid = m("Cast", m("Concat", gx, gy, axis=4), to=1)
        xy, wh, conf = m("Split", y, axis=4, split=[2, 2, 2], outs=3)
        xy = m("Mul", m("Add", m("Sub", m("Mul", xy, 2.0), 0.5), grid), float(stride))
        anchors = np.arange(1, 7, dtype=F).reshape(1, 3, 1, 1, 2)
        wh = m("Mul", m("Pow", m("Mul", wh, 2.0), 2.0), anchors)
        parts.append(m("Reshape", m("Concat", xy, wh, conf, axis=4), dims(b, -1, 6)))
    m.out(m("Concat", *parts, axis=1))
    yield "yolo_grid", m, [{"p0": floats(1, b, 18, h, w), "p1": floats(2, b, 18, h // 2, w // 2)} for b, h, w in ((1, 4, 6), (2, 2, 4))]


def ssd():
    m = Model(11)  # per class: threshold, NonZero, gather, sort, and a cut at 10
    x, s = m.x("boxes", ["k", 4]), m.x("scores", ["k", 4])
    kept = []
    for c in range(1, 4):
        column = m("Gather", s, np.array(c), axis=1)
        which = m("Squeeze", m("NonZero", m("Greater", column, 0.6)), axes=[0])
        near, b = m("Gather", column, which), m("Gather", x, which, axis=0)
        count = m("Shape", near)
        k = m("ReduceMin", m("Concat", count, m.c([3]), axis=0), axes=[0], keepdims=1)
        top, order = m("TopK", near, k, axis=0, outs=2)
        label = m("ConstantOfShape", k, value=helper.make_tensor("v", 1, [1], [float(c)]))
        kept.append(m("Concat", m("Gather", b, order, axis=0), m("Unsqueeze", top, axes=[1]), m("Unsqueeze", label, axes=[1]), axis=1))
    m.out(m("Concat", *kept, axis=0))
    yield "ssd_classes", m, [{"boxes": boxes(1, k), "scores": scores(k, k, 4)} for k in (9, 2)]


def faster_rcnn():
    m = Model(12)  # batched_nms of torchvision: boxes of each level moved apart, NMS, then the best few
    x, s, level = m.x("boxes", ["k", 4]), m.x("scores", ["k"]), m.x("level", ["k"], I)
    offset = m("Mul", m("Cast", level, to=1), m("Add", m("ReduceMax", x, keepdims=0), 1.0))
    moved = m("Add", x, m("Unsqueeze", offset, axes=[1]))
    moved = m("Unsqueeze", moved, axes=[0])
    flat = m("Unsqueeze", m("Unsqueeze", s, axes=[0]), axes=[0])
    found = m("NonMaxSuppression", moved, flat, m.c([np.iinfo(np.int64).max]), m.c([0.4]))
    keep = m("Squeeze", m("Slice", found, m.c([2]), m.c([3]), m.c([1])), axes=[1])
    keep = m("Slice", keep, m.c([0]), m.c([5]), m.c([0]))
    m.out(m("Gather", x, keep, axis=0), m("Gather", s, keep), keep)
    yield "batched_nms", m, [{"boxes": boxes(1, k), "scores": scores(k, k), "level": np.arange(k) % 3} for k in (12, 3)]
    m = Model(16)  # RoiAlign over levels: each box goes to the level of its size, results are scattered back
    f0, f1, x = m.x("f0", [1, 2, 16, 16]), m.x("f1", [1, 2, 8, 8]), m.x("boxes", ["k", 4])
    wh = m("Sub", m("Slice", x, m.c([2]), m.c([4]), m.c([1])), m("Slice", x, m.c([0]), m.c([2]), m.c([1])))
    size = m("Sqrt", m("ReduceProd", wh, axes=[1], keepdims=0))
    level = m("Cast", m("Clip", m("Floor", m("Add", m("Div", m("Log", m("Div", size, 14.0)), float(np.log(2))), 1.0)), 0.0, 1.0), to=7)
    out = m("ConstantOfShape", m("Concat", m("Shape", size), m.c([2, 3, 3]), axis=0))
    for i, (f, scale) in enumerate(((f0, 0.2), (f1, 0.1))):
        which = m("NonZero", m("Equal", level, np.array(i)))
        rows = m("Transpose", which, perm=[1, 0])
        picked = m("GatherND", x, rows)
        zero = m("ConstantOfShape", m("Shape", picked, start=0, end=1), value=helper.make_tensor("v", 7, [1], [0]))
        pooled = m("RoiAlign", f, picked, zero, output_height=3, output_width=3, sampling_ratio=2, spatial_scale=scale)
        out = m("ScatterND", out, rows, pooled)
    m.out(out)
    yield "roi_levels", m, [{"f0": floats(1, 1, 2, 16, 16), "f1": floats(2, 1, 2, 8, 8), "boxes": boxes(k, k)} for k in (6, 1)]
    m = Model(13)  # small boxes are dropped by a mask, with all that belongs to them
    x, s = m.x("boxes", ["k", 4]), m.x("scores", ["k"])
    w = m("Sub", m("Gather", x, np.array(2), axis=1), m("Gather", x, np.array(0), axis=1))
    h = m("Sub", m("Gather", x, np.array(3), axis=1), m("Gather", x, np.array(1), axis=1))
    mask = m("And", m("GreaterOrEqual", w, 12.0), m("GreaterOrEqual", h, 12.0))
    m.out(m("Compress", x, mask, axis=0), m("Compress", s, mask, axis=0), m("ReduceSum", m("Cast", mask, to=7), keepdims=0))
    yield "small_boxes", m, [{"boxes": boxes(k, k), "scores": scores(k, k)} for k in (10, 1)]


def detr():
    m = Model(16)
    logits, b = m.x("logits", ["n", "q", 5]), m.x("boxes", ["n", "q", 4])
    prob = m("Softmax", logits, axis=-1)
    s = m("Slice", prob, m.c([0]), m.c([-1]), m.c([-1]))
    best = m("ReduceMax", s, axes=[2], keepdims=0)
    label = m("ArgMax", s, axis=2, keepdims=0)
    n = m("Shape", best, start=1, end=2)
    top, order = m("TopK", best, m("Min", n, m.c([4])), axis=1, outs=2)
    at = m("Unsqueeze", order, m.c([2]))
    m.out(top, m("GatherElements", label, order, axis=1), m("GatherElements", b, m("Tile", at, m.c([1, 1, 4])), axis=1))
    yield "detr", m, [{"logits": floats(1, n, q, 5), "boxes": scores(2, n, q, 4)} for n, q in ((1, 6), (2, 3))]
    m = Model(11)  # CenterNet: peaks are where a maximum pool changes nothing
    x = m.x("heat", [1, 2, "h", "w"])
    heat = m("Sigmoid", x)
    peak = m("Equal", heat, m("MaxPool", heat, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1]))
    flat = m("Reshape", m("Mul", heat, m("Cast", peak, to=1)), m.c([1, -1]))
    top, order = m("TopK", flat, m.c([5]), outs=2)
    area = m("ReduceProd", m("Slice", m("Shape", x), m.c([2]), m.c([4])), keepdims=1)
    m.out(top, m("Div", order, area), m("Mod", order, area))
    yield "centernet", m, [{"heat": floats(1, 1, 2, h, w)} for h, w in ((5, 6), (8, 3))]


def masks():
    m = Model(13)  # pasting a mask: resized to its box, which the run gives, and padded to the image
    x, box = m.x("mask", [1, 1, 4, 4]), m.x("box", [4], I)
    x1, y1, x2, y2 = m("Split", box, m.c([1, 1, 1, 1]), axis=0, outs=4)
    h, w = m("Sub", y2, y1), m("Sub", x2, x1)
    y = m("Resize", x, None, None, m("Concat", m.c([1, 1]), h, w, axis=0), mode="linear", coordinate_transformation_mode="half_pixel")
    pads = m("Concat", m.c([0, 0]), y1, x1, m.c([0, 0]), m("Sub", m.c([20]), y2), m("Sub", m.c([24]), x2), axis=0)
    m.out(m("Greater", m("Pad", y, pads), 0.5))
    yield "paste_mask", m, [{"mask": scores(1, 1, 1, 4, 4), "box": np.array(b)} for b in ([2, 3, 10, 15], [0, 0, 24, 20])]


def cases():
    for family in (yolo, ssd, faster_rcnn, detr, masks):
        yield from family()
