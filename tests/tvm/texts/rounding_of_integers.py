from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "int32"), y: R.Tensor((4,), "uint8")):
        with R.dataflow():
            a = R.add(R.floor(x), R.ceil(x))
            b = R.trunc(R.round(x))
            c = R.floor(y)
            d = R.isnan(x)
            e = R.isfinite(y)
            f = R.isinf(x)
            R.output(a, b, c, d, e, f)
        return a, b, c, d, e, f
