"""harness.py: one node as a model, through ONNX Runtime and through relaxc, compared.

The node tests that onnx publishes end at ai.onnx and a few operators of ai.onnx.ml. What ONNX Runtime adds is defined by
what it does, so it is the reference; where its CPU provider lacks an operator, or is known to differ from the operator's
documentation, a case brings the expected arrays with it.

Tolerances come from the arithmetic: float32 results to a few units of the largest term of a sum (`rtol` of the element
plus `atol` of the largest magnitude of the output), quantized ones to one quantum.
"""

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import run

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "compare"))
import rlx  # noqa: E402
from arrays import difference  # noqa: E402

IR_VERSION = 10
OPSETS = {"": 21, "com.microsoft": 1, "ai.onnx.ml": 5}


class Const:
    """An operand that is an initializer."""

    def __init__(self, array):
        self.array = np.asarray(array)


@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: dict
    expected: list | None = None
    rtol: float = 1e-5
    atol: float = 2e-6
    quanta: int = 0
    compare: list = field(default_factory=list)  # indices of outputs; empty: all
    fixed: bool = False  # some size of an input must be a number when compiling


def value_info(name, array, symbolic):
    dims = [f"{name}_{i}" if symbolic else d for i, d in enumerate(array.shape)]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def node(op, operands, attrs=None, *, domain="com.microsoft", outputs=1, name=None, symbolic=False, opset=None,
         opsets=None, **how):
    """A Case of one node. `operands`: arrays, Const or None; `outputs`: a number, or which of them are wanted."""
    attrs = attrs or {}
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    names, inputs, infos, constants = [], {}, [], []
    for i, operand in enumerate(operands):
        names.append("" if operand is None else f"x{i}")
        if operand is None:
            continue
        if isinstance(operand, Const):
            constants.append(numpy_helper.from_array(operand.array, names[-1]))
        else:
            inputs[names[-1]] = np.array(operand)  # a copy: families change arrays from one case to the next
            infos.append(value_info(names[-1], inputs[names[-1]], symbolic))
    results = [f"y{i}" if w else "" for i, w in enumerate(wanted)]
    body = helper.make_node(op, names, results, domain=domain, **attrs)
    outs = [onnx.ValueInfoProto(name=r) for r in results if r]
    graph = helper.make_graph([body], "case", infos, outs, constants)
    versions = dict(OPSETS, **(opsets or {}))
    if opset is not None:
        versions[domain] = opset
    model = helper.make_model(graph, ir_version=IR_VERSION,
                              opset_imports=[helper.make_opsetid(d, v) for d, v in versions.items()])
    title = name or f"{op} {' '.join(f'{k}={v}' for k, v in attrs.items())}".strip()
    return Case(title + (" symbolic" if symbolic else ""), model, inputs, **how)


def reference(case):
    if case.expected is not None:
        return [np.asarray(e) for e in case.expected]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if all(array.dtype != np.int8 for array in case.inputs.values()):
        # On CPUs with AVX2 and without dot products of bytes, ONNX Runtime saturates sums of two products at 16 bits,
        # unless it is asked to make weights unsigned, which this level does and which has no kernels for signed data.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, case.inputs)


def open_dims(case):
    """Takes the sizes of all inputs away."""
    for value in case.model.graph.input:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"{value.name}_{i}"


def typed_outputs(model, expected):
    """The model with its outputs' types declared: ONNX Runtime infers them, other tools need not."""
    for info, array in zip(model.graph.output, expected, strict=True):
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)
    return model


def fault_of(actual, expected, case):
    """What is wrong with an output of the case, or an empty string."""
    coarse = 1e-3 if expected.dtype == np.float16 else 0
    return difference(actual, expected, rtol=max(case.rtol, coarse), atol=max(case.atol, coarse), quanta=case.quanta)


def compiled(cases, relaxc, folder, flags):
    """The functions of one library for the cases, and what relaxc says if it makes none."""
    files = [folder / f"case{i}.onnx" for i in range(len(cases))]
    for case, file in zip(cases, files, strict=True):
        onnx.save(case.model, file)
    library = folder / "libcases.so"
    done = run([relaxc, *files, "-o", library, "--name", "cases", *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"relaxc exits with {done.returncode}: {done.stderr.strip()}"
    functions = rlx.Model(library).functions
    if len(cases) == 1:
        return list(functions.values())[:1], ""
    return [functions[file.stem] for file in files], ""


def difference_of(entry, case, expected):
    """An empty string if the compiled case gives what is expected, else what is wrong."""
    try:
        actual = entry(*case.inputs.values())
    except (rlx.RlxError, ValueError) as error:
        return str(error)
    if len(actual) != len(expected):
        return f"{len(actual)} outputs, expected {len(expected)}"
    chosen = case.compare or range(len(expected))
    faults = [(i, fault_of(actual[i], np.asarray(expected[i]), case)) for i in chosen]
    return "; ".join(f"output {i}: {fault}" for i, fault in faults if fault)


def check(cases, relaxc, flags=(), symbolic=False):
    """For each case an empty string if relaxc agrees with the reference, else what is wrong. They are compiled as one
    library, which is linked once, and one by one if relaxc refuses that."""
    found, ready = [""] * len(cases), []
    for i, case in enumerate(cases):
        try:
            ready.append((i, case, reference(case)))
        except Exception as error:  # the case itself is wrong, which must be seen and not stop the others
            found[i] = f"no reference: {error}"
            continue
        typed_outputs(case.model, ready[-1][2])
        if symbolic:
            open_dims(case)
    for part in [ready, *([one] for one in ready if len(ready) > 1)]:
        with tempfile.TemporaryDirectory() as folder:
            entries, fault = compiled([case for _, case, _ in part], relaxc, Path(folder), flags) if part else ([], "")
            for (i, case, expected), entry in zip(part, entries or [None] * len(part), strict=True):
                found[i] = difference_of(entry, case, expected) if entry else fault
        if entries is not None and part is ready:
            break
    return found
