"""Gradients and optimizers next to PyTorch's: all weights of the digits in 20 steps of SGD with momentum and of Adam,
and operators at corners, with ties and with zeros, where the derivative is a choice.

Each step is compared with PyTorch in float64 at the same weights and from the same derivatives, so that a difference
does not grow from step to step. A derivative is a sum of at most 48 * 9 * 64 * 12 products of float32, whose error is
about the root of their number, 576, times 6e-8 of the largest; an update has four roundings. Operators are computed in
float64 on both sides.

Usage: torch_training_test.py BUILD REPOSITORY [unittest's own]"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

BUILD, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))

try:
    import onnx
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import relax_rt  # noqa: E402
from torch.nn import functional  # noqa: E402

STEPS, RATE, MOMENTUM = 20, 0.005, 0.9
WEIGHTS = {"w1": "24, 1, 3, 3", "b1": "24", "w2": "48, 24, 3, 3", "b2": "48", "w3": "10, 768", "b3": "10"}
OPERANDS = ", ".join(f'{name}: R.Tensor(({dims},), "float32")' for name, dims in WEIGHTS.items())


def loss_text():
    return f"""
    @R.function
    def loss(image: R.Tensor((12, 1, 8, 8), "float32"), label: R.Tensor((12,), "int64"), {OPERANDS}):
        R.func_attr({{"gradient": [{", ".join(f'"{name}"' for name in WEIGHTS)}]}})
        with R.dataflow():
            one = R.nn.relu(R.add(R.nn.conv2d(image, w1, padding=[1, 1]), R.expand_dims(b1, axis=[1, 2])))
            two = R.nn.relu(R.add(R.nn.conv2d(one, w2, padding=[1, 1]), R.expand_dims(b2, axis=[1, 2])))
            flat = R.flatten(R.nn.max_pool2d(two, pool_size=[2, 2], strides=[2, 2]), start=1)
            out = R.nn.nll_loss(R.nn.log_softmax(R.add(R.matmul(flat, R.permute_dims(w3)), b3)), label)
            R.output(out)
        return out
"""


def optimizer_text(name, parts, scalars, rule):
    """A function of all weights: `rule` has a statement for each value that is written, `{w}` the weight's name."""
    operands = [f'{w}{part}: R.Tensor(({dims},), "float32")' for w, dims in WEIGHTS.items() for part in parts]
    operands += [f'{scalar}: R.Tensor((), "float32")' for scalar in scalars]
    statements = [line.format(w=w) for w in WEIGHTS for line in rule]
    written = [f"{w}{part}_new" for w in WEIGHTS for part in parts if part != "_by"]
    lines = "".join(f"            {line}\n" for line in statements)
    return f"""
    @R.function
    def {name}({", ".join(operands)}):
        with R.dataflow():
{lines}            R.output({", ".join(written)})
        return ({", ".join(written)})
"""


SGD = ["{w}_speed_new = {w}_speed * R.const(0.9, 'float32') + {w}_by", "{w}_new = {w} - rate * {w}_speed_new"]
ADAM = [
    "{w}_mean_new = {w}_mean * R.const(0.9, 'float32') + {w}_by * R.const(0.1, 'float32')",
    "{w}_square_new = {w}_square * R.const(0.999, 'float32') + {w}_by * {w}_by * R.const(0.001, 'float32')",
    "{w}_scale = R.sqrt({w}_square_new / seen2) + R.const(1e-8, 'float32')",
    "{w}_new = {w} - rate * (({w}_mean_new / seen1) / {w}_scale)",
]


def build(folder, text, name):
    source = Path(folder) / f"{name}.relax"
    source.write_text(text)
    subprocess.run([BUILD / "bin/relaxc", source, "-o", source.with_suffix(".so")], check=True)
    return relax_rt.load(str(source.with_suffix(".so"))).functions


def samples():
    text = (ROOT / "examples/digits/samples.h").read_text()
    truth = re.search(r"sample_truth\[SAMPLES\] = \{([^}]*)\}", text).group(1)
    labels = np.array([int(word) for word in truth.split(",")])
    pixels = re.findall(r"[\d.]+", text[text.index("sample_pixels[SAMPLES]") + 30:])
    return np.array([float(word) for word in pixels][-64 * 12:], np.float32).reshape(12, 1, 8, 8), labels


def torch_loss(image, labels, w1, b1, w2, b2, w3, b3):
    one = torch.relu(functional.conv2d(torch.tensor(image, dtype=torch.float64), w1, b1, padding=1))
    two = torch.relu(functional.conv2d(one, w2, b2, padding=1))
    return functional.cross_entropy(functional.max_pool2d(two, 2).flatten(1) @ w3.T + b3, torch.tensor(labels))


