# As TVM prints branches whose dims differ: the results are declared by their rank, also in tuples and in recursion.
from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function(private=True)
    def grow(x: R.Tensor(("n",), dtype="float32"), k: R.Tensor((), dtype="int64")) -> R.Tensor(dtype="float32", ndim=1):
        n = T.int64()
        cls = Module
        again: R.Tensor((), dtype="bool") = R.greater(k, R.const(0, "int64"))
        if again:
            y: R.Tensor((n + n,), dtype="float32") = R.concat((x, x), axis=0)
            less: R.Tensor((), dtype="int64") = R.subtract(k, R.const(3, "int64"))
            grown: R.Tensor(dtype="float32", ndim=1) = cls.grow(y, less)
            result: R.Tensor(dtype="float32", ndim=1) = grown
        else:
            result: R.Tensor(dtype="float32", ndim=1) = x
        return result

    @R.function
    def main(x: R.Tensor((5,), dtype="float32"), y: R.Tensor((3,), dtype="float32"), k: R.Tensor((), dtype="int64")):
        cls = Module
        small: R.Tensor((), dtype="bool") = R.less(k, R.const(5, "int64"))
        if small:
            a: R.Tuple(R.Tensor((5,), dtype="float32"), R.Tensor((3,), dtype="float32")) = (x, y)
            pair: R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1)) = a
        else:
            z: R.Tensor((5,), dtype="float32") = R.exp(x)
            b: R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((5,), dtype="float32")) = (y, z)
            pair: R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1)) = b
        first: R.Tensor(dtype="float32", ndim=1) = pair[0]
        second: R.Tensor(dtype="float32", ndim=1) = pair[1]
        grown: R.Tensor(dtype="float32", ndim=1) = cls.grow(first, k)
        return (grown, second)
