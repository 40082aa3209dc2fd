#!/usr/bin/env python3
"""run.py: relaxc against others on the same model and inputs; every claim of speed in this project rests on it.

The problem: a shared machine is noisy, and its noise lasts longer than one run, so two programs timed one after the
other are compared as much by luck as by code. The method: all are loaded at once, in processes of one group on the
same cores, and take turns; pair i is one window of two of them, a few milliseconds apart, and which of them goes first
alternates. A pair shares its noise, so the ratio is the median over pairs; its 95% interval comes from a bootstrap over
pairs. The minimum shows what the code can do, the median what it does. Rejected: means, which one interruption spoils,
and two separate programs run in sequence.

Usage: run.py MODEL.onnx … [--threads 1,2] [--pairs 40] [--peers onnxruntime,openvino] [--json OUT]; --help lists the rest.

Inputs come from test_data_set_0 beside the model (ONNX's layout), from every set of other shapes (--all-sizes) or from
--data; without any, they are normal random numbers in the model's input shapes, with symbols as --dim says. Outputs of
all must agree, or the exit code is 1.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import cases
import contenders
import launch

HERE = Path(__file__).resolve().parent


def compile_model(relaxc, path, flags, output):
    """Seconds, by both clocks, and peak memory that relaxc takes from model to shared library."""
    cpu, passed, peak = launch.once([relaxc, *flags, path, "-o", output], output.parent)
    return {"compile_s": passed / 1e3, "compile_cpu_s": cpu / 1e3, "compile_peak_kib": peak}


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
    """Times of all windows, an array [contender, round] in microseconds. Who goes first changes from round to round."""
    runs = []
    for worker in workers:
        guess = min(worker.window(1) for _ in range(3))
        runs.append(max(1, round(window_ms * 1e6 / guess)))
        worker.window(runs[-1])
    times, order = np.empty((len(workers), pairs)), list(range(len(workers)))
    for pair in range(pairs):
        for i in order if pair % 2 == 0 else reversed(order):
            times[i, pair] = workers[i].window(runs[i]) / 1e3
    return times


def ratio_interval(ours, theirs, resamples=2000, seed=0):
    """Median over pairs of theirs / ours (above 1: relaxc is faster), and its 95% bootstrap interval."""
    ratios = theirs / ours
    picks = np.random.default_rng(seed).integers(0, len(ratios), (resamples, len(ratios)))
    low, high = np.percentile(np.median(ratios[picks], axis=1), (2.5, 97.5))
    return {"ratio": float(np.median(ratios)), "ratio_low": float(low), "ratio_high": float(high)}


def race(common, inputs, paths, threads, options, folder, pool):
    """The record of one race; a peer that refuses the model has a reason and no times."""
    workers = [Worker(kind, path, folder / "inputs.npz", folder / f"{kind}.npz", threads, pool, options.clock)
               for kind, path in paths.items()]
    record = {**common, "inputs": {name: list(value.shape) for name, value in inputs.items()},
              "size": cases.dims_of(inputs), "threads": threads, "clock": options.clock, "agree": True}
    for worker in workers:
        record[worker.kind] = dict(worker.started)
    racers = [worker for worker in workers if "refused" not in worker.started]
    if workers[0] not in racers:
        raise SystemExit(f"relaxc ended before its time: {workers[0].started['refused']}")
    times = measure(racers, options.pairs, options.window_ms)
    ours = np.load(workers[0].outputs)
    for worker, own in zip(racers, times):
        result = record[worker.kind]
        result.update(min_us=float(own.min()), median_us=float(np.median(own)), **worker.end(),
                      windows_us=own.round(3).tolist())
        if worker is workers[0]:
            continue
        error, agree = cases.compare(ours, np.load(worker.outputs), options.tolerance)
        result.update(max_abs_error=error, agree=agree, **ratio_interval(times[0], own))
        record["agree"] &= agree
    return record


def bench(path, options, folder, pool):
    """One record per data set and number of threads."""
    library = folder / "bench_model.so"
    common = {"model": str(path), "name": cases.name_of(path),
              **compile_model(options.relaxc, path, options.flags, library)}
    common["bytes"] = {"onnx": path.stat().st_size, "relaxc": library.stat().st_size, "onnxruntime": runtime_bytes()}
    paths = {"relaxc": library, **{peer: path for peer in options.peers}}
    graph = onnx.load(path)
    for data in cases.data_sets(path, options.data, options.all_sizes):
        inputs = cases.load_inputs(graph, data, options.dim)
        np.savez(folder / "inputs.npz", **inputs)
        for threads in options.threads:
            yield race(common, inputs, paths, threads, options, folder, pool)


def runtime_bytes():
    """Size of the shared library in the onnxruntime package that has to be shipped with a model."""
    return max(p.stat().st_size for p in (Path(onnxruntime.__file__).parent / "capi").glob("*.so*"))


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "onnxruntime": onnxruntime.__version__, "numpy": np.__version__}


def show(record):
    """The record as a block of text."""
    peers = [kind for kind in contenders.RUNNERS if kind in record and kind != "relaxc"]
    verdict = "outputs agree" if record["agree"] else "OUTPUTS DIFFER"
    error = max((record[kind].get("max_abs_error", 0) for kind in peers), default=0)
    print(f"{record['name']} {record['size']}  threads {record['threads']}  {verdict}, max error {error:.3g}")
    heads = ("min us", "median us", "load ms", "first ms", "peak MiB", "+MiB")
    print(f"  {'':12}" + "".join(f"{head:>11}" for head in heads) + "   ratio")
    for kind in ("relaxc", *peers):
        r = record[kind]
        if "refused" in r:
            print(f"  {kind:12} refuses: {r['refused']}")
            continue
        cells = (r["min_us"], r["median_us"], r["load_ns"] / 1e6, r["first_ns"] / 1e6, r["peak_kib"] / 1024,
                 r["peak_above_start_kib"] / 1024)
        ratio = f"   {r['ratio']:.3f} [{r['ratio_low']:.3f}, {r['ratio_high']:.3f}]" if "ratio" in r else ""
        print(f"  {kind:12}" + "".join(f"{cell:11.2f}" for cell in cells) + ratio)
    print(f"  compiled in {record['compile_s']:.2f} s ({record['compile_cpu_s']:.2f} s of the processor) with "
          f"{record['compile_peak_kib'] / 1024:.0f} MiB to {record['bytes']['relaxc'] / 1e3:.0f} kB", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--data", type=Path, help="folder with input_0.pb, input_1.pb, …")
    parser.add_argument("--all-sizes", action="store_true", help="run every test_data_set_K that has other shapes")
    parser.add_argument("--dim", action="append", default=[], help="symbol=value, for random inputs")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--peers", default="onnxruntime", type=lambda text: text.split(","), help="of contenders.py")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of an output's own scale")
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
    if unknown := set(options.peers) - set(contenders.RUNNERS):
        parser.error(f"there is no contender {', '.join(sorted(unknown))}")
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
                if options.json:  # after each, so that what was measured is kept whatever follows
                    options.json.write_text(json.dumps({"machine": machine(), "records": records}, indent=1) + "\n")
    return 0 if all(record["agree"] for record in records) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
