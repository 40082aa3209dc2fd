"""QDQ graphs, each quantization in them against exact arithmetic on what the graph itself had before it (exact.py).

Every graph is compiled as it is, with open dims, at -O0, and for cores without vectors, whose C this machine's compiler
takes: Cortex-M4, where integers are used that give float32's results or, as an option, all, and M0+, where all are
used. A stored value may differ from the exact one by one, and only next to a tie. What is tested in detail and at the
extremes for products by constants is in quantization_test.py; here are operators next to each other, as exporters
leave them.

Usage: exact_test.py RELAXC SOURCE_DIR
"""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import exact

RELAXC, SOURCE = sys.argv[1:3]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

U8, S8 = np.uint8, np.int8
PAIRS = list(itertools.product((U8, S8), (U8, S8)))


class Graph:
    """Nodes and constants as they are added; values are names."""

    def __init__(self, seed=3):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.count = [], {}, {}, itertools.count()

    def input(self, *shape, scale=1.0):
        name = f"x{next(self.count)}"
        self.inputs[name] = (self.rng.standard_normal(shape) * scale).astype(np.float32)
        return name

    def constant(self, value):
        name = f"c{next(self.count)}"
        self.constants[name] = np.asarray(value)
        return name

    def op(self, kind, *operands, **attrs):
        name = f"v{next(self.count)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attrs))
        return name

    def quantized(self, value, dtype, scale, zero, **attrs):
        """value → QuantizeLinear → DequantizeLinear."""
        parameters = [self.constant(np.asarray(scale, np.float32)), self.constant(np.asarray(zero, dtype))]
        stored = self.op("QuantizeLinear", value, *parameters, **attrs)
        return self.op("DequantizeLinear", stored, *parameters, **attrs)

    def weights(self, dtype, shape, scale, zero=0, **attrs):
        info = ml_dtypes.iinfo(dtype)
        w = self.rng.integers(int(info.min), int(info.max) + 1, shape).astype(dtype)
        zero = np.broadcast_to(np.asarray(zero), np.shape(scale)).astype(dtype)
        names = [self.constant(w), self.constant(np.asarray(scale, np.float32)), self.constant(zero)]
        return self.op("DequantizeLinear", *names, **attrs)

    def model(self, output):
        constants = []
        for name, value in self.constants.items():
            constants.append(numpy_helper.from_array(value, name))
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name, x in self.inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], constants)
        graph.output[0].type.tensor_type.ClearField("shape")
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


