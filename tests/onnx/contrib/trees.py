"""trees.py: TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble on random trees."""

import itertools

import numpy as np
from harness import node, reference
from onnx import numpy_helper

rng = np.random.default_rng(6)
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
FEATURES = 4


def rows(n=9):
    x = np.round(rng.standard_normal((n, FEATURES)) * 2) / 2  # halves, so that equality happens
    x[0, 0], x[3, 2] = np.nan, np.nan
    return x.astype(np.float32)


def forest(prefix, targets, modes, trees=3, depth=4, per_leaf=1, signs=(-1, 1), missing=True):
    """Attributes of random trees; node ids within a tree are shuffled, so that nothing rests on their order."""
    attrs = {f"nodes_{k}": [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                                        "falsenodeids", "missing_value_tracks_true")}
    weights = {f"{prefix}_{k}": [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        first = len(attrs["nodes_nodeids"])

        def grow(level, first=first, tree=tree):
            place = len(attrs["nodes_nodeids"])
            own, leaf = place - first, level == 0 or (level < depth and rng.random() < 0.25)
            for key, value in (("treeids", tree), ("nodeids", own), ("featureids", int(rng.integers(FEATURES))),
                               ("modes", "LEAF" if leaf else str(rng.choice(modes))),
                               ("values", float(rng.integers(-3, 4)) / 2), ("truenodeids", 0), ("falsenodeids", 0),
                               ("missing_value_tracks_true", int(rng.integers(2)) if missing else 0)):
                attrs[f"nodes_{key}"].append(value)
            if leaf:
                for target in rng.choice(targets, per_leaf, replace=False):
                    value = float(np.float32(abs(rng.standard_normal()) * rng.choice(signs)))
                    for key, item in (("treeids", tree), ("nodeids", own), ("ids", int(target)), ("weights", value)):
                        weights[f"{prefix}_{key}"].append(item)
            else:
                attrs["nodes_truenodeids"][place] = grow(level - 1)
                attrs["nodes_falsenodeids"][place] = grow(level - 1)
            return own

        grow(depth)
        shuffled = [0, *(1 + rng.permutation(len(attrs["nodes_nodeids"]) - first - 1)).tolist()]
        for key in ("nodeids", "truenodeids", "falsenodeids"):
            attrs[f"nodes_{key}"][first:] = [shuffled[i] for i in attrs[f"nodes_{key}"][first:]]
        named = [i for i, t in enumerate(weights[f"{prefix}_treeids"]) if t == tree]
        for i in named:
            weights[f"{prefix}_nodeids"][i] = shuffled[weights[f"{prefix}_nodeids"][i]]
    return {**attrs, **weights}


def tensors(attrs, dtype, *names):
    """The named lists of floats as tensors, the form of opset 3."""
    attrs = dict(attrs)
    for name in names:
        attrs[f"{name}_as_tensor"] = numpy_helper.from_array(np.array(attrs.pop(name), dtype), name)
    return attrs


def ml(op, x, attrs, name, **how):
    return node(op, [x], attrs, domain="ai.onnx.ml", name=name, **{"opset": 3, **how})


def regressors():
    op = "TreeEnsembleRegressor"
    for mode in MODES:
        yield ml(op, rows(), {**forest("target", [0], [mode]), "n_targets": 1}, f"{op} {mode}")
    for aggregate, targets in itertools.product(("SUM", "AVERAGE", "MIN", "MAX"), (1, 3)):
        attrs = forest("target", range(targets), MODES, per_leaf=1 if targets == 1 else 2)
        attrs.update(n_targets=targets, aggregate_function=aggregate)
        yield ml(op, rows(), attrs, f"{op} {aggregate} {targets}")
        yield ml(op, rows(), {**attrs, "base_values": [0.25 * (i + 1) for i in range(targets)]},
                 f"{op} {aggregate} {targets} with base values")
    for transform, targets in itertools.product(("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"), (1, 3)):
        attrs = forest("target", range(targets), MODES, signs=(1,))
        yield ml(op, rows(), {**attrs, "n_targets": targets, "post_transform": transform}, f"{op} {transform} {targets}")
    attrs = forest("target", [0], ("BRANCH_LEQ",), signs=(1,), trees=1)
    attrs["target_weights"] = [float(np.float32(rng.uniform(0.1, 0.9))) for _ in attrs["target_weights"]]
    yield ml(op, rows(), {**attrs, "n_targets": 1, "post_transform": "PROBIT"}, f"{op} PROBIT", rtol=1e-4)
    attrs = forest("target", [0], MODES)
    double = tensors(attrs, np.float64, "nodes_values", "target_weights")
    yield ml(op, rows().astype(np.float64), {**double, "n_targets": 1}, f"{op} in double")
    yield ml(op, rows(), {**forest("target", [0], ("BRANCH_LEQ",), depth=0), "n_targets": 1}, f"{op} of leaves")
    yield ml(op, rows(), {**attrs, "n_targets": 1}, f"{op}", symbolic=True)
    yield ml(op, rows(40), {**forest("target", range(5), MODES, trees=30, depth=5), "n_targets": 5}, f"{op} of 30 trees")


def classifiers():
    op = "TreeEnsembleClassifier"
    transforms = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
    for transform, base in itertools.product(transforms, (0, 3)):
        attrs = {**forest("class", range(3), MODES, per_leaf=2), "classlabels_int64s": [7, -2, 5],
                 "post_transform": transform, **({"base_values": [0.1, -0.2, 0.3]} if base else {})}
        yield ml(op, rows(), attrs, f"{op} 3 classes {transform}, {base} base values", outputs=2)
    for transform, only, signs, base in itertools.product(transforms, ([0], [1], [0, 1]), ((1,), (-1, 1)), (0, 1, 2)):
        if base == 1 and only != [0]:
            continue  # one base value for two scores has no meaning
        # ONNX Runtime answers 0 or 1 where the leaves name both classes, whatever their labels.
        labels = [4, 9] if len(only) == 1 else [0, 1]
        attrs = {**forest("class", only, MODES, per_leaf=len(only), signs=signs), "classlabels_int64s": labels,
                 "post_transform": transform, **({"base_values": [0.1, 0.2][:base]} if base else {})}
        yield ml(op, rows(), attrs, f"{op} {transform}, classes {only}, signs {signs}, {base} base values", outputs=2)
    yield ml(op, rows(), {**forest("class", range(3), MODES), "classlabels_int64s": [0, 1, 2]}, op, outputs=2,
             symbolic=True)
    attrs = tensors(forest("class", range(3), MODES), np.float64, "nodes_values", "class_weights")
    yield ml(op, rows().astype(np.float64), {**attrs, "classlabels_int64s": [0, 1, 2]}, f"{op} in double", outputs=2)


def placed(targets, trees, depth, dtype):
    """Attributes of TreeEnsemble: nodes and leaves apart, roots by place, sets of members."""
    nodes, leaves, members, roots = [], [], [], []

    def grow(level):
        if level == 0:
            leaves.append((int(rng.integers(targets)), float(rng.standard_normal())))
            return len(leaves) - 1, 1
        mode, place = int(rng.integers(7)), len(nodes)
        nodes.append(None)
        own = len(members)
        if mode == 6:
            members.append([float(v) for v in rng.choice(np.arange(1, 8), 3, replace=False)])
        yes, no = grow(level - 1 - int(level > 1 and rng.random() < 0.3)), grow(level - 1)
        nodes[place] = (mode, int(rng.integers(FEATURES)), float(rng.integers(1, 8)), *yes, *no,
                        int(rng.integers(2)), own)
        return place, 0

    for _ in range(trees):
        roots.append(grow(depth)[0])
    sets = [members[n[8]] for n in nodes if n[0] == 6]
    values = [v for s in sets for v in (*s, float("nan"))]
    column = [list(c) for c in zip(*nodes)]

    def tensor(name, data, kind=dtype):
        return numpy_helper.from_array(np.array(data, kind), name)

    attrs = {"tree_roots": roots, "n_targets": targets, "nodes_modes": tensor("modes", column[0], np.uint8),
             "nodes_featureids": column[1], "nodes_splits": tensor("splits", column[2]),
             "nodes_truenodeids": column[3], "nodes_trueleafs": column[4], "nodes_falsenodeids": column[5],
             "nodes_falseleafs": column[6], "nodes_missing_value_tracks_true": column[7],
             "leaf_targetids": [t for t, _ in leaves], "leaf_weights": tensor("weights", [w for _, w in leaves])}
    if values:
        attrs["membership_values"] = tensor("members", values)
    return attrs


def whole_rows():
    """Features of 1 to 7: ONNX Runtime looks for members among whole numbers only."""
    x = rng.integers(1, 8, (9, FEATURES)).astype(np.float32)
    x[0, 0], x[3, 2] = np.nan, np.nan
    return x


def ensembles():
    for aggregate, dtype in itertools.product(range(4), (np.float32, np.float64)):
        attrs = {**placed(3, 4, 3, dtype), "aggregate_function": aggregate}
        yield ml("TreeEnsemble", whole_rows().astype(dtype), attrs, f"TreeEnsemble {aggregate} {dtype.__name__}", opset=5)
    for transform in range(4):
        attrs = {**placed(3, 2, 3, np.float32), "post_transform": transform}
        case = ml("TreeEnsemble", whole_rows(), attrs, f"TreeEnsemble transform {transform}", opset=5)
        # The standard's numbers are SOFTMAX 1 and LOGISTIC 2; ONNX Runtime has them the other way round.
        theirs = ml("TreeEnsemble", case.inputs["x0"], {**attrs, "post_transform": (0, 2, 1, 3)[transform]}, "", opset=5)
        case.expected = reference(theirs)
        yield case


def cases():
    yield from regressors()
    yield from classifiers()
    yield from ensembles()
