"""Operators of two tensors: arithmetic, comparisons, logic, choices."""

import numpy as np
from operator_cases import QUANTIZED, Family
from family_windows import RELU, RELU6, zero_of
from model import T


def pair(dtype, a=(2, 3, 4), b=(2, 3, 4), scales=(0.0491, 0.0317, 0.0713), zeros=(-5, 9, 3)):
    if dtype in QUANTIZED:
        small = 1 / 256 if dtype == "int16" else 1
        quant = [{"scale": s * small, "zero": zero_of(dtype, z)} for s, z in zip(scales, zeros)]
    else:
        quant = [{}] * 3
    out = np.broadcast_shapes(a, b)
    return T(a, dtype, **quant[0]), T(b, dtype, **quant[1]), T(out, dtype, **quant[2])


def sums(f):
    for code, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        for dtype in ("float32", "int32", "int64", *QUANTIZED):
            extra = {} if code == "MUL" else {"potScaleInt16": False}
            x, y, z = pair(dtype)
            f.add(code, [x, y], z, options, **extra)
            if dtype != "int64":
                x, y, z = pair(dtype, b=(4,), scales=(0.01, 0.4, 0.0213))
                f.add(code, [x, y], z, options, fusedActivationFunction=RELU, **extra)
                x, y, z = pair(dtype, a=(1, 3, 1), b=(2, 1, 4), scales=(0.011, 0.011, 0.0213))
                f.add(code, [x, y], z, options, fusedActivationFunction=RELU6, **extra)
    for code, options in (("ADD", "AddOptions"), ("SUB", "SubOptions")):
        x, y, z = (T([3, 50], "int16", scale=s, zero=0) for s in (2.0 ** -12, 2.0 ** -10, 2.0 ** -10))
        f.add(code, [x, y], z, options, potScaleInt16=True, title="powers of two")


def others(f):
    for dtype in ("float32", "int32"):
        x, y, z = pair(dtype)
        f.add("DIV", [x, y], z, "DivOptions", low=1, high=50)
        f.add("ADD_N", [T([2, 3], dtype), T([2, 3], dtype), T([2, 3], dtype)], T([2, 3], dtype), "AddNOptions")
        x, y, z = pair(dtype, b=(4,))
        f.add("POW", [x, y], z, "PowOptions", low=0 if dtype == "int32" else 0.1, high=3)
    for dtype in ("float32", "int32", "int8"):
        x, y, z = pair(dtype, scales=(0.05, 0.03, 0.3))
        f.add("SQUARED_DIFFERENCE", [x, y], z, "SquaredDifferenceOptions")
        x, y, z = pair(dtype, b=(3, 1), scales=(0.05, 0.03, 0.1))
        f.add("SQUARED_DIFFERENCE", [x, y], z, "SquaredDifferenceOptions")
    for code in ("MAXIMUM", "MINIMUM"):
        for dtype in ("float32", "int32", "int64", *QUANTIZED):
            x, y, z = pair(dtype, b=(3, 1), scales=(0.05, 0.05, 0.05), zeros=(1, 1, 1))
            f.add(code, [x, y], z, "MaximumMinimumOptions")
    for code, options in (("FLOOR_DIV", "FloorDivOptions"), ("FLOOR_MOD", "FloorModOptions")):
        for dtype in ("float32", "int32", "int16", "int8") + (("int64",) if code == "FLOOR_MOD" else ()):
            x = T([2, 3, 4], dtype)
            values = f.rng.integers(-40, 40, (2, 3, 4)).astype(dtype), (f.rng.integers(1, 9, (3, 4)) *
                                                                      f.rng.choice([-1, 1], (3, 4))).astype(dtype)
            f.add(code, [x, T([3, 4], dtype)], T([2, 3, 4], dtype), options, values=[list(values)])
    f.add("ATAN2", [T([3, 4]), T([3, 4])], T([3, 4]), "ATan2Options")
    f.add("BITWISE_XOR", [T([3, 4], "int32"), T([3, 4], "int32")], T([3, 4], "int32"), "BitwiseXorOptions")
    f.add("RIGHT_SHIFT", [T([3, 4], "int32"), T([3, 4], "int32")], T([3, 4], "int32"), "RightShiftOptions", low=0, high=7)


def comparisons(f):
    for code, options in (("EQUAL", "EqualOptions"), ("NOT_EQUAL", "NotEqualOptions"), ("LESS", "LessOptions"),
                          ("LESS_EQUAL", "LessEqualOptions"), ("GREATER", "GreaterOptions"),
                          ("GREATER_EQUAL", "GreaterEqualOptions")):
        for dtype in ("float32", "int32", "int64", "int8", "uint8"):
            for scales in ((0.05, 0.05, 1), (0.05, 0.11, 1)) if dtype in QUANTIZED else ((1, 1, 1),):
                x, y, z = pair(dtype, a=(5, 8, 9), b=(8, 9), scales=scales, zeros=(0, 0, 0) if scales[0] == scales[1] else (3, -7, 0))
                f.add(code, [x, y], T(z.shape, "bool"), options, low=None if dtype == "uint8" else -3 if "int" in dtype else None,
                      high=None if dtype == "uint8" else 3 if "int" in dtype else None, title=f"scales {scales[:2]}")
    for code, options in (("LOGICAL_AND", "LogicalAndOptions"), ("LOGICAL_OR", "LogicalOrOptions")):
        f.add(code, [T([2, 3, 4], "bool"), T([3, 1], "bool")], T([2, 3, 4], "bool"), options)
    for dtype in ("float32", "int32", "int8", "int16", "uint8", "bool"):
        f.add("SELECT", [T([4], "bool"), T([4, 3], dtype), T([4, 3], dtype)], T([4, 3], dtype), "SelectOptions", typed=1)
        f.add("SELECT_V2", [T([3, 1], "bool"), T([2, 3, 4], dtype), T([4], dtype)], T([2, 3, 4], dtype), "SelectV2Options", typed=1)


def cases():
    f = Family("arithmetic")
    sums(f)
    others(f)
    comparisons(f)
    return f.cases
