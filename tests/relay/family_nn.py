"""family_nn.py: operators of neural networks."""

from functools import partial

import numpy as np
import onnxruntime
from relay_case import case, f32, positive
from onnx import TensorProto, helper

case = partial(case, "nn")


def onnx(op, *inputs, outputs=1, **attributes):
    """What ONNX Runtime gives for one node."""
    names = ["" if v is None else f"i{k}" for k, v in enumerate(inputs)]
    given = {name: value for name, value in zip(names, inputs) if name}
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, kinds[v.dtype], v.shape) for n, v in given.items()],
                              [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, given)
    return found[0] if outputs == 1 else found


x, w = f32(2, 4, 9, 8), f32(6, 4, 3, 3)
case("nn.conv2d(%a, %b, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3])", x, w,
     expect=lambda a, b: onnx("Conv", a, b, pads=[1, 1, 1, 1]))
case("nn.conv2d(%a, %b, strides=[2, 2], padding=[0, 1], dilation=[1, 2])", x, w,
     expect=lambda a, b: onnx("Conv", a, b, strides=[2, 2], pads=[0, 1, 0, 1], dilations=[1, 2]))
case("nn.conv2d(%a, %b, groups=4, padding=[1, 1, 1, 1])", x, f32(8, 1, 3, 3),
     expect=lambda a, b: onnx("Conv", a, b, group=4, pads=[1, 1, 1, 1]))
nhwc, hwio = x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy()
case('nn.conv2d(%a, %b, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO")', nhwc, hwio,
     expect=lambda a, b: onnx("Conv", x, w, pads=[1, 1, 1, 1]).transpose(0, 2, 3, 1))
case('nn.conv2d(%a, %b, groups=4, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWOI")', nhwc, f32(3, 3, 4, 1),
     expect=lambda a, b: onnx("Conv", x, b.transpose(2, 3, 0, 1).copy(), group=4, pads=[1, 1, 1, 1]).transpose(0, 2, 3, 1))
case("nn.conv1d(%a, %b, padding=[1, 1])", f32(2, 4, 9), f32(5, 4, 3), expect=lambda a, b: onnx("Conv", a, b, pads=[1, 1]))
case("nn.conv3d(%a, %b)", f32(1, 2, 5, 6, 7), f32(3, 2, 3, 3, 3), expect=lambda a, b: onnx("Conv", a, b))
case("nn.conv2d_transpose(%a, %b, channels=5, kernel_size=[3, 3], strides=[2, 2], output_padding=[1, 1], padding=[1, 1, 1, 1])",
     x, f32(4, 5, 3, 3), expect=lambda a, b: onnx("ConvTranspose", a, b, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]))
case("nn.conv1d_transpose(%a, %b, strides=[2])", f32(2, 3, 5), f32(3, 4, 3), expect=lambda a, b: onnx("ConvTranspose", a, b, strides=[2]))
case("nn.conv3d_transpose(%a, %b, strides=[1, 2, 1])", f32(1, 2, 3, 4, 3), f32(2, 3, 2, 2, 2),
     expect=lambda a, b: onnx("ConvTranspose", a, b, strides=[1, 2, 1]))
case("nn.max_pool2d(%a, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])", x,
     expect=lambda a: onnx("MaxPool", a, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), open=True)
