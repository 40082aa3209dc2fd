"""The C that relaxc writes, under the address and undefined-behaviour sanitizers: data that is as wrong as it can be gives
a status or numbers, and no access or arithmetic that C does not define.

Numbers that decide where an operator reads or writes (indices, positions, sizes, regions, floats that become integers) are
extremes of their types, one at a time and all at once. A call may refuse them. What is known of the results is checked:
positions beyond the cache go round it, regions beyond an image give the value for that. The other tests of extreme sizes
(extremes/) compare numbers, and find accesses beyond guard pages; here every operation is looked at.

Usage: sanitized_calls_test.py RELAXC SOURCE_DIR
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

INTEGERS = (0, 1, -1, 2, -2, 7, 127, 2**31 - 1, -2**31, 2**32, 2**62, 2**63 - 1, 2**63 - 2, -2**63)
FLOATS = (0.0, -1.0, 0.5, 1.5, 255.0, 1e10, 2.0**31, -2.0**31, 2.0**63, -2.0**63, 3e38, -3e38, 1e-45, np.inf, -np.inf, np.nan)
FLAGS = ["-std=c99", "-O0", "-g1", "-ffp-contract=off", "-Wno-psabi", "-fPIC", "-shared", "-march=native",
         "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
I64, F32 = np.int64, np.float32


def ramp(*shape, dtype=F32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def rows():
    """Name, operator, attributes, operands by name (an array; of None: left out), which are hostile, types of results."""
    image, four = ramp(1, 1, 4, 5), I64([1, 1, 3, 3])
    for mode in ("linear", "cubic", "nearest"):
        yield (f"crop_{mode}", "Resize", {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0},
               [image, F32([0, 0, 0.2, 0.3, 1, 1, 0.8, 0.7]), None, four], [1], [F32])
    for mode in ("linear", "circular"):
        yield (f"cache_{mode}", "TensorScatter", {"mode": mode, "axis": 1}, [ramp(2, 5, 2), ramp(2, 3, 2), I64([1, 2])], [2], [F32])
    yield "gather", "Gather", {"axis": 1}, [image[0, 0], I64([0, 3, -1])], [1], [F32]
    yield "gather_nd", "GatherND", {}, [image[0, 0], I64([[0, 1], [3, -1]])], [1], [F32]
    yield "scatter", "ScatterElements", {"axis": 0, "reduction": "add"}, [image[0, 0], I64([[0, 1, 2, 3, -1]]), ramp(1, 5)], [1], [F32]
    yield "scatter_nd", "ScatterND", {}, [image[0, 0], I64([[1], [-1]]), ramp(2, 5)], [1], [F32]
    yield "grid", "GridSample", {"mode": "cubic", "padding_mode": "reflection"}, [image, ramp(1, 2, 2, 2) / 8], [1], [F32]
    yield ("regions", "RoiAlign", {"output_height": 2, "output_width": 2}, [image, F32([[0, 0, 3, 3]]), I64([0])], [1, 2], [F32])
    yield "compress", "Compress", {"axis": 1}, [image[0, 0], np.array([1, 0, 1, 1, 0], bool)], [0], [F32]
    yield "reverse", "ReverseSequence", {"batch_axis": 0, "time_axis": 1}, [image[0, 0], I64([5, 2, 1, 3])], [1], [F32]
    yield "unpool", "MaxUnpool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [ramp(1, 1, 2, 2), I64([[[[0, 3], [8, 11]]]])], [1], [F32]
    yield "hot", "OneHot", {}, [I64([0, 2, -1]), I64(4), F32([0, 1])], [0, 2], [F32]
    yield "cast", "Cast", {"to": 6}, [ramp(16)], [0], [np.int32]
    yield "steps", "QuantizeLinear", {}, [ramp(16), F32(0.5), np.int8(3)], [0, 1], [np.int8]
    yield "shift", "BitShift", {"direction": "LEFT"}, [ramp(8, dtype=np.uint32), ramp(8, dtype=np.uint32)], [1], [np.uint32]
    yield "quotient", "Div", {}, [ramp(8, dtype=np.int32), 1 + ramp(8, dtype=np.int32)], [0, 1], [np.int32]
    yield "rest", "Mod", {}, [ramp(8, dtype=I64), 1 + ramp(8, dtype=I64)], [0, 1], [I64]


def model(row):
    import onnx  # noqa: PLC0415
    from onnx import helper, numpy_helper  # noqa: PLC0415

    name, op, attributes, operands, hostile, results = row
    names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
    types = {i: helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype) for i, x in enumerate(operands) if x is not None}
    given = [i for i in types if i == 0 or i in hostile]
    graph = helper.make_graph(
        [helper.make_node(op, names, [f"y{i}" for i in range(len(results))], **attributes)], name,
        [helper.make_tensor_value_info(f"x{i}", types[i], np.shape(operands[i])) for i in given],
        [helper.make_tensor_value_info(f"y{i}", helper.np_dtype_to_tensor_dtype(np.dtype(of)), None) for i, of in enumerate(results)],
        [numpy_helper.from_array(np.asarray(operands[i]), f"x{i}") for i in types if i not in given])
    for output in graph.output:
        output.type.tensor_type.ClearField("shape")
    opset = 24 if op == "TensorScatter" else 20
    return onnx.helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), [operands[i] for i in given]


def with_extremes(array, numbers, count):
    """A copy with this many elements replaced."""
    changed = np.array(array)
    flat = changed.reshape(-1)
    for at in numbers.sample(range(flat.size), min(count, flat.size)):
        if flat.dtype.kind == "f":
            flat[at] = numbers.choice(FLOATS)
        elif flat.dtype.kind == "b":
            flat[at] = numbers.random() < 0.5
        else:
            bits = numbers.choice(INTEGERS) & (1 << 8 * flat.itemsize) - 1
            flat[at] = np.array([bits], np.uint64).astype(f"u{flat.itemsize}").view(flat.dtype)[0]
    return changed


def fault_of(name, arrays, outputs):
    """What is wrong with results that are known."""
    if name == "cache_circular":
        wanted = np.array(arrays[0])
        for batch, begin in enumerate(arrays[-1]):
            for i in range(3):
                wanted[batch, (int(begin) + i) % 5] = ramp(2, 3, 2)[batch, i]
        return "" if (outputs[0] == wanted).all() else f"{outputs[0].tolist()}, expected {wanted.tolist()}"
    if name.startswith("crop") and np.isfinite(arrays[-1]).all():
        far = (np.abs(arrays[-1].reshape(2, 4)) >= 1e10).all(axis=0)  # from one far place to another, on one side
        if (arrays[-1][:4][far] == arrays[-1][4:][far]).all() and far.any():
            return "" if (outputs[0] == 9).all() else f"{outputs[0].tolist()}, expected 9"
    return ""


def call(library, source):
    """Calls all models of the library with hostile data; in a process with the sanitizers."""
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    numbers, statuses, faults = random.Random(23), {}, 0
    for row in rows():
        name, _, _, operands, hostile, _ = row
        function = next(iter(rlx.Model(library, name).functions.values()))
        given = [i for i, x in enumerate(operands) if x is not None and (i == 0 or i in hostile)]
        for turn in range(60):
            arrays = [np.asarray(operands[i]) for i in given]
            for k, i in enumerate(given):
                if i in hostile and turn:
                    arrays[k] = with_extremes(arrays[k], numbers, numbers.choice((1, 2, 64)))
            print(name, [array.tolist() for array, i in zip(arrays, given) if i in hostile], file=sys.stderr, flush=True)
            try:
                fault = fault_of(name, arrays, [np.array(y) for y in function(*arrays)])
                faults += bool(fault)
                if fault:
                    print(f"{name}, call {turn}: {fault}", flush=True)
                statuses.setdefault(name, set()).add("ok")
            except rlx.RlxError:
                statuses.setdefault(name, set()).add("refused")
                faults += turn == 0
    for name in ("gather", "gather_nd", "scatter", "scatter_nd", "unpool", "cache_linear"):
        faults += statuses[name] != {"ok", "refused"}
    print(f"{60 * len(statuses)} calls, {faults} faults")
    sys.exit(1 if faults else 0)


def main():
    relaxc, source = sys.argv[1], Path(sys.argv[2])
    sanitizer = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    if not Path(sanitizer).is_absolute():
        print("the C compiler has no address sanitizer")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for row in rows():
            path = Path(folder) / f"{row[0]}.onnx"
            path.write_bytes(model(row)[0].SerializeToString())
            texts.append(path.with_suffix(".c"))
            subprocess.run([relaxc, path, "-o", texts[-1]], check=True)
        library, runtime = Path(folder) / "libmodels.so", source / "runtime-lite"
        subprocess.run(["cc", *FLAGS, f"-I{runtime}/include", f"-I{source}", *texts, *sorted((runtime / "core").glob("*.c")), "-lm",
                        "-o", library], check=True)
        # numpy's arrays lie between red zones, as they come from the sanitizer's malloc.
        environment = dict(os.environ, LD_PRELOAD=sanitizer, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1")
        done = subprocess.run([sys.executable, __file__, "--call", library, source], env=environment, capture_output=True, text=True,
                              check=False)
    print(done.stdout, end="")
    if done.returncode:
        sys.exit(done.stderr[-6000:])


if __name__ == "__main__":
    call(sys.argv[2], sys.argv[3]) if sys.argv[1] == "--call" else main()