class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        text = "@I.ir_module\nclass all:" + loss_text()
        text += optimizer_text("sgd", ["", "_by", "_speed"], ["rate"], SGD)
        text += optimizer_text("adam", ["", "_by", "_mean", "_square"], ["rate", "seen1", "seen2"], ADAM)
        cls.functions = build(cls.folder.name, text, "all")
        model = onnx.load(ROOT / "examples/digits/digits.onnx")
        trained = [onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
        # Trained weights have hardly a loss: half of them, and noise, give all layers something to learn.
        noise = np.random.default_rng(0)
        cls.start = [(0.5 * w + 0.05 * noise.standard_normal(w.shape)).astype(np.float32) for w in trained]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def steps(self, optimizer_of, update):
        """Runs both; `update(t, weights, derivatives)` gives relaxc's new weights. Returns the losses."""
        image, labels = samples()
        mine = [np.array(w) for w in self.start]
        theirs = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in mine]
        optimizer = optimizer_of(theirs)
        losses = []
        for t in range(1, STEPS + 1):
            with torch.no_grad():
                for w, own in zip(theirs, mine):
                    w.copy_(torch.tensor(own, dtype=torch.float64))
            optimizer.zero_grad()
            expected = torch_loss(image, labels, *theirs)
            expected.backward()
            loss, *derivatives = self.functions["loss_adjoint"](image, labels, *mine)
            np.testing.assert_allclose(loss, expected.item(), rtol=1e-5)
            for name, by, w in zip(WEIGHTS, derivatives, theirs):
                limit = 576 * 6e-8 * w.grad.abs().max().item()
                np.testing.assert_allclose(by, w.grad.numpy(), rtol=0, atol=limit, err_msg=f"{name}, step {t}")
                w.grad.copy_(torch.tensor(np.asarray(by), dtype=torch.float64))
            before, mine = mine, update(t, mine, derivatives)
            optimizer.step()
            for name, new, w, old in zip(WEIGHTS, mine, theirs, before):
                step = w.detach().numpy() - old
                limit = 1e-6 * np.abs(step).max() + 1.2e-7 * np.abs(old)
                wrong = np.abs(new - w.detach().numpy()) > limit
                self.assertFalse(wrong.any(), f"{name}, step {t}: {int(wrong.sum())} weights")
            losses.append(float(loss))
        return losses

    def test_sgd_with_momentum(self):
        speeds = [np.zeros_like(w) for w in self.start]

        def update(t, weights, derivatives):
            operands = [value for group in zip(weights, derivatives, speeds) for value in group]
            results = [np.array(v) for v in self.functions["sgd"](*operands, np.float32(RATE))]
            speeds[:] = results[1::2]
            return results[::2]

        losses = self.steps(lambda weights: torch.optim.SGD(weights, lr=RATE, momentum=MOMENTUM), update)
        self.assertLess(losses[-1], 0.5 * losses[0])

    def test_adam(self):
        means, squares = ([np.zeros_like(w) for w in self.start] for _ in range(2))

        def update(t, weights, derivatives):
            operands = [value for group in zip(weights, derivatives, means, squares) for value in group]
            seen = [np.float32(1 - beta**t) for beta in (0.9, 0.999)]
            results = [np.array(v) for v in self.functions["adam"](*operands, np.float32(0.001), *seen)]
            means[:], squares[:] = results[1::3], results[2::3]
            return results[::3]

        losses = self.steps(lambda weights: torch.optim.Adam(weights, lr=0.001), update)
        self.assertLess(losses[-1], 0.5 * losses[0])


TIES = [[1.0, 3.0, 3.0, -2.0], [0.0, 0.0, -1.0, 0.0], [2.0, -2.0, 0.5, 2.0]]
CORNERS = [[0.0, -0.0, 3.0, -3.0], [6.0, -6.0, 1.0, -1.0], [0.5, -0.5, 2.0, -2.0]]
INDEX = torch.tensor([[0, 0, 2], [1, 1, 1], [3, 2, 3]])
IMAGE = "R.reshape(x, R.shape([1, 1, 3, 4]))"


def image(x):
    return x.reshape(1, 1, 3, 4)


def scatter(how, mine):
    call = f'R.scatter_elements(x, R.const({INDEX.tolist()}, "int64"), R.strided_slice(y, axes=[1], begin=[0], end=[3]), '
    return (call + f'axis=1, reduction="{mine}")', lambda x, y: x.scatter_reduce(1, INDEX, y[:, :3], how))


