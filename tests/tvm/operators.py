"""operators.py: calls of every Relax operator, with inputs that distinguish its meaning from others.

`CASES` maps a name to (build, inputs): `build` takes Relax variables and returns an expression; each input is an array.
A case is built with TVM's own Python, so that what relaxc reads is what TVM prints today.
"""

import numpy as np
from tvm import relax
from tvm.relax import op
from tvm.script import relax as R

RANDOM = np.random.default_rng(7)
CASES = {}
# What TVM makes a constant of, or hands to functions of its own runtime, when it lowers.
NOT_LOWERED = {"arange", "median", "median_keep", "median_all", "argsort", "sort", "topk", "topk_values", "topk_indices", "multinomial_from_uniform"}


def real(*shape, low=-1.0, high=2.0, dtype="float32"):
    return RANDOM.uniform(low, high, shape).astype(dtype)


def whole(*shape, low=0, high=5, dtype="int32"):
    return RANDOM.integers(low, high, shape).astype(dtype)


def truth(*shape):
    return RANDOM.random(shape) > 0.5


def case(name, build, *inputs):
    assert name not in CASES, name
    CASES[name] = (build, [np.asarray(array, order="C") for array in inputs])


def elementwise():
    x = real(3, 4)
    plain = "abs ceil cos cosh erf exp floor negative round sigmoid sign sin sinh square tan tanh trunc isfinite isinf isnan atan asinh"
    for name in plain.split():
        case(name, getattr(op, name), x)
    for name in ("log", "sqrt", "rsqrt"):
        case(name, getattr(op, name), real(3, 4, low=0.1))
    for name in ("acos", "asin", "atanh"):
        case(name, getattr(op, name), real(3, 4, low=-0.9, high=0.9))
    case("acosh", op.acosh, real(3, 4, low=1.1, high=3))
    case("round_halves", op.round, np.array([0.5, 1.5, 2.5, -0.5, -1.5], "float32"))
    case("bitwise_not", op.bitwise_not, whole(3, 4))
    case("logical_not", op.logical_not, truth(3, 4))
    case("abs_int", op.abs, whole(3, 4, low=-5))
    case("clip", lambda x: op.clip(x, -0.5, 0.5), x)
    case("astype", lambda x: op.astype(x, "int32"), x)
    case("astype_half", lambda x: op.astype(x, "float16"), x)


def binary():
    floats = "add subtract multiply divide maximum minimum equal not_equal less less_equal greater greater_equal power mod floor_mod floor_divide"
    for name in floats.split():
        case(name, getattr(op, name), real(3, 4, low=0.1), real(4, low=0.5))
    ints = "add subtract multiply floor_divide floor_mod mod maximum bitwise_and bitwise_or bitwise_xor equal less"
    for name in ints.split():
        case(name + "_int", getattr(op, name), whole(3, 4, low=-9, high=9), whole(3, 4, low=1))
    for name in ("left_shift", "right_shift"):
        case(name, getattr(op, name), whole(3, 4), whole(3, 4))
    for name in ("logical_and", "logical_or", "logical_xor"):
        case(name, getattr(op, name), truth(3, 4), truth(3, 4))
    case("atan2", op.atan2, real(3, 4), real(3, 4))
    case("log_add_exp", op.log_add_exp, real(3, 4), real(3, 4))
    case("where", op.where, truth(3, 4), real(3, 4), real(3, 4))
    case("masked_fill", lambda x, m: op.masked_fill(x, m, R.const(0.5, "float32")), real(3, 4), truth(3, 4))
    case("outer", op.outer, real(3), real(4))


def products():
    case("matmul", op.matmul, real(2, 3, 4), real(4, 5))
    half = [real(3, 4, dtype="float16"), real(4, 5, dtype="float16")]
    case("matmul_half", lambda x, y: op.matmul(x, y, out_dtype="float32"), *half)
    bytes_ = [whole(3, 4, low=-9, high=9, dtype="int8"), whole(4, 5, low=-9, high=9, dtype="int8")]
    case("matmul_bytes", lambda x, y: op.matmul(x, y, out_dtype="int32"), *bytes_)
    case("linear", op.linear, real(3, 4), real(5, 4), real(5))
    case("einsum", lambda x, y: op.einsum([x, y], "ij,kj->ik"), real(3, 4), real(5, 4))


