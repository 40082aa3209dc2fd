"""transformers.py: exports of language and speech models, with masks, positions and a past of open length."""

import numpy as np
from builder import B, F, I, Model, floats
from onnx import helper

H, D = 2, 4  # heads, and their size


def linear(m, x, seed, n, k, scale=0.3):
    return m("Add", m("MatMul", x, floats(seed, n, k) * F(scale)), floats(seed + 1, k))


def norm(m, x):
    """LayerNormalization in its parts, as before opset 17."""
    mean = m("ReduceMean", x, axes=[-1])
    centered = m("Sub", x, mean)
    variance = m("ReduceMean", m("Pow", centered, 2.0), axes=[-1])
    return m("Add", m("Mul", m("Div", centered, m("Sqrt", m("Add", variance, 1e-5))), floats(71, H * D)), floats(72, H * D))


def gelu(m, x):
    return m("Mul", m("Mul", x, m("Add", m("Erf", m("Div", x, 1.4142135)), 1.0)), 0.5)


def dim(m, x, axis):
    return m("Gather", m("Shape", x), np.array(axis))


def join(m, *parts):
    """A shape of numbers and scalars."""
    return m("Concat", *(m("Unsqueeze", p, m.c([0])) if isinstance(p, str) else m.c([p]) for p in parts), axis=0)


def split_heads(m, x):
    return m("Transpose", m("Reshape", x, join(m, dim(m, x, 0), dim(m, x, 1), H, D)), perm=[0, 2, 1, 3])


def merge_heads(m, x):
    x = m("Transpose", x, perm=[0, 2, 1, 3])
    return m("Reshape", x, join(m, dim(m, x, 0), dim(m, x, 1), H * D))


def attend(m, q, k, v, mask=None):
    scores = m("Div", m("MatMul", q, m("Transpose", k, perm=[0, 1, 3, 2])), 2.0)
    if mask:
        scores = m("Add", scores, mask)
    return m("MatMul", m("Softmax", scores, axis=-1), v)


def bert():
    m = Model(13)
    ids, seen, kinds = m.x("ids", ["b", "s"], I), m.x("mask", ["b", "s"], I), m.x("kinds", ["b", "s"], I)
    length = dim(m, ids, 1)
    positions = m("Slice", m.c(np.arange(16).reshape(1, 16)), m.c([0]), m("Unsqueeze", length, m.c([0])), m.c([1]))
    x = m("Add", m("Gather", floats(1, 20, H * D), ids), m("Gather", floats(2, 2, H * D), kinds))
    x = norm(m, m("Add", x, m("Gather", floats(3, 16, H * D), positions)))
    wide = m("Unsqueeze", m("Unsqueeze", seen, m.c([1])), m.c([2]))
    mask = m("Mul", m("Sub", 1.0, m("Cast", wide, to=1)), -10000.0)
    q, k, v = (split_heads(m, linear(m, x, s, H * D, H * D)) for s in (10, 20, 30))
    x = norm(m, m("Add", x, linear(m, merge_heads(m, attend(m, q, k, v, mask)), 40, H * D, H * D)))
    x = norm(m, m("Add", x, linear(m, gelu(m, linear(m, x, 50, H * D, 12)), 60, 12, H * D)))
    m.out(x, m("Tanh", linear(m, m("Gather", x, np.array(0), axis=1), 80, H * D, 5)))
    rng = np.random.default_rng(1)
    yield "bert", m, [{"ids": rng.integers(0, 20, (b, s)), "mask": np.tril(np.ones((b, s), I), s - 2), "kinds": rng.integers(0, 2, (b, s))}
                      for b, s in ((1, 5), (3, 9))]


