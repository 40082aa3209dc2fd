"""Random quantized networks, fused, against exact arithmetic: to the bit.

exact_test.py shows every stage as an output and judges each by what came before it; shown stages are not fused. Here
networks keep their insides to themselves. One is taken if in exact arithmetic none of its quotients is so near to a
tie that the roundings of float32 could decide it (NEAR), or if it is a mean that is exactly on one: those are whole
numbers over a count, which every machine divides alike. Its result must then be that of exact arithmetic in every bit,
at every level that sums stored values, for every vector length, as it is and with an open batch.

Usage: exact_networks.py RELAXC SOURCE_DIR FIRST_SEED COUNT
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import exact

NEAR = 1e-4
FORMS = (["-O2"], ["-O1", "--mcpu=x86-64"], ["-O3", "--mcpu=native"])


class Network:
    """A chain of blocks over one quantized tensor; `real` is its dequantization, `scale` and `zero` its numbers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.dtype = self.rng.choice([np.uint8, np.int8])
        self.nodes, self.constants, self.count, self.means = [], [], itertools.count(), set()
        self.shape = [1, int(self.rng.choice([3, 4, 8])), *(int(n) for n in self.rng.choice([4, 6, 8, 12], 2))]
        info = np.iinfo(self.dtype)
        self.data = self.rng.integers(info.min, int(info.max) + 1, self.shape).astype(self.dtype)
        self.scale, self.zero = np.float32(self.rng.uniform(0.01, 0.05)), self.dtype(self.rng.integers(info.min, info.max))
        self.stored, self.real = "x", self.dequantized("x", self.scale, self.zero)

    def numbers(self, value):
        """Scale and zero point that suit what `value` is on the network's input, and now and then cut some of it off."""
        values, _ = exact.evaluate(self.model_of(value), {"x": self.data})
        low, high = min(values[value].min(), 0), max(values[value].max(), 0)
        scale = np.float32(max(high - low, 1e-3) / 255 * self.rng.uniform(0.8, 1.1))
        info = np.iinfo(self.dtype)
        return scale, self.dtype(np.clip(np.rint(info.min - low / scale), info.min, info.max))

    def constant(self, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{next(self.count)}"))
        return self.constants[-1].name

    def op(self, kind, *operands, **attrs):
        name = f"v{next(self.count)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attrs))
        return name

    def dequantized(self, stored, scale, zero, **attrs):
        return self.op("DequantizeLinear", stored, self.constant(scale), self.constant(zero), **attrs)

    def quantize(self, value, numbers=None):
        self.scale, self.zero = numbers or self.numbers(value)
        self.stored = self.op("QuantizeLinear", value, self.constant(self.scale), self.constant(self.zero))
        self.real = self.dequantized(self.stored, self.scale, self.zero)

    def quantize_mean(self, value):
        """By the scale of what the mean was taken of, or a half or twice of it, so that it may be on a tie."""
        scale = np.float32(self.scale * self.rng.choice([1, 1, 0.5, 2]))
        self.quantize(value, (scale, self.zero))
        self.means.add(self.stored)

    def weights(self, shape, axis):
        """Dequantized weights and their scale: by channel or by tensor, symmetric or (uint8) not."""
        channels, by_channel = shape[axis], self.rng.random() < 0.6
        dtype = self.rng.choice([np.int8, np.uint8]) if not by_channel else np.int8
        zero = dtype(0) if dtype is np.int8 else dtype(self.rng.integers(100, 156))
        info = np.iinfo(dtype)
        w = self.rng.integers(info.min, int(info.max) + 1, shape).astype(dtype)
        scale = self.rng.uniform(0.5, 1, channels if by_channel else ()).astype(np.float32) * np.float32(2**-7)
        attrs = {"axis": axis} if by_channel else {}
        name = self.dequantized(self.constant(w), scale, np.full(scale.shape, zero), **attrs)
        return name, scale

    def bias(self, channels, scale):
        values = self.rng.integers(-3000, 3000, channels).astype(np.int32)
        scale = np.broadcast_to(self.scale * scale, (channels,)).astype(np.float32).copy()
        return self.dequantized(self.constant(values), scale, np.zeros(channels, np.int32), axis=0)

    def conv(self):
        _, channels, *size = self.shape
        depthwise = self.rng.random() < 0.3
        out = channels if depthwise else int(self.rng.choice([5, 8, 16]))
        k = int(self.rng.choice([1, 3]))
        stride = int(self.rng.choice([1, 1, 2])) if min(size) > 5 else 1
        per_group = 1 if depthwise else channels
        w, scale = self.weights((out, per_group, k, k), 0)
        y = self.op("Conv", self.real, w, *([self.bias(out, scale)] if self.rng.random() < 0.7 else []),
                    group=channels if depthwise else 1, strides=[stride] * 2, pads=[k // 2] * 4)
        if self.rng.random() < 0.5:
            y = self.op("Relu", y)
        self.shape = [1, out, *((n + k // 2 * 2 - k) // stride + 1 for n in size)]
        self.quantize(y)

    def residual(self):
        before, shape = self.real, self.shape
        self.conv()
        while self.shape != shape:
            before, shape = self.real, self.shape
            self.conv()
        y = self.op("Add", before, self.real)
        if self.rng.random() < 0.5:
            y = self.op("Relu", y)
        self.quantize(y)

    def pool(self):
        if min(self.shape[2:]) < 2:
            return
        k, stride = 2 if min(self.shape[2:]) < 4 else int(self.rng.choice([2, 3, 4])), int(self.rng.choice([1, 2]))
        y = self.op("AveragePool", self.real, kernel_shape=[k, k], strides=[stride] * 2)
        self.shape[2:] = [(n - k) // stride + 1 for n in self.shape[2:]]
        self.quantize_mean(y)

    def head(self):
        y = self.op("GlobalAveragePool", self.real)
        self.quantize_mean(y)
        flat = self.op("Flatten", self.real)
        w, scale = self.weights((self.shape[1], 10), 1)
        y = self.op("MatMul", flat, w)
        self.quantize(self.op("Add", y, self.bias(10, scale)))

    def model_of(self, output):
        proto = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info("x", proto, self.data.shape)],
            [helper.make_tensor_value_info(output, proto, [1, 10])], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def model(self):
        for _ in range(int(self.rng.integers(2, 5))):
            self.rng.choice([self.conv, self.residual, self.pool])()
        self.head()
        return self.model_of(self.stored)


def decided(network, quotients):
    """Whether no quotient is nearer to a tie than float32 can represent. Of a mean, only quotients that are not ties
    count."""
    for name, q in quotients.items():
        low, high = exact.LIMITS[q.dtype]
        inside = (q.real + q.zero > low - 1) & (q.real + q.zero < high + 1)
        from_tie = np.abs(np.abs(q.real - np.floor(q.real)) - 0.5)
        near = from_tie < NEAR
        if name in network.means:
            near &= from_tie > 1e-9
        if np.any(near & inside):
            return False
    return True


def main(relaxc, source, first, count):
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    taken = ties = seed = wrong = 0
    with tempfile.TemporaryDirectory(prefix="relaxc-networks-") as folder:
        for seed in itertools.count(int(first)):
            if taken == int(count):
                break
            network = Network(seed)
            model, x = network.model(), network.data
            values, quotients = exact.evaluate(model, {"x": x})
            if not decided(network, quotients):
                continue
            taken += 1
            ties += sum(np.count_nonzero(np.abs(np.abs(q.real - np.floor(q.real)) - 0.5) < 1e-9)
                        for name, q in quotients.items() if name in network.means)
            for form, flags in enumerate(FORMS):
                for value in (model.graph.input[0], model.graph.output[0]):
                    value.type.tensor_type.shape.dim[0].dim_param = "n" if form == 1 else ""
                    if form != 1:
                        value.type.tensor_type.shape.dim[0].dim_value = 1
                library = f"{folder}/m{seed}_{form}.so"
                onnx.save(model, f"{folder}/m.onnx")
                subprocess.run([relaxc, f"{folder}/m.onnx", "-o", library, *flags], check=True)
                found, = rlx.Model(library).functions["main"](x)
                if not np.array_equal(found, values[network.stored]):
                    wrong += 1
                    off = np.abs(found.astype(int) - values[network.stored].astype(int))
                    print(f"seed {seed}, {' '.join(flags)}: {np.count_nonzero(off)} results differ, by up to {off.max()}")
    print(f"{taken} of {seed - int(first)} networks have no quotient next to a tie but {ties} means on one: "
          f"{wrong} of {taken * len(FORMS)} results are not exact")
    return int(wrong > 0 or ties == 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
