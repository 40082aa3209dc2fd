"""text.py: texts taken apart by com.microsoft.Tokenizer, and what pipelines of scikit-learn do with the tokens.

The loader of this folder reads no strings, so texts are made of numbers by a LabelEncoder, and tokens become numbers by
another, whose list has all tokens of a reference run.
"""

import numpy as np
import onnx
import onnxruntime
from harness import IR_VERSION, Case, value_info
from onnx import TensorProto, helper

TEXTS = ["a bc def", "", "One two, three; four!", "x", "  leading and  trailing ", "snake_case and CamelCase99",
         "h\u00e9llo w\u00f6rld \u65e5\u672c\u8a9e \U0001f600!", "--a--b---c--", "tab\tnew\nline", "aaa abab ab b ba",
         "don't stop", "1,2;3 4", "....", "end ab"]
PATTERNS = ["[a-zA-Z0-9_]+", r"\b\w\w+\b", r"\w+", r"[^ ]+", "a|ab", "ab|a", "ab*", ".", r"\S+", r"^\w+", r"\w+$", r"\Bb",
            "[\u00e0-\u00ff]+", "(ab)+", r"\d+|[a-z]+", "a.*b", r"[a-z]{2,3}", "b.", "[^x]+"]
SEPARATORS = [[" "], [" ", ","], [" ", "[.]", "\\?", ",", ";", ":", "\\!"], ["--"], ["ab", "b"], ["b", "ab"], [r"\s+"],
              ["a|ab"], [""], ["[aeiou]", " "], ["-+", "a"]]


def encoder(texts):
    return helper.make_node("LabelEncoder", ["x"], ["texts"], domain="ai.onnx.ml", keys_int64s=range(len(texts)),
                            values_strings=texts, default_string="?")


def model(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "case", inputs, [onnx.ValueInfoProto(name=o) for o in outputs])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=imports)


def tokens_of(node, texts, shape):
    """All that ONNX Runtime makes of the texts, each once."""
    info = helper.make_tensor_value_info("texts", TensorProto.STRING, [None] * len(shape))
    session = onnxruntime.InferenceSession(model([node], [info], ["tokens"]).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    found = session.run(None, {"texts": np.array(texts, object).reshape(shape)})[0]
    return sorted(set(found.ravel().tolist()) - {""})


def tokenized(title, texts, shape, **attrs):
    x = np.arange(len(texts), dtype=np.int64).reshape(shape)
    attrs = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attrs}
    node = helper.make_node("Tokenizer", ["texts"], ["tokens"], domain="com.microsoft", **attrs)
    words = tokens_of(node, texts, shape) or ["#"]
    numbers = helper.make_node("LabelEncoder", ["tokens"], ["y"], domain="ai.onnx.ml", keys_strings=words,
                               values_int64s=range(1, len(words) + 1), default_int64=0)
    return Case(title, model([encoder(texts), node, numbers], [value_info("x", x, False)], ["y"]), {"x": x})


def cases():
    for pattern in PATTERNS:
        yield tokenized(f"Tokenizer {pattern}", TEXTS, (len(TEXTS),), tokenexp=pattern)
    for separators in SEPARATORS:
        yield tokenized(f"Tokenizer between {separators}", TEXTS, (len(TEXTS),), separators=separators)
    for least in (2, 3):
        yield tokenized(f"Tokenizer of {least} characters", TEXTS, (2, len(TEXTS) // 2), tokenexp=r"\w+", mincharnum=least)
        yield tokenized(f"Tokenizer between blanks, {least} characters", TEXTS, (len(TEXTS) // 2, 2), separators=[" ", ","],
                        mincharnum=least)
        yield tokenized(f"Tokenizer of {least} or more of any", TEXTS, (len(TEXTS),), tokenexp="b|ab|abc|[a-c ]", mincharnum=least)
    for pad in ("", "##", "\u00e9nd"):
        yield tokenized(f"Tokenizer with marks, filled by '{pad}'", TEXTS, (len(TEXTS),), tokenexp=r"\w+", mark=1, pad_value=pad)
        yield tokenized(f"Tokenizer of characters, filled by '{pad}'", TEXTS, (1, len(TEXTS)), separators=[""], mark=1,
                        pad_value=pad)
    yield tokenized("Tokenizer of nothing", ["", ""], (2,), tokenexp=r"\w+")
    yield tokenized("Tokenizer of one", ["one"], (1, 1), tokenexp=r"\w+")
