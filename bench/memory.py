"""memory.py: the memory of models next to what no plan can go below, and next to what ONNX Runtime takes.

    build/venv/bin/python bench/memory.py build/bin/relaxc FOLDER [--page docs/memory.md] [--model NAME …]

For every FOLDER/*/model.onnx:

- static: compiled with every dim fixed at what test_data_set_0 has; the arena next to the largest sum of bytes that are
  live at one time ("bound").
- dynamic: compiled as it is; the worst ratio of the two over the sizes that --report looks at (every symbol at 1, 16, 128
  and 512, as far as its bounds allow), and at which size.
- activations: on the same inputs and with one thread (each task slot has scratch of its own, so that one arena serves any
  number of threads), the arena of relaxc (and what a run claims from the allocator hook) next to the most bytes that
  ONNX Runtime's tensors take at one time during a run. Both write outputs to memory that the caller gives
  (ONNX Runtime by IO binding), which is not counted, nor are inputs and weights. This is like for like. ONNX Runtime's
  memory arena and patterns are off: with them, it takes no less.
- with outputs: the same and all outputs, next to the most that ONNX Runtime takes where it makes its outputs itself.
  That is two contracts: here the caller has memory for all outputs before the run begins, there each is allocated when
  it is written. A model whose outputs are large next to its activations takes more here, unless they are lent as
  scratch in the meantime (compiler/plan/donors.cpp).

All but ONNX Runtime's numbers are properties of the compiler, the same on every machine. The exit code is 1 if
activations take more than those of ONNX Runtime anywhere.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def report(relaxc, model, output, *flags):
    """The profiles of --report; text if relaxc refuses the model."""
    page = output.with_suffix(".json")
    done = subprocess.run([relaxc, model, "-o", output, f"--report={page}", *flags], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[0]
    return json.loads(page.read_text())["profiles"]


def inputs_of(model):
    """test_data_set_0 as arrays, in the order of the model's inputs; null where there is none, or not of tensors."""
    import onnx
    from onnx import numpy_helper

    folder = model.parent / "test_data_set_0"
    arrays = []
    for i in range(len(list(folder.glob("input_*.pb")))):
        tensor = onnx.load_tensor(folder / f"input_{i}.pb")
        arrays.append(numpy_helper.to_array(tensor))
    return arrays or None


def of_relaxc(library, arrays):
    """Symbols and bytes of one run."""
    import rlx

    call = rlx.load(library).functions["main"].prepare(arrays)
    call.run()
    values = {symbol.name.decode(): value for symbol, value in zip(call.entry.symbols, call.symbols)}
    taken = call.context.arena_bytes + sum(buffer.nbytes for buffer in call.lent)
    return values, taken, taken + sum(array.nbytes for array in call.results())


def measure_onnxruntime(model):
    """In a process of its own, with the counting library loaded."""
    import onnxruntime

    counter = ctypes.CDLL(None)
    counter.aligned_memory_most.restype = ctypes.c_int64
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {value.name: array for value, array in zip(session.get_inputs(), inputs_of(Path(model)))}
    outputs = session.run(None, feed)
    counter.aligned_memory_begin()
    session.run(None, feed)
    own = counter.aligned_memory_most()
    binding = session.io_binding()
    given = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outputs]
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    for value, memory in zip(session.get_outputs(), given):
        binding.bind_ortvalue_output(value.name, memory)
    session.run_with_iobinding(binding)
    counter.aligned_memory_begin()
    session.run_with_iobinding(binding)
    print(counter.aligned_memory_most(), own)


def of_onnxruntime(model, counter):
    """Bytes with outputs that the caller gives, and with its own; nothing if it refuses the model."""
    done = subprocess.run([sys.executable, __file__, "--measure", model], env={"LD_PRELOAD": str(counter)},
                          capture_output=True, text=True, check=False)
    return [int(number) for number in done.stdout.split()] if done.returncode == 0 else None


def compared(ours, theirs):
    """Three cells: bytes of both, and the one by the other."""
    return ["" if ours is None else f"{ours:,}", f"{theirs:,}", f"{ours / theirs:.2f}" if theirs else ""]


