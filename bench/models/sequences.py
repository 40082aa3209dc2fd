"""sequences.py: transformers and recurrent networks, with open batch and length as their exporters leave them."""

import numpy as np

from graph import FLOAT, INT64, Graph


def layer_norm(g, x, width, fused):
    """LayerNormalization of opset 17, or what exporters wrote before there was one."""
    scale, shift = g.weight(width, scale=0.05, mean=1.0), g.weight(width, scale=0.02)
    if fused:
        return g.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)
    centred = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1]))
    variance = g.node("ReduceMean", g.node("Pow", centred, g.number(2)), axes=[-1])
    deviation = g.node("Sqrt", g.node("Add", variance, g.number(1e-12)))
    return g.node("Add", g.node("Mul", g.node("Div", centred, deviation), scale), shift)


def gelu(g, x):
    y = g.node("Add", g.node("Erf", g.node("Div", x, g.number(np.sqrt(2)))), g.number(1))
    return g.node("Mul", g.node("Mul", x, y), g.number(0.5))


def gelu_tanh(g, x):
    """GPT-2's approximation."""
    cube = g.node("Mul", g.node("Pow", x, g.number(3)), g.number(0.044715))
    y = g.node("Tanh", g.node("Mul", g.node("Add", x, cube), g.number(np.sqrt(2 / np.pi))))
    return g.node("Mul", g.node("Mul", x, g.number(0.5)), g.node("Add", y, g.number(1)))


def heads(g, x, count, size, perm=(0, 2, 1, 3)):
    return g.node("Transpose", g.node("Reshape", x, g.ints(0, 0, count, size)), perm=list(perm))


