"""operators_test.py RELAXC SOURCE [all]: every operator as TVM prints it, and as TVM lowers it to loops, compiled by relaxc
and compared with what TVM itself computes. LLVM gets its full time with `all`.

Runs where the package apache-tvm is installed (tests/run.sh tries to); elsewhere it says so and is skipped.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
RELAXC, SOURCE = sys.argv[1:3]
CODEGEN = "-O1" if "all" in sys.argv[3:] else "--fast-codegen"
sys.path[:0] = [f"{SOURCE}/bench", str(Path(__file__).parent)]

try:
    import tvm
    from tvm import relax
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

import numpy as np
import rlx
from operators import CASES, NOT_LOWERED, function_name, module
from reference import machine, numpy_of


def reference(names):
    """The outputs of each case by TVM's virtual machine."""
    functions = machine(module(names))
    return {name: numpy_of(functions[function_name(name)](*map(tvm.runtime.tensor, CASES[name][1]))) for name in names}


def compiled(mod, folder, stem):
    text, library = Path(folder) / f"{stem}.relax", Path(folder) / f"{stem}.so"
    text.write_text(mod.script())
    run = subprocess.run([RELAXC, text, CODEGEN, "-o", library], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{stem}: relaxc ends with {run.returncode}:\n{run.stderr[:4000]}")
    return rlx.Model(library).functions


def difference(found, expected):
    if len(found) != len(expected):
        return f"{len(found)} outputs, expected {len(expected)}"
    for a, b in zip(found, expected):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        half = b.dtype == np.float16
        if not np.allclose(a, b, rtol=2e-3 if half else 1e-4, atol=1e-3 if half else 1e-5, equal_nan=True):
            return f"{a.ravel()[:6]}, expected {b.ravel()[:6]}"
    return ""


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        names = list(CASES)
        expected = reference(names)
        lowered = [name for name in names if name not in NOT_LOWERED]
        forms = [("operators", names, module(names)), ("loops", lowered, relax.transform.LegalizeOps()(module(lowered)))]
        for stem, members, mod in forms:
            functions = compiled(mod, folder, stem)
            for name in members:
                text = difference(functions[function_name(name)](*CASES[name][1]), expected[name])
                if text:
                    wrong.append(f"{name} as {stem}: {text}")
            print(f"{stem}: {len(members)} cases")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
