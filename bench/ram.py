"""ram.py: what less memory costs in time and code, as a table of docs/memory.md.

Each network is compiled for a Cortex-M4 at -O3 without a budget, with the budgets that are asked for, and with
--ram-budget=min, and runs on QEMU's board: one frame, whose outputs are compared with those of the host's interpreter, to
the bit if they are integers, else to ten millionths of the largest. Arena, code, constants and stack are those
of the board's program, instructions those that QEMU counts. Open dims of ONNX models are 1.

Usage: build/venv/bin/python bench/ram.py RELAXC [--cpu CPU] [--level -O3] MODEL.{tflite,onnx}[=BUDGET,BUDGET...] ...
Needs the cross compiler and QEMU that examples/bare-metal/README.md names."""

import argparse
import math
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests/embedded"))
sys.path.insert(0, str(REPOSITORY / "runtime-lite/python"))
from board import Board, Case  # noqa: E402
from programs import numbers  # noqa: E402


def input_of(path):
    """(shape, kind of element, names of open dims) of a model's first input."""
    if path.suffix == ".tflite":
        from ai_edge_litert.interpreter import Interpreter

        return tuple(int(extent) for extent in Interpreter(model_path=str(path)).get_input_details()[0]["shape"]), "i1", []
    import onnx

    graph = onnx.load(path).graph
    tensor = next(value for value in graph.input if value.name not in {one.name for one in graph.initializer}).type.tensor_type
    kind = {onnx.TensorProto.FLOAT: "f4", onnx.TensorProto.INT8: "i1"}[tensor.elem_type]
    return (tuple(dim.dim_value or 1 for dim in tensor.shape.dim), kind, [dim.dim_param for dim in tensor.shape.dim if dim.dim_param])


def rows(relaxc, board, path, budgets, level, folder):
    shape, kind, symbols = input_of(path)
    values = numbers(math.prod(shape), 5)
    if kind == "i1":
        values = [max(-128, min(127, int(value * 70))) for value in values]
    flags = [word for symbol in symbols for word in ("--dim", f"{symbol}=1")]
    name = path.parent.name if path.stem == "model" else path.stem
    expected, whole = None, None
    for budget in ("", *budgets, "min"):
        case = Case(relaxc, f"{name}-{budget or 'whole'}", path, [(shape, values, kind)], flags, folder=folder)
        case.expected = expected
        try:
            case.build(board, "o", level, *([f"--ram-budget={budget}"] if budget else []))
        except RuntimeError as error:
            yield f"| {name} | {budget} | refused: {str(error).splitlines()[0][-120:]} |"
            continue
        expected = case.expected
        _, off, took, arena, stack = board.run(case.folder)
        code, constants = board.sizes(case.folder)
        whole = whole or took
        note = "" if off <= (0 if kind == "i1" else 10) else f" off by {off} millionths"
        yield (f"| {name} | {budget or 'none'} | {arena:,} | {took / 1e6:.2f}{note} | {took / whole:.3f} | {code:,} | "
               f"{constants:,} | {stack:,} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("relaxc", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--cpu", default="cortex-m4")
    parser.add_argument("--level", default="-O3")
    given = parser.parse_args()
    print("| model | `--ram-budget` | arena | million instructions | ratio | code | constants | stack |\n" + "|---" * 8 + "|")
    with tempfile.TemporaryDirectory(prefix="relaxc-ram-") as path:
        board = Board(given.cpu, Path(path) / "runtime")
        for model in given.models:
            file, _, budgets = model.partition("=")
            for row in rows(given.relaxc.resolve(), board, Path(file), budgets.split(",") if budgets else [], given.level, path):
                print(row, flush=True)


if __name__ == "__main__":
    main()