# (expression, the same in PyTorch, x); y has x's elements in reverse.
CASES = [
    ("R.nn.relu(x)", lambda x, y: torch.relu(x), CORNERS),
    ("R.abs(x)", lambda x, y: x.abs(), CORNERS),
    ("R.nn.relu6(x)", lambda x, y: functional.relu6(x), CORNERS),
    ("R.nn.hard_swish(x)", lambda x, y: functional.hardswish(x), CORNERS),
    ('R.nn.hard_sigmoid(x, alpha=0.16666666666666666, beta=0.5)', lambda x, y: functional.hardsigmoid(x), CORNERS),
    ("R.nn.leaky_relu(x, alpha=0.25)", lambda x, y: functional.leaky_relu(x, 0.25), CORNERS),
    ("R.nn.elu(x, alpha=2.0)", lambda x, y: functional.elu(x, 2.0), CORNERS),
    ("R.nn.celu(x, alpha=2.0)", lambda x, y: functional.celu(x, 2.0), CORNERS),
    ("R.nn.selu(x)", lambda x, y: functional.selu(x), CORNERS),
    ("R.nn.silu(x)", lambda x, y: functional.silu(x), CORNERS),
    ("R.nn.mish(x)", lambda x, y: functional.mish(x), CORNERS),
    ("R.nn.gelu(x)", lambda x, y: functional.gelu(x), CORNERS),
    ("R.nn.softplus(x)", lambda x, y: functional.softplus(x), CORNERS),
    # At the bounds themselves versions of PyTorch differ.
    ("R.clip(x, -0.7, 1.7)", lambda x, y: x.clamp(-0.7, 1.7), CORNERS),
    ("R.maximum(x, y)", torch.maximum, TIES),
    ("R.minimum(x, y)", torch.minimum, TIES),
    ("R.max(x, axis=1)", lambda x, y: x.amax(1), TIES),
    ("R.min(x)", lambda x, y: x.amin(), TIES),
    ("R.prod(x, axis=[1])", lambda x, y: x.prod(1), TIES),
    ("R.prod(x)", lambda x, y: x.prod(), TIES),
    ("R.cumprod(x, axis=1)", lambda x, y: x.cumprod(1), TIES),
    ("R.cumsum(x, axis=0)", lambda x, y: x.cumsum(0), TIES),
    ("R.sort(x, axis=1)", lambda x, y: x.sort(dim=1, stable=True).values, TIES),
    ("R.sort(x, axis=1, descending=True)", lambda x, y: x.sort(dim=1, descending=True, stable=True).values, TIES),
    ("R.topk(x, k=2, axis=0)[0]", lambda x, y: x.topk(2, 0).values, CORNERS),
    (f"R.nn.max_pool({IMAGE}, pool_size=[2, 2])", lambda x, y: functional.max_pool2d(image(x), 2, 1), TIES),
    (f"R.nn.avg_pool({IMAGE}, pool_size=[2, 2], strides=[2, 2], padding=[1, 1], count_include_pad=True)",
     lambda x, y: functional.avg_pool2d(image(x), 2, 2, 1), TIES),
    (f"R.nn.lp_pool({IMAGE}, pool_size=[1, 2])", lambda x, y: functional.lp_pool2d(image(x), 2, (1, 2), 1), CORNERS),
    (f"R.nn.adaptive_avg_pool({IMAGE}, output_size=[2, 3])",
     lambda x, y: functional.adaptive_avg_pool2d(image(x), (2, 3)), TIES),
    (f'R.resize({IMAGE}, R.shape([1, 1, 5, 3]), mode="linear")',
     lambda x, y: functional.interpolate(image(x), (5, 3), mode="bilinear"), TIES),
    (f'R.resize({IMAGE}, R.shape([1, 1, 5, 3]), mode="cubic")',
     lambda x, y: functional.interpolate(image(x), (5, 3), mode="bicubic"), TIES),
    (f'R.resize({IMAGE}, R.shape([1, 1, 5, 7]), coordinate_mode="asymmetric", nearest_mode="floor")',
     lambda x, y: functional.interpolate(image(x), (5, 7)), TIES),
    (f'R.pad({IMAGE}, R.shape([0, 0, 2, 1, 0, 0, 1, 3]), mode="reflect")',
     lambda x, y: functional.pad(image(x), (1, 3, 2, 1), "reflect"), TIES),
    (f'R.pad({IMAGE}, R.shape([0, 0, 2, 1, 0, 0, 1, 3]), mode="edge")',
     lambda x, y: functional.pad(image(x), (1, 3, 2, 1), "replicate"), TIES),
    (f'R.pad({IMAGE}, R.shape([0, 0, 2, 1, 0, 0, 1, 3]), mode="wrap")',
     lambda x, y: functional.pad(image(x), (1, 3, 2, 1), "circular"), TIES),
    (*scatter("sum", "add"), TIES),
    (*scatter("prod", "mul"), CORNERS),
    (*scatter("amax", "max"), TIES),
    (*scatter("amin", "min"), TIES),
    ('R.take(x, R.const([2, 0, 2], "int64"), axis=0)', lambda x, y: x[[2, 0, 2]], TIES),
    ("R.nn.softmax(x, axis=1)", lambda x, y: x.softmax(1), TIES),
    ("R.nn.log_softmax(x, axis=0)", lambda x, y: x.log_softmax(0), TIES),
    ("R.log_sum_exp(x, axis=[1])", lambda x, y: x.logsumexp(1), TIES),
    ("R.variance(x, axis=[1])", lambda x, y: x.var(1, correction=0), TIES),
    ("R.power(R.abs(x), y)", lambda x, y: x.abs().pow(y), TIES),
    ("R.nn.prelu(x, y)", lambda x, y: torch.where(x > 0, x, x * y), CORNERS),
    ("R.det(R.matmul(x, R.permute_dims(y)))", lambda x, y: torch.linalg.det(x @ y.T), CORNERS),
]


