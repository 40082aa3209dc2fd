#!/usr/bin/env python3
"""run.py: the operators of com.microsoft and ai.onnx.ml over their attributes, against ONNX Runtime.

Usage: run.py RELAXC [--only SUBSTRING] [--family NAME] [--symbolic] [-v] [FLAG…]      flags go to relaxc

Each family is a module of this folder whose `cases()` yields harness.Case. A family must have cases, and every case
must agree; what ONNX Runtime refuses counts as a fault of the case. With --symbolic relaxc is told no size of an input,
and cases that need one are left out.
"""

import argparse
import importlib
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402

FAMILIES = ("fused", "norms", "attention", "quantized", "blocks", "trees", "features", "functions", "misc",
            "labels")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relaxc", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--symbolic", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    options, flags = parser.parse_known_args()
    relaxc = options.relaxc.resolve()
    counts = Counter()
    for family in options.family or FAMILIES:
        for case in importlib.import_module(family).cases():
            if options.only not in case.name or (options.symbolic and case.fixed):
                continue
            fault = harness.check(case, relaxc, flags, options.symbolic)
            counts["failed" if fault else "passed"] += 1
            if fault or options.verbose:
                print(f"{family}: {case.name}: {fault or 'agrees'}")
    print(f"{counts['passed']} agree, {counts['failed']} do not")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