def gpt():
    """GPT-2 with a past that may be empty; the causal mask is cut from a constant triangle."""
    m = Model(13)
    ids = m.x("ids", ["b", "s"], I)
    past = [m.x(f"past_{n}", ["b", H, "p", D]) for n in "kv"]
    before, length = dim(m, past[0], 2), dim(m, ids, 1)
    total = m("Add", before, length)
    positions = m("Unsqueeze", m("Range", before, total, np.array(1)), m.c([0]))
    x = m("Add", m("Gather", floats(1, 20, H * D), ids), m("Gather", floats(2, 32, H * D), positions))
    q, k, v = (split_heads(m, p) for p in m("Split", linear(m, norm(m, x), 10, H * D, 3 * H * D), axis=2, outs=3))
    k, v = m("Concat", past[0], k, axis=2), m("Concat", past[1], v, axis=2)
    triangle = np.tril(np.ones((1, 1, 32, 32), bool))
    one = lambda s: m("Unsqueeze", s, m.c([0]))
    cut = m("Slice", m("Slice", triangle, one(before), one(total), m.c([2])), m.c([0]), one(total), m.c([3]))
    scores = m("Div", m("MatMul", q, m("Transpose", k, perm=[0, 1, 3, 2])), 2.0)
    scores = m("Where", cut, scores, np.float32(np.finfo(F).min))
    x = m("Add", x, linear(m, merge_heads(m, m("MatMul", m("Softmax", scores, axis=-1), v)), 40, H * D, H * D))
    m.out(m("MatMul", norm(m, x), floats(90, H * D, 20)), k, v)
    rng = np.random.default_rng(2)
    yield "gpt2_past", m, [{"ids": rng.integers(0, 20, (b, s)), "past_k": floats(3, b, H, p, D), "past_v": floats(4, b, H, p, D)}
                           for b, s, p in ((1, 4, 0), (2, 1, 5), (1, 3, 2))]


def llama():
    """Rotary positions, grouped heads that are expanded, root mean square norms, and a mask made of the attention mask."""
    m = Model(14)
    x, ids, seen = m.x("x", ["b", "s", H * D]), m.x("position_ids", ["b", "s"], I), m.x("mask", ["b", "t"], I)
    past = [m.x(f"past_{n}", ["b", 1, "p", D]) for n in "kv"]
    variance = m("ReduceMean", m("Pow", x, 2.0), axes=[-1])
    y = m("Mul", m("Mul", x, m("Div", 1.0, m("Sqrt", m("Add", variance, 1e-6)))), floats(1, H * D))
    frequency = m.c(np.array([[1.0], [0.1]], F)[None])
    angles = m("Transpose", m("MatMul", m("Expand", frequency, join(m, dim(m, ids, 0), 2, 1)), m("Cast", m("Unsqueeze", ids, m.c([1])), to=1)), perm=[0, 2, 1])
    angles = m("Unsqueeze", m("Concat", angles, angles, axis=-1), m.c([1]))
    cos, sin = m("Cos", angles), m("Sin", angles)

    def rotate(v):
        half = m("Div", dim(m, v, 3), np.array(2))
        low = m("Slice", v, m.c([0]), m("Unsqueeze", half, m.c([0])), m.c([3]))
        high = m("Slice", v, m("Unsqueeze", half, m.c([0])), m.c([np.iinfo(np.int64).max]), m.c([3]))
        return m("Add", m("Mul", v, cos), m("Mul", m("Concat", m("Neg", high), low, axis=-1), sin))

    q = rotate(split_heads(m, m("MatMul", y, floats(2, H * D, H * D))))
    k, v = (m("Transpose", m("Reshape", m("MatMul", y, floats(s, H * D, D)), join(m, dim(m, x, 0), dim(m, x, 1), 1, D)), perm=[0, 2, 1, 3]) for s in (3, 4))
    k, v = m("Concat", past[0], rotate(k), axis=2), m("Concat", past[1], v, axis=2)
    m.out(k, v)
    repeat = lambda a: m("Reshape", m("Expand", m("Unsqueeze", a, m.c([2])), join(m, dim(m, a, 0), 1, H, dim(m, a, 2), D)),
                         join(m, dim(m, a, 0), H, dim(m, a, 2), D))
    s, t = dim(m, x, 1), dim(m, k, 2)
    low = np.finfo(F).min
    square = m("ConstantOfShape", join(m, s, t), value=helper.make_tensor("v", 1, [1], [low]))
    start = m("Sub", t, s)
    causal = m("Trilu", square, m("Add", start, np.array(1)), upper=1)
    causal = m("Expand", m("Unsqueeze", causal, m.c([0, 1])), join(m, dim(m, x, 0), 1, s, t))
    hidden = m("Equal", m("Cast", m("Unsqueeze", seen, m.c([1, 2])), to=1), 0.0)
    mask = m("Where", hidden, np.float32(low), causal)
    m.out(m("MatMul", merge_heads(m, attend(m, q, repeat(k), repeat(v), mask)), floats(5, H * D, H * D)))
    feeds = []
    for b, n, p in ((1, 3, 0), (2, 1, 4), (1, 2, 2)):
        attention = np.ones((b, n + p), I)
        attention[-1, 0] = b == 1
        feeds.append({"x": floats(6, b, n, H * D), "position_ids": np.tile(np.arange(p, p + n), (b, 1)), "mask": attention,
                      "past_k": floats(7, b, 1, p, D), "past_v": floats(8, b, 1, p, D)})
    yield "llama", m, feeds


