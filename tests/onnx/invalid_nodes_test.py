#!/usr/bin/env python3
"""invalid_nodes_test.py: nodes that are none of their operator are refused, by name, for every operator and version.

Usage: invalid_nodes_test.py RELAXC PAGE

From onnx's schemas: of each operator that PAGE (docs/onnx-support.md) says is converted, in each version, a node that is
right except for one fault, in the graph, in a branch that is never taken and in a function that is never called: an
attribute that is unknown, of another type, given twice, missing, or a reference to a function that is not there; an input
or output too many, a required input too few, a gap in a list of inputs. By hand: values out of range on nodes that are
right otherwise, and calls of functions. Each must give a message that names node and fault, and the program must exit
with 1. relaxc reports all faults of a model, so the nodes of one version are one model.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
import onnx.defs
from onnx import AttributeProto, TensorProto, helper

SAMPLES = {"FLOAT": 1.0, "INT": 1, "STRING": "a", "FLOATS": [1.0], "INTS": [1], "STRINGS": ["a"]}
FLOAT = TensorProto.FLOAT


def sample(name, kind):
    """An attribute of a type by its name in onnx."""
    if kind in SAMPLES:
        return helper.make_attribute(name, SAMPLES[kind])
    made = AttributeProto(name=name, type=getattr(AttributeProto, kind))
    if kind == "TENSOR":
        made.t.CopyFrom(helper.make_tensor("t", FLOAT, [1], [1.0]))
    elif kind == "GRAPH":
        made.g.CopyFrom(helper.make_graph([], "g", [], []))
    elif kind == "SPARSE_TENSOR":
        made.sparse_tensor.values.CopyFrom(helper.make_tensor("t", FLOAT, [1], [1.0]))
    elif kind == "TYPE_PROTO":
        made.tp.CopyFrom(helper.make_tensor_type_proto(FLOAT, [1]))
    return made


def kind_of(attribute):
    return str(attribute.type).rsplit(".", 1)[-1]


class Nodes:
    """The faulty nodes of one model, each with what its message must say."""

    def __init__(self, opsets):
        self.opsets, self.nodes, self.needles, self.functions = opsets, [], {}, []
        self.inputs = {"x": (FLOAT, [2, 3])}

    def add(self, what, op, domain, inputs, outputs, attributes, needle):
        name = f"{what} {op} {len(self.nodes)}".replace("'", "")
        node = onnx.NodeProto(op_type=op, domain=domain, name=name)
        node.input.extend(inputs)
        node.output.extend(f"{len(self.nodes)}_{i}" for i in range(outputs))
        node.attribute.extend(attributes)
        self.nodes.append(node)
        self.needles[name] = needle

    def model(self, place=""):
        """`place`: where the nodes are. "branch": in a branch of an If that a constant leaves out; "function": in a
        function that is never called."""
        if place == "branch":
            return self.left_out()
        if place == "function":
            return self.not_called()
        infos = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in self.inputs.items()]
        end = helper.make_node("Identity", ["x"], ["end"])
        graph = helper.make_graph([*self.nodes, end], "g", infos, [helper.make_tensor_value_info("end", FLOAT, [2, 3])])
        sets = {"": 17, "ai.onnx.ml": 3, **self.opsets}
        return helper.make_model(graph, ir_version=10, functions=self.functions,
                                 opset_imports=[helper.make_opsetid(d, v) for d, v in sets.items()])

    def around(self, nodes, functions=()):
        sets = [helper.make_opsetid(d, v) for d, v in {"": 17, "ai.onnx.ml": 3, **self.opsets, "rest": 1}.items()]
        x, end = (helper.make_tensor_value_info(name, FLOAT, [2, 3]) for name in ("x", "end"))
        graph = helper.make_graph(nodes, "g", [x], [end])
        return helper.make_model(graph, ir_version=10, functions=functions, opset_imports=sets), sets

    def left_out(self):
        def branch(nodes):
            end = helper.make_node("Identity", ["x"], ["inner_end"])
            return helper.make_graph([*nodes, end], "b", [], [helper.make_tensor_value_info("inner_end", FLOAT, [2, 3])])

        true = helper.make_node("Constant", [], ["true"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
        choice = helper.make_node("If", ["true"], ["end"], then_branch=branch([]), else_branch=branch(self.nodes))
        return self.around([true, choice])[0]

    def not_called(self):
        end = helper.make_node("Identity", ["x"], ["end"])
        sets = self.around([end])[1]
        function = helper.make_function("rest", "Nobody", ["x"], ["end"], [*self.nodes, end], sets)
        return self.around([end], [function])[0]


def faults_of(schema, into):
    """One node for each fault that the schema knows."""
    attributes = dict(schema.attributes)
    needed = [sample(name, kind_of(a)) for name, a in attributes.items() if a.required]
    inputs = ["x"] * schema.min_input
    outputs = max(1, schema.min_output)

    def add(what, needle, *, ins=inputs, outs=outputs, given=needed):
        into.add(what, schema.name, schema.domain, ins, outs, given, needle)

    add("unknown", "'surely_unknown'", given=[*needed, sample("surely_unknown", "INT")])
    for name, attribute in attributes.items():
        others = [a for a in needed if a.name != name]
        right = kind_of(attribute)
        for wrong in ("FLOAT", "INT", "INTS", "STRING", "TENSOR"):
            if wrong != right:
                add(f"type {wrong}", f"'{name}'", given=[*others, sample(name, wrong)])
        given = sample(name, right)
        add("twice", f"'{name}' is given twice", given=[*others, given, given])
        outer = AttributeProto(name=name, type=attribute.type.value, ref_attr_name="outer")
        add("outside", f"'{name}' refers to attribute 'outer'", given=[*others, outer])
        if attribute.required:
            add("missing", f"'{name}'", given=others)
    repeated = any(str(p.option).endswith("Variadic") for p in schema.inputs)
    if repeated:
        add("gap", "missing", ins=["x"] * max(schema.min_input, len(schema.inputs) - 1) + ["", "x"])
    else:
        add("more", "inputs" if len(schema.inputs) != 1 else "input", ins=["x"] * (len(schema.inputs) + 1))
    if schema.min_input > 0:
        # Loop has two inputs that may be empty and must be there: what is said of that is up to its converter.
        optional = str(schema.inputs[schema.min_input - 1].option).endswith("Optional")
        add("fewer", "" if optional else "missing", ins=inputs[:-1])
        add("empty", "" if optional else "missing", ins=[*inputs[:-1], ""])
    if not any(str(p.option).endswith("Variadic") for p in schema.outputs):
        add("outputs", "output", outs=len(schema.outputs) + 1)


def converted(page):
    """(domain, operator) of the rows that are not refusals."""
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\d+) \|(.*)\|$", Path(page).read_text(), re.M)
    return {(domain, op): int(since) for domain, op, since, rest in rows if rest.split("|")[-1].strip() != "refused"}


def by_schemas(page):
    known, models = converted(page), {}
    for schema in onnx.defs.get_all_schemas_with_history():
        since = known.get((schema.domain or "ai.onnx", schema.name))
        if since is None or schema.deprecated or schema.since_version < since:
            continue
        key = (schema.domain, schema.since_version)
        faults_of(schema, models.setdefault(key, Nodes({schema.domain: schema.since_version})))
    return [models[key] for key in sorted(models)]


NAN = float("nan")
IMAGE = (FLOAT, [1, 4, 8, 8])
FILTER, POOL = (FLOAT, [4, 4, 3, 3]), {"kernel_shape": [3, 3]}
GATES = [(FLOAT, [5, 2, 3]), (FLOAT, [1, 16, 3]), (FLOAT, [1, 16, 4])]
WINDOW = [{"strides": [0, 1]}, {"strides": [-1, 1]}, {"dilations": [0, 0]}, {"dilations": [1, -2]}, {"strides": [1]},
          {"pads": [1, 1]}, {"auto_pad": "SAME"}, {"kernel_shape": [0, 3]}, {"kernel_shape": [3, -3]},
          {"kernel_shape": [3]}, {"pads": [2**40, 0, 0, 0]}]
REDUCTION = [{"axes": [2]}, {"axes": [-3]}, {"axes": [0, 0]}, {"keepdims": 2}]
X = [(FLOAT, [2, 3])]
HEADS = [(FLOAT, [1, 2, 8])] * 3
# Operator, inputs, attributes that are right, and for each fault the attributes that replace them.
RANGES = [
    ("Conv", [IMAGE, FILTER], {}, [*WINDOW, {"group": 0}, {"group": -1}, {"group": 3}]),
    ("ConvTranspose", [IMAGE, FILTER], {}, [*WINDOW, {"group": 0}, {"group": 3}, {"output_padding": [-1, 0]}]),
    ("ConvInteger", [(TensorProto.UINT8, d) for _, d in (IMAGE, FILTER)], {}, [*WINDOW, {"group": 0}]),
    ("MaxPool", [IMAGE], POOL, [*WINDOW, {"ceil_mode": 2}, {"storage_order": 2}]),
    ("AveragePool", [IMAGE], POOL, [w for w in WINDOW if "dilations" not in w] + [{"count_include_pad": 7}]),
    ("LpPool", [IMAGE], POOL, [w for w in WINDOW if "dilations" not in w] + [{"p": 0}, {"p": -1}]),
    ("GlobalLpPool", [IMAGE], {}, [{"p": 0}]),
    ("MaxRoiPool", [IMAGE, (FLOAT, [1, 5])], {"pooled_shape": [2, 2]}, [{"pooled_shape": [0, 2]}, {"pooled_shape": [2]}]),
    ("RoiAlign", [IMAGE, (FLOAT, [1, 4]), (TensorProto.INT64, [1])], {},
     [{"output_height": 0}, {"output_width": -1}, {"sampling_ratio": -1}, {"mode": "min"}, {"spatial_scale": NAN},
      {"coordinate_transformation_mode": "none"}]),
    ("LSTM", GATES, {"hidden_size": 4}, [{"hidden_size": 0}, {"hidden_size": 5}, {"hidden_size": -4}, {"layout": 2},
     {"direction": "backward"}, {"direction": "bidirectional"}, {"activations": ["Relu"]}, {"clip": -1.0},
     {"activations": ["None", "Tanh", "Tanh"]}, {"input_forget": 2}]),
    ("GRU", [(FLOAT, [5, 2, 3]), (FLOAT, [1, 12, 3]), (FLOAT, [1, 12, 4])], {"hidden_size": 4},
     [{"hidden_size": 0}, {"hidden_size": 3}, {"linear_before_reset": 2}, {"layout": -1}]),
    ("RNN", [(FLOAT, [5, 2, 3]), (FLOAT, [1, 4, 3]), (FLOAT, [1, 4, 4])], {"hidden_size": 4},
     [{"hidden_size": 0}, {"hidden_size": 8}, {"direction": ""}]),
    ("Concat", X * 2, {"axis": 0}, [{"axis": 2}, {"axis": -3}]),
    ("Transpose", X, {}, [{"perm": [0]}, {"perm": [0, 0]}, {"perm": [0, 2]}, {"perm": [-3, 0]}, {"perm": [0, 1, 2]}]),
    ("Softmax", X, {}, [{"axis": 2}, {"axis": -3}]),
    ("LogSoftmax", X, {}, [{"axis": 2}]),
    ("Hardmax", X, {}, [{"axis": 2}]),
    ("ArgMax", X, {}, [{"axis": 2}, {"axis": -3}, {"keepdims": 2}, {"select_last_index": 3}]),
    ("ArgMin", X, {}, [{"axis": 2}, {"keepdims": -1}]),
    ("Flatten", X, {}, [{"axis": 3}, {"axis": -3}]),
    ("Gather", [X[0], (TensorProto.INT64, [1])], {}, [{"axis": 2}, {"axis": -3}]),
    ("GatherElements", [X[0], (TensorProto.INT64, [2, 3])], {}, [{"axis": 2}, {"axis": -3}]),
    ("GatherND", [X[0], (TensorProto.INT64, [2, 1])], {}, [{"batch_dims": 2}, {"batch_dims": -1}]),
    ("ScatterElements", [X[0], (TensorProto.INT64, [2, 3]), X[0]], {}, [{"axis": 2}, {"axis": -3}, {"reduction": "sub"}]),
    ("ScatterND", [X[0], (TensorProto.INT64, [1, 1]), (FLOAT, [1, 3])], {}, [{"reduction": "mean"}]),
    ("Split", X, {"num_outputs": 1}, [{"axis": 2, "num_outputs": 1}, {"num_outputs": 0}, {"num_outputs": 2}], 18),
    ("BatchNormalization", [IMAGE] + [(FLOAT, [4])] * 4, {},
     [{"epsilon": NAN}, {"epsilon": -1.0}, {"epsilon": float("inf")}, {"momentum": NAN}, {"training_mode": 2}]),
    ("InstanceNormalization", [IMAGE] + [(FLOAT, [4])] * 2, {}, [{"epsilon": NAN}, {"epsilon": -1.0}]),
    ("LayerNormalization", [X[0], (FLOAT, [3])], {}, [{"epsilon": NAN}, {"axis": 2}, {"axis": -3}]),
    ("GroupNormalization", [IMAGE] + [(FLOAT, [4])] * 2, {"num_groups": 2},
     [{"num_groups": 0}, {"num_groups": 3}, {"num_groups": -2}, {"num_groups": 2, "epsilon": NAN}], 21),
    ("RMSNormalization", [X[0], (FLOAT, [3])], {}, [{"epsilon": NAN}, {"axis": 2}], 23),
    ("LpNormalization", X, {}, [{"p": 0}, {"p": 3}, {"axis": 2}]),
    ("LRN", [IMAGE], {"size": 3}, [{"size": 0}, {"size": -1}]),
    ("DepthToSpace", [IMAGE], {"blocksize": 2}, [{"blocksize": 0}, {"blocksize": -2}, {"blocksize": 3},
     {"blocksize": 2, "mode": "XYZ"}]),
    ("SpaceToDepth", [IMAGE], {"blocksize": 2}, [{"blocksize": 0}, {"blocksize": -2}, {"blocksize": 3}]),
    ("Cast", X, {"to": 1}, [{"to": 0}, {"to": 99}, {"to": -1}, {"to": 14}, {"to": 1, "saturate": 2}], 19),
    ("EyeLike", X, {}, [{"dtype": 99}, {"dtype": 0}, {"dtype": 8}]),
    ("OneHot", [(TensorProto.INT64, [2]), (TensorProto.INT64, [1]), (FLOAT, [2])], {}, [{"axis": 2}, {"axis": -3}]),
    ("TopK", [X[0], (TensorProto.INT64, [1])], {}, [{"axis": 2}, {"axis": -3}, {"largest": 2}, {"sorted": 2}]),
    ("CumSum", [X[0], (TensorProto.INT64, [])], {}, [{"exclusive": 2}, {"reverse": -1}]),
    ("Unique", X, {}, [{"axis": 2}, {"axis": -3}, {"sorted": 2}]),
    ("Compress", [X[0], (TensorProto.BOOL, [2])], {}, [{"axis": 2}, {"axis": -3}]),
    ("ReverseSequence", [X[0], (TensorProto.INT64, [3])], {}, [{"time_axis": 2}, {"batch_axis": 0}, {"batch_axis": 5}]),
    ("Dropout", X, {}, [{"ratio": NAN}, {"ratio": 2.0}, {"ratio": -0.5}], 10),
    ("Gelu", X, {}, [{"approximate": "erf"}], 20),
    ("BitShift", [(TensorProto.UINT8, [2])] * 2, {"direction": "LEFT"}, [{"direction": "UP"}, {"direction": "left"}]),
    ("Einsum", X, {"equation": "ij->ji"}, [{"equation": "ij->k"}, {"equation": "ijk->i"}, {"equation": ""},
     {"equation": "ij,jk->ik"}, {"equation": "i->"}]),
    ("GridSample", [IMAGE, (FLOAT, [1, 2, 2, 2])], {},
     [{"mode": "best"}, {"padding_mode": "wrap"}, {"align_corners": 2}], 20),
    ("Resize", [IMAGE, (FLOAT, [0]), (FLOAT, [4])], {},
     [{"mode": "area"}, {"nearest_mode": "up"}, {"coordinate_transformation_mode": "corner"}, {"antialias": 2},
      {"cubic_coeff_a": NAN}, {"keep_aspect_ratio_policy": "fill"}, {"exclude_outside": -1}, {"axes": [0, 0]},
      {"axes": [4]}], 18),
    ("Pad", [X[0], (TensorProto.INT64, [4])], {}, [{"mode": "zeros"}]),
    ("NonMaxSuppression", [(FLOAT, [1, 2, 4]), (FLOAT, [1, 1, 2])], {}, [{"center_point_box": 2}]),
    ("NegativeLogLikelihoodLoss", [X[0], (TensorProto.INT64, [2])], {}, [{"reduction": "max"}]),
    ("SoftmaxCrossEntropyLoss", [X[0], (TensorProto.INT64, [2])], {}, [{"reduction": "avg"}]),
    ("Multinomial", X, {}, [{"sample_size": 0}, {"sample_size": -1}, {"dtype": 1}]),
    ("RandomUniform", [], {"shape": [2]}, [{"shape": [-2]}, {"shape": [2], "dtype": 7}, {"shape": [2**40]}]),
    ("RandomNormal", [], {"shape": [2]}, [{"shape": [-2]}, {"shape": [2], "dtype": 99}]),
    ("Bernoulli", X, {}, [{"dtype": 99}]),
    ("Attention", [(FLOAT, [1, 2, 8])] * 3, {"q_num_heads": 2, "kv_num_heads": 2},
     [{"q_num_heads": 0, "kv_num_heads": 2}, {"q_num_heads": 2, "kv_num_heads": 0}, {"q_num_heads": 3, "kv_num_heads": 3},
      {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 2}, {"q_num_heads": 2, "kv_num_heads": 2, "softcap": -1.0},
      {"q_num_heads": 2, "kv_num_heads": 2, "qk_matmul_output_mode": 4}], 23),
    ("QuantizeLinear", [X[0], (FLOAT, [2]), (TensorProto.UINT8, [2])], {"axis": 0}, [{"axis": 2}, {"axis": -3},
     {"axis": 0, "block_size": -1}], 21),
    ("DequantizeLinear", [(TensorProto.UINT8, [2, 3]), (FLOAT, [2])], {"axis": 0}, [{"axis": 2}, {"block_size": -1}], 21),
    ("ConcatFromSequence", [], {"axis": 0}, []),
    *[(op, X, {}, REDUCTION, 13) for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
      "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare")],
    ("Squeeze", [(FLOAT, [1, 3])], {"axes": [0]}, [{"axes": [2]}, {"axes": [-3]}, {"axes": [0, 0]}, {"axes": [1]}], 11),
    ("Unsqueeze", X, {"axes": [2]}, [{"axes": [3]}, {"axes": [-4]}, {"axes": [0, 0]}], 11),
    ("Slice", X, {"starts": [0], "ends": [1]}, [{"starts": [0], "ends": [1], "axes": [2]},
     {"starts": [0], "ends": [1, 1]}, {"starts": [0, 0], "ends": [1, 1], "axes": [0, 0]}], 9),
    ("ai.onnx.ml.Normalizer", X, {}, [{"norm": "L3"}]),
    ("ai.onnx.ml.LinearRegressor", X, {"coefficients": [1.0] * 3},
     [{"coefficients": [1.0] * 3, "targets": 0}, {"coefficients": [1.0] * 3, "post_transform": "X"},
      {"coefficients": [1.0] * 2}]),
    ("ai.onnx.ml.FeatureVectorizer", X, {"inputdimensions": [3]}, [{"inputdimensions": [0]}, {"inputdimensions": [-1]},
     {"inputdimensions": [3, 3]}]),
    ("com.microsoft.MultiHeadAttention", HEADS, {"num_heads": 2}, [{"num_heads": 0}, {"num_heads": 3}, {"num_heads": -2}]),
    ("com.microsoft.SkipLayerNormalization", [(FLOAT, [1, 2, 8])] * 2 + [(FLOAT, [8])], {},
     [{"epsilon": NAN}, {"epsilon": -1.0}]),
    ("com.microsoft.FusedConv", [IMAGE, FILTER], {}, [*WINDOW, {"group": 0}, {"activation": "Swish7"}]),
    ("com.microsoft.FusedMatMul", [(FLOAT, [2, 3]), (FLOAT, [3, 2])], {}, [{"alpha": "1"}]),
    ("com.microsoft.CDist", X * 2, {"metric": "euclidean"}, [{"metric": "cosine7"}]),
]


OUTPUTS = {"TopK": 2}


def by_hand():
    """Models of nodes with values out of range, and one of the same nodes as they should be."""
    models, right = {}, {}
    for op, operands, fine, faults, *opset in RANGES:
        domain, _, op = op.rpartition(".")
        key = opset[0] if opset else 17
        into = models.setdefault(key, Nodes({"": key, "com.microsoft": 1}))
        good = right.setdefault(key, Nodes({"": key, "com.microsoft": 1}))
        names = []
        for kind, dims in operands:
            names.append(f"{TensorProto.DataType.Name(kind)}_{'x'.join(map(str, dims))}".lower())
            into.inputs[names[-1]] = good.inputs[names[-1]] = (kind, dims)
        for attributes in faults:
            given = [helper.make_attribute(k, v) for k, v in {**fine, **attributes}.items()]
            into.add(f"range {attributes}", op, domain, names, OUTPUTS.get(op, 1), given, "")
        if faults:
            good.add("right", op, domain, names, OUTPUTS.get(op, 1), [helper.make_attribute(k, v) for k, v in fine.items()], None)
    return list(models.values()), list(right.values())


def functions():
    """Calls that are none of their function, and bodies that refer to attributes that it does not have."""
    into = Nodes({"local": 1})
    outer = AttributeProto(name="axis", type=AttributeProto.INT, ref_attr_name="along")
    dangling = AttributeProto(name="axis", type=AttributeProto.INT, ref_attr_name="allong")
    typed = AttributeProto(name="keepdims", type=AttributeProto.STRING, ref_attr_name="along")
    opsets = [helper.make_opsetid("", 17)]

    def function(name, attribute, defaults=()):
        body = onnx.NodeProto(op_type="Softmax" if attribute.name == "axis" else "ArgMax", name=f"inner {name}")
        body.input.append("a")
        body.output.append("b")
        body.attribute.append(attribute)
        into.functions.append(helper.make_function("local", name, ["a"], ["b"], [body], opsets, ["along"],
                                                   attribute_protos=list(defaults)))

    function("Fine", outer)
    function("Dangling", dangling)
    function("Typed", typed)
    function("Default", outer, [helper.make_attribute("other", 1)])
    along = helper.make_attribute("along", 1)
    into.add("more", "Fine", "local", ["x", "x"], 1, [along], "1 input")
    into.add("outputs", "Fine", "local", ["x"], 2, [along], "1 output")
    into.add("unknown", "Fine", "local", ["x"], 1, [along, helper.make_attribute("allong", 1)], "'allong'")
    into.add("twice", "Fine", "local", ["x"], 1, [along, along], "'along' is given twice")
    into.add("outside", "Fine", "local", ["x"], 1,
             [AttributeProto(name="along", type=AttributeProto.INT, ref_attr_name="q")], "'along' refers to attribute 'q'")
    into.add("default", "Default", "local", ["x"], 1, [along, helper.make_attribute("other", "text")], "'other'")
    for op in ("Dangling", "Typed"):
        into.add("inner", op, "local", ["x"], 1, [along], None)
        into.needles[f"inner {op}"] = "'allong'" if op == "Dangling" else "'keepdims'"
    into.add("inner", "Fine", "local", ["x"], 1, [helper.make_attribute("along", "text")], None)
    into.needles["inner Fine"] = "'axis' must be of type int"
    return into


def messages(relaxc, nodes, folder, place=""):
    """The exit code, and the text of every error by the name of its node."""
    path = Path(folder) / "model.onnx"
    path.write_bytes(nodes.model(place).SerializeToString())
    done = subprocess.run([relaxc, "--check", str(path)], capture_output=True, text=True, check=False, timeout=120)
    found = {}
    for name, text in re.findall(r"error: node '([^']*)' \([^)]*\): (.*)", done.stderr):
        found[name] = found.get(name, "") + text + "\n"
    return done, found


def main():
    relaxc, page = sys.argv[1], sys.argv[2]
    ranges, right = by_hand()
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        schemas = by_schemas(page)
        everywhere = [(nodes, place) for nodes in schemas for place in ("", "branch", "function")]
        for nodes, place in [*everywhere, *((nodes, "") for nodes in [*ranges, functions()])]:
            done, found = messages(relaxc, nodes, folder, place)
            if done.returncode != 1:
                wrong.append(f"{nodes.opsets} {place}: exit code {done.returncode}: {done.stderr[-300:]}")
            for name, needle in nodes.needles.items():
                # Arguments that are missing are a matter of the converter where the schema lets them be empty.
                if place and (needle == "" or (place == "function" and name.startswith("outside "))):
                    continue
                count += needle is not None
                if needle is not None and needle not in found.get(name, "\0"):
                    wrong.append(f"{nodes.opsets} {place} {name}: {found.get(name, 'no message').strip()}")
                if needle == "" and name not in found:
                    wrong.append(f"{nodes.opsets} {name}: no message")
        for nodes in right:
            done, found = messages(relaxc, nodes, folder)
            wrong += [f"{nodes.opsets} {name}: {found[name]}" for name in nodes.needles if name in found]
    print("\n".join(wrong))
    print(f"{count} faulty nodes, {len(wrong)} not refused as they should be")
    return 1 if wrong or count < 15000 else 0


if __name__ == "__main__":
    sys.exit(main())
