"""rows_test.py: models that run a few rows at a time (--ram-budget) give what they give as a whole, to the bit.

Networks of int8 are compiled without a budget, with several and with `min`, for this machine through LLVM and through C,
and called on the same pixels: a MobileNetV2 with random weights, and the models of MLPerf Tiny in RELAXC_MODELS, whose
results are TFLite's as well (models_test.py). The arenas must fit what was asked for, for the Cortex-M4 those that
docs/memory.md promises, and `inspect --prove` must find no plan that is wrong or undecided.

Usage: rows_test.py RELAXC [--long]: all budgets, of which the ordinary run has a sample.
"""

import os
import re
import sys
import tempfile
from itertools import product
from pathlib import Path
from subprocess import run

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import rlx  # noqa: E402
from mobilenet import mobilenet_v2  # noqa: E402

RUNTIME = Path(__file__).resolve().parents[2] / "runtime-lite"
PROMISED = {"mlperf-tiny-vww": 24 * 1024 - 1, "mlperf-tiny-ic": 24 * 1024 - 1, "mlperf-tiny-kws": 9999, "mobilenet": 32 * 1024 - 1}


def compiled(relaxc, model, flags, folder, through_c):
    """The entry of a library, and its arena."""
    library = folder / "libmodel.so"
    if through_c:
        run([relaxc, model, "-o", folder / "model.c", *flags], check=True)
        run(["cc", "-std=c99", "-O1", "-Wno-psabi", "-ffp-contract=off", "-fPIC", "-shared", f"-I{RUNTIME}/include", "model.c",
             relaxc.parents[1] / "lib/librelax_rt.a", "-lm", "-o", library], cwd=folder, check=True)
    else:
        run([relaxc, model, "-o", library, "--name", "model", *flags], check=True)
    header = (folder / ("model.h" if through_c else "libmodel.h")).read_text()
    arena = int(re.search(r"ARENA_BYTES (\d+)", header)[1])
    return next(iter(rlx.Model(library, "model").functions.values())), arena


def outputs(relaxc, model, flags, pixels, through_c=False):
    with tempfile.TemporaryDirectory() as folder:
        entry, arena = compiled(relaxc, model, flags, Path(folder), through_c)
        return [[np.array(result) for result in entry(one)] for one in pixels], arena


def shape_of(relaxc, model, flags):
    with tempfile.TemporaryDirectory() as folder:
        spec = compiled(relaxc, model, flags, Path(folder), False)[0].inputs[0]
        return [spec.dims[axis] for axis in range(spec.ndim)]


def faults_of_budgets(relaxc, name, model, long):
    rng, found = np.random.default_rng(3), []
    pixels = [rng.integers(-128, 128, shape_of(relaxc, model, [])).astype(np.int8) for _ in range(2)]
    for level in ("-O2", "-O3") if long else ("-O2",):
        wanted, whole = outputs(relaxc, model, [level], pixels)
        budgets = (whole * 3 // 4, whole // 2, whole // 3, "min")
        for budget, through_c in product(budgets, (False, True)) if long else (("min", False), (whole // 2, True)):
            try:
                given, arena = outputs(relaxc, model, [level, f"--ram-budget={budget}"], pixels, through_c)
            except Exception as error:  # what is refused, or a library that does not load, is a fault as well
                found.append(f"{name} {level} {budget}: {error}")
                continue
            same = all(np.array_equal(a, b) for x, y in zip(given, wanted, strict=True) for a, b in zip(x, y, strict=True))
            if not same:
                found.append(f"{name} {level} {budget}, {'C' if through_c else 'LLVM'}: results differ")
            if arena > (whole - 1 if budget == "min" else budget):
                found.append(f"{name} {level} {budget}: an arena of {arena} bytes, and {whole} without a budget")
    return found


def faults_of_promises(relaxc, name, model):
    """For the Cortex-M4: what fits, and whether the plan of memory is proved."""
    bytes_, found = PROMISED[name], []
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--target", "cortex-m4", "-O3", f"--ram-budget={bytes_}"]
        done = run([relaxc, model, *flags, "-o", Path(folder) / "m.o"], capture_output=True, text=True, check=False)
        if done.returncode:
            found.append(f"{name} in {bytes_} bytes: {done.stderr}")
        proof = run([relaxc, "inspect", model, "--prove", *flags], capture_output=True, text=True, check=False)
        if proof.returncode or not re.search(r"proved, 0 refuted, 0 undecided", proof.stdout):
            found.append(f"{name}: {proof.stdout}{proof.stderr}")
    return found


def refused(relaxc, model):
    """What cannot be is said with what can."""
    with tempfile.TemporaryDirectory() as folder:
        done = run([relaxc, model, "--ram-budget=64", "-o", Path(folder) / "m.o"], capture_output=True, text=True, check=False)
        said = re.search(r"takes (\d+) bytes of RAM, \d+ more than its budget of 64", done.stderr)
        left = list(Path(folder).iterdir())
        if done.returncode != 1 or not said or "this is the least that was found" not in done.stderr or left:
            return [f"64 bytes: exit code {done.returncode}, {done.stderr}, {left}"]
        again = run([relaxc, model, f"--ram-budget={said[1]}", "-o", Path(folder) / "m.o"], capture_output=True, text=True, check=False)
        return [f"{said[1]} bytes are not enough: {again.stderr}"] if again.returncode else []


def main():
    relaxc, long = Path(sys.argv[1]).resolve(), "--long" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        models = {"mobilenet": Path(folder) / "mobilenet.tflite", "small": Path(folder) / "small.tflite"}
        models["mobilenet"].write_bytes(mobilenet_v2())
        models["small"].write_bytes(mobilenet_v2(0.35, 40, blocks=((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2)), seed=2))
        for path in sorted(Path(os.environ["RELAXC_MODELS"]).glob("mlperf-tiny-*/model.tflite")):
            if path.parent.name in PROMISED:
                models[path.parent.name] = path
        faults = refused(relaxc, models["small"])
        for name, model in models.items():
            if long or name in ("small", "mlperf-tiny-kws"):
                faults += faults_of_budgets(relaxc, name, model, long)
            if name in PROMISED and (long or name in ("mlperf-tiny-kws", "mlperf-tiny-ic")):
                faults += faults_of_promises(relaxc, name, model)
    print("".join(f"{fault}\n" for fault in faults) + f"{len(models)} models, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