def whisper():
    """A merged decoder: one branch computes the keys of the encoder's output, the other takes them from the cache."""
    m = Model(14)
    x, states, cached = m.x("x", ["b", "s", H * D]), m.x("encoder", ["b", "e", H * D]), m.x("use_cache", [1], B)
    past = [m.x(f"past_{n}", ["b", H, "q", D]) for n in ("k", "v")]
    cross = [m.x(f"cross_{n}", ["b", H, "e", D]) for n in ("k", "v")]
    q, k, v = (split_heads(m, linear(m, x, s, H * D, H * D)) for s in (10, 20, 30))
    k, v = m("Concat", past[0], k, axis=2), m("Concat", past[1], v, axis=2)
    y = m("Add", x, linear(m, merge_heads(m, attend(m, q, k, v)), 40, H * D, H * D))
    yes, no = m.sub(), m.sub()
    kept = yes.body(yes("Identity", cross[0]), yes("Identity", cross[1]))
    fresh = no.body(*(split_heads(no, linear(no, states, s, H * D, H * D)) for s in (50, 60)))
    ck, cv = m("If", cached, then_branch=kept, else_branch=fresh, outs=2)
    q = split_heads(m, linear(m, y, 70, H * D, H * D))
    m.out(m("Add", y, merge_heads(m, attend(m, q, ck, cv))), k, v, ck, cv)
    feeds = [{"x": floats(1, b, s, H * D), "encoder": floats(2, b, e, H * D), "use_cache": np.array([c]),
              "past_k": floats(3, b, H, p, D), "past_v": floats(4, b, H, p, D), "cross_k": floats(5, b, H, e, D),
              "cross_v": floats(6, b, H, e, D)} for b, s, e, p, c in ((1, 3, 6, 0, False), (2, 1, 5, 3, True))]
    yield "whisper_merged", m, feeds
    m = Model(13)  # the front: a spectrogram's logarithm, clamped below its maximum, then two convolutions
    x = m.x("mel", [1, 4, "t"])
    y = m("Div", m("Log", m("Max", m("Abs", x), 1e-10)), 2.302585)
    y = m("Max", y, m("Sub", m("ReduceMax", y, keepdims=0), 8.0))
    y = gelu(m, m("Conv", y, floats(1, 8, 4, 3), floats(2, 8), pads=[1, 1], kernel_shape=[3]))
    y = gelu(m, m("Conv", y, floats(3, 8, 8, 3), floats(4, 8), pads=[1, 1], strides=[2], kernel_shape=[3]))
    y = m("Transpose", y, perm=[0, 2, 1])
    m.out(m("Add", y, m("Slice", floats(5, 20, 8), m.c([0]), m("Unsqueeze", dim(m, y, 1), m.c([0])), m.c([0]))))
    yield "whisper_front", m, [{"mel": floats(6, 1, 4, t)} for t in (8, 13)]


