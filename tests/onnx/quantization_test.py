"""Quantized operators against exact arithmetic on their integers.

The reference multiplies and sums int64, and scales in float64, whose error is nothing beside that of float32. A result
may differ from the rounded reference by one quantum, and only where the reference is next to a tie: there alone the
roundings of a float32 scale decide. Data holds every extreme (0 and 255, -128 and 127, in runs that add up), zero points
are at the ends of their ranges, and scales are such that some results saturate.

Usage: quantization_test.py RELAXC SOURCE_DIR
"""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RELAXC, SOURCE = sys.argv[1:3]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

NEAR_TIE = 1e-3
# CPU, features: dot products of bytes on all machines that have them, pairs of 16 bits, and neither.
TARGETS = (["--mcpu=native"], ["--mcpu=x86-64-v3"], ["--mcpu=x86-64"])


def proto(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def integers(rng, dtype, shape):
    """All values, with the extremes as often as the rest together."""
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max + 1, shape)
    edge = rng.integers(0, 4, shape)
    return np.where(edge == 0, info.min, np.where(edge == 1, info.max, x)).astype(dtype)


def convolution(x, w, strides, pads, dilations, group):
    """Sums of products in int64 of [N, C, H, W] by [O, C/group, kh, kw]."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    out, per_group, kh, kw = w.shape
    rows = (x.shape[2] - dilations[0] * (kh - 1) - 1) // strides[0] + 1
    columns = (x.shape[3] - dilations[1] * (kw - 1) - 1) // strides[1] + 1
    y = np.zeros((x.shape[0], out, rows, columns), np.int64)
    for o, i, j in itertools.product(range(out), range(kh), range(kw)):
        first = o // (out // group) * per_group
        part = x[:, first : first + per_group, i * dilations[0] :, j * dilations[1] :]
        part = part[:, :, : (rows - 1) * strides[0] + 1 : strides[0], : (columns - 1) * strides[1] + 1 : strides[1]]
        y[:, o] += np.einsum("nchw,c->nhw", part, w[o, :, i, j])
    return y


class Quantization(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-quantization-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.rng = np.random.default_rng(7)
        self.models = itertools.count()  # a library is loaded once by its path

    def run_model(self, nodes, data, constants, outputs):
        """Results on every target, which must agree; `outputs`: name, dtype and rank."""
        graph = helper.make_graph(
            nodes, "quantized", [helper.make_tensor_value_info(k, proto(v.dtype), v.shape) for k, v in data.items()],
            [helper.make_tensor_value_info(name, proto(dtype), [None] * rank) for name, dtype, rank in outputs],
            [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), self.path / "model.onnx")
        first = None
        for number, target in enumerate(TARGETS):
            library = self.path / f"model{next(self.models)}.so"
            done = subprocess.run([RELAXC, self.path / "model.onnx", *target, "-o", library], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            if target == ["--mcpu=native"] or "avx2" in Path("/proc/cpuinfo").read_text() or number == 2:
                results = rlx.Model(library).functions["main"](*data.values())
                first = first or results
                for a, b in zip(first, results):
                    tolerance = 1e-6 * np.abs(a).max() if a.dtype.kind == "f" else 0  # float sums have an order
                    np.testing.assert_allclose(a, b, 0, tolerance, err_msg=f"{target} and {TARGETS[0]} differ")
        return first

    def check(self, found, real, zero, dtype):
        """`real`: the exact quotient by the scale."""
        info = np.iinfo(dtype)
        exact = np.clip(np.rint(real) + zero, info.min, info.max).astype(np.int64)
        off = np.abs(found.astype(np.int64) - exact)
        from_tie = np.abs(np.abs(real - np.floor(real)) - 0.5)
        self.assertEqual(found.shape, exact.shape)
        self.assertLessEqual(off.max(), 1)
        self.assertTrue(np.all((off == 0) | (from_tie < NEAR_TIE)), f"{np.count_nonzero(off)} of {off.size} are off")

    def check_conv(self, x_dtype, w_dtype, x_zero, w_zero, y_zero, size, weights, per_channel=False, bias=True, **attrs):
        rng = self.rng
        x, w = integers(rng, x_dtype, size), integers(rng, w_dtype, weights)
        scales = (rng.uniform(0.5, 1, weights[0] if per_channel else ()) * 2.0 ** -7).astype(np.float32)
        x_scale, y_scale = np.float32(0.25), np.float32(0.31 * np.sqrt(np.prod(weights[1:])))
        b = rng.integers(-20000, 20000, weights[0]).astype(np.int32)
        constants = {"xs": x_scale, "xz": x_dtype(x_zero), "w": w, "ws": scales,
                     "wz": np.full(scales.shape, w_zero, w_dtype), "ys": y_scale, "yz": x_dtype(y_zero), "b": b}
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"] + (["b"] if bias else [])
        node = helper.make_node("QLinearConv", names, ["y"], **attrs)
        found = self.run_model([node], {"x": x}, constants, [("y", x_dtype, 4)])[0]
        total = convolution(x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero, attrs.get("strides", [1, 1]),
                            attrs.get("pads", [0] * 4), attrs.get("dilations", [1, 1]), attrs.get("group", 1))
        if bias:
            total += b.reshape(1, -1, 1, 1)
        factor = np.float64(x_scale) * scales.astype(np.float64).reshape(-1, 1, 1) / np.float64(y_scale)
        self.check(found, total * factor, y_zero, x_dtype)

    def test_conv_3x3(self):
        self.check_conv(np.uint8, np.int8, 255, 0, 0, (1, 16, 9, 15), (20, 16, 3, 3), True, pads=[1, 1, 1, 1])

    def test_conv_signed(self):
        self.check_conv(np.int8, np.int8, -128, 0, 127, (2, 8, 6, 7), (16, 8, 3, 3), pads=[1, 0, 1, 2], strides=[2, 1])

    def test_conv_of_three_channels(self):
        self.check_conv(np.uint8, np.int8, 114, 0, 3, (1, 3, 11, 12), (10, 3, 3, 3), True, pads=[1] * 4, strides=[2, 2])

    def test_conv_1x1(self):
        self.check_conv(np.uint8, np.int8, 0, 0, 128, (1, 24, 5, 6), (33, 24, 1, 1), True)

    def test_conv_1x1_with_stride_and_padding(self):
        self.check_conv(np.uint8, np.int8, 200, 0, 128, (1, 8, 5, 6), (4, 8, 1, 1), strides=[2, 2], pads=[1, 1, 0, 0])

    def test_conv_of_weights_beyond_int8(self):
        self.check_conv(np.uint8, np.uint8, 17, 255, 9, (1, 6, 5, 6), (18, 6, 3, 3), pads=[1] * 4)
        self.check_conv(np.uint8, np.uint8, 17, 0, 9, (1, 6, 5, 6), (18, 6, 3, 3), pads=[1] * 4, dilations=[2, 1])

    def test_conv_depthwise(self):
        self.check_conv(np.uint8, np.int8, 255, 0, 0, (1, 20, 8, 9), (20, 1, 3, 3), True, group=20, pads=[1] * 4)
        self.check_conv(np.int8, np.int8, 127, 0, 0, (1, 20, 8, 9), (40, 1, 3, 3), group=20, strides=[2, 2])
        self.check_conv(np.uint8, np.uint8, 17, 3, 9, (1, 20, 8, 9), (20, 1, 3, 3), True, group=20, pads=[1] * 4)

    def test_conv_in_groups(self):
        self.check_conv(np.uint8, np.int8, 3, 0, 0, (1, 12, 5, 6), (6, 4, 3, 3), group=3, pads=[1] * 4, bias=False)
        self.check_conv(np.int8, np.uint8, 3, 255, 0, (1, 12, 5, 6), (6, 4, 3, 3), group=3, pads=[1] * 4)

    def check_matmul(self, x_dtype, w_dtype, x_zero, w_zero, shape, outputs):
        x, w = integers(self.rng, x_dtype, shape), integers(self.rng, w_dtype, (shape[-1], outputs))
        zero = np.asarray(w_zero, w_dtype)
        node = helper.make_node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])
        found = self.run_model([node], {"x": x}, {"w": w, "xz": x_dtype(x_zero), "wz": zero},
                               [("y", np.int32, len(shape))])[0]
        np.testing.assert_array_equal(found, (x.astype(np.int64) - x_zero) @ (w.astype(np.int64) - zero.astype(np.int64)))

    def test_matmul_integer(self):
        self.check_matmul(np.uint8, np.int8, 255, 0, (5, 64), 48)
        self.check_matmul(np.int8, np.int8, -128, 127, (2, 3, 30), 17)
        self.check_matmul(np.uint8, np.uint8, 0, 255, (7, 33), 16)
        self.check_matmul(np.uint8, np.uint8, 9, np.arange(20) * 13, (15, 100), 20)
        self.check_matmul(np.uint8, np.int8, 128, 0, (1, 1, 1024), 100)

    def test_sums_do_not_saturate(self):
        """255 * -128 four times over, which 16 bits do not hold."""
        x, w = np.full((16, 512), 255, np.uint8), np.full((512, 32), -128, np.int8)
        node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
        found = self.run_model([node], {"x": x}, {"w": w}, [("y", np.int32, 2)])[0]
        np.testing.assert_array_equal(found, np.full((16, 32), 255 * -128 * 512))

    def test_qlinear_matmul(self):
        x, w = integers(self.rng, np.uint8, (9, 36)), integers(self.rng, np.int8, (36, 25))
        constants = {"xs": np.float32(0.5), "xz": np.uint8(0), "w": w, "ws": np.float32(2 ** -6), "wz": np.int8(0),
                     "ys": np.float32(8), "yz": np.uint8(128)}  # powers of two: ties are ties
        node = helper.make_node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])
        found = self.run_model([node], {"x": x}, constants, [("y", np.uint8, 2)])[0]
        exact = np.rint((x.astype(np.int64) @ w.astype(np.int64)) * 2.0 ** -10) + 128
        np.testing.assert_array_equal(found, np.clip(exact, 0, 255))

    def qdq(self, nodes, name, dtype, scale, zero, constants):
        constants |= {f"{name}_s": np.float32(scale), f"{name}_z": dtype(zero)}
        nodes.append(helper.make_node("QuantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], [f"{name}_d"]))
        return f"{name}_d"

    def test_qdq_network(self):
        """conv, relu, a residual block, max pool, global average: quantized weights, float input and output."""
        for dtype, zero in ((np.uint8, 128), (np.int8, -7)):
            rng, nodes, constants = self.rng, [], {}
            x = rng.standard_normal((1, 3, 12, 12)).astype(np.float32)

            def weights(name, shape):
                w = integers(rng, np.int8, shape)
                constants.update({name: w, f"{name}_s": rng.uniform(1e-3, 2e-3, shape[0]).astype(np.float32),
                                  f"{name}_z": np.zeros(shape[0], np.int8)})
                nodes.append(helper.make_node("DequantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_d"],
                                              axis=0))
                constants[f"{name}_b"] = rng.standard_normal(shape[0]).astype(np.float32)
                return [f"{name}_d", f"{name}_b"]

            def conv(data, name, shape, **attrs):
                nodes.append(helper.make_node("Conv", [data, *weights(name + "w", shape)], [name], **attrs))
                return name

            a = self.qdq(nodes, "x", dtype, 0.03, zero, constants)
            a = conv(a, "c1", (8, 3, 3, 3), pads=[1] * 4)
            nodes.append(helper.make_node("Relu", [a], ["r1"]))
            a = self.qdq(nodes, "r1", dtype, 0.05, -128 if dtype is np.int8 else 0, constants)
            nodes.append(helper.make_node("MaxPool", [a], ["m1"], kernel_shape=[2, 2], strides=[2, 2]))
            a = self.qdq(nodes, "m1", dtype, 0.05, -128 if dtype is np.int8 else 0, constants)
            b = conv(a, "c2", (8, 8, 3, 3), pads=[1] * 4)
            b = self.qdq(nodes, "c2", dtype, 0.06, zero, constants)
            nodes.append(helper.make_node("Add", [a, b], ["s1"]))
            a = self.qdq(nodes, "s1", dtype, 0.08, zero, constants)
            nodes.append(helper.make_node("Sigmoid", [a], ["g1"]))
            a = self.qdq(nodes, "g1", dtype, 1 / 255, -128 if dtype is np.int8 else 0, constants)
            nodes.append(helper.make_node("GlobalAveragePool", [a], ["y"]))
            names = ("x", "r1", "m1", "c2", "s1", "g1")
            found = self.run_model(nodes, {"x": x}, constants,
                                   [(f"{name}_q", dtype, 4) for name in names] + [("y", np.float32, 4)])
            self.check_stages(dict(zip(names, found)), found[-1], constants, x, zero)

    def check_stages(self, found, y, constants, x, zero):
        """Each stage by what the one before gave, so that a tie which goes the other way is counted once."""
        dtype = found["x"].dtype
        low = int(np.iinfo(dtype).min)
        scale = {name: np.float64(np.float32(constants[f"{name}_s"])) for name in found}
        q = {name: value.astype(np.int64) for name, value in found.items()}

        def conv(name, z, weights):
            total = convolution(q[name] - z, constants[weights].astype(np.int64), [1, 1], [1] * 4, [1, 1], 1)
            factor = scale[name] * constants[weights + "_s"].astype(np.float64).reshape(-1, 1, 1)
            return total * factor + constants[weights + "_b"].astype(np.float64).reshape(-1, 1, 1)

        self.check(found["x"], x.astype(np.float64) / scale["x"], zero, dtype)
        self.check(found["r1"], np.maximum(conv("x", zero, "c1w"), 0) / scale["r1"], low, dtype)
        np.testing.assert_array_equal(q["m1"], q["r1"].reshape(1, 8, 6, 2, 6, 2).max((3, 5)))
        self.check(found["c2"], conv("m1", low, "c2w") / scale["c2"], zero, dtype)
        total = (q["m1"] - low) * scale["m1"] + (q["c2"] - zero) * scale["c2"]
        self.check(found["s1"], total / scale["s1"], zero, dtype)
        self.check(found["g1"], 1 / (1 + np.exp(-(q["s1"] - zero) * scale["s1"])) / scale["g1"], low, dtype)
        np.testing.assert_allclose(y, (q["g1"] - low).mean((2, 3), keepdims=True) * scale["g1"], rtol=1e-5)

    def test_dynamic_quantization(self):
        x, w = self.rng.standard_normal((6, 40)).astype(np.float32), integers(self.rng, np.int8, (40, 24))
        nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                 helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["y"])]
        y, q, z = self.run_model(nodes, {"x": x}, {"w": w, "wz": np.int8(5)},
                                 [("y", np.int32, 2), ("q", np.uint8, 2), ("z", np.uint8, 0)])
        np.testing.assert_array_equal(y, (q.astype(np.int64) - int(z)) @ (w.astype(np.int64) - 5))


    def check_weight_only(self, nodes, constants, real, k, n):
        for rows in (1, 19):
            x = self.rng.standard_normal((rows, k)).astype(np.float32)
            found = self.run_model(nodes, {"x": x}, constants, [("y", np.float32, 2)])[0]
            exact = x.astype(np.float64) @ real
            np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5 * np.abs(exact).max())

    def test_weights_by_column(self):
        w, s = integers(self.rng, np.int8, (160, 200)), self.rng.uniform(0.01, 0.02, 200).astype(np.float32)
        nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=1),
                 helper.make_node("MatMul", ["x", "f"], ["y"])]
        z = integers(self.rng, np.int8, (200,))
        real = (w.astype(np.float64) - z.astype(np.float64)) * s.astype(np.float64)
        self.check_weight_only(nodes, {"w": w, "s": s, "z": z}, real, 160, 200)

    def test_weights_by_block(self):
        for dtype, transposed in ((np.int8, False), (np.uint8, True)):
            shape, axis = ((160, 200), 0) if not transposed else ((200, 160), 1)
            w = integers(self.rng, dtype, shape)
            few = (5, 200) if not transposed else (200, 5)
            s, z = self.rng.uniform(0.01, 0.02, few).astype(np.float32), integers(self.rng, dtype, few)
            nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=axis, block_size=32)]
            nodes += [helper.make_node("Transpose", ["f"], ["t"])] if transposed else []
            nodes += [helper.make_node("MatMul", ["x", "t" if transposed else "f"], ["y"])]
            real = w.astype(np.float64) - np.repeat(z, 32, axis).astype(np.float64)
            real *= np.repeat(s, 32, axis).astype(np.float64)
            self.check_weight_only(nodes, {"w": w, "s": s, "z": z}, real.T if transposed else real, 160, 200)

    def test_matmul_nbits(self):
        for bits in (2, 4, 8):
            n, k, size = 50, 192, 32
            q = self.rng.integers(0, 1 << bits, (n, k))
            s = self.rng.uniform(0.01, 0.02, (n, k // size)).astype(np.float32)
            parts = q.reshape(n, k // size, -1, 8 // bits) << (np.arange(8 // bits) * bits)
            node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=k, N=n, bits=bits,
                                    block_size=size)
            real = (q - (1 << (bits - 1))) * np.repeat(s, size, 1).astype(np.float64)
            self.check_weight_only([node], {"w": parts.sum(-1).astype(np.uint8), "s": s.reshape(-1)}, real.T, k, n)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
