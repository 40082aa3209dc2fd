"""A board with two memories (--pool): on the Cortex-M55 of mps3-an547 the pool lies in the data TCM and the arena in the
SRAM behind the bus, each placed by the linker script; the answers are what the host computed.

Usage: pools_test.py RELAXC"""

import re
import sys
import tempfile
from pathlib import Path

from board import Board, run
from board_cases import own_cases

RELAXC = Path(sys.argv[1]).resolve()
TCM, SRAM = 0x20000000, 0x21000000
POOL = 8192
MOST_OFF = 10  # millionths, as board_test.py has it


class TwoMemories(Board):
    def script(self, script):
        script = re.sub(r"ram \(rwx\) : .*", f"ram (rwx) : ORIGIN = {SRAM}, LENGTH = 1M\n"
                                             f"  tcm (rwx) : ORIGIN = {TCM}, LENGTH = {POOL}", script)
        return script.replace("  stack_end", "  .tcm (NOLOAD) : { *(.tcm) } > tcm\n  stack_end")

    def places(self, folder):
        """Where the program's memories are, by their names."""
        symbols = run(self.cross + "nm", "m.elf", folder=folder).splitlines()
        return {line.split()[2]: int(line.split()[0], 16) for line in symbols if len(line.split()) == 3}


def main():
    with tempfile.TemporaryDirectory(prefix="relaxc-pools-") as folder:
        board = TwoMemories("cortex-m55", Path(folder) / "runtime")
        if missing := board.missing():
            print("skipped: there is no " + ", ".join(missing))
            return 77
        for case in own_cases(RELAXC, folder, Path(sys.argv[2]).resolve() if sys.argv[2:] else None):
            for form in ("o", "c"):
                case.build(board, form, "-Os", "--pool", f"tcm={POOL}", "--pool", "sram")
                status, off, took, arena, _ = board.run(case.folder)
                sizes = dict(re.findall(r"#define M_POOL_(\w+)_BYTES (\d+)", (case.folder / "m.h").read_text()))
                places = board.places(case.folder)
                print(f"{case.folder.name}.{form}: off by {off} millionths, {took} instructions, {sizes['TCM']} bytes of TCM, "
                      f"{sizes['SRAM']} of SRAM", flush=True)
                if status != 0 or off > MOST_OFF:
                    sys.exit(f"{case.folder.name}: status {status}, off by {off} millionths")
                if not TCM <= places["tcm"] < TCM + POOL or not SRAM <= places["arena"]:
                    sys.exit(f"{case.folder.name}: the memories lie elsewhere: {places['tcm']:#x}, {places['arena']:#x}")
                if int(sizes["TCM"]) == 0:
                    sys.exit(f"{case.folder.name}: nothing lies in the TCM")
    return 0


if __name__ == "__main__":
    sys.exit(main())
