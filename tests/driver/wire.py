"""ONNX models as bytes, by a few lines of protobuf's wire format: no package is needed, and what no package would write
(a cycle, a negative dim) can be written too. Field numbers are those of onnx.proto."""


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """An int as a varint; str and bytes with their length before them."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b"".join(field(number, value) for value in values)


FLOAT, INT8, INT64 = 1, 3, 7


def dim(value):
    """A number, or a name for a dim that stays open."""
    return field(1, field(1 if isinstance(value, int) else 2, value))


def value_info(name, dims, dtype=FLOAT):
    shape = b"".join(dim(value) for value in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def node(op, inputs, outputs, name="", domain="", attributes=()):
    return (fields(1, inputs) + fields(2, outputs) + field(3, name or op.lower()) + field(4, op) +
            fields(5, attributes) + field(7, domain))


def int_attribute(name, value):
    return field(1, name) + field(3, value) + field(20, 2)


def tensor(name, dims, data, dtype=FLOAT):
    return fields(1, dims) + field(2, dtype) + field(8, name) + field(9, data)


def external_tensor(name, dims, location, dtype=FLOAT, **more):
    """`more`: offset, length."""
    entries = {"location": location, **{key: str(value) for key, value in more.items()}}
    return (fields(1, dims) + field(2, dtype) + field(8, name) +
            fields(13, [field(1, key) + field(2, value) for key, value in entries.items()]) + field(14, 1))


def model(nodes, inputs, outputs, initializers=(), opset=13):
    graph = fields(1, nodes) + field(2, "graph") + fields(5, initializers) + fields(11, inputs) + fields(12, outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def relu(dims=(2, 3), opset=13):
    """y = Relu(x)."""
    return model([node("Relu", ["x"], ["y"])], [value_info("x", dims)], [value_info("y", dims)], opset=opset)


def streaming():
    """y and the next state hn = h0 + x."""
    return model([node("Add", ["h0", "x"], ["hn"]), node("Relu", ["hn"], ["y"])],
                 [value_info("x", (4,)), value_info("h0", (4,))],
                 [value_info("y", (4,)), value_info("hn", (4,))])


def with_external_data(location):
    """y = x + w, where w is in the file `location`."""
    return model([node("Add", ["x", "w"], ["y"])], [value_info("x", (2,))], [value_info("y", (2,))],
                 [external_tensor("w", (2,), location)])