def created():
    def plus(make):
        return lambda x: op.add(x, make())

    case("arange", plus(lambda: op.arange(0, 8, 2, "float32")), real(4))
    case("eye", plus(lambda: op.eye(3, 4, 1, "float32")), real(3, 4))
    case("full", plus(lambda: op.full((3, 4), R.const(2.5, "float32"), "float32")), real(3, 4))
    case("ones", plus(lambda: op.ones((3, 4), "float32")), real(3, 4))
    case("zeros", plus(lambda: op.zeros((3, 4), "float32")), real(3, 4))
    case("hamming_window", plus(lambda: op.hamming_window(8, True, 0.54, 0.46, "float32")), real(8))
    case("hamming_window_symmetric", plus(lambda: op.hamming_window(8, False, 0.5, 0.5, "float32")), real(8))
    case("eye_like", lambda x: op.eye_like(x, 1), real(3, 4))
    case("full_like", lambda x: op.full_like(x, R.const(2.5, "float32")), real(3, 4))
    case("ones_like", op.ones_like, real(3, 4))
    case("zeros_like", op.zeros_like, real(3, 4))
    case("tril", lambda x: op.tril(x, -1), real(3, 4))
    case("triu", lambda x: op.triu(x, 1), real(3, 4))
    case("one_hot", lambda x: op.one_hot(x, R.prim_value(1), R.prim_value(0), 5, -1), whole(3, 4))


def arranged():
    x = real(3, 4)
    case("broadcast_to", lambda x: op.broadcast_to(x, (2, 3, 4)), x)
    case("concat", lambda x, y: op.concat([x, y], axis=1), x, real(3, 2))
    case("stack", lambda x, y: op.stack([x, y], axis=1), x, x)
    case("expand_dims", lambda x: op.expand_dims(x, [0, 2]), x)
    case("flatten", op.flatten, x)
    case("flip", lambda x: op.flip(x, 1), x)
    case("permute_dims", lambda x: op.permute_dims(x, [2, 0, 1]), real(2, 3, 4))
    case("permute_dims_all", op.permute_dims, real(2, 3, 4))
    case("repeat", lambda x: op.repeat(x, 2, 1), x)
    case("repeat_flat", lambda x: op.repeat(x, 2), x)
    case("reshape", lambda x: op.reshape(x, (2, -1)), x)
    case("reshape_keep", lambda x: op.reshape(x, (0, 2, 2)), x)
    case("split", lambda x: op.split(x, 2, axis=1), x)
    case("split_at", lambda x: op.split(x, [1, 3], axis=1), x)
    case("squeeze", lambda x: op.squeeze(x, [1]), real(3, 1, 4))
    case("squeeze_all", op.squeeze, real(3, 1, 4, 1))
    case("tile", lambda x: op.tile(x, (2, 1, 3)), x)
    case("meshgrid", lambda x, y: op.meshgrid([x, y], indexing="ij"), real(3), real(4))
    case("collapse_sum_to", lambda x: op.collapse_sum_to(x, (1, 4)), x)
    case("collapse_sum_like", op.collapse_sum_like, x, real(1, 4))
    case("strided_slice", lambda x: op.strided_slice(x, [0, 1], [0, 3], [3, 0], [2, -1]), x)
    case("strided_slice_beyond", lambda x: op.strided_slice(x, [1], [1], [100]), x)
    case("reverse_sequence", lambda x, n: op.reverse_sequence(x, n, 1, 0), x, np.array([1, 4, 2]))
    case("shape_of", lambda x: op.shape_to_tensor(op.shape_of(x)), x)
    case("size", op.size, x)
    case("pixel_shuffle_free", lambda x: op.permute_dims(op.reshape(x, (2, 2, 2, 3)), [2, 0, 3, 1]), real(4, 2, 3))


def gathered():
    x = real(3, 4)
    case("take", lambda x, i: op.take(x, i, axis=1), x, whole(2, 3, high=4, dtype="int64"))
    for mode in ("clip", "wrap"):
        case("take_" + mode, lambda x, i, m=mode: op.take(x, i, axis=1, mode=m), x, whole(2, 3, low=-4, high=8, dtype="int64"))
    case("gather_elements", lambda x, i: op.gather_elements(x, i, axis=1), x, whole(3, 2, high=4, dtype="int64"))
    case("gather_nd", lambda x, i: op.gather_nd(x, i, 0), x, whole(5, 2, high=3, dtype="int64"))
    case("index_tensor", lambda x, i, j: op.index_tensor(x, [i, j]), x, whole(5, high=3, dtype="int64"), whole(5, high=3, dtype="int64"))
    places = np.array([[0, 3], [1, 2], [2, 0]])
    case("scatter_elements", lambda x, i, u: op.scatter_elements(x, i, u, axis=1, reduction="add"), x, places, real(3, 2))
    case("scatter_nd", lambda x, i, u: op.scatter_nd(x, i, u, "add"), x, whole(5, 2, high=3, dtype="int64"), real(5))
    case("slice_scatter", lambda x, u: op.slice_scatter(x, u, 0, 3, 2, axis=0), x, real(2, 4))
    bounds = np.sort(real(5))
    case("bucketize", op.bucketize, real(3, 4), bounds)
    case("bucketize_right", lambda x, y: op.bucketize(x, y, out_int32=True, right=True), np.resize(bounds, (2, 3)), bounds)


