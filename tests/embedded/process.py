"""The programs of board.py in a process: qemu-user for machines of Linux, and for those of which Debian has no C library,
Linux's system calls alone; node for WebAssembly."""

import shutil
from pathlib import Path

from board import HERE, REPOSITORY, Board, run

LINUX = {  # machine: its C compiler, QEMU
    "aarch64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64", "-cpu", "cortex-a53"]),
    "aarch64-v8.2": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64", "-cpu", "cortex-a76"]),
    "armv7-a": (["arm-linux-gnueabihf-gcc"], ["qemu-arm", "-cpu", "cortex-a15"]),
    "riscv64gc": (["riscv64-linux-gnu-gcc"], ["qemu-riscv64"]),
}
FREE = {  # the same without a C library
    "riscv32imac": (["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-msmall-data-limit=0"], ["qemu-riscv32"]),
    "cortex-r5": (["arm-none-eabi-gcc", "-mcpu=cortex-r5", "-mthumb", "-mfloat-abi=hard"], ["qemu-arm", "-cpu", "cortex-r5f"]),
    "cortex-r52": (["arm-none-eabi-gcc", "-mcpu=cortex-r52", "-mthumb", "-mfloat-abi=hard"], ["qemu-arm", "-cpu", "max"]),
}
WASM = {"wasm32": [], "wasm32-simd": ["-msimd128"], "wasm32-relaxed": ["-msimd128"]}
RELAXED = ["--experimental-wasm-relaxed-simd"]  # which Node has without this flag from version 21 on
NODE = """
const memory = () => new Uint8Array(instance.exports.memory.buffer);
const put = (at, length) => { process.stdout.write(memory().slice(at, at + length)); };
const module_ = new WebAssembly.Module(require("fs").readFileSync("m.wasm"));
const instance = new WebAssembly.Instance(module_, {env: {put}});
process.exitCode = instance.exports.main();
"""


class Process(Board):
    """A machine, its compiler and what runs its programs. Figures of instructions and stack are 0."""

    def __init__(self, cpu, folder):
        self.cpu, self.target, self.riscv = cpu, ["--target", cpu], False
        if cpu in LINUX:
            self.compiler, self.emulator = LINUX[cpu]
        elif cpu in FREE:
            self.compiler, self.emulator = FREE[cpu]
        else:
            self.compiler = ["clang", "--target=wasm32", *WASM[cpu]]
            self.emulator = ["node", *(RELAXED if cpu == "wasm32-relaxed" else []), "run.js"]
        self.cross = "llvm-" if cpu in WASM else self.compiler[0].removesuffix("gcc")
        self.folder = Path(folder) / cpu
        self.include = [f"-I{REPOSITORY}/runtime-lite/include", f"-I{REPOSITORY}/examples/bare-metal", "-I.", "-DNO_COUNTER"]

    def missing(self):
        tools = [self.compiler[0], self.emulator[0]] + (["wasm-ld"] if self.cpu in WASM else [])
        return [tool for tool in tools if shutil.which(tool) is None]

    def compile(self, folder, sources, *flags):
        """With the C library's own functions where there is one."""
        free = [] if self.cpu in LINUX else ["-ffreestanding"]
        run(*self.compiler, "-std=c99", "-Os", "-ffunction-sections", "-fdata-sections", *free, *self.include, *flags, "-c",
            *sources, folder=folder)

    def runtime(self):
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            core = sorted((REPOSITORY / "runtime-lite/core").glob("*.c"))
            self.compile(self.folder, [file for file in core if self.cpu not in LINUX or file.name != "memory.c"])
            self.compile(self.folder, [HERE / "process_start.c"])
        return sorted(self.folder.glob("*.o"))

    def link(self, folder, objects, libraries=("-lgcc",)):
        flags = ["-static", "-Wl,--gc-sections,--fatal-warnings"] if self.cpu in LINUX else ["-nostdlib", "-Wl,--gc-sections"]
        if self.cpu in WASM:
            (folder / "run.js").write_text(NODE)
            flags, libraries = [*flags, "-Wl,--no-entry,--export=main"], ()
        run(*self.compiler, *flags, "-o", "m.wasm" if self.cpu in WASM else "m.elf", *objects, *libraries, folder=folder)

    def run(self, folder):
        program = [] if self.cpu in WASM else ["./m.elf"]
        status, off, _, arena, _ = map(int, run(*self.emulator, *program, folder=folder).split())
        return status, off, 0, arena, 0

    def sizes(self, folder):
        return (0, 0) if self.cpu in WASM else super().sizes(folder)
