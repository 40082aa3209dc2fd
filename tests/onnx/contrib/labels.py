"""labels.py: classes and categories that are strings. A second node maps the strings of the result to numbers, which
the loader of this folder can read."""

import numpy as np
import trees
import onnx
from harness import IR_VERSION, Case, value_info
from onnx import helper

rng = np.random.default_rng(10)
WORDS = ["pear", "fig", "a longer word", ""]


def case(name, nodes, x, outputs, opset=3):
    graph = helper.make_graph(nodes, "case", [value_info("x", x, False)],
                              [onnx.ValueInfoProto(name=o) for o in outputs])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", opset)]
    return Case(name, helper.make_model(graph, ir_version=IR_VERSION, opset_imports=imports), {"x": x})


def ml(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs, outputs, domain="ai.onnx.ml", **attrs)


def back(source, output):
    """Strings as numbers."""
    return ml("LabelEncoder", [source], [output], keys_strings=WORDS, values_int64s=[10, 20, 30, 40], default_int64=-9)


def cases():
    x = rng.standard_normal((6, 4)).astype(np.float32)
    coefficients = [float(v) for v in rng.standard_normal(12)]
    classifier = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=coefficients, intercepts=[0.1, 0.2, 0.3],
                    classlabels_strings=WORDS[:3])
    yield case("LinearClassifier", [classifier, back("label", "y")], x, ["y", "scores"])
    forest = {**trees.forest("class", range(3), trees.MODES), "classlabels_strings": WORDS[1:]}
    yield case("TreeEnsembleClassifier", [ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], **forest),
                                          back("label", "y")], x, ["y", "scores"])
    z = np.array([[1, 2, 7], [3, 4, 0]], np.int64)
    encoder = ml("LabelEncoder", ["x"], ["s"], keys_int64s=[1, 2, 3, 4], values_strings=WORDS, default_string="none")
    yield case("LabelEncoder to strings and back", [encoder, back("s", "y")], z, ["y"])
    one_hot = ml("OneHotEncoder", ["s"], ["h"], cats_strings=["fig", "none", "pear"], zeros=1)
    yield case("OneHotEncoder of strings", [encoder, one_hot], z, ["h"])
    mapper = {"cats_strings": WORDS, "cats_int64s": [1, 2, 3, 4], "default_string": "fig", "default_int64": 99}
    to_words = ml("CategoryMapper", ["x"], ["s"], **mapper)
    yield case("CategoryMapper there and back", [to_words, ml("CategoryMapper", ["s"], ["y"], **mapper)], z, ["y"])
    to_words = ml("LabelEncoder", ["x"], ["s"], classes_strings=WORDS, default_string="?")
    yield case("LabelEncoder of opset 1", [to_words, ml("LabelEncoder", ["s"], ["y"], classes_strings=WORDS,
                                                        default_int64=-3)], z, ["y"], opset=1)
    grams = {"ngram_counts": [0, 3], "ngram_indexes": [0, 2, 1, 4], "min_gram_length": 1, "max_gram_length": 2,
             "max_skip_count": 1, "pool_strings": ["fig", "pear", "none", "pear", "fig"], "weights": [2.0, 3.0, 4.0, 5.0]}
    tokens = rng.integers(0, 4, (3, 6)).astype(np.int64)
    for mode in ("TF", "IDF", "TFIDF"):
        yield case(f"TfIdfVectorizer of strings {mode}",
                   [encoder, helper.make_node("TfIdfVectorizer", ["s"], ["y"], mode=mode, **grams)], tokens, ["y"])
    numbers = {**grams, "pool_int64s": [2, 1, 0, 1, 2]}
    del numbers["pool_strings"]
    for x in (tokens, tokens[0]):
        yield case(f"TfIdfVectorizer of numbers, {x.ndim} dims",
                   [helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode="TFIDF", **numbers)], x, ["y"])
