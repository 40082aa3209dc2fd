"""Programs, data and .npy files that the tests of other machines share."""

import ast
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "driver"))
import wire  # noqa: E402

SUFFIX = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B"}

DYNAMIC = """@R.function
def main(x: R.Tensor(("n", 8), "float32"), table: R.Tensor(("m", 8), "float32")) -> R.Tensor(("n", "m"), "float32"):
    with R.dataflow():
        a = R.matmul(x, R.permute_dims(table, axes=[1, 0]))
        b = R.nn.softmax(R.tanh(a) * R.const(3.0, "float32"), axis=-1)
        c = R.exp(R.negative(b)) + R.sigmoid(a) - R.sqrt(R.abs(a))
        R.output(c)
    return c
"""


def lstm():
    """Seven steps of four numbers through an LSTM of six cells."""
    def constant(name, *dims):
        count = 1
        for dim in dims:
            count *= dim
        return wire.tensor(name, dims, struct.pack(f"<{count}f", *numbers(count, len(name) + count)))

    return wire.model(
        [wire.node("LSTM", ["x", "w", "r", "bias"], ["y", "h", "c"], attributes=[wire.int_attribute("hidden_size", 6)])],
        [wire.value_info("x", ("t", 1, 4))],
        [wire.value_info("y", ("t", 1, 1, 6)), wire.value_info("h", (1, 1, 6)), wire.value_info("c", (1, 1, 6))],
        [constant("w", 1, 24, 4), constant("r", 1, 24, 6), constant("bias", 1, 48)])


def bytes_program():
    """Products of bytes with all extremes, by constants whose rows fill vectors and leave some over."""
    extremes = [-128, 127, -1, 0, 1, -128, -128, 127, 55]
    weights = [[extremes[(7 * k + 5 * n + k * n) % 9] for n in range(22)] for k in range(12)]
    return f"""@R.function
def main(x: R.Tensor(("n", 12), "uint8"), y: R.Tensor((12, 9), "uint8")) -> R.Tuple(R.Tensor(("n", 22), "int32"), R.Tensor(("n", 9), "int32")):
    with R.dataflow():
        wide = R.subtract(R.astype(x, dtype="int32"), R.const(200, "int32"))
        w = R.const({weights}, "int8")
        a = R.matmul(wide, R.astype(w, dtype="int32"))
        b = R.matmul(wide, R.subtract(R.astype(y, dtype="int32"), R.const(9, "int32")))
        R.output(a, b)
    return (a, b)
"""


def matrices_program():
    """Products of bytes of all signs, by constants of whole words of eight; rows and columns are left over."""
    extremes = [-128, 127, -1, 0, 1, -128, -128, 127, 55]
    weights = [[extremes[(7 * k + 5 * n + k * n) % 9] for n in range(21)] for k in range(24)]
    unsigned = [[value + 128 for value in row] for row in weights]
    sums = 'R.Tensor(("n", 21), "int32")'
    return f"""@R.function
def main(x: R.Tensor(("n", 24), "uint8"), y: R.Tensor(("n", 24), "int8")) -> R.Tuple({sums}, {sums}, {sums}, {sums}):
    with R.dataflow():
        w = R.const({weights}, "int8")
        u = R.const({unsigned}, "uint8")
        a = R.matmul(x, w, out_dtype="int32")
        b = R.matmul(y, w, out_dtype="int32")
        c = R.matmul(x, u, out_dtype="int32")
        d = R.matmul(y, u, out_dtype="int32")
        R.output(a, b, c, d)
    return (a, b, c, d)
"""


def bfloats_program():
    """A product of bfloat16, summed in float32, and one that is rounded to bfloat16."""
    weights = [[round(value, 3) for value in numbers(21, row + 1)] for row in range(24)]
    return f"""@R.function
def main(x: R.Tensor(("n", 24), "float32")) -> R.Tuple(R.Tensor(("n", 21), "float32"), R.Tensor(("n", 21), "float32")):
    with R.dataflow():
        a = R.astype(x, dtype="bfloat16")
        w = R.astype(R.const({weights}, "float32"), dtype="bfloat16")
        y = R.matmul(a, w, out_dtype="float32")
        z = R.nn.relu(y) + R.const(1.0, "float32")
        R.output(y, z)
    return (y, z)
"""


def whole(count, seed):
    """Bytes, the largest and the smallest most often."""
    return [max(0, min(255, int(value * 200) + 128)) for value in numbers(count, seed)]


