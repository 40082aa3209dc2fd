"""Models with data and expected values for boards."""

import math
import os
import sys
from pathlib import Path

from board import Case
import quantized_network
import rescaled_network
from programs import PROGRAMS, REPOSITORY, numbers

MODELS = Path(os.environ.get("RELAXC_MODELS", REPOSITORY.parent / "shared/models"))
DIGITS8 = REPOSITORY / "examples/digits-int8/digits8.onnx"
WILD = {  # name: (inputs, flags, symbols)
    "mnist-8": ([(1, 1, 28, 28)], [], {}),
    "qtdnn": ([(8, 10)], ["--dim", "input_d0=8"], {}),
    "unitree-g1-policy": ([(1, 480)], [], {}),
    "gtcrn-simple": ([(1, 257, 1, 2), (2, 1, 16, 16, 33), (2, 3, 1, 1, 16), (2, 1, 33, 16)], [], {}),
}
TINY = {  # int8 networks of MLPerf Tiny: the same, with a batch of one
    "mlperf-tiny-ad": ("unk__133", (1, 640)),
    "mlperf-tiny-kws": ("unk__232", (1, 49, 10, 1)),
    "mlperf-tiny-ic": ("unk__259", (1, 32, 32, 3)),
    "mlperf-tiny-vww": ("unk__618", (1, 96, 96, 3)),
}
SMALL = {"cortex-m55"}  # boards whose flash has no room for a megabyte of weights


def own_cases(relaxc, folder, expected=None):
    """Those that are always there. `expected` is where their outputs were written before, if they were."""
    pictures = PROGRAMS["digits"][2][0][1]
    yield Case(relaxc, "digits", PROGRAMS["digits"][0], [((1, 1, 8, 8), pictures[:64], "f4")], ["--dim", "n=1"], folder=folder,
               expected=expected)
    yield Case(relaxc, "digits8", DIGITS8, [((1, 1, 8, 8), pictures[:64], "f4")], folder=folder, expected=expected)
    for name, dims, symbols in (("lstm", ["t=1..8"], {"t": 7}), ("dynamic", ["n=1..4", "m=1..8"], {"n": 3, "m": 5}),
                                ("bytes", ["n=1..16"], {"n": 9})):
        source, content, inputs, _ = PROGRAMS[name]
        (Path(folder) / source).write_bytes(content.encode() if isinstance(content, str) else content)
        flags = [word for dim in dims for word in ("--dim", dim)]
        yield Case(relaxc, name, Path(folder) / source, inputs, flags, symbols, folder, expected)
    for name, network in (("network8", quantized_network), ("rescaled", rescaled_network)):
        source = Path(folder) / f"{name}.relax"
        source.write_text(network.program())
        pixels = [max(-128, min(127, int(value * 70))) for value in numbers(math.prod(network.SHAPE), 8)]
        yield Case(relaxc, name, source, [(network.SHAPE, pixels, "i1")], folder=folder, expected=expected)


def wild_cases(relaxc, cpu, folder, expected=None):
    """Those of RELAXC_MODELS that are there and fit the board; says which do not."""
    for name, (shapes, flags, symbols) in WILD.items():
        path = MODELS / name / "model.onnx"
        if not path.exists():
            print(f"{name}: skipped, there is no {path.name} of it below {MODELS.name}", file=sys.stderr)
            continue
        if cpu in SMALL and path.stat().st_size > 400_000:
            print(f"{name}: skipped, the board's flash holds no {path.stat().st_size} bytes", file=sys.stderr)
            continue
        inputs = []
        for at, shape in enumerate(shapes):
            count = 1
            for dim in shape:
                count *= dim
            inputs.append((shape, numbers(count, at + 1), "f4"))
        yield Case(relaxc, name, path, inputs, flags, symbols, folder, expected)
    yield from tiny_cases(relaxc, folder, ["mlperf-tiny-kws"], expected)


def tiny_cases(relaxc, folder, names=tuple(TINY), expected=None, file="model.onnx"):
    """Networks of integers, whose outputs are those of the host to the bit; `file` may be "model.tflite"."""
    for name in names:
        path = MODELS / name / file
        if not path.exists():
            print(f"{name}: skipped, there is no {path.name} of it below {MODELS.name}", file=sys.stderr)
            continue
        batch, shape = TINY[name]
        values = [max(-128, min(127, int(value * 70))) for value in numbers(math.prod(shape), len(name))]
        dims = (["--dim", f"{batch}=1"], {batch: 1}) if path.suffix == ".onnx" else ([], {})
        yield Case(relaxc, name, path, [(shape, values, "i1")], *dims, folder, expected)
