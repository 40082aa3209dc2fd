"""images.py: networks that classify an image of 224 x 224, each as its paper describes it and exporters write it."""

import numpy as np

from graph import Graph

IMAGE = {"input": [1, 3, 224, 224]}
CLASSES = {"output": [1, 1000]}


def resnet50():
    """He et al. 2015, v1.5: the stride is in the 3x3."""
    g, channels = Graph(), 64
    x = g.max_pool(g.conv("input", 3, 64, 7, 2), 3, 2, 1)
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = g.conv(g.conv(x, channels, width, 1), width, width, 3, stride)
            y = g.conv(y, width, 4 * width, 1, act=None, gain=0.3)
            shortcut = g.conv(x, channels, 4 * width, 1, stride, act=None, gain=0.7) if block == 0 else x
            x, channels = g.node("Relu", g.node("Add", y, shortcut)), 4 * width
    g.classifier(x, 2048, 1000)
    return g.model("resnet50", IMAGE, CLASSES)


def mobilenetv2():
    """Sandler et al. 2018, width 1.0."""
    g, channels = Graph(), 32
    x = g.conv("input", 3, 32, 3, 2, act="Clip6")
    for expansion, width, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride, hidden = first if block == 0 else 1, channels * expansion
            y = g.conv(x, channels, hidden, 1, act="Clip6") if expansion != 1 else x
            y = g.conv(y, hidden, hidden, 3, stride, groups=hidden, act="Clip6")
            residual = stride == 1 and channels == width
            y = g.conv(y, hidden, width, 1, act=None, gain=0.4 if residual else 0.7)
            x, channels = g.node("Add", x, y) if residual else y, width
    g.classifier(g.conv(x, channels, 1280, 1, act="Clip6"), 1280, 1000)
    return g.model("mobilenetv2", IMAGE, CLASSES)


def squeezenet():
    """Iandola et al. 2016, version 1.1."""
    g = Graph()

    def fire(x, channels, squeeze, expand):
        x = g.conv(x, channels, squeeze, 1)
        return g.node("Concat", g.conv(x, squeeze, expand, 1), g.conv(x, squeeze, expand, 3), axis=1)

    x = g.max_pool(g.conv("input", 3, 64, 3, 2, pads=0), 3, 2)
    x = g.max_pool(fire(fire(x, 64, 16, 64), 128, 16, 64), 3, 2)
    x = g.max_pool(fire(fire(x, 128, 32, 128), 256, 32, 128), 3, 2)
    x = fire(fire(fire(fire(x, 256, 48, 192), 384, 48, 192), 384, 64, 256), 512, 64, 256)
    x = g.node("GlobalAveragePool", g.conv(x, 512, 1000, 1))
    g.node("Softmax", g.node("Flatten", x, axis=1), axis=-1, out="output")
    return g.model("squeezenet", IMAGE, CLASSES)


def densenet121():
    """Huang et al. 2016. The normalization before a block's first convolution cannot fold into one and stays."""
    g, growth, channels = Graph(), 32, 64

    def normalized(x, width):
        scale, mean = g.weight(width, scale=0.1, mean=1.0), g.weight(width, scale=0.1)
        variance = g.constant(g.random.uniform(0.5, 2.0, width).astype(np.float32))
        return g.node("Relu", g.node("BatchNormalization", x, scale, g.weight(width, scale=0.1), mean, variance))

    x = g.max_pool(g.conv("input", 3, 64, 7, 2), 3, 2, 1)
    for stage, blocks in enumerate((6, 12, 24, 16)):
        for _ in range(blocks):
            y = g.conv(normalized(x, channels), channels, 4 * growth, 1)
            x = g.node("Concat", x, g.conv(y, 4 * growth, growth, 3, act=None), axis=1)
            channels += growth
        if stage < 3:
            x = g.conv(normalized(x, channels), channels, channels // 2, 1, act=None)
            x, channels = g.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), channels // 2
    g.classifier(normalized(x, channels), channels, 1000)
    return g.model("densenet121", IMAGE, CLASSES)


def inception_v1():
    """Szegedy et al. 2014 (GoogLeNet), with the local response normalization of its first release."""
    g = Graph()

    def norm(x):
        return g.node("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0)

    def inception(x, channels, one, reduce3, three, reduce5, five, pool):
        parts = (g.conv(x, channels, one, 1), g.conv(g.conv(x, channels, reduce3, 1), reduce3, three, 3),
                 g.conv(g.conv(x, channels, reduce5, 1), reduce5, five, 5),
                 g.conv(g.max_pool(x, 3, 1, 1), channels, pool, 1))
        return g.node("Concat", *parts, axis=1), one + three + five + pool

    x = norm(g.max_pool(g.conv("input", 3, 64, 7, 2), 3, 2, 1))
    x = g.max_pool(norm(g.conv(g.conv(x, 64, 64, 1), 64, 192, 3)), 3, 2, 1)
    channels = 192
    for stage in (((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
                  ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
                   (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)),
                  ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))):
        for widths in stage:
            x, channels = inception(x, channels, *widths)
        if channels != 1024:
            x = g.max_pool(x, 3, 2, 1)
    g.classifier(x, 1024, 1000, softmax=True)
    return g.model("inception_v1", IMAGE, CLASSES)


def vgg19():
    """Simonyan and Zisserman 2014: 16 convolutions and 3 products, 144 million weights."""
    g, x, channels = Graph(), "input", 3
    for width, convs in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(convs):
            x, channels = g.conv(x, channels, width, 3), width
        x = g.max_pool(x, 2, 2)
    x = g.node("Flatten", x, axis=1)
    x = g.node("Relu", g.gemm(x, 512 * 7 * 7, 4096, gain=1.4))
    g.gemm(g.node("Relu", g.gemm(x, 4096, 4096, gain=1.4)), 4096, 1000, "output")
    return g.model("vgg19", IMAGE, CLASSES)


def shufflenet():
    """Zhang et al. 2017, version 1 with 3 groups: grouped 1x1 convolutions with channels shuffled between them."""
    g, groups, channels, side = Graph(), 3, 24, 56
    x = g.max_pool(g.conv("input", 3, 24, 3, 2), 3, 2, 1)
    for width, units in ((240, 4), (480, 8), (960, 4)):
        for unit in range(units):
            stride, middle = 2 if unit == 0 else 1, width // 4
            out = width - channels if unit == 0 else width
            y = g.conv(x, channels, middle, 1, groups=1 if channels == 24 else groups)
            y = g.node("Reshape", y, g.ints(1, groups, middle // groups, side, side))
            y = g.node("Transpose", y, perm=[0, 2, 1, 3, 4])
            y = g.node("Reshape", y, g.ints(1, middle, side, side))
            y = g.conv(y, middle, middle, 3, stride, groups=middle, act=None)
            y = g.conv(y, middle, out, 1, groups=groups, act=None, gain=0.3)
            if unit == 0:
                x = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
                x, side = g.node("Concat", x, y, axis=1), side // 2
            else:
                x = g.node("Add", x, y)
            x, channels = g.node("Relu", x), width
    g.classifier(x, 960, 1000)
    return g.model("shufflenet", IMAGE, CLASSES)
