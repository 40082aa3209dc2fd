"""rewritten_graphs.py: pairs of graphs that compute the same of the same inputs.

The first is a graph of own_graphs.py. For the second a few rules are applied to it, each at a value or a node that is
drawn. A rule does not change what is computed, but for the order of sums; it changes what the passes of relaxc see:
moves that cancel each other, parts that are put together again, operators as ONNX's own functions define them.
"""

import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

import own_graphs
from case import Case
from shrink import values_of

MOST_RULES = 5
OPSET = 21


class Rewriting:
    """A graph to which rules are applied. Shapes and dtypes are those of `values`, by name."""

    def __init__(self, case, seed):
        self.model = onnx.ModelProto.FromString(case.model.SerializeToString())
        self.graph, self.values, self.random = self.model.graph, values_of(case), random.Random(seed)
        self.constants = {tensor.name: tensor for tensor in self.graph.initializer}
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"r{self.count}"

    def constant(self, array):
        tensor = numpy_helper.from_array(np.asarray(array), self.fresh())
        self.graph.initializer.append(tensor)
        return tensor.name

    def node(self, op, inputs, outputs=1, **attributes):
        return helper.make_node(op, inputs, [self.fresh() for _ in range(outputs)], **attributes)

    def route(self, name, nodes):
        """Has all readers of a value in the graph itself read what the last of the nodes makes of it."""
        result = nodes[-1].output[0]
        at = next((i + 1 for i, node in enumerate(self.graph.node) if name in node.output), 0)
        for node in self.graph.node[at:]:
            for i, operand in enumerate(node.input):
                if operand == name:
                    node.input[i] = result
        self.insert(at, nodes)

    def insert(self, at, nodes):
        rest = list(self.graph.node)
        del self.graph.node[:]
        self.graph.node.extend([*rest[:at], *nodes, *rest[at:]])

    def replace(self, index, nodes):
        """Puts nodes in the place of one; the last of them has its results."""
        nodes[-1].output[:] = self.graph.node[index].output
        del self.graph.node[index]
        self.insert(index, nodes)

    def value(self, least_rank=0, kinds="fiub"):
        """A tensor that a node computes or the caller gives, or None."""
        found = sorted(name for name, array in self.values.items() if array.ndim >= least_rank and array.dtype.kind in kinds)
        return self.random.choice(found) if found else None


# ---- rules at a value: what is done and undone


def transpose_twice(r):
    if (name := r.value(least_rank=2)) is None:
        return False
    order = list(range(r.values[name].ndim))
    r.random.shuffle(order)
    there = r.node("Transpose", [name], perm=order)
    r.route(name, [there, r.node("Transpose", [there.output[0]], perm=list(map(int, np.argsort(order))))])
    return True


def reshape_through(r):
    if (name := r.value(least_rank=1)) is None:
        return False
    shape = r.node("Shape", [name])
    flat = r.node("Reshape", [name, r.constant(np.array([-1], np.int64))])
    r.route(name, [shape, flat, r.node("Reshape", [flat.output[0], shape.output[0]], allowzero=1)])
    return True


def split_and_concatenate(r):
    name = r.value(least_rank=1)
    axes = [axis for axis, size in enumerate(r.values[name].shape) if size > 1] if name else []
    if not axes:
        return False
    axis = r.random.choice(axes)
    at = r.constant(np.array([r.random.randrange(1, r.values[name].shape[axis])], np.int64))
    along, zero, end = (r.constant(np.array([n], np.int64)) for n in (axis, 0, 2**63 - 1))
    parts = [r.node("Slice", [name, zero, at, along]), r.node("Slice", [name, at, end, along])]
    r.route(name, [*parts, r.node("Concat", [part.output[0] for part in parts], axis=axis)])
    return True


def pad_and_crop(r):
    if (name := r.value(least_rank=1, kinds="fi")) is None:
        return False
    rank = r.values[name].ndim
    low, high = ([r.random.randint(0, 2) for _ in range(rank)] for _ in range(2))
    padded = r.node("Pad", [name, r.constant(np.array(low + high, np.int64))])
    shape = r.node("Shape", [name])
    end = r.node("Add", [shape.output[0], r.constant(np.array(low, np.int64))])
    crop = r.node("Slice", [padded.output[0], r.constant(np.array(low, np.int64)), end.output[0]])
    r.route(name, [padded, shape, end, crop])
    return True


def double_negation(r):
    if (name := r.value(kinds="fib")) is None:
        return False
    op = "Not" if r.values[name].dtype.kind == "b" else "Neg"
    once = r.node(op, [name])
    r.route(name, [once, r.node(op, [once.output[0]])])
    return True