def attention(g, query, key, value, width, count, mask=None):
    """Of heads [batch, heads, length, size]; the keys are transposed already. `mask` changes the scores."""
    scores = g.node("Div", g.node("MatMul", query, key), g.number(np.sqrt(width // count)))
    weights = g.node("Softmax", mask(scores) if mask else scores, axis=-1)
    joined = g.node("Transpose", g.node("MatMul", weights, value), perm=[0, 2, 1, 3])
    return g.node("Reshape", joined, g.ints(0, 0, width))


def encoder(name, layers, width, count, hidden, vocabulary=30522):
    """Devlin et al. 2018: normalization behind each residual."""
    g, size = Graph(), width // count
    words = g.node("Gather", g.weight(vocabulary, width, scale=0.5), "input_ids", axis=0)
    kinds = g.node("Gather", g.weight(2, width, scale=0.1), "token_type_ids", axis=0)
    length = g.node("Gather", g.node("Shape", "input_ids"), g.ints(1), axis=0)
    positions = g.constant(np.arange(512, dtype=np.int64)[None])
    places = g.node("Slice", positions, g.ints(0), length, g.ints(1))
    x = g.node("Add", words, kinds)
    x = g.node("Add", x, g.node("Gather", g.weight(512, width, scale=0.1), places, axis=0))
    x = layer_norm(g, x, width, False)
    hidden_keys = g.node("Cast", g.node("Unsqueeze", "attention_mask", g.ints(1, 2)), to=FLOAT)
    bias = g.node("Mul", g.node("Sub", g.number(1), hidden_keys), g.number(-1e4))
    for _ in range(layers):
        query = heads(g, g.linear(x, width, width), count, size)
        key = heads(g, g.linear(x, width, width), count, size, (0, 2, 3, 1))
        value = heads(g, g.linear(x, width, width), count, size)
        y = attention(g, query, key, value, width, count, lambda scores: g.node("Add", scores, bias))
        x = layer_norm(g, g.node("Add", g.linear(y, width, width), x), width, False)
        y = g.linear(gelu(g, g.linear(x, width, hidden)), hidden, width)
        x = layer_norm(g, g.node("Add", y, x), width, False)
    g.node("Identity", x, out="last_hidden_state")
    tokens = (INT64, ["batch", "sequence"])
    return g.model(name, {"input_ids": tokens, "attention_mask": tokens, "token_type_ids": tokens},
                   {"last_hidden_state": ["batch", "sequence", width]})


def bert_base():
    return encoder("bert_base", 12, 768, 12, 3072)


def minilm_l6():
    """Wang et al. 2020, as the sentence embeddings that many use."""
    return encoder("minilm_l6", 6, 384, 12, 1536)


def gpt2():
    """Radford et al. 2019, small, one step of decoding: keys and values of the past are inputs, those of all outputs."""
    g, layers, width, count, vocabulary = Graph(), 12, 768, 12, 50257
    size = width // count
    table = g.random.standard_normal((vocabulary, width), np.float32)
    past = g.node("Gather", g.node("Shape", "past_key_0"), g.constant(2, np.int64), axis=0)
    length = g.node("Gather", g.node("Shape", "input_ids"), g.constant(1, np.int64), axis=0)
    total = g.node("Add", past, length)
    now = g.node("Range", past, total, g.constant(1, np.int64))
    places = g.node("Gather", g.weight(1024, width, scale=0.1), g.node("Unsqueeze", now, g.ints(0)), axis=0)
    x = g.node("Add", g.node("Gather", g.constant(table), "input_ids", axis=0), places)
    ever = g.node("Range", g.constant(0, np.int64), total, g.constant(1, np.int64))
    seen = g.node("LessOrEqual", g.node("Unsqueeze", ever, g.ints(0)), g.node("Unsqueeze", now, g.ints(1)))
    for layer in range(layers):
        parts = g.linear(layer_norm(g, x, width, True), width, 3 * width)
        query, key, value = (heads(g, part, count, size) for part in
                             g.node("Split", parts, g.ints(width, width, width), outputs=3, axis=2))
        key = g.node("Concat", f"past_key_{layer}", key, axis=2, out=f"present_key_{layer}")
        value = g.node("Concat", f"past_value_{layer}", value, axis=2, out=f"present_value_{layer}")
        y = attention(g, query, g.node("Transpose", key, perm=[0, 1, 3, 2]), value, width, count,
                      lambda scores: g.node("Where", seen, scores, g.number(-1e9)))
        x = g.node("Add", x, g.linear(y, width, width, gain=0.3))
        y = gelu_tanh(g, g.linear(layer_norm(g, x, width, True), width, 4 * width))
        x = g.node("Add", x, g.linear(y, 4 * width, width, gain=0.3))
    table *= np.float32(1 / np.sqrt(width))
    g.node("MatMul", layer_norm(g, x, width, True), g.constant(np.ascontiguousarray(table.T)), out="logits")

    def cache(when, length):
        return {f"{when}_{what}_{layer}": ["batch", count, length, size]
                for layer in range(layers) for what in ("key", "value")}

    return g.model("gpt2", {"input_ids": (INT64, ["batch", "sequence"]), **cache("past", "past")},
                   {"logits": ["batch", "sequence", vocabulary], **cache("present", "total")})


def vit_b16():
    """Dosovitskiy et al. 2020: 196 patches of 16 x 16 and a class token; normalization before each residual."""
    g, layers, width, count = Graph(), 12, 768, 12
    size = width // count
    x = g.conv("input", 3, width, 16, 16, pads=0, act=None, gain=0.7)
    x = g.node("Transpose", g.node("Reshape", x, g.ints(0, width, 196)), perm=[0, 2, 1])
    batch = g.node("Slice", g.node("Shape", x), g.ints(0), g.ints(1))
    shape = g.node("Concat", batch, g.ints(-1, -1), axis=0)
    shape = g.node("Where", g.node("Equal", shape, g.ints(-1)), g.ints(1), shape)
    token = g.node("Expand", g.weight(1, 1, width, scale=1.0), shape)
    x = g.node("Add", g.node("Concat", token, x, axis=1), g.weight(1, 197, width, scale=0.2))
    for _ in range(layers):
        y = layer_norm(g, x, width, True)
        query, value = (heads(g, g.linear(y, width, width), count, size) for _ in range(2))
        key = heads(g, g.linear(y, width, width), count, size, (0, 2, 3, 1))
        x = g.node("Add", x, g.linear(attention(g, query, key, value, width, count), width, width, gain=0.3))
        y = gelu(g, g.linear(layer_norm(g, x, width, True), width, 4 * width))
        x = g.node("Add", x, g.linear(y, 4 * width, width, gain=0.3))
    x = layer_norm(g, x, width, True)
    g.gemm(g.node("Gather", x, g.constant(0, np.int64), axis=1), width, 1000, "output")
    return g.model("vit_b16", {"input": ["batch", 3, 224, 224]}, {"output": ["batch", 1000]})


def recurrent(name, kind, width, hidden, layers=1, both_ways=False):
    """LSTM or GRU over [length, batch, width]; gates as torch exports them."""
    g, x, given = Graph(), "input", width
    gates, ways = {"LSTM": 4, "GRU": 3}[kind], 2 if both_ways else 1
    attributes = {"hidden_size": hidden, "direction": "bidirectional" if both_ways else "forward"}
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    for _ in range(layers):
        weights = (g.weight(ways, gates * hidden, fan, scale=1 / np.sqrt(fan)) for fan in (width, hidden))
        y = g.node(kind, x, *weights, g.weight(ways, 2 * gates * hidden, scale=0.05), **attributes)
        width = ways * hidden
        x = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.ints(0, 0, width))
    g.node("Identity", x, out="output")
    return g.model(name, {"input": ["length", "batch", given]}, {"output": ["length", "batch", width]})


def lstm():
    return recurrent("lstm", "LSTM", 64, 128)


def gru():
    return recurrent("gru", "GRU", 64, 128)


def bilstm():
    return recurrent("bilstm", "LSTM", 80, 256, layers=2, both_ways=True)
