"""attention.py: Attention, MultiHeadAttention, GroupQueryAttention, SparseAttention, QAttention, RotaryEmbedding."""

import itertools

import numpy as np
import onnxruntime
from harness import Const, node, reference

rng = np.random.default_rng(3)
B, S, N, H, D = 2, 4, 2, 4, 8


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def masks(total):
    right = np.array([3, total], np.int32)
    yield "lengths", right
    yield "ends and begins", np.concatenate([right, np.array([1, 0], np.int32)])
    raw = np.ones((B, total), np.int32)
    raw[0, :2] = 0  # padding on the left
    yield "raw", raw
    full = rng.integers(0, 2, (B, S, total), np.int32)
    yield "by query", full


def attention():
    x, w, b = f32(B, S, D), f32(D, 3 * N * H), f32(3 * N * H)
    for causal, scale in itertools.product((0, 1), (None, 0.3)):
        attrs = {"num_heads": N, "unidirectional": causal, **({"scale": scale} if scale else {})}
        yield node("Attention", [x, Const(w), Const(b)], attrs)
    for (name, mask), causal in itertools.product(masks(S), (0, 1)):
        attrs = {"num_heads": N, "unidirectional": causal}
        fixed = name == "ends and begins"  # a list of open length is one of lengths
        yield node("Attention", [x, Const(w), Const(b), mask], attrs, fixed=fixed,
                   name=f"Attention, mask {name}, causal {causal}")
        yield node("Attention", [x, Const(w), Const(b), mask], {**attrs, "mask_filter_value": -3.0}, fixed=fixed,
                   name=f"Attention, mask {name}, causal {causal}, filter -3")
    past = f32(2, B, N, 3, H)
    for causal in (0, 1):
        yield node("Attention", [x, Const(w), Const(b), None, past], {"num_heads": N, "unidirectional": causal},
                   outputs=2, name=f"Attention, past, causal {causal}")
    raw = np.ones((B, 3 + S), np.int32)
    raw[0, :1] = 0
    yield node("Attention", [x, Const(w), Const(b), raw, past], {"num_heads": N, "unidirectional": 1}, outputs=2,
               name="Attention, past and mask")
    yield node("Attention", [x, Const(w), Const(b), None, None, f32(1, N, S, S)], {"num_heads": N}, name="Attention, bias")
    sizes = [8, 8, 4]
    yield node("Attention", [x, Const(f32(D, 20)), Const(f32(20))], {"num_heads": N, "qkv_hidden_sizes": sizes})
    yield node("Attention", [x, Const(w), Const(b)], {"num_heads": N, "unidirectional": 1}, symbolic=True, outputs=2)


def multi_head():
    q, k, v = f32(B, S, N * H), f32(B, 5, N * H), f32(B, 5, N * 3)
    op = "MultiHeadAttention"
    for scale in (None, 0.4):
        yield node(op, [q, k, v], {"num_heads": N, **({"scale": scale} if scale else {})})
    yield node(op, [q, k, v, f32(2 * N * H + N * 3)], {"num_heads": N}, name=f"{op}, bias")
    yield node(op, [q, k, v, None, np.array([3, 5], np.int32)], {"num_heads": N}, name=f"{op}, lengths")
    padding = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], np.int32)
    yield node(op, [q, k, v, None, padding], {"num_heads": N}, name=f"{op}, padding")
    by_query = rng.integers(0, 2, (B, S, 5), np.int32)
    yield node(op, [q, k, v, None, by_query], {"num_heads": N}, name=f"{op}, padding by query")
    for b, n in itertools.product((1, B), (1, N)):
        yield node(op, [q, k, v, None, None, f32(b, n, S, 5)], {"num_heads": N}, name=f"{op}, addend {b} {n}")
    k2, v2 = f32(B, S, N * H), f32(B, S, N * H)
    yield node(op, [q, k2, v2], {"num_heads": N, "unidirectional": 1})
    past = [f32(B, N, 3, H), f32(B, N, 3, H)]
    for causal in (0, 1):
        yield node(op, [q, k2, v2, None, None, None, *past], {"num_heads": N, "unidirectional": causal}, outputs=3,
                   name=f"{op}, past, causal {causal}")
    bias = f32(3 * N * H)
    plain = reference(node(op, [q, k2, v2, bias], {"num_heads": N}))
    heads = [a.reshape(B, S, N, H) for a in (q, k2, v2)]
    packed = np.stack(heads, 3)
    yield node(op, [packed, None, None, bias], {"num_heads": N}, name=f"{op}, packed", expected=plain)
    yield node(op, [q, np.stack(heads[1:], 3), None, bias], {"num_heads": N}, name=f"{op}, packed keys and values",
               expected=plain)
    cross = [f32(B, N, 5, H), f32(B, N, 5, H)]
    yield node(op, [q, *cross], {"num_heads": N}, name=f"{op}, keys of 4 dims")
    yield node(op, [q, *cross, bias], {"num_heads": N}, name=f"{op}, keys of 4 dims, bias")
    half = [a.astype(np.float16) for a in (q, k2, v2)]
    yield node(op, half, {"num_heads": N}, name=f"{op} float16",
               expected=[reference(node(op, [q, k2, v2], {"num_heads": N}))[0].astype(np.float16)], rtol=4e-3, atol=4e-3)


