from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 4, 4), "float32"), g: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"), m: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.nn.batch_norm(x, g, b, m, v, axis=1, epsilon=1e-5, center=True, scale=True, momentum=0.2, training=True)
            R.output(y)
        return y
