"""train.py: trains the small CNN of this example on real handwritten digits, and writes digits.onnx and samples.h.

The data are the 1,797 digits of UCI's "Optical Recognition of Handwritten Digits" that scikit-learn carries in its
package: 8x8 pixels with values from 0 to 16. A fifth of each class is held back; it serves to state
the accuracy. With --all-folds, four more networks hold back the other fifths, so that every digit is judged by one that
never saw it.

The network is two 3x3 convolutions, one maximum pooling and one matrix: 18,346 weights, 73 kB. Written in plain numpy,
because that trains it in a minute, and a framework of a gigabyte would do nothing else here. Each time an image is used
it is turned, sheared and moved a little at random, which keeps so small a data set from being learnt by heart.

The ONNX file is put together node by node (opset 17). Its batch is symbolic, so one object runs any number of digits,
and the first convolution carries the 1/16 that scales the pixels, so that it takes them as the data set stores them.

Usage: pip install -r requirements.txt, then python3 train.py [--all-folds]. The same packages give the same file.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
SEED, EPOCHS, BATCH, RATE, DECAY = 7, 120, 64, 2e-3, 0.1
FOLDS, SAMPLES = 5, 12


def load(rng):
    """The images [n, 1, 8, 8], their classes [n], and five folds of indices that share out each class evenly."""
    digits = load_digits()
    shares = [np.array_split(rng.permutation(np.flatnonzero(digits.target == c)), FOLDS) for c in range(10)]
    folds = [np.sort(np.concatenate(fold)) for fold in zip(*shares)]
    return digits.images[:, None].astype(np.float32), digits.target, folds


def windows(x):
    """Every padded 3x3 window of x [n, c, 8, 8] as a row: [n, 64, c * 9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(len(x), 64, -1)


def initial(rng, channels=(24, 48)):
    """He initialization; biases start at zero."""
    a, b = channels
    normal = lambda *shape, fan: rng.normal(0, np.sqrt(2 / fan), shape).astype(np.float32)
    return {
        "conv1.weight": normal(a, 1, 3, 3, fan=9), "conv1.bias": np.zeros(a, np.float32),
        "conv2.weight": normal(b, a, 3, 3, fan=9 * a), "conv2.bias": np.zeros(b, np.float32),
        "fc.weight": normal(10, 16 * b, fan=16 * b), "fc.bias": np.zeros(10, np.float32),
    }


def conv(x, weight, bias):
    """A 3x3 convolution with padding 1: the result, and the windows that its gradient needs."""
    columns = windows(x)
    result = columns @ weight.reshape(len(weight), -1).T + bias
    return result.transpose(0, 2, 1).reshape(len(x), -1, 8, 8), columns


def forward(p, x):
    """Logits [n, 10] of pixels scaled to 0..1, and what the gradient needs again."""
    a1, columns1 = conv(x, p["conv1.weight"], p["conv1.bias"])
    r1 = np.maximum(a1, 0)
    a2, columns2 = conv(r1, p["conv2.weight"], p["conv2.bias"])
    r2 = np.maximum(a2, 0)
    blocks = r2.reshape(len(x), -1, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(len(x), -1, 4, 4, 4)
    pooled = blocks.max(-1).reshape(len(x), -1)
    return pooled @ p["fc.weight"].T + p["fc.bias"], (columns1, r1, columns2, r2, blocks, pooled)


def gradient(p, x, target):
    """Gradient of the mean cross-entropy with respect to each parameter."""
    logits, (columns1, r1, columns2, r2, blocks, pooled) = forward(p, x)
    n = len(x)
    probability = np.exp(logits - logits.max(1, keepdims=True))
    probability /= probability.sum(1, keepdims=True)
    d_logits = (probability - np.eye(10, dtype=np.float32)[target]) / n
    g = {"fc.weight": d_logits.T @ pooled, "fc.bias": d_logits.sum(0)}

    channels = p["conv2.weight"].shape[0]
    d_pooled = (d_logits @ p["fc.weight"]).reshape(n, channels, 4, 4, 1)
    winner = np.arange(4) == blocks.argmax(-1)[..., None]
    d_r2 = (d_pooled * winner).reshape(n, channels, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, channels, 8, 8)
    d_a2 = (d_r2 * (r2 > 0)).reshape(n, channels, 64)
    g["conv2.weight"] = np.einsum("nop,npk->ok", d_a2, columns2, optimize=True).reshape(p["conv2.weight"].shape)
    g["conv2.bias"] = d_a2.sum((0, 2))

    turned = p["conv2.weight"][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    d_r1, _ = conv(d_a2.reshape(n, channels, 8, 8), turned, np.float32(0))
    d_a1 = (d_r1 * (r1 > 0)).reshape(n, -1, 64)
    g["conv1.weight"] = np.einsum("nop,npk->ok", d_a1, columns1, optimize=True).reshape(p["conv1.weight"].shape)
    g["conv1.bias"] = d_a1.sum((0, 2))
    return g


def distorted(rng, x):
    """Each image turned, sheared and moved by up to a pixel at random, interpolated; what comes in is background."""
    linear = np.eye(2) + rng.normal(0, 0.1, (len(x), 2, 2))
    grid = np.stack(np.meshgrid(range(8), range(8), indexing="ij"), -1).reshape(64, 2) - 3.5
    at = np.einsum("nij,pj->npi", linear, grid) + rng.uniform(-1, 1, (len(x), 1, 2)) + 3.5
    low = np.floor(at).astype(int)
    part = at - low
    low = np.clip(low + 4, 0, 15)
    padded, image = np.pad(x[:, 0], ((0, 0), (4, 5), (4, 5))), np.arange(len(x))[:, None]
    result = sum(
        (part[..., 0] if i else 1 - part[..., 0]) * (part[..., 1] if j else 1 - part[..., 1])
        * padded[image, low[..., 0] + i, low[..., 1] + j]
        for i in (0, 1) for j in (0, 1))
    return result.reshape(x.shape).astype(np.float32)


def train(rng, images, target, channels=(24, 48)):
    """Adam with weight decay and a learning rate that falls as a cosine."""
    p = initial(rng, channels)
    first = {name: np.zeros_like(value) for name, value in p.items()}
    second = {name: np.zeros_like(value) for name, value in p.items()}
    steps, step = EPOCHS * (len(images) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for batch in np.split(order[: len(order) // BATCH * BATCH], len(order) // BATCH):
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, g in gradient(p, distorted(rng, images[batch]), target[batch]).items():
                first[name] = 0.9 * first[name] + 0.1 * g
                second[name] = 0.999 * second[name] + 0.001 * g * g
                update = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                p[name] -= np.float32(rate) * (update + DECAY * p[name])
    return p


def export(p, path):
    """Writes the network with a symbolic batch "n": image [n, 1, 8, 8] of pixels 0..16 to logits [n, 10]."""
    stored = {**p, "conv1.weight": p["conv1.weight"] / np.float32(16)}
    around = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], "conv1", **around),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "conv2.weight", "conv2.bias"], ["c2"], "conv2", **around),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["pooled"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["flat"], "flatten", axis=1),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name) for name, value in stored.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="train.py")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def write_samples(images, target, path):
    """The first held-back digits as a C header: a dozen pictures and what they truly are."""
    text = lambda row: ", ".join(f"{int(v):2}" for v in row)
    pixels = ",\n".join("    {" + ",\n     ".join(text(row) for row in image[0]) + "}" for image in images[:SAMPLES])
    path.write_text(
        f"/* {SAMPLES} digits that the network was not trained on, 8x8 pixels from 0 to 16; written by train.py. */\n"
        "/* clang-format off */\n"
        f"enum {{ SAMPLES = {SAMPLES} }};\n\n"
        f"static const int sample_truth[SAMPLES] = {{{', '.join(str(t) for t in target[:SAMPLES])}}};\n\n"
        f"static const float sample_pixels[SAMPLES][64] = {{\n{pixels}}};\n"
    )


def train_without(held, images, target):
    """Parameters from all images but those held back, and how many of these are right."""
    rng = np.random.default_rng(SEED)
    kept = np.setdiff1d(np.arange(len(images)), held)
    p = train(rng, images[kept], target[kept])
    return p, int((forward(p, images[held])[0].argmax(1) == target[held]).sum())


def main():
    rng = np.random.default_rng(SEED)
    images, target, folds = load(rng)
    scaled = images / np.float32(16)
    p, right = train_without(folds[0], scaled, target)
    print(f"held back: {right} of {len(folds[0])} right, {100 * right / len(folds[0]):.2f}%")
    export(p, HERE / "digits.onnx")
    shown = rng.permutation(folds[0])
    write_samples(images[shown], target[shown], HERE / "samples.h")
    if "--all-folds" in sys.argv:
        right += sum(train_without(fold, scaled, target)[1] for fold in folds[1:])
        print(f"each digit held back once: {right} of {len(images)} right, {100 * right / len(images):.2f}%")


if __name__ == "__main__":
    main()
