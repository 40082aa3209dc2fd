from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 1, 4, 1), "float32"), b: R.Tensor((2, 3), "bool")):
        with R.dataflow():
            s = R.squeeze(x, axis=[1, 3])
            t = R.take(s, T.int64(2), axis=1)
            p = R.prod(b, axis=[1], keepdims=False)
            R.output(s, t, p)
        return s, t, p
