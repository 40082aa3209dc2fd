"""Pools and convolutions over dims that are open give what they give over the same dims fixed, and what ONNX Runtime gives,
down to windows that the padded dim is too small for: a result, an empty one or a refusal. Where ONNX Runtime leaves
ONNX's text, for SAME padding with dilations or with strides longer than the window, NumPy computes by the text.

Usage: open_windows_test.py RELAXC SOURCE_DIR SEED CASES    (CASES: how many of the table are drawn, 0: all)
"""

import itertools
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TOGETHER = 24  # models of one object, which compile faster than each alone
SIZES = range(7)
POOLS = ("MaxPool", "AveragePool", "LpPool")


def pads_of(mode, kernel, reach):
    """What `mode` of the table stands for, if a pool takes it: padding is smaller than the window."""
    begin, end = {"none": (0, 0), "begin": (1, 0), "end": (0, 1), "both": (1, 1)}[mode]
    return [begin, end] if max(begin, end) < min(kernel, reach) or mode == "none" else None


def table():
    """(operator, attributes): every combination that the operator has."""
    padding = ("none", "begin", "end", "both", "SAME_UPPER", "SAME_LOWER", "VALID")
    for op, kernel, stride, dilation, mode in itertools.product((*POOLS, "Conv", "ConvTranspose"), (1, 2, 3, 4), (1, 2, 3),
                                                                (1, 2), padding):
        attributes = {"kernel_shape": [kernel], "strides": [stride], "dilations": [dilation]}
        if mode.isupper():
            attributes["auto_pad"] = mode
        elif (pads := pads_of(mode, kernel, (kernel - 1) * dilation + 1)) is not None:
            attributes["pads"] = pads
        else:
            continue
        if op == "ConvTranspose":
            for extra in range(min(2, stride)):
                yield op, attributes | {"output_padding": [extra]}
        elif op == "Conv":
            yield op, attributes
        else:
            for ceil in (0, 1):
                more = {"ceil_mode": ceil}
                if op == "AveragePool":
                    yield op, attributes | more | {"count_include_pad": 1}
                yield op, attributes | more


def model(case, size):
    op, attributes = case
    inputs, constants = ["x"], []
    if op.startswith("Conv"):
        weight = np.arange(1, 1 + 4 * attributes["kernel_shape"][0], dtype=np.float32).reshape(2, 2, -1)
        inputs, constants = ["x", "w"], [numpy_helper.from_array(weight, "w")]
    graph = helper.make_graph([helper.make_node(op, inputs, ["y"], **attributes)], "windows",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, size])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, None])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


