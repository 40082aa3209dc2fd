"""detectors.py: networks that find faces or text in an image, or read a line of text; no dim of an image is known."""

from graph import Graph

OPEN_IMAGE = {"input": ["batch", 3, "height", "width"]}


def doubled(g, x):
    """Twice the height and width by nearest neighbours, as PyTorch exports `interpolate(scale_factor=2)`."""
    scales = g.constant([1, 1, 2, 2], "float32")
    return g.node("Resize", x, "", scales, mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric")


def rows_of(g, x, values, out):
    """A head's map [batch, anchors * values, height, width] as rows of `values`."""
    rows = g.node("Transpose", x, perm=[0, 2, 3, 1])
    return g.node("Reshape", rows, g.ints(0, -1, values), out=out)


def yunet():
    """Wu et al. 2023: depthwise-separable units without steps, pools between them, heads at strides of 8, 16 and 32."""
    g, levels, outputs = Graph(), [], {}

    def unit(x, channels, width, act="Relu"):
        x = g.conv(x, channels, width, 1, act=None, gain=0.7)
        return g.conv(x, width, width, 3, groups=width, act=act, gain=1.0 if act == "Relu" else 0.5)

    x, channels = g.conv("input", 3, 16, 3, 2), 16
    x = unit(x, 16, 16)
    for width in (32, 64, 64, 64, 64):
        x = unit(unit(x, channels, channels), channels, width)
        channels = width
        levels.append(x)
        x = g.max_pool(x, 2, 2)
    levels = levels[2:]
    for k in (2, 1, 0):
        above = levels[k] if k == 2 else g.node("Add", levels[k], doubled(g, levels[k + 1]))
        levels[k] = unit(above, 64, 64)
    for k, level in enumerate(levels):
        shared = unit(level, 64, 64)
        for head, values in (("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)):
            y = unit(shared, 64, values, act="Sigmoid" if values == 1 else None)
            name = f"{head}_{8 << k}"
            rows_of(g, y, values, name)
            outputs[name] = ["batch", f"places_{k}", values]
    return g.model("yunet", OPEN_IMAGE, outputs)


def scrfd():
    """Guo et al. 2021, 500 MFLOP: MobileNet units, a pyramid of 16 channels in 3x3, heads of two anchors a place."""
    g, levels, outputs = Graph(), [], {}

    def unit(x, channels, width, stride=1):
        return g.conv(g.conv(x, channels, channels, 3, stride, groups=channels), channels, width, 1)

    x, channels = unit(g.conv("input", 3, 16, 3, 2), 16, 16), 16
    for width, blocks in ((40, 2), (72, 3), (152, 2), (288, 6)):
        for block in range(blocks):
            x, channels = unit(x, channels, width, 2 if block == 0 else 1), width
        levels.append((x, channels))
    levels = [g.conv(x, channels, 16, 1, act=None, gain=0.5) for x, channels in levels[1:]]
    for k in (1, 0):
        levels[k] = g.node("Add", levels[k], doubled(g, levels[k + 1]))
    levels = [g.conv(x, 16, 16, 3, act=None, gain=0.7) for x in levels]
    for k in (1, 2):
        levels[k] = g.node("Add", levels[k], g.conv(levels[k - 1], 16, 16, 3, 2, act=None, gain=0.7))
    for k, x in enumerate(levels):
        x = g.conv(x, 16, 16, 3, act=None, gain=0.7) if k else x
        for channels in (16, 64):
            x = g.conv(g.conv(x, channels, channels, 3, groups=channels), channels, 64, 1)
        for head, values in (("score", 1), ("bbox", 4), ("kps", 10)):
            y = g.conv(x, 64, 2 * values, 3, act="Sigmoid" if values == 1 else None, gain=0.5)
            name = f"{head}_{8 << k}"
            rows_of(g, y, values, name)
            outputs[name] = ["batch", f"anchors_{k}", values]
    return g.model("scrfd", OPEN_IMAGE, outputs)


def inverted(g, x, channels, hidden, width, kernel, stride, squeeze, act):
    """A block of MobileNetV3 (Howard et al. 2019): expand, depthwise, squeeze and excite, project."""
    y = g.conv(x, channels, hidden, 1, act=act)
    y = g.conv(y, hidden, hidden, kernel, stride, groups=hidden, act=act)
    if squeeze:
        s = g.conv(g.node("GlobalAveragePool", y), hidden, hidden // 4, 1)
        y = g.node("Mul", y, g.conv(s, hidden // 4, hidden, 1, act="HardSigmoid"))
    residual = stride == 1 and channels == width
    y = g.conv(y, hidden, width, 1, act=None, gain=0.4 if residual else 0.7)
    return g.node("Add", x, y) if residual else y


def text_detector():
    """DB (Liao et al. 2020) as PP-OCR has it: half of MobileNetV3, a pyramid of 96 channels, a map of text."""
    g, channels, levels = Graph(), 8, []
    x = g.conv("input", 3, 8, 3, 2, act="HardSwish")
    for hidden, width, kernel, stride, act in (
            (8, 8, 3, 1, "Relu"), (32, 16, 3, 2, "Relu"), (40, 16, 3, 1, "Relu"), (40, 24, 5, 2, "Relu"),
            (64, 24, 5, 1, "Relu"), (64, 24, 5, 1, "Relu"), (120, 40, 3, 2, "HardSwish"), (104, 40, 3, 1, "HardSwish"),
            (96, 40, 3, 1, "HardSwish"), (96, 40, 3, 1, "HardSwish"), (240, 56, 3, 1, "HardSwish"),
            (336, 56, 3, 1, "HardSwish"), (336, 80, 5, 2, "HardSwish"), (480, 80, 5, 1, "HardSwish"),
            (480, 80, 5, 1, "HardSwish")):
        if stride == 2 and channels > 8:
            levels.append((x, channels))
        x, channels = inverted(g, x, channels, hidden, width, kernel, stride, False, act), width
    levels.append((g.conv(x, channels, 480, 1, act="HardSwish"), 480))
    levels = [g.conv(y, width, 96, 1, act=None, gain=0.5) for y, width in levels]
    for k in (2, 1, 0):
        levels[k] = g.node("Add", levels[k], doubled(g, levels[k + 1]))
    parts = []
    for k, y in enumerate(levels):
        y = g.conv(y, 96, 24, 3, act=None, gain=0.7)
        for _ in range(k):
            y = doubled(g, y)
        parts.append(y)
    x = g.conv(g.node("Concat", *reversed(parts), axis=1), 96, 24, 3)
    for width, act in ((24, "Relu"), (1, None)):
        weight = g.weight(24, width, 2, 2, scale=0.2)
        x = g.activate(g.node("ConvTranspose", x, weight, g.weight(width, scale=0.05), kernel_shape=[2, 2],
                              strides=[2, 2]), act)
    g.node("Sigmoid", x, out="output")
    return g.model("text_detector", OPEN_IMAGE, {"output": ["batch", 1, "rows", "columns"]})


def crnn():
    """Shi et al. 2015: convolutions that reduce the height of a line of text to 1, and two LSTMs both ways."""
    g = Graph()
    x = g.max_pool(g.conv("input", 1, 64, 3), 2, 2)
    x = g.max_pool(g.conv(x, 64, 128, 3), 2, 2)
    for channels, width in ((128, 256), (256, 512)):
        x = g.conv(g.conv(x, channels, width, 3), width, width, 3)
        x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 1], pads=[0, 1, 0, 1])
    x = g.conv(x, 512, 512, 2, pads=0)
    x = g.node("Transpose", g.node("Squeeze", x, g.ints(2)), perm=[2, 0, 1])
    for width in (512, 512):
        weights = g.weight(2, 4 * 256, width, scale=width ** -0.5), g.weight(2, 4 * 256, 256, scale=1 / 16)
        x = g.node("LSTM", x, *weights, g.weight(2, 8 * 256, scale=0.05), hidden_size=256, direction="bidirectional")
        x = g.node("Reshape", g.node("Transpose", x, perm=[0, 2, 1, 3]), g.ints(0, 0, -1))
    x = g.linear(x, 512, 37)
    g.node("Softmax", x, axis=-1, out="output")
    return g.model("crnn", {"input": ["batch", 1, 32, "width"]}, {"output": ["steps", "batch", 37]})
