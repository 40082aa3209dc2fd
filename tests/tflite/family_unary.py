"""Operators of one element at a time."""

import numpy as np
from operator_cases import QUANTIZED, Family
from family_windows import zero_of
from model import T


def plain(f):
    for code, options, low in (("SIN", None, None), ("COS", "CosOptions", None), ("FLOOR", None, None), ("CEIL", None, None),
                               ("ROUND", None, None), ("NEG", "NegOptions", None), ("SQUARE", "SquareOptions", None),
                               ("LOG", None, 0.1), ("SQRT", None, 0), ("RSQRT", None, 0.1), ("ABS", "AbsOptions", None),
                               ("EXP", "ExpOptions", None), ("ELU", None, None), ("LOGISTIC", None, None), ("TANH", None, None),
                               ("RELU", None, None), ("RELU6", None, None), ("RELU_N1_TO_1", None, None),
                               ("RELU_0_TO_1", None, None), ("HARD_SWISH", "HardSwishOptions", None), ("SIGN", "SignOptions", None)):
        f.add(code, [T([3, 37])], T([3, 37]), options, low=low)
    f.add("ROUND", [T([7])], T([7]), values=[[np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32)]], title="ties")
    for approximate in (False, True):
        f.add("GELU", [T([3, 37])], T([3, 37]), "GeluOptions", approximate=approximate)
    f.add("LEAKY_RELU", [T([3, 37])], T([3, 37]), "LeakyReluOptions", alpha=0.2)
    f.add("PRELU", [T([2, 3, 5]), T([1, 1, 5])], T([2, 3, 5]))
    for dtype in ("int32", "int64"):
        f.add("NEG", [T([37], dtype)], T([37], dtype), "NegOptions")
    f.add("ABS", [T([37], "int32")], T([37], "int32"), "AbsOptions")
    f.add("SIGN", [T([37], "int32")], T([37], "int32"), "SignOptions")
    f.add("LOGICAL_NOT", [T([37], "bool")], T([37], "bool"), "LogicalNotOptions")


def every_byte(dtype):
    info = np.iinfo(dtype)
    return np.arange(info.min, info.max + 1).astype(dtype)


def tables(f):
    """All 256 bytes, or 4096 of the numbers of 16 bits."""
    for code, options, out_scale, out_zero, types in (
            ("LOGISTIC", None, 1 / 256, -128, ("int8", "uint8")), ("TANH", None, 1 / 128, 0, ("int8", "uint8")),
            ("EXP", "ExpOptions", 0.3, -20, ("int8",)), ("LOG", None, 0.02, 4, ("int8",)), ("ELU", None, 0.05, -90, ("int8",)),
            ("GELU", "GeluOptions", 0.04, -80, ("int8", "uint8")), ("HARD_SWISH", "HardSwishOptions", 0.03, -100, ("int8", "uint8")),
            ("RELU", None, 0.031, -20, ("int8", "uint8")), ("RELU6", None, 0.0235, -128, ("int8", "uint8")),
            ("RELU_N1_TO_1", None, 0.01, 0, ("int8", "uint8")), ("ABS", "AbsOptions", 0.0371, -128, ("int8",)),
            ("SQRT", None, 0.02, -110, ("int8",)), ("RSQRT", None, 0.02, -110, ("int8",))):
        for dtype in types:
            for scale, zero in ((0.0473, 7), (0.0117, -33), (0.121, -128)):
                if code in ("SQRT", "RSQRT"):
                    zero = -128
                quant = {"scale": scale, "zero": zero_of(dtype, zero)}
                data = every_byte(dtype)
                if code == "RSQRT":
                    data = data[1:]
                x, y = T([len(data)], dtype, **quant), T([len(data)], dtype, scale=out_scale, zero=zero_of(dtype, out_zero))
                f.add(code, [x], y, options, values=[[data]], title=f"scale {scale}")
    for alpha in (0.1, -0.3):
        for dtype in ("int8", "uint8"):
            x, y = (T([256], dtype, scale=s, zero=zero_of(dtype, z)) for s, z in ((0.0473, 7), (0.061, -3)))
            f.add("LEAKY_RELU", [x], y, "LeakyReluOptions", values=[[every_byte(dtype)]], alpha=alpha)
    for dtype in ("int8", "uint8"):
        x, a, y = (T(n, dtype, scale=s, zero=zero_of(dtype, z))
                   for n, s, z in (([32, 8], 0.0473, 7), ([8], 0.011, 20), ([32, 8], 0.061, -3)))
        f.add("PRELU", [x, a], y)


def sixteen_bits(f):
    data = np.concatenate([np.arange(-32768, 32768, 61), [32767, -1, 0, 1]]).astype(np.int16)
    for code, options, scale, out_scale in (
            ("LOGISTIC", None, 2.0 ** -12, 2.0 ** -15), ("LOGISTIC", None, 0.00041, 2.0 ** -15), ("LOGISTIC", None, 0.0011, 2.0 ** -15),
            ("TANH", None, 2.0 ** -12, 2.0 ** -15), ("TANH", None, 2.0 ** -11, 2.0 ** -15), ("TANH", None, 0.00037, 2.0 ** -15),
            ("EXP", "ExpOptions", 0.0001, 0.001), ("LOG", None, 0.0002, 0.0004), ("GELU", "GeluOptions", 0.0002, 0.0003),
            ("RELU", None, 0.0002, 0.00017), ("RELU6", None, 0.0003, 0.0002),
            ("ABS", "AbsOptions", 0.0003, 0.00031), ("SQRT", None, 0.0003, 0.0001)):
        given = np.abs(data[data > -32768]) if code == "SQRT" else data
        x, y = (T([len(given)], "int16", scale=s, zero=0) for s in (scale, out_scale))
        f.add(code, [x], y, options, values=[[given]], title=f"scale {scale}")
    for alpha in (0.1, -0.3):
        x, y = (T([len(data)], "int16", scale=s, zero=0) for s in (0.0002, 0.00023))
        f.add("LEAKY_RELU", [x], y, "LeakyReluOptions", values=[[data]], alpha=alpha)


def cases():
    f = Family("unary")
    plain(f)
    tables(f)
    sixteen_bits(f)
    return f.cases
