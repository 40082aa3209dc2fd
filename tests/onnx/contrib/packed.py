"""packed.py: batches without padding, positions, and other operators that only ONNX Runtime's CUDA provider has.

What they must give is computed with NumPy, or with an operator of the CPU provider that says the same.
"""

import numpy as np
from harness import Const, node, reference

rng = np.random.default_rng(23)
B, S, N, H, D = 3, 4, 2, 4, 8
LENGTHS = np.array([1, 4, 2])
TOKENS = int(LENGTHS.sum())


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def offsets():
    """Places of the tokens, then of the padding; and the sums of the lengths."""
    real = [b * S + s for b in range(B) for s in range(S) if s < LENGTHS[b]]
    rest = [i for i in range(B * S) if i not in real]
    sums = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int32)
    return np.array(real + rest, np.int32).reshape(B, S), sums, np.array(real)


def batch(rows, real):
    full = np.zeros((B * S, rows.shape[1]), rows.dtype)
    full[real] = rows
    return full.reshape(B, S, -1)


def attention():
    places, sums, real = offsets()
    x, w, b = f32(TOKENS, D), f32(D, 3 * N * H), f32(3 * N * H)
    raw = (np.arange(S) < LENGTHS[:, None]).astype(np.int32)
    attrs = {"num_heads": N}
    for bias in (None, f32(1, N, S, S)):
        full = node("Attention", [batch(x, real), Const(w), Const(b), raw, None, bias], attrs)
        expected = reference(full)[0].reshape(B * S, -1)[real]
        yield node("PackedAttention", [x, Const(w), Const(b), places, sums, bias], attrs, expected=[expected],
                   name=f"PackedAttention, bias {bias is not None}")
        projected = x @ w
        q, k, v = np.split(projected, 3, 1)
        yield node("PackedMultiHeadAttention", [q, k, v, Const(b), places, sums, bias], attrs, expected=[expected],
                   name=f"PackedMultiHeadAttention, bias {bias is not None}", rtol=1e-4, atol=1e-5)
        heads = np.stack([a.reshape(TOKENS, N, H) for a in (q, k, v)], 2)
        yield node("PackedMultiHeadAttention", [heads, None, None, Const(b), places, sums, bias], attrs,
                   expected=[expected], name=f"PackedMultiHeadAttention packed, bias {bias is not None}", rtol=1e-4,
                   atol=1e-5)


def padding():
    places, sums, real = offsets()
    x = f32(B, S, D)
    rows = x.reshape(B * S, D)[real]
    yield node("RemovePadding", [x, LENGTHS.astype(np.int32)], outputs=4,
               expected=[rows, places, sums, np.array([LENGTHS.max()], np.int32)])
    yield node("RestorePadding", [rows, places], expected=[batch(rows, real)])


def decoders():
    """One query with a cache that grows, against Attention; the shared buffers are tested with MultiHeadAttention."""
    x, w, b = f32(B, 1, D), f32(D, 3 * N * H), f32(3 * N * H)
    past = f32(2, B, N, 3, H)
    expected = reference(node("Attention", [x, Const(w), Const(b), None, past], {"num_heads": N}, outputs=2))
    yield node("DecoderMaskedSelfAttention", [x, Const(w), Const(b), None, past], {"num_heads": N}, outputs=2,
               expected=expected)
    room = np.concatenate([past, f32(2, B, N, 2, H)], 3)
    shared = room.copy()
    shared[:, :, :, 3] = expected[1][:, :, :, 3]
    yield node("DecoderMaskedSelfAttention", [x, Const(w), Const(b), None, room, None, np.array([3], np.int32)],
               {"num_heads": N, "past_present_share_buffer": 1}, outputs=2, expected=[expected[0], shared],
               name="DecoderMaskedSelfAttention, shared buffer")


def buckets(distance, count, most, both):
    base = np.zeros_like(distance)
    if both:
        count //= 2
        base = (distance > 0) * count
        distance = np.abs(distance)
    else:
        distance = np.maximum(-distance, 0)
    exact = count // 2
    steps = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / np.log(most / exact) * (count - exact)
    far = np.minimum(exact + steps.astype(np.int64), count - 1)
    return base + np.where(distance < exact, distance, far)


