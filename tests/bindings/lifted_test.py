"""Weights of the caller that are prepared once (--lift-params): the header has both entries, and both ways give the same
numbers.

Usage: lifted_test.py RELAXC REPOSITORY"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

RELAXC, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))
import relax_rt  # noqa: E402

PROGRAM = """
@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((32, 64), "int8"), scale: R.Tensor((32,), "float32"),
         half: R.Tensor((8, 32), "float16"), bias: R.Tensor((8,), "float32")):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        wide = R.dequantize(w, scale, R.const(0, "int8"), axis=0)
        y = R.nn.relu(R.matmul(x, R.permute_dims(wide)))
        z = R.add(R.matmul(y, R.permute_dims(R.astype(half, dtype="float32"))), bias)
        R.output(z)
    return z
"""


class Lifted(unittest.TestCase):
    def test_prepared_weights_give_the_same_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "plain.relax").write_text(PROGRAM)
            subprocess.run([RELAXC, at / "plain.relax", "--dim=n=1..8", "-o", at / "plain.so"], check=True)
            flags = ["--dim=n=1..8", "--lift-params"]
            subprocess.run([RELAXC, at / "plain.relax", *flags, "-o", at / "lifted.so"], check=True)
            plain, lifted = relax_rt.load(str(at / "plain.so")), relax_rt.load(str(at / "lifted.so"))
            random = np.random.default_rng(5)
            weights = {"w": random.integers(-128, 128, (32, 64)).astype(np.int8),
                       "scale": random.random(32).astype(np.float32) / 64,
                       "half": random.standard_normal((8, 32)).astype(np.float16)}
            bias = random.standard_normal(8).astype(np.float32)
            prepared = lifted.functions["main_prepare"](**weights)
            names = [name for name in prepared.names]
            self.assertEqual([np.asarray(value).shape for value in prepared], [(64, 32), (32, 8)])
            for n in (1, 5):
                x = random.standard_normal((n, 64)).astype(np.float32)
                expected = plain(x=x, bias=bias, **weights)[0]
                found = lifted(x=x, bias=bias, **dict(zip(names, prepared)))[0]
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
            subprocess.run([RELAXC, at / "plain.relax", *flags, "-o", at / "lifted.o"], check=True)
            header = (at / "lifted.h").read_text()
            for entry in ("lifted_run", "lifted_main_prepare_run", "float* w_prepared", "float* half_prepared"):
                self.assertIn(entry, header)

    def test_a_program_without_weights_of_the_caller_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "m.relax").write_text(PROGRAM.replace('    R.func_attr({"num_input": 1})\n', ""))
            done = subprocess.run([RELAXC, at / "m.relax", "--dim=n=1..8", "--lift-params", "-o", at / "m.o"], check=True,
                                  capture_output=True, text=True)
            self.assertIn("warning: no function computes anything of weights alone", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
