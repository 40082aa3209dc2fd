"""mutations.py: TFLite models with mistakes that a verifier of flatbuffers does not see.

A model is unpacked into the classes that flatc generates, one to three of its fields get values that are wrong or extreme
(dims, indices of tensors, buffers, subgraphs and operator codes, types, scales, zero points, the contents of constants,
fields of options), and it is packed again. So, unlike changed bytes, most of these models reach the importers of operators.
"""

import struct

import flatbuffers
import numpy as np
from model import schema

INTEGERS = (0, 1, -1, 2, 3, 7, 127, 128, -128, 65536, 2**31 - 1, -2**31, 2**31 - 2, 2**24)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3e38, 1e-45, 1e-38, float("inf"), float("-inf"), float("nan"), 2.0**31, -2.0**31, 1e10)
WORDS = (0, 1, -1, 2, 5, 2**31 - 1, -2**31, 2**63 - 1, -2**63, 65536, 2**40)
OPTIONS = [name for name in vars(schema.BuiltinOptions) if name[0] != "_" and name != "NONE"]
CODES = sorted(value for name, value in vars(schema.BuiltinOperator).items() if name[0] != "_" and isinstance(value, int))


def listed(values):
    """A vector of the generated classes (None, an array or a list) as a list of Python's numbers."""
    return [] if values is None else [value.item() if hasattr(value, "item") else value for value in values]


