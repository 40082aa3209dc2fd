#!/usr/bin/env python3
"""coverage_test.py: docs/onnx-support.md has a row for every operator that the `onnx` package or ONNX Runtime's CPU knows.

Usage: coverage_test.py PAGE

A row means that the operator is converted, or refused with a reason. What counts is (operator, version): a version below
the row's `since` is missing. ONNX Runtime's own copies between devices have no row, since no file has them.
"""

import re
import sys
from pathlib import Path

import onnx.defs
import onnxruntime.capi.onnxruntime_pybind11_state as runtime

NOT_IN_FILES = {("ai.onnx", "MemcpyFromHost"), ("ai.onnx", "MemcpyToHost")}


def standard():
    for schema in onnx.defs.get_all_schemas_with_history():
        yield (schema.domain or "ai.onnx", schema.name), schema.since_version


def kernels():
    for kernel in runtime.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            yield (kernel.domain or "ai.onnx", kernel.op_name), kernel.version_range[1]


def main():
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\d+) \|", Path(sys.argv[1]).read_text(), re.M)
    since = {(domain, op): int(version) for domain, op, version in rows}
    known = list(standard()) + list(kernels())
    missing = sorted({(key, version) for key, version in known
                      if key not in NOT_IN_FILES and since.get(key, 1 << 40) > version})
    for (domain, op), version in missing:
        print(f"{domain} {op} {version}: there is no row")
    print(f"{len(since)} rows, {len(known)} operators and versions, {len(missing)} missing")
    return 1 if missing or len(known) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
