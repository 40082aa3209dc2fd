"""family_image.py: images, boxes and regions."""

from functools import partial

import numpy as np
from relay_case import case, f32
from family_nn import onnx

case = partial(case, "image")
x = f32(1, 2, 5, 6)


def resize(v, sizes, **attributes):
    return onnx("Resize", v, None, None, np.array(v.shape[:2] + sizes, np.int64), **attributes)


case("image.resize2d(%a, size=[10, 9])", x, expect=lambda v: resize(v, (10, 9), mode="linear"))
case('image.resize2d(%a, size=[7, 4], method="cubic")', x, expect=lambda v: resize(v, (7, 4), mode="cubic", cubic_coeff_a=-0.5))
case('image.resize2d(%a, size=[10, 12], method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor")',
     x, expect=lambda v: v.repeat(2, 2).repeat(2, 3))
case('image.resize2d(%a, size=[9, 11], layout="NHWC", coordinate_transformation_mode="align_corners")', x.transpose(0, 2, 3, 1).copy(),
     expect=lambda v: resize(x, (9, 11), mode="linear", coordinate_transformation_mode="align_corners").transpose(0, 2, 3, 1))
case('image.resize1d(%a, size=[10])', f32(1, 2, 5), expect=lambda v: resize(v, (10,), mode="linear"))
case('image.resize3d(%a, size=[4, 5, 6])', f32(1, 1, 2, 3, 3), expect=lambda v: resize(v, (4, 5, 6), mode="linear"))
case("nn.upsampling(%a, scale_h=2f, scale_w=2f)", x, expect=lambda v: v.repeat(2, 2).repeat(2, 3), open=True)
case('nn.upsampling(%a, scale_h=2f, scale_w=3f, method="bilinear", align_corners=True)', x,
     expect=lambda v: resize(v, (10, 18), mode="linear", coordinate_transformation_mode="align_corners"))
case('nn.upsampling(%a, scale_h=1.5f, scale_w=1f, layout="NHWC")', f32(1, 4, 3, 2), expect=lambda v: v[:, [0, 0, 1, 2, 2, 3]])
case("image.grid_sample(%a, %b)", x, f32(1, 2, 3, 4) / 2,
     expect=lambda v, g: onnx("GridSample", v, g.transpose(0, 2, 3, 1).copy(), align_corners=1))
boxes = np.array([[[0, 0.9, 0, 0, 1, 1], [-1, 0.8, 0, 0, 1, 1], [1, 0.1, 0, 0, 1, 1], [2, 0.6, 0, 0, 2, 2]]], np.float32)
case("%0 = vision.get_valid_counts(%a, 0.5f);\n(%0.0, %0.1, %0.2)", boxes,
     expect=[np.array([2], np.int32), np.concatenate([boxes[:, [0, 3]], -np.ones((1, 2, 6), np.float32)], 1), np.array([[0, 3, -1, -1]], np.int32)])
