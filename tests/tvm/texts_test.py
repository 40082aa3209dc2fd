"""texts_test.py RELAXC SOURCE: modules in texts/, which TVM's parser and relaxc both read, compiled by both and compared.

A module is a file of Python with a class Module or a prim func main. Where TVM cannot be given the arrays, a first line
`# numpy: EXPRESSION` says what the last buffer becomes of the others. Runs where the package apache-tvm is installed;
elsewhere it says so and is skipped.
"""

import ctypes
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
RELAXC, SOURCE = sys.argv[1:3]
sys.path[:0] = [f"{SOURCE}/bench", str(Path(__file__).parent)]

try:
    import tvm
    from tvm import tirx
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

import numpy as np
import reference
import rlx

RANDOM = np.random.default_rng(5)


def array(shape, dtype):
    if dtype == "bool":
        return np.asarray(RANDOM.random(shape) > 0.3)
    if "int" in dtype:
        return np.asarray(RANDOM.integers(1, 9, shape)).astype(dtype)
    return np.asarray(RANDOM.uniform(0.5, 2.0, shape)).astype(dtype)


def relax_outputs(mod, library):
    types = [getattr(param, "ty", None) or param.struct_info for param in mod["main"].params]
    inputs = [array([int(dim) for dim in type_.shape], str(type_.dtype)) for type_ in types]
    expected = reference.numpy_of(reference.machine(mod)["main"](*map(tvm.runtime.tensor, inputs)))
    return list(next(iter(rlx.Model(library).functions.values()))(*inputs)), expected


def prim_outputs(mod, library, text):
    """The buffers and scalars of `main` are read from the text; a value that it returns is a last buffer of C's."""
    head = re.search(r"def main\((.*)\)(?: -> T\.(\w+))?:", text)
    call = getattr(ctypes.CDLL(str(library)), f"{library.stem}_main")
    arena = np.zeros((1 << 22) + 64, np.uint8)
    context = rlx.Context(arena=(arena.ctypes.data + 63) // 64 * 64, arena_bytes=1 << 22)
    arrays, scalars = [], [7] if head[2] else []
    for dims, dtype, lanes in re.findall(r"T\.Buffer\(\(([^()]*)\), \"(\w+?)(?:x(\d+))?\"\)", head[1]):
        arrays.append(array([int(dim) for dim in dims.split(",") if dim.strip()] + ([int(lanes)] if lanes else []), dtype))
    found = [one.copy() for one in arrays] + ([np.zeros(1, head[2])] if head[2] else [])
    arguments = [ctypes.c_int64(one) for one in scalars] + [ctypes.c_void_p(one.ctypes.data) for one in found]
    status = call(ctypes.byref(context), *arguments)
    assert status == 0, f"status {status}"
    if by_numpy := re.match(r"# numpy: (.*)", text):
        names = re.findall(r"(\w+): T\.Buffer", head[1])
        value = eval(by_numpy[1], {"np": np}, dict(zip(names, arrays)))  # of a file of this folder
        return found[-1:], [np.asarray(value, arrays[-1].dtype)]
    compiled = reference.compiled(mod)["main"]
    if head[2]:
        return found, [np.array([compiled(*scalars)], head[2])]
    tensors = [tvm.runtime.tensor(one) for one in arrays]
    compiled(*tensors)
    return found, [tensor.numpy() for tensor in tensors]


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((Path(__file__).parent / "texts").glob("*.py")):
            library = Path(folder) / f"{source.stem}.so"
            text = (Path(folder) / f"{source.stem}.relax")
            text.write_text(source.read_text())
            run = subprocess.run([RELAXC, text, "-o", library], capture_output=True, text=True)
            if run.returncode:
                wrong.append(f"{source.stem}: {run.stderr}")
                continue
            spec = importlib.util.spec_from_file_location(source.stem, source)
            python = importlib.util.module_from_spec(spec)
            sys.modules[source.stem] = python  # where TVM looks for the text
            spec.loader.exec_module(python)
            made = getattr(python, "Module", None) or python.main
            mod = made if isinstance(made, tvm.IRModule) else tvm.IRModule({"main": made.with_attr("global_symbol", "main")})
            if isinstance(mod["main"], tirx.PrimFunc):
                found, expected = prim_outputs(mod, library, source.read_text())
            else:
                found, expected = relax_outputs(mod, library)
            same = len(found) == len(expected) and all(
                a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-5, atol=1e-6)
                for a, b in zip(found, expected))
            if not same:
                wrong.append(f"{source.stem}: {found}, expected {expected}")
            print(f"{source.stem}: {len(expected)} arrays")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
