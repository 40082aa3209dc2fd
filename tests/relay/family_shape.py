"""family_shape.py: shapes, and tensors that are made of sizes."""

from functools import partial

import numpy as np
from relay_case import case, f32, ints

case = partial(case, "shape")
x = f32(2, 3, 4, 5)
for wanted, shape in [("[6, -1]", (6, 20)), ("[0, -1]", (2, 60)), ("[-2]", (2, 3, 4, 5)), ("[0, -3, -2]", (2, 12, 5)),
                      ("[-3, -3]", (6, 20)), ("[-4, 1, 2, -2]", (1, 2, 3, 4, 5)), ("[2, 3, -4, -1, 2, -2]", (2, 3, 2, 2, 5)),
                      ("[0, 0, 20]", (2, 3, 20)), ("[]", None)]:
    if shape is None:
        case("reshape(%a, newshape=[])", f32(1), expect=lambda v: v.reshape(()))
    else:
        case(f"reshape(%a, newshape={wanted})", x, expect=lambda v, s=shape: v.reshape(s))
case("contrib_reverse_reshape(%a, newshape=[-1, 0])", f32(10, 5, 4), expect=lambda v: v.reshape(50, 4))
case("reshape_like(%a, %b)", f32(6, 4), f32(2, 12), expect=lambda v, w: v.reshape(2, 12), open=True)
case("reshape_like(%a, %b, lhs_begin=1, rhs_begin=1)", f32(2, 6), f32(5, 2, 3), expect=lambda v, w: v.reshape(2, 2, 3))
case("expand_dims(%a, axis=1, num_newaxis=2)", f32(2, 3), expect=lambda v: v.reshape(2, 1, 1, 3), open=True)
case("expand_dims(%a, axis=-1)", f32(2, 3), expect=lambda v: v.reshape(2, 3, 1))
case("squeeze(%a)", f32(1, 3, 1), expect=lambda v: v.reshape(3))
case("squeeze(%a, axis=[0])", f32(1, 3, 1), expect=lambda v: v.reshape(3, 1))
case("shape_of(%a)", x, expect=np.array([2, 3, 4, 5], np.int32), open=True)
case('shape_of(%a, dtype="int64")', x, expect=np.array([2, 3, 4, 5], np.int64))
case("ndarray_size(%a)", x, expect=np.array(120, np.int32), open=True)
case("broadcast_to(%a, shape=[2, 3, 4])", f32(3, 1), expect=lambda v: np.broadcast_to(v, (2, 3, 4)))
case("broadcast_to_like(%a, %b)", f32(3, 1), f32(2, 3, 4), expect=lambda v, w: np.broadcast_to(v, w.shape))
case("collapse_sum_like(%a, %b)", f32(2, 3, 4), f32(3, 1), expect=lambda v, w: v.sum((0, 2)).reshape(3, 1))
case('full(1.5f, shape=[2, 3], dtype="float32")', f32(1), expect=np.full((2, 3), 1.5, np.float32))
case("full_like(%a, 2f)", f32(2, 3), expect=np.full((2, 3), 2, np.float32), open=True)
case('zeros(shape=[2, 3], dtype="int32")', f32(1), expect=np.zeros((2, 3), np.int32))
case('ones(shape=[2], dtype="float32")', f32(1), expect=np.ones(2, np.float32))
case("zeros_like(%a)", f32(2, 3), expect=np.zeros_like, open=True)
case("ones_like(%a)", ints(2, 3), expect=np.ones_like)
case('arange(0, 7, 2, start=0, stop=7, step=2, dtype="int32")', f32(1), expect=np.arange(0, 7, 2, dtype=np.int32))
case('arange(0f, 1f, 0.25f, start=0f, stop=1f, step=0.25f, dtype="float32")', f32(1), expect=np.arange(0, 1, 0.25, dtype=np.float32))
case('%0 = shape_of(%a, dtype="int64");\n%1 = take(%0, 1, axis=0);\narange(0i64, %1, 1i64, dtype="int64")', f32(2, 5),
     expect=np.arange(5), open=True)
case('arange(%a, %b, 2, dtype="int32")', np.array(3, np.int32), np.array(10, np.int32), expect=np.arange(3, 10, 2, dtype=np.int32))
case("transpose(%a)", f32(2, 3, 4), expect=np.transpose)
case("transpose(%a, axes=[0, 2, 1])", f32(2, 3, 4), expect=lambda v: v.transpose(0, 2, 1), open=True)
case('layout_transform(%a, src_layout="NCHW", dst_layout="NHWC")', x, expect=lambda v: v.transpose(0, 2, 3, 1))
case('%0 = layout_transform(%a, src_layout="NCHW", dst_layout="NCHW4c");\nlayout_transform(%0, src_layout="NCHW4c", dst_layout="NCHW")',
     f32(1, 8, 2, 3), expect=lambda v: v)
