#!/usr/bin/env python3
"""sweep.py: random graphs, compiled in many ways, against other implementations.

Usage: sweep.py RELAXC KIND FIRST LAST [--settings N] [--write FOLDER]

For each seed from FIRST to LAST - 1 the graph of KIND is compiled under N of the rows of settings.py (default: 4) and
run (check.py). A case with a fault is made smaller, printed, and written to FOLDER as a model with its data. The kinds:

own        graphs of the generator in tests/onnx/graphs
rewritten  such a graph, and another that computes the same (rewritten_graphs.py)
planted    tests of passes with random operators around what they are about (planted.py)
nnsmith    graphs of NNSmith, which requirements.txt installs (nnsmith_graphs.py)

The exit code is 1 if a case has a fault, or if fewer than half of the runs could be compared.
"""

import argparse
import importlib
import os
import sys
from collections import Counter
from pathlib import Path

import check
import settings
import shrink
from check import NoReference
from compiled import Refused

KINDS = {"own": "own_graphs", "rewritten": "rewritten_graphs", "planted": "planted", "nnsmith": "nnsmith_graphs"}


class Sweep:
    def __init__(self, relaxc, folder):
        self.relaxc, self.folder = relaxc, folder
        self.counts, self.refusals = Counter(), Counter()

    def compare(self, case, row, wanted):
        """The fault of a case under a row of settings, which is counted."""
        try:
            fault = check.fault(self.relaxc, case, row, wanted)
        except NoReference:
            self.counts["without a reference"] += 1
            return ""
        except Refused as refusal:
            self.refuse(refusal)
            return ""
        self.counts["wrong" if fault else "right"] += 1
        return fault

    def refuse(self, refusal):
        self.counts["refused"] += 1
        self.refusals[str(refusal).splitlines()[0].partition(": ")[2]] += 1  # without the path

    def still_fails(self, case, row):
        try:
            return bool(check.fault(self.relaxc, case, row, check.expected(case)))
        except (NoReference, Refused):
            return False

    def check(self, case, rows):
        try:
            wanted = check.expected(case)
        except NoReference:
            self.counts["without a reference"] += len(rows)
            return
        for row in rows:
            if not (fault := self.compare(case, row, wanted)):
                continue
            print(f"{case.name} ({row}): {fault}", *case.steps, sep="\n    ", flush=True)
            if self.folder is not None:
                least = shrink.shrunk(case, lambda smaller: self.still_fails(smaller, row))
                shrink.write(least, check.expected(least), self.folder)
            return

    def report(self):
        print(", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items())))
        for refusal, count in self.refusals.most_common():
            print(f"{count} times refused: {refusal}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("relaxc", type=Path)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--settings", type=int, default=4)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    kind = importlib.import_module(KINDS[options.kind])
    sweep = Sweep(options.relaxc.resolve(), options.write)
    os.environ.setdefault("RELAX_RT_THREADS", str(sweep.relaxc.parents[1] / "lib/relaxc/librelax_rt_threads.so"))
    for seed in range(options.first, options.last):
        case = kind.make(seed)
        if case is None:
            sweep.counts["not made"] += 1
        else:
            getattr(kind, "check", Sweep.check)(sweep, case, settings.of_seed(seed, options.settings))
    sweep.report()
    return 1 if sweep.counts["wrong"] or 2 * sweep.counts["right"] < sweep.counts.total() else 0


if __name__ == "__main__":
    sys.exit(main())
