"""printed_test.py RELAXC SOURCE [all]: programs that TVM prints (printed.py), in the spelling of each release
(ages.py), compiled by relaxc; the prim funcs of today's spelling run, compared with what TVM computes.

Runs where the package apache-tvm is installed; elsewhere it says so and is skipped. Every second program is compiled, in
the older spellings every sixteenth; `all` compiles every program in each.
"""

import ctypes
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
RELAXC, SOURCE = sys.argv[1:3]
CODEGEN = "-O1" if "all" in sys.argv[3:] else "--fast-codegen"
EVERY, EVERY_OLDER = (1, 1) if "all" in sys.argv[3:] else (2, 16)
sys.path[:0] = [f"{SOURCE}/bench", str(Path(__file__).parent)]

try:
    import tvm
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

import numpy as np
import reference
from ages import SPELLINGS, spelled
from printed import programs
from rlx import Context

# The share of programs that a release's spelling must compile.
LEAST = 0.95


def compiled(folder, number, text):
    """What relaxc says; "" if it compiled."""
    source = Path(folder) / f"p{number}.relax"
    source.write_text(text)
    run = subprocess.run([RELAXC, source, CODEGEN, "-o", source.with_suffix(".so")], capture_output=True, text=True)
    return "" if run.returncode == 0 else (run.stderr.strip() or f"ends with {run.returncode}").split("\n")[0]


def run_relaxc(library, stem, arrays):
    call = getattr(ctypes.CDLL(str(library)), f"{stem}_main")
    arena = np.zeros((1 << 22) + 64, np.uint8)
    context = Context(arena=(arena.ctypes.data + 63) // 64 * 64, arena_bytes=1 << 22)
    found = [array.copy() for array in arrays]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in found]
    status = call(ctypes.byref(context), *pointers, ctypes.c_int64(5))
    return status, found[-1]


def run_tvm(text, arrays):
    func = tvm.script.from_source(text)
    func = func if isinstance(func, tvm.IRModule) else tvm.IRModule({"main": func})
    tensors = [tvm.runtime.tensor(array) for array in arrays]
    reference.compiled(func)["main"](*tensors)
    return tensors[-1].numpy()


def difference(found, expected):
    if expected.dtype.kind != "f":
        return "" if np.array_equal(found, expected) else f"{found.ravel()[:5]}, expected {expected.ravel()[:5]}"
    bound = 2e-2 if expected.dtype == np.float16 else 1e-4
    close = np.allclose(found.astype("float64"), expected.astype("float64"), rtol=bound, atol=bound / 10, equal_nan=True)
    return "" if close else f"{found.ravel()[:5]}, expected {expected.ravel()[:5]}"


def main():
    sample, skipped = programs()
    wrong = [f"not made: {text}" for text in skipped]
    names = list(sample)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for release in SPELLINGS:
            chosen = names[:: EVERY if release == "0.27" else EVERY_OLDER]
            texts = [spelled(sample[name][0], release) for name in chosen]
            said = list(pool.map(lambda item: compiled(folder, item[0], item[1]), enumerate(texts)))
            refused = [f"{release}: {name}: {text}" for name, text in zip(chosen, said) if text]
            taken = len(chosen) - len(refused)
            print(f"{release}: {taken} of {len(chosen)} programs compile")
            print(*refused, sep="\n")
            if taken < LEAST * len(chosen):
                wrong.append(f"{release}: {taken} of {len(chosen)} programs compile")
            if release != "0.27":
                continue
            compared = 0
            for number, name in enumerate(chosen):
                text, arrays = sample[name]
                if arrays is None or said[number]:
                    continue
                status, found = run_relaxc(Path(folder) / f"p{number}.so", f"p{number}", arrays)
                note = f"status {status}" if status else difference(found, run_tvm(text, arrays))
                compared += 1
                if note:
                    wrong.append(f"{name}: {note}")
            print(f"{release}: {compared} programs compared with TVM")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
