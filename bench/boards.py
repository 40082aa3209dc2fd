"""boards.py: what models take on each machine, as tables.

The first is of the bare-metal examples: code and constants of the model, flash and RAM of the whole program, arena, and the
stack that was painted and used. The second is of the models of tests/embedded (those of RELAXC_MODELS, too, where they
are), by relaxc's objects of -Oz, -Os and -O2 and by plain C of relaxc (-o model.c) that the cross compiler made at -O2:
code, and instructions of one call as QEMU counts them.

Code and constants are read from the linked program, so they are what is left after --gc-sections; constants are weights
for all but a few bytes. Stack is everything from reset on, under QEMU.

A third one, of --tiny alone, has the int8 networks of MLPerf Tiny (those of RELAXC_MODELS that are there): instructions of
one frame in millions at -Os, -O2 and -O3, with the outputs compared to the bit, and code, constants, arena and stack at -O3.
--tflite has the same table of their TFLite files.

--cycles has estimates of cycles of these networks at -O3 beside their instructions, for the Cortex-M that LLVM has a model
of (cycles.py says how); --layers has both for each kernel, the longest first; with --tflite they are of the TFLite files.

Usage: boards.py RELAXC [--models | --tiny | --tflite | --cycles | --layers] [CPU ...]; --models: the second table alone;
needs the cross compilers and QEMU that examples/bare-metal/README.md names, and llvm-mca-22 for cycles."""

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests/embedded"))
import cycles  # noqa: E402
from board import CPUS, Board  # noqa: E402
from board_cases import own_cases, tiny_cases, wild_cases  # noqa: E402


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
    elf = next((folder / "build").glob(f"**/{program}.elf"))
    arena, stack = re.search(r"(\d+) bytes of arena, (\d+) bytes of stack", printed).groups()
    code, constants, flash, ram = sizes(folder, cross, str(elf), program)
    return [program, cpu, *(f"{int(n):,}" for n in (code, constants, flash, arena, ram, stack))]


def model_rows(relaxc, cpu):
    """A row for each model: constants, arena, and for each way code, stack and instructions."""
    ways = [("o", "-Oz"), ("o", "-Os"), ("o", "-O2"), ("c", "-O2")]
    with tempfile.TemporaryDirectory(prefix="relaxc-boards-") as path:
        board = Board(cpu, Path(path) / "runtime")
        for case in itertools.chain(own_cases(relaxc, path), wild_cases(relaxc, cpu, path)):
            cells, kept = [], ["-", "-"]
            for emit, level in ways:
                try:
                    case.build(board, emit, level)
                    _, _, took, arena, stack = board.run(case.folder)
                    code, constants = board.sizes(case.folder)
                except RuntimeError as error:
                    print(f"{cpu} {case.folder.name} {emit} {level}: {str(error)[-300:]}", file=sys.stderr)
                    cells += ["-", "-", "-"]
                    continue
                cells += [f"{code:,}", f"{stack:,}", f"{took:,}"]
                if level == "-Os":
                    kept = [f"{constants:,}", f"{arena:,}"]
            yield [case.folder.name, cpu, *kept, *cells]


def print_models(relaxc, cpus):
    print("| model | machine | constants | arena | -Oz: code | stack | instructions | -Os: code | stack | instructions "
          "| -O2: code | stack | instructions | plain C: code | stack | instructions |\n" + "|---" * 16 + "|")
    for cpu in cpus:
        for cells in model_rows(relaxc, cpu):
            print("| " + " | ".join(cells) + " |", flush=True)


def print_tiny(relaxc, cpus, file):
    levels = ["-Os", "-O2", "-O3"]
    print("| model | machine | " + " | ".join(f"{level}: million instructions" for level in levels) +
          " | code | constants | arena | stack |\n" + "|---" * 9 + "|")
    with tempfile.TemporaryDirectory(prefix="relaxc-boards-") as path:
        for case in tiny_cases(relaxc, path, file=file):
            for cpu in cpus:
                board, cells, kept = Board(cpu, Path(path) / "runtime"), [], ["-"] * 4
                for level in levels:
                    try:
                        case.build(board, "o", level)
                        _, off, took, arena, stack = board.run(case.folder)
                        kept = [f"{n:,}" for n in (*board.sizes(case.folder), arena, stack)]
                        cells.append(f"{took / 1e6:.2f}" if off == 0 else "wrong")
                    except RuntimeError as error:
                        print(f"{cpu} {case.folder.name} {level}: {str(error)[-300:]}", file=sys.stderr)
                        cells.append("-")
                print("| " + " | ".join([case.folder.name, cpu, *cells, *kept]) + " |", flush=True)


def estimates(relaxc, cpus, file):
    """(case's name, CPU, {function: (instructions, cycles)}) of each network of MLPerf Tiny."""
    with tempfile.TemporaryDirectory(prefix="relaxc-boards-") as path:
        plugin = cycles.build_plugin(path)
        for case in tiny_cases(relaxc, path, file=file):
            for cpu in cpus:
                board = Board(cpu, Path(path) / "runtime")
                case.build(board, "o", "-O3")
                yield case.folder.name, cpu, cycles.of_program(board, case.folder, plugin)


def print_cycles(relaxc, cpus, file):
    print("| model | machine | million instructions | million cycles, estimated |\n|---|---|---|---|")
    for name, cpu, functions in estimates(relaxc, cpus, file):
        print(f"| {name} | {cpu} | {sum(count for count, _ in functions.values()) / 1e6:.2f} | "
              f"{sum(took for _, took in functions.values()) / 1e6:.2f} |", flush=True)


def print_layers(relaxc, cpus, file):
    print("| model | machine | kernel | thousand instructions | thousand cycles, estimated |\n" + "|---" * 5 + "|")
    for name, cpu, functions in estimates(relaxc, cpus, file):
        for kernel, (count, took) in sorted(functions.items(), key=lambda entry: -entry[1][1]):
            print(f"| {name} | {cpu} | {kernel.removeprefix('m.f.')} | {count / 1e3:,.1f} | {took / 1e3:,.1f} |", flush=True)


def main():
    flags = ("--models", "--tiny", "--tflite", "--cycles", "--layers")
    relaxc, cpus = Path(sys.argv[1]).resolve(), [word for word in sys.argv[2:] if word not in flags] or CPUS
    file = "model.tflite" if "--tflite" in sys.argv else "model.onnx"
    for flag, show in (("--cycles", print_cycles), ("--layers", print_layers)):
        if flag in sys.argv:
            return show(relaxc, [cpu for cpu in cpus if cpu in cycles.JUMP], file)
    if "--tiny" in sys.argv or "--tflite" in sys.argv:
        return print_tiny(relaxc, cpus, file)
    if "--models" not in sys.argv:
        print_examples(relaxc, cpus)
        print()
    print_models(relaxc, cpus)


def print_examples(relaxc, cpus):
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
