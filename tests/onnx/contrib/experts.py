"""experts.py: MoE and QMoE, in which a router sends each token through a few of many layers."""

import itertools

import ml_dtypes
import numpy as np
from harness import Const, node, reference

rng = np.random.default_rng(17)
E, H, N = 5, 32, 16  # experts, width, inner width


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def biases(out, inner):
    return f32(E, inner) * 0.1, f32(E, out) * 0.1


def plain():
    for activation, k, normal in itertools.product(("relu", "gelu", "silu", "identity"), (1, 3), (0, 1)):
        attrs = {"k": k, "activation_type": activation, "normalize_routing_weights": normal}
        b1, b2 = biases(H, N)
        yield node("MoE", [f32(7, H), f32(7, E), Const(f32(E, N, H)), Const(b1), Const(f32(E, H, N)), Const(b2)], attrs,
                   rtol=1e-4, atol=1e-5)
    yield node("MoE", [f32(2, 3, H), f32(6, E), Const(f32(E, N, H)), None, Const(f32(E, H, N))], {"k": 2}, rtol=1e-4,
               atol=1e-5, name="MoE of a batch, no biases", fixed=True)
    for limit in ({}, {"swiglu_limit": 0.7}):
        attrs = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702,
                 "activation_beta": 1.0, **limit}
        b1, b2 = biases(H, 2 * N)
        yield node("MoE", [f32(7, H), f32(7, E), Const(f32(E, 2 * N, H)), Const(b1), Const(f32(E, H, N)), Const(b2)],
                   attrs, rtol=1e-4, atol=1e-5)


def halves():
    """SwiGLU of halves, and of a third layer, which ONNX Runtime's CPU provider lacks: the same as of neighbours."""
    attrs = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.2, "activation_beta": 0.5}
    x, scores, w1, w2 = f32(7, H), f32(7, E), f32(E, 2 * N, H), f32(E, H, N)
    expected = reference(node("MoE", [x, scores, Const(w1), None, Const(w2)], attrs))
    gate, linear = w1[:, 0::2], w1[:, 1::2]
    yield node("MoE", [x, scores, Const(np.concatenate([gate, linear], 1)), None, Const(w2)],
               {**attrs, "swiglu_fusion": 2}, expected=expected, rtol=1e-4, atol=1e-5, name="MoE swiglu of halves")
    yield node("MoE", [x, scores, Const(gate), None, Const(w2), None, Const(linear)], {**attrs, "swiglu_fusion": 0},
               expected=expected, rtol=1e-4, atol=1e-5, name="MoE swiglu of three layers")


def packed(values, bits):
    """The last axis packed into bytes, lowest bits first."""
    per = 8 // bits
    parts = values.reshape(*values.shape[:-1], -1, per).astype(np.uint8)
    return sum((parts[..., i] << (bits * i)) for i in range(per)).astype(np.uint8)


def quantized():
    for bits, block, zeros in itertools.product((4, 8), (0, 16), (False, True)):
        columns = ((N, H), (H, N))
        operands, floats = [], []
        for out, width in columns:
            values = rng.integers(0, 1 << bits, (E, out, width))
            count = width // block if block else 1
            scales = (np.abs(f32(E, out, count)) + 0.5) * 0.02
            zero = rng.integers(0, 1 << bits, (E, out, count)) if zeros else np.full((E, out, count), 1 << (bits - 1))
            by_element = [np.repeat(a, width // count, 2) for a in (zero, scales)]
            floats.append(((values - by_element[0]) * by_element[1]).astype(np.float32))
            per = 8 // bits
            zero = zero[..., 0] if not block else np.concatenate(
                [zero, np.zeros((E, out, -count % per), zero.dtype)], 2)
            operands.append((packed(values, bits), scales if block else scales[..., 0],
                             packed(zero, bits) if zeros else None))
        x, scores = f32(7, H), f32(7, E)
        attrs = {"k": 2, "activation_type": "silu", "normalize_routing_weights": 1}
        expected = reference(node("MoE", [x, scores, Const(floats[0]), None, Const(floats[1])], attrs))
        given = [x, scores]
        for weight, scale, _ in operands:
            given += [Const(weight), Const(scale), None]
        given += [None] * 3 + [Const(zero) if zero is not None else None for _, _, zero in operands]
        yield node("QMoE", given, {**attrs, "expert_weight_bits": bits, **({"block_size": block} if block else {})},
                   expected=expected, rtol=1e-4, atol=1e-5, name=f"QMoE {bits} bits, blocks {block}, zeros {zeros}")


def floats():
    """Weights of float8 by squares or by expert, and of float4 in blocks, against MoE of the numbers they stand for."""
    four = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    attrs = {"k": 2, "activation_type": "silu", "normalize_routing_weights": 1}
    for kind, block in (("fp8", 0), ("fp8", 24), ("fp4", 32), ("nvfp4", 16)):
        operands, given = [], [f32(7, H), f32(7, E)]
        each = [(rng.random(E) + 0.5).astype(np.float32) for _ in range(2)]
        for (out, width), whole in zip(((2 * N, H), (H, 2 * N)), each, strict=True):
            scale = None
            if kind == "fp8":
                stored = f32(E, out, width).astype(ml_dtypes.float8_e4m3fn)
                values = stored.astype(np.float32)
                if block:
                    scale = (rng.random((E, -(-out // block), -(-width // block))) + 0.5).astype(np.float32)
                    values *= scale.repeat(block, 1).repeat(block, 2)[:, :out, :width]
            else:
                codes = rng.integers(0, 16, (E, out, width))
                stored, narrow = packed(codes, 4), ml_dtypes.float8_e8m0fnu if kind == "fp4" else ml_dtypes.float8_e4m3fn
                scale = (rng.random((E, out, width // block)) * 0.5 + 0.1).astype(narrow)
                values = four[codes] * scale.astype(np.float32).repeat(block, 2)
            if kind != "fp8" or not block:
                values = values * whole[:, None, None]
            operands.append(values.astype(np.float32))
            given += [Const(stored), Const(scale) if scale is not None else None, None]
        if kind != "fp8" or not block:
            given += [None] * 7 + [Const(e) for e in each]
        expected = reference(node("MoE", [*given[:2], Const(operands[0]), None, Const(operands[1])], attrs))
        yield node("QMoE", given, {**attrs, "quant_type": kind, **({"block_size": block} if block else {})},
                   expected=expected, rtol=1e-4, atol=1e-5, name=f"QMoE {kind} {block}")


def cases():
    yield from plain()
    yield from halves()
    yield from quantized()
    yield from floats()
