"""Pools by stride 1 over a dim that is open give what they give over the same dim fixed, down to no window at all.

Usage: open_pools_test.py RELAXC SOURCE_DIR
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

OPERATORS = ("MaxPool", "AveragePool", "LpPool")


def model(size, kernel, pads):
    nodes = [helper.make_node(op, ["x"], [op], kernel_shape=[kernel], pads=pads) for op in OPERATORS]
    graph = helper.make_graph(nodes, "pools", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, size])],
                              [helper.make_tensor_value_info(op, TensorProto.FLOAT, [1, 2, None]) for op in OPERATORS])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main(relaxc, source):
    sys.path.insert(0, str(Path(source) / "bench"))
    import rlx  # noqa: PLC0415

    cases = empty = 0
    with tempfile.TemporaryDirectory(prefix="relaxc-pools-") as folder:

        def compiled(number, *form):
            onnx.save(model(*form), f"{folder}/m.onnx")
            library = f"{folder}/m{number}.so"
            done = subprocess.run([relaxc, f"{folder}/m.onnx", "-O1", "-o", library], check=False, capture_output=True)
            return rlx.Model(library).functions["main"] if done.returncode == 0 else None

        numbers = itertools.count()
        for kernel, pads in ((2, [0, 0]), (3, [0, 0]), (3, [1, 0]), (4, [1, 1])):
            opened = compiled(next(numbers), "n", kernel, pads)
            for size in range(1, 5):
                x = np.arange(2 * size, dtype=np.float32).reshape(1, 2, size) - 1
                fixed = compiled(next(numbers), size, kernel, pads)
                try:
                    found = opened(x)
                except Exception as error:  # noqa: BLE001
                    assert fixed is None, f"kernel {kernel}, pads {pads}, size {size}: {error}"
                    continue
                assert fixed is not None, f"kernel {kernel}, pads {pads}: size {size} is not refused"
                for op, a, b in zip(OPERATORS, found, fixed(x)):
                    np.testing.assert_array_equal(a, b, f"{op}, kernel {kernel}, pads {pads}, size {size}")
                    cases, empty = cases + 1, empty + (a.size == 0)
    print(f"{cases} pools agree, {empty} of them without a window")
    return 0 if empty else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
