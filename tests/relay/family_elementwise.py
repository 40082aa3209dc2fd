"""family_elementwise.py: operators of one element, or of two tensors that broadcast."""

from functools import partial
from math import erf

import numpy as np
from relay_case import case, f32, ints, positive

case = partial(case, "elementwise")
x, y, p = f32(3, 4), f32(4), positive(3, 4)
unit = np.tanh(x).astype(np.float32)

for name, argument, function in [
    ("abs", x, np.abs), ("acos", unit, np.arccos), ("acosh", p + 1, np.arccosh), ("asin", unit, np.arcsin),
    ("asinh", x, np.arcsinh), ("atan", x, np.arctan), ("atanh", unit, np.arctanh), ("ceil", x, np.ceil), ("cos", x, np.cos),
    ("cosh", x, np.cosh), ("exp", x, np.exp), ("floor", x, np.floor), ("log", p, np.log), ("log10", p, np.log10),
    ("log2", p, np.log2), ("negative", x, np.negative), ("rsqrt", p, lambda v: 1 / np.sqrt(v)),
    ("sigmoid", x, lambda v: 1 / (1 + np.exp(-v))), ("sign", x, np.sign), ("sin", x, np.sin), ("sinh", x, np.sinh),
    ("sqrt", p, np.sqrt), ("tan", x, np.tan), ("tanh", x, np.tanh), ("trunc", x, np.trunc), ("isnan", x, np.isnan),
    ("isfinite", x, np.isfinite), ("isinf", x, np.isinf), ("copy", x, lambda v: v), ("nn.relu", x, lambda v: np.maximum(v, 0)),
    ("annotation.stop_fusion", x, lambda v: v), ("fast_exp", x, np.exp), ("fast_tanh", x, np.tanh),
]:
    case(f"{name}(%a)", argument, expect=lambda v, f=function: np.asarray(f(v), None if f in (np.isnan, np.isfinite, np.isinf) else np.float32), open=True)
case("erf(%a)", x, expect=lambda v: np.vectorize(erf)(v).astype(np.float32))
case("round(%a)", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 3.2], np.float32),
     expect=np.array([-3, -2, -1, 1, 2, 3, 0, 3], np.float32))
for name, function in [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide),
                       ("maximum", np.maximum), ("minimum", np.minimum), ("equal", np.equal), ("not_equal", np.not_equal),
                       ("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater), ("greater_equal", np.greater_equal)]:
    case(f"{name}(%a, %b)", x, y, expect=function, open=True)
case("power(%a, %b)", p, y, expect=np.power)
i, j = ints(3, 4, low=-9, high=9, dtype=np.int32), np.array([2, -3, 4, -5], np.int32)
case("floor_divide(%a, %b)", i, j, expect=lambda a, b: a // b)
case("floor_mod(%a, %b)", i, j, expect=lambda a, b: a % b)
case("mod(%a, %b)", i, j, expect=np.fmod)
case("trunc_mod(%a, %b)", i, j, expect=np.fmod)
case("trunc_divide(%a, %b)", i, j, expect=lambda a, b: np.trunc(a / b).astype(np.int32))
case("divide(%a, %b)", i, j, expect=lambda a, b: np.trunc(a / b).astype(np.int32))
case("left_shift(%a, %b)", np.abs(i), np.abs(j), expect=np.left_shift)
case("right_shift(%a, %b)", i, np.abs(j), expect=np.right_shift)
for name, function in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)]:
    case(f"{name}(%a, %b)", i, j, expect=function)
case("bitwise_not(%a)", i, expect=np.invert)
s, t = ints(3, 4, high=2).astype(bool), ints(4, high=2).astype(bool)
for name, function in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)]:
    case(f"{name}(%a, %b)", s, t, expect=function)
case("logical_not(%a)", s, expect=np.logical_not)
case("where(%a, %b, %c)", s, x, y, expect=np.where)
case('cast(%a, dtype="int32")', x, expect=lambda v: v.astype(np.int32))
case("cast_like(%a, %b)", i, y, expect=lambda v, w: v.astype(np.float32))
case("clip(%a, a_min=-0.5f, a_max=1f)", x, expect=lambda v: np.clip(v, -0.5, 1).astype(np.float32), open=True)
case('reinterpret(%a, dtype="int32")', x, expect=lambda v: v.view(np.int32))
case("fixed_point_multiply(%a, multiplier=1431655765, shift=-1)", i * 100, quanta=0,
     expect=lambda v: ((v.astype(np.int64) * 1431655765 + (1 << 31)) >> 32).astype(np.int32))
case("add(multiply(%a, 2f), 0.5f) /* ty=Tensor[(3, 4), float32] */", x, expect=lambda v: v * 2 + np.float32(0.5))
case("%a * 2f + %b", x, y, expect=lambda v, w: v * 2 + w)
case("add(%a, 3i64)", ints(4), expect=lambda v: v + 3)
case("maximum(%a, -inff)", x, expect=lambda v: v)
case("nn.leaky_relu(%a)", x, expect=lambda v: np.where(v > 0, v, v * np.float32(0.25)))
case("nn.leaky_relu(%a, alpha=0.1f)", x, expect=lambda v: np.where(v > 0, v, v * np.float32(0.1)))
case("nn.prelu(%a, %b)", f32(2, 3, 4), f32(3), expect=lambda v, w: np.where(v > 0, v, v * w[:, None]))
case("nn.prelu(%a, %b, axis=2)", f32(2, 3, 4), f32(4), expect=lambda v, w: np.where(v > 0, v, v * w))


def softmax(v, axis=-1):
    e = np.exp(v - v.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


case("nn.softmax(%a)", x, expect=softmax, open=True)
case("nn.softmax(%a, axis=0)", x, expect=lambda v: softmax(v, 0))
case("nn.log_softmax(%a)", x, expect=lambda v: np.log(softmax(v)))
case("identity(on_device(device_copy(annotation.checkpoint(%a), src_virtual_device=meta[VirtualDevice][0], dst_virtual_device="
     "meta[VirtualDevice][1]), virtual_device=meta[VirtualDevice][1]))", x, expect=lambda v: v)
case('annotation.cast_hint(annotation.bitpack_end(annotation.bitpack_start(%a)), dtype="float16")', x, expect=lambda v: v)
case('annotation.compiler_end(annotation.compiler_begin(%a, compiler="dnnl"), compiler="dnnl")', x, expect=lambda v: v)
case("fast_erf(%a)", x, expect=lambda v: np.vectorize(erf)(v).astype(np.float32))
