"""own_graphs.py: graphs of the generator in tests/onnx/graphs."""

import sys
from pathlib import Path

from case import Case

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "onnx/graphs"))
import graph  # noqa: E402
import operators  # noqa: E402


def make(seed):
    """The graph of this seed; those of odd seeds have sizes beyond a vector's lanes."""
    drawn = operators.drawn(seed, *((graph.LARGE, 100_000) if seed % 2 else (graph.SMALL, 4096)))
    model, _ = drawn.model(symbolic=False)
    return Case(f"own-{seed}", model, drawn.arrays(0))
