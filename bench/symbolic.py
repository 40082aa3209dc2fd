#!/usr/bin/env python3
"""symbolic.py: what open dims cost: a library that runs all sizes against one compiled for the sizes of a data set.

    build/venv/bin/python bench/symbolic.py MODEL.onnx … [--all-sizes] [--pairs 20] [--clock cpu]

For every data set beside the model, both libraries run it in turns (run.py says how). The ratio is the time with open dims
by the time with fixed ones: 1.10 means that open dims cost 10%.
"""

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

import cases
import run


def symbols(graph, inputs):
    """Open dims and their values in `inputs`, as flags of relaxc."""
    values = {}
    for value in graph.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, inputs.get(value.name, np.empty(0)).shape):
            if dim.dim_param:
                values[dim.dim_param] = size
    return [flag for name, size in values.items() for flag in ("--dim", f"{name}={size}")]


def race(path, data, graph, options, folder):
    inputs = cases.load_inputs(graph, data, {})
    np.savez(folder / "inputs.npz", **inputs)
    fixed = folder / "fixed" / "bench_model.so"
    fixed.parent.mkdir(exist_ok=True)
    run.compile_model(options.relaxc, path, [*options.flags, *symbols(graph, inputs)], fixed)
    workers = [run.Worker("relaxc", library, folder / "inputs.npz", folder / f"{i}.npz", 1, None, options.clock)
               for i, library in enumerate((folder / "bench_model.so", fixed))]
    times = run.measure(workers, options.pairs, options.window_ms)
    error, agree = cases.compare(np.load(workers[0].outputs), np.load(workers[1].outputs), 1e-3)
    for worker in workers:
        worker.end()
    cost = run.ratio_interval(times[1], times[0])
    print(f"| {cases.name_of(path)} | {cases.dims_of(inputs)} | {times[0].min():.1f} | {times[1].min():.1f} | "
          f"{cost['ratio']:.2f} [{cost['ratio_low']:.2f}, {cost['ratio_high']:.2f}] |"
          + ("" if agree else f" outputs differ by {error:.3g}"), flush=True)
    return agree


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--all-sizes", action="store_true", help="every test_data_set_K that has other shapes")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--window-ms", type=float, default=20)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--flags", default="-O3 --mcpu=native", type=shlex.split, help="for relaxc")
    parser.add_argument("--relaxc", type=Path, default=run.HERE.parent / "build/bin/relaxc")
    options = parser.parse_args(arguments)
    agree = True
    print("| model | size | open µs | fixed µs | open by fixed |\n|---|---|---:|---:|---:|")
    for path in options.models:
        graph = onnx.load(path)
        with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as name:
            folder = Path(name)
            run.compile_model(options.relaxc, path, options.flags, folder / "bench_model.so")
            for data in cases.data_sets(path, None, options.all_sizes):
                agree &= race(path, data, graph, options, folder)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