def reduced():
    x = real(3, 4)
    for name in "sum mean max min prod std variance".split():
        case(name, lambda x, n=name: getattr(op, n)(x, axis=[1]), x)
        case(name + "_keep", lambda x, n=name: getattr(op, n)(x, axis=[0], keepdims=True), x)
        case(name + "_all", lambda x, n=name: getattr(op, n)(x), x)
    case("sum_bool", lambda x: op.sum(x, axis=[1]), truth(3, 4))
    for name in ("cumsum", "cumprod"):
        case(name, lambda x, n=name: getattr(op, n)(x, axis=1), x)
        case(name + "_exclusive", lambda x, n=name: getattr(op, n)(x, axis=0, exclusive=True), x)
        case(name + "_flat", lambda x, n=name: getattr(op, n)(x), x)
    case("argmax", lambda x: op.argmax(x, axis=1), x)
    case("argmax_all", op.argmax, x)
    case("argmin_keep", lambda x: op.argmin(x, axis=0, keepdims=True), x)
    case("argsort", lambda x: op.argsort(x, axis=0, descending=True, dtype="int64"), x)
    case("sort", lambda x: op.sort(x, axis=-1, descending=True), x)
    case("topk", lambda x: op.topk(x, 2, axis=1, ret_type="both", largest=True, dtype="int64"), x)
    case("topk_values", lambda x: op.topk(x, 2, axis=0, ret_type="values"), x)
    case("topk_indices", lambda x: op.topk(x, 2, axis=1, ret_type="indices"), x)
    case("median", lambda x: op.median(x, axis=[1]), x)
    case("median_keep", lambda x: op.median(x, axis=[0], keepdims=True), x)
    case("median_all", op.median, x)
    chances = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], "float32")
    case("multinomial_from_uniform", lambda p, u, s: op.multinomial_from_uniform(p, u, s, dtype="int64"), chances,
         np.array([[0.1], [0.45], [0.999], [0.7]], "float32"), np.array([[0], [0], [1], [1]]))


def quantized():
    scale, zero = real(4, low=0.1, high=1), whole(4, low=-2, high=2, dtype="int8")
    case("quantize", lambda x, s, z: op.quantize(x, s, z, axis=-1, out_dtype="int8"), real(3, 4), scale, zero)
    case("dequantize", lambda x, s, z: op.dequantize(x, s, z, axis=-1, out_dtype="float32"), whole(3, 4, low=-9, high=9, dtype="int8"), scale, zero)


