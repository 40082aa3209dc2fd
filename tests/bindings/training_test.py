"""Steps of SGD and Adam on the digits, by examples/fine-tune's program through both backends, next to the same steps in
NumPy: features of the frozen part come from the program, whose own accuracy other tests hold.

The derivatives of a recurrent layer and of a branch are compared with differences of the loss.

A step in float32 differs from one in float64 by roundings of sums of 768 products, so weights that moved by less than 0.1
in 40 steps agree to 1e-5, and losses to 1e-4 of themselves.

Usage: training_test.py RELAXC REPOSITORY"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

RELAXC, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))
import relax_rt  # noqa: E402

STEPS = 40
EXPOSED = """
    @R.function
    def exposed(image: R.Tensor(("n", 1, 8, 8), "float32")):
        cls = tune
        with R.dataflow():
            out = cls.features(image)
            R.output(out)
        return out
"""


def samples():
    text = (ROOT / "examples/digits/samples.h").read_text()
    truth = re.search(r"sample_truth\[SAMPLES\] = \{([^}]*)\}", text).group(1)
    pixels = re.findall(r"[\d.]+", text[text.index("sample_pixels[SAMPLES]") + 30:])
    labels = np.array([int(word) for word in truth.split(",")])
    return np.array([float(word) for word in pixels][-64 * len(labels):], np.float32).reshape(-1, 1, 8, 8), labels


def loss_and_derivatives(features, labels, weight, bias):
    logits = features @ weight + bias
    logits = logits - logits.max(axis=1, keepdims=True)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    by_logits = chances.copy()
    by_logits[rows, labels] -= 1
    by_logits /= len(labels)
    return -np.log(chances[rows, labels]).mean(), features.T @ by_logits, by_logits.sum(axis=0, keepdims=True)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        at = Path(cls.folder.name)
        subprocess.run([RELAXC, ROOT / "examples/digits/digits.onnx", "-o", at / "digits.relax"], check=True)
        (at / "tune.relax").write_text((ROOT / "examples/fine-tune/tune.relax").read_text() + EXPOSED)
        subprocess.run([RELAXC, at / "tune.relax", "--dim=n=1..12", "-o", at / "tune.so"], check=True)
        subprocess.run([RELAXC, at / "tune.relax", "--dim=n=1..12", "-o", at / "tune_c.c", "--name", "tune_c"],
                       check=True)
        subprocess.run(["cc", "-O1", "-w", "-march=native", "-shared", "-fPIC", f"-I{ROOT}/runtime-lite/include", at / "tune_c.c",
                        "-o", at / "tune_c.so", *sorted((ROOT / "runtime-lite/core").glob("*.c")), "-lm"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def entries(self, library):
        model = relax_rt.load(str(Path(self.folder.name) / library))
        return model.functions

    def start(self, entries):
        image, labels = samples()
        features = np.asarray(entries["exposed"](image)[0], np.float64)
        return image, labels, features, np.zeros((768, 10), np.float32), np.zeros((1, 10), np.float32)

    def check_loss(self, entries, image, labels, features, mine, reference):
        loss, weight_adjoint, bias_adjoint = entries["loss_adjoint"](image, labels, *mine)
        expected, by_weight, by_bias = loss_and_derivatives(features, labels, *reference)
        np.testing.assert_allclose(loss, entries["loss"](image, labels, *mine)[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(loss, expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(weight_adjoint, by_weight, atol=1e-4 * np.abs(by_weight).max() + 1e-6)
        np.testing.assert_allclose(bias_adjoint, by_bias, atol=1e-5)
        return loss, (weight_adjoint, bias_adjoint), (by_weight, by_bias)

    def test_steps_of_sgd_are_those_of_numpy(self):
        for library in ("tune.so", "tune_c.so"):
            entries = self.entries(library)
            image, labels, features, *mine = self.start(entries)
            reference, losses, rate = [value.astype(np.float64) for value in mine], [], np.float32(0.005)
            for _ in range(STEPS):
                loss, adjoints, derivatives = self.check_loss(entries, image, labels, features, mine, reference)
                losses.append(float(loss))
                mine = [np.array(value) for value in entries["sgd"](*mine, *adjoints, rate)]
                reference = [value - rate * by for value, by in zip(reference, derivatives)]
            for value, expected in zip(mine, reference):
                np.testing.assert_allclose(value, expected, atol=1e-5)
            self.assertAlmostEqual(losses[0], np.log(10), places=5)
            self.assertLess(losses[-1], 0.1 * losses[0])

    def test_steps_of_adam_are_those_of_numpy(self):
        for library in ("tune.so", "tune_c.so"):
            entries = self.entries(library)
            image, labels, features, *mine = self.start(entries)
            moments = [np.zeros_like(mine[k // 2]) for k in range(4)]
            step, rate = np.float32(0), np.float32(0.001)
            reference = [value.astype(np.float64) for value in mine]
            mean, square = [0.0, 0.0], [0.0, 0.0]
            losses = []
            for t in range(1, STEPS + 1):
                loss, adjoints, derivatives = self.check_loss(entries, image, labels, features, mine, reference)
                losses.append(float(loss))
                results = [np.array(v) for v in entries["adam"](*mine, *adjoints, *moments, step, rate)]
                mine, moments, step = results[:2], results[2:6], results[6]
                for k, by in enumerate(derivatives):
                    mean[k] = 0.9 * mean[k] + 0.1 * by
                    square[k] = 0.999 * square[k] + 0.001 * by * by
                    # The rate is corrected for both moments; epsilon stands beside the root of the raw one.
                    own = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
                    reference[k] = reference[k] - own * mean[k] / (np.sqrt(square[k]) + 1e-8)
            self.assertEqual(float(step), STEPS)
            self.assertLess(losses[-1], 0.1 * losses[0])
            # Adam divides derivatives by their own size, so roundings of those that are nearly 0 count in full.
            moved = np.abs(mine[0] - reference[0])
            self.assertLess(np.quantile(moved, 0.99), 1e-3)


RECURRENT = """
@I.ir_module
class sequence:
    @R.function
    def loss(x: R.Tensor(("n", 2, 3), "float64"), w: R.Tensor((1, 12, 3), "float64"), r: R.Tensor((1, 12, 4), "float64"),
             c: R.Tensor((), "bool")):
        R.func_attr({"gradient": ["x", "w", "r"]})
        states = R.nn.gru(x, w, r)
        if c:
            y = R.sum(R.square(states[0]))
        else:
            y = R.sum(R.exp(states[1]))
        return y
