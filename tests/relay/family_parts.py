"""family_parts.py: parts of tensors, reductions and orders."""

from functools import partial

import numpy as np
from relay_case import case, f32, ints

case = partial(case, "parts")
x = f32(4, 5, 6)
case("take(%a, %b, axis=1)", x, ints(2, 3), expect=lambda v, i: np.take(v, i, 1), open=True)
case("take(%a, %b)", x, ints(3, high=100), expect=lambda v, i: np.take(v, i))
case("take(%a, %b, axis=0)", x, np.array([-1, 9], np.int32), expect=lambda v, i: np.take(v, [0, 3], 0))
case('take(%a, %b, axis=0, mode="wrap")', x, np.array([-1, 9], np.int32), expect=lambda v, i: np.take(v, i, 0, mode="wrap"))
case("gather(%a, %b, axis=1)", f32(3, 4), ints(3, 2, high=4), expect=lambda v, i: np.take_along_axis(v, i, 1))
case("gather_nd(%a, %b)", x, ints(2, 3, high=4), expect=lambda v, i: v[i[0], i[1]])
case("gather_nd(%a, %b, batch_dims=1)", f32(3, 4, 5), ints(1, 3, high=4), expect=lambda v, i: v[np.arange(3), i[0]])


def scattered(v, i, u, add=False):
    out = v.copy()
    for at in np.ndindex(i.shape):
        place = (int(i[at]),) + at[1:]
        out[place] = out[place] + u[at] if add else u[at]
    return out


index = np.array([[0, 2, 1], [3, 0, 2]], np.int64)
case("scatter_elements(%a, %b, %c, axis=0)", f32(4, 3), index, f32(2, 3), expect=scattered)
case('scatter_elements(%a, %b, %c, axis=0, reduction="add")', f32(4, 3), index, f32(2, 3), expect=partial(scattered, add=True))
case("scatter(%a, %b, %c, axis=0)", f32(4, 3), index, f32(2, 3), expect=scattered)
case("scatter_add(%a, %b, %c, axis=0)", f32(4, 3), index, f32(2, 3), expect=partial(scattered, add=True))


def scattered_nd(v, i, u, add=False):
    out = v.copy()
    for k in range(i.shape[1]):
        out[i[0, k], i[1, k]] = u[k] + (out[i[0, k], i[1, k]] if add else 0)
    return out


pairs = np.array([[0, 3, 1], [4, 1, 0]], np.int64)
case("scatter_nd(%a, %b, %c)", x, pairs, f32(3, 6), expect=scattered_nd)
case('scatter_nd(%a, %b, %c, mode="add")', x, pairs, f32(3, 6), expect=partial(scattered_nd, add=True))
case("%0 = (%a, %b, %c);\nadv_index(%0)", x, ints(2, 1, high=4), ints(3, high=5), expect=lambda v, i, j: v[i, j])
case("strided_slice(%a, begin=[1, 0], end=[4, 5], strides=[1, 2])", x, expect=lambda v: v[1:4, 0:5:2], open=True)
case("strided_slice(%a, begin=[0, -1], end=[2147483647, -6], strides=[1, -1])", x, expect=lambda v: v[:, ::-1])
case('strided_slice(%a, begin=[1, 2], end=[2, -1], strides=[1], slice_mode="size")', x, expect=lambda v: v[1:3, 2:])
case("strided_slice(%a, begin=[1], end=[3], strides=[1], axes=[2])", x, expect=lambda v: v[:, :, 1:3])
case("strided_slice(%a, begin=[1i64], end=[3i64], strides=[1i64])", x, expect=lambda v: v[1:3])
case("dyn.strided_slice(%a, %b, %c, %d)", x, np.array([1, 0, 2], np.int64), np.array([3, 5, 6], np.int64), np.array([1, 1, 2], np.int64),
     expect=lambda v, b, e, s: v[1:3, 0:5, 2:6:2])
case("slice_like(%a, %b)", x, f32(2, 3, 6), expect=lambda v, w: v[:2, :3])
case("slice_like(%a, %b, axes=[1])", x, f32(2, 3, 2), expect=lambda v, w: v[:, :3])
case("%0 = split(%a, indices_or_sections=3, axis=2);\n(%0.0, %0.2)", x, expect=lambda v: [v[..., :2], v[..., 4:]])
case("%0 = split(%a, indices_or_sections=[1, 4], axis=1);\n(%0.0, %0.1, %0.2)", x, expect=lambda v: [v[:, :1], v[:, 1:4], v[:, 4:]])
case('one_hot(%a, 1f, 0f, depth=5, dtype="float32")', ints(3), expect=lambda i: np.eye(5, dtype=np.float32)[i])
case('one_hot(%a, 2f, -1f, depth=5, axis=0, dtype="float32")', ints(3), expect=lambda i: (3 * np.eye(5, dtype=np.float32)[i] - 1).T)
case("reverse_sequence(%a, %b, seq_axis=0, batch_axis=1)", f32(3, 2), np.array([2, 3], np.int64),
     expect=lambda v, n: np.stack([np.r_[v[1::-1, 0], v[2:, 0]], v[::-1, 1]], 1))
