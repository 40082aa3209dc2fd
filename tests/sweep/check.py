"""check.py: what is wrong with a case under some settings.

What is expected comes from ONNX Runtime without optimizations. Where a result differs from that, ONNX's reference
evaluator is asked as well: a case in which these two disagree shows nothing of relaxc, and is counted by itself. What
both backends make of one schedule must be the same to the bit, and so must what is compiled without optimizations and
what the interpreter computes.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx.reference import ReferenceEvaluator

import compiled
from compiled import Fault, Refused

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "compare"), str(TESTS / "onnx/graphs")]
import arrays  # noqa: E402
from graph import session  # noqa: E402

RTOL, ATOL = 2e-4, 3e-5  # of the element, and of the largest magnitude: two dozen operators in float32


class NoReference(Exception):
    """Neither of the references says what a case computes."""


def expected(case):
    try:
        return [np.asarray(array) for array in session(case.model).run(None, case.inputs)]
    except Exception as error:  # its class says no more
        raise NoReference(str(error)) from None


def evaluated(case):
    try:
        return [np.asarray(array) for array in ReferenceEvaluator(case.model).run(None, case.inputs)]
    except Exception as error:
        raise NoReference(str(error)) from None


def difference(actual, wanted):
    """What is wrong with the outputs, or an empty string."""
    if len(actual) != len(wanted):
        return f"{len(actual)} outputs, expected {len(wanted)}"
    faults = (arrays.difference(a, w, rtol=RTOL, atol=ATOL) for a, w in zip(actual, wanted))
    return next((f"output {i}: {fault}" for i, fault in enumerate(faults) if fault), "")


def same_bits(one, other, what):
    for i, (a, b) in enumerate(zip(one, other)):
        nans = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" and a.shape == b.shape else False
        if a.shape != b.shape or (a.tobytes() != b.tobytes() and not ((a == b) | nans).all()):
            raise Fault(f"output {i} is not {what} to the bit")


def interpreted(relaxc, folder, case):
    """What the interpreter computes of the model in this folder."""
    np.savez(folder / "inputs.npz", **case.inputs)
    compiled.run([relaxc, "run", folder / "fixed.onnx", folder / "inputs.npz", "--interpret", "-O0", "-o", folder / "out"],
                 "the interpreter")
    return [np.load(folder / "out" / f"{value.name}.npy") for value in case.model.graph.output]


def results(relaxc, model, case, settings, folder):
    """The outputs of the model, by the backend of the settings, compared with those that must be the same."""
    by_llvm = compiled.outputs(compiled.library(relaxc, model, settings, "llvm", folder), case.inputs, settings.threads)
    if settings.backend != "llvm":
        path = compiled.library(relaxc, model, settings, settings.backend, folder)
        same_bits(compiled.outputs(path, case.inputs, settings.threads), by_llvm, f"LLVM's by {settings.backend}")
    if settings.level == "0" and settings.dims == "fixed":
        same_bits(by_llvm, interpreted(relaxc, folder, case), "the interpreter's")
    return by_llvm


def fault(relaxc, case, settings, wanted):
    """What is wrong with a case, or an empty string. Raises NoReference where the references disagree, and Refused."""
    try:
        for which, model in enumerate(case.models()):
            with tempfile.TemporaryDirectory() as folder:
                found = difference(results(relaxc, model, case, settings, Path(folder)), wanted)
            if found:
                if difference(evaluated(case), wanted):
                    raise NoReference("ONNX Runtime and ONNX's reference evaluator disagree")
                return ("the rewritten graph: " if which else "") + found
    except Fault as error:
        return str(error)
    return ""
