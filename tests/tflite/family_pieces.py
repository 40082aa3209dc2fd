"""Parts of tensors, and tensors put together of parts."""

import numpy as np
from operator_cases import Family
from family_shapes import TYPES, ints, quantized
from model import T


def slices(f):
    for dtype in TYPES:
        q = quantized(dtype)
        x = T([3, 4, 5], dtype, **q)
        f.add("SLICE", [x, ints(1, 0, 2), ints(2, -1, 3)], T([2, 4, 3], dtype, **q), "SliceOptions")
        f.add("STRIDED_SLICE", [x, ints(0, 1, -1), ints(3, 4, -6), ints(2, 1, -2)], T([2, 3, 3], dtype, **q), "StridedSliceOptions")
    x = T([3, 4, 5])
    for title, begin, end, step, out, masks in (
            ("masks", (1, 1, 1), (2, 2, 2), (1, 1, 2), [2, 4, 1], {"beginMask": 2, "endMask": 3}),
            ("shrink", (1, -1, 0), (9, 9, 3), (1, 1, 1), [3], {"shrinkAxisMask": 3}),
            ("ellipsis", (0, 1), (0, 3), (1, 1), [3, 4, 2], {"ellipsisMask": 1}),
            ("new axis", (0, 0, 1), (0, 2, 4), (1, 1, 1), [1, 2, 3, 5], {"newAxisMask": 1}),
            ("backwards", (2, 3, 4), (-9, 0, 0), (-1, -2, -1), [3, 2, 4], {}),
            ("empty", (2, 0, 0), (1, 4, 5), (1, 1, 1), [0, 4, 5], {})):
        f.add("STRIDED_SLICE", [x, ints(*begin), ints(*end), ints(*step)], T(out), "StridedSliceOptions", title=title, **masks)
    for dtype in TYPES:
        q = quantized(dtype)
        parts = [T([2, 2, 3], dtype, **q) for _ in range(3)]
        f.add("SPLIT", [ints(1), T([2, 6, 3], dtype, **q)], parts, "SplitOptions", numSplits=3, typed=1)
        parts = [T([2, n, 3], dtype, **q) for n in (1, 3, 2)]
        f.add("SPLIT_V", [T([2, 6, 3], dtype, **q), ints(1, -1, 2), ints(1)], parts, "SplitVOptions", numSplits=3)
        f.add("UNPACK", [T([2, 3, 4], dtype, **q)], [T([2, 4], dtype, **q) for _ in range(3)], "UnpackOptions", num=3, axis=1)
        f.add("PACK", [T([2, 4], dtype, **q) for _ in range(3)], T([2, 3, 4], dtype, **q), "PackOptions", valuesCount=3, axis=1)
        f.add("CONCATENATION", [T([2, n, 3], dtype, **q) for n in (1, 4, 2)], T([2, 7, 3], dtype, **q), "ConcatenationOptions", axis=-2)


def pads(f):
    for dtype in TYPES:
        q = quantized(dtype)
        pairs = T(data=np.array([[0, 1], [2, 0], [1, 1]], np.int32))
        f.add("PAD", [T([2, 3, 4], dtype, **q), pairs], T([3, 5, 6], dtype, **q), "PadOptions")
        value = T(data=np.array(5, dtype), **q)
        f.add("PADV2", [T([2, 3, 4], dtype, **q), pairs, value], T([3, 5, 6], dtype, **q), "PadV2Options")
    for dtype in ("float32", "int8", "int32"):
        q = quantized(dtype)
        for mode in (0, 1):
            pairs = T(data=np.array([[0, 1], [2, 1]], np.int32))
            f.add("MIRROR_PAD", [T([2, 3], dtype, **q), pairs], T([3, 6], dtype, **q), "MirrorPadOptions", mode=mode)


def picks(f):
    for dtype in TYPES:
        q = quantized(dtype)
        f.add("GATHER", [T([5, 3], dtype, **q), ints(4, 0, 2)], T([3, 3], dtype, **q), "GatherOptions", axis=0)
        f.add("GATHER", [T([2, 5, 3], dtype, **q), T(data=np.array([[4, 1], [0, 2]], np.int32))], T([2, 2, 2, 3], dtype, **q),
              "GatherOptions", axis=1)
        f.add("GATHER", [T([2, 4, 5, 3], dtype, **q), T(data=np.array([[4, 1, 1], [0, 2, 3]], np.int32))], T([2, 4, 3, 3], dtype, **q),
              "GatherOptions", axis=2, batchDims=1)
        f.add("GATHER_ND", [T([3, 4, 2], dtype, **q), T(data=np.array([[0, 1], [2, 3]], np.int32))], T([2, 2], dtype, **q),
              "GatherNdOptions")
        f.add("TILE", [T([2, 3], dtype, **q), ints(2, 3)], T([4, 9], dtype, **q), "TileOptions") if dtype != "int16" else None
        f.add("REVERSE_V2", [T([2, 3, 4], dtype, **q), ints(1)], T([2, 3, 4], dtype, **q), "ReverseV2Options")
        where = [np.array([1, 3], np.int32)]
        for at in ((1, 3), (9, -4)):
            x, part = T([4, 6], dtype, **q), T([2, 3], dtype, **q)
            values = [[f.rng.integers(0, 100, (4, 6)).astype(dtype), f.rng.integers(0, 100, (2, 3)).astype(dtype),
                       np.array(at, np.int32)]]
            f.add("DYNAMIC_UPDATE_SLICE", [x, part, T([2], "int32")], T([4, 6], dtype, **q), "DynamicUpdateSliceOptions",
                  values=values, title=f"at {at}") if dtype != "uint8" else None
        del where
    table = T(data=f.rng.uniform(-1, 1, (6, 4)).astype(np.float32))
    f.add("EMBEDDING_LOOKUP", [ints(5, 0, 3), table], T([3, 4]), typed=1)
    table = T(data=f.rng.integers(-127, 128, (6, 4)).astype(np.int8), scale=0.03, zero=0)
    f.add("EMBEDDING_LOOKUP", [ints(5, 0, 3), table], T([3, 4]), typed=1, version=2)


def cases():
    f = Family("pieces")
    slices(f)
    pads(f)
    picks(f)
    return f.cases
