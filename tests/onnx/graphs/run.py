#!/usr/bin/env python3
"""run.py: random graphs against ONNX Runtime, with fixed sizes and with symbols.

Usage: run.py RELAXC FIRST LAST [FLAG…]      seeds FIRST to LAST - 1, flags go to relaxc

Odd seeds have sizes beyond a vector's lanes. A graph with symbols is compiled once and run at two sizes of each symbol;
where ONNX Runtime refuses the second, it is left out. Each run is repeated with the tasks of parallel loops in reverse
order, which must not change a bit. Arena and outputs are between canaries, which must live.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path
from subprocess import run

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "contrib"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import graph  # noqa: E402
import harness  # noqa: E402
import operators  # noqa: E402

rlx = harness.rlx
CANARY, MARGIN = 0xA5, 4096


class Fenced:
    """numpy for the loader, whose empty arrays are between canaries."""

    def __init__(self):
        self.blocks = []

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype):
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        return self.aligned(size, 64).view(dtype).reshape(shape)

    def aligned(self, size, align):
        block = np.full(size + 2 * MARGIN + align, CANARY, np.uint8)
        start = MARGIN - (block.ctypes.data + MARGIN) % -align
        self.blocks.append((block, start, start + size))
        return block[start:start + size]

    def trampled(self):
        blocks, self.blocks = self.blocks, []
        return any((b[:start] != CANARY).any() or (b[end:] != CANARY).any() for b, start, end in blocks)


TASK = rlx.c.CFUNCTYPE(rlx.c.c_int32, rlx.c.c_void_p, rlx.c.c_int32)


@rlx.c.CFUNCTYPE(rlx.c.c_int32, rlx.c.c_void_p, rlx.c.c_int32, TASK, rlx.c.c_void_p)
def backwards(_, tasks, task, argument):
    """A parallel_for in an order that is rare with threads, and that a wrong result repeats in."""
    return next((code for i in reversed(range(tasks)) if (code := task(argument, i))), 0)


def share(context):
    context.parallel_for, context.num_threads = rlx.c.cast(backwards, rlx.c.c_void_p), 8


fence = Fenced()
rlx.np, rlx.aligned = fence, fence.aligned


def compare(entry, session, drawn, outputs, binding, case):
    """What is wrong with a run at one binding of the symbols, or an empty string."""
    arrays = drawn.arrays(binding)
    try:
        expected = [np.asarray(e) for e in session.run(None, arrays)]
    except Exception as error:
        return "" if binding else f"no reference: {error}"
    try:
        calls = [entry.prepare(arrays.values(), attach) for attach in (None, share)]
        for call in calls:
            call.run()
        actual, shared = (call.results() for call in calls)
    except rlx.RlxError as error:  # a window that is larger than what it slides over gives nothing there, no model here
        return "" if binding and "code 8" in str(error) else str(error)
    except ValueError as error:
        return str(error)
    if fence.trampled():
        return "memory around the arena or an output was written"
    for value, a, e, of_tasks in zip(outputs, actual, expected, shared):
        if a.tobytes() != of_tasks.tobytes():
            return f"output {value.name} depends on the order of tasks"
        floats = e.dtype.kind == "f"
        if not (value.exact or floats) or (floats and e.size and not (np.abs(e) < 1e4).all()):
            continue  # at other sizes values may have left the range in which they can be compared
        fault = harness.fault_of(a, e, case)
        if fault:
            return f"output {value.name}: {fault}"
    return ""


def check(seed, symbolic, relaxc, flags, folder):
    """What is wrong with a seed, or an empty string."""
    drawn = operators.drawn(seed, *((graph.LARGE, 100_000) if seed % 2 else (graph.SMALL, 4096)))
    model, outputs = drawn.model(symbolic)
    case = harness.Case(str(seed), model, {}, rtol=2e-4, atol=3e-5)  # for chains of two dozen nodes
    try:
        session = graph.session(model)
    except Exception as error:
        return f"no reference: {error}"
    path, library = folder / "model.onnx", folder / f"lib{'symbolic' if symbolic else 'fixed'}{seed}.so"
    onnx.save(model, path)
    done = run([relaxc, path, "-o", library, "--name", library.stem[3:], *flags], capture_output=True, text=True,
               check=False)
    if done.returncode:
        return f"relaxc exits with {done.returncode}: {done.stderr.strip()}"
    entry = next(iter(rlx.Model(library).functions.values()))
    faults = (compare(entry, session, drawn, outputs, b, case) for b in range(1 + symbolic))
    return next((f"{'second' if b else 'first'} sizes: {fault}" for b, fault in enumerate(faults) if fault), "")


def main():
    relaxc, first, last, *flags = sys.argv[1:]
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(last)):
            for symbolic in (False, True):
                fault = check(seed, symbolic, Path(relaxc).resolve(), flags, Path(folder))
                kind = "without reference" if "no reference" in fault else "differ" if fault else "agree"
                counts[kind] += 1
                if fault:
                    print(f"{seed} {'symbolic' if symbolic else 'fixed'}: {fault}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["differ"] or counts["agree"] < 9 * counts["without reference"] else 0


if __name__ == "__main__":
    sys.exit(main())
