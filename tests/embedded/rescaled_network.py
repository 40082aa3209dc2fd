"""A small network whose sums are scaled by integers, as the importer of TFLite writes it: times a mantissa of 31 bits,
rounded, shifted and rounded again. The first convolution's results are cut at their zero point, those of the others have
both signs; one has a shift for each channel, the other a common one. Results of two layers are added, in units of twice
the larger scale; a last layer is wide enough for tiles whose rows are widened first."""

from programs import numbers
from quantized_network import bytes_of

SHAPE = (1, 6, 6, 8)


def program():
    lines = ["@R.function", f'def main(x: R.Tensor({SHAPE}, "int8")) -> R.Tensor((1, 4, 4, 24), "int8"):', "    with R.dataflow():"]

    def line(name, text):
        lines.append(f"        {name} = {text}")

    def scaled(name, value, shifts, zero, cut, mantissas=None):
        mantissas = mantissas or [int((6 + number) * (1 << 28)) for number in numbers(8, len(name) + zero + 128)]
        line(f"{name}_wide", f'R.astype({value}, "int64") * R.const({mantissas}, "int64") + R.const({1 << 30}, "int64")')
        line(f"{name}_high", f'R.astype(R.right_shift({name}_wide, R.const(31, "int64")), "int32")')
        if not cut:
            line(f"{name}_high", f'{name}_high + R.right_shift({name}_high, R.const(31, "int32"))')
        line(f"{name}_low", f'R.right_shift({name}_high, R.const({shifts}, "int32"))')
        line(f"{name}_sum", f'R.right_shift({name}_low + R.const(1, "int32"), R.const(1, "int32")) + R.const({zero}, "int32")')
        least = zero if cut else -128
        line(f"{name}_cut", f'R.minimum(R.maximum({name}_sum, R.const({least}, "int32")), R.const(127, "int32"))')
        line(name, f'R.astype({name}_cut, "int8")')

    bias = [int(number * 900) for number in numbers(8, 9)]
    line("a_y", f'R.nn.conv_integer(x, R.const({bytes_of((3, 3, 8, 8), 4)}, "int8")) + R.const({bias}, "int32")')
    scaled("a", "a_y", [6, 7, 8, 6, 7, 8, 7, 7], -128, cut=True)
    line("b_y", f'R.matmul(a, R.const({bytes_of((8, 8), 5)}, "int8"), out_dtype="int32") + R.const({bias}, "int32")')
    scaled("b", "b_y", [5, 6, 7, 5, 6, 6, 7, 6], 3, cut=False)
    line("c_y", f'R.matmul(b, R.const({bytes_of((8, 8), 6)}, "int8"), out_dtype="int32") + R.const({bias}, "int32")')
    scaled("c", "c_y", 6, -7, cut=False)
    for name, zero, mantissa in (("b", 3, 1623821475), ("c", -7, 1 << 30)):
        line(f"{name}_term", f'(R.astype({name}, "int32") - R.const({zero}, "int32")) * R.const({1 << 20}, "int32")')
        line(f"{name}_term64", f'R.astype({name}_term, "int64") * R.const({mantissa}, "int64") + R.const({1 << 30}, "int64")')
        line(f"{name}_term32", f'R.astype(R.right_shift({name}_term64, R.const(31, "int64")), "int32")')
    line("d_y", "b_term32 + c_term32")
    scaled("d", "d_y", [17], -20, cut=False, mantissas=[1298017566])
    line("e_y", f'R.matmul(d, R.const({bytes_of((8, 24), 7)}, "int8"), out_dtype="int32")')
    scaled("e", "e_y", 6, 5, cut=False, mantissas=[int((6 + number) * (1 << 28)) for number in numbers(24, 3)])
    return "\n".join([*lines, "        R.output(e)", "    return e", ""])
