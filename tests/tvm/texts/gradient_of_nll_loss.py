from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(by_result: R.Tensor((), "float32"), x: R.Tensor((2, 9, 4), "float32"), at: R.Tensor((2, 4), "int64"), w: R.Tensor((9,), "float32")):
        with R.dataflow():
            y = R.grad.nll_loss_backward(by_result, x, at, w, reduction="mean", ignore_index=3)
            z = R.grad.nll_loss_backward(by_result, x, at, reduction="sum")
            R.output(y, z)
        return y, z
