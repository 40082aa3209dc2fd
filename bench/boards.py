"""boards.py: what the bare-metal examples take on each machine, as a table: code and constants of the model, flash and RAM of
the whole program, arena, and the stack that was painted and used.

Code and constants are read from the linked program, so they are what is left after --gc-sections; constants are weights
for all but a few bytes. Stack is everything from reset on, under QEMU.

Usage: boards.py RELAXC [CPU ...]; needs the cross compilers and QEMU that examples/bare-metal/README.md names."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CPUS = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "riscv32imac", "riscv64gc"]


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}{done.stdout}")
    return done.stdout + done.stderr


def sizes(folder, cross, program, prefix):
    """Bytes of the model's code, of its constants, of all flash, of all RAM but the stack."""
    code = constants = 0
    for line in run(folder, cross + "nm", "-S", "-t", "d", program).splitlines():
        words = line.split()
        if len(words) == 4 and words[3].startswith(prefix):
            if words[2] in "tT":
                code += int(words[1])
            elif words[2] in "rR":
                constants += int(words[1])
    text, data, bss = map(int, run(folder, cross + "size", program).splitlines()[1].split()[:3])
    return code, constants, text + data, data + bss


def row(relaxc, folder, cpu, program):
    cross = "riscv64-unknown-elf-" if cpu.startswith("riscv") else "arm-none-eabi-"
    make = ["make", "-s", "--no-print-directory", f"CPU={cpu}", f"RELAXC={relaxc}", f"RUNTIME={REPOSITORY}/runtime-lite"]
    run(folder, *make, "clean")
    printed = run(folder, *make, "run")
    arena, stack = re.search(r"(\d+) bytes of arena, (\d+) bytes of stack", printed).groups()
    code, constants, flash, ram = sizes(folder, cross, program + ".elf", program)
    return [program, cpu, *(f"{int(n):,}" for n in (code, constants, flash, arena, ram, stack))]


def main():
    relaxc, cpus = Path(sys.argv[1]).resolve(), sys.argv[2:] or CPUS
    rows = []
    with tempfile.TemporaryDirectory(prefix="relaxc-boards-") as path:
        for example in ("bare-metal", "digits", "digits-int8"):
            shutil.copytree(REPOSITORY / "examples" / example, Path(path) / example)
        for cpu in cpus:
            rows.append(row(relaxc, Path(path) / "bare-metal", cpu, "digits"))
        if "cortex-m0plus" in cpus:
            rows.append(row(relaxc, Path(path) / "digits-int8", "cortex-m0plus", "digits8"))
    print("| model | machine | code | constants | flash in all | arena | RAM in all | stack |")
    print("|---|---|---|---|---|---|---|---|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
