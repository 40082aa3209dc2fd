from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        c: R.Tensor((4,), "bool"), x: R.Tensor((4,), "float32"), i: R.Tensor((4,), "int8"), k: R.Tensor((4,), "int32")
    ) -> R.Tuple(
        R.Tensor((4,), "bool"), R.Tensor((4,), "bool"), R.Tensor((4,), "bool"), R.Tensor((4,), "int8")
    ):
        with R.dataflow():
            a = R.greater(c, x)
            b = R.less_equal(k, x)
            d = R.equal(i, k)
            e = R.clip(i, min=1.9, max=3.7)
            out = (a, b, d, e)
            R.output(out)
        return out
