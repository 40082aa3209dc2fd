"""fused.py: products and convolutions with activations, and the family of GELUs."""

import itertools

import numpy as np
from harness import Const, node

rng = np.random.default_rng(1)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def convolutions():
    x, w, b = f32(2, 4, 7, 6), f32(6, 2, 3, 3), f32(6)
    attrs = {"group": 2, "pads": [1, 0, 1, 2], "strides": [2, 1]}
    z = f32(2, 6, 4, 6)
    for name, parameters in (("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1.5]),
                             ("HardSigmoid", [0.3, 0.4])):
        more = {"activation_params": parameters} if parameters else {}
        yield node("FusedConv", [x, Const(w), Const(b)], {**attrs, "activation": name, **more})
    yield node("FusedConv", [x, Const(w), Const(b), z], {**attrs, "activation": "Relu"}, name="FusedConv with Z")
    yield node("FusedConv", [x, Const(w), None, z], attrs, name="FusedConv with Z, no activation or bias")
    yield node("FusedConv", [f32(1, 3, 9), f32(2, 3, 3)], {"activation": "Relu", "auto_pad": "SAME_UPPER"})
    plain = next(iter([attrs]))
    import onnx.reference
    from onnx import helper

    def conv(xn, residual=0):
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w", "b"], ["y"], **plain)], "g",
                                  [helper.make_tensor_value_info(n, 1, None) for n in "xwb"],
                                  [helper.make_tensor_value_info("y", 1, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        y = onnx.reference.ReferenceEvaluator(model).run(None, {"x": xn, "w": w, "b": b})[0]
        return y.transpose(0, 2, 3, 1) + residual

    xl, zl = x.transpose(0, 2, 3, 1).copy(), z.transpose(0, 2, 3, 1).copy()
    yield node("NhwcConv", [xl, Const(w), Const(b)], plain, expected=[conv(x)])
    yield node("NhwcFusedConv", [xl, Const(w), Const(b), zl], {**plain, "activation": "Relu"},
               expected=[np.maximum(conv(x, zl), 0)])


def gemms():
    for ta, tb in itertools.product((0, 1), (0, 1)):
        a, b = f32(*((5, 4) if ta else (4, 5))), f32(*((3, 5) if tb else (5, 3)))
        yield node("FusedGemm", [a, b, f32(3)], {"transA": ta, "transB": tb, "alpha": 0.5, "beta": 2.0,
                                                 "activation": "Relu"})
    a, b, c = f32(4, 5), f32(5, 3), f32(4, 1)
    for name, alpha, beta in (("LeakyRelu", 0.1, None), ("Elu", 1.5, None), ("HardSigmoid", 0.3, 0.4),
                              ("Sigmoid", None, None), ("Tanh", None, None), ("Softplus", None, None),
                              ("Softsign", None, None), ("ThresholdedRelu", 0.3, None)):
        attrs = {"activation": name}
        attrs.update({k: v for k, v in (("activation_alpha", alpha), ("activation_beta", beta)) if v is not None})
        yield node("FusedGemm", [a, b, c], attrs)
    yield node("FusedGemm", [a, b], {"activation": "Relu"}, name="FusedGemm without C")
    yield node("FusedGemm", [a, b, c], {"activation": "Relu"}, symbolic=True)


def matmuls():
    for op in ("FusedMatMul", "TransposeMatMul"):
        for ta, tb in itertools.product((0, 1), (0, 1)):
            a, b = f32(2, *((5, 4) if ta else (4, 5))), f32(2, *((3, 5) if tb else (5, 3)))
            yield node(op, [a, b], {"transA": ta, "transB": tb, "alpha": 0.25})
    for ta, tb, ba, bb in itertools.product((0, 1), repeat=4):
        shape = [(2, 3), (4, 5)]  # batch, matrix
        a = (2, 3, 5, 4) if ta else (2, 3, 4, 5)
        b = (2, 3, 6, 5) if tb else (2, 3, 5, 6)
        del shape
        a = (a[2], 2, 3, a[3]) if ba else a
        b = (b[2], 2, 3, b[3]) if bb else b
        yield node("FusedMatMul", [f32(*a), f32(*b)], {"transA": ta, "transB": tb, "transBatchA": ba, "transBatchB": bb})
    yield node("FusedMatMul", [f32(5), f32(5, 3)], {"transA": 1}, name="FusedMatMul of a vector")
    yield node("FusedMatMul", [f32(2, 1, 4, 5), f32(3, 3, 5)], {"transB": 1}, name="FusedMatMul broadcast")
    yield node("FusedMatMul", [f32(2, 4, 5), f32(2, 3, 5)], {"transB": 1}, symbolic=True)
    a, b = f32(2, 4, 5), f32(5, 3)
    yield node("FusedMatMulActivation", [a, b], {"alpha": 2.0, "activation": "Relu"},
               expected=[np.maximum(2 * (a @ b), 0)])


def gelus():
    x, bias = 3 * f32(2, 3, 8), f32(8)
    yield node("Gelu", [x])
    yield node("BiasGelu", [x, bias])
    yield node("FastGelu", [x])
    yield node("FastGelu", [x, bias], name="FastGelu with bias")
    yield node("QuickGelu", [x])
    yield node("QuickGelu", [x], {"alpha": 1.0})
    yield node("QuickGelu", [x], {"alpha": -0.5}, symbolic=True)
    yield node("ScaledSiLU", [x], {"alpha": 1.5})
    yield node("ScaledSiLU", [x, np.float32(0.5).reshape(())], name="ScaledSiLU by an input")
    yield node("GatedAdd", [x, f32(2, 3, 8), f32(2, 3, 1)])
    skip = f32(2, 3, 8)
    yield node("BiasAdd", [x, bias, skip], expected=[x + bias + skip])
    from math import erf
    s = x + bias
    gelu = np.vectorize(lambda v: v * (1 + erf(v / np.sqrt(2))) / 2)(s[..., 4:].astype(np.float64))
    yield node("BiasSplitGelu", [x, bias], expected=[(s[..., :4] * gelu).astype(np.float32)])
    a, b = f32(4, 5), f32(5, 3)
    v = a @ b
    fast = 0.5 * v * (1 + np.tanh(0.797885 * v + 0.035677 * v**3))
    yield node("GemmFastGelu", [a, b], expected=[fast])


def cases():
    yield from convolutions()
    yield from gemms()
    yield from matmuls()
    yield from gelus()
