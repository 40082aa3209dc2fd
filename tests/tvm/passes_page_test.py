"""passes_page_test.py SOURCE: docs/passes.md names every pass that the installed TVM has.

Runs where the package apache-tvm is installed; elsewhere it says so and is skipped.
"""

import importlib
import re
import sys
from pathlib import Path

SKIPPED = 77
ROOMS = ("tvm.relax.transform", "tvm.s_tir.transform", "tvm.tirx.transform")
# Classes and options that stand beside the passes.
NO_PASSES = {
    "Apply", "Callable", "DataflowBlockPass", "Filter", "FunctionPass", "FusionPattern", "HoistExpressionConfig",
    "HoistIfThenElseConfig", "HoistedConditionals", "HoistedLetBindings", "InjectDoubleBufferConfig",
    "LoopPartitionConfig", "PatternCheckContext", "PrimFuncPass", "RemoveNoOpConfig", "StmtSimplifyConfig",
    "UnrollLoopConfig",
}


def main():
    try:
        rooms = [importlib.import_module(name) for name in ROOMS]
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIPPED
    page = (Path(sys.argv[1]) / "docs/passes.md").read_text()
    named = set(re.findall(r"\b[A-Z]\w+", page))
    missing = {name for room in rooms for name in dir(room) if name[0].isupper()} - NO_PASSES - named
    if missing:
        print("docs/passes.md does not name", *sorted(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
