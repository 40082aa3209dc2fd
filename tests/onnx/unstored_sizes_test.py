"""Tensors whose sizes data decides and that are summed at once, so that no memory bounds them: the right sum, or a
status before anything of it is computed, however large or empty they are said to be.

Usage: unstored_sizes_test.py RELAXC SOURCE_DIR
"""

import itertools
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

SECONDS = 20  # of the processor, for all calls of one model
EXTREMES = (0, -1, 2**41, 2**61, 2**62, 2**63)  # and two of 2^21

# Operator, its operands ("s": what data decides, "x": [1, 1, 2, 2] of data, others are constants), true values of "s",
# attributes, and the shape of "s" where it is none of a vector.
X = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
CONSTANTS = {"zero": np.int64(0), "one": np.int64(1), "values": np.float32([0, 1]), "places": np.int64([0, 1]),
             "zeros": np.zeros(4, np.int64), "block": np.int64([1, 1]), "roi": np.float32([])}
TABLE = (
    ("ConstantOfShape", ["s"], [2, 3], {"value": helper.make_tensor("v", TensorProto.FLOAT, [1], [1])}),
    ("Expand", ["x", "s"], [3, 1, 2, 2], {}),
    ("Tile", ["x", "s"], [1, 2, 1, 2], {}),
    ("Range", ["zero", "s", "one"], 6, {}),
    ("OneHot", ["places", "s", "values"], 3, {}),
    ("Pad", ["x", "s"], [0, 0, 1, 0, 0, 0, 0, 2], {}),
    ("Resize", ["x", "", "", "s"], [1, 1, 3, 4], {"mode": "nearest"}),
    ("CenterCropPad", ["x", "s"], [1, 1, 3, 4], {}),
    ("HannWindow", ["s"], 5, {}),
    ("HammingWindow", ["s"], 5, {}),
    ("BlackmanWindow", ["s"], 5, {}),
    ("Reshape", ["x", "s"], [2, 2], {}),
)


def model(row):
    op, operands, true, attributes = row
    shape = list(np.shape(true))
    nodes = [helper.make_node("Cast", ["f"], ["s"], to=TensorProto.INT64),
             helper.make_node(op, operands, ["t"], **attributes),
             helper.make_node("Cast", ["t"], ["u"], to=TensorProto.FLOAT),
             helper.make_node("Exp", ["u"], ["v"]),
             helper.make_node("ReduceSum", ["v"], ["y"], keepdims=0)]
    inputs = [helper.make_tensor_value_info("f", TensorProto.DOUBLE, shape),
              helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)]
    constants = [onnx.numpy_helper.from_array(np.asarray(CONSTANTS[name]), name) for name in operands if name in CONSTANTS]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def variations(true):
    """The true value, and it with one or two of its numbers replaced by extreme ones."""
    flat = np.float64(true).ravel()
    yield flat
    for i, j in itertools.combinations_with_replacement(range(flat.size), 2):
        pairs = [(2**21, 2**21)] if i != j else []
        for value in EXTREMES:
            pairs += [(value, value), (value, 0), (0, value)] if i != j else [(value, value)]
        for pair in pairs:
            changed = flat.copy()
            changed[[i, j]] = pair
            yield changed


def calls(library, name, true, truth, answers):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    import rlx  # noqa: PLC0415

    function = rlx.Model(library).functions[name]
    for sizes in variations(true):
        f = sizes.reshape(np.shape(true))
        answers.write(json.dumps(sizes.tolist()) + "\t")
        answers.flush()  # a process that crashes has named its case
        try:
            found = function(f, X)
        except Exception as refused:  # noqa: BLE001
            answers.write(f"{refused}\n")
            continue
        found = found[0] if isinstance(found, (list, tuple)) else found
        wrong = np.array_equal(f, np.float64(true)) and not np.allclose(found, truth, rtol=1e-5)
        answers.write(f"WRONG: {found}, not {truth}\n" if wrong else "\n")


def check(library, name, row):
    """What is wrong with a model, and how many calls were answered and refused."""
    runtime = onnxruntime.InferenceSession(model(row).SerializeToString(), providers=["CPUExecutionProvider"])
    truth = runtime.run(None, {"f": np.array(row[2], np.float64), "x": X})[0]
    with open(Path(library).with_name(name + ".txt"), "w+", encoding="utf-8") as answers:
        caller = multiprocessing.Process(target=calls, args=(library, name, row[2], truth, answers))
        caller.start()
        caller.join()
        answers.seek(0)
        heard = [line.rstrip("\n").split("\t") for line in answers]
    if caller.exitcode != 0:
        return [f"{row[0]} of {heard[-1][0]}: no answer (exit code {caller.exitcode})"], 0, 0
    wrong = [f"{row[0]} of {sizes}: {text}" for i, (sizes, text) in enumerate(heard)
             if text.startswith("WRONG") or (text and i == 0)]
    return wrong, sum(not text for _, text in heard), sum(bool(text) for _, text in heard)


def main(relaxc, source):
    sys.path.insert(0, str(Path(source) / "bench"))
    onnxruntime.set_default_logger_severity(4)
    wrong, answered, refused = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="relaxc-unstored-") as folder:
        files = [Path(folder) / f"f{i}.onnx" for i in range(len(TABLE))]
        for file, row in zip(files, TABLE):
            onnx.save(model(row), file)
        library = Path(folder) / "m.so"
        subprocess.run([relaxc, *files, "-o", library], check=True)
        for file, row in zip(files, TABLE):
            more, some, others = check(library, file.stem, row)
            wrong, answered, refused = wrong + more, answered + some, refused + others
    print("\n".join(wrong))
    print(f"{len(TABLE)} operators: {answered} answers, {refused} refusals; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
