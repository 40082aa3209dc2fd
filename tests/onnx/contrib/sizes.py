"""sizes.py: operators of ai.onnx over tensors without elements, scalars, and ranks up to 8."""

import itertools

import numpy as np
from harness import Const, node

rng = np.random.default_rng(29)
OPSET = 18


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i64(*values):
    return Const(np.array(values, np.int64))


def onnx(op, operands, attrs=None, **how):
    return node(op, operands, attrs, domain="", **{"opset": OPSET, "rtol": 1e-4, "atol": 1e-5, **how})


UNARY = ("Abs", "Neg", "Exp", "Relu", "Sigmoid", "Tanh", "Sqrt", "Floor", "Erf", "Identity", "LeakyRelu", "Softplus")
BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Less", "Equal", "PRelu")
REDUCE = ("ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2")


def elementwise():
    shapes = [(), (0,), (3, 0), (0, 2), (2, 0, 3)] + [(2,) * rank for rank in range(1, 9)]
    for op, shape in itertools.product(UNARY, shapes):
        if op in ("Relu", "Tanh", "Erf") or len(shape) in (0, 1, 8):
            yield onnx(op, [np.abs(f32(*shape))], name=f"{op} {shape}")
    pairs = [((), ()), ((), (2,)), ((0,), ()), ((0,), (1,)), ((3, 0), (3, 1)), ((1, 0), (3, 1)), ((0, 1), (1, 4))]
    pairs += [((2,) * rank, (2,) * (rank - 1)) for rank in range(2, 9)] + [((1, 2) * 4, (2, 1) * 4)]
    for op, (a, b) in itertools.product(BINARY, pairs):
        if (op != "PRelu" or len(a) >= len(b)) and (op in ("Add", "Less") or len(a) < 3):
            if op == "PRelu" and np.broadcast_shapes(a, b) != a:
                continue
            yield onnx(op, [np.abs(f32(*a)) + 1, f32(*b)], name=f"{op} {a} {b}")
    for shape in ((), (0, 2), (2,) * 8):
        x = f32(*shape)
        yield onnx("Where", [x > 0, x, f32(*shape)], name=f"Where {shape}")
        yield onnx("Cast", [x], {"to": 7}, name=f"Cast {shape}")
        yield onnx("Clip", [x, Const(np.float32(0)), Const(np.float32(1))], name=f"Clip {shape}")
        yield onnx("Not", [x > 0], name=f"Not {shape}")


