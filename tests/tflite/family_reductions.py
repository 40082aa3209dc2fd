"""Reductions, places of extremes and cumulative sums."""

import numpy as np
from operator_cases import QUANTIZED, Family
from family_windows import zero_of
from model import T


def reduced(shape, axes, keep):
    axes = [a % len(shape) for a in axes]
    return [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]


def axes_of(axes):
    return T(data=np.array(axes, np.int32))


def scaled(x, real):
    """x * real as TFLite's kernels of 8 bits round it: the high half of a doubled product, then the shift."""
    fraction, shift = np.frexp(real)
    mantissa = int(round(float(fraction) * 2**31))
    high = (x * mantissa * 2 ** max(int(shift), 0) + 2**30) >> 31
    by = max(-int(shift), 0)
    magnitude = (abs(high) + (1 << by >> 1)) >> by
    return magnitude if high >= 0 else -magnitude


def stored_sums(f):
    """The interpreter of ai-edge-litert 2.3.0 sums int8 and int16 as if they were uint8; its sources since do as here."""
    for dtype, zero in (("int8", 3), ("int16", 0)):
        info = np.iinfo(dtype)
        for out in (0.05, 0.4, 2.3):
            x, y = T([7, 6], dtype, scale=0.05, zero=zero), T([7], dtype, scale=out, zero=-5 if zero else 0)
            data = f.rng.integers(info.min, info.max + 1, (7, 6)).astype(dtype)
            real = float(np.float32(0.05)) / float(np.float32(out))
            sums = [scaled(int(row.sum(dtype=np.int64)) - 6 * zero, real) + int(y.zero[0]) for row in data]
            expected = np.clip(sums, info.min, info.max).astype(dtype)
            f.add("SUM", [x, axes_of([1])], y, "ReducerOptions", values=[[data]], title=f"to {out}", how={"expected": [[expected]]})


def cases():
    f = Family("reductions")
    shape = [2, 4, 5, 6]
    for code, types in (("MEAN", ("float32", "int32", "int64", *QUANTIZED)), ("SUM", ("float32", "int32", "uint8")),
                        ("REDUCE_PROD", ("float32", "int32")), ("REDUCE_MAX", ("float32", "int32", *QUANTIZED)),
                        ("REDUCE_MIN", ("float32", "int32", *QUANTIZED)), ("REDUCE_ANY", ("bool",)), ("REDUCE_ALL", ("bool",))):
        for dtype in types:
            same = code.startswith("REDUCE")
            for axes, keep in (([1, 2], True), ([1, 2], False), ([-1], False), ([0, 3], True)):
                quant = [{}] * 2
                if dtype in QUANTIZED:
                    out = (0.05, 3) if same else (0.031 if code == "MEAN" else 0.4, -5)
                    quant = [{"scale": s, "zero": zero_of(dtype, z)} for s, z in ((0.05, 3), out)]
                f.add(code, [T(shape, dtype, **quant[0]), axes_of(axes)], T(reduced(shape, axes, keep), dtype, **quant[1]),
                      "ReducerOptions", keepDims=keep, title=f"axes {axes}", how={"rtol": 1e-4} if code == "REDUCE_PROD" else None)
    stored_sums(f)
    for code, options in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
        for dtype in ("float32", "int32", "int8", "uint8"):
            quant = {"scale": 0.1, "zero": 3} if dtype in QUANTIZED else {}
            for axis, out in ((-1, "int32"), (1, "int64")):
                f.add(code, [T([3, 5, 7], dtype, **quant), T(data=np.array(axis, np.int32))],
                      T(reduced([3, 5, 7], [axis], False), out), options, outputType=2 if out == "int32" else 4, title=f"axis {axis}",
                      low=-3 if dtype == "int32" else None, high=3 if dtype == "int32" else None)
    for dtype in ("float32", "int32", "int64"):
        for exclusive, reverse in ((False, False), (True, False), (False, True)):
            f.add("CUMSUM", [T([3, 5], dtype), T(data=np.array(1, np.int32))], T([3, 5], dtype), "CumsumOptions",
                  exclusive=exclusive, reverse=reverse)
    return f.cases