case("tile(%a, reps=[2, 3])", f32(2, 3), expect=lambda v: np.tile(v, (2, 3)))
case("tile(%a, reps=[2, 1, 3])", f32(2, 3), expect=lambda v: np.tile(v, (2, 1, 3)))
case("tile(%a, reps=[3])", f32(2, 3), expect=lambda v: np.tile(v, 3), open=True)
case("repeat(%a, repeats=2, axis=1)", f32(2, 3), expect=lambda v: v.repeat(2, 1))
case("repeat(%a, repeats=2)", f32(2, 3), expect=lambda v: v.repeat(2))
case("reverse(%a, axis=1)", f32(2, 3), expect=lambda v: v[:, ::-1], open=True)
case("%0 = (%a, %b);\nconcatenate(%0, axis=1)", f32(2, 3), f32(2, 2), expect=lambda v, w: np.concatenate([v, w], 1), open=False)
case("%0 = (%a, %b);\nstack(%0, axis=-1)", f32(2, 3), f32(2, 3), expect=lambda v, w: np.stack([v, w], -1))
case("%0 = (%a, %b);\n%1 = meshgrid(%0);\n(%1.0, %1.1)", f32(2), f32(3), expect=lambda v, w: np.meshgrid(v, w, indexing="ij"))
case('%0 = (%a, %b);\n%1 = meshgrid(%0, indexing="xy");\n(%1.0, %1.1)', f32(2), f32(3), expect=lambda v, w: np.meshgrid(v, w))


def space_to_batch(v):
    v = np.pad(v, [(0, 0), (1, 1), (0, 0), (0, 0)])
    return v.reshape(1, 3, 2, 2, 3, 5).transpose(2, 4, 0, 1, 3, 5).reshape(6, 3, 2, 5)


case("nn.space_to_batch_nd(%a, block_shape=[2, 3], paddings=[[1, 1], [0, 0]])", f32(1, 4, 6, 5), expect=space_to_batch)
s2b = f32(1, 4, 6, 5)
case("nn.batch_to_space_nd(%a, block_shape=[2, 3], crops=[[1, 1], [0, 0]])", space_to_batch(s2b), expect=s2b)

# Shapes that the program computes.
case('dyn.reshape(%a, %b)', f32(2, 6), np.array([3, 4], np.int64), expect=lambda v, s: v.reshape(3, 4))
case('%0 = shape_of(%b, dtype="int64");\ndyn.reshape(%a, %0)', f32(2, 6), f32(3, 4), expect=lambda v, w: v.reshape(3, 4), open=True)
case('%0 = shape_of(%a, dtype="int64");\n%1 = take(%0, 0i64, axis=0);\n%2 = expand_dims(%1, axis=0);\n%3 = expand_dims(-1i64, axis=0);\n'
     '%4 = (%2, %3);\n%5 = concatenate(%4);\ndyn.reshape(%a, %5)', f32(2, 3, 4), expect=lambda v: v.reshape(2, -1), open=True)
case("dyn.broadcast_to(%a, %b)", f32(3, 1), np.array([3, 4], np.int32), expect=lambda v, s: np.broadcast_to(v, (3, 4)))
case('dyn.zeros(%a, dtype="float32")', np.array([3, 4], np.int64), expect=np.zeros((3, 4), np.float32))
case('dyn.full(2f, %a)', np.array([3, 4], np.int64), expect=np.full((3, 4), 2, np.float32))
case("dyn.tile(%a, %b)", f32(2, 3), np.array([2, 2], np.int64), expect=lambda v, r: np.tile(v, (2, 2)))
case('dyn.ones(%a, dtype="int32")', np.array([3, 4], np.int64), expect=np.ones((3, 4), np.int32))
case("dyn.expand_dims(%a, 1i64)", f32(2, 3), expect=lambda v: v.reshape(2, 1, 3))
case("%0 = expand_dims(0i64, axis=0);\ndyn.squeeze(%a, %0)", f32(1, 3), expect=lambda v: v.reshape(3))
case("collapse_sum_to(%a, shape=[3, 1])", f32(2, 3, 4), expect=lambda v: v.sum((0, 2)).reshape(3, 1))
case('%0 = vm.shape_of(%a, dtype="int64");\nvm.reshape_tensor(%b, %0, newshape=[2, 3])', f32(2, 3), f32(6), expect=lambda v, w: w.reshape(2, 3))
