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


def suppressed(data, counts, indices, limit=-1, iou=0.5, force=False, top_k=-1):
    """Rows of [class, score, left, top, right, bottom], the best first: their places, and which of them are kept."""
    result = []
    for image, count in zip(data, counts):
        order = [k for k in np.argsort(-image[:count, 1], kind="stable") if image[k, 1] > 0]
        order = order[:top_k] if top_k > 0 else order
        kept = []
        for k in order:
            def overlap(m):
                low, high = np.maximum(image[k, 2:4], image[m, 2:4]), np.minimum(image[k, 4:], image[m, 4:])
                both = np.prod(np.maximum(high - low, 0))
                return both / (np.prod(image[k, 4:] - image[k, 2:4]) + np.prod(image[m, 4:] - image[m, 2:4]) - both)
            if (limit < 0 or len(kept) < limit) and all(overlap(m) < iou or not (force or image[k, 0] == image[m, 0]) for m in kept):
                kept.append(k)
        result.append((order, kept))
    return result


def listed(data, counts, indices, **options):
    list_, found = -np.ones(indices.shape, np.int32), []
    for image, (_, kept) in enumerate(suppressed(data, counts, indices, **options)):
        list_[image, :len(kept)] = indices[image, kept]
        found.append([len(kept)])
    return [list_, np.array(found, np.int32)]


def rows(data, counts, indices, bottom=False, **options):
    out = -np.ones_like(data)
    for image, (order, kept) in enumerate(suppressed(data, counts, indices, **options)):
        for place, k in enumerate(kept if bottom else order):
            out[image, place] = data[image, k]
            if k not in kept:
                out[image, place, :2] = -1
    return out


rng = np.random.default_rng(3)
corner, extent = rng.uniform(0, 5, (2, 9, 2)), rng.uniform(1, 4, (2, 9, 2))
data = np.concatenate([rng.integers(0, 2, (2, 9, 1)), rng.uniform(0.1, 1, (2, 9, 1)), corner, corner + extent], 2).astype(np.float32)
counts, places = np.array([9, 6], np.int32), np.arange(18, dtype=np.int32).reshape(2, 9)
nms = "vision.non_max_suppression(%a, %b, %c, {}, {}f{})"
case("%0 = " + nms.format(-1, 0.3, "") + ";\n(%0.0, %0.1)", data, counts, places, expect=partial(listed, iou=0.3), open=True)
case("%0 = " + nms.format(2, 0.3, ", force_suppress=True, top_k=5") + ";\n(%0.0, %0.1)", data, counts, places,
     expect=partial(listed, iou=0.3, limit=2, force=True, top_k=5))
case(nms.format(-1, 0.3, ", return_indices=False, invalid_to_bottom=True"), data, counts, places, expect=partial(rows, iou=0.3, bottom=True))
case(nms.format(-1, 0.2, ", return_indices=False, force_suppress=True"), data, counts, places, expect=partial(rows, iou=0.2, force=True))

# Regions of images.
case("%0 = vision.all_class_non_max_suppression(%a, %b, 5i64, 0.5f, 0.1f);\n%0.1", f32(1, 4, 4), f32(1, 2, 4) * 0 - 1,
     expect=np.array([0], np.int64))
regions = np.array([[0, 0, 0, 4, 3], [0, 1, 1, 5, 4]], np.float32)
case('vision.roi_align(%a, %b, pooled_size=[2, 2], spatial_scale=1f, sample_ratio=2)', x, regions,
     expect=lambda v, r: onnx("RoiAlign", v, r[:, 1:].copy(), r[:, 0].astype(np.int64), coordinate_transformation_mode="output_half_pixel",
                              output_height=2, output_width=2, sampling_ratio=2))
case("vision.roi_pool(%a, %b, pooled_size=[2, 2], spatial_scale=1f)", x, regions,
     expect=lambda v, r: onnx("MaxRoiPool", v, r, pooled_shape=[2, 2], spatial_scale=1.0))
case('nn.upsampling3d(%a, scale_d=2f, scale_h=2f, scale_w=2f, coordinate_transformation_mode="asymmetric")', f32(1, 1, 2, 3, 2),
     expect=lambda v: v.repeat(2, 2).repeat(2, 3).repeat(2, 4))
case("nn.upsampling3d(%a, scale_d=2f, scale_h=1f, scale_w=1f)", f32(1, 1, 2, 3, 2), expect=lambda v: v[:, :, [0, 0, 0, 1]])
case("image.affine_grid(%a, target_shape=[3, 4])", f32(2, 2, 3), expect=lambda t: (t @ np.stack(
    [np.tile(np.linspace(-1, 1, 4), 3), np.repeat(np.linspace(-1, 1, 3), 4), np.ones(12)]).astype(np.float32)).reshape(2, 2, 3, 4))
