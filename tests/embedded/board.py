"""Runs one model on one of QEMU's boards, with the start-up of examples/bare-metal: no system, no C library, no heap.

The program carries inputs and the outputs that the host computed, and says how far it was off, how many instructions the
call took (QEMU counts them with -icount: a nanosecond each), how large its arena is and how much stack was used."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from programs import REPOSITORY, SUFFIX, npy, read_npy

HERE = Path(__file__).resolve().parent
EXAMPLE = REPOSITORY / "examples/bare-metal"
CPUS = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "riscv32imac", "riscv64gc"]
OTHERS = {  # cores without an example: the compiler's flags, and a board whose core runs their instructions as well
    "cortex-m0": (["-mcpu=cortex-m0", "-mfloat-abi=soft"], "mps2-an385"),
    "cortex-m1": (["-mcpu=cortex-m1", "-mfloat-abi=soft"], "mps2-an385"),
    "cortex-m23": (["-mcpu=cortex-m23", "-mfloat-abi=soft"], "mps2-an505"),
    "cortex-m52": (["-mcpu=cortex-m55", "-mfloat-abi=hard"], "mps3-an547"),
    "cortex-m85": (["-mcpu=cortex-m55", "-mfloat-abi=hard"], "mps3-an547"),
    "riscv32imc": (["-march=rv32imc", "-mabi=ilp32"], "virt"),
    "riscv32imafc": (["-march=rv32imafc", "-mabi=ilp32f"], "virt"),
    "riscv64imac": (["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"], "virt"),
}
MAKE = (EXAMPLE / "Makefile").read_text()
TICK = {"mps2-an505": 50, "mps3-an547": 31.25}  # nanoseconds of SysTick; 40 on the others, 1 on RISC-V
MEMORY = {"virt": ("8M", "16M"), "mps3-an547": ("512K", "512K")}  # flash and RAM; 4 MB each on the others
PLACES = {"virt": (0x80000000, 0x80800000), "mps2-an505": (0x10000000, 0x38000000)}
C_TYPES = {"f4": "float", "i1": "int8_t", "i4": "int32_t", "i8": "int64_t", "u1": "uint8_t", "b1": "uint8_t"}


def setting(name, cpu):
    found = re.search(rf"^{name}_{cpu} *= (.*)$", MAKE, re.M)
    return found[1].split() if found else []


def run(*arguments, folder, timeout=300):
    done = subprocess.run([str(a) for a in arguments], cwd=folder, capture_output=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments} gave {done.returncode}: {(done.stdout + done.stderr).decode()[-2000:]}")
    return (done.stdout + done.stderr).decode()  # semihosting prints to the latter


class Board:
    """A CPU, its compiler, QEMU's board of it, and the runtime compiled for it in `folder`."""

    def __init__(self, cpu, folder):
        self.cpu, self.riscv = cpu, cpu.startswith("riscv")
        self.cross = "riscv64-unknown-elf-" if self.riscv else "arm-none-eabi-"
        self.target = ["--target", cpu]
        flags, self.board = OTHERS.get(cpu) or (
            setting("FLAGS", cpu) + ([] if self.riscv else [f"-mcpu={cpu}"]), setting("BOARD", cpu)[0])
        machine = flags + (["-msmall-data-limit=0"] if self.riscv else ["-mthumb"])
        self.compiler = [self.cross + "gcc", *machine]
        self.folder = Path(folder) / cpu
        self.include = [f"-I{REPOSITORY}/runtime-lite/include", f"-I{EXAMPLE}", "-I."]

    def missing(self):
        return [tool for tool in (self.cross + "gcc", self.qemu()[0]) if shutil.which(tool) is None]

    def qemu(self):
        if self.riscv:
            return ["qemu-system-" + self.cpu[:7], "-bios", "none"]
        return ["qemu-system-arm", "-semihosting-config", "enable=on,target=native"]

    def compile(self, folder, sources, *flags):
        run(*self.compiler, "-std=c99", "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections", *self.include,
            *flags, "-c", *sources, folder=folder)

    def runtime(self):
        """Objects of the runtime and of the start-up, made once."""
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            start = [EXAMPLE / "start.c", EXAMPLE / ("start_riscv.c" if self.riscv else "start_arm.c")]
            self.compile(self.folder, [*sorted((REPOSITORY / "runtime-lite/core").glob("*.c")), *start])
        return sorted(self.folder.glob("*.o"))

    def script(self, script):
        return script

    def link(self, folder, objects, libraries=("-lgcc",)):
        flash, ram = PLACES.get(self.board, (0, 0x20000000))
        sizes = MEMORY.get(self.board, ("4M", "4M"))
        script = (EXAMPLE / "board.ld").read_text().replace("512K", sizes[0]).replace("128K", sizes[1])
        (folder / "board.ld").write_text(self.script(script))
        run(*self.compiler, "-nostdlib", "-T", "board.ld", "-Wl,--gc-sections,--fatal-warnings,-z,noexecstack",
            f"-Wl,--defsym=FLASH={flash},--defsym=RAM={ram}", "-o", "m.elf", *objects, *libraries, folder=folder)

    def run(self, folder, flags=()):
        """(status, millionths off, instructions, arena, stack); `flags` are QEMU's"""
        words = run(*self.qemu(), "-M", self.board, "-nographic", "-icount", "shift=0", *flags, "-kernel", "m.elf",
                    folder=folder)
        status, off, took, arena, stack = map(int, words.split())
        nanoseconds = 1 if self.riscv else TICK.get(self.board, 40)
        return status, off, int(took * nanoseconds), arena, stack

    def sizes(self, folder):
        """Bytes of the model's own code and constants in the program."""
        code = constants = 0
        for line in run(self.cross + "nm", "-S", "-t", "d", "m.elf", folder=folder).splitlines():
            words = line.split()
            if len(words) == 4 and re.match(r"m[_.]|k_|rlx_weights", words[3]):
                code += int(words[1]) if words[2] in "tT" else 0
                constants += int(words[1]) if words[2] in "rR" else 0
        return code, constants


