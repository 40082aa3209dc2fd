"""Boards, processes of other machines and processes of this one, by names such as board:cortex-m4."""

import platform
import shutil
from pathlib import Path

from board import HERE, REPOSITORY, Board, run
from process import Process


class Host(Process):
    """Processes of the machine that runs the test, compiled for a CPU of its kind."""

    def __init__(self, cpu, folder):
        super().__init__("aarch64", folder)
        self.cpu, self.compiler, self.emulator, self.cross = cpu, ["cc"], [], ""
        self.folder = Path(folder) / "host"

    def compile(self, folder, sources, *flags):
        run("cc", "-std=c99", "-Os", *self.include, *flags, "-c", *sources, folder=folder)

    def runtime(self):
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            core = (REPOSITORY / "runtime-lite/core").glob("*.c")
            self.compile(self.folder, [*sorted(file for file in core if file.name != "memory.c"), HERE / "process_start.c"])
        return sorted(self.folder.glob("*.o"))

    def link(self, folder, objects, libraries=("-lgcc",)):
        run("cc", "-static", "-o", "m.elf", *objects, folder=folder)

    def missing(self):
        there = platform.machine() == "x86_64" and shutil.which("cc") is not None
        return [] if there else ["an x86-64"]


def machine_of(name, folder):
    kind, cpu = name.split(":")
    return {"host": Host, "process": Process, "board": Board}[kind](cpu, Path(folder) / kind)


def run_program(kind, machine, folder):
    """What m.elf prints."""
    if kind == "board":
        return run(*machine.qemu(), "-M", machine.board, "-nographic", "-kernel", "m.elf", folder=folder)
    return run(*machine.emulator, "./m.elf", folder=folder)