case("nn.max_pool2d(%a, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], ceil_mode=True)", x,
     expect=lambda a: onnx("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
case("nn.avg_pool2d(%a, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1])", x,
     expect=lambda a: onnx("AveragePool", a, kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
case('nn.avg_pool2d(%a, pool_size=[3, 3], padding=[1, 1, 1, 1], count_include_pad=True, layout="NHWC")', nhwc,
     expect=lambda a: onnx("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1).transpose(0, 2, 3, 1))
case("nn.max_pool1d(%a, pool_size=[3], strides=[2])", f32(2, 3, 9), expect=lambda a: onnx("MaxPool", a, kernel_shape=[3], strides=[2]))
case("nn.avg_pool3d(%a, pool_size=[2, 2, 2], strides=[2, 2, 2])", f32(1, 2, 4, 4, 6),
     expect=lambda a: onnx("AveragePool", a, kernel_shape=[2, 2, 2], strides=[2, 2, 2]))
case("nn.global_avg_pool2d(%a)", x, expect=lambda a: a.mean((2, 3), keepdims=True), open=True)
case('nn.global_max_pool2d(%a, layout="NHWC")', nhwc, expect=lambda a: a.max((1, 2), keepdims=True))
case("nn.adaptive_avg_pool2d(%a, output_size=[1])", x, expect=lambda a: a.mean((2, 3), keepdims=True))
case("nn.adaptive_avg_pool2d(%a, output_size=[3, 2])", x, expect=lambda a: a.reshape(2, 4, 3, 3, 2, 4).mean((3, 5)))
case("nn.adaptive_max_pool2d(%a, output_size=[3, 2])", x, expect=lambda a: a.reshape(2, 4, 3, 3, 2, 4).max((3, 5)))
case("nn.bias_add(%a, %b)", x, f32(4), expect=lambda a, b: a + b[:, None, None], open=True)
case("nn.bias_add(%a, %b, axis=-1)", nhwc, f32(4), expect=lambda a, b: a + b)
case("nn.dense(%a, %b, units=5)", f32(3, 7), f32(5, 7), expect=lambda a, b: a @ b.T)
case("nn.matmul(%a, %b, transpose_a=True)", f32(7, 3), f32(7, 5), expect=lambda a, b: a.T @ b)
case("nn.batch_matmul(%a, %b)", f32(2, 3, 7), f32(2, 5, 7), expect=lambda a, b: a @ b.transpose(0, 2, 1), open=True)
case("nn.batch_matmul(%a, %b, transpose_b=False)", f32(2, 3, 7), f32(1, 7, 5), expect=np.matmul)
i8 = lambda *shape: np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
case('nn.dense(%a, %b, units=5, out_dtype="int32")', i8(3, 7), i8(5, 7), expect=lambda a, b: a.astype(np.int32) @ b.T.astype(np.int32))
case("nn.batch_flatten(%a)", x, expect=lambda a: a.reshape(2, -1), open=True)


def batch_norm(v, g, b, m, s, axis=1, epsilon=1e-5):
    along = lambda t: t.reshape([-1 if i == axis else 1 for i in range(v.ndim)])
    return along(g) * (v - along(m)) / np.sqrt(along(s) + np.float32(epsilon)) + along(b)


g, b, m, s = f32(4), f32(4), f32(4), positive(4)
case("%0 = nn.batch_norm(%a, %b, %c, %d, %e);\n%0.0", x, g, b, m, s, expect=batch_norm)
case("%0 = nn.batch_norm(%a, %b, %c, %d, %e, axis=3, epsilon=0.001f, center=False);\n(%0.0, %0.1, %0.2)", nhwc, g, b, m, s,
     expect=lambda v, g, b, m, s: [batch_norm(v, g, 0 * b, m, s, 3, 1e-3), m, s])


def normalized(v, axes, epsilon=1e-5):
    return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + np.float32(epsilon))


case("nn.layer_norm(%a, %b, %c)", f32(3, 5), f32(5), f32(5), expect=lambda v, g, b: normalized(v, -1) * g + b, open=True)
case("nn.layer_norm(%a, %b, %c, axis=1, scale=False)", f32(3, 5, 2), f32(5), f32(5), expect=lambda v, g, b: normalized(v, 1) + b[:, None])
case("nn.instance_norm(%a, %b, %c)", x, g, b, expect=lambda v, g, b: normalized(v, (2, 3)) * g[:, None, None] + b[:, None, None])
case("nn.group_norm(%a, %b, %c, num_groups=2)", x, g, b,
     expect=lambda v, g, b: normalized(v.reshape(2, 2, 2, 9, 8), (2, 3, 4)).reshape(v.shape) * g[:, None, None] + b[:, None, None])
case("%0 = nn.dropout(%a);\n%0.0", x, expect=lambda a: a)
case("nn.lrn(%a, size=3, bias=1f)", x, expect=lambda a: onnx("LRN", a, size=3, bias=1.0))
case("nn.l2_normalize(%a, eps=1e-10f, axis=[1])", x, expect=lambda a: a / np.sqrt((a * a).sum(1, keepdims=True)))
case("nn.pad(%a, 0, pad_width=[[0, 0], [0, 0], [1, 2], [0, 3]])", x, expect=lambda a: np.pad(a, [(0, 0), (0, 0), (1, 2), (0, 3)]))
case('nn.pad(%a, 0f, pad_width=[[0, 0], [0, 0], [1, 2], [0, 3]], pad_mode="reflect")', x,
     expect=lambda a: np.pad(a, [(0, 0), (0, 0), (1, 2), (0, 3)], "reflect"))
case("nn.mirror_pad(%a, pad_width=[[0, 0], [0, 0], [1, 2], [0, 3]])", x,
     expect=lambda a: np.pad(a, [(0, 0), (0, 0), (1, 2), (0, 3)], "symmetric"))
case("nn.depth_to_space(%a, block_size=2)", f32(1, 8, 2, 3), expect=lambda a: onnx("DepthToSpace", a, blocksize=2))
case('nn.space_to_depth(%a, block_size=2, layout="NHWC")', f32(1, 4, 6, 2),
     expect=lambda a: onnx("SpaceToDepth", a.transpose(0, 3, 1, 2).copy(), blocksize=2).transpose(0, 2, 3, 1))


def dilated(v):
    y = np.full((5, 3), 7, np.float32)
    y[::2] = v
    return y


case("nn.dilate(%a, strides=[2, 1], dilation_value=7f)", f32(3, 3), expect=dilated)

case("nn.avg_pool1d(%a, pool_size=[3], strides=[2])", f32(2, 3, 9), expect=lambda a: onnx("AveragePool", a, kernel_shape=[3], strides=[2]))
case("nn.max_pool3d(%a, pool_size=[2, 2, 2], strides=[2, 2, 2])", f32(1, 2, 4, 4, 6),
     expect=lambda a: onnx("MaxPool", a, kernel_shape=[2, 2, 2], strides=[2, 2, 2]))
case("nn.adaptive_avg_pool1d(%a, output_size=[3])", f32(2, 3, 9), expect=lambda a: a.reshape(2, 3, 3, 3).mean(3))
case("nn.adaptive_avg_pool3d(%a, output_size=[1])", f32(1, 2, 4, 4, 6), expect=lambda a: a.mean((2, 3, 4), keepdims=True))
case("nn.adaptive_max_pool1d(%a, output_size=[3])", f32(2, 3, 9), expect=lambda a: a.reshape(2, 3, 3, 3).max(3))
case("nn.adaptive_max_pool3d(%a, output_size=[1])", f32(1, 2, 4, 4, 6), expect=lambda a: a.max((2, 3, 4), keepdims=True))
blocked = x.reshape(2, 2, 2, 9, 8).transpose(0, 1, 3, 4, 2).copy()
case('nn.contrib_conv2d_NCHWc(%a, %b, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3], data_layout="NCHW2c", '
     'kernel_layout="OIHW2i3o", out_layout="NCHW3c")', blocked, w.reshape(2, 3, 2, 2, 3, 3).transpose(0, 2, 4, 5, 3, 1).copy(),
     expect=lambda *_: onnx("Conv", x, w, pads=[1, 1, 1, 1]).reshape(2, 2, 3, 9, 8).transpose(0, 1, 3, 4, 2))
depthwise = f32(4, 1, 3, 3)
case('nn.contrib_depthwise_conv2d_NCHWc(%a, %b, padding=[1, 1, 1, 1], groups=4, channels=4, kernel_size=[3, 3], data_layout="NCHW2c", '
     'kernel_layout="OIHW1i2o", out_layout="NCHW2c")', blocked, depthwise.reshape(2, 2, 1, 1, 3, 3).transpose(0, 2, 4, 5, 3, 1).copy(),
     expect=lambda *_: onnx("Conv", x, depthwise, pads=[1, 1, 1, 1], group=4).reshape(2, 2, 2, 9, 8).transpose(0, 1, 3, 4, 2))
case("nn.fast_softmax(%a)", f32(2, 5), expect=lambda v: np.exp(v) / np.exp(v).sum(1, keepdims=True))
labels = np.eye(4, dtype=np.float32)[:3]
case("nn.cross_entropy_with_logits(%a, %b)", f32(3, 4), labels, expect=lambda v, t: np.float32(-(v * t).sum() / 3))
case('nn.nll_loss(%a, %b, %c, reduction="sum", ignore_index=-100)', f32(3, 4), np.array([1, 3, 0], np.int64), positive(4),
     expect=lambda v, t, w: np.float32(-(v[np.arange(3), t] * w[t]).sum()))
