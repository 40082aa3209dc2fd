"""cases.py: what a model is run on, and whether two contenders agree on what comes out."""

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def data_sets(path, data, all_sizes):
    """Folders of inputs: `data` if given, else test_data_set_0 beside the model, or every set whose shapes differ from
    those before it. None stands for random inputs, where there are no folders."""
    if data:
        return [data]
    found = sorted(path.parent.glob("test_data_set_*"))
    if not found:
        return [None]
    if not all_sizes:
        return found[:1]
    by_shapes = {}
    for folder in found:
        tensors = [onnx.load_tensor(file) for file in sorted(folder.glob("input_*.pb"))]
        by_shapes.setdefault(tuple((tensor.name, *tensor.dims) for tensor in tensors), folder)
    return list(by_shapes.values())


def load_inputs(model, folder, dims, seed=0):
    """The model's inputs by name: from a data set, else random numbers in the model's shapes, with symbols as in `dims`."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    values = [value for value in model.graph.input if value.name not in initializers]
    if folder and folder.is_dir():
        tensors = [onnx.load_tensor(folder / f"input_{i}.pb") for i in range(len(values))]
        return {value.name: numpy_helper.to_array(tensor) for value, tensor in zip(values, tensors)}
    rng, inputs = np.random.default_rng(seed), {}
    for value in values:
        tensor = value.type.tensor_type
        shape = [dims[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if not np.issubdtype(dtype, np.floating):
            raise SystemExit(f"input '{value.name}' is {dtype}: random numbers would mean nothing, give --data")
        inputs[value.name] = rng.standard_normal(shape).astype(dtype)
    return inputs


def compare(ours, theirs, tolerance):
    """Largest absolute error over all outputs, and whether each is within `tolerance` of the output's own scale."""
    worst, agree = 0.0, len(ours.files) == len(theirs.files)
    for a, b in zip(ours.values(), theirs.values()):
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf"), False
        if not a.size:
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error = float(np.max(np.where(same, 0, np.abs(a - b))))
        worst = max(worst, error)
        finite = np.abs(b[np.isfinite(b)])
        agree &= error <= tolerance * max(1e-3, finite.max(initial=0))
    return worst, bool(agree)


def dims_of(inputs):
    """Sizes of the first input that has more than one element, as text: which of several data sets it is."""
    sizes = [value.shape for value in inputs.values() if value.ndim]
    return "x".join(map(str, sizes[0])) if sizes else ""


def name_of(path):
    """What a model is called: its folder, where the file is model.onnx."""
    path = Path(path)
    return path.parent.name if path.name == "model.onnx" else path.stem
