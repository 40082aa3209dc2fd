"""models_test.py: the int8 models of MLPerf Tiny, which must give what TFLite's reference kernels give, to the bit.

Usage: models_test.py RELAXC [FLAGS…]. The models are in RELAXC_MODELS; without them the test is skipped (77).
"""

import os
import sys
import tempfile
from pathlib import Path
from subprocess import run

import numpy as np
from onnx import TensorProto, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import rlx  # noqa: E402


def read(path):
    tensor = TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def main():
    relaxc, flags = sys.argv[1], sys.argv[2:]
    models = sorted(Path(os.environ["RELAXC_MODELS"]).glob("mlperf-tiny-*/model.tflite"))
    if not models:
        sys.exit(77)
    faults = 0
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "libmodel.so"
            run([relaxc, model, "-o", library, "--name", "model", *flags], check=True)
            entry = next(iter(rlx.Model(library, "model").functions.values()))
            for data in sorted(model.parent.glob("test_data_set_*")):
                expected = read(data / "tflite_output_0.pb")
                actual = entry(read(data / "input_0.pb"))[0]
                wrong = int((actual != expected).sum()) if actual.shape == expected.shape else -1
                if wrong or actual.dtype != expected.dtype:
                    print(f"{model.parent.name} {data.name}: {wrong} of {expected.size} values differ")
                    faults += 1
    print(f"{len(models)} models, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
