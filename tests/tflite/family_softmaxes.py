"""Softmax of floats and of stored integers."""

from operator_cases import QUANTIZED, Family
from family_windows import zero_of
from model import T


def cases():
    f = Family("softmaxes")
    for beta in (1.0, 0.7):
        f.add("SOFTMAX", [T([5, 11])], T([5, 11]), "SoftmaxOptions", beta=beta)
        for dtype in QUANTIZED:
            out = {"scale": 1 / 32768, "zero": 0} if dtype == "int16" else {"scale": 1 / 256, "zero": zero_of(dtype, -128)}
            for scale in (0.13, 0.021, 1.7):
                size = 0.002 if dtype == "int16" else 1
                x = T([9, 13], dtype, scale=scale * size, zero=zero_of(dtype, 5))
                f.add("SOFTMAX", [x], T([9, 13], dtype, **out), "SoftmaxOptions", beta=beta, title=f"scale {scale}")
    x = T([2, 3, 40], "int8", scale=0.2, zero=-3)
    f.add("SOFTMAX", [x], T([2, 3, 40], "int16", scale=1 / 65536, zero=-32768), "SoftmaxOptions", beta=1.0, title="to int16")
    return f.cases
