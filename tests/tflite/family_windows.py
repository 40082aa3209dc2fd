"""Convolutions, pools and images of another size."""

import numpy as np
from operator_cases import QUANTIZED, Family
from model import T

SAME, VALID = 0, 1
RELU, RELU6 = 1, 3


def zero_of(dtype, value):
    return 0 if dtype == "int16" else value + 128 if dtype == "uint8" else value


def convolution(f, dtype, *, depthwise=False, channels=5, outputs=7, groups=1, size=(6, 7), window=(3, 2), per_channel=True,
                bias=True, bias_dtype=None, batch=2, title="", constant=True, **fields):
    rng = f.rng
    inputs = channels // groups
    shape = (1, *window, outputs) if depthwise else (outputs, *window, inputs)
    axis = 3 if depthwise else 0
    stride = fields.get("strideH", 1), fields.get("strideW", 1)
    dilation = fields.get("dilationHFactor", 1), fields.get("dilationWFactor", 1)
    span = [(k - 1) * d + 1 for k, d in zip(window, dilation)]
    padding = fields.get("padding", SAME)
    out = [-(-n // s) if padding == SAME else (n - w + s) // s for n, w, s in zip(size, span, stride)]
    if dtype == "float32":
        x = T([batch, *size, channels])
        w = T(data=rng.uniform(-1, 1, shape).astype(np.float32))
        b = T(data=rng.uniform(-1, 1, outputs).astype(np.float32)) if bias else None
        y = T([batch, *out, outputs])
    else:
        filter_dtype = "uint8" if dtype == "uint8" else "int8"
        info = np.iinfo(filter_dtype)
        many = per_channel and dtype != "uint8"
        scale = rng.uniform(0.002, 0.02, outputs if many else 1)
        data = rng.integers(max(info.min, -127), info.max + 1, shape).astype(filter_dtype)
        x = T([batch, *size, channels], dtype, scale=0.0471 if dtype != "int16" else 0.0003, zero=zero_of(dtype, -11))
        w = T(data=data, scale=scale, zero=(119 if dtype == "uint8" else 0), axis=axis)
        wide = bias_dtype or ("int64" if dtype == "int16" else "int32")
        b = T(data=rng.integers(-9000, 9000, outputs).astype(wide), scale=scale * 0.0471, axis=0) if bias else None
        y = T([batch, *out, outputs], dtype, scale=0.0713 if dtype != "int16" else 0.0005, zero=zero_of(dtype, 7))
    if bias_dtype:
        fields["quantizedBiasType"] = 2
    options = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
    if depthwise:
        fields["depthMultiplier"] = outputs // channels
    fields = {"strideH": 1, "strideW": 1, "padding": SAME} | fields
    f.add("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [t for t in (x, w, b) if t], y, options, title=title, version=3, **fields)


def convolutions(f):
    for dtype in ("float32", *QUANTIZED):
        convolution(f, dtype)
        convolution(f, dtype, padding=VALID, strideH=2, strideW=3, fusedActivationFunction=RELU)
        convolution(f, dtype, dilationHFactor=2, dilationWFactor=2)
        convolution(f, dtype, window=(1, 1), fusedActivationFunction=RELU6)
        convolution(f, dtype, depthwise=True, channels=5, outputs=5)
        convolution(f, dtype, depthwise=True, channels=3, outputs=6, strideH=2, strideW=2, fusedActivationFunction=RELU6)
        convolution(f, dtype, depthwise=True, channels=4, outputs=4, padding=VALID, bias=False)
    convolution(f, "int8", per_channel=False, title="per tensor")
    convolution(f, "float32", channels=6, outputs=4, groups=2, title="in groups")
    convolution(f, "int8", channels=6, outputs=4, groups=2, title="in groups")
    convolution(f, "int16", bias_dtype="int32", title="bias of int32")
    convolution(f, "int8", channels=16, outputs=16, size=(9, 9), window=(3, 3), title="wide")
    convolution(f, "int8", depthwise=True, channels=32, outputs=32, size=(9, 9), window=(3, 3), title="wide")


def pools(f):
    for code in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for dtype in ("float32",) if code == "L2_POOL_2D" else ("float32", *QUANTIZED):
            quant = {} if dtype == "float32" else {"scale": 0.05, "zero": zero_of(dtype, 3)}
            for padding, act in ((SAME, 0), (VALID, RELU6)):
                size = (4, 3) if padding == SAME else (3, 2)
                x, y = T([2, 7, 6, 5], dtype, **quant), T([2, *size, 5], dtype, **quant)
                f.add(code, [x], y, "Pool2DOptions", padding=padding, strideH=2, strideW=2, filterHeight=3, filterWidth=3,
                      fusedActivationFunction=act)


def resizes(f):
    for code, options in (("RESIZE_BILINEAR", "ResizeBilinearOptions"),
                          ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):
        for dtype in ("float32", *QUANTIZED):
            quant = {} if dtype == "float32" else {"scale": 0.05, "zero": zero_of(dtype, 3)}
            for corners, half in ((False, False), (True, False), (False, True)):
                for rows, columns in ((7, 9), (3, 2)):
                    x = T([2, 4, 5, 3], dtype, **quant)
                    y = T([2, rows, columns, 3], dtype, **quant)
                    f.add(code, [x, T(data=np.array([rows, columns], np.int32))], y, options, alignCorners=corners,
                          halfPixelCenters=half, title=f"to {rows} {columns}")


def cases():
    f = Family("windows")
    convolutions(f)
    pools(f)
    resizes(f)
    return f.cases
