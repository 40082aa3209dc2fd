from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = R.multiply(x, R.const(5.0 / 3.0, "float32"))
            z = R.add(y, R.const([1 + 2, -(4 / 8), -0.0, 2.5 - 1], "float32"))
            R.output(z)
        return z
