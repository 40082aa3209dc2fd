"""features.py: linear models, support vector machines, and what prepares features."""

import itertools

import numpy as np
from harness import node
from onnx import numpy_helper

rng = np.random.default_rng(7)
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def floats(n):
    return [float(v) for v in f32(n)]


def ml(op, operands, attrs=None, **how):
    return node(op, operands, attrs, domain="ai.onnx.ml", **{"opset": 3, **how})


def linear():
    for transform, targets in itertools.product(TRANSFORMS, (1, 3)):
        attrs = {"coefficients": floats(4 * targets), "intercepts": floats(targets), "targets": targets,
                 "post_transform": transform}
        yield ml("LinearRegressor", [f32(5, 4)], attrs, name=f"LinearRegressor {transform} {targets}")
    yield ml("LinearRegressor", [f32(5, 4)], {"coefficients": floats(4)}, symbolic=True, name="LinearRegressor plain")
    for transform, columns in itertools.product(TRANSFORMS, (1, 2, 3)):
        attrs = {"coefficients": floats(4 * columns), "intercepts": floats(columns), "post_transform": transform,
                 "classlabels_ints": [3, 8, 5][:max(columns, 2)]}
        yield ml("LinearClassifier", [f32(6, 4)], attrs, outputs=2, name=f"LinearClassifier {transform} {columns}")
    for kind in (np.float64, np.int64, np.int32):
        x = (3 * f32(6, 4)).astype(kind)
        yield ml("LinearClassifier", [x], attrs, outputs=2, name=f"LinearClassifier of {kind.__name__}")


def machines():
    for kernel, one_class in itertools.product(("LINEAR", "POLY", "RBF", "SIGMOID"), (0, 1)):
        attrs = {"kernel_type": kernel, "kernel_params": [0.4, 0.2, 2.0], "rho": floats(1), "one_class": one_class}
        supports = {"support_vectors": floats(12), "coefficients": floats(3), "n_supports": 3}
        yield ml("SVMRegressor", [f32(5, 4)], {**attrs, **supports}, rtol=1e-4, atol=1e-5,
                 name=f"SVMRegressor {kernel} {one_class}")
        yield ml("SVMRegressor", [f32(5, 4)], {**attrs, "kernel_type": "LINEAR", "coefficients": floats(4)},
                 name=f"SVMRegressor linear {kernel} {one_class}")
        counts = [2, 3, 1]
        attrs = {"kernel_type": kernel, "kernel_params": [0.4, 0.2, 3.0], "classlabels_ints": [4, 2, 6]}
        yield ml("SVMClassifier", [f32(7, 4)], {**attrs, "vectors_per_class": counts, "rho": floats(3),
                                                "support_vectors": floats(24), "coefficients": floats(12)},
                 outputs=2, rtol=1e-4, atol=1e-5, name=f"SVMClassifier {kernel}")
        attrs["classlabels_ints"] = [4, 2]
        yield ml("SVMClassifier", [f32(7, 4)], {**attrs, "vectors_per_class": [2, 3], "rho": floats(1),
                                                "support_vectors": floats(20), "coefficients": floats(5)},
                 outputs=2, rtol=1e-4, atol=1e-5, name=f"SVMClassifier {kernel}, 2 classes")
    yield from probabilities()
    for transform in TRANSFORMS:
        yield ml("SVMClassifier", [f32(7, 4)], {"classlabels_ints": [1, 0, 2], "rho": floats(1), "coefficients": floats(12),
                                                "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0],
                                                "post_transform": transform},
                 outputs=2, name=f"SVMClassifier of coefficients, {transform}")


def probabilities():
    """Support vector machines that were trained with probability=True."""
    for classes, kernel in itertools.product((2, 3, 5), ("RBF", "LINEAR")):
        pairs, counts = classes * (classes - 1) // 2, [2, 3, 1, 2, 4][:classes]
        attrs = {"kernel_type": kernel, "kernel_params": [0.4, 0.2, 3.0], "classlabels_ints": list(range(classes)),
                 "vectors_per_class": counts, "rho": floats(pairs), "support_vectors": floats(4 * sum(counts)),
                 "coefficients": floats((classes - 1) * sum(counts)), "prob_a": floats(pairs), "prob_b": floats(pairs)}
        yield ml("SVMClassifier", [f32(9, 4)], attrs, outputs=2, rtol=1e-4, atol=1e-5,
                 name=f"SVMClassifier probabilities {classes} {kernel}")
    for transform in TRANSFORMS[1:]:
        yield ml("SVMClassifier", [f32(9, 4)], {**attrs, "post_transform": transform}, outputs=2, rtol=1e-4, atol=1e-5,
                 name=f"SVMClassifier probabilities {transform}")