class Case:
    """A model with inputs, in a folder of its own. `expected`: where folders of outputs are that `interpret` wrote before;
    without it the outputs are computed when they are needed."""

    def __init__(self, relaxc, name, source, inputs, flags=(), symbols=None, folder=None, expected=None):
        self.relaxc, self.source, self.flags, self.symbols = relaxc, source, list(flags), symbols or {}
        self.folder = Path(folder) / name
        self.folder.mkdir()
        self.inputs = inputs
        self.expected = Path(expected) / name if expected else None

    def interpret(self, want):
        """Writes the outputs that the host's interpreter gives into the folder `want`."""
        files = []
        for at, (dims, values, kind) in enumerate(self.inputs):
            files.append(f"x{at}.npy")
            (self.folder / files[-1]).write_bytes(npy(dims, values, kind))
        run(self.relaxc, "run", self.source, *files, "--interpret", "-o", want, *self.flags, folder=self.folder)

    def compile(self, target, emit, *flags):
        run(self.relaxc, self.source, *self.flags, *target, *flags, "--name", "m", "-o", f"m.{emit}",
            folder=self.folder)

    def build(self, board, emit="o", *flags):
        """Links the program for the board from an object, or from C by its compiler."""
        self.compile(board.target, emit, *flags)
        self.write_data()
        if emit == "c":
            board.compile(self.folder, ["m.c"], "-O2", "-ffp-contract=off", "-fno-math-errno")
        board.compile(self.folder, [HERE / "board_main.c"])
        board.link(self.folder, ["board_main.o", "m.o", *board.runtime()])

    def write_data(self):
        if self.expected is None:
            self.expected = self.folder / "want"
            self.interpret(self.expected)
        header = (self.folder / "m.h").read_text()
        fields = re.search(r"typedef struct m_args \{(.*?)\} m_args;", header, re.S)[1]
        names = re.findall(r"(const )?(\w+)\s*(\*?)\s*(\w+);", fields)
        inputs, text, checks, values = iter(self.inputs), "", "", []
        for constant, _, pointer, name in names:
            if constant:
                dims, numbers, kind = next(inputs)
                text += array("const ", kind, f"in_{name}", numbers)
                values.append(f".{name} = in_{name}")
            elif pointer:
                head, numbers = read_npy(self.expected / f"{name}.npy")
                kind = head["descr"][1:]
                text += array("const ", kind, f"want_{name}", numbers)
                text += f"static {C_TYPES[kind]} out_{name}[{len(numbers)}];\n"
                values.append(f".{name} = out_{name}")
                scale = max([1.0, *map(abs, numbers)])
                checks += (f"check_floats(out_{name}, want_{name}, {len(numbers)}, {scale!r}f);" if kind == "f4" else
                           f"check_bytes(out_{name}, want_{name}, sizeof want_{name});")
            else:
                values.append(f".{name} = {self.symbols[name]}")
        text += f"#define ARGUMENTS {{{', '.join(values)}}}\n#define CHECKS {checks}\n"
        (self.folder / "case.h").write_text(text)


def array(qualifier, kind, name, numbers):
    words = ", ".join(f"{n!r}f" if SUFFIX[kind] == "f" else str(int(n)) for n in numbers)
    return f"static {qualifier}{C_TYPES[kind]} {name}[{len(numbers)}] = {{{words}}};\n"
