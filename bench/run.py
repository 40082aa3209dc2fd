#!/usr/bin/env python3
"""run.py: relaxc against ONNX Runtime on the same model and inputs; every claim of speed in this project rests on it.

The problem: a shared machine is noisy, and its noise lasts longer than one run, so two programs timed one after the
other are compared as much by luck as by code. The method: both are loaded at once, in processes of one group on the
same cores, and take turns; pair i is one window of each, a few milliseconds apart, and which of them goes first
alternates. A pair shares its noise, so the ratio is the median over pairs; its 95% interval comes from a bootstrap over
pairs. The minimum tells what the code can do, the median what it does. Rejected: means, which one interruption spoils,
and two separate programs run in sequence.

Usage: run.py MODEL.onnx … [--threads 1,2] [--pairs 40] [--json OUT]; --help lists the rest.

Inputs come from test_data_set_0 beside the model (ONNX's layout) or from --data; without either, they are normal random
numbers in the model's input shapes, with symbols as --dim says. Outputs of both must agree, or the exit code is 1.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
CONTENDERS = ("relaxc", "onnxruntime")


def load_inputs(model, folder, dims, seed=0):
    """The model's inputs by name: from a data set, else random."""
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


def compile_model(relaxc, path, flags, output):
    """Seconds and peak memory that relaxc takes from model to shared library."""
    start = time.perf_counter()
    process = subprocess.Popen([relaxc, *flags, path, "-o", output])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"relaxc failed on {path}")
    return {"compile_s": time.perf_counter() - start, "compile_peak_kib": usage.ru_maxrss}


def build_pool(build, folder):
    """The thread pool of runtime-lite as a shared library, for parallel_for."""
    output = folder / "librlx_pool.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-o", output, "-Wl,--whole-archive",
                    build / "lib/librelax_rt_hosted.a", "-Wl,--no-whole-archive", build / "lib/librelax_rt.a",
                    "-lpthread"], check=True)
    return str(output)


class Worker:
    """A contender's process: see worker.py."""

    def __init__(self, kind, path, inputs, outputs, threads, pool, clock):
        arguments = [kind, path, inputs, outputs, threads, *([pool] if pool else [])]
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.kind, self.outputs, self.clock = kind, outputs, clock
        self.started = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.kind} ended before its time")
        return json.loads(line)

    def window(self, runs):
        """Nanoseconds per run, over a window of `runs` runs."""
        print(runs, file=self.process.stdin, flush=True)
        return self.read()[self.clock] / runs

    def end(self):
        self.process.stdin.close()
        peak = self.read()
        self.process.wait()
        return peak


def measure(workers, pairs, window_ms):
    """Times of all windows, an array [2, pairs] in microseconds."""
    runs = []
    for worker in workers:
        guess = min(worker.window(1) for _ in range(3))
        runs.append(max(1, round(window_ms * 1e6 / guess)))
        worker.window(runs[-1])
    times = np.empty((2, pairs))
    for pair in range(pairs):
        for i in (0, 1) if pair % 2 else (1, 0):
            times[i, pair] = workers[i].window(runs[i]) / 1e3
    return times


def ratio_interval(times, resamples=2000, seed=0):
    """Median over pairs of theirs / ours (above 1: relaxc is faster), and its 95% bootstrap interval."""
    ratios = times[1] / times[0]
    picks = np.random.default_rng(seed).integers(0, len(ratios), (resamples, len(ratios)))
    low, high = np.percentile(np.median(ratios[picks], axis=1), (2.5, 97.5))
    return float(np.median(ratios)), float(low), float(high)


def compare(ours, theirs):
    """Largest absolute error over all outputs, and whether each is within 1e-3 of the output's own scale."""
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
        agree &= error <= 1e-3 * max(1e-3, finite.max(initial=0))
    return worst, bool(agree)


