#!/usr/bin/env python3
"""start.py: how long it takes from the start of a process to the first answer.

    build/venv/bin/python bench/start.py MODEL.onnx … [--runs 15] [--json OUT]

Both sides are programs that read the inputs from files, run the model once on one thread and print: the one that relaxc
writes (`relaxc model.onnx -o model`, linked statically), and start_onnxruntime.c, which does as little as there is to do around ONNX
Runtime. They are started in turns on one core with their files in the page cache. What is compared is the time that the
processor spent, which leaves out most of what other programs do; the time that passed is printed beside it.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import cases
import launch
import run

LIBRARY = next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"), None)


def programs(path, options, folder):
    """The two commands: relaxc's program, and the other's with the model."""
    graph = onnx.load(path)
    inputs = cases.load_inputs(graph, cases.data_sets(path, None, False)[0], options.dim)
    model, files, described = folder / "model", [], []
    subprocess.run([options.relaxc, *options.flags, path, "-o", model, "--name", "start"], check=True)
    for i, (name, array) in enumerate(inputs.items()):
        files.append(folder / f"input_{i}.npy")
        np.save(files[-1], array)
        raw = folder / f"input_{i}.bin"
        raw.write_bytes(array.tobytes())
        dtype = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        described += [name, dtype, raw, array.ndim, *array.shape]
    theirs = [launch.compile_c("start_onnxruntime", folder), LIBRARY, path, graph.graph.output[0].name, *described]
    return [[str(part) for part in command] for command in ([model, *files], theirs)]


def race(path, options, folder):
    commands = programs(path, options, folder)
    taken = np.array([[launch.once(command, folder) for command in commands] for _ in range(options.runs + 2)][2:])
    cpu, wall, peak = taken[:, :, 0], taken[:, :, 1], taken[:, :, 2]
    record = {"name": cases.name_of(path), **run.ratio_interval(cpu[:, 0], cpu[:, 1])}
    for i, kind in enumerate(("relaxc", "onnxruntime")):
        record[kind] = {"cpu_ms": float(np.median(cpu[:, i])), "wall_ms": float(np.median(wall[:, i])),
                        "peak_kib": int(peak[:, i].max())}
    return record


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--dim", action="append", default=[], help="symbol=value, for random inputs")
    parser.add_argument("--flags", default="-O3 --mcpu=native --cc 'cc -static'", type=shlex.split, help="for relaxc")
    parser.add_argument("--relaxc", type=Path, default=run.HERE.parent / "build/bin/relaxc")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    options.dim = {name: int(value) for name, value in (pair.split("=") for pair in options.dim)}
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    records = []
    print("| model | relaxc ms | ONNX Runtime ms | ratio | passed, ms | peak MiB |\n|---|---:|---:|---:|---:|---:|")
    for path in options.models:
        with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as name:
            record = race(path.resolve(), options, Path(name))
        ours, theirs = record["relaxc"], record["onnxruntime"]
        print(f"| {record['name']} | {ours['cpu_ms']:.2f} | {theirs['cpu_ms']:.1f} | {record['ratio_low']:.1f} | "
              f"{ours['wall_ms']:.1f} / {theirs['wall_ms']:.1f} | "
              f"{ours['peak_kib'] / 1024:.1f} / {theirs['peak_kib'] / 1024:.1f} |", flush=True)
        records.append(record)
    if options.json:
        options.json.write_text(json.dumps({"machine": run.machine(), "records": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
