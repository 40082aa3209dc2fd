"""Values of an ONNX model by ONNX Runtime, for `relaxc verify --against onnxruntime`.

Usage: onnxruntime_values.py MODEL FOLDER

FOLDER has input_K.npy, the model's inputs in their order, and names.json, a list of the values that are asked for. Those of
them that the model has are written to FOLDER/values.npz, each under its place in that list: a name may be one that no file
can have. Nothing is optimized, so that each node computes what it says.
"""

import json
import sys
from pathlib import Path


def main():
    try:
        import numpy
        import onnx
        import onnxruntime
    except ImportError as error:
        sys.exit(f"onnxruntime_values: {error}")
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    model = onnx.load(path)
    constants = {tensor.name for tensor in model.graph.initializer}
    outputs = {value.name for value in model.graph.output}
    made = {name for node in model.graph.node for name in node.output}
    names = json.loads((folder / "names.json").read_text())
    wanted = [name for name in dict.fromkeys(names) if name in made or name in outputs]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    inputs = [value.name for value in model.graph.input if value.name not in constants]
    feed = {name: numpy.load(folder / f"input_{index}.npy") for index, name in enumerate(inputs)}
    results = dict(zip(wanted, session.run(wanted, feed), strict=True)) if wanted else {}
    tensors = {str(names.index(name)): value for name, value in results.items()
               if isinstance(value, numpy.ndarray) and value.dtype != object}
    numpy.savez(folder / "values.npz", **tensors)


main()
