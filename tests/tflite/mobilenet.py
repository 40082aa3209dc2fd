"""mobilenet.py: MobileNetV2 in int8 as a .tflite file, with weights that are random.

What is compared and counted does not depend on the weights, as long as values spread over their range: scales are chosen
for that from the number of terms of each sum.

Usage: mobilenet.py FILE [WIDTH [SIZE]]; WIDTH is 0.35 and SIZE 96 by default. TFLITE_SCHEMA as model.py says.
"""

import sys
from pathlib import Path

import numpy as np
from model import Graph, Op, T, model

BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
RELU6 = 3
SPREAD = 40  # standard deviation of activations, in steps of their scale


def channels(count, width):
    """The nearest multiple of 8, at least nine tenths of it (Sandler et al. 2018)."""
    wanted = count * width
    rounded = max(8, int(wanted + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wanted else rounded


class Network:
    def __init__(self, seed):
        self.rng, self.ops = np.random.default_rng(seed), []

    def weights(self, shape, terms, axis, x, y):
        """A filter and a bias whose sums have the spread of y."""
        outputs = shape[axis]
        ratio = SPREAD / (np.sqrt(terms) * SPREAD * 73) * self.rng.uniform(0.7, 1.4, outputs)
        scale = ratio * y.scale[0] / x.scale[0]
        filters = T(data=self.rng.integers(-127, 128, shape).astype(np.int8), scale=scale, zero=0, axis=axis)
        bias = (self.rng.uniform(-1, 1, outputs) * SPREAD / ratio).astype(np.int32)
        return filters, T(data=bias, scale=scale * x.scale[0], zero=0)

    def result(self, shape, activation):
        return T(shape, "int8", scale=6 / 255, zero=-128) if activation else T(shape, "int8", scale=0.05, zero=3)

    def conv(self, x, outputs, window, stride=1, activation=RELU6):
        size = [-(-extent // stride) for extent in x.shape[1:3]]
        y = self.result([1, *size, outputs], activation)
        filters = self.weights((outputs, window, window, x.shape[3]), window * window * x.shape[3], 0, x, y)
        self.ops.append(Op("CONV_2D", [x, *filters], [y], "Conv2DOptions", version=3, strideH=stride, strideW=stride,
                           dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=activation))
        return y

    def depthwise(self, x, stride):
        size = [-(-extent // stride) for extent in x.shape[1:3]]
        y = self.result([1, *size, x.shape[3]], RELU6)
        filters = self.weights((1, 3, 3, x.shape[3]), 9, 3, x, y)
        self.ops.append(Op("DEPTHWISE_CONV_2D", [x, *filters], [y], "DepthwiseConv2DOptions", version=3, strideH=stride,
                           strideW=stride, depthMultiplier=1, dilationHFactor=1, dilationWFactor=1,
                           fusedActivationFunction=RELU6))
        return y

    def block(self, x, expansion, outputs, stride):
        y = self.conv(x, x.shape[3] * expansion, 1) if expansion > 1 else x
        y = self.conv(self.depthwise(y, stride), outputs, 1, activation=0)
        if stride > 1 or x.shape[3] != outputs:
            return y
        total = self.result(x.shape, 0)
        self.ops.append(Op("ADD", [x, y], [total], "AddOptions", version=2))
        return total

    def classifier(self, x, classes):
        pooled, y = T([1, 1, 1, x.shape[3]], "int8", scale=x.scale[0], zero=x.zero[0]), self.result([1, classes], 0)
        self.ops.append(Op("AVERAGE_POOL_2D", [x], [pooled], "Pool2DOptions", version=2, padding=1, strideH=1, strideW=1,
                           filterHeight=x.shape[1], filterWidth=x.shape[2]))
        flat = T([1, x.shape[3]], "int8", scale=x.scale[0], zero=x.zero[0])
        self.ops.append(Op("RESHAPE", [pooled, T(data=np.array([1, x.shape[3]], np.int32))], [flat], "ReshapeOptions",
                           newShape=[1, x.shape[3]]))
        filters = self.weights((classes, x.shape[3]), x.shape[3], 0, flat, y)
        filters = [T(data=f.data, scale=f.scale[0], zero=0) for f in filters]
        self.ops.append(Op("FULLY_CONNECTED", [flat, *filters], [y], "FullyConnectedOptions", version=4))
        return y


def mobilenet_v2(width=0.35, size=96, classes=10, blocks=BLOCKS, seed=1):
    """The bytes of the network. `blocks`: expansion, channels, repetitions and stride of each group."""
    net, x = Network(seed), T([1, size, size, 3], "int8", scale=1 / 128, zero=-1)
    y = net.conv(x, channels(32, width), 3, 2)
    for expansion, outputs, times, stride in blocks:
        for i in range(times):
            y = net.block(y, expansion, channels(outputs, width), stride if i == 0 else 1)
    y = net.classifier(net.conv(y, channels(1280, max(width, 1)), 1), classes)
    return model(Graph([x], [y], net.ops))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(mobilenet_v2(*(kind(text) for kind, text in zip((float, int), sys.argv[2:], strict=False))))
