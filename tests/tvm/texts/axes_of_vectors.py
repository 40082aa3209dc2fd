from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 3, 3), "float32"), a: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tuple(R.Tensor((2, 3, 3), "float32"), R.Tensor((2, 3, 3), "float32"), R.Tensor((2, 3, 3), "float32")):
        with R.dataflow():
            slopes = R.nn.prelu(R.negative(x), a)
            rows = R.nn.layer_norm(x, a, b, axes=[1])
            last = R.nn.prelu(R.negative(x), a, axis=-1)
            out = (slopes, rows, last)
            R.output(out)
        return out