def others():
    m = Model(13)  # T5: buckets of distances
    x = m.x("x", ["b", "s", 6])
    n = dim(m, x, 1)
    line = m("Range", np.array(0), n, np.array(1))
    far = m("Sub", m("Unsqueeze", line, m.c([0])), m("Unsqueeze", line, m.c([1])))
    bucket = m("Mul", m("Cast", m("Greater", far, np.array(0)), to=7), np.array(4))
    far = m("Abs", far)
    grown = m("Add", m("Cast", m("Mul", m("Div", m("Log", m("Div", m("Cast", far, to=1), 2.0)), float(np.log(8))), 2.0), to=7), np.array(2))
    grown = m("Min", grown, m("Expand", np.array(3), m("Shape", grown)))
    grown = m("Where", m("Less", far, np.array(2)), far, grown)
    bias = m("Transpose", m("Gather", floats(1, 8, 2), m("Add", bucket, grown)), perm=[2, 0, 1])
    m.out(m("Unsqueeze", bias, m.c([0])))
    yield "t5_buckets", m, [{"x": floats(2, 1, s, 6)} for s in (3, 11)]
    m = Model(13)  # CLIP: the state at the last token, which has the largest number
    x, ids = m.x("x", ["b", "s", 6]), m.x("ids", ["b", "s"], I)
    rows = m("Range", np.array(0), dim(m, x, 0), np.array(1))
    at = m("Concat", m("Unsqueeze", rows, m.c([-1])), m("Unsqueeze", m("ArgMax", ids, axis=-1, keepdims=0), m.c([-1])), axis=-1)
    y = m("GatherND", x, at)
    m.out(m("Div", y, m("ReduceL2", y, axes=[-1], keepdims=1)))
    yield "clip_pool", m, [{"x": floats(1, b, 4, 6), "ids": np.random.default_rng(b).permutation(4 * b).reshape(b, 4)} for b in (1, 3)]
    m = Model(13)  # mean pooling over what the mask shows
    x, mask = m.x("x", ["b", "s", 6]), m.x("mask", ["b", "s"], I)
    wide = m("Cast", m("Expand", m("Unsqueeze", mask, m.c([-1])), m("Shape", x)), to=1)
    total = m("ReduceSum", m("Mul", x, wide), m.c([1]), keepdims=0)
    m.out(m("Div", total, m("Clip", m("ReduceSum", wide, m.c([1]), keepdims=0), 1e-9)))
    yield "mean_pool", m, [{"x": floats(1, b, s, 6), "mask": np.tril(np.ones((b, s), I))} for b, s in ((2, 3), (1, 7))]
    m = Model(16)  # repetition penalty, and sampling down to top-k by a threshold
    logits, ids = m.x("logits", ["b", 12]), m.x("ids", ["b", "s"], I)
    score = m("GatherElements", logits, ids, axis=1)
    score = m("Where", m("Less", score, 0.0), m("Mul", score, 1.3), m("Div", score, 1.3))
    y = m("ScatterElements", logits, ids, score, axis=1)
    top, _ = m("TopK", y, m.c([3]), outs=2)
    low = m("Gather", top, m.c([-1]), axis=1)
    m.out(m("Softmax", m("Where", m("Less", y, low), np.float32(-1e9), y), axis=-1))
    yield "sampling", m, [{"logits": floats(1, b, 12), "ids": np.random.default_rng(4).permuted(np.tile(np.arange(12), (b, 1)), axis=1)[:, :s]}
                          for b, s in ((1, 4), (2, 1))]
    m = Model(17)  # wav2vec: grouped positional convolution whose last element is cut off, and a group norm
    x = m.x("x", ["b", "t", 8])
    y = m("Transpose", x, perm=[0, 2, 1])
    y = m("Conv", y, floats(1, 8, 2, 4), floats(2, 8), group=4, pads=[2, 2], kernel_shape=[4])
    y = m("Slice", y, m.c([0]), m.c([-1]), m.c([2]))
    y = m("Reshape", y, m.c([0, 4, -1]))
    y = m("InstanceNormalization", y, np.ones(4, F), np.zeros(4, F))
    y = m("Reshape", y, join(m, dim(m, x, 0), 8, dim(m, x, 1)))
    m.out(m("Add", x, m("Transpose", y, perm=[0, 2, 1])))
    yield "wav2vec", m, [{"x": floats(3, b, t, 8)} for b, t in ((1, 6), (2, 9))]
    m = Model(17)  # a Mamba-like scan over time
    x = m.x("x", ["b", "t", 4])
    s = m.sub()
    s.x("h", ["b", 4, 3]), s.x("e", ["b", 4])
    h = s("Add", s("Mul", "h", s("Exp", s("Neg", s("Unsqueeze", s("Softplus", "e"), s.c([2]))))), s("Unsqueeze", "e", s.c([2])))
    y = s("Squeeze", s("MatMul", h, floats(1, 3, 1)), s.c([2]))
    zero = m("Expand", 0.0, join(m, dim(m, x, 0), 4, 3))
    m.out(*m("Scan", zero, x, body=s.body(h, y), num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], outs=2))
    yield "mamba", m, [{"x": floats(2, b, t, 4)} for b, t in ((1, 5), (2, 1))]


def cases():
    for family in (bert, gpt, llama, whisper, others):
        yield from family()
