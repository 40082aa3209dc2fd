"""ONNX nodes of NNSmith's operators, by a table.

What ONNX leaves open is kept out of graphs: a cast of floats to integers has a Where before it that drops what does not
fit, and functions with a domain get operands inside of it.
"""

import math
from typing import Callable, NamedTuple

import numpy as np
import onnx
from nnsmith.abstract.dtype import DType
from nnsmith.abstract.op import Constant, Input
from onnx import helper, numpy_helper

OPSET = 20  # the first with Gelu
IR_VERSION = 9

FLOATS = {DType.float32, DType.float64}
WIDE = FLOATS | {DType.int32, DType.int64}
NUMBERS = WIDE | {DType.int8, DType.int16, DType.uint8}
ALL = NUMBERS | {DType.bool}


class Nodes:
    """The nodes of a graph as they come, and its constants."""

    def __init__(self, rng):
        self.rng = rng
        self.nodes = []
        self.constants = []

    def add(self, op_type, *operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, operands, [name], name=name, **attributes))
        return name

    def constant(self, values, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weights(self, *shape, dtype=np.float32):
        """Normal numbers, smaller the more of them are added."""
        return self.constant(self.rng.standard_normal(shape) / math.sqrt(math.prod(shape[1:])), dtype)


def same(op_type, **attributes):
    """One node with the operator's operands and no attribute of its own."""
    return lambda to, op, *operands: to.add(op_type, *operands, **attributes)


def dtype_of(op):
    return op.input_like[0].dtype


def prelu(to, op, x):
    return to.add("PRelu", x, to.constant(0.25, np.float32))


def clip_between(to, x, dtype, least, most):
    return to.add("Clip", x, to.constant(least, dtype), to.constant(most, dtype))


def clip(to, op, x):
    least = to.rng.integers(0, 3) if dtype_of(op) == DType.uint8 else to.rng.integers(-3, 1)
    half = 0.5 if dtype_of(op) in FLOATS else 0
    return clip_between(to, x, dtype_of(op).numpy(), least - half, least + to.rng.integers(0, 5))


def arc(op_type):
    return lambda to, op, x: to.add(op_type, clip_between(to, x, dtype_of(op).numpy(), -1, 1))


def log2(to, op, x):
    return to.add("Div", to.add("Log", to.add("Abs", x)), to.constant(math.log(2), dtype_of(op).numpy()))


def power(to, op, x, y):
    return to.add("Pow", to.add("Abs", x), clip_between(to, y, dtype_of(op).numpy(), -3, 3))


def cast(to, op, x):
    """Numbers that an integer may not hold, and NaN, become 0 first."""
    if dtype_of(op) in FLOATS and op.extra_attrs["to"] not in FLOATS | {DType.bool}:
        zero, limit = (to.constant(value, dtype_of(op).numpy()) for value in (0, 1e6))
        x = to.add("Where", to.add("Less", to.add("Abs", x), limit), x, zero)
    return cast_to(to, x, op.extra_attrs["to"])


def cast_to(to, x, dtype):
    return to.add("Cast", x, to=onnx_dtype(dtype))


def axes_of(op):
    """The axis of a reduction, or none for a scalar."""
    return [] if op.extra_attrs["reduce_dim"] is None else [op.extra_attrs["reduce_dim"]]


def with_axes(op_type, **attributes):
    return lambda to, op, x: to.add(op_type, x, to.constant(axes_of(op)), **attributes)


def widening_sum(to, op, x):
    """PyTorch's sum: that of integers is an int64."""
    return with_axes("ReduceSum", keepdims=0)(to, op, x if dtype_of(op) in FLOATS else cast_to(to, x, DType.int64))


def extreme_place(op_type):
    return lambda to, op, x: to.add(op_type, x, axis=op.extra_attrs["reduce_dim"], keepdims=0)


def triangle(upper):
    return lambda to, op, x: to.add("Trilu", x, to.constant(op.diagonal), upper=upper)


def concat(to, op, *operands):
    return to.add("Concat", *operands, axis=op.extra_attrs["axis"])


def reshape(to, op, x):
    return to.add("Reshape", x, to.constant(op.target_shape))


def flatten(to, op, x):
    return to.add("Reshape", x, to.constant([-1]))


def expand(to, op, x):
    return to.add("Expand", x, to.constant(op.output_like[0].shape))


def transpose(to, op, x):
    order = list(range(op.input_like[0].ndims))
    first, second = op.extra_attrs["dim0"], op.extra_attrs["dim1"]
    order[first], order[second] = second, first
    return to.add("Transpose", x, perm=order)


def slice_(to, op, x):
    """Bounds count from the beginning or, by chance, from the end."""
    axis = op.extra_attrs["axis"]
    size = op.input_like[0].shape[axis]
    from_end = size * to.rng.integers(0, 2, 2)
    start, end = op.start - from_end[0], op.end - (from_end[1] if op.end < size else 0)
    return to.add("Slice", x, *(to.constant([value]) for value in (start, end, axis, op.step)))


def pad(mode):
    def nodes(to, op, x):
        """NNSmith lists the two ends of each dim from the last one on, ONNX all beginnings and then all ends."""
        pads = np.zeros((2, op.input_like[0].ndims), np.int64)
        for dim, ends in enumerate(zip(op.padding_list[::2], op.padding_list[1::2])):
            pads[:, -1 - dim] = ends
        value = [to.constant(0.5, dtype_of(op).numpy())] if mode == "constant" else []
        return to.add("Pad", x, to.constant(pads.flatten()), *value, mode=mode)

    return nodes


def pool(op_type, **attributes):
    return lambda to, op, x: to.add(
        op_type,
        x,
        kernel_shape=[op.kernel_h_size, op.kernel_w_size],
        strides=[op.stride] * 2,
        pads=[op.padding] * 4,
        **attributes,
    )


def conv(to, op, x):
    one_dim = hasattr(op, "kernel_size")
    kernel = [op.kernel_size] if one_dim else [op.kernel_h_size, op.kernel_w_size]
    return to.add(
        "Conv",
        x,
        to.weights(op.out_channels, op.in_channels, *kernel),
        to.weights(op.out_channels),
        strides=[op.stride] * len(kernel),
        pads=[op.padding] * 2 * len(kernel),
        dilations=[op.dilation] if one_dim else [op.dilation_h, op.dilation_w],
    )


def batch_norm(to, op, x):
    scale, shift, mean = (to.weights(op.nfeat) for _ in range(3))
    variance = to.constant(to.rng.uniform(0.5, 2, op.nfeat), np.float32)
    return to.add("BatchNormalization", x, scale, shift, mean, variance)


def linear(to, op, x):
    return to.add("Add", to.add("MatMul", x, to.weights(op.ifeat, op.ofeat)), to.weights(op.ofeat))


def resize(**attributes):
    return lambda to, op, x: to.add("Resize", x, "", "", to.constant(op.output_like[0].shape), **attributes)


LINEAR = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
CUBIC = {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel", "cubic_coeff_a": -0.75}
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


class Operator(NamedTuple):
    """An operator of NNSmith's: the dtypes of its operands that ONNX knows, and what writes its nodes."""

    dtypes: set
    nodes: Callable


ROWS = {
    **{name: (NUMBERS, same(name)) for name in "Abs Add Sub Mul Max Min Greater Less".split()},
    **{name: (FLOATS, same(name)) for name in "Div Sigmoid Sin Cos Tan Atan Ceil Floor Round".split()},
    **{name: ({DType.bool}, same(name)) for name in "And Or Xor".split()},
    **{f"Concat{count}": (ALL, concat) for count in range(1, 6)},
    **{f"ExpandLast{count}": (ALL, expand) for count in range(1, 5)},
    **{f"Cast{name}": (ALL, cast) for name in "F32 F64 I32 I64 Bool".split()},
    "Equal": (ALL, same("Equal")),
    "Where": (ALL, same("Where")),
    "Neg": (NUMBERS - {DType.uint8}, same("Neg")),
    "PTMatMul": (WIDE, same("MatMul")),
    "Linear": (FLOATS, linear),
    "GELU": (FLOATS, same("Gelu")),
    "ReLU": (FLOATS, same("Relu")),
    "LeakyReLU": (FLOATS, same("LeakyRelu", alpha=0.01)),
    "PReLU": (FLOATS, prelu),
    "Clip": (NUMBERS, clip),
    "Asin": (FLOATS, arc("Asin")),
    "Acos": (FLOATS, arc("Acos")),
    "Sqrt": (FLOATS, lambda to, op, x: to.add("Sqrt", to.add("Abs", x))),
    "Log2": (FLOATS, log2),
    "Pow": (FLOATS, power),
    "Softmax": (FLOATS, lambda to, op, x: to.add("Softmax", x, axis=op.dim)),
    "MaxPool2d": (FLOATS, pool("MaxPool")),
    "AvgPool2d": (FLOATS, pool("AveragePool", count_include_pad=1)),
    "Conv1d": (FLOATS, conv),
    "NCHWConv2d": (FLOATS, conv),
    "BatchNorm2d": (FLOATS, batch_norm),
    "Slice": (ALL, slice_),
    "ConstPad": (FLOATS, pad("constant")),
    "ReplicatePad": (FLOATS, pad("edge")),
    "ReflectPad": (FLOATS, pad("reflect")),
    "Reshape": (ALL, reshape),
    "Flatten": (ALL, flatten),
    "Transpose": (ALL, transpose),
    "Squeeze": (ALL, with_axes("Squeeze")),
    "ReduceSum": (WIDE, with_axes("ReduceSum", keepdims=0)),
    "TorchReduceSum": (NUMBERS, widening_sum),
    "ReduceProd": (WIDE, with_axes("ReduceProd", keepdims=0)),
    "ReduceMean": (FLOATS, with_axes("ReduceMean", keepdims=0)),
    "ReduceMin": (NUMBERS - {DType.int16}, with_axes("ReduceMin", keepdims=0)),
    "ReduceMax": (NUMBERS - {DType.int16}, with_axes("ReduceMax", keepdims=0)),
    "ArgMin": (NUMBERS, extreme_place("ArgMin")),
    "ArgMax": (NUMBERS, extreme_place("ArgMax")),
    "Tril": (ALL, triangle(0)),
    "Triu": (ALL, triangle(1)),
    "NearestInterp": (FLOATS, resize(**NEAREST)),
    "LinearInterp": (FLOATS, resize(**LINEAR)),
    "BilinearInterp": (FLOATS, resize(**LINEAR)),
    "TrilinearInterp": (FLOATS, resize(**LINEAR)),
    "BicubicInterp": (FLOATS, resize(**CUBIC)),
}
NODES = {name: Operator(*row) for name, row in ROWS.items()}


def to_onnx(graph, rng):
    """The model of NNSmith's graph: its outputs are the values that nothing reads, weights and constants are drawn."""
    to = Nodes(rng)
    values, inputs, outputs = {}, [], []
    for instruction in graph.insts:
        op = instruction.iexpr.op
        names = instruction.retvals()
        if isinstance(op, Input):
            inputs.append(value_info(f"x{len(inputs)}", op.abs_tensor))
            values[names[0]] = inputs[-1].name
        elif isinstance(op, Constant):
            values[names[0]] = draw_constant(to, op.abs_tensor)
        else:
            operands = [values[name] for name in instruction.iexpr.args]
            values[names[0]] = NODES[type(op).__name__].nodes(to, op, *operands)
            if instruction.no_users():
                outputs.append(value_info(values[names[0]], graph.vars[names[0]]))
    model = helper.make_model(
        helper.make_graph(to.nodes, "nnsmith", inputs, outputs, to.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nnsmith",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def value_info(name, tensor):
    return helper.make_tensor_value_info(name, onnx_dtype(tensor.dtype), tensor.shape)


def onnx_dtype(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype.numpy()))


def draw_constant(to, tensor):
    if tensor.dtype in FLOATS:
        return to.constant(to.rng.standard_normal(tensor.shape), tensor.dtype.numpy())
    least, most = (0, 2) if tensor.dtype in (DType.uint8, DType.bool) else (-4, 5)
    return to.constant(to.rng.integers(least, most, tensor.shape), tensor.dtype.numpy())
