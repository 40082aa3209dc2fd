"""What TVM computes: it compiles without LLVM's optimizations, which change no number and take a third of its time."""

import numpy as np
import tvm
from tvm import relax

TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


def compiled(mod):
    return tvm.compile(mod, TARGET)


def machine(mod):
    """TVM's virtual machine for the functions of a module."""
    return relax.VirtualMachine(compiled(mod), tvm.cpu())


def numpy_of(value):
    """The arrays of a result: of a tensor, of an integer, or of all parts of a tuple."""
    if isinstance(value, int):
        return [np.array(value)]
    return [value.numpy()] if hasattr(value, "numpy") else [array for item in value for array in numpy_of(item)]