class Compiler:
    def __init__(self, relaxc, folder, loader):
        self.relaxc, self.folder, self.loader, self.count = relaxc, Path(folder), loader, 0

    def functions(self, models):
        """A function for each of the models, None where relaxc refuses it."""
        if not models:
            return []
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        files = [folder / f"f{i}.onnx" for i in range(len(models))]
        for file, made in zip(files, models):
            onnx.save(made, file)
        library = folder / f"m{self.count}.so"
        done = subprocess.run([self.relaxc, *files, "-O1", "-o", library], check=False, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 0:
            functions = self.loader.Model(library).functions
            return [functions["main" if len(files) == 1 else file.stem] for file in files]
        if len(models) == 1:
            return [None]
        half = len(models) // 2
        return self.functions(models[:half]) + self.functions(models[half:])


def called(function, x):
    """The answer of a function, or None for a refusal."""
    if function is None:
        return None
    try:
        result = function(x)
    except Exception:  # noqa: BLE001
        return None
    return result[0] if isinstance(result, (list, tuple)) else result


def session(made):
    try:
        return onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001
        return None


def expected(runtime, x):
    try:
        return runtime.run(None, {"x": x})[0]
    except Exception:  # noqa: BLE001
        return None


def comparable(case, size):
    """Whether ONNX Runtime gives what ONNX defines: it has zeros for a convolution of nothing, if that is padded, which
    relaxc refuses in every form, as both refuse pools over nothing."""
    return not (case[0].startswith("Conv") and size == 0)


def is_by_text(case, size):
    """ONNX Runtime's SAME padding leaves dilations out, and is negative where strides are longer than windows; ONNX's
    reference evaluator does not know all of these attributes."""
    op, attributes = case
    kernel, stride, dilation = (attributes[name][0] for name in ("kernel_shape", "strides", "dilations"))
    same = attributes.get("auto_pad", "").startswith("SAME")
    return same and op != "ConvTranspose" and size > 0 and (dilation > 1 or kernel < stride)


def by_text(case, x):
    """SAME padding as ONNX's text has it: ceil(size / stride) windows, and the padding that they need and no less than
    none, of which SAME_LOWER has the odd one at the beginning."""
    op, attributes = case
    kernel, stride, dilation = (attributes[name][0] for name in ("kernel_shape", "strides", "dilations"))
    size = x.shape[2]
    windows = -(-size // stride)
    padding = max(0, (windows - 1) * stride + (kernel - 1) * dilation + 1 - size)
    begin = (padding + (attributes["auto_pad"] == "SAME_LOWER")) // 2
    weight = np.arange(1, 1 + 4 * kernel, dtype=np.float32).reshape(2, 2, kernel)
    parts = []
    for window in range(windows):
        taps = [i for i in range(kernel) if 0 <= window * stride - begin + i * dilation < size]
        cells = x[:, :, [window * stride - begin + i * dilation for i in taps]]
        if op == "Conv":
            parts.append(np.einsum("ncs,mcs->nm", cells, weight[:, :, taps]))
        elif op == "MaxPool":
            parts.append(cells.max(axis=2, initial=-np.inf))
        elif op == "LpPool":
            parts.append(np.sqrt((cells ** 2).sum(axis=2)))
        else:  # a mean over no element is 0
            parts.append(cells.sum(axis=2) / (kernel if attributes.get("count_include_pad") else max(len(taps), 1)))
    return np.stack(parts, axis=2)


def differs(a, b):
    if a is None or b is None:
        return (a is None) != (b is None)
    if a.shape != b.shape:
        return True
    low = np.finfo(np.float32).min  # ONNX Runtime's maximum of a window that has no element; relaxc's is -inf
    return not np.allclose(np.maximum(a, low), np.maximum(b, low), rtol=1e-5, atol=1e-5, equal_nan=True)


def told(answer):
    return "refused" if answer is None else f"{list(answer.shape)} {answer.ravel()[:8].tolist()}"


def check(compiler, cases):
    """The disagreements of some cases, and how many answers there were, how many of them empty, how many refusals."""
    wrong, counts = [], [0, 0, 0]
    opened = compiler.functions([model(case, "n") for case in cases])
    inputs = [np.cos(np.arange(2 * size, dtype=np.float32)).reshape(1, 2, size) for size in SIZES]
    fixed_of = {}
    forms = [(number, size) for number in range(len(cases)) for size in SIZES]
    for form, function in zip(forms, compiler.functions([model(cases[number], size) for number, size in forms])):
        fixed_of[form] = function
    for number, case in enumerate(cases):
        runtime = session(model(case, "n"))
        for size, x in zip(SIZES, inputs):
            found, fixed = called(opened[number], x), called(fixed_of[number, size], x)
            truth = expected(runtime, x) if runtime and comparable(case, size) else fixed
            if is_by_text(case, size):
                truth = by_text(case, x)
            if truth is None and found is not None and case[0] == "ConvTranspose" and found.size == 0:
                truth = found  # ONNX Runtime refuses a result of size 0 here, and gives one of pools
            if differs(found, fixed) or differs(found, truth):
                wrong.append(f"{case[0]} {case[1]} over {size}: open {told(found)}, fixed {told(fixed)}, "
                             f"{'NumPy' if is_by_text(case, size) else 'ONNX Runtime'} {told(truth)}")
            counts[2 if found is None else 1 if found.size == 0 else 0] += 1
    return wrong, counts


def main(relaxc, source, seed, count):
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    onnxruntime.set_default_logger_severity(4)
    cases = list(table())
    whole = len(cases)
    if int(count):
        cases = random.Random(int(seed)).sample(cases, int(count))
    wrong, counts = [], [0, 0, 0]
    with tempfile.TemporaryDirectory(prefix="relaxc-windows-") as folder:
        compiler = Compiler(relaxc, folder, rlx)
        for begin in range(0, len(cases), TOGETHER):
            more, found = check(compiler, cases[begin:begin + TOGETHER])
            wrong += more
            counts = [a + b for a, b in zip(counts, found)]
    print("\n".join(wrong))
    print(f"{len(cases)} of {whole} cases: {counts[0]} results, {counts[1]} empty ones and {counts[2]} refusals; "
          f"{len(wrong)} disagree")
    return 1 if wrong or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