def networks():
    nn, x = op.nn, real(3, 4)
    for name in "relu relu6 gelu gelu_tanh silu selu softplus leakyrelu".split():
        case("nn." + name, getattr(nn, name), x)
    case("nn.softmax", lambda x: nn.softmax(x, 1), x)
    case("nn.log_softmax", lambda x: nn.log_softmax(x, 0), x)
    case("nn.prelu", lambda x, a: nn.prelu(x, a, 1), x, real(4))
    case("nn.batch_norm", lambda x, g, b, m, v: nn.batch_norm(x, g, b, m, v, axis=1, training=False), real(2, 4, 5, 3),
         real(4), real(4), real(4), real(4, low=0.5))
    case("nn.layer_norm", lambda x, g, b: nn.layer_norm(x, g, b, axes=[-2, -1]), real(2, 3, 4), real(3, 4), real(3, 4))
    case("nn.group_norm", lambda x, g, b: nn.group_norm(x, g, b, 2, 1, [2, 3]), real(2, 4, 5, 3), real(4), real(4))
    case("nn.instance_norm", lambda x, g, b: nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3]), real(2, 4, 5, 3), real(4), real(4))
    case("nn.rms_norm", lambda x, g: nn.rms_norm(x, g, axes=[-1], epsilon=1e-5), x, real(4))
    case("nn.dropout", lambda x: nn.dropout(x, 0.5), x)
    for mode in ("constant", "reflect", "replicate", "circular"):
        case("nn.pad_" + mode, lambda x, m=mode: nn.pad(x, [0, 1, 2, 0], m, 0.5), x)
    case("nn.cross_entropy_with_logits", nn.cross_entropy_with_logits, x, real(3, 4))
    for reduction in ("mean", "sum", "none"):
        case("nn.nll_loss_" + reduction, lambda p, t, w, r=reduction: nn.nll_loss(p, t, w, reduction=r, ignore_index=1), x,
             np.array([3, 1, 0]), real(4, low=0.5, high=1))
    case("nn.batch_flatten", nn.batch_flatten, real(2, 3, 4, 5))
    q, k, v = real(2, 5, 3, 8), real(2, 7, 3, 8), real(2, 7, 3, 6)
    case("nn.attention", nn.attention, q, k, v)
    case("nn.attention_bias", lambda q, k, v, b: nn.attention(q, k, v, b, 0.3, "TopLeft"), q, k, v, real(2, 3, 5, 7))
    case("nn.attention_causal", lambda q, k, v: nn.attention(q, k, v, None, None, "BottomRight"), q, k, v)


