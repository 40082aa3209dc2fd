"""A small network of int8 with integer inputs and outputs, as exporters write it: every operator between dequantizations
of its operands and a quantization of its result. It has what fixed-point forms are for: convolutions with scales by
channel, one of them depthwise and one of long sums, a sum of two tensors, a mean, two products, and a softmax."""

from programs import numbers

SHAPE = (1, 3, 8, 8)


def nested(values, dims):
    if len(dims) == 1:
        return values[:dims[0]]
    step = len(values) // dims[0]
    return [nested(values[i * step:(i + 1) * step], dims[1:]) for i in range(dims[0])]


def count(dims):
    return dims[0] if len(dims) == 1 else dims[0] * count(dims[1:])


def bytes_of(dims, seed):
    return nested([max(-127, min(127, int(value * 64))) for value in numbers(count(dims), seed)], dims)


def scales(channels, seed, size):
    return [round(size * (1.5 + value / 4), 7) for value in numbers(channels, seed)]


def program():
    lines = ["@R.function", f'def main(q: R.Tensor({SHAPE}, "int8")) -> R.Tensor((1, 5), "int8"):', "    with R.dataflow():"]

    def line(name, text):
        lines.append(f"        {name} = {text}")

    def stored(name, value, scale, zero):
        parameters = f'R.const({scale}, "float32"), R.const({zero}, "int8")'
        line(f"{name}_q", f'R.quantize({value}, {parameters}, out_dtype="int8")')
        line(name, f"R.dequantize({name}_q, {parameters})")

    def conv(name, x, dims, scale, result, attrs="", relu=True):
        by_channel = scales(dims[0], len(name) + dims[0], scale)
        line(f"{name}_w", f'R.dequantize(R.const({bytes_of(dims, dims[0])}, "int8"), R.const({by_channel}, "float32"), '
             "axis=0)")
        bias = [[[round(value / 4, 4)]] for value in numbers(dims[0], 5)]
        line(f"{name}_y", f'R.nn.conv({x}, {name}_w{attrs}) + R.const({bias}, "float32")')
        if relu:
            line(f"{name}_r", f"R.nn.relu({name}_y)")
        stored(name, f"{name}_{'r' if relu else 'y'}", *result)

    line("x", 'R.dequantize(q, R.const(0.031, "float32"), R.const(-5, "int8"))')
    conv("a", "x", (8, 3, 3, 3), 0.003, (0.02, -128), ", padding=[1, 1, 1, 1]")
    conv("b", "a", (8, 1, 3, 3), 0.004, (0.017, -128), ", padding=[1, 1, 1, 1], groups=8")
    conv("g", "b", (8, 8, 3, 3), 0.002, (0.019, -128), ", padding=[1, 1, 1, 1]")
    conv("c", "g", (8, 8, 1, 1), 0.004, (0.03, 4), relu=False)
    line("sum", "R.add(a, c)")
    stored("d", "sum", 0.033, -11)
    line("mean", "R.mean(d, axis=[2, 3])")
    stored("e", "mean", 0.021, -60)
    line("v", f'R.dequantize(R.const({bytes_of((8, 20), 4)}, "int8"), R.const(0.006, "float32"))')
    line("h_y", "R.nn.relu(R.matmul(e, v))")
    stored("h", "h_y", 0.03, -128)
    line("w", f'R.dequantize(R.const({bytes_of((20, 5), 3)}, "int8"), R.const(0.007, "float32"))')
    line("f_y", "R.matmul(h, w)")
    stored("f", "f_y", 0.04, 3)
    line("p", "R.nn.softmax(f, axis=1)")
    line("y", 'R.quantize(p, R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="int8")')
    return "\n".join([*lines, "        R.output(y)", "    return y", ""])
