from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 10, 6), "float32")):
        with R.dataflow():
            y = R.vision.get_valid_counts(x, 1.2, id_index=0, score_index=1)
            R.output(y)
        return y
