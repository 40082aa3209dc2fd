"""operators.py: models of one operator each, of the families whose time is not arithmetic: orders, moves of data, and
functions of single elements.

Names say operator, size and what matters of the data: `topk_40_of_32000.sorted`.
"""

import numpy as np
from onnx import TensorProto

from graph import FLOAT, INT64, Graph

KINDS = ("random", "sorted", "reversed", "equal")


def row(kind, count, seed=0):
    x = np.random.default_rng(seed).standard_normal(count).astype(np.float32)
    if kind == "sorted":
        return np.sort(x)
    if kind == "reversed":
        return np.sort(x)[::-1].copy()
    return np.full(count, 1, np.float32) if kind == "equal" else x


DTYPES = {"float32": FLOAT, "int64": INT64, "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL}
PLACES = {"ArgMax", "NonZero", "NonMaxSuppression"}  # give nothing but where something is


def one(op, arrays, outputs=1, constants=(), rank=None, **attributes):
    """A graph of one node, its inputs and outputs, and what it is run on. Outputs have the rank of the first input, if no
    other is given."""
    graph = Graph()
    inputs = {f"x{i}": (DTYPES[str(array.dtype)], list(array.shape)) for i, array in enumerate(arrays)}
    made = graph.node(op, *inputs, *(graph.constant(value) for value in constants), outputs=outputs, **attributes)
    first = INT64 if op in PLACES else inputs["x0"][0]
    names = made if isinstance(made, list) else [made]
    return graph, inputs, {name: (INT64 if i else first, [None] * (rank or arrays[0].ndim)) for i, name in enumerate(names)}, arrays


def normal(*shape):
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def picks(most, *shape):
    return np.random.default_rng(2).integers(0, most, shape)


def boxes(count, classes, threshold):
    rng = np.random.default_rng(3)
    corner = rng.random((1, count, 2)).astype(np.float32)
    all_boxes = np.concatenate([corner, corner + rng.random((1, count, 2)).astype(np.float32) * np.float32(0.1)], 2)
    limits = [np.array([100]), np.array([0.5], np.float32), np.array([threshold], np.float32)]
    return one("NonMaxSuppression", [all_boxes, rng.random((1, classes, count)).astype(np.float32)], constants=limits,
               rank=2)


def topk(x, k, axis=-1):
    return one("TopK", [x], 2, constants=[np.array([k])], axis=axis)


ORDERS = {f"topk_{k}_of_{n}.{kind}": (lambda n=n, k=k, kind=kind: topk(row(kind, n), k))
          for n, k in ((16, 5), (1000, 10), (32000, 40), (32000, 1000), (1000000, 100), (1000000, 100000),
                       (1000, 1000), (32000, 32000), (1000000, 1000000)) for kind in KINDS}
ORDERS |= {
    "topk_100_of_10000000": lambda: topk(row("random", 10_000_000), 100),
    "topk_8_of_512x64": lambda: topk(normal(512, 64), 8),
    "topk_10_axis_1": lambda: topk(normal(4, 200, 56, 8), 10, 1),
    "argmax_512x1000": lambda: one("ArgMax", [normal(512, 1000)], axis=1),
    "unique_1000000": lambda: one("Unique", [picks(500000, 1000000)], 4),
    "nonzero_1000x1000": lambda: one("NonZero", [np.random.default_rng(4).random((1000, 1000)) < 0.1]),
    "suppression_1000": lambda: boxes(1000, 1, 0.05),
    "suppression_8400x20": lambda: boxes(8400, 20, 0.99),
    "cumsum_rows": lambda: one("CumSum", [normal(512, 1000)], constants=[np.array(1)]),
    "cumsum_columns": lambda: one("CumSum", [normal(512, 1000)], constants=[np.array(0)]),
}

MOVES = {
    "gather_4096_of_768": lambda: one("Gather", [normal(30000, 768), picks(30000, 4096)]),
    "gather_4096_of_64": lambda: one("Gather", [normal(30000, 64), picks(30000, 4096)]),
    "gather_nd_2000_of_256": lambda: one("GatherND", [normal(100, 100, 256), picks(100, 2000, 2)], rank=2),
    "gather_elements_512": lambda: one("GatherElements", [normal(512, 512), picks(512, 512, 512)], axis=1),
    "concat_64x56x56": lambda: one("Concat", [normal(64, 56, 56), normal(64, 56, 56)], axis=0),
    "concat_last": lambda: one("Concat", [normal(1024, 96), normal(1024, 32)], axis=1),
    "slice_128x128": lambda: one("Slice", [normal(64, 130, 130)],
                                 constants=[np.array([1, 1]), np.array([129, 129]), np.array([1, 2])]),
    "pad_1": lambda: one("Pad", [normal(1, 64, 128, 128)], constants=[np.array([0, 0, 1, 1, 0, 0, 1, 1])]),
    "nchw_to_nhwc": lambda: one("Transpose", [normal(1, 64, 56, 56)], perm=[0, 2, 3, 1]),
    "nhwc_to_nchw": lambda: one("Transpose", [normal(1, 56, 56, 64)], perm=[0, 3, 1, 2]),
    "transpose_256": lambda: one("Transpose", [normal(256, 256)], perm=[1, 0]),
    "transpose_2048": lambda: one("Transpose", [normal(2048, 2048)], perm=[1, 0]),
    "transpose_1000x700": lambda: one("Transpose", [normal(1000, 700)], perm=[1, 0]),
    "transpose_2048_bytes": lambda: one("Transpose", [picks(255, 2048, 2048).astype(np.uint8)], perm=[1, 0]),
    "transpose_heads": lambda: one("Transpose", [normal(1, 128, 12, 64)], perm=[0, 2, 3, 1]),
}

FUNCTIONS = {
    "softmax_1024": lambda: one("Softmax", [normal(1024, 1024)], axis=-1),
    "gelu": lambda: one("Gelu", [normal(1024, 1024)]),
    "gelu_tanh": lambda: one("Gelu", [normal(1024, 1024)], approximate="tanh"),
    **{name.lower(): (lambda name=name: one(name, [normal(1024, 1024)])) for name in ("Tanh", "Erf", "Exp", "Sigmoid")},
}



def convolution(size, channels, filters, kernel, stride, groups=1, is_open=True):
    """On an image or map whose height and width may be open, with the padding that keeps the size."""
    graph = Graph()
    out = graph.conv("x", channels, filters, kernel, stride, groups=groups, act="Relu")
    dims = ["height", "width"] if is_open else [size, size]
    return (graph, {"x": [1, channels, *dims]}, {out: [1, filters, None, None]},
            [normal(1, channels, size, size)])


# What open dims cost: symbolic.py compares with the same operator at its size.
CONVOLUTIONS = {f"conv_{kernel}x{kernel}_s{stride}_{channels}_{filters}_at_{size}":
                (lambda shape=(size, channels, filters, kernel, stride): convolution(*shape))
                for kernel, stride, shapes in (
                    (3, 2, ((224, 3, 32), (56, 64, 128), (28, 128, 256), (14, 256, 512))),
                    (3, 1, ((56, 64, 64), (14, 256, 256))),
                    (1, 1, ((56, 64, 128), (28, 192, 64), (14, 96, 576), (14, 576, 96), (7, 320, 1280))))
                for size, channels, filters in shapes}
CONVOLUTIONS |= {f"depthwise_s{stride}_{channels}_at_{size}":
                 (lambda shape=(size, channels, channels, 3, stride, channels): convolution(*shape))
                 for stride, shapes in ((1, ((112, 32), (56, 144), (28, 192), (14, 576), (7, 960))),
                                        (2, ((112, 96), (56, 144), (28, 192), (14, 576))))
                 for size, channels in shapes}

# Where the weights and the map are more than the first level of cache holds, and a map's rows are short.
LONG_SUMS = {f"fixed_{kernel}x{kernel}_s{stride}_{channels}_{filters}_at_{size}":
             (lambda shape=(size, channels, filters, kernel, stride): convolution(*shape, is_open=False))
             for kernel, stride, shapes in (
                 (1, 1, ((7, 512, 2048), (7, 1024, 512), (7, 2048, 512))),
                 (3, 2, ((56, 128, 128), (28, 256, 256), (14, 512, 512))))
             for size, channels, filters in shapes}

OPERATORS = {**ORDERS, **MOVES, **FUNCTIONS, **CONVOLUTIONS, **LONG_SUMS}


def model(name):
    """The model, and its inputs in order."""
    graph, inputs, outputs, arrays = OPERATORS[name]()
    return graph.model(name, inputs, outputs, opset=20), arrays