class Operators(unittest.TestCase):
    def test_the_derivative_is_the_one_of_pytorch(self):
        text = "@I.ir_module\nclass all:\n"
        for k, (expression, _, _) in enumerate(CASES):
            text += f"""    @R.function
    def f{k}(x: R.Tensor((3, 4), "float64"), y: R.Tensor((3, 4), "float64")):
        R.func_attr({{"gradient": ["x", "y"]}})
        with R.dataflow():
            z = {expression}
            loss = R.sum(R.sin(z))
            R.output(loss)
        return loss

"""
        with tempfile.TemporaryDirectory() as folder:
            functions = build(folder, text, "operators")
            for k, (expression, theirs, values) in enumerate(CASES):
                with self.subTest(expression=expression):
                    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
                    y = x.detach().flip(0, 1).clone().requires_grad_()
                    loss = theirs(x, y).sin().sum()
                    loss.backward()
                    mine, by_x, by_y = functions[f"f{k}_adjoint"](x.detach().numpy(), y.detach().numpy())
                    np.testing.assert_allclose(mine, loss.item(), rtol=1e-7, atol=1e-7)
                    for by, own in ((by_x, x), (by_y, y)):
                        expected = np.zeros((3, 4)) if own.grad is None else own.grad.numpy()
                        np.testing.assert_allclose(by, expected, rtol=1e-7, atol=1e-7)


class Recurrent(unittest.TestCase):
    """An LSTM: PyTorch has its gates in the order input, forget, cell, output, ONNX and relaxc output before forget."""

    def test_lstm(self):
        text = """
@I.ir_module
class sequence:
    @R.function
    def loss(x: R.Tensor(("n", 2, 3), "float64"), w: R.Tensor((1, 16, 3), "float64"), r: R.Tensor((1, 16, 4), "float64"),
             b: R.Tensor((1, 32), "float64")):
        R.func_attr({"gradient": []})
        states = R.nn.lstm(x, w, r, b)
        return R.sum(R.sin(R.multiply(states[0], R.expand_dims(states[2], axis=[0]))))
"""
        layer = torch.nn.LSTM(3, 4).double()
        x = torch.randn(6, 2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
        out, (_, cell) = layer(x)
        (out[:, None] * cell).sin().sum().backward()
        order = np.concatenate([np.arange(4) + 4 * gate for gate in (0, 3, 1, 2)])
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        mine = [getattr(layer, name).detach().numpy()[order] for name in names]
        theirs = [getattr(layer, name).grad.numpy()[order] for name in names]
        joined = lambda parts: [parts[0][None], parts[1][None], np.concatenate(parts[2:])[None]]  # noqa: E731
        with tempfile.TemporaryDirectory() as folder:
            functions = build(folder, text, "sequence")
            results = functions["loss_adjoint"](x.detach().numpy(), *joined(mine))
        for by, expected in zip(results[1:], [x.grad.numpy(), *joined(theirs)]):
            np.testing.assert_allclose(by, expected, rtol=1e-9, atol=1e-11)


if __name__ == "__main__":
    unittest.main()
