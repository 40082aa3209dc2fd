"""family_qnn.py: operators of quantized tensors. Sums are exact; what is requantized may differ by one next to a tie."""

from functools import partial

import numpy as np
from relay_case import case, f32, ints

case = partial(case, "qnn")
u8 = lambda *shape: ints(*shape, low=0, high=256, dtype=np.uint8)
i8 = lambda *shape: ints(*shape, low=-128, high=128, dtype=np.int8)


def stored(v, scale, zero, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.round(v / np.float32(scale)) + zero, limits.min, limits.max).astype(dtype)


def real(v, scale, zero):
    return (v.astype(np.int32) - zero).astype(np.float32) * np.asarray(scale, np.float32)


x = u8(2, 3, 4)
case('qnn.quantize(%a, 0.02f, 3, out_dtype="uint8")', f32(2, 3), expect=lambda v: stored(v, 0.02, 3, np.uint8), quanta=1)
case("qnn.dequantize(%a, 0.1f, 7)", x, expect=lambda v: real(v, 0.1, 7), open=True)
case("%0 = (0.1f, 0.2f, 0.3f);\n%1 = stack(%0);\nqnn.dequantize(%a, %1, 0, axis=1)", i8(2, 3, 4),
     expect=lambda v: real(v, np.array([[0.1], [0.2], [0.3]], np.float32), 0))
case('qnn.requantize(%a, 0.01f, 0, 0.5f, 4, out_dtype="int8")', ints(3, 4, low=-9000, high=9000, dtype=np.int32),
     expect=lambda v: stored(real(v, 0.01, 0), 0.5, 4, np.int8), quanta=1)
case('qnn.requantize(%a, 0.1f, 3, 0.2f, 4, out_dtype="uint8")', x, expect=lambda v: stored(real(v, 0.1, 3), 0.2, 4, np.uint8), quanta=1)


def conv(v, w):
    from numpy.lib.stride_tricks import sliding_window_view
    v = np.pad(v, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = sliding_window_view(v, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w).astype(np.int32)


a, w = u8(1, 3, 6, 5), i8(4, 3, 3, 3)
case('qnn.conv2d(%a, %b, 9, 0, 0.1f, 0.2f, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], out_dtype="int32")', a, w,
     expect=lambda a, w: conv(a.astype(np.int32) - 9, w.astype(np.int32)))
case("qnn.conv2d(%a, %b, 9, 120, 0.1f, 0.2f, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])", a, u8(4, 3, 3, 3),
     expect=lambda a, w: conv(a.astype(np.int32) - 9, w.astype(np.int32) - 120))
case('%0 = qnn.conv2d(%a, %b, 9, 0, 0.1f, 0.02f, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], out_dtype="int32");\n'
     '%1 = nn.bias_add(%0, %c);\n%2 = qnn.requantize(%1, 0.002f, 0, 1.5f, 100, axis=1, out_dtype="uint8");\nclip(%2, a_min=100f, a_max=255f)',
     a, w, ints(4, low=-900, high=900, dtype=np.int32),
     expect=lambda a, w, b: np.maximum(stored(real(conv(a.astype(np.int32) - 9, w.astype(np.int32)) + b[:, None, None], 0.002, 0), 1.5, 100, np.uint8), 100),
     quanta=1)
case('qnn.conv2d(%a, %b, 9, 0, 0.1f, 0.2f, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO")',
     a.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy(),
     expect=lambda *_: conv(a.astype(np.int32) - 9, w.astype(np.int32)).transpose(0, 2, 3, 1))
case('qnn.dense(%a, %b, 9, 1, 0.1f, 0.2f, units=5, out_dtype="int32")', u8(3, 7), i8(5, 7),
     expect=lambda a, b: (a.astype(np.int32) - 9) @ (b.astype(np.int32) - 1).T)
case("qnn.batch_matmul(%a, %b, 9, 1, 0.1f, 0.2f)", u8(2, 3, 7), u8(2, 5, 7),
     expect=lambda a, b: (a.astype(np.int32) - 9) @ (b.astype(np.int32) - 1).transpose(0, 2, 1))
for name, function in [("add", np.add), ("subtract", np.subtract), ("mul", np.multiply)]:
    case(f"qnn.{name}(%a, %b, 0.1f, 9, 0.05f, 3, 0.3f, 100)", u8(3, 4), u8(4), quanta=1,
         expect=lambda a, b, f=function: stored(f(real(a, 0.1, 9), real(b, 0.05, 3)), 0.3, 100, np.uint8))
case("%0 = (%a, %b);\n%1 = (0.1f, 0.05f);\n%2 = (9, 3);\nqnn.concatenate(%0, %1, %2, 0.1f, 9, axis=1)", u8(2, 3), u8(2, 2), quanta=1,
     expect=lambda a, b: np.concatenate([a, stored(real(b, 0.05, 3), 0.1, 9, np.uint8)], 1))
for name, function in [("tanh", np.tanh), ("sigmoid", lambda v: 1 / (1 + np.exp(-v)))]:
    case(f"qnn.{name}(%a, 0.02f, 128, 0.01f, 100)", u8(3, 4), quanta=1, expect=lambda a, f=function: stored(f(real(a, 0.02, 128)), 0.01, 100, np.uint8))
case("qnn.leaky_relu(%a, 0.02f, 128, 0.02f, 100, alpha=0.1f)", u8(3, 4), quanta=1,
     expect=lambda a: stored(np.where(real(a, 0.02, 128) > 0, real(a, 0.02, 128), real(a, 0.02, 128) * 0.1), 0.02, 100, np.uint8))
case("qnn.avg_pool2d(%a, 0.1f, 9, 0.1f, 9, pool_size=[2, 2], strides=[2, 2])", u8(1, 2, 4, 6), quanta=1,
     expect=lambda a: stored(real(a, 0.1, 9).reshape(1, 2, 2, 2, 3, 2).mean((3, 5)), 0.1, 9, np.uint8))
for name, function in [("abs", np.abs), ("exp", np.exp), ("sqrt", np.sqrt), ("rsqrt", lambda v: 1 / np.sqrt(v)), ("log", np.log),
                       ("hardswish", lambda v: v * np.clip(v / 6 + 0.5, 0, 1)), ("erf", None)]:
    if name == "erf":
        from math import erf
        function = np.vectorize(erf)
    case(f"qnn.{name}(%a, 0.02f, -3, 0.05f, 10)", u8(3, 4), quanta=1,
         expect=lambda a, f=function: stored(f(real(a, 0.02, -3)).astype(np.float32), 0.05, 10, np.uint8))
case("qnn.softmax(%a, 0.02f, 128, 0.00390625f, 0)", u8(3, 4), quanta=1,
     expect=lambda a: stored((e := np.exp(real(a, 0.02, 128))) / e.sum(1, keepdims=True), 1 / 256, 0, np.uint8))
case('qnn.conv2d_transpose(%a, %b, 9, 0, 0.1f, 0.2f, channels=2, kernel_size=[1, 1], kernel_layout="IOHW")', u8(1, 3, 2, 2), i8(3, 2, 1, 1),
     expect=lambda a, w: np.einsum("nihw,io->nohw", a.astype(np.int32) - 9, w[:, :, 0, 0].astype(np.int32)).astype(np.int32))