"""


class Recurrent(unittest.TestCase):
    """The gradient of a loop and a branch, compiled, next to central differences of the compiled loss: with a step of
    1e-5 their error is about 1e-10 in float64."""

    def test_derivatives_are_differences(self):
        random = np.random.default_rng(0)
        given = [random.uniform(-1, 1, shape) for shape in ((5, 2, 3), (1, 12, 3), (1, 12, 4))]
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "sequence.relax").write_text(RECURRENT)
            subprocess.run([RELAXC, at / "sequence.relax", "-o", at / "one.so"], check=True)
            subprocess.run([RELAXC, at / "sequence.relax", "-o", at / "two.c"], check=True)
            subprocess.run(["cc", "-O1", "-w", "-march=native", "-shared", "-fPIC", f"-I{ROOT}/runtime-lite/include",
                            at / "two.c", "-o", at / "two.so", *sorted((ROOT / "runtime-lite/core").glob("*.c")), "-lm"],
                           check=True)
            for library, side in (("one.so", True), ("one.so", False), ("two.so", True)):
                functions, side = relax_rt.load(str(at / library)).functions, np.array(side)
                loss, *derivatives = functions["loss_adjoint"](*given, side)
                self.assertEqual(float(loss), float(functions["loss"](*given, side)[0]))
                for k, derivative in enumerate(derivatives):
                    expected = np.empty_like(given[k])
                    for place in np.ndindex(expected.shape):
                        ends = []
                        for step in (-1e-5, 1e-5):
                            moved = [value.copy() for value in given]
                            moved[k][place] += step
                            ends.append(float(functions["loss"](*moved, side)[0]))
                        expected[place] = (ends[1] - ends[0]) / 2e-5
                    np.testing.assert_allclose(derivative, expected, rtol=1e-7, atol=1e-7)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
