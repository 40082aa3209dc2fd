"""tiny.py: networks below a millisecond: MLPerf Tiny's four (Banbury et al. 2021), perceptrons, and chains of operators."""

from graph import Graph


def kws():
    """Keyword spotting: DS-CNN on 49 frames of 10 coefficients."""
    g = Graph()
    x = g.conv("input", 1, 64, (10, 4), 2, pads=[4, 1, 5, 1])
    for _ in range(4):
        x = g.conv(g.conv(x, 64, 64, 3, groups=64), 64, 64, 1)
    g.classifier(x, 64, 12, softmax=True)
    return g.model("kws", {"input": [1, 1, 49, 10]}, {"output": [1, 12]})


def vww():
    """Visual wake words: MobileNet v1 of width 0.25 on 96 x 96."""
    g, channels = Graph(), 8
    x = g.conv("input", 3, 8, 3, 2)
    for width, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)):
        x = g.conv(g.conv(x, channels, channels, 3, stride, groups=channels), channels, width, 1)
        channels = width
    g.classifier(x, 256, 2, softmax=True)
    return g.model("vww", {"input": [1, 3, 96, 96]}, {"output": [1, 2]})


def resnet8():
    """Image classification on 32 x 32."""
    g, channels = Graph(), 16
    x = g.conv("input", 3, 16, 3)
    for width, stride in ((16, 1), (32, 2), (64, 2)):
        y = g.conv(g.conv(x, channels, width, 3, stride), width, width, 3, act=None, gain=0.5)
        shortcut = g.conv(x, channels, width, 1, stride, act=None) if stride == 2 else x
        x, channels = g.node("Relu", g.node("Add", y, shortcut)), width
    g.classifier(x, 64, 10, softmax=True)
    return g.model("resnet8", {"input": [1, 3, 32, 32]}, {"output": [1, 10]})


def perceptron(name, widths, batch):
    """Products with ReLU between them."""
    g, x = Graph(), "input"
    for i, (width, following) in enumerate(zip(widths, widths[1:])):
        last = i + 2 == len(widths)
        x = g.gemm(x, width, following, "output" if last else None, gain=1.4)
        x = x if last else g.node("Relu", x)
    return g.model(name, {"input": [batch, widths[0]]}, {"output": [batch, widths[-1]]})


def ae():
    """Anomaly detection: an autoencoder of 640 features."""
    return perceptron("ae", (640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640), 1)


def mlp():
    return perceptron("mlp", (784, 256, 10), "batch")


def mlp_1024():
    return perceptron("mlp_1024", (1024, 1024, 1024, 1024, 1000), "batch")


def chain(length):
    """`length` operators on 16 numbers a row, each cheap: what is measured is the cost of an operator."""
    g, x = Graph(), "input"
    for i in range(length - 1):
        op = ("Sigmoid", "Sin", "Tanh", "Add")[i % 4]
        x = g.node(op, x, *(["input"] if op == "Add" else []))
    g.node("Neg", x, out="output")
    return g.model(f"chain_{length}", {"input": ["batch", 16]}, {"output": ["batch", 16]})
