"""Quantization and casts."""

import numpy as np
from operator_cases import QUANTIZED, Family
from family_windows import zero_of
from model import T


def cases():
    f = Family("conversions")
    for dtype in QUANTIZED:
        y = T([200], dtype, scale=0.5 if dtype != "int16" else 0.002, zero=zero_of(dtype, 3))
        f.add("QUANTIZE", [T([200])], y, "QuantizeOptions", low=-90, high=90, title=f"to {dtype}")
        ties = np.array([-1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 0.24999999, 1e9, -1e9], np.float32)
        y = T([9], dtype, scale=0.5, zero=zero_of(dtype, 3))
        f.add("QUANTIZE", [T([9])], y, "QuantizeOptions", values=
              [[np.array(ties[:7].tolist() + [60.0, -70.0], np.float32)]], title=f"ties to {dtype}")
        x = T([200], dtype, scale=0.037, zero=zero_of(dtype, 3))
        f.add("DEQUANTIZE", [x], T([200]), "DequantizeOptions", how={"rtol": 0, "atol": 0})
    scales = [0.1, 0.2, 0.3]
    f.add("DEQUANTIZE", [T([4, 3], "int8", scale=scales, zero=[0, 0, 0], axis=1)], T([4, 3]), "DequantizeOptions",
          how={"rtol": 0, "atol": 0}, title="along an axis")
    f.add("QUANTIZE", [T([4, 3])], T([4, 3], "int8", scale=scales, zero=[0, 0, 0], axis=1), "QuantizeOptions", title="along an axis")
    for a, b in (("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("int16", "int8"), ("int8", "int16"), ("int16", "int16"),
                 ("uint8", "uint8"), ("int16", "int32"), ("int32", "int8"), ("int32", "int16")):
        for s, t in ((0.05, 0.031), (0.013, 0.07)):
            small = {"int16": 1 / 256, "int32": 1 / 65536}
            x = T([400], a, scale=s * small.get(a, 1), zero=0 if a == "int32" else zero_of(a, 3))
            y = T([400], b, scale=t * small.get(b, 1), zero=0 if b == "int32" else zero_of(b, -9))
            f.add("QUANTIZE", [x], y, "QuantizeOptions", title=f"to {b} {s} {t}", low=-9_000_000 if a == "int32" else None,
                  high=9_000_000 if a == "int32" else None)
    for a in ("float32", "int32", "int64", "int8", "uint8", "int16", "bool"):
        for b in ("float32", "int32", "int64", "int8", "uint8", "int16", "bool"):
            if a != b and not (a == "float32" and b == "uint8"):
                f.add("CAST", [T([50], a)], T([50], b), "CastOptions", title=f"to {b}")
    for bits, low, high, narrow in ((8, -1.1, 2.3, False), (8, 0.5, 3, False), (4, -3, 3, False)):
        f.add("FAKE_QUANT", [T([100])], T([100]), "FakeQuantOptions", numBits=bits, min=low, max=high, narrowRange=narrow)
    f.add("BITCAST", [T([20])], T([20], "int32"), "BitcastOptions")
    return f.cases
