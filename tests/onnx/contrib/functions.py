"""functions.py: model-local functions, in ONNX's text form: nested, with attributes, defaults, references, operator sets
of their own, overloads, optional inputs, and names that operators have."""

import numpy as np
from harness import Case
from onnx import parser

rng = np.random.default_rng(8)
X = rng.standard_normal((2, 3)).astype(np.float32)


def case(name, text, **how):
    model = parser.parse_model(text)
    inputs = {i.name: X for i in model.graph.input}
    return Case(name, model, inputs, **how)


HEAD = '<ir_version: {ir}, opset_import: ["" : 18, "local" : 1]>\n'


def nested():
    yield case("a function calls another", HEAD.format(ir=8) + """
        main (float[2,3] x) => (float[2,3] y) { y = local.outer(x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]>
        outer (a) => (c) { b = local.inner(a)  c = local.inner(b) }
        <domain: "local", opset_import: ["" : 18]>
        inner (a) => (b) { one = Constant <value = float {1.5}> ()  b = Mul(a, one) }""", expected=[X * 2.25])
    yield case("names of the caller are not those of the body", HEAD.format(ir=8) + """
        main (float[2,3] a) => (float[2,3] y) { b = Neg(a)  c = local.twice(b)  y = Add(a, c) }
        <domain: "local", opset_import: ["" : 18]>
        twice (a) => (c) { b = Identity(a)  c = Add(a, b) }""", expected=[-X])
    yield case("an input is an output", HEAD.format(ir=8) + """
        main (float[2,3] a) => (float[2,3] y, float[2,3] z) { y, z = local.both(a) }
        <domain: "local", opset_import: ["" : 18]>
        both (a) => (a, b) { b = Neg(a) }""", expected=[X, -X])


def attributes():
    body = """
        <domain: "local", opset_import: ["" : 18]>
        leak <{declared}> (a) => (b) {{ b = LeakyRelu <alpha: float = @alpha> (a) }}"""
    for name, declared, given, alpha in (("given", "alpha", "<alpha = 0.5>", 0.5), ("absent", "alpha", "", 0.01),
                                         ("by default", "alpha: float = 0.25", "", 0.25),
                                         ("over the default", "alpha: float = 0.25", "<alpha = 0.75>", 0.75)):
        text = HEAD.format(ir=9) + "main (float[2,3] x) => (float[2,3] y) { y = local.leak " + given + "(x) }"
        yield case(f"attribute {name}", text + body.format(declared=declared),
                   expected=[np.where(X < 0, np.float32(alpha) * X, X)])
    yield case("attributes are handed on under other names", HEAD.format(ir=9) + """
        main (float[2,3] x) => (float[3,2] y) { y = local.outer <order = [1, 0], slope = 0.5> (x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]>
        outer <order, slope> (a) => (c) { b = local.inner <alpha: float = @slope> (a)
                                          c = Transpose <perm: ints = @order> (b) }
        <domain: "local", opset_import: ["" : 18]>
        inner <alpha: float = 9.0> (a) => (b) { b = LeakyRelu <alpha: float = @alpha> (a) }""",
               expected=[np.where(X < 0, X / 2, X).T])
    yield case("an attribute in a branch", HEAD.format(ir=9) + """
        main (float[2,3] x) => (float[2,3] y) { y = local.chosen <alpha = 0.5> (x) }
        <domain: "local", opset_import: ["" : 18]>
        chosen <alpha> (a) => (b) {
            zero = Constant <value = float {0}> ()
            sum = ReduceSum <keepdims = 0> (a)
            positive = Greater(sum, zero)
            b = If (positive) <then_branch = yes () => (t) { t = LeakyRelu <alpha: float = @alpha> (a) },
                               else_branch = no () => (t) { t = Neg(a) }>
        }""", expected=[np.where(X < 0, X / 2, X) if X.sum() > 0 else -X])


def operator_sets():
    # Before opset 13 Softmax flattened what is behind its axis; in the function it still does.
    flat = np.exp(X - X.max())
    rows = np.exp(X - X.max(1, keepdims=True))
    yield case("an operator set of its own", HEAD.format(ir=8) + """
        main (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = local.old(x)  z = Softmax(x) }
        <domain: "local", opset_import: ["" : 11]>
        old (a) => (b) { b = Softmax <axis = 0> (a) }""",
               expected=[flat / flat.sum(), rows / rows.sum(1, keepdims=True)])


def overloads():
    yield case("overloads", HEAD.format(ir=10) + """
        main (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = local.f:a(x)  z = local.f:b(x) }
        <domain: "local", overload: "a", opset_import: ["" : 18]>
        f (a) => (b) { b = Neg(a) }
        <domain: "local", overload: "b", opset_import: ["" : 18]>
        f (a) => (b) { b = Abs(a) }""", expected=[-X, np.abs(X)])


def optional():
    text = """
        main (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = local.cut(x, , high)  z = local.cut(x, low) }
        <domain: "local", opset_import: ["" : 18]>
        cut (a, low, high) => (b) { b = Clip(a, low, high) }"""
    text = text.replace("=> (float[2,3] y, float[2,3] z)",
                        "=> (float[2,3] y, float[2,3] z) <float low = {-0.5}, float high = {0.5}>")
    yield case("inputs that a call leaves out", HEAD.format(ir=8) + text, expected=[np.minimum(X, 0.5), np.maximum(X, -0.5)])


def shadowing():
    yield case("a function by the name of an operator", """
        <ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
        main (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = com.microsoft.Gelu(x)  z = com.microsoft.QuickGelu(x) }
        <domain: "com.microsoft", opset_import: ["" : 18]>
        Gelu (a) => (b) { b = Neg(a) }""", expected=[-X, X / (1 + np.exp(-1.702 * X))])


def cases():
    for family in (nested, attributes, operator_sets, overloads, optional, shadowing):
        yield from family()
