from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), z: R.Tensor((3,), "int32"), s: R.Tensor((3,), "float32"), q: R.Tensor((2, 3), "int8")):
        with R.dataflow():
            a = R.quantize(x, R.const(0.5, "float32"), R.const(3, "int32"), out_dtype="int8", axis=0)
            b = R.quantize(x, s, z, out_dtype="int8", axis=1)
            c = R.dequantize(q, s, z, out_dtype="float32", axis=1)
            R.output(a, b, c)
        return a, b, c