def preparation():
    x = f32(3, 4)
    for indices in (np.array([[2, 0]], np.int64), np.array([3], np.int64)):
        yield ml("ArrayFeatureExtractor", [x, indices], name=f"ArrayFeatureExtractor {indices.tolist()}")
    yield ml("ArrayFeatureExtractor", [f32(5), np.array([[1, 4]], np.int64)], name="ArrayFeatureExtractor of a vector")
    yield ml("ArrayFeatureExtractor", [f32(2, 3, 4), np.array([1, 1, 0], np.int64)], name="ArrayFeatureExtractor 3 dims")
    yield ml("Binarizer", [x], {"threshold": 0.3})
    for n in (1, 4):
        yield ml("Scaler", [x], {"offset": floats(n), "scale": floats(n)}, name=f"Scaler {n}")
    yield ml("Scaler", [rng.integers(-9, 9, (3, 4))], {"offset": floats(4), "scale": floats(4)}, name="Scaler of int64")
    y = x.copy()
    y[1] = 0
    for norm in ("MAX", "L1", "L2"):
        yield ml("Normalizer", [y], {"norm": norm})
        yield ml("Normalizer", [y[0]], {"norm": norm}, name=f"Normalizer {norm} of a vector")
    y[0, 1], y[2, 2] = np.nan, 7
    yield ml("Imputer", [y], {"imputed_value_floats": floats(4), "replaced_value_float": float("nan")})
    yield ml("Imputer", [y], {"imputed_value_floats": [1.5], "replaced_value_float": 7.0})
    z = rng.integers(0, 3, (3, 4))
    yield ml("Imputer", [z], {"imputed_value_int64s": [9, 8, 7, 6], "replaced_value_int64": 1})
    parts = [f32(3, 2), f32(3, 3)]
    yield ml("FeatureVectorizer", parts, {"inputdimensions": [2, 3]})
    yield ml("FeatureVectorizer", parts, {"inputdimensions": [3, 2]})
    yield ml("FeatureVectorizer", [z, z], {"inputdimensions": [4, 4]}, symbolic=True)
    yield ml("FeatureVectorizer", [f32(2, 3, 2), f32(2, 2)], {"inputdimensions": [6, 3]}, name="FeatureVectorizer rank 3")
    yield ml("FeatureVectorizer", [f32(2, 3, 2), f32(2, 1, 2, 2)], {"inputdimensions": [5, 4]}, symbolic=True,
             name="FeatureVectorizer ranks 3 and 4")
    yield ml("FeatureVectorizer", [f32(3), f32(4)], {"inputdimensions": [3, 5]}, name="FeatureVectorizer rank 1")


def categories():
    keys = [5, -3, 2**40, 0]
    x = np.array([[0, 5, 7], [2**40, -3, 5]], np.int64)
    yield ml("OneHotEncoder", [x], {"cats_int64s": keys, "zeros": 1})
    yield ml("OneHotEncoder", [np.array([5, 0, -3], np.int64)], {"cats_int64s": keys, "zeros": 0})
    yield ml("OneHotEncoder", [np.array([[5.0, 1.0]], np.float32)], {"cats_int64s": keys, "zeros": 1})
    op = "LabelEncoder"
    yield ml(op, [x], {"keys_int64s": keys, "values_int64s": [1, 2, 3, 4], "default_int64": 42}, name=f"{op} ints")
    yield ml(op, [x], {"keys_int64s": keys, "values_floats": [1.5, 2.0, -3.0, 4.0], "default_float": 0.5},
             name=f"{op} to floats")
    y = np.array([1.5, np.nan, 0.25, 9.0, -0.0], np.float32)
    floating = [float("nan"), 0.25, 1.5, 0.0]
    yield ml(op, [y], {"keys_floats": floating, "values_int64s": [1, 2, 3, 4]}, name=f"{op} of floats")
    yield ml(op, [y], {"keys_floats": floating, "values_floats": [1.0, 2.0, 3.0, 4.0], "default_float": -1.0},
             symbolic=True, name=f"{op} floats")

    def tensor(name, values, kind):
        return numpy_helper.from_array(np.array(values, kind), name)

    yield ml(op, [x], {"keys_tensor": tensor("k", keys, np.int64), "values_tensor": tensor("v", [1, 2, 3, 4], np.int64),
                       "default_tensor": tensor("d", [-7], np.int64)}, opset=4, name=f"{op} of tensors")
    yield ml(op, [y.astype(np.float64)], {"keys_tensor": tensor("k", floating, np.float64),
                                          "values_tensor": tensor("v", [1, 2, 3, 4], np.float64),
                                          "default_tensor": tensor("d", [0.5], np.float64)}, opset=4, name=f"{op} doubles")


def cases():
    yield from linear()
    yield from machines()
    yield from preparation()
    yield from categories()