def decoder():
    """One query with a cache: one that grows, a buffer with room, beams, and the keys of an encoder."""
    op = "DecoderMaskedMultiHeadAttention"
    q, k, v = f32(B, 1, N * H), f32(B, 1, N * H), f32(B, 1, N * H)
    room = [f32(B, N, 6, H), f32(B, N, 6, H)]
    attrs = {"num_heads": N, "past_present_share_buffer": 1}
    length, one = np.array([3], np.int32), np.array([1], np.int32)
    for bias in (None, f32(3 * N * H)):
        yield node(op, [q, k, v, None, None, *room, length, one, None, bias], attrs, outputs=3,
                   name=f"{op} shared, bias {bias is not None}", compare=[0])
    mask = np.array([[0, 1, 1, 1], [1, 1, 1, 1]], np.int32)
    yield node(op, [q, k, v, mask, None, *room, length, one], attrs, outputs=3, name=f"{op} mask", compare=[0])
    yield node(op, [q, k, v, None, f32(1, N, 1, 4), *room, length, one], attrs, outputs=3, name=f"{op} addend",
               compare=[0])
    beams = rng.integers(0, 2, (1, 2, 6), np.int32)
    yield node(op, [q, k, v, None, None, *room, length, np.array([2], np.int32), beams], attrs, outputs=3,
               name=f"{op} beams", compare=[0])
    cross = [f32(B, N, 5, H), f32(B, N, 5, H)]
    yield node(op, [q, *cross], {"num_heads": N}, name=f"{op} of an encoder")


