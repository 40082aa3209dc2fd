from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(by_result: R.Tensor((3, 2, 5), "float32"), x: R.Tensor((3, 9, 5), "float32"), at: R.Tensor((2,), "int32")):
        with R.dataflow():
            y = R.grad.take_backward(by_result, x, at, axis=1)
            R.output(y)
        return y
