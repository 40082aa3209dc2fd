#!/usr/bin/env python3
"""run.py: networks whose sizes are computed, compiled with their dims open, in bounded time, against ONNX Runtime.

Usage: run.py RELAXC FIRST LAST [--run N]      seeds FIRST to LAST - 1; every Nth is run at two sizes (default: each)

What a network may take is counted in seconds of the processor, which relaxc is stopped after: a level more must not
multiply what is taken.
"""

import random
import resource
import sys
import tempfile
from pathlib import Path
from subprocess import run

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "contrib"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
import networks  # noqa: E402

SECONDS = 10


def drawn(seed):
    """The family, the depth, the model and two bindings of a seed. Depths go from 1 to 12."""
    draw = random.Random(seed)
    family = networks.FAMILIES[seed % len(networks.FAMILIES)]
    depth = 1 + (seed * 5 + seed // len(networks.FAMILIES)) % 12
    built, bindings = family(depth, draw)
    return f"{family.__name__} of {depth}", built, bindings, draw


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def check(seed, relaxc, folder, to_run):
    """What is wrong with a seed, or an empty string."""
    _, built, bindings, draw = drawn(seed)
    model = built.model()
    path, output = folder / "model.onnx", folder / (f"libseed{seed}.so" if to_run else f"seed{seed}.o")
    onnx.save(model, path)
    done = run([relaxc, path, "-o", output, "--name", f"seed{seed}"], capture_output=True, text=True, check=False,
               preexec_fn=limited)
    if done.returncode < 0:
        return f"not compiled in {SECONDS} seconds"
    if done.returncode:
        return f"relaxc exits with {done.returncode}: {done.stderr.strip()}"
    if not to_run:
        return ""
    entry = next(iter(harness.rlx.Model(output).functions.values()))
    for binding in bindings:
        arrays = networks.inputs_of(built, binding, draw)
        case = harness.Case(str(seed), model, arrays, rtol=2e-4, atol=3e-5)
        try:
            expected = harness.reference(case)
        except Exception as error:
            return f"no reference: {error}"
        try:
            actual = entry(*arrays.values())
        except (harness.rlx.RlxError, ValueError) as error:
            return f"at {binding}: {error}"
        for value, a, e in zip(model.graph.output, actual, expected, strict=True):
            fault = harness.fault_of(a, e, case)
            if fault:
                return f"at {binding}: output {value.name}: {fault}"
    return ""


def main():
    relaxc, first, last = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    every = int(sys.argv[5]) if sys.argv[4:5] == ["--run"] else 1
    faults = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            fault = check(seed, relaxc, Path(folder), seed % every == 0)
            took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            ran += seed % every == 0
            faults += bool(fault)
            print(f"{seed}, {drawn(seed)[0]}: {took:.1f} s{': ' + fault if fault else ''}", flush=True)
    print(f"{last - first} compiled, {ran} of them run, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
