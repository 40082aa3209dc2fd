"""norms.py: normalizations with a residual, after embeddings, by groups."""

import itertools

import numpy as np
from harness import Const, node

rng = np.random.default_rng(2)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def skips():
    x, gamma, beta, bias = f32(2, 3, 8), f32(8), f32(8), f32(8)
    for shape in ((2, 3, 8), (1, 3, 8), (3, 8)):
        yield node("SkipLayerNormalization", [x, f32(*shape), gamma, beta], {"epsilon": 1e-5},
                   name=f"SkipLayerNormalization, skip {shape}")
    skip = f32(2, 3, 8)
    for b, s in itertools.product((None, beta), (None, bias)):
        yield node("SkipLayerNormalization", [x, skip, gamma, b, s], outputs=[True, False, False, True],
                   name=f"SkipLayerNormalization, beta {b is not None}, bias {s is not None}")
        yield node("SkipSimplifiedLayerNormalization", [x, skip, gamma, s], {"epsilon": 1e-3},
                   outputs=[True, False, False, True], name=f"SkipSimplifiedLayerNormalization, bias {s is not None}")
    yield node("SkipLayerNormalization", [x, skip, Const(gamma), Const(beta)], symbolic=True)
    half = [a.astype(np.float16) for a in (x, skip, gamma, beta)]
    yield node("SkipLayerNormalization", half, name="SkipLayerNormalization float16")
    s = (x + skip).astype(np.float64)
    mean = s.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(((s - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
    y = (s - mean) * inverse * gamma + beta
    yield node("SkipLayerNormalization", [x, skip, gamma, beta], outputs=4, name="SkipLayerNormalization moments",
               expected=[v.astype(np.float32) for v in (y, mean, inverse, s)])


def simplified():
    x = f32(2, 3, 8)
    for axis in (-1, 2, 1):
        scale = f32(*x.shape[axis:])
        yield node("SimplifiedLayerNormalization", [x, scale], {"axis": axis, "epsilon": 1e-4}, domain="")
    yield node("SimplifiedLayerNormalization", [x, f32(8)], domain="", outputs=2, name="SimplifiedLayerNormalization 2")
    yield node("SimplifiedLayerNormalization", [x.astype(np.float16), f32(8).astype(np.float16)], domain="",
               name="SimplifiedLayerNormalization float16")


def embeddings():
    ids, segments = rng.integers(0, 10, (2, 5), np.int32), rng.integers(0, 2, (2, 5), np.int32)
    words, places, kinds = f32(10, 8), f32(7, 8), f32(2, 8)
    gamma, beta = f32(8), f32(8)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    positions = rng.integers(0, 7, (2, 5), np.int32)
    op = "EmbedLayerNormalization"
    tables = [Const(words), Const(places)]
    tail = [gamma, beta]
    yield node(op, [ids, segments, *tables, Const(kinds), *tail, mask], outputs=2)
    yield node(op, [ids, segments, *tables, Const(kinds), *tail], outputs=[True, True, True], name=f"{op} without mask")
    yield node(op, [ids, None, *tables, None, *tail], outputs=2, name=f"{op} without segments")
    yield node(op, [ids, None, *tables, None, *tail, None, positions], outputs=[True, False, True],
               name=f"{op} with positions")
    yield node(op, [ids, segments, *tables, Const(kinds), Const(gamma), Const(beta), mask], outputs=2, symbolic=True)


def group_norm(x, gamma, beta, groups, epsilon):
    n, *spatial, channels = x.shape
    parts = x.astype(np.float64).reshape(n, -1, groups, channels // groups)
    mean = parts.mean((1, 3), keepdims=True)
    deviation = np.sqrt(((parts - mean) ** 2).mean((1, 3), keepdims=True) + epsilon)
    return ((parts - mean) / deviation).reshape(x.shape) * gamma + beta


def groups():
    x, gamma, beta, bias = f32(2, 3, 4, 6), f32(6), f32(6), f32(6)
    silu = {0: lambda v: v, 1: lambda v: v / (1 + np.exp(-v))}
    for last, activation in itertools.product((0, 1), (0, 1)):
        attrs = {"groups": 3, "activation": activation, "channels_last": last, "epsilon": 1e-5}
        given = x if last else x.transpose(0, 3, 1, 2).copy()
        out = (lambda v: v) if last else (lambda v: v.transpose(0, 3, 1, 2))
        y = silu[activation](group_norm(x, gamma, beta, 3, 1e-5)).astype(np.float32)
        yield node("GroupNorm", [given, gamma, beta], attrs, expected=[out(y)])
        skip = f32(2, 6)
        s = x + skip[:, None, None, :] + bias
        y = silu[activation](group_norm(s, gamma, beta, 3, 1e-5)).astype(np.float32)
        yield node("SkipGroupNorm", [given, gamma, beta, skip, bias], attrs, outputs=2, expected=[out(y), out(s)])


def gated():
    x, gate = f32(2, 3, 12), f32(2, 3, 12)
    for activation in ("silu", "swish", "sigmoid"):
        yield node("GatedRMSNorm", [x, f32(4), gate], {"activation": activation, "epsilon": 1e-3})
    yield node("BranchwiseRMSNorm", [f32(2, 3, 4), f32(4)], fixed=True)
    yield node("BranchwiseRMSNorm", [f32(2, 3, 4), f32(3, 4)], name="BranchwiseRMSNorm, a scale each")
    yield node("BranchwiseRMSNorm", [x, f32(12)], {"num_branches": 3})
    yield node("BranchwiseRMSNorm", [x], {"num_branches": 2, "epsilon": 0.1})


def cases():
    yield from skips()
    yield from simplified()
    yield from embeddings()
    yield from groups()
    yield from gated()