def row(relaxc, model, counter):
    """Cells of one model, and whether it is within what ONNX Runtime takes."""
    with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as name:
        folder = Path(name)
        dynamic = report(relaxc, model, folder / "dynamic.c")
        if isinstance(dynamic, str):
            return [dynamic], True
        cells = []
        arrays, ours, theirs = inputs_of(model), (None, None), None
        values = {}
        if arrays:
            report(relaxc, model, folder / "alone.so", "--threads=1", "-O1")
            values, *ours = of_relaxc(folder / "alone.so", arrays)
            theirs = of_onnxruntime(model, counter)
        static = dynamic if not values else report(
            relaxc, model, folder / "fixed.c",
            *(flag for name, value in values.items() for flag in ("--dim", f"{name}={value}")))
        if isinstance(static, str) or any(profile["symbols"] for profile in static):
            cells += ["", "", ""]
        else:
            profile = static[0]
            cells += [f"{profile['arena_bytes']:,}", f"{profile['bound_bytes']:,}", f"{profile['ratio'] or 1:.3f}"]
        if values:
            worst = max(dynamic, key=lambda profile: profile["ratio"] or 0)
            sizes = sorted(set(worst["symbols"].values()))
            cells += [f"{worst['ratio'] or 1:.3f}", ", ".join(map(str, sizes))]
        else:
            cells += ["", ""]
        for k in range(2):
            cells += compared(ours[k], theirs[k]) if theirs else ["" if ours[k] is None else f"{ours[k]:,}", "", ""]
        return cells, not theirs or ours[0] <= theirs[0]


PAGE = """# Memory of models

`bench/memory.py` writes this page and says how it measures. All numbers are bytes.

- *static*: dims are fixed at those of the model's test data. *bound* is what no placement can go below.
- *dynamic*: the model as exported; the worst ratio over sizes of 1, 16, 128 and 512, or near them where the model's
  guards refuse those, and the sizes at which it occurs.
- *activations*: memory of a run on the test data with one thread, without outputs, next to ONNX Runtime's. The caller
  provides the outputs' memory to both, so the two are comparable.
- *with outputs*: relaxc's outputs count for the whole run, since the caller owns them; ONNX Runtime's count from when
  it allocates them. A ratio above 1 in the last column only comes from that difference.

Arenas hold the scratch memory of kernels as well, once for each task that runs at a time. Where a 1x1 convolution copies
panels of its maps, a panel takes half of the first level of cache: 16,384 bytes on x86-64, by which the arena of YuNet at
640x640 grows with `--threads=1`; without it, its peak is in another kernel.

Two models take more than in ONNX Runtime. treeensemble-clf is one operator there and several kernels here; of its 24
bytes 4 are alignment. A convolution of silero-vad-openvino copies its operand with a border, in rows of whole vectors.

"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("relaxc", nargs="?")
    arguments.add_argument("folder", type=Path, nargs="?")
    arguments.add_argument("--page", type=Path)
    arguments.add_argument("--model", action="append")
    arguments.add_argument("--measure", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.measure:
        measure_onnxruntime(given.measure)
        return 0
    lines = ["| model | static arena | bound | ratio | dynamic ratio | at | activations | ONNX Runtime | ratio "
             "| with outputs | ONNX Runtime | ratio |", "|---" + "|---:" * 11 + "|"]
    print("\n".join(lines))
    fine = True
    with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as folder:
        counter = Path(folder) / "aligned_memory.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", counter, HERE / "aligned_memory.c"], check=True)
        for model in sorted(given.folder.glob("*/model.onnx")):
            if given.model and model.parent.name not in given.model:
                continue
            cells, within = row(given.relaxc, model, counter)
            fine &= within
            lines.append("| " + " | ".join([model.parent.name, *cells, *[""] * (11 - len(cells))]) + " |")
            print(lines[-1], flush=True)
    if given.page:
        sections = given.page.read_text().partition("\n## ") if given.page.exists() else ("", "", "")
        given.page.write_text(PAGE + "\n".join(lines) + "\n" + "".join(sections[1:]))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