class Mutation:
    """Changes to one model, whose numbers come from `numbers`, a random.Random."""

    def __init__(self, content, numbers):
        self.root, self.numbers = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0)), numbers

    def pick(self, values):
        return self.numbers.choice(values)

    def vector(self, values, extremes):
        """A changed copy of a vector: a value replaced, doubled, moved, dropped or added."""
        values, how = listed(values), self.numbers.randrange(6)
        at = self.numbers.randrange(len(values)) if values else 0
        if how == 0 or not values:
            values.insert(at, self.pick(extremes))
        elif how == 1:
            del values[at]
        elif how == 2:
            values.insert(at, values[at])
        elif how == 3:
            other = self.numbers.randrange(len(values))
            values[at], values[other] = values[other], values[at]
        else:
            values[at] = self.pick(extremes)
        return values

    def graph(self):
        return self.pick(self.root.subgraphs)

    def tensor(self):
        return self.pick(self.graph().tensors)

    def change_shape(self):
        tensor = self.tensor()
        tensor.shape = self.vector(tensor.shape, INTEGERS + tuple(listed(tensor.shape)))

    def change_signature(self):
        tensor = self.tensor()
        tensor.shapeSignature = self.vector(tensor.shape if tensor.shapeSignature is None else tensor.shapeSignature, (-1, *INTEGERS))

    def change_type(self):
        self.tensor().type = self.numbers.randrange(20)

    def change_buffer(self):
        self.tensor().buffer = self.pick((0, 1, 2, self.numbers.randrange(len(self.root.buffers)), len(self.root.buffers), 2**32 - 1))

    def change_variable(self):
        self.tensor().isVariable = True

    def change_quantization(self):
        tensor, how = self.tensor(), self.numbers.randrange(5)
        if tensor.quantization is None or how == 0:
            tensor.quantization = schema.QuantizationParametersT() if how else None
        if tensor.quantization is None:
            return
        if how == 1:
            tensor.quantization.scale = self.vector(tensor.quantization.scale, FLOATS)
        elif how == 2:
            tensor.quantization.zeroPoint = self.vector(tensor.quantization.zeroPoint, WORDS + INTEGERS)
        elif how == 3:
            tensor.quantization.quantizedDimension = self.pick(INTEGERS)
        else:
            tensor.quantization.scale = [self.pick(FLOATS)] * self.pick((1, 2, 3, 4))
            tensor.quantization.zeroPoint = [self.pick(INTEGERS)] * self.pick((1, len(tensor.quantization.scale)))

    def change_contents(self):
        """Words of a constant, its beginning alone, or more than it."""
        full = [buffer for buffer in self.root.buffers if buffer.data is not None and len(buffer.data)]
        if not full:
            return
        buffer = self.pick(full)
        data, how = bytearray(bytes(np.asarray(buffer.data, np.uint8))), self.numbers.randrange(5)
        width = self.pick((4, 4, 8))
        at = self.numbers.randrange(max(1, len(data) // width)) * width
        word = (self.pick(WORDS) & 256**width - 1).to_bytes(width, "little")
        if how == 0:
            data = data[:self.numbers.randrange(len(data))]
        elif how == 1:
            data = data + data
        elif how == 2:
            data[at:at + 4] = np.float32(self.pick(FLOATS)).tobytes()
        else:
            data[at:at + width] = word
        buffer.data = np.frombuffer(bytes(data), np.uint8)

    def operator(self):
        operators = [operator for graph in self.root.subgraphs for operator in graph.operators or []]
        return self.pick(operators) if operators else None

    def change_operands(self):
        if operator := self.operator():
            name = self.pick(("inputs", "outputs"))
            setattr(operator, name, self.vector(getattr(operator, name), (-1, -1, 0, 1, 2, 3, 4, 99, -2, 2**31 - 1)))

    def change_code(self):
        code = self.pick(self.root.operatorCodes)
        code.builtinCode = self.pick(CODES)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)

    def change_version(self):
        self.pick(self.root.operatorCodes).version = self.pick(INTEGERS)

    def change_options(self):
        """A field, or all of them, or of another operator's options."""
        operator, how = self.operator(), self.numbers.randrange(10)
        if not operator:
            return
        if how == 0:
            operator.builtinOptionsType, operator.builtinOptions = 0, None
        elif how == 1:
            name = self.pick(OPTIONS)
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, name)
            operator.builtinOptions = getattr(schema, name + "T")()
        elif operator.builtinOptions is not None and vars(operator.builtinOptions):
            field = self.pick(list(vars(operator.builtinOptions)))
            self.change_field(operator.builtinOptions, field)

    def change_field(self, table, field):
        value = getattr(table, field)
        if isinstance(value, bool):
            setattr(table, field, not value)
        elif isinstance(value, float):
            setattr(table, field, self.pick(FLOATS))
        elif isinstance(value, int):
            limit = 256 if 0 <= value < 8 and self.numbers.randrange(2) else 2**31
            setattr(table, field, self.pick([i for i in (*INTEGERS, 4, 5, 6) if -limit <= i < limit]))
        elif value is not None and not isinstance(value, (bytes, str)):
            setattr(table, field, self.vector(value, INTEGERS))

    def change_ends(self):
        graph = self.graph()
        name = self.pick(("inputs", "outputs"))
        setattr(graph, name, self.vector(getattr(graph, name), (-1, 0, 1, 2, 3, 99)))

    def change_order(self):
        graph, how = self.graph(), self.numbers.randrange(3)
        if graph.operators and how == 0:
            graph.operators = graph.operators + [self.pick(graph.operators)]
        elif graph.operators and how == 1:
            graph.operators = graph.operators[::-1]
        else:
            self.root.subgraphs = self.root.subgraphs[::-1]

    def change(self):
        self.pick((self.change_shape, self.change_shape, self.change_signature, self.change_type, self.change_buffer,
                   self.change_variable, self.change_quantization, self.change_quantization, self.change_contents,
                   self.change_contents, self.change_operands, self.change_code, self.change_version, self.change_options,
                   self.change_options, self.change_options, self.change_ends, self.change_order))()


def mutated(content, numbers):
    """The bytes of the model with one to three changes that the classes can hold, or None."""
    mutation = Mutation(content, numbers)
    try:
        for _ in range(numbers.choice((1, 1, 1, 2, 3))):
            mutation.change()
        builder = flatbuffers.Builder(1024)
        builder.Finish(mutation.root.Pack(builder), b"TFL3")
    except (TypeError, OverflowError, AttributeError, struct.error, ValueError):  # a value that a field cannot hold
        return None
    return bytes(builder.Output())
