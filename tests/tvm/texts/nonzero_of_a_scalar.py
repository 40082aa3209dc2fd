from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "bool")):
        k = T.int64()
        y = R.match_cast(R.nonzero(x), R.Tensor((1, k), "int64"))
        return y
