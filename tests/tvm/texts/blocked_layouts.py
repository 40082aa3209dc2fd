from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 8, 8, 4), "float32"), w: R.Tensor((2, 2, 3, 3, 4, 4), "float32")):
        with R.dataflow():
            a = R.image.resize2d(x, R.shape([16, 16]), layout="NCHW4c", method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="")
            b = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 2], layout="NCHW4c", out_layout="NCHW4c")
            d = R.nn.avg_pool2d(x, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1], layout="NCHW4c", out_layout="NCHW4c")
            R.output(a, b, d)
        return a, b, d
