"""exact.py: quantized ONNX graphs in exact arithmetic, node by node.

What a QDQ graph means is a question that two runtimes answer differently: each rounds its sums elsewhere, a value next
to a tie goes the other way, and the next layer adds up what has moved. Comparing results alone says nothing of who is
right. Here every operator is computed as ONNX defines it, but in float64: sums of products of stored values are exact
(they stay far below 2^53), and what is left of rounding is nothing beside that of float32. `step_by_step` then judges
each quantization of a contender by what the contender itself had before it, so that an error is counted where it is
made, and `evaluate` alone runs the whole graph.

Usage: exact.py RELAXC SOURCE_DIR MODEL.onnx    (a report of relaxc and, if it is installed, of ONNX Runtime)
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

NEAR_TIE = 1e-3
LIMITS = {**{np.dtype(t): (np.iinfo(t).min, np.iinfo(t).max) for t in (np.int8, np.uint8, np.int16, np.uint16)}}


def real(values):
    return np.asarray(values).astype(np.float64)


def spread(parameter, x, axis, block=0):
    """A scale or zero point in a form that broadcasts with x."""
    if block:
        return np.take(np.repeat(parameter, block, axis), np.arange(x.shape[axis]), axis)
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])


def windows(x, kernel, strides, pads, dilations, fill):
    """[N, C, out…, kernel…] views of x."""
    spatial = len(kernel)
    pads = [(0, 0), (0, 0)] + [(pads[i], pads[spatial + i]) for i in range(spatial)]
    x = np.pad(x, pads, constant_values=fill)
    reach = [dilations[i] * (kernel[i] - 1) + 1 for i in range(spatial)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, x.ndim)))
    view = view[(..., *(slice(None, None, d) for d in dilations))]
    return view[(slice(None), slice(None), *(slice(None, None, s) for s in strides))]


def window_attributes(attrs, spatial):
    return (attrs.get("strides", [1] * spatial), attrs.get("pads", [0] * 2 * spatial),
            attrs.get("dilations", [1] * spatial))


def conv(attrs, x, w, bias=None):
    spatial, group = x.ndim - 2, attrs.get("group", 1)
    view = windows(x, w.shape[2:], *window_attributes(attrs, spatial), 0)
    per_group, parts = w.shape[0] // group, []
    if group == x.shape[1] == w.shape[0]:
        axes = "xyz"[:spatial], "uvw"[:spatial]
        y = np.einsum(f"nc{axes[0]}{axes[1]},c{axes[1]}->nc{axes[0]}", view, w[:, 0])
    else:
        for g in range(group):
            taken = view[:, g * w.shape[1] : (g + 1) * w.shape[1]]
            axes = [1, *range(2 + spatial, 2 + 2 * spatial)]
            parts.append(np.tensordot(taken, w[g * per_group : (g + 1) * per_group], (axes, range(1, w.ndim))))
        y = np.moveaxis(np.concatenate(parts, -1), -1, 1)
    return y if bias is None else y + bias.reshape(-1, *[1] * spatial)


def average_pool(attrs, x):
    kernel = attrs["kernel_shape"]
    view = windows(x, kernel, *window_attributes(attrs, len(kernel)), 0)
    return view.sum(tuple(range(-len(kernel), 0))) / math.prod(kernel)


def max_pool(attrs, x):
    kernel = attrs["kernel_shape"]
    view = windows(x, kernel, *window_attributes(attrs, len(kernel)), -np.inf)
    return view.max(tuple(range(-len(kernel), 0)))


def gemm(attrs, a, b, c=0.0):
    a, b = a.T if attrs.get("transA") else a, b.T if attrs.get("transB") else b
    return attrs.get("alpha", 1.0) * (a @ b) + attrs.get("beta", 1.0) * c


def softmax(attrs, x):
    axis = attrs.get("axis", -1)
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def gelu(attrs, x):
    if attrs.get("approximate", b"none") == b"tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def flatten(attrs, x):
    axis = attrs.get("axis", 1) % (x.ndim + 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


def reshape(attrs, x, shape):
    shape = [x.shape[i] if d == 0 else int(d) for i, d in enumerate(shape)]
    return x.reshape(shape)


def clip(attrs, x, low=-np.inf, high=np.inf):
    return np.minimum(np.maximum(x, low), high)


OPERATORS = {
    "Conv": conv, "Gemm": gemm, "MaxPool": max_pool, "AveragePool": average_pool, "Softmax": softmax, "Gelu": gelu,
    "Flatten": flatten, "Reshape": reshape, "Clip": clip,
    "MatMul": lambda attrs, a, b: a @ b,
    "Add": lambda attrs, a, b: a + b,
    "Sub": lambda attrs, a, b: a - b,
    "Mul": lambda attrs, a, b: a * b,
    "Div": lambda attrs, a, b: a / b,
    "Sqrt": lambda attrs, x: np.sqrt(x),
    "Relu": lambda attrs, x: np.maximum(x, 0),
    "Sigmoid": lambda attrs, x: 1 / (1 + np.exp(-x)),
    "Tanh": lambda attrs, x: np.tanh(x),
    "Identity": lambda attrs, x: x,
    "Transpose": lambda attrs, x: np.transpose(x, attrs.get("perm")),
    "Concat": lambda attrs, *x: np.concatenate(x, attrs["axis"]),
    "GlobalAveragePool": lambda attrs, x: x.mean(tuple(range(2, x.ndim)), keepdims=True),
}


class Quotient:
    """What a QuantizeLinear rounds, before it does."""

    def __init__(self, node, attrs, values):
        x, scale = values[node.input[0]], values[node.input[1]]
        zero = values[node.input[2]] if len(node.input) > 2 and node.input[2] else np.zeros((), np.uint8)
        axis, block = attrs.get("axis", 1), attrs.get("block_size", 0)
        self.dtype = zero.dtype
        self.real = x / spread(real(scale), x, axis, block)
        self.zero = real(spread(zero, x, axis, block))

    def stored(self):
        low, high = LIMITS[self.dtype]
        return np.clip(np.rint(self.real) + self.zero, low, high).astype(self.dtype)

    def judge(self, found):
        """Values that differ, the largest difference, and how many differ without a tie nearby."""
        off = np.abs(found.astype(np.int64) - self.stored().astype(np.int64))
        tie = np.abs(np.abs(self.real - np.floor(self.real)) - 0.5) < NEAR_TIE
        return np.count_nonzero(off), int(off.max(initial=0)), np.count_nonzero((off > 0) & (~tie | (off > 1)))


def evaluate(model, feeds, found=None):
    """All values by name; with `found`, those quantized tensors take the place of the exact ones behind them, and a
    dict of Quotients comes second."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values |= {name: real(x) if x.dtype.kind == "f" else x for name, x in feeds.items()}
    quotients = {}
    for node in model.graph.node:
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        name = node.output[0]
        if node.op_type == "Constant":
            values[name] = numpy_helper.to_array(attrs["value"])
        elif node.op_type == "QuantizeLinear":
            quotients[name] = Quotient(node, attrs, values)
            values[name] = found[name] if found and name in found else quotients[name].stored()
        elif node.op_type == "DequantizeLinear":
            x, scale, *zero = (values[i] for i in node.input if i)
            axis, block = attrs.get("axis", 1), attrs.get("block_size", 0)
            zero = real(spread(zero[0], x, axis, block)) if zero else 0.0
            values[name] = (real(x) - zero) * spread(real(scale), x, axis, block)
        else:
            operands = [real(values[i]) if values[i].dtype.kind == "f" else values[i] for i in node.input if i]
            values[name] = OPERATORS[node.op_type](attrs, *operands)
    return values, quotients


