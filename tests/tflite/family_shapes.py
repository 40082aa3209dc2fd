"""Operators that move no numbers, or only where they are."""

import numpy as np
from operator_cases import Family
from family_windows import zero_of
from model import T

TYPES = ("float32", "int8", "int16", "uint8", "int32")


def ints(*values):
    return T(data=np.array(values, np.int32))


def quantized(dtype):
    return {"scale": 0.1, "zero": zero_of(dtype, 3)} if dtype in ("int8", "uint8", "int16") else {}


def blocks(f, dtype, q):
    f.add("SPACE_TO_DEPTH", [T([2, 4, 6, 3], dtype, **q)], T([2, 2, 3, 12], dtype, **q), "SpaceToDepthOptions", blockSize=2)
    f.add("DEPTH_TO_SPACE", [T([2, 2, 3, 12], dtype, **q)], T([2, 4, 6, 3], dtype, **q), "DepthToSpaceOptions", blockSize=2)
    if dtype == "int32":
        return
    borders = T(data=np.array([[1, 0], [0, 1]], np.int32))
    f.add("SPACE_TO_BATCH_ND", [T([2, 3, 5, 2], dtype, **q), ints(2, 3), borders], T([12, 2, 2, 2], dtype, **q),
          "SpaceToBatchNDOptions")
    f.add("BATCH_TO_SPACE_ND", [T([12, 2, 2, 2], dtype, **q), ints(2, 3), borders], T([2, 3, 5, 2], dtype, **q),
          "BatchToSpaceNDOptions")


def cases():
    f = Family("shapes")
    for dtype in TYPES:
        q = quantized(dtype)
        f.add("RESHAPE", [T([2, 3, 4], dtype, **q), ints(4, -1)], T([4, 6], dtype, **q), "ReshapeOptions", newShape=[4, -1])
        f.add("TRANSPOSE", [T([2, 3, 4], dtype, **q), ints(2, 0, 1)], T([4, 2, 3], dtype, **q), "TransposeOptions")
        f.add("SQUEEZE", [T([1, 3, 1, 4], dtype, **q)], T([3, 1, 4], dtype, **q), "SqueezeOptions", squeezeDims=[0])
        f.add("EXPAND_DIMS", [T([3, 4], dtype, **q), ints(-1)], T([3, 4, 1], dtype, **q), "ExpandDimsOptions")
        f.add("BROADCAST_TO", [T([3, 1], dtype, **q), ints(2, 3, 4)], T([2, 3, 4], dtype, **q), "BroadcastToOptions", version=3)
        if dtype != "int16":
            blocks(f, dtype, q)
        if dtype in ("float32", "int32"):
            f.add("ZEROS_LIKE", [T([2, 3], dtype)], T([2, 3], dtype), "ZerosLikeOptions")
        if dtype != "uint8":
            f.add("FILL", [ints(2, 3), T([], dtype, **q)], T([2, 3], dtype, **q), "FillOptions", typed=1)
    f.add("SQUEEZE", [T([1, 3, 1, 4])], T([3, 4]), "SqueezeOptions", title="all")
    for out, number in (("int32", 2), ("int64", 4)):
        f.add("SHAPE", [T([2, 3, 4])], T([3], out), "ShapeOptions", outType=number)
    f.add("RANK", [T([2, 3, 4])], T([], "int32"), "RankOptions")
    f.add("BROADCAST_ARGS", [ints(1, 3, 1), ints(2, 1, 4)], T([3], "int32"))
    return f.cases
