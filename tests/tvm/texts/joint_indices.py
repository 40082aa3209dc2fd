from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((9, 9, 2), "float32"),
        t: R.Tensor((9, 9), "float32"),
        i: R.Tensor((2, 1), "int64"),
        v: R.Tensor((2, 3), "float32"),
    ) -> R.Tuple(
        R.Tensor((2, 3, 2), "float32"),
        R.Tensor((9, 9), "float32"),
        R.Tensor((3, 2), "int64"),
        R.Tensor((3, 2), "int64"),
    ):
        with R.dataflow():
            j = R.const([8, 0, 5], "int64")
            y = R.index_tensor(x, (i, j))
            z = R.index_put(t, (R.const([[3], [7]], "int64"), j), v, accumulate=True)
            pair = R.meshgrid((R.reshape(i, (2,)), j), indexing="xy")
            out = (y, z, pair[0], pair[1])
            R.output(out)
        return out
