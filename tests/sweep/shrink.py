"""shrink.py: the least graph that still has a fault.

An output is tried alone, then each value that a node computes as the only output, the earliest first; then what nodes
compute is replaced by inputs with the values that they have. A change stays if the fault does.
"""

from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from check import session


def reads(node):
    """The names that a node reads, those in its subgraphs among them."""
    names = list(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g, *attribute.graphs]:
            for inner in graph.node:
                names += reads(inner)
    return names


def pruned(model, outputs, values, given=None):
    """The part of the model that computes `outputs`; the value `given` is an input in place of what computes it."""
    needed, nodes = set(outputs), []
    for node in reversed(model.graph.node):
        if needed & set(node.output) - {given}:
            nodes.insert(0, node)
            needed |= set(reads(node))
    info = {name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in values.items()}
    inputs = [value for value in model.graph.input if value.name in needed] + ([info[given]] if given in needed else [])
    constants = [tensor for tensor in model.graph.initializer if tensor.name in needed]
    graph = helper.make_graph(nodes, model.graph.name, inputs, [info[name] for name in outputs], constants)
    return helper.make_model(graph, ir_version=model.ir_version, opset_imports=model.opset_import, functions=model.functions)


def values_of(case):
    """Every tensor that a node of the graph computes, and the inputs."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    names = [name for node in model.graph.node for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    found = dict(zip(names, session(model).run(None, case.inputs)))
    return {**{name: np.asarray(value) for name, value in found.items() if not isinstance(value, list)}, **case.inputs}


def cut(case, outputs, values, given=None):
    model = pruned(case.model, outputs, values, given)
    return replace(case, model=model, inputs={value.name: values[value.name] for value in model.graph.input})


def results(case, values):
    """The names of the tensors that nodes compute, in their order."""
    return [name for node in case.model.graph.node for name in node.output if name in values]


def shrunk(case, fails):
    """The least case of which `fails(case)` holds, as it does of this one. A rewritten graph stays as it is."""
    if case.equal is not None:
        return case
    values = values_of(case)
    case = next((least for name in results(case, values) if fails(least := cut(case, [name], values))), case)
    outputs = [value.name for value in case.model.graph.output]
    for name in reversed(results(case, values)):
        if name in results(case, values) and name not in outputs and fails(least := cut(case, outputs, values, name)):
            case = least
    return case


def write(case, wanted, folder):
    """Writes a case in the layout of ONNX's tests, which `relaxc verify` takes."""
    data = folder / case.name / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(case.equal if case.equal is not None else case.model, folder / case.name / "model.onnx")
    for kind, arrays in (("input", list(case.inputs.values())), ("output", wanted)):
        for i, array in enumerate(arrays):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