def rotary():
    positions = rng.integers(0, 10, (B, S), np.int64)
    for interleaved, dim in itertools.product((0, 1), (8, 4)):
        cos, sin = f32(10, dim // 2), f32(10, dim // 2)
        attrs = {"interleaved": interleaved, **({"rotary_embedding_dim": dim, "num_heads": N} if dim != 8 else {})}
        for ids, form in ((positions, "each"), (np.array([2], np.int64), "one")):
            yield node("RotaryEmbedding", [f32(B, S, N * 8), ids, Const(cos), Const(sin)], attrs,
                       name=f"RotaryEmbedding {attrs} 3 dims, {form}", fixed="num_heads" not in attrs)
            yield node("RotaryEmbedding", [f32(B, N, S, 8), ids, Const(cos), Const(sin)], attrs,
                       name=f"RotaryEmbedding {attrs} 4 dims, {form}")


def rms_norm(x, weight):
    heads = x.reshape(*x.shape[:2], -1, weight.size).astype(np.float64)
    y = heads / np.sqrt((heads**2).mean(-1, keepdims=True) + 1e-6) * weight
    return y.reshape(x.shape).astype(np.float32)


def group_query():
    kv, h, heads = 2, 16, 4
    op = "GroupQueryAttention"
    cos, sin = f32(16, h // 2), f32(16, h // 2)

    def operands(s, past, lengths, total, rotary=False, packed=False, extra=(), capacity=None):
        q, k, v = f32(B, s, heads * h), f32(B, s, kv * h), f32(B, s, kv * h)
        cache = [f32(B, kv, capacity or past, h), f32(B, kv, capacity or past, h)] if past or capacity else [None, None]
        qkv = [np.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
        total = np.array(total, np.int32)
        tables = [Const(cos), Const(sin)] if rotary else [None, None]
        return [*qkv, *cache, np.array(lengths, np.int32) - 1, total, *tables, *extra]

    base = {"num_heads": heads, "kv_num_heads": kv}
    yield node(op, operands(S, 0, [S, S], S), base, outputs=3, name=f"{op} prompt")
    yield node(op, operands(S, 0, [S, S], S, packed=True), base, outputs=3, name=f"{op} packed", fixed=True)
    yield node(op, operands(1, 5, [6, 6], 6), base, outputs=3, name=f"{op} token")
    yield node(op, operands(1, 5, [4, 6], 6), base, outputs=3, compare=[0], name=f"{op} token, lengths differ")
    for s, past, lengths, total in ((S, 0, [S, S], S), (1, 5, [6, 6], 6), (1, 5, [4, 6], 6)):
        for interleaved in (0, 1):
            attrs = {**base, "do_rotary": 1, "rotary_interleaved": interleaved}
            yield node(op, operands(s, past, lengths, total, rotary=True), attrs, outputs=3, compare=[0],
                       name=f"{op} rotary {interleaved} {s} {past} {lengths}")
    for window in (1, 2, 3):
        yield node(op, operands(S, 0, [S, S], S), {**base, "local_window_size": window}, outputs=3)
        yield node(op, operands(1, 5, [6, 5], 6), {**base, "local_window_size": window}, outputs=3, compare=[0],
                   name=f"{op} token, window {window}")
    yield node(op, operands(S, 0, [S, S], S), {**base, "softcap": 1.5}, outputs=3)
    yield node(op, operands(S, 0, [S, S], S), {**base, "scale": 0.7}, outputs=3)
    yield node(op, operands(S, 0, [S, S], S), {**base, "smooth_softmax": 1}, outputs=3)
    yield node(op, operands(S, 0, [S, S], S), {**base, "causal": 0}, outputs=3)
    yield node(op, operands(S, 0, [S, S], S, extra=[None, None, f32(heads)]), base, outputs=3, name=f"{op} sinks")
    yield node(op, operands(S, 0, [S, S], S, extra=[None, f32(1, heads, S, S)]), base, outputs=3, name=f"{op} addend")
    yield node(op, operands(1, 5, [6, 6], 6, extra=[None, f32(B, 1, 1, 6)]), base, outputs=3, name=f"{op} token, addend")
    yield node(op, operands(1, 3, [4, 4], 4, capacity=9), base, outputs=3, compare=[0], name=f"{op} larger cache")
    norms = [None, None, None, None, None, f32(h), f32(h)]
    for s, past, lengths, total in ((S, 0, [S, S], S), (1, 5, [6, 6], 6)):
        given = operands(s, past, lengths, total, rotary=True, extra=norms)
        unit = [rms_norm(given[0], norms[5]), rms_norm(given[1], norms[6]), *given[2:9]]
        yield node(op, given, {**base, "do_rotary": 1}, outputs=3, name=f"{op} norms {s}",
                   expected=reference(node(op, unit, {**base, "do_rotary": 1}, outputs=3)))


def stored_caches():
    """Caches of integers, which ONNX Runtime computes in another order: half a step of a cache is what may differ."""
    kv, h, heads = 2, 16, 4
    for kind, bits, how in ((np.int8, 8, "PER_TENSOR"), (np.int8, 8, "PER_CHANNEL"), (np.uint8, 4, "PER_TENSOR"),
                            (np.uint8, 4, "PER_CHANNEL")):
        shape = (1,) if how == "PER_TENSOR" else (1, kv, 1, h)
        scales = [((rng.random(shape) + 0.5) * 0.03 * (8 // bits) ** 3).astype(np.float32) for _ in range(2)]
        attrs = {"num_heads": heads, "kv_num_heads": kv, "k_quant_type": how, "v_quant_type": how,
                 "kv_cache_bit_width": bits}
        for past, s in ((0, S), (5, 1)):
            room = (B, kv, past, h * bits // 8)
            cache = [rng.integers(0, 256, room).astype(np.uint8).view(kind) for _ in range(2)]
            lengths, total = np.full(B, past + s - 1, np.int32), np.array(past + s, np.int32)
            yield node("GroupQueryAttention", [f32(B, s, heads * h), f32(B, s, kv * h), f32(B, s, kv * h), *cache, lengths,
                                               total, *[None] * 5, *map(Const, scales)], attrs, outputs=3, rtol=1e-4,
                       atol=2e-5, name=f"GroupQueryAttention cache {kind.__name__} {bits} {how} {past}")


def windows():
    """A cache of the last tokens alone: prompts that fit and that do not, tokens before, at and behind an eviction."""
    kv, h, heads, window, capacity = 2, 16, 4, 3, 5
    cos, sin = f32(40, h // 2), f32(40, h // 2)
    attrs = {"num_heads": heads, "kv_num_heads": kv, "local_window_size": window, "sliding_window_cache": 1,
             "do_rotary": 1}

    def held(tokens):
        steps = capacity - window + 1
        return tokens if tokens <= capacity else tokens - steps * -((capacity - tokens) // steps)

    for before, s in ((0, 4), (0, 9), (3, 1), (5, 1), (6, 1), (7, 1), (8, 1), (11, 1), (5, 4), (8, 7)):
        batch = 1 if before and s > 1 else B
        total = np.array(before + s, np.int32)
        lengths = np.full(batch, before + s - 1, np.int32)
        given = [f32(batch, s, heads * h), f32(batch, s, kv * h), f32(batch, s, kv * h), f32(batch, kv, capacity, h),
                 f32(batch, kv, capacity, h), lengths, total, Const(cos), Const(sin)]
        case = node("GroupQueryAttention", given, attrs, outputs=3, name=f"GroupQueryAttention sliding {before} {s}")
        # Rows behind those that are held are unspecified, so only a full cache is compared.
        case.compare = [0, 1, 2] if held(before + s) == capacity else [0]
        yield case


def with_shared_caches(case):
    """What ONNX Runtime gives where it insists that inputs 3 and 4 are the memory of outputs 1 and 2."""
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
    binding, shared, arrays = session.io_binding(), {}, {k: v.copy() for k, v in case.inputs.items()}
    for name, array in arrays.items():  # which must live as long as the values that refer to them
        value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
        binding.bind_ortvalue_input(name, value)
        shared[name] = value
    binding.bind_output("y0")
    binding.bind_ortvalue_output("y1", shared["x3"])
    binding.bind_ortvalue_output("y2", shared["x4"])
    session.run_with_iobinding(binding)
    return [np.array(value.numpy()) for value in (binding.get_outputs()[0], shared["x3"], shared["x4"])]


def sparse():
    kv, h, heads, size, room = 1, 16, 4, 16, 64
    rows = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], np.int32)
    columns = np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], np.int32)
    cos, sin = f32(room, h // 2), f32(room, h // 2)
    attrs = {"num_heads": heads, "kv_num_heads": kv, "sparse_block_size": size}

    def case(tensors, lengths, rotary):
        tables = [Const(cos), Const(sin)] if rotary else []
        return node("SparseAttention", [*tensors, Const(rows), Const(columns), np.array([max(lengths)], np.int32),
                                        np.array(lengths, np.int32), *tables], {**attrs, "do_rotary": rotary}, outputs=3,
                    name=f"SparseAttention {lengths} rotary {rotary}")

    for (s, lengths), rotary in itertools.product(((40, [40, 40]), (1, [50, 50]), (1, [50, 34])), (0, 1)):
        tensors = [f32(2, s, heads * h), f32(2, s, kv * h), f32(2, s, kv * h), f32(2, kv, room, h), f32(2, kv, room, h)]
        both = case(tensors, lengths, rotary)
        # Each sequence by itself: of several lengths, ONNX Runtime mixes up what the shorter ones see.
        alone = [with_shared_caches(case([t[b : b + 1] for t in tensors], [lengths[b]], rotary)) for b in range(2)]
        both.expected = [np.concatenate(parts) for parts in zip(*alone, strict=True)]
        yield both


def turned():
    """Attention with do_rotary, which ONNX Runtime has for CUDA only: the same as RotaryEmbedding before it."""
    for head, dim in ((8, 0), (8, 4)):
        width = N * head
        x, w, b = f32(B, S, D), f32(D, 3 * width), f32(3 * width)
        q, k, v = np.split(x @ w + b, 3, 2)
        angle = np.arange(16)[:, None] / 10000.0 ** (np.arange(0, dim or head, 2) / (dim or head))
        tables = [np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)]
        attrs = {"rotary_embedding_dim": dim, "num_heads": N} if dim else {"num_heads": N}
        ids = np.zeros(1, np.int64)
        q, k = (reference(node("RotaryEmbedding", [y, ids, *tables], attrs))[0] for y in (q, k))
        expected = reference(node("MultiHeadAttention", [q, k, v], {"num_heads": N, "unidirectional": 1}))
        yield node("Attention", [x, Const(w), Const(b)], {**attrs, "do_rotary": 1, "unidirectional": 1}, expected=expected,
                   rtol=1e-4, atol=1e-5, name=f"Attention turned {dim}")


def quantized():
    x = rng.integers(0, 256, (B, S, D), np.uint8)
    bias = f32(3 * N * H)
    for kind, columns in itertools.product((np.uint8, np.int8), (False, True)):
        info = np.iinfo(kind)
        w = rng.integers(info.min, info.max, (D, 3 * N * H), kind)
        scale = np.abs(f32(3 * N * H)) * 0.01 if columns else np.float32(0.01)
        zero = rng.integers(-3 if info.min else 100, 130 if not info.min else 3, 3 * N * H).astype(kind) if columns \
            else np.array(3, kind)
        for causal in (0, 1):
            yield node("QAttention", [x, Const(w), Const(bias), np.float32(0.02), Const(scale),
                                      np.array([3, 4], np.int32), np.array(120, np.uint8), Const(zero)],
                       {"num_heads": N, "unidirectional": causal}, rtol=1e-4, atol=1e-5,
                       name=f"QAttention {kind.__name__}, by column {columns}, causal {causal}")


def cases():
    yield from attention()
    yield from multi_head()
    yield from decoder()
    yield from rotary()
    yield from group_query()
    yield from quantized()
    yield from stored_caches()
    yield from windows()
    yield from sparse()
    yield from turned()
