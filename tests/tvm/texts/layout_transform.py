from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            a = R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i)))
            b = R.layout_transform(x, index_map=T.index_map(lambda i, j: (i // 2, j // 3, i % 2, j % 3)))
            c = R.layout_transform(x, index_map=T.index_map(lambda i, j: (i * 6 + j,)))
            d = R.layout_transform(x, index_map=T.index_map(lambda i, j: (i, j // 4, j % 4)), pad_value=T.float32(7))
            R.output(a, b, c, d)
        return a, b, c, d
