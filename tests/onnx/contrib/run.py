#!/usr/bin/env python3
"""run.py: the operators of com.microsoft and ai.onnx.ml over their attributes, against ONNX Runtime.

Usage: run.py RELAXC [--only SUBSTRING] [--family NAME] [--symbolic] [--part K/N] [--full-codegen K/N] [-v] [FLAG…]
       (flags go to relaxc)
       run.py RELAXC --list FILE [--update]

Each family is a module of this folder whose `cases()` yields harness.Case. A family must have cases, and every case
must agree; what ONNX Runtime refuses counts as a fault of the case. With --symbolic relaxc gets no size of an input,
and cases that need one are left out. --part K/N takes every Nth case, from K on; with --full-codegen K/N LLVM gets its
full time for every Nth of them alone, and the others are compiled with --fast-codegen. --list compares FILE with what the cases test: domain, operator, opset, types,
number of cases, and of those with open sizes; the page docs/onnx-support.md is made of it.
"""

import argparse
import importlib
import itertools
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
import onnx  # noqa: E402

BATCH = 24  # models in one library
FAMILIES = ("fused", "norms", "attention", "quantized", "blocks", "trees", "features", "functions", "misc",
            "labels", "experts", "packed", "sizes", "streams", "text")


def tested():
    """The lines of the list."""
    counts = {}
    for family in FAMILIES:
        for case in importlib.import_module(family).cases():
            opsets = {entry.domain: entry.version for entry in case.model.opset_import}
            nodes = list(case.model.graph.node) + [n for f in case.model.functions for n in f.node]
            types = {v.name: onnx.TensorProto.DataType.Name(v.type.tensor_type.elem_type).lower()
                     for v in case.model.graph.input}
            for op in {(node.domain, node.op_type) for node in nodes}:
                entry = counts.setdefault((*op, opsets.get(op[0], 1)), [set(), 0, 0])
                entry[0] |= {types[n.input[0]] for n in nodes if (n.domain, n.op_type) == op and n.input and n.input[0] in types}
                entry[1] += 1
                entry[2] += not case.fixed
    return "".join(f"{domain or 'ai.onnx'} {op} {opset} {','.join(sorted(types)) or '-'} {count} {dynamic}\n"
                   for (domain, op, opset), (types, count, dynamic) in sorted(counts.items()))


def batches(cases, full, of):
    """The cases in parts that are compiled together, and the flag of each part."""
    parts = [(cases[full::of], []), ([case for i, case in enumerate(cases) if i % of != full], ["--fast-codegen"])]
    return [(part[at:at + BATCH], flag) for part, flag in parts for at in range(0, len(part), BATCH)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relaxc", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--symbolic", action="store_true")
    parser.add_argument("--part", default=(0, 1), type=lambda text: tuple(map(int, text.split("/"))))
    parser.add_argument("--full-codegen", default=(0, 1), type=lambda text: tuple(map(int, text.split("/"))))
    parser.add_argument("--list", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    options, flags = parser.parse_known_args()
    if options.list:
        lines = tested()
        if options.update:
            options.list.write_text(lines)
        elif options.list.read_text() != lines:
            sys.exit(f"{options.list} is not what the cases test; run it with --update, and onnx_support_page too")
        return 0
    relaxc = options.relaxc.resolve()
    counts = Counter()
    first, step = options.part
    for family in options.family or FAMILIES:
        chosen = [case for case in itertools.islice(importlib.import_module(family).cases(), first, None, step)
                  if options.only in case.name and not (options.symbolic and case.fixed)]
        for batch, fast in batches(chosen, *options.full_codegen):
            for case, fault in zip(batch, harness.check(batch, relaxc, [*flags, *fast], options.symbolic), strict=True):
                counts["failed" if fault else "passed"] += 1
                if fault or options.verbose:
                    print(f"{family}: {case.name}: {fault or 'agrees'}")
    print(f"{counts['passed']} agree, {counts['failed']} do not")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