def reductions():
    for op, (shape, axis) in itertools.product(REDUCE, [((0,), 0), ((3, 0), 1), ((3, 0), 0), ((0, 2), 1)]):
        yield onnx(op, [f32(*shape), i64(axis)], {"keepdims": 0}, name=f"{op} {shape} axis {axis}")
    for rank in range(0, 9):
        x = f32(*(2,) * rank)
        for op in ("ReduceSum", "ReduceMax", "ReduceMean"):
            yield onnx(op, [x], {"keepdims": 0}, name=f"{op} rank {rank}, all")
            if rank:
                yield onnx(op, [x, i64(-1)], {"keepdims": 1}, name=f"{op} rank {rank}, last")
        if rank > 2:
            yield onnx("ReduceSum", [x, i64(*range(0, rank, 2))], {"keepdims": 0}, name=f"ReduceSum rank {rank}, every other")
        if rank:
            yield onnx("ArgMax", [x], {"axis": rank - 1, "keepdims": 0}, name=f"ArgMax rank {rank}")
            yield onnx("Softmax", [x], {"axis": rank // 2}, name=f"Softmax rank {rank}")
            yield onnx("CumSum", [x, Const(np.array(rank // 2, np.int64))], name=f"CumSum rank {rank}")
            yield onnx("LayerNormalization", [x, f32(2)], name=f"LayerNormalization rank {rank}")
    for shape, axis in (((0, 3), 1), ((2, 0, 3), 2), ((2, 0), 0)):
        yield onnx("Softmax", [f32(*shape)], {"axis": axis}, name=f"Softmax {shape}")
        yield onnx("CumSum", [f32(*shape), Const(np.array(axis, np.int64))], name=f"CumSum {shape}")
    yield onnx("ArgMax", [f32(0, 3)], {"axis": 1}, name="ArgMax (0, 3)")
    yield onnx("TopK", [f32(0, 3), i64(2)], outputs=2, name="TopK (0, 3)")
    yield onnx("TopK", [f32(3), i64(0)], outputs=2, name="TopK of none")


def moves():
    for rank in range(1, 9):
        shape = tuple(1 + i % 3 for i in range(rank))
        x = f32(*shape)
        order = rng.permutation(rank).tolist()
        yield onnx("Transpose", [x], {"perm": order}, name=f"Transpose rank {rank}")
        yield onnx("Concat", [x, x], {"axis": rank - 1}, name=f"Concat rank {rank}")
        yield onnx("Slice", [x, i64(0), i64(1), i64(rank - 1)], name=f"Slice rank {rank}")
        yield onnx("Gather", [x, i64(0, -1)], {"axis": rank // 2}, name=f"Gather rank {rank}")
        yield onnx("Reshape", [x, i64(-1)], name=f"Reshape rank {rank}")
        yield onnx("Tile", [x, i64(*[2] * rank)], name=f"Tile rank {rank}")
        yield onnx("Pad", [x, i64(*[1] * (2 * rank))], name=f"Pad rank {rank}")
        yield onnx("Expand", [f32(*shape[-1:]), i64(*shape)], name=f"Expand rank {rank}")
        yield onnx("Squeeze", [x, i64(0)], name=f"Squeeze rank {rank}")
        yield onnx("Unsqueeze", [x, i64(0)], name=f"Unsqueeze rank {rank}")
        yield onnx("Split", [x], {"axis": rank - 1, "num_outputs": 1}, name=f"Split rank {rank}")
        yield onnx("ScatterElements", [x, np.zeros((1,) * rank, np.int64), f32(*(1,) * rank)], name=f"ScatterElements rank {rank}")
    yield onnx("Reshape", [f32(), i64(1, 1)], name="Reshape of a scalar")
    yield onnx("Reshape", [f32(1), i64()], name="Reshape to a scalar")
    yield onnx("Unsqueeze", [f32(), i64(0)], name="Unsqueeze of a scalar")
    yield onnx("Transpose", [f32()], name="Transpose of a scalar")
    yield onnx("Expand", [f32(), i64(2, 3)], name="Expand of a scalar")
    yield onnx("Expand", [f32(1, 3), i64(0, 3)], name="Expand to none")
    yield onnx("Shape", [f32()], name="Shape of a scalar")
    yield onnx("Size", [f32(0, 3)], name="Size of none")
    # The standard has no row for a scalar; NumPy and ONNX Runtime have one.
    yield onnx("NonZero", [f32()], name="NonZero of a scalar", expected=[np.zeros((0, 1), np.int64)], fixed=True)
    yield onnx("Gather", [f32(3, 2), Const(np.array(1, np.int64))], name="Gather by a scalar")


def nothing():
    """Tensors without elements, in and out."""
    yield onnx("Transpose", [f32(0, 3)], name="Transpose of none")
    yield onnx("Concat", [f32(0, 3), f32(2, 3)], {"axis": 0}, name="Concat of none and some")
    yield onnx("Concat", [f32(2, 0), f32(2, 0)], {"axis": 1}, name="Concat of none")
    yield onnx("Slice", [f32(4, 3), i64(2), i64(2), i64(0)], name="Slice of none")
    yield onnx("Slice", [f32(4, 3), i64(9), i64(2**62), i64(0)], name="Slice behind the end")
    yield onnx("Gather", [f32(3, 2), np.zeros((0,), np.int64)], name="Gather by none")
    yield onnx("Gather", [f32(3, 0), np.array([1], np.int64)], name="Gather of none")
    yield onnx("GatherElements", [f32(3, 2), np.zeros((0, 2), np.int64)], name="GatherElements by none")
    yield onnx("GatherND", [f32(3, 2), np.zeros((0, 1), np.int64)], name="GatherND by none", fixed=True)
    yield onnx("ScatterND", [f32(3, 2), np.zeros((0, 1), np.int64), f32(0, 2)], name="ScatterND of none", fixed=True)
    yield onnx("ScatterElements", [f32(3, 2), np.zeros((0, 2), np.int64), f32(0, 2)], name="ScatterElements of none")
    yield onnx("Reshape", [f32(0, 3), i64(3, 0)], {"allowzero": 1}, name="Reshape of none")
    yield onnx("Tile", [f32(2, 3), i64(0, 2)], name="Tile to none")
    yield onnx("Pad", [f32(0, 3), i64(1, 0, 1, 0)], name="Pad of none")
    yield onnx("MatMul", [f32(0, 3), f32(3, 2)], name="MatMul without rows")
    yield onnx("MatMul", [f32(2, 3), f32(3, 0)], name="MatMul without columns")
    yield onnx("MatMul", [f32(2, 0), f32(0, 4)], name="MatMul over none")
    yield onnx("MatMul", [f32(0, 2, 3), f32(0, 3, 4)], name="MatMul of no batch")
    yield onnx("Gemm", [f32(2, 0), f32(0, 4), f32(4)], name="Gemm over none")
    yield onnx("Gemm", [f32(0, 3), f32(3, 4), f32(4)], name="Gemm without rows")
    yield onnx("Conv", [f32(0, 2, 5, 5), Const(f32(3, 2, 3, 3)), Const(f32(3))], name="Conv of no batch")
    yield onnx("MaxPool", [f32(0, 2, 5, 5)], {"kernel_shape": [2, 2]}, name="MaxPool of no batch")
    yield onnx("GlobalAveragePool", [f32(0, 2, 5, 5)], name="GlobalAveragePool of no batch")
    yield onnx("BatchNormalization", [f32(0, 2, 3), f32(2), f32(2), f32(2), np.abs(f32(2))], name="BatchNormalization of none")
    yield onnx("Einsum", [f32(0, 3), f32(3, 2)], {"equation": "ij,jk->ik"}, name="Einsum of none")
    yield onnx("NonZero", [f32(0, 3)], name="NonZero of none", fixed=True)
    yield onnx("Compress", [f32(3, 2), np.zeros(3, bool)], {"axis": 0}, name="Compress to none", fixed=True)
    yield onnx("OneHot", [np.zeros((0,), np.int64), i64(3), f32(2)], name="OneHot of none")
    yield onnx("Range", [Const(np.int64(3)), Const(np.int64(3)), Const(np.int64(1))], name="Range of none")
    yield onnx("ConstantOfShape", [i64(2, 0)], name="ConstantOfShape of none")
    yield onnx("Resize", [f32(0, 1, 2, 2), None, None, i64(0, 1, 4, 4)], name="Resize of no batch", fixed=True,
               expected=[f32(0, 1, 4, 4)])


def limits():
    """Numbers at the ends of their ranges, where a run gives them and where they are constants."""
    least, most, x = -(2**63), 2**63 - 1, f32(3, 4, 5)
    for start, end, axis, step in ((-1, least, 1, -1), (most, least, 2, -2), (0, most, 1, most), (-1, least, 1, least)):
        given = [np.array([v], np.int64) for v in (start, end, axis, step)]
        title = f"Slice {start} {end} {step}"
        yield onnx("Slice", [x, *map(Const, given)], name=f"{title}, constant")
        if abs(step) < 3:
            yield onnx("Slice", [x, given[0], given[1], Const(given[2]), Const(given[3])], name=f"{title} of the run")
    yield onnx("DynamicQuantizeLinear", [np.zeros((2, 2), np.float32)], outputs=3, name="DynamicQuantizeLinear of zeros")


def windows():
    """Pools whose window is larger than the padded input: what sticks out does not count."""
    sizes = [((2,), (3,), {}), ((2,), (3,), {"strides": [2]}), ((2,), (3,), {"strides": [3]}),
             ((2,), (5,), {"strides": [2]}), ((2,), (4,), {"strides": [2], "pads": [1, 0]}),
             ((2, 2), (3, 3), {"strides": [2, 2]}), ((2, 7), (3, 3), {"strides": [2, 2]}),
             ((7, 2), (3, 3), {"strides": [2, 3], "pads": [1, 0, 1, 0]}), ((1, 1), (2, 3), {"strides": [2, 3]}),
             ((2,), (3,), {"strides": [2], "auto_pad": "VALID"}), ((2,), (3,), {"ceil_mode": 1}),
             ((2,), (5,), {"ceil_mode": 1, "strides": [2]}), ((2, 3, 2), (3, 4, 3), {"strides": [2, 2, 2]})]
    for op, (spatial, kernel, attrs) in itertools.product(("MaxPool", "AveragePool", "LpPool"), sizes):
        x = f32(2, 3, *spatial)
        yield onnx(op, [x], {"kernel_shape": kernel, **attrs}, opset=22, fixed=True,
                   name=f"{op} {kernel} on {spatial} {attrs}")
        if op == "AveragePool":
            yield onnx(op, [x], {"kernel_shape": kernel, "count_include_pad": 1, **attrs}, opset=22, fixed=True,
                       name=f"{op} {kernel} on {spatial} {attrs} with padding")
        if op == "MaxPool":
            yield onnx(op, [x], {"kernel_shape": kernel, **attrs}, opset=22, fixed=True, outputs=2,
                       name=f"{op} {kernel} on {spatial} {attrs} with places")


def cases():
    yield from limits()
    yield from elementwise()
    yield from reductions()
    yield from moves()
    yield from nothing()
    yield from windows()
