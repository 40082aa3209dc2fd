"""Graphs that NNSmith finds, as test inputs: make(seed) gives a model and its inputs.

NNSmith's own way from a graph to a model leads through PyTorch's exporter, which is a download of gigabytes and gives
the nodes that one exporter writes. Its search for graphs needs the solver Z3 alone, so nnsmith_search.py calls that and
nnsmith_nodes.py writes ONNX nodes by a table. None of its back ends, which are a hard-coded list, takes part.

One seed is one graph. What Z3 answers depends on all that it was asked before in the process, so each graph is made in
a process of its own, with Python's hashes fixed; that also ends a search in which Z3 hangs.

Inputs are not drawn from [1, 2) as NNSmith's are, where no sum cancels and no product is large.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from case import Case

SECONDS = 60  # of 184 searches, the longest took 15 s on a busy machine


def make(seed):
    """The graph of this seed, with inputs; None if NNSmith finds none."""
    model = search(seed)
    if model is None:
        return None
    rng = np.random.default_rng([seed, 1])
    return Case(f"nnsmith-{seed}", model, {value.name: draw_input(rng, value) for value in model.graph.input})


def search(seed):
    """The model that another process finds for this seed."""
    command = [sys.executable, str(Path(__file__).resolve()), str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, env={**os.environ, "PYTHONHASHSEED": "0"})
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"no graph of seed {seed}:\n{done.stderr.decode()}")
    return onnx.load_model_from_string(done.stdout) if done.stdout else None


def draw_input(rng, value):
    tensor = value.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype == np.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    return draw_floats(rng, shape, dtype) if dtype.kind == "f" else draw_integers(rng, shape, dtype)


def draw_floats(rng, shape, dtype):
    """Normal numbers, or those with zeros of both signs, or of magnitudes that differ, now and then to the extreme."""
    values = rng.standard_normal(shape)
    kind = rng.choice(["normal", "zeros", "wide", "extreme"], p=[0.4, 0.25, 0.25, 0.1])
    if kind == "zeros":
        values = np.where(rng.random(shape) < 0.3, np.copysign(0.0, values), values)
    elif kind in ("wide", "extreme"):
        values = values * 10.0 ** rng.uniform(*((-4, 4) if kind == "wide" else (-30, 30)), shape)
    return np.asarray(values, dtype)


def draw_integers(rng, shape, dtype):
    """Small integers of both signs, one time in six all that the dtype has: they wrap."""
    range_ = np.iinfo(dtype)
    least, most = max(-9, range_.min), min(9, range_.max)
    if rng.random() < 1 / 6:
        least, most = range_.min, range_.max
    return np.asarray(rng.integers(least, most, shape, dtype, endpoint=True))


def main():
    warnings.simplefilter("ignore")  # NNSmith's, about drawing graphs
    from nnsmith_nodes import to_onnx
    from nnsmith_search import find

    seed = int(sys.argv[1])
    graph = find(seed)
    if graph is not None:
        sys.stdout.buffer.write(to_onnx(graph, np.random.default_rng([seed, 0])).SerializeToString())


if __name__ == "__main__":
    main()
