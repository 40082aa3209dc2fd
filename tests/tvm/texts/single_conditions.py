from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((1, 1), "bool"), x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 6), "float32"):
        if c:
            y = R.tile(x, 2)
        else:
            y = R.concat((x, R.negative(x)), axis=1)
        return y