def positions():
    for both, length in ((0, 40), (1, 40), (0, 5), (1, 6)):
        table, heads = f32(12, 3), 3
        distance = np.arange(length)[None] - np.arange(length)[:, None]
        y = table.reshape(heads, 12)[:, buckets(distance, 12, 25, both)][None]
        lengths = [np.array([length], np.int64)] * 2
        yield node("RelativePositionBias", [table, *[Const(n) for n in lengths]],
                   {"max_distance": 25, "is_bidirectional": both}, expected=[y],
                   name=f"RelativePositionBias {both} {length}", fixed=True)
        yield node("RelativePositionBias", [table, *lengths], {"max_distance": 25, "is_bidirectional": both},
                   expected=[y], name=f"RelativePositionBias {both} {length}, lengths of the run", fixed=True)
    query, bias, rel, weight, wide, eco = f32(B, S, N * H), f32(N * H), f32(1, N, S, S), f32(H, 6), f32(6), f32(1, N, 1, 1)
    heads = (query + bias).reshape(B, S, N, H).transpose(0, 2, 1, 3)
    gates = 1 / (1 + np.exp(-(heads @ weight + wide).reshape(B, N, S, 2, 3).sum(-1)))
    gate = gates[..., :1] * (gates[..., 1:] * eco - 1) + 2
    yield node("GatedRelativePositionBias", [query, Const(bias), rel, Const(weight), Const(wide), Const(eco)],
               {"num_heads": N}, expected=[(gate * rel).astype(np.float32)])
    emb, states = f32(B, S, H), [f32(B, N, S, H) for _ in range(4)]
    sine, cosine = np.sin(emb)[:, None], np.cos(emb)[:, None]
    yield node("GemmaRotaryEmbedding", [emb, *states], outputs=2, rtol=1e-4, atol=1e-5,
               expected=[states[i] * cosine + states[i + 1] * sine for i in (0, 2)])


def transforms():
    x = f32(3, 4, 10)
    for axes in (1, 2, 3):
        spectrum = np.fft.rfftn(x.astype(np.float64), axes=range(3 - axes, 3))
        pairs = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
        attrs = {"signal_ndim": axes, "onesided": 1, "normalized": 0}
        yield node("Rfft", [x], attrs, expected=[pairs], rtol=1e-4, atol=1e-5)
        yield node("Irfft", [pairs], attrs, expected=[x], rtol=1e-4, atol=1e-5, fixed=True)


def softmax():
    for shape, bias, axis in (((2, 3, 4, 5), (2, 1, 1, 5), 3), ((2, 3, 4), (2, 1, 4), -1), ((2, 3, 4), (3, 4), 1)):
        x, b = f32(*shape), f32(*bias)
        rows = (x + b).reshape(int(np.prod(shape[:axis])), -1)
        powers = np.exp(rows - rows.max(1, keepdims=True))
        yield node("BiasSoftmax", [x, b], {"axis": axis, "is_inner_broadcast": 1},
                   expected=[(powers / powers.sum(1, keepdims=True)).reshape(shape)])


def recurrent():
    """Without the rounding of activations, which ONNX Runtime adds: the LSTM of the weights that are meant."""
    hidden, width = 4, 3
    for columns, kind, directions in ((False, np.int8, 1), (True, np.uint8, 2), (True, np.int8, 1)):
        direction = "bidirectional" if directions == 2 else "forward"
        info = np.iinfo(kind)
        operands, floats = [], []
        for rows in (width, hidden):
            w = rng.integers(info.min, info.max, (directions, rows, 4 * hidden), kind)
            shape = (directions, 4 * hidden) if columns else (directions,)
            scale, zero = np.abs(f32(*shape)) * 0.01, rng.integers(0, 9, shape).astype(kind)
            by = (slice(None), None) if columns else (slice(None), None, None)
            floats.append(((w.astype(np.int32) - zero[by]) * scale[by]).astype(np.float32).transpose(0, 2, 1))
            operands.append((w, scale, zero))
        x, bias = f32(5, 2, width), f32(directions, 8 * hidden)
        attrs = {"hidden_size": hidden, "direction": direction}
        expected = reference(node("LSTM", [x, *floats, bias], attrs, domain="", outputs=3))
        given = [x, Const(operands[0][0]), Const(operands[1][0]), Const(bias), None, None, None, None]
        given += [Const(a) for w, scale, zero in operands for a in (scale, zero)]
        yield node("DynamicQuantizeLSTM", given, attrs, outputs=3, expected=expected, rtol=1e-4, atol=1e-5,
                   name=f"DynamicQuantizeLSTM {kind.__name__} {direction}, by column {columns}", fixed=True)


def cases():
    yield from attention()
    yield from padding()
    yield from decoders()
    yield from positions()
    yield from transforms()
    yield from softmax()
    yield from recurrent()