def windows():
    nn = op.nn
    data = {1: real(2, 4, 9), 2: real(2, 4, 9, 8), 3: real(1, 2, 5, 6, 7)}
    case("nn.conv1d", lambda x, w: nn.conv1d(x, w, strides=2, padding=1, groups=2), data[1], real(6, 2, 3))
    case("nn.conv2d", lambda x, w: nn.conv2d(x, w, strides=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2)), data[2], real(5, 4, 3, 2))
    nhwc = lambda x, w: nn.conv2d(x, w, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC")
    case("nn.conv2d_nhwc", nhwc, real(2, 9, 8, 4), real(3, 3, 4, 5))
    half = [real(1, 2, 5, 5, dtype="float16"), real(3, 2, 3, 3, dtype="float16")]
    case("nn.conv2d_half", lambda x, w: nn.conv2d(x, w, out_dtype="float32"), *half)
    case("nn.conv3d", nn.conv3d, data[3], real(3, 2, 2, 3, 2))
    case("nn.conv1d_transpose", lambda x, w: nn.conv1d_transpose(x, w, strides=2, padding=1, output_padding=1), data[1], real(4, 3, 3))
    case("nn.conv2d_transpose", lambda x, w: nn.conv2d_transpose(x, w, strides=2, padding=1, groups=2), data[2], real(4, 3, 3, 3))
    case("nn.conv3d_transpose", lambda x, w: nn.conv3d_transpose(x, w, strides=2), data[3], real(2, 3, 2, 2, 2))
    for rank, x in data.items():
        for kind in ("max", "avg"):
            pool = getattr(nn, f"{kind}_pool{rank}d")
            settings = dict(pool_size=[3] * rank, strides=[2] * rank, padding=[1] * rank, ceil_mode=True)
            case(f"nn.{kind}_pool{rank}d", lambda x, f=pool, s=settings: f(x, **s), x)
        adaptive = getattr(nn, f"adaptive_avg_pool{rank}d")
        case(f"nn.adaptive_avg_pool{rank}d", lambda x, f=adaptive, r=rank: f(x, [2, 3, 2][-r:]), x)
    case("nn.avg_pool2d_counting_pads", lambda x: nn.avg_pool2d(x, pool_size=(3, 2), strides=(2, 2), padding=(1, 1, 1, 1), count_include_pad=True), data[2])
    blocked = real(2, 2, 5, 6, 4)
    for layout in ("NCHW4c", "NHWC4c"):
        where = dict(layout=layout, out_layout=layout)
        moved = blocked if layout == "NCHW4c" else np.ascontiguousarray(blocked.transpose(0, 2, 3, 1, 4))
        case("nn.max_pool2d_" + layout, lambda x, k=where: nn.max_pool2d(x, pool_size=(2, 3), strides=(2, 1), **k), moved)
        case("nn.avg_pool2d_" + layout, lambda x, k=where: nn.avg_pool2d(x, pool_size=(2, 3), padding=(1, 1), **k), moved)
        case("nn.adaptive_avg_pool2d_" + layout, lambda x, k=where: nn.adaptive_avg_pool2d(x, (2, 3), **k), moved)
    case("nn.adaptive_avg_pool2d_one", lambda x: nn.adaptive_avg_pool2d(x, 1), data[2])


def images():
    image, vision, x = op.image, op.vision, real(2, 4, 9, 8)
    for method in ("nearest_neighbor", "linear", "cubic"):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            case(f"image.resize2d_{method}_{mode}", lambda x, a=method, b=mode: image.resize2d(
                x, (5, 13), layout="NCHW", method=a, coordinate_transformation_mode=b), x)
    case("image.resize2d_nhwc", lambda x: image.resize2d(x, (5, 13), layout="NHWC", method="linear"), real(2, 9, 8, 4))
    case("image.resize3d", lambda x: image.resize3d(x, (3, 4, 9), layout="NCDHW", method="linear"), real(1, 2, 5, 6, 7))
    for padding in ("zeros", "border", "reflection"):
        case("image.grid_sample_" + padding, lambda x, g, p=padding: image.grid_sample(
            x, g, method="bilinear", layout="NCHW", padding_mode=p, align_corners=True), x, real(2, 2, 3, 3, low=-1.3, high=1.3))
    case("image.affine_grid", lambda t: image.affine_grid(t, (4, 5)), real(2, 2, 3))
    case("image.affine_grid_centers", lambda t: image.affine_grid(t, (4, 5), align_corners=False), real(2, 2, 3))
    rois = np.array([[0, 1, 1, 6, 7], [1, 0, 2, 5, 5]], "float32")
    case("vision.roi_align", lambda x, r: vision.roi_align(x, r, (2, 3), 1.0, 2, False, "NCHW", "avg"), x, rois)
    # aligned=True is lost where TVM lowers it, so it cannot be compared.
    case("vision.roi_align_max", lambda x, r: vision.roi_align(x, r, (2, 3), 0.5, -1, False, "NCHW", "max"), x, rois)
    boxes = np.concatenate([whole(2, 12, 1, high=2), real(2, 12, 1, low=-0.2, high=1.0), real(2, 12, 4, low=0.0, high=1.0)], 2)
    counted = (boxes.astype("float32"), np.array([12, 7], "int32"), np.array([range(12), range(12, 0, -1)], "int32"))
    for name, how in {"plain": {}, "most": dict(max_output_size=2, iou_threshold=0.3),
                      "forced": dict(force_suppress=True, top_k=5, iou_threshold=0.1),
                      "no_class": dict(id_index=-1, iou_threshold=0.1),
                      "boxes": dict(return_indices=False, iou_threshold=0.1),
                      "bottom": dict(return_indices=False, invalid_to_bottom=True, iou_threshold=0.1),
                      "soft": dict(soft_nms_sigma=0.3, score_threshold=0.2, iou_threshold=0.4),
                      "soft_most": dict(soft_nms_sigma=0.3, max_output_size=3, force_suppress=True),
                      "soft_boxes": dict(soft_nms_sigma=0.2, return_indices=False, iou_threshold=1.1)}.items():
        NOT_LOWERED.add("vision.non_max_suppression_" + name)
        case("vision.non_max_suppression_" + name, lambda d, n, i, k=how: vision.non_max_suppression(d, n, i, **k), *counted)
    located = real(2, 3, 5), real(2, 20), real(1, 5, 4, low=0.0, high=1.0)
    case("vision.multibox_transform_loc", vision.multibox_transform_loc, *located)
    case("vision.multibox_transform_loc_clipped", lambda a, b, c: vision.multibox_transform_loc(
        a, b, c, True, 0.3, (0.1, 0.2, 0.3, 0.4), False, False), *located)
    case("vision.roi_pool", lambda x, r: vision.roi_pool(x, r, (2, 3), 1.0, "NCHW"), x, rois)


for group in (elementwise, binary, products, created, arranged, gathered, reduced, quantized, networks, windows, images):
    group()


def module(names):
    """One module with a function of the name of each case."""
    builder = relax.BlockBuilder()
    for name in names:
        build, inputs = CASES[name]
        args = [relax.Var(f"x{i}", relax.TensorType(list(a.shape), str(a.dtype))) for i, a in enumerate(inputs)]
        with builder.function(function_name(name), args):
            with builder.dataflow():
                result = builder.emit_output(builder.emit(build(*args)))
            builder.emit_func_output(result)
    return builder.get()


def function_name(name):
    return "op_" + name.replace(".", "_")
