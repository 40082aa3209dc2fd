"""make_model.py: trains a network of bytes on real handwritten digits, and writes digits8.onnx and samples8.h.

It is the network of ../digits with 8 and 16 channels instead of 24 and 48: 3,818 parameters. After training, weights are
rounded to int8 with one scale for each output channel, and activations to uint8 with ranges measured on the training
digits; the file holds QuantizeLinear and DequantizeLinear as quantizers write them (opset 17). Pixels, 0 to 16, are their
own integers: scale 1, zero point 0.

Usage: pip install -r ../digits/requirements.txt, then python3 make_model.py. The same packages give the same file.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))
import train as digits  # noqa: E402

CHANNELS = (8, 16)


def quantized_weight(weight):
    """int8 values and the scale of each output channel."""
    rows = weight.reshape(len(weight), -1)
    scale = (np.abs(rows).max(1) / 127).astype(np.float32)
    shape = (-1,) + (1,) * (weight.ndim - 1)
    return np.clip(np.rint(weight / scale.reshape(shape)), -127, 127).astype(np.int8), scale


def export(p, ranges, path):
    """The network between a quantization and a dequantization: image [1, 1, 8, 8] of 0..16 to logits [1, 10]."""
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def around(x, name, scale, zero):
        """x through the integers of that scale and zero point."""
        pair = [constant(name + ".scale", np.float32(scale)), constant(name + ".zero", zero)]
        return node("DequantizeLinear", [node("QuantizeLinear", [x, *pair], name + ".q"), *pair], name)

    def weight(name, value, x_scale, bias):
        """A weight and its bias as integers, made real again."""
        stored, scale = quantized_weight(value)
        zeros = constant(name + ".zero", np.zeros(len(scale), np.int8))
        pair = [constant(name, stored), constant(name + ".scale", scale), zeros]
        sums = (scale * np.float32(x_scale)).astype(np.float32)
        whole = constant(name + ".bias", np.rint(bias / sums).astype(np.int32))
        real = node("DequantizeLinear", [whole, constant(name + ".bias.scale", sums)], name + ".b", axis=0)
        return node("DequantizeLinear", pair, name + ".w", axis=0), real

    def unsigned(name):
        return np.float32(ranges[name] / 255)

    padded = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    x = around("image", "pixels", 1, np.uint8(0))
    x = node("Relu", [node("Conv", [x, *weight("conv1", p["conv1.weight"] / np.float32(16), 1, p["conv1.bias"])],
                           "c1", **padded)], "r1")
    x = around(x, "a1", unsigned("r1"), np.uint8(0))
    x = node("Relu", [node("Conv", [x, *weight("conv2", p["conv2.weight"], unsigned("r1"), p["conv2.bias"])],
                           "c2", **padded)], "r2")
    x = around(x, "a2", unsigned("r2"), np.uint8(0))
    x = around(node("MaxPool", [x], "pooled", kernel_shape=[2, 2], strides=[2, 2]), "a3", unsigned("r2"), np.uint8(0))
    x = node("Flatten", [x], "flat", axis=1)
    x = node("Gemm", [x, *weight("fc", p["fc.weight"], unsigned("r2"), p["fc.bias"])], "sums", transB=1)
    scale = np.float32(ranges["logits"] / 127)
    pair = [constant("out.scale", scale), constant("out.zero", np.int8(0))]
    node("DequantizeLinear", [node("QuantizeLinear", [x, *pair], "logits.q"), *pair], "logits")
    graph = helper.make_graph(
        nodes, "digits8", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_model.py")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def measured_ranges(p, images):
    """The largest activations behind each Relu, and the largest magnitude of a logit."""
    logits, (_, r1, _, r2, _, _) = digits.forward(p, images)
    return {"r1": np.quantile(r1, 0.9999), "r2": np.quantile(r2, 0.9999), "logits": np.abs(logits).max()}


def write_samples(images, target, path, count=12):
    rows = ",\n".join("    {" + ", ".join(str(int(v)) for v in image.reshape(-1)) + "}" for image in images[:count])
    path.write_text(
        f"/* {count} digits that the network was not trained on, 8x8 pixels from 0 to 16; written by make_model.py. */\n"
        "/* clang-format off */\n#include <stdint.h>\n\n"
        f"enum {{ SAMPLES = {count} }};\n\n"
        f"static const uint8_t sample_truth[SAMPLES] = {{{', '.join(str(t) for t in target[:count])}}};\n\n"
        f"static const uint8_t sample_pixels[SAMPLES][64] = {{\n{rows}}};\n")


def main():
    rng = np.random.default_rng(digits.SEED)
    images, target, folds = digits.load(rng)
    held, kept = folds[0], np.setdiff1d(np.arange(len(images)), folds[0])
    scaled = images / np.float32(16)
    p = digits.train(np.random.default_rng(digits.SEED), scaled[kept], target[kept], CHANNELS)
    right = int((digits.forward(p, scaled[held])[0].argmax(1) == target[held]).sum())
    print(f"in floats, held back: {right} of {len(held)} right, {100 * right / len(held):.2f}%")
    export(p, measured_ranges(p, scaled[kept]), HERE / "digits8.onnx")
    shown = rng.permutation(held)
    write_samples(images[shown], target[shown], HERE / "samples8.h")
    np.savez(sys.argv[1], image=images[held], target=target[held]) if len(sys.argv) > 1 else None


if __name__ == "__main__":
    main()
