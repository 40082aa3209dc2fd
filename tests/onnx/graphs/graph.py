"""graph.py: an ONNX graph that grows node by node, with the arrays that belong to its values.

Each node is run through ONNX Runtime as soon as it is drawn, so that what is drawn next knows real shapes and values; a
node that ONNX Runtime refuses, or whose results leave the range in which float32 can be compared, is not taken.

Values are `exact` while they are small dyadic fractions that every correct implementation computes to the bit. Only
these go into what jumps (comparisons, rounding, arg-reductions), where a last bit would decide a result.
"""

import random
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

F = np.float32
ONNX_OF = helper.np_dtype_to_tensor_dtype
# Two sizes of each symbol: below and beyond a vector's lanes.
SMALL = {"n": (3, 5), "m": (4, 2), "k": (6, 1)}
LARGE = {"n": (17, 5), "m": (33, 16), "k": (40, 1)}


@dataclass
class Value:
    name: str
    array: np.ndarray
    exact: bool

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim


class Graph:
    def __init__(self, seed, sizes, most):
        self.sizes, self.most = sizes, most  # of symbols; elements of a value
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.nodes, self.constants, self.values, self.inputs = [], [], [], []
        self.count = 0

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def const(self, array):
        name = self.fresh("c")
        array = np.asarray(array)
        self.constants.append(numpy_helper.from_array(array, name))
        return Value(name, array, True)

    def draw(self, shape, dtype=F):
        if dtype == bool:
            return self.numpy.integers(0, 2, shape).astype(bool)
        if np.issubdtype(dtype, np.floating):
            return (self.numpy.integers(-16, 17, shape) / 8).astype(dtype)
        low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -4
        return self.numpy.integers(low, 5, shape).astype(dtype)

    def arrays(self, binding):
        """Arrays for the inputs at the first or second size of each symbol."""
        if binding == 0:
            return {v.name: v.array for v, _ in self.inputs}
        shapes = [tuple(self.sizes[d][1] if isinstance(d, str) else d for d in dims) for _, dims in self.inputs]
        return {v.name: np.asarray(self.draw(shape, v.array.dtype.type))
                for (v, _), shape in zip(self.inputs, shapes)}

    def input(self, dims, dtype=F):
        shape = tuple(self.sizes[d][0] if isinstance(d, str) else d for d in dims)
        value = Value(f"x{len(self.inputs)}", np.asarray(self.draw(shape, dtype)), True)
        self.inputs.append((value, dims))
        self.values.append(value)
        return value

    def pick(self, dtypes=None, rank=None, exact=None, most=1 << 30):
        """A value of these properties, younger ones more often, or None."""
        found = [v for v in self.values
                 if (dtypes is None or v.array.dtype in [np.dtype(d) for d in dtypes])
                 and (rank is None or v.rank in (rank if isinstance(rank, (tuple, range)) else (rank,)))
                 and (exact is None or v.exact == exact) and v.array.size <= most]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def add(self, op, operands, outputs=1, exact=False, **attrs):
        """Appends a node if ONNX Runtime takes it; its results, or an empty list."""
        names = [self.fresh() for _ in range(outputs)]
        return self.append(helper.make_node(op, [o.name if o else "" for o in operands], names, **attrs), operands, exact)

    def append(self, made, operands, exact):
        arrays = run_node(made, [o for o in operands if o])
        if arrays is None or not all(self.comparable(a) for a in arrays):
            return []
        results = [Value(name, array, exact and is_exact(array)) for name, array in zip(made.output, arrays)]
        self.nodes.append(made)
        self.values.extend(results)
        return results

    def append_all(self, made, operands, exact):
        """The same of several nodes that belong together; what is between them is seen by no other."""
        arrays = run_nodes(made, operands)
        if arrays is None or not all(self.comparable(a) for a in arrays):
            return []
        results = [Value(name, array, exact and is_exact(array)) for name, array in zip(made[-1].output, arrays)]
        self.nodes.extend(made)
        self.values.extend(results)
        return results

    def comparable(self, array):
        largest = 100 if array.dtype.kind == "f" else 1e6
        magnitudes = np.abs(array.astype(np.float64))
        return array.size <= self.most and bool((magnitudes <= largest).all())

    def model(self, symbolic):
        """The model, whose outputs are the values that no node reads, and these values."""
        read = {name for node in self.nodes for name in node.input}
        outputs = [v for v in self.values if v.name not in read and not v.name.startswith("x")]
        infos = [helper.make_tensor_value_info(v.name, ONNX_OF(v.array.dtype), dims if symbolic else v.shape)
                 for v, dims in self.inputs]
        outs = [helper.make_tensor_value_info(v.name, ONNX_OF(v.array.dtype), [None] * v.rank) for v in outputs]
        graph = helper.make_graph(self.nodes, "drawn", infos, outs, self.constants)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), outputs


def is_exact(array):
    """Whether sums and products of a few such elements are exact in float32."""
    return array.dtype.kind != "f" or bool((np.round(array * 1024) == array * 1024).all())


def session(model):
    """ONNX Runtime as it is without optimizations, which change last bits."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run_node(made, operands):
    """The outputs of a node on these values, or None if ONNX Runtime refuses it."""
    return run_nodes([made], operands)


def run_nodes(made, operands):
    """The same of several nodes: the outputs of the last."""
    unique = {o.name: o for o in operands}
    infos = [helper.make_tensor_value_info(o.name, ONNX_OF(o.array.dtype), o.shape) for o in unique.values()]
    outs = [onnx.ValueInfoProto(name=n) for n in made[-1].output]
    model = helper.make_model(helper.make_graph(made, "one", infos, outs), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 21)])
    try:
        return [np.asarray(a) for a in session(model).run(None, {o.name: o.array for o in unique.values()})]
    except Exception:  # its class says no more
        return None


