"""builder.py: models written as nested calls.

A Model is called with an operator and operands (names, arrays, numbers, lists or None for an absent one) and gives the
name of the result, or a list of names. Numbers without a type are float32 if they have a point and int64 if not.
"""

import numpy as np
from onnx import helper, numpy_helper

F, I, B = np.float32, np.int64, np.bool_


class Graph:
    def __init__(self, counter, prefix=""):
        self.counter, self.prefix = counter, prefix
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], []

    def fresh(self, stem="v"):
        self.counter[0] += 1
        return f"{self.prefix}{stem}{self.counter[0]}"

    def x(self, name, dims, dtype=F):
        """An input; `dims` of numbers and names, or None for an unknown rank."""
        code = dtype if isinstance(dtype, int) else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.inputs.append(helper.make_tensor_value_info(name, code, dims))
        return name

    def c(self, value, dtype=None):
        """An initializer."""
        array = np.asarray(value)
        if dtype is not None:
            array = array.astype(dtype)
        elif array.dtype == np.float64:
            array = array.astype(F)
        name = self.fresh("c")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def __call__(self, op, *operands, outs=1, domain="", overload="", **attrs):
        names = ["" if o is None else o if isinstance(o, str) else self.c(o) for o in operands]
        results = [self.fresh() for _ in range(outs)] if isinstance(outs, int) else list(outs)
        node = helper.make_node(op, names, results, domain=domain, **attrs)
        if overload:
            node.overload = overload
        self.nodes.append(node)
        return results if len(results) != 1 else results[0]

    def out(self, *names):
        self.outputs.extend(names)

    def sub(self):
        return Graph(self.counter, "s" + self.prefix)

    def body(self, *outputs):
        """A subgraph that gives these values."""
        infos = [o if not isinstance(o, str) else helper.make_empty_tensor_value_info(o) for o in outputs]
        return helper.make_graph(self.nodes, self.fresh("g"), self.inputs, infos, self.constants)


class Model(Graph):
    def __init__(self, opset=17, ir=8, **domains):
        super().__init__([0])
        self.opsets, self.ir, self.functions = {"": opset, **domains}, ir, []

    def model(self):
        infos = [helper.make_empty_tensor_value_info(o) for o in self.outputs]
        defaults = [helper.make_tensor_value_info(c.name, c.data_type, c.dims) for c in self.constants if self.ir < 4]
        graph = helper.make_graph(self.nodes, "wild", self.inputs + defaults, infos, self.constants)
        return helper.make_model(graph, ir_version=self.ir, functions=self.functions,
                                 opset_imports=[helper.make_opsetid(d.replace("_", "."), v) for d, v in self.opsets.items()])


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(F)


def positive(seed, *shape):
    return np.abs(floats(seed, *shape)) + F(0.5)
