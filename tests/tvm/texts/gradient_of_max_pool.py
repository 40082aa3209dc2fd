from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(by_result: R.Tensor((2, 3, 5, 4), "float32"), x: R.Tensor((2, 3, 10, 10), "float32")):
        with R.dataflow():
            y = R.grad.max_pool2d_backward(by_result, x, pool_size=[5, 5], strides=[2, 2], padding=[2, 1, 2, 1], ceil_mode=False)
            R.output(y)
        return y
