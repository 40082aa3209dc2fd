"""Tests bench/models: small networks of every kind are written twice with the same bytes, compile, and agree with ONNX
Runtime; their values neither vanish nor overflow.

Usage: models_test.py REPOSITORY BUILD
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnxruntime

ROOT, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/models")]
import generate  # noqa: E402: the folders are known only now

SMALL = ["kws", "resnet8", "resnet8.qdq", "gru", "mlp.qdq", "chain_10"]


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        for name in ("first", "second"):
            subprocess.run([sys.executable, ROOT / "bench/models/generate.py", cls.folder / name, *SMALL], check=True,
                           stdout=subprocess.DEVNULL)

    def test_a_model_is_the_same_wherever_it_is_made(self):
        for file in sorted((self.folder / "first").rglob("*.*")):
            if file.is_file() and ".qdq" not in str(file):  # onnxruntime.quantization names what it adds as it likes
                again = self.folder / "second" / file.relative_to(self.folder / "first")
                self.assertEqual(file.read_bytes(), again.read_bytes(), str(file))

    def test_outputs_are_sane_and_agree(self):
        models = [self.folder / "first" / name / "model.onnx" for name in SMALL]
        command = [sys.executable, ROOT / "bench/run.py", *models, "--build", BUILD, "--threads", "1", "--pairs", "2",
                   "--window-ms", "1", "--all-sizes", "--tolerance", "0.02"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("outputs agree"), len(SMALL) + 2)  # two of them have two sizes

    def test_operators_agree(self):
        names = ["topk_10_of_1000.equal", "suppression_1000", "nchw_to_nhwc", "gather_4096_of_64", "cumsum_columns",
                 "fixed_1x1_s1_1024_512_at_7", "fixed_3x3_s2_256_256_at_28"]
        generate = [sys.executable, ROOT / "bench/models/generate.py", self.folder / "operators", "--operators", *names]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
        models = [self.folder / "operators" / name / "model.onnx" for name in names]
        command = [sys.executable, ROOT / "bench/run.py", *models, "--build", BUILD, "--threads", "1", "--pairs", "2",
                   "--window-ms", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("outputs agree"), len(names))

    def rows(self, script, *arguments):
        """The table that a script prints of small models, without its head."""
        command = [sys.executable, ROOT / "bench" / script, *arguments, "--relaxc", BUILD / "bin/relaxc"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        return [line.split("|")[1:-1] for line in lines[lines.index(next(x for x in lines if x.startswith("|---"))) + 1:]]

    def test_open_dims_are_compared_with_fixed_ones(self):
        rows = self.rows("symbolic.py", self.folder / "first/gru/model.onnx", "--all-sizes", "--pairs", "2",
                         "--window-ms", "1")
        self.assertEqual([row[1].strip() for row in rows], ["1x1x64", "100x1x64"])

    def test_programs_are_timed_from_their_start(self):
        (row,) = self.rows("start.py", self.folder / "first/kws/model.onnx", "--runs", "3")
        self.assertEqual(row[0].strip(), "kws")
        self.assertTrue(float(row[1]) > 0 and float(row[2]) > 0)

    def test_every_network_can_be_listed(self):
        listed = subprocess.run([sys.executable, ROOT / "bench/models/generate.py", "--list"], check=True,
                                capture_output=True, text=True).stdout.split()
        self.assertEqual(len(listed), len(set(listed)))
        self.assertTrue(set(SMALL) < set(listed))

    def test_networks_of_open_images_run_at_other_sizes(self):
        rng = np.random.default_rng(0)
        for make, dims in ((generate.detectors.yunet, {"batch": 2, "height": 64, "width": 96}),
                           (generate.detectors.scrfd, {"batch": 1, "height": 32, "width": 64}),
                           (generate.detectors.text_detector, {"batch": 1, "height": 64, "width": 32}),
                           (generate.detectors.crnn, {"batch": 2, "width": 22})):
            model = make()
            inputs = generate.inputs_for(model, dims, rng)
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            for output in session.run(None, {value.name: x for value, x in zip(model.graph.input, inputs)}):
                self.assertTrue(np.isfinite(output).all())
                self.assertTrue(1e-4 < output.std() < 30, f"{model.graph.name}: {output.std()}")

    def test_inputs_have_the_dims_of_their_data_set(self):
        model, rng = generate.sequences.lstm(), np.random.default_rng(0)
        (array,) = generate.inputs_for(model, {"batch": 2, "length": 5}, rng)
        self.assertEqual(array.shape, (5, 2, 64))


if __name__ == "__main__":
    unittest.main()
