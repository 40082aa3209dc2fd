"""Quantized networks of the model collection against exact arithmetic (exact.py): to the bit.

Their reference data comes from ONNX Runtime, which sums in float32; of mlperf-tiny-ic two of its roundings go to the
other side of a tie than exact arithmetic: 35.499992 becomes 36 in conv2d_3 (data set 1), and the mean 4.5, exactly on a
tie, becomes 5 in the average pool (data set 2). The last layer is then off by 1 and by 5. So it is exact arithmetic that
says what these networks give.

Usage: exact_models.py RELAXC SOURCE_DIR    (the folder of models is RELAXC_MODELS)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import exact

NAMES = ("mlperf-tiny-ic", "mlperf-tiny-ad", "mlperf-tiny-kws", "mlperf-tiny-vww")


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def main(relaxc, source):
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    folders = [Path(os.environ["RELAXC_MODELS"], name) for name in NAMES]
    folders = [folder for folder in folders if folder.is_dir()]
    if not folders:
        print(f"skipped: RELAXC_MODELS has none of {', '.join(NAMES)}")
        return 77
    runs = wrong = 0
    with tempfile.TemporaryDirectory(prefix="relaxc-exact-models-") as temporary:
        for number, folder in enumerate(folders):
            model, library = onnx.load(folder / "model.onnx"), f"{temporary}/m{number}.so"
            subprocess.run([relaxc, folder / "model.onnx", "-o", library], check=True)
            function = rlx.Model(library).functions["main"]
            for data in sorted(folder.glob("test_data_set_*")):
                x = read(data / "input_0.pb")
                values, _ = exact.evaluate(model, {model.graph.input[0].name: x})
                expected = values[model.graph.output[0].name]
                differ = np.count_nonzero(function(x)[0] != expected)
                runs, wrong = runs + 1, wrong + (differ > 0)
                if differ:
                    print(f"{folder.name}/{data.name}: {differ} of {expected.size} results differ")
    print(f"{runs - wrong} of {runs} runs give what exact arithmetic does")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
