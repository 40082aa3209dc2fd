"""printed_test.py RELAXC SOURCE [all]: programs that TVM prints (printed.py), in the spelling of each release
(ages.py), compiled by relaxc; the prim funcs run, and are compared with what TVM computes of today's spelling.

Runs where the package apache-tvm is installed; elsewhere it says so and is skipped. Of today's programs every fourth is
compiled, of each older release other programs, a fiftieth; `all` compiles each program of each release. A text that is
the same in several releases is compiled once.
"""

import ctypes
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
RELAXC, SOURCE = sys.argv[1:3]
ALL = "all" in sys.argv[3:]
EVERY, EVERY_OLDER = (1, 1) if ALL else (4, 50)
sys.path[:0] = [f"{SOURCE}/bench", str(Path(__file__).parent)]

try:
    import tvm
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

import numpy as np
import reference
from ages import BEFORE_RELEASES, RELEASES, Absent, spelled
from printed import programs
from rlx import Context

# The share of programs that a release's spelling must compile, and how many programs `all` has of a release.
LEAST, PROGRAMS = 0.98, 300


class Compiler:
    """Compiles each text once; `said` is "" for a text that compiled."""

    def __init__(self, folder):
        self.folder, self.numbers, self.said = Path(folder), {}, {}

    def compile(self, texts, pool):
        new = [text for text in dict.fromkeys(texts) if text not in self.numbers]
        for text in new:
            self.numbers[text] = len(self.numbers)
        self.said |= dict(zip(new, pool.map(self.compiled, new)))

    def stem(self, text):
        return f"p{self.numbers[text]}"

    def compiled(self, text):
        source = self.folder / f"{self.stem(text)}.relax"
        source.write_text(text)
        run = subprocess.run([RELAXC, source, "--fast-codegen", "-o", source.with_suffix(".so")], capture_output=True, text=True)
        return "" if run.returncode == 0 else (run.stderr.strip() or f"ends with {run.returncode}").split("\n")[0]

    def run(self, text, arrays):
        call = getattr(ctypes.CDLL(str(self.folder / f"{self.stem(text)}.so")), f"{self.stem(text)}_main")
        arena = np.zeros((1 << 22) + 64, np.uint8)
        context = Context(arena=(arena.ctypes.data + 63) // 64 * 64, arena_bytes=1 << 22)
        found = [array.copy() for array in arrays]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in found]
        status = call(ctypes.byref(context), *pointers, ctypes.c_int64(5))
        return status, found[-1]


class Reference:
    """What TVM computes of today's spelling, once for each program."""

    def __init__(self, sample):
        self.sample, self.results = sample, {}

    def __call__(self, name):
        if name not in self.results:
            text, arrays = self.sample[name]
            func = tvm.script.from_source(text)
            func = func if isinstance(func, tvm.IRModule) else tvm.IRModule({"main": func})
            tensors = [tvm.runtime.tensor(array) for array in arrays]
            reference.compiled(func)["main"](*tensors)
            self.results[name] = tensors[-1].numpy()
        return self.results[name]


def difference(found, expected):
    if expected.dtype.kind != "f":
        return "" if np.array_equal(found, expected) else f"{found.ravel()[:5]}, expected {expected.ravel()[:5]}"
    bound = 2e-2 if expected.dtype == np.float16 else 1e-4
    close = np.allclose(found.astype("float64"), expected.astype("float64"), rtol=bound, atol=bound / 10, equal_nan=True)
    return "" if close else f"{found.ravel()[:5]}, expected {expected.ravel()[:5]}"


def texts_of(sample, release):
    """The programs that the release could say, by name."""
    texts = {}
    for name, (text, _) in sample.items():
        try:
            texts[name] = spelled(text, release)
        except Absent:
            pass
    return texts


def compare(chosen, sample, compiler, expected):
    """How many programs gave TVM's numbers, and what is wrong with the others."""
    compared, wrong = 0, []
    for name, text in chosen.items():
        arrays = sample[name][1]
        if arrays is None or compiler.said[text]:
            continue
        status, found = compiler.run(text, arrays)
        note = f"status {status}" if status else difference(found, expected(name))
        compared += 1
        if note:
            wrong.append(f"{name}: {note}")
    return compared, wrong


def main():
    sample, skipped = programs()
    wrong = [f"not made: {text}" for text in skipped]
    expected = Reference(sample)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        compiler = Compiler(folder)
        for index, release in enumerate([*RELEASES, *BEFORE_RELEASES]):
            every = EVERY_OLDER if index else EVERY
            texts = texts_of(dict(list(sample.items())[index % every :: every]), release)
            compiler.compile(texts.values(), pool)
            refused = [f"{release}: {name}: {compiler.said[text]}" for name, text in texts.items() if compiler.said[text]]
            compared, differs = compare(texts, sample, compiler, expected)
            taken = len(texts) - len(refused)
            print(f"{release}: {taken} of {len(texts)} programs compile, {compared} compared with TVM")
            print(*refused, sep="\n", end="\n" if refused else "", flush=True)
            wrong += [f"{release}: {note}" for note in differs]
            if taken < LEAST * len(texts) or (ALL and len(texts) < PROGRAMS):
                wrong.append(f"{release}: {taken} of {len(texts)} programs compile")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