case("argwhere(%a)", ints(3, 4, high=2, dtype=np.float32), expect=lambda v: np.argwhere(v).astype(np.int32))
case("%0 = (4i64, 5i64);\n%1 = stack(%0);\nunravel_index(%a, %1)", ints(5, high=20), expect=lambda i: np.stack(np.unravel_index(i, (4, 5))))
case("trilu(%a, 1i64)", f32(3, 4), expect=lambda v: np.triu(v, 1))
case("trilu(%a, 0i64, upper=False)", f32(3, 4), expect=np.tril)
case("searchsorted(%a, %b, right=True)", np.sort(f32(6)), f32(3), expect=lambda k, v: np.searchsorted(k, v, "right").astype(np.int32))
case("invert_permutation(%a)", np.array([2, 0, 1], np.int32), expect=lambda v: np.argsort(v).astype(np.int32))

for name, function in [("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min), ("prod", np.prod)]:
    case(f"{name}(%a, axis=[1])", x, expect=lambda v, f=function: f(v, 1), open=True)
    case(f"{name}(%a, axis=[-1, 0], keepdims=True)", x, expect=lambda v, f=function: f(v, (0, 2), keepdims=True))
    case(f"{name}(%a)", f32(2, 3), expect=lambda v, f=function: np.float32(f(v)))
    case(f"{name}(%a, axis=[1], exclude=True)", x, expect=lambda v, f=function: f(v, (0, 2)))
b = ints(3, 4, high=2).astype(bool)
case("all(%a, axis=[1])", b, expect=lambda v: v.all(1))
case("any(%a, axis=[0])", b, expect=lambda v: v.any(0))
case("argmax(%a, axis=[1])", x, expect=lambda v: v.argmax(1).astype(np.int32), open=True)
case("argmin(%a, axis=[-1], keepdims=True)", x, expect=lambda v: v.argmin(-1, keepdims=True).astype(np.int32))
case("argmax(%a)", x, expect=lambda v: np.int32(v.argmax()))
case("argmax(%a, axis=[0, 2])", x, expect=lambda v: v.transpose(1, 0, 2).reshape(5, -1).argmax(1).astype(np.int32))
case("%0 = mean(%a, axis=[1], keepdims=True);\nvariance(%a, %0, axis=[1])", x, expect=lambda v: v.var(1), open=True)
case("%0 = mean(%a, axis=[1], keepdims=True);\nvariance(%a, %0, axis=[1], unbiased=True)", x, expect=lambda v: v.var(1, ddof=1))
case("cumsum(%a, axis=1)", x, expect=lambda v: v.cumsum(1))
case('cumsum(%a, dtype="int64")', ints(2, 3), expect=lambda v: v.cumsum())
case("cumprod(%a, axis=0, exclusive=True)", x, expect=lambda v: np.concatenate([np.ones_like(v[:1]), v.cumprod(0)[:-1]]))
case("%0 = topk(%a, k=3);\n(%0.0, %0.1)", f32(4, 9),
     expect=lambda v: [-np.sort(-v, 1)[:, :3], np.argsort(-v, 1, "stable")[:, :3].astype(np.int32)])
case('topk(%a, k=2, axis=0, ret_type="indices", is_ascend=True, dtype="int64")', f32(9, 2), expect=lambda v: np.argsort(v, 0, "stable")[:2])
case('topk(%a, k=0, ret_type="values")', f32(2, 4), expect=lambda v: -np.sort(-v, 1), open=True)
case("%0 = dyn.topk(%a, %b);\n%0.0", f32(4, 9), np.array([3], np.int64), expect=lambda v, k: -np.sort(-v, 1)[:, :3])
case("sort(%a, axis=0, is_ascend=False)", f32(9, 2), expect=lambda v: -np.sort(-v, 0))
case("argsort(%a)", f32(2, 9), expect=lambda v: v.argsort(1).astype(np.int32))
case("sequence_mask(%a, %b, mask_value=-1f)", f32(4, 3), np.array([1, 4, 2], np.int32),
     expect=lambda v, n: np.where(np.arange(4)[:, None] < n, v, np.float32(-1)))
case('%0 = (%a, %b);\neinsum(%0, equation="ij,jk->ik")', f32(2, 3), f32(3, 4), expect=np.matmul)
case('dyn.one_hot(%a, 1f, 0f, %b, dtype="float32")', ints(3), np.array([5], np.int64), expect=lambda i, d: np.eye(5, dtype=np.float32)[i])
case("logsumexp(%a, axis=[1])", x, expect=lambda v: np.log(np.exp(v).sum(1)))
