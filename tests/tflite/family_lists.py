"""Operators that make or order lists."""

import numpy as np
from operator_cases import Family
from family_shapes import ints
from model import T


def cases():
    f = Family("lists")
    f.add("LOG_SOFTMAX", [T([5, 11])], T([5, 11]), "LogSoftmaxOptions")
    for dtype in ("float32", "int32", "int64", "int8", "uint8", "int16"):
        f.add("TOPK_V2", [T([3, 9], dtype), T(data=np.array(4, np.int32))], [T([3, 4], dtype), T([3, 4], "int32")], "TopKV2Options")
    for axis, shape in ((-1, [2, 3, 5]), (0, [5, 2, 3])):
        f.add("ONE_HOT", [T([2, 3], "int32"), T(data=np.array(5, np.int32)), T([]), T([])], T(shape), "OneHotOptions", axis=axis,
              values=[[f.rng.integers(-1, 6, (2, 3)).astype(np.int32), np.array(2.5, np.float32), np.array(-1, np.float32)]])
    for dtype, bounds in (("int32", (3, 17, 4)), ("int64", (10, -3, -5)), ("float32", (0.5, 3.1, 0.4))):
        numbers = [T(data=np.array(b, dtype)) for b in bounds]
        out = int(np.ceil((bounds[1] - bounds[0]) / bounds[2]))
        f.add("RANGE", numbers, T([out], dtype), "RangeOptions")
    places = np.array([[1, 0], [3, 2], [1, 0]], np.int32)
    f.add("SCATTER_ND", [T(data=places), T([3, 5]), ints(4, 3, 5)], T([4, 3, 5]), "ScatterNdOptions")
    f.add("SCATTER_ND", [T(data=places), T([3], "int32"), ints(4, 3)], T([4, 3], "int32"), "ScatterNdOptions")
    return f.cases
