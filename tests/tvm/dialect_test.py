"""dialect_test.py RELAXC SOURCE [all]: what `--emit=relax --dialect=tvm` writes is read by TVM and computes the same.

Every fourth case of operators.py, with `all` each of them, is read by relaxc, written for TVM, parsed by TVM's own parser, compiled by TVM and run;
the outputs are those of TVM on the case as it was. So are the programs of dialect_programs.py, next to NumPy. Runs where the package apache-tvm is installed; elsewhere it says
so and is skipped.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
RELAXC, SOURCE = sys.argv[1:3]
EVERY = 1 if "all" in sys.argv[3:] else 4
sys.path[:0] = [str(Path(__file__).parent)]

try:
    import tvm
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

import numpy as np
from dialect_programs import PROGRAMS
from operators import CASES, function_name, module
from reference import machine, numpy_of

# Texts that TVM does not read yet, and why.
KNOWN = {"reverse_sequence": "a loop variable, int32 in TVM's text, beside an int64 in a select"}
# Cases whose numbers cannot be compared: TVM's own differ from NumPy's, or order ties otherwise.
UNCOMPARED = {"multinomial_from_uniform"}


def parsed(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    python = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = python  # where TVM looks for the text
    spec.loader.exec_module(python)
    return next(value for value in vars(python).values() if isinstance(value, tvm.IRModule))


def outputs(mod, name):
    return numpy_of(machine(mod)[function_name(name)](*map(tvm.runtime.tensor, CASES[name][1])))


def written(folder, name, text):
    stem = re.sub(r"\W", "_", name)
    source, target = Path(folder) / f"{stem}.relax", Path(folder) / f"for_tvm_{stem}.py"
    source.write_text(text)
    run = subprocess.run([RELAXC, source, "--emit=relax", "--dialect=tvm", "-o", target], capture_output=True, text=True)
    return target, run.stderr if run.returncode else ""


def program_findings(folder, name):
    """Compares a program of dialect_programs.py, as TVM runs it, with NumPy; relaxc reads its own text too."""
    text, reference, runs = PROGRAMS[name]
    path, said = written(folder, name, text)
    if said:
        return [f"{name}: {said[:300]}"]
    try:
        functions = machine(parsed(path))
    except BaseException as error:
        return [f"{name}: TVM does not read it: {str(error).splitlines()[-1] if str(error) else error!r}"]
    check = subprocess.run([RELAXC, "--check", path], capture_output=True, text=True)
    wrong = [f"{name}: relaxc does not read what it wrote: {check.stderr[:300]}"] if check.returncode else []
    for inputs in runs:
        tensors = [tvm.runtime.tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in inputs]
        found, expected = numpy_of(functions["main"](*tensors)), reference(*inputs)
        # float32 sums of less than a hundred terms
        same = len(found) == len(expected) and all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(found, expected))
        if not same:
            wrong.append(f"{name} of {inputs}: {found}, expected {expected}")
    return wrong


def main():
    wrong, read, compared = [], 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        names = list(CASES)[::EVERY]
        texts = [(name, module([name]).script()) for name in names]
        for name, (path, said) in zip(names, pool.map(lambda item: written(folder, *item), texts)):
            if said:
                wrong.append(f"{name}: {said[:300]}")
                continue
            try:
                mod = parsed(path)
            except BaseException as error:  # TVM ends the process after a syntax error
                if name not in KNOWN:
                    wrong.append(f"{name}: {str(error).splitlines()[0] if str(error) else error!r}")
                continue
            read += 1
            try:
                found = outputs(mod, name)
            except Exception as error:
                if name not in KNOWN:
                    wrong.append(f"{name}: TVM does not compile it: {str(error).splitlines()[-1][:300]}")
                continue
            if name in UNCOMPARED:
                continue
            expected = outputs(module([name]), name)
            half = any(array.dtype == np.float16 for array in expected)
            same = len(found) == len(expected) and all(
                a.shape == b.shape and np.allclose(a, b, rtol=2e-3 if half else 1e-4, atol=1e-3 if half else 1e-5, equal_nan=True)
                for a, b in zip(found, expected))
            compared += 1
            if not same:
                wrong.append(f"{name}: {[a.ravel()[:4] for a in found]}, expected {[a.ravel()[:4] for a in expected]}")
        for name in PROGRAMS:
            wrong += program_findings(folder, name)
    print(f"{read} of {len(names)} texts read by TVM, {compared} compared, and {len(PROGRAMS)} programs")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
