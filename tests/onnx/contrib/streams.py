"""streams.py: what language models have between their layers."""

import numpy as np
from harness import Const, node

rng = np.random.default_rng(41)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def gates():
    yield node("LinearAttentionGate", [f32(2, 3, 4), f32(4), f32(4), f32(2, 3, 4)], outputs=2)
    yield node("LinearAttentionGate", [f32(2, 3, 4), f32(4), f32(4)], name="LinearAttentionGate without a rate")
    for shape in ((2, 3, 4), (2, 3, 4, 1), (2, 3, 4, 5)):
        yield node("HyperConnectionPreMix", [f32(2, 3, 4, 5), f32(*shape)], {"reduction_scale": 0.5},
                   name=f"HyperConnectionPreMix {shape}")
    yield node("HyperConnectionPreMix", [f32(2, 3, 20), f32(2, 3, 4)], {"num_branches": 4},
               name="HyperConnectionPreMix of flat streams", fixed=True)
    for mixed in (False, True):
        yield node("HyperConnectionPostMix", [f32(2, 3, 4, 5), f32(2, 3, 5), f32(2, 3, 4)] + [f32(2, 3, 4, 4)] * mixed,
                   name=f"HyperConnectionPostMix {mixed}")
    yield node("HyperConnectionPostMix", [f32(2, 3, 20), f32(2, 3, 5), f32(2, 3, 4, 1), f32(2, 3, 4, 4)],
               {"num_branches": 4}, name="HyperConnectionPostMix of flat streams", fixed=True)
    yield node("EngramGate", [f32(2, 3, 4, 8), f32(2, 3, 4, 8), f32(2, 3, 8), f32(4, 8), f32(4, 8), f32(4, 8)], outputs=2)
    yield node("EngramGate", [f32(2, 3, 4, 8), f32(2, 3, 4, 8), f32(2, 3, 8), f32(4, 8), f32(4, 8)],
               {"epsilon": 1e-3}, name="EngramGate without a norm")


def sequences():
    ids = rng.integers(0, 10, (3, 2, 5)).astype(np.int64)
    for layout, section in ((0, [2, 1, 1]), (1, [2, 1, 1]), (0, [4, 0, 0])):
        for interleaved in (0, 1):
            yield node("MRotaryEmbedding", [f32(2, 5, 16), ids, Const(f32(10, 4)), Const(f32(10, 4))],
                       {"mrope_section": section, "mrope_layout": layout, "interleaved": interleaved, "num_heads": 2})
    yield node("MRotaryEmbedding", [f32(2, 2, 5, 8), ids, Const(f32(10, 4)), Const(f32(10, 4))],
               {"mrope_section": [1, 2, 1]}, name="MRotaryEmbedding of four dims")
    yield node("CausalConvWithState", [f32(2, 4, 7), f32(4, 1, 3), f32(4), f32(2, 4, 2)], {"activation": "silu"}, outputs=2)
    yield node("CausalConvWithState", [f32(2, 4, 7), f32(4, 1, 3)], name="CausalConvWithState without a past", outputs=2)
    yield node("LinearAttention", [f32(2, 3, 8), f32(2, 3, 8), f32(2, 3, 8), None, f32(2, 3, 2) - 1, f32(2, 3, 2)],
               {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "gated_delta"}, outputs=2, rtol=1e-4, atol=1e-5)
    for n in (1, 2, 3):
        tokens = rng.integers(0, 4, (2, 9)).astype(np.int64)
        yield node("NGramRepeatBlock", [tokens, f32(2, 6)], {"ngram_size": n})
    yield node("NGramRepeatBlock", [np.array([[1, 2]], np.int64), f32(1, 6)], {"ngram_size": 5},
               name="NGramRepeatBlock of a short text")
    yield node("SampleOp", [f32(2, 3)])


def windows():
    pads = np.array([1, 0, 1, 2], np.int64)
    for name, given in (("constant", Const(pads)), ("given", pads)):
        yield node("ConvTransposeWithDynamicPads", [f32(1, 3, 5, 6), Const(f32(3, 2, 3, 3)), given, Const(f32(2))],
                   {"strides": [2, 2], "kernel_shape": [3, 3]}, name=f"ConvTransposeWithDynamicPads {name}",
                   rtol=1e-4, atol=1e-5, fixed=name == "given")
    rois = np.array([[0, 0, 0, 7, 7], [1, 1, 2, 5, 3], [0, -3, 2, 20, 30], [1, 4, 4, 3, 3], [0, 30, 30, 40, 40]], np.float32)
    for scale in (1.0, 0.5):
        yield node("MaxRoiPool", [f32(2, 3, 8, 9), rois], {"pooled_shape": [3, 2], "spatial_scale": scale}, domain="")
    for p in (1, 2, 3):
        yield node("GlobalLpPool", [f32(2, 3, 4, 5)], {"p": p}, domain="", rtol=1e-4)


def trials():
    """Operators that ONNX had on trial; ONNX Runtime runs them up to opset 9."""
    x = f32(2, 3, 6, 7)
    old = {"domain": "", "opset": 8}
    yield node("Affine", [x], {"alpha": 2.0, "beta": 0.5}, **old)
    yield node("Scale", [x], {"scale": 3.0}, **old)
    yield node("ScaledTanh", [x], {"alpha": 2.0, "beta": 0.5}, **old)
    yield node("ParametricSoftplus", [x], {"alpha": 2.0, "beta": 3.0}, rtol=1e-4, **old)
    yield node("ImageScaler", [x], {"scale": 2.0, "bias": [1.0, -1.0, 0.5]}, **old)
    yield node("Crop", [x], {"border": [1, 2, 3, 1]}, **old)
    yield node("Crop", [x], {"border": [1, 2, 0, 0], "scale": [3, 4]}, **old)
    yield node("DynamicSlice", [x, Const(np.array([1, -3])), Const(np.array([2, 100])), Const(np.array([0, 3]))], **old)
    for across in (0, 1):
        for variance in (0, 1):
            yield node("MeanVarianceNormalization", [x], {"across_channels": across, "normalize_variance": variance},
                       rtol=1e-4, atol=1e-5, **old)
    statistics = [f32(3, 6, 7), f32(3, 6, 7), f32(3, 6, 7), np.abs(f32(3, 6, 7)) + 0.5]
    yield node("BatchNormalization", [x, *statistics], {"spatial": 0}, rtol=1e-4, atol=1e-5, **old)
    for opset in (7, 8):
        yield node("BatchNormalization", [x, f32(3), f32(3), f32(3), np.abs(f32(3)) + 0.5], name=f"BatchNormalization {opset}",
                   domain="", opset=opset, rtol=1e-4, atol=1e-5)


def cases():
    for family in (gates, sequences, windows, trials):
        yield from family()
