"""operators_test.py RELAXC SOURCE FAMILY: operators of Relay, compiled and compared with NumPy and ONNX Runtime.

All cases of a family are functions of one module; a case is there a second time with dims that are not known where it
says that it can. `--list FILE` in place of a family compares the operators that cases call with the file's lines;
`--list FILE --update` writes them.
"""

import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RELAXC, SOURCE, FAMILY = sys.argv[1:4]
sys.dont_write_bytecode = True
sys.path[:0] = [f"{SOURCE}/bench", f"{SOURCE}/tests/compare", str(Path(__file__).parent)]

import numpy as np
import rlx
from arrays import difference
from relay_case import CASES

FAMILIES = ("elementwise", "nn", "shape", "parts", "image", "qnn")
# Sums of a few hundred terms, and functions to a few units in the last place.
RTOL, ATOL = 2e-5, 2e-6


def compiled(functions, folder):
    text, library = Path(folder) / "cases.relay", Path(folder) / "cases.so"
    text.write_text('#[version = "0.0.5"]\n' + "".join(functions.values()))
    run = subprocess.run([RELAXC, text, "-O1", "-o", library], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{FAMILY}: relaxc ends with {run.returncode}:\n{run.stderr[:6000]}")
    return rlx.Model(library).functions


def main():
    importlib.import_module(f"family_{FAMILY}")
    cases = {f"f{i}{'o' if is_open else ''}": (case, is_open) for i, case in enumerate(CASES[FAMILY])
             for is_open in ([False, True] if case.open else [False])}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        functions = compiled({name: case.function(name, is_open) for name, (case, is_open) in cases.items()}, folder)
        for name, (case, is_open) in cases.items():
            found = functions[name](*case.inputs.values())
            if len(found) != len(case.expected):
                wrong.append(f"{case.text}: {len(found)} results, expected {len(case.expected)}")
                continue
            for actual, expected in zip(found, case.expected):
                if text := difference(np.asarray(actual), expected, rtol=RTOL, atol=ATOL, quanta=case.quanta):
                    wrong.append(f"{case.text}{' with open dims' if is_open else ''}: {text}")
    print(f"{FAMILY}: {len(cases)} cases")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


def list_operators(path, update):
    """The operators of all cases, for docs/relay-support.md."""
    for family in FAMILIES:
        importlib.import_module(f"family_{family}")
    calls = re.compile(r"([a-z][\w.]*)\(")
    names = sorted({name for cases in CASES.values() for case in cases for name in calls.findall(case.text)})
    text = "".join(f"{name}\n" for name in names)
    if update:
        path.write_text(text)
    if path.read_text() == text:
        return 0
    print(f"{path} is not the list of tested operators; --update writes it")
    return 1


if __name__ == "__main__":
    sys.exit(list_operators(Path(sys.argv[4]), "--update" in sys.argv) if FAMILY == "--list" else main())
