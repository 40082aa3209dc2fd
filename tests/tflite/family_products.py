"""Matrix products."""

import numpy as np
from operator_cases import QUANTIZED, Family
from family_windows import RELU, zero_of
from model import T


def fully_connected(f, dtype, *, rows=(3, 20), inputs=20, outputs=11, per_channel=False, bias=True, filter_zero=None,
                    weights="int8", title="", **fields):
    rng = f.rng
    result = [*rows[:-1], outputs] if fields.get("keepNumDims") else [int(np.prod(rows)) // inputs, outputs]
    if dtype == "float32":
        x, w, y = T(rows), T(data=rng.uniform(-1, 1, (outputs, inputs)).astype(np.float32)), T(result)
        b = T(data=rng.uniform(-1, 1, outputs).astype(np.float32)) if bias else None
    else:
        small = 1 / 256 if dtype == "int16" else 1
        scale = rng.uniform(0.002, 0.02, outputs if per_channel else 1)
        kind = "uint8" if dtype == "uint8" else weights
        least, most = {"uint8": (0, 255), "int8": (-127, 127), "int4": (-7, 7)}[kind]
        data = rng.integers(least, most + 1, (outputs, inputs))
        zero = filter_zero if filter_zero is not None else (131 if dtype == "uint8" else 0)
        x = T(rows, dtype, scale=0.0471 * small, zero=zero_of(dtype, -11))
        w = T(data=data if kind == "int4" else data.astype(kind), dtype=kind, scale=scale, zero=zero, axis=0)
        wide = np.int64 if dtype == "int16" else np.int32
        b = T(data=rng.integers(-9000, 9000, outputs).astype(wide), scale=scale * 0.0471 * small) if bias else None
        y = T(result, dtype, scale=0.0871 * small, zero=zero_of(dtype, 7))
    f.add("FULLY_CONNECTED", [x, w, b], y, "FullyConnectedOptions", title=title, version=5, **fields)


def cases():
    f = Family("products")
    for dtype in ("float32", *QUANTIZED):
        fully_connected(f, dtype)
        fully_connected(f, dtype, bias=False, fusedActivationFunction=RELU)
        fully_connected(f, dtype, rows=(2, 4, 5), title="flattened")
        fully_connected(f, dtype, rows=(2, 3, 20), keepNumDims=True)
    for dtype in ("int8", "int16"):
        fully_connected(f, dtype, per_channel=True, title="per channel")
    fully_connected(f, "int8", filter_zero=5, title="zero point of the filter")
    fully_connected(f, "int8", weights="int4", title="weights of 4 bits")
    for dtype in ("float32", "int8", "int16"):
        quant = [{}] * 3
        if dtype != "float32":
            small = 1 / 256 if dtype == "int16" else 1
            quant = [{"scale": s * small, "zero": zero_of(dtype, z)} for s, z in ((0.05, 3), (0.02, -9), (0.09, 5))]
        for adj_x, adj_y in ((False, False), (True, True)):
            a, b = ([2, 6, 4] if adj_x else [2, 4, 6]), ([2, 5, 6] if adj_y else [2, 6, 5])
            f.add("BATCH_MATMUL", [T(a, dtype, **quant[0]), T(b, dtype, **quant[1])], T([2, 4, 5], dtype, **quant[2]),
                  "BatchMatMulOptions", adjX=adj_x, adjY=adj_y)
        f.add("BATCH_MATMUL", [T([2, 1, 4, 6], dtype, **quant[0]), T([3, 6, 5], dtype, **quant[1])],
              T([2, 3, 4, 5], dtype, **quant[2]), "BatchMatMulOptions", title="broadcast")
    return f.cases