def with_stages(model):
    """The model with the result of every QuantizeLinear of data among its outputs, and their names."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    constants = {tensor.name for tensor in model.graph.initializer}
    zeros = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    have = {output.name for output in model.graph.output}
    names = []
    for node in model.graph.node:
        if node.op_type != "QuantizeLinear" or node.input[0] in constants:
            continue
        names.append(node.output[0])
        if node.output[0] not in have:
            dtype = zeros[node.input[2]] if len(node.input) > 2 else onnx.TensorProto.UINT8
            shown.graph.output.append(helper.make_tensor_value_info(node.output[0], dtype, None))
            shown.graph.output[-1].type.tensor_type.ClearField("shape")
    return shown, names


def step_by_step(model, feeds, found):
    """(name, count, differing, largest, unexplained) of every quantization in `found`."""
    _, quotients = evaluate(model, feeds, found)
    return [(name, q.real.size, *q.judge(found[name])) for name, q in quotients.items() if name in found]


def main(relaxc, source, path):
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    model = onnx.load(path)
    rng = np.random.default_rng(0)
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds = {}
    for given in model.graph.input:
        dtype, shape = given.type.tensor_type.elem_type, [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(dtype))
        if given.name not in constants:  # whole numbers stand for a picture
            feeds[given.name] = rng.integers(*LIMITS[dtype], shape).astype(dtype) if dtype in LIMITS else \
                rng.standard_normal(shape).astype(dtype)
    shown, names = with_stages(model)
    shown = onnx.shape_inference.infer_shapes(shown)
    outputs = [output.name for output in shown.graph.output]
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(shown, f"{folder}/shown.onnx")
        for name, input_path in (("relaxc", path), ("relaxc, stages shown", f"{folder}/shown.onnx")):
            library = f"{folder}/m{len(runs)}.so"
            subprocess.run([relaxc, "--mcpu=native", input_path, "-o", library], check=True)
            runs[name] = dict(zip(outputs, rlx.Model(library).functions["main"](*feeds.values())))
        try:
            import onnxruntime as ort  # noqa: PLC0415

            for level in ("DISABLE_ALL", "ENABLE_ALL"):
                options = ort.SessionOptions()
                options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_{level}")
                for what, file in (("", path), (", stages shown", f"{folder}/shown.onnx")):
                    session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
                    runs[f"ONNX Runtime {level}{what}"] = dict(zip(outputs, session.run(None, feeds)))
        except ImportError:
            pass
    exact, _ = evaluate(model, feeds)
    main_output = model.graph.output[0].name
    scale = np.abs(exact[main_output]).max()
    for who, found in runs.items():
        error = np.abs(found[main_output] - exact[main_output]).max() / scale
        print(f"{who}: result off by {error:.4f} of its largest value")
        stages = [s for s in step_by_step(model, feeds, found)] if "shown" in who else []
        if stages:
            total, off = sum(s[1] for s in stages), sum(s[2] for s in stages)
            print(f"  {len(stages)} quantizations of {total} values: {off} differ from exact arithmetic on what came "
                  f"before, by {max(s[3] for s in stages)} at most, {sum(s[4] for s in stages)} not next to a tie")
            for name, size, differ, largest, unexplained in stages:
                if unexplained:
                    print(f"    {name}: {differ} of {size}, by {largest}, {unexplained} not next to a tie")


if __name__ == "__main__":
    main(*sys.argv[1:])