def numbers(count, seed):
    """Floats from -2 to 2, the same everywhere."""
    out = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        out.append(seed / (1 << 29) - 2)
    return out


def npy(dims, values, kind="f4"):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(dims)!r}, }}".encode()
    head += b" " * (-(11 + len(head)) % 64) + b"\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head +
            struct.pack(f"<{len(values)}{SUFFIX[kind]}", *values))


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    body = data[10 + length:]
    suffix = SUFFIX[head["descr"][1:]]
    return head, struct.unpack(f"<{len(body) // struct.calcsize(suffix)}{suffix}", body)


def digits():
    """The pictures of the example, a batch of five."""
    text = (REPOSITORY / "examples/digits/samples.h").read_text()
    rows = text[text.index("sample_pixels"):].split("{")[2:7]
    pixels = [float(value) for row in rows for value in row.split("}")[0].replace("f", "").split(",") if value.strip()]
    assert len(pixels) == 5 * 64, len(pixels)
    return [((5, 1, 8, 8), pixels, "f4")]


def nonzero():
    """Positions of values that are not zero, their number, and integer arithmetic at the edges."""
    return wire.model(
        [wire.node("NonZero", ["x"], ["where"]), wire.node("Mul", ["k", "k"], ["square"]),
         wire.node("Div", ["k", "three"], ["third"])],
        [wire.value_info("x", ("n",)), wire.value_info("k", ("m",), wire.INT64)],
        [wire.value_info("where", (1, "found"), wire.INT64), wire.value_info("square", ("m",), wire.INT64),
         wire.value_info("third", ("m",), wire.INT64)],
        [wire.tensor("three", (), struct.pack("<q", 3), wire.INT64)])


def layers():
    """Twelve products of different sizes: more code than goes into one module."""
    sizes = [5 + 7 * i % 31 for i in range(13)]
    lines = ["@R.function",
             f'def main(x: R.Tensor((6, {sizes[0]}), "float32"), w: R.Tensor((36, 36), "float32")) '
             f'-> R.Tensor((6, {sizes[-1]}), "float32"):', "    with R.dataflow():", "        y0 = x"]
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        lines += [f"        w{i} = R.strided_slice(w, axes=[0, 1], begin=[0, 0], end=[{rows}, {columns}])",
                  f"        y{i + 1} = R.tanh(R.matmul(y{i}, w{i}) * R.const(0.1, \"float32\"))"]
    last = len(sizes) - 1
    return "\n".join(lines + [f"        R.output(y{last})", f"    return y{last}", ""])


PROGRAMS = {  # name: (source file, its content, inputs, flags)
    "bytes": ("bytes.relax", bytes_program(), [((9, 12), whole(108, 9), "u1"), ((12, 9), whole(108, 10), "u1")], []),
    "matrices": ("matrices.relax", matrices_program(), [((9, 24), whole(216, 9), "u1"),
                                                        ((9, 24), [v - 128 for v in whole(216, 11)], "i1")], []),
    "bfloats": ("bfloats.relax", bfloats_program(), [((9, 24), numbers(216, 12), "f4")], []),
    "digits": (REPOSITORY / "examples/digits/digits.onnx", None, digits(), []),
    "dynamic": ("dynamic.relax", DYNAMIC, [((3, 8), numbers(24, 1), "f4"), ((5, 8), numbers(40, 2), "f4")], []),
    "layers": ("layers.relax", layers(), [((6, 5), numbers(30, 4), "f4"), ((36, 36), numbers(1296, 5), "f4")], []),
    "lstm": ("lstm.onnx", lstm(), [((7, 1, 4), numbers(28, 3), "f4")], []),
    "nonzero": ("nonzero.onnx", nonzero(), [((6,), [0, 1, 0, -2, 3, 0], "f4"),
                                            ((5,), [-7, 7, -(1 << 62), (1 << 63) - 1, 0], "i8")], []),
    "small": (REPOSITORY / "examples/digits/digits.onnx", None, digits(), ["-Os", "--weights", "small.weights"]),
    "plain": ("plain.relax", DYNAMIC, [((2, 8), numbers(16, 7), "f4"), ((1, 8), numbers(8, 8), "f4")], ["-O0"]),
}


def close(a, b):
    return a == b or abs(a - b) <= 2e-5 * max(1.0, abs(a), abs(b))