def gather_all(r):
    if (name := r.value(least_rank=1)) is None:
        return False
    axis = r.random.randrange(r.values[name].ndim)
    size = r.values[name].shape[axis]
    back = r.constant(np.arange(size - 1, -1, -1))
    once = r.node("Gather", [name, back], axis=axis)
    r.route(name, [once, r.node("Gather", [once.output[0], back], axis=axis)])
    return True


def widen_and_narrow(r):
    if (name := r.value(kinds="f")) is None or r.values[name].dtype != np.float32:
        return False
    wide = r.node("Cast", [name], to=onnx.TensorProto.DOUBLE)
    r.route(name, [wide, r.node("Cast", [wide.output[0]], to=onnx.TensorProto.FLOAT)])
    return True


def choose_itself(r):
    if (name := r.value(kinds="fi")) is None:
        return False
    true = r.constant(np.ones([1] * r.values[name].ndim, bool))
    r.route(name, [r.node("Where", [true, name, name])])
    return True


# ---- rules at a node: another form of it


def places(r, ops):
    return [i for i, node in enumerate(r.graph.node) if node.op_type in ops and not node.domain]


def commute(r):
    if not (found := places(r, ("Add", "Mul", "Max", "Min", "And", "Or", "Xor"))):
        return False
    node = r.graph.node[r.random.choice(found)]
    node.input[:] = reversed(node.input)
    return True


def split_product(r):
    """Columns of a constant right operand, apart."""
    found = [i for i in places(r, ("MatMul",)) if r.graph.node[i].input[1] in r.constants]
    found = [i for i in found if len(dims := r.constants[r.graph.node[i].input[1]].dims) == 2 and dims[1] > 1]
    if not found:
        return False
    index = r.random.choice(found)
    node = r.graph.node[index]
    weight = numpy_helper.to_array(r.constants[node.input[1]])
    at = r.random.randrange(1, weight.shape[1])
    parts = [r.node("MatMul", [node.input[0], r.constant(part)]) for part in (weight[:, :at], weight[:, at:])]
    r.replace(index, [*parts, r.node("Concat", [part.output[0] for part in parts], axis=-1)])
    return True


def distribute(r):
    """x * (y + z) as x * y + x * z, where numbers are small fractions, so that nothing is rounded."""
    made = {name: node for node in r.graph.node for name in node.output}
    exact = {name for name, array in r.values.items() if array.dtype.kind == "i" or (np.round(array * 64) == array * 64).all()}
    found = [i for i in places(r, ("Mul",)) if (n := r.graph.node[i]).input[1] in made and made[n.input[1]].op_type == "Add"
             and set(n.input) | set(made[n.input[1]].input) <= exact | set(r.constants)]
    if not found:
        return False
    index = r.random.choice(found)
    node = r.graph.node[index]
    parts = [r.node("Mul", [node.input[0], term]) for term in made[node.input[1]].input]
    r.replace(index, [*parts, r.node("Add", [part.output[0] for part in parts])])
    return True


def as_function(r):
    """An operator as the function that ONNX's own definition of it is."""
    found = [i for i, node in enumerate(r.graph.node) if not node.domain and body_of(node) is not None]
    if not found:
        return False
    node = r.graph.node[r.random.choice(found)]
    body = onnx.FunctionProto.FromString(body_of(node))
    body.name = f"{node.op_type}_{r.fresh()}"
    body.domain = node.domain = "sweep"
    given = {attribute.name for attribute in node.attribute}
    node.attribute.extend(attribute.default_value for name, attribute in schema_of(node).attributes.items()
                          if name not in given and attribute.default_value.name)
    node.op_type = body.name
    r.model.functions.append(body)
    if all(known.domain != "sweep" for known in r.model.opset_import):
        r.model.opset_import.append(helper.make_opsetid("sweep", 1))
    return True


def schema_of(node):
    return onnx.defs.get_schema(node.op_type, OPSET, "")


def body_of(node):
    """The serialized body of a node's operator, if that does not depend on the types of its operands."""
    schema = schema_of(node)
    if not schema.has_function or len(node.output) != len(schema.function_body.output):
        return None
    body = onnx.FunctionProto.FromString(schema.get_function_with_opset_version(OPSET) or b"") if OPSET in \
        schema.function_opset_versions else schema.function_body
    return body.SerializeToString()


RULES = (transpose_twice, reshape_through, split_and_concatenate, pad_and_crop, double_negation, gather_all,
         widen_and_narrow, choose_itself, commute, split_product, distribute, as_function)


def make(seed):
    """The pair of this seed; None where no rule fits."""
    case = own_graphs.make(seed)
    rewriting = Rewriting(case, seed)
    drawn = [rewriting.random.choice(RULES) for _ in range(rewriting.random.randint(1, MOST_RULES))]
    steps = [rule.__name__ for rule in drawn if rule(rewriting)]
    return Case(f"rewritten-{seed}", case.model, case.inputs, rewriting.model, steps) if steps else None
