from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 5, 5), "float32")):
        with R.dataflow():
            a = R.image.resize2d(x, R.shape([8, 8]), layout="NCHW", method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="")
            b = R.image.resize2d(x, R.shape([8, 8]), layout="NCHW", method="nearest_neighbor", coordinate_transformation_mode="align_corners", rounding_method="")
            c = R.image.resize2d(x, R.shape([8, 8]), layout="NCHW", method="nearest_neighbor", coordinate_transformation_mode="half_pixel", rounding_method="")
            R.output(a, b, c)
        return a, b, c
