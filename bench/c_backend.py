"""c_backend.py: what models cost when their C is compiled by a C compiler, next to the object that LLVM makes.

Each model is compiled for this CPU: to a library by relaxc itself, and to C with --c-vectors none and gnu, which the C
compiler makes libraries of. All are loaded into one process and run in turns on the same random inputs; counted is the
processor's time, the least of many windows. Outputs must be the same bits, or the exit code is 1.

Usage: c_backend.py RELAXC MODEL.onnx ... [--dim NAME=N ...] [--cc 'gcc -O3 -march=native'] [--windows N]
Needs numpy."""

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "runtime-lite/python"))
import relax_rt  # noqa: E402


def build(relaxc, model, flags, cc, folder):
    """The entry points, by what made them."""
    common = [relaxc, model, "--name", "m", "-O3", "--mcpu=native", *flags]
    subprocess.run([*common, "-o", folder / "llvm.so"], check=True)
    for vectors in ("none", "gnu"):
        subprocess.run([*common, "-o", folder / f"{vectors}.c", "--c-vectors", vectors, "--c-weights", "incbin"], check=True)
        include = f"-I{REPOSITORY}/runtime-lite/include"
        subprocess.run([*shlex.split(cc), "-std=c99", "-ffp-contract=off", "-fPIC", "-shared", include, f"{vectors}.c",
                        relaxc.parents[1] / "lib/librelax_rt.a", "-lm", "-o", f"{vectors}.so"], cwd=folder, check=True)
    return {name: relax_rt.Model(folder / f"{name}.so", "m").functions["main"] for name in ("llvm", "none", "gnu")}


def random_inputs(entry):
    rng, arrays = np.random.default_rng(1), []
    for spec in entry.inputs:
        shape = [spec.dims[axis] for axis in range(spec.ndim)]
        if min(shape, default=0) < 0:
            sys.exit(f"{spec.name.decode()} has open dims; fix them by --dim")
        dtype = relax_rt.DTYPES[spec.dtype_code, spec.dtype_bits]
        arrays.append(rng.standard_normal(shape).astype(dtype))
    return arrays


def seconds(call, runs):
    begin = time.process_time()
    for _ in range(runs):
        call.run()
    return (time.process_time() - begin) / runs


def measure(calls, windows):
    runs = max(1, int(0.02 / max(seconds(calls["llvm"], 3), 1e-6)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(windows):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call, runs))
    return best


def same(a, b):
    return all(x.tobytes() == y.tobytes() or np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("relaxc", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--cc", default="gcc -O3 -march=native")
    parser.add_argument("--windows", type=int, default=20)
    options = parser.parse_args()
    relaxc, fine = options.relaxc.resolve(), True
    flags = [word for dim in options.dim for word in ("--dim", dim)]
    print("| model | LLVM, ms | C99 | vector types | C99 by LLVM | vector types by LLVM |\n|---|---|---|---|---|---|")
    for model in options.models:
        with tempfile.TemporaryDirectory(prefix="relaxc-c-") as path:
            entries = build(relaxc, model.resolve(), flags, options.cc, Path(path))
            arrays = random_inputs(entries["llvm"])
            calls = {name: entry.prepare(arrays) for name, entry in entries.items()}
            for call in calls.values():
                call.run()
            results = {name: call.results() for name, call in calls.items()}
            for name in ("none", "gnu"):
                if not same(results["llvm"], results[name]):
                    print(f"{model}: C with --c-vectors={name} gives other bits")
                    fine = False
            best = measure(calls, options.windows)
        cells = [f"{best[name] * 1e3:.3g}" for name in ("llvm", "none", "gnu")]
        cells += [f"{best[name] / best['llvm']:.2f}" for name in ("none", "gnu")]
        name = model.parent.name if model.name == "model.onnx" else model.stem
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