class Exact(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-exact-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.libraries = itertools.count()  # a library is loaded once by its path

    def forms(self, model, fixed, brief=False):
        """(name, model, flags): as it is, with every dim of an input open but those on the axes `fixed`, dims of one
        size being one symbol, and at -O0; `brief`: with open dims alone."""
        if not brief:
            yield "plain", model, ["--mcpu=native"]
            yield "level 0", model, ["-O0"]
        for core in ("cortex-m4", "cortex-m0plus"):
            yield core, model, ["--target", core]
        yield "integers", model, ["--target", "cortex-m4", "--pass-option", "fixed_point_quantization.everywhere=1"]
        opened = onnx.ModelProto()
        opened.CopyFrom(model)
        for value in opened.graph.input:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                if axis not in fixed:
                    dim.dim_param = f"d{dim.dim_value}"
        yield "open dims", opened, ["--print-after=recognize_quantization"]

    def compile(self, file, flags):
        """(library, what relaxc printed); of C if it is for another machine, whose integers are the same."""
        library = self.path / f"m{next(self.libraries)}.so"
        out = library.with_suffix(".c") if "--target" in flags else library
        done = subprocess.run([RELAXC, file, "-o", out, *flags], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        if out != library:
            subprocess.run(["cc", "-std=c99", "-ffp-contract=off", "-shared", "-fPIC", f"-I{SOURCE}/runtime-lite/include", out,
                            Path(RELAXC).parents[1] / "lib/librelax_rt.a", "-lm", "-o", library], check=True)
        return library, done.stderr + done.stdout

    def check(self, graph, output, fixed=(), kernels="", brief=False):
        """`kernels`: what the graph must hold after its quantization was recognized."""
        model = graph.model(output)
        shown, names = exact.with_stages(model)
        self.assertTrue(names)
        for form, one, flags in self.forms(shown, fixed, brief):
            onnx.save(onnx.shape_inference.infer_shapes(one), self.path / "m.onnx")
            library, printed = self.compile(self.path / "m.onnx", flags)
            outputs = [value.name for value in shown.graph.output]
            found = dict(zip(outputs, rlx.Model(library).functions["main"](*graph.inputs.values())))
            for name, size, differ, largest, unexplained in exact.step_by_step(model, graph.inputs, found):
                self.assertEqual(unexplained, 0, f"{form}: {name}: {differ} of {size} differ, by {largest}")
            values, _ = exact.evaluate(model, graph.inputs, found)
            largest = np.abs(values[output]).max()
            np.testing.assert_allclose(found[output], values[output], rtol=1e-5, atol=1e-5 * largest)
        self.assertTrue(kernels in printed, f"{kernels} is not used")

    def test_inverted_residuals(self):
        """MobileNetV2's block: expand, depthwise, project, add; its clips are bounds of the stored type."""
        for dtype, zero, low in ((U8, 121, 0), (S8, 4, -128)):
            g = Graph()
            a = g.quantized(g.input(1, 3, 17, 17), dtype, 0.03, zero)

            def conv(a, out, per_group, k, dtype, scale, zero, clip=True, **attrs):
                w = g.weights(S8, (out, per_group, k, k), g.rng.uniform(2e-3, 4e-3, out), axis=0)
                bias = g.op("DequantizeLinear", g.constant(g.rng.integers(-900, 900, out).astype(np.int32)),
                            g.constant(np.full(out, 1e-3, np.float32)), axis=0)
                y = g.op("Conv", a, w, bias, **attrs)
                if clip:
                    y = g.op("Clip", y, g.constant(np.float32(0)), g.constant(np.float32(6)))
                return g.quantized(y, dtype, scale, zero)

            a = conv(a, 16, 3, 3, dtype, 6 / 255, low, pads=[1] * 4, strides=[2, 2])
            b = conv(a, 32, 16, 1, dtype, 6 / 255, low)
            b = conv(b, 32, 1, 3, dtype, 6 / 255, low, group=32, pads=[1] * 4)
            b = conv(b, 16, 32, 1, dtype, 0.05, zero, clip=False)
            a = g.quantized(g.op("Add", a, b), dtype, 0.055, zero)
            a = conv(a, 24, 16, 1, dtype, 6 / 255, low)
            a = g.quantized(g.op("GlobalAveragePool", a), dtype, 0.02, low)
            a = g.op("Flatten", a)
            w = g.weights(S8, (10, 24), 0.004)
            self.check(g, g.quantized(g.op("Gemm", a, w, transB=1), dtype, 0.04, zero), fixed=(1,),
                       kernels="nn.conv_integer", brief=dtype is S8)

    def test_attention(self):
        """Both products of attention are of two activations; K is transposed, as exporters do."""
        for a, b in PAIRS:
            g = Graph()
            za, zb = (3, 250) if a is U8 else (-128, 127), (255, 0) if b is U8 else (5, -7)
            q = g.quantized(g.input(2, 3, 9, 18), a, 0.02, za[0])
            k = g.quantized(g.input(2, 3, 11, 18), b, 0.021, zb[0])
            v = g.quantized(g.input(2, 3, 11, 18), b, 0.019, zb[1])
            s = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
            s = g.quantized(s, a, 0.06, za[1] if a is S8 else 128)
            s = g.op("Mul", s, g.constant(np.float32(0.25)))
            s = g.quantized(g.op("Softmax", s, axis=-1), a, 1 / 256, 0 if a is U8 else -128)
            self.check(g, g.quantized(g.op("MatMul", s, v), b, 0.015, zb[0]), kernels="matmul_packed_i8", brief=a is b)

    def test_products_of_activations(self):
        for (a, b), (m, k, n) in zip(PAIRS, ((1, 64, 33), (5, 7, 16), (20, 30, 40), (3, 1, 2))):
            g = Graph()
            x = g.quantized(g.input(m, k), a, 0.02, 200 if a is U8 else -128)
            y = g.quantized(g.input(2, k, n), b, 0.02, 255 if b is U8 else 127)
            self.check(g, g.quantized(g.op("MatMul", x, y), a, 0.07, 100), kernels="matmul_packed_i8", brief=a is S8)

    def test_dynamic_products(self):
        """Scales and zero points of both operands are known at run time only."""
        g = Graph()
        x, y = g.input(6, 20), g.input(20, 24)
        qx, sx, zx = "qx", "sx", "zx"
        qy, sy, zy = "qy", "sy", "zy"
        g.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], [qx, sx, zx]))
        g.nodes.append(helper.make_node("DynamicQuantizeLinear", [y], [qy, sy, zy]))
        sums = g.op("MatMulInteger", qx, qy, zx, zy)
        model = g.model(sums)
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
        for name in (qx, zx, qy, zy):
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.UINT8, None))
            model.graph.output[-1].type.tensor_type.ClearField("shape")
        for _, one, flags in self.forms(model, ()):
            onnx.save(onnx.shape_inference.infer_shapes(one), self.path / "m.onnx")
            library, _ = self.compile(self.path / "m.onnx", flags)
            s, a, za, b, zb = rlx.Model(library).functions["main"](*g.inputs.values())
            np.testing.assert_array_equal(s, (a.astype(np.int64) - int(za)) @ (b.astype(np.int64) - int(zb)))

    def test_elementwise_and_pools(self):
        for dtype, zero in ((U8, 77), (S8, -20)):
            g = Graph()
            a = g.quantized(g.input(1, 6, 8, 10), dtype, 0.03, zero)
            b = g.quantized(g.input(1, 6, 8, 10), dtype, 0.02, zero + 9)
            c = g.quantized(g.op("Mul", a, b), dtype, 0.04, zero)
            d = g.quantized(g.op("Add", c, b), dtype, 0.033, zero)
            e = g.quantized(g.op("Concat", c, d, axis=1), dtype, 0.041, zero)
            f = g.quantized(g.op("AveragePool", e, kernel_shape=[3, 3], strides=[2, 1]), dtype, 0.03, zero)
            f = g.quantized(g.op("Gelu", f), dtype, 0.011, zero)
            f = g.quantized(g.op("Tanh", f), dtype, 1 / 120, zero)
            f = g.quantized(g.op("Softmax", f, axis=1), dtype, 1 / 256, 0 if dtype is U8 else -128)
            self.check(g, g.quantized(g.op("MaxPool", f, kernel_shape=[2, 2]), dtype, 0.01, zero), fixed=(1,),
                       brief=dtype is S8)

    def test_activations_by_axis(self):
        """One scale a channel, which no product of integers can take out of its sum along that channel."""
        g = Graph()
        scale = g.rng.uniform(0.02, 0.04, 12)
        a = g.quantized(g.input(2, 12, 6, 6), S8, scale, np.zeros(12, S8), axis=1)
        y = g.op("Conv", a, g.weights(S8, (12, 1, 3, 3), g.rng.uniform(1e-3, 2e-3, 12), axis=0), group=12)
        y = g.quantized(y, S8, scale, np.arange(12), axis=1)
        y = g.op("Conv", y, g.weights(S8, (8, 12, 1, 1), g.rng.uniform(1e-3, 2e-3, 8), axis=0))
        self.check(g, g.quantized(y, U8, 0.02, 99), fixed=(1,))

    def test_blocks(self):
        """Data that is quantized in blocks along the inner dim of a product."""
        g = Graph()
        scale = g.rng.uniform(0.01, 0.03, (5, 4))
        a = g.quantized(g.input(5, 64), S8, scale, np.full((5, 4), 3), axis=1, block_size=16)
        w = g.weights(S8, (64, 24), g.rng.uniform(1e-3, 2e-3, (4, 24)), axis=0, block_size=16)
        self.check(g, g.quantized(g.op("MatMul", a, w), U8, 0.01, 128), fixed=(0, 1))

    def test_sixteen_bits(self):
        for dtype, zero in ((np.uint16, 30000), (np.int16, -77)):
            g = Graph()
            a = g.quantized(g.input(2, 8, 7, 9), dtype, 2e-4, zero)
            y = g.op("Conv", a, g.weights(S8, (12, 8, 3, 3), g.rng.uniform(1e-3, 2e-3, 12), axis=0), pads=[1] * 4)
            y = g.quantized(g.op("Relu", y), dtype, 3e-4, zero)
            y = g.quantized(g.op("Add", y, y), dtype, 4e-4, zero)
            y = g.op("MatMul", y, g.weights(S8, (9, 20), 0.003))
            self.check(g, g.quantized(y, dtype, 5e-4, zero), fixed=(1, 3))

    def test_weights_of_four_bits(self):
        for dtype, zero in ((ml_dtypes.int4, 0), (ml_dtypes.uint4, 7)):
            g = Graph()
            a = g.quantized(g.input(2, 8, 7, 7), U8, 0.03, 128)
            y = g.op("Conv", a, g.weights(dtype, (12, 8, 3, 3), g.rng.uniform(0.02, 0.03, 12), zero, axis=0))
            y = g.quantized(y, U8, 0.06, 120)
            y = g.op("MatMul", y, g.weights(dtype, (5, 30), g.rng.uniform(0.02, 0.03, 30), zero, axis=1))
            self.check(g, g.quantized(y, S8, 0.05, 0), fixed=(1, 3), kernels="int8")

    def test_channels_without_a_line(self):
        """Integers give float32's results for all sums in four channels, and in the last one nowhere near a tie: it keeps
        float32 in the kernel of the others. At -Os, which has one form, the layer keeps it."""
        scale = np.float32([0.00103127, 0.00213581, 0.00351973, 0.00072447, 0.00172950735])
        bias = np.float32([40.321709, 55.518427, 91.137215, 33.271828, 78.0485535])
        steps, rest = np.divmod(np.arange(-25500, 25500), 100)
        x = np.stack([np.maximum(steps, 0), np.maximum(-steps, 0), rest], 1).astype(np.uint8)
        numbers = {name: ", ".join(map(str, values)) for name, values in (("scale", scale), ("bias", bias))}
        (self.path / "m.relax").write_text(f"""
@R.function
def main(x: R.Tensor(({len(x)}, 3), "uint8")) -> R.Tensor(({len(x)}, 5), "uint8"):
    with R.dataflow():
        w = R.const([[100] * 5, [-100] * 5, [1] * 5], "int8")
        y = R.matmul(x, w, out_dtype="int32")
        out = R.requantize(y, R.const([{numbers["scale"]}], "float32"), R.const([{numbers["bias"]}], "float32"),
                           zero_point=0, low=0, high=255)
        R.output(out)
    return out
""".replace("[100] * 5", str([100] * 5)).replace("[-100] * 5", str([-100] * 5)).replace("[1] * 5", str([1] * 5)))
        sums = (100 * steps + rest).astype(np.float32)[:, None]
        wanted = np.clip(np.rint(sums * scale + bias), 0, 255).astype(np.uint8)
        for level, mixed in (("-O2", True), ("-Os", False)):
            library, printed = self.compile(self.path / "m.relax", [
                level, "--target", "cortex-m4", "--print-after=fixed_point_quantization"])
            self.assertEqual("right=" in printed, mixed, level)
            np.testing.assert_array_equal(rlx.Model(library).functions["main"](x)[0], wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