def bench(path, options, folder, pool):
    """One record per number of threads."""
    data = options.data or path.parent / "test_data_set_0"
    inputs = load_inputs(onnx.load(path), data, options.dim)
    np.savez(folder / "inputs.npz", **inputs)
    library = folder / "bench_model.so"
    common = {"model": str(path), "inputs": {name: list(value.shape) for name, value in inputs.items()},
              **compile_model(options.relaxc, path, options.flags, library)}
    common["bytes"] = {"onnx": path.stat().st_size, "relaxc": library.stat().st_size, "onnxruntime": runtime_bytes()}
    for threads in options.threads:
        paths = {"relaxc": library, "onnxruntime": path}
        workers = [Worker(kind, paths[kind], folder / "inputs.npz", folder / f"{kind}.npz", threads, pool,
                          options.clock)
                   for kind in CONTENDERS]
        error, agree = compare(*(np.load(worker.outputs) for worker in workers))
        times = measure(workers, options.pairs, options.window_ms)
        ratio, low, high = ratio_interval(times)
        record = {**common, "threads": threads, "clock": options.clock, "max_abs_error": error, "agree": agree, "ratio": ratio,
                  "ratio_low": low, "ratio_high": high}
        for worker, own in zip(workers, times):
            record[worker.kind] = {"min_us": float(own.min()), "median_us": float(np.median(own)), **worker.started,
                                   **worker.end(), "windows_us": own.round(3).tolist()}
        yield record


def runtime_bytes():
    """Size of the shared library in the onnxruntime package that has to be shipped with a model."""
    return max(p.stat().st_size for p in (Path(onnxruntime.__file__).parent / "capi").glob("*.so*"))


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "onnxruntime": onnxruntime.__version__, "numpy": np.__version__}


def show(record):
    """The record as a block of text."""
    name = Path(record["model"]).parent.name + "/" + Path(record["model"]).name
    verdict = "outputs agree" if record["agree"] else "OUTPUTS DIFFER"
    print(f"{name}  threads {record['threads']}  {verdict}, max error {record['max_abs_error']:.3g}")
    heads = ("min us", "median us", "load ms", "first ms", "peak MiB", "+MiB", "file kB")
    print(f"  {'':12}" + "".join(f"{head:>11}" for head in heads))
    for kind in CONTENDERS:
        r = record[kind]
        cells = (r["min_us"], r["median_us"], r["load_ns"] / 1e6, r["first_ns"] / 1e6, r["peak_kib"] / 1024,
                 r["peak_above_start_kib"] / 1024, record["bytes"][kind] / 1e3)
        print(f"  {kind:12}" + "".join(f"{cell:11.2f}" for cell in cells))
    print(f"  ratio {record['ratio']:.3f} [{record['ratio_low']:.3f}, {record['ratio_high']:.3f}]  compiled in "
          f"{record['compile_s']:.2f} s with {record['compile_peak_kib'] / 1024:.0f} MiB", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--data", type=Path, help="folder with input_0.pb, input_1.pb, …")
    parser.add_argument("--dim", action="append", default=[], help="symbol=value, for random inputs")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--window-ms", type=float, default=20)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: the time that the processor spent on the process, of use on a busy machine")
    parser.add_argument("--flags", default="-O3 --mcpu=native", type=shlex.split, help="for relaxc")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="where bin/ and lib/ are")
    parser.add_argument("--relaxc", type=Path, help="BUILD/bin/relaxc if not given")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    options.relaxc = options.relaxc or options.build / "bin/relaxc"
    if options.clock == "cpu" and options.threads != [1]:
        parser.error("--clock cpu counts the work of all threads, so it says nothing of two: it needs --threads 1")
    options.dim = {name: int(value) for name, value in (pair.split("=") for pair in options.dim)}
    return options


def main(arguments):
    options = parse(arguments)
    records = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pool = build_pool(options.build, folder) if max(options.threads) > 1 else None
        for path in options.models:
            for record in bench(path.resolve(), options, folder, pool):
                show(record)
                records.append(record)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "records": records}, indent=1) + "\n")
    return 0 if all(record["agree"] for record in records) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
