"""The same models, data and expected values on every board.

Usage: board_test.py RELAXC CPU own|models [EXPECTED], or PROCESS:CPU for a process of qemu-user or node. `own` are models
that the repository has, `models` the real ones of RELAXC_MODELS; the exit code is 77 if there are none. EXPECTED is the
folder that expected.py wrote; without it, the host's interpreter runs each model again."""

import sys
import tempfile
from pathlib import Path

from board import Board
from board_cases import MODELS, own_cases, wild_cases
from process import Process

# Of the largest magnitude, in millionths: the host's interpreter sums in the order of the definition, a board in that of its
# schedule, which is some dozens of roundings of 2^-24 apart.
MOST_OFF = 10
RELAXC, CPU = Path(sys.argv[1]).resolve(), sys.argv[2].removeprefix("PROCESS:")
MACHINE = Board if CPU == sys.argv[2] else Process
LEVELS = {  # the smaller last; loops of bytes that differ from those of -Os (ByteTileForm::kThumb)
    "cortex-m4": ["-Os", "-Oz"],
    "cortex-m0plus": ["-O2", "-Os"],
    "cortex-m0": ["-O3"],
    "cortex-m23": ["-O3"],
}


def check(board, case, level):
    """Runs it, and gives the bytes of its code."""
    case.build(board, "o", level)
    status, off, took, arena, stack = board.run(case.folder)
    code, constants = board.sizes(case.folder)
    print(f"{CPU} {case.folder.name} {level}: off by {off} millionths, {took} instructions, {code} bytes of code, "
          f"{constants} of constants, {arena} of arena, {stack} of stack", flush=True)
    if status != 0 or off > MOST_OFF:
        sys.exit(f"{CPU} {case.folder.name} {level}: status {status}, off by {off} millionths")
    return code


def main():
    if sys.argv[3] == "models" and not MODELS.exists():
        print(f"skipped: there is no folder '{MODELS}'")
        return 77
    with tempfile.TemporaryDirectory(prefix="relaxc-board-") as folder:
        board = MACHINE(CPU, Path(folder) / "runtime")
        if missing := board.missing():
            print("skipped: there is no " + ", ".join(missing))
            return 77
        expected = Path(sys.argv[4]).resolve() if sys.argv[4:] else None
        for case in (own_cases(RELAXC, folder, expected) if sys.argv[3] == "own" else
                     wild_cases(RELAXC, CPU, folder, expected)):
            code = [check(board, case, level) for level in LEVELS.get(CPU, ["-Os"])]
            if sorted(code, reverse=True) != code:
                sys.exit(f"{CPU} {case.folder.name}: {code[-1]} bytes of code are more than {code[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
