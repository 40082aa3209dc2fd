"""Models compiled for another machine give there what they give here.

The runner of `relaxc model.onnx -o model` is built for the machine and linked with objects for it; qemu-user runs it on
the same .npy files as the host's program. Integers must be the same, floats the same up to the order of sums, which
depends on the width of vectors.

Usage: cross_test.py RELAXC MACHINE"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import PROGRAMS, REPOSITORY, close, npy, read_npy

RELAXC = Path(sys.argv[1]).resolve()
MACHINE = sys.argv[2]
TOOLS = {  # machine: its C compiler, QEMU
    "aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a53"]),
    "aarch64-v8.2": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a76"]),
    "aarch64-v8.6": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "max"]),
    "armv7-a": ("arm-linux-gnueabihf-gcc", ["qemu-arm", "-cpu", "cortex-a15"]),
    "riscv64gc": ("riscv64-linux-gnu-gcc", ["qemu-riscv64"]),
    "riscv64gcv": ("riscv64-linux-gnu-gcc", ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"]),
}
# More of what CPUs of a kind may have: (flags, QEMU).
MORE = {"aarch64-v8.2": (["--mattr=+i8mm"], ["qemu-aarch64", "-cpu", "max"])}
# Instructions that a program must be made of.
INSTRUCTIONS = {("aarch64-v8.6", "matrices"): ["smmla", "ummla", "usmmla"], ("aarch64-v8.6", "bfloats"): ["bfdot"]}
COMPILER, QEMU = TOOLS[MACHINE]


def run(*arguments, folder):
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, timeout=300,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{MACHINE}: {arguments} gave {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def compare(name, folder):
    here, there = sorted((folder / "here").iterdir()), sorted((folder / "there").iterdir())
    if not here or [file.name for file in here] != [file.name for file in there]:
        sys.exit(f"{name}: other outputs on {MACHINE}: {here} and {there}")
    same = True
    for a, b in zip(here, there):
        (head, x), (other, y) = read_npy(a), read_npy(b)
        exact = x == y
        same = same and exact
        floats = head["descr"].endswith("f4")
        if head != other or len(x) != len(y) or not (exact or floats and all(map(close, x, y))):
            sys.exit(f"{name}: output {a.name} is {head} {x[:8]} here and {other} {y[:8]} on {MACHINE}")
    return "the same bits" if same else "equal up to the order of sums"


def try_program(name, folder, sources):
    source, content, inputs, flags = PROGRAMS[name]
    if content is not None:
        (folder / source).write_bytes(content.encode() if isinstance(content, str) else content)
    files = []
    for index, (dims, values, kind) in enumerate(inputs):
        files.append(f"x{index}.npy")
        (folder / files[-1]).write_bytes(npy(dims, values, kind))
    run(RELAXC, source, *flags, "-o", "here.o", "--name", name, folder=folder)
    link("cc", ["here.o", *sources["here"]], name, folder)
    run("./" + name, "-o", "here", *files, folder=folder)
    run(RELAXC, source, *flags, "--target", MACHINE, "-o", "there.o", "--name", name, folder=folder)
    if (MACHINE, name) in INSTRUCTIONS:
        run(RELAXC, source, *flags, "--target", MACHINE, "-o", "there.s", "--name", name, folder=folder)
        found = set((folder / "there.s").read_text().split())
        if not found.issuperset(INSTRUCTIONS[MACHINE, name]):
            sys.exit(f"{name}: the code for {MACHINE} lacks some of {INSTRUCTIONS[MACHINE, name]}")
    link(COMPILER, ["there.o", *sources["there"]], name, folder)
    printed = run(*QEMU, "./" + name, "-o", "there", "--threads", "2", *files, folder=folder)
    print(f"{MACHINE} {name}: {compare(name, folder)}, {os.path.getsize(folder / 'there.o')} bytes; "
          f"{printed.splitlines()[0]}")
    if name == "bytes":  # linked by relaxc, with the runtime from its sources
        run(RELAXC, source, *flags, "--target", MACHINE, "--cc", COMPILER + " -static", "-o", name, folder=folder)
        run(*QEMU, "./" + name, "-o", "there", *files, folder=folder)
        print(f"{MACHINE} {name} in one command: {compare(name, folder)}")
    if name == "bytes" and MACHINE in MORE:
        more, emulator = MORE[MACHINE]
        run(RELAXC, source, *flags, "--target", MACHINE, *more, "-o", "there.o", "--name", name, folder=folder)
        link(COMPILER, ["there.o", *sources["there"]], name, folder)
        run(*emulator, "./" + name, "-o", "there", *files, folder=folder)
        print(f"{MACHINE} {name} with {more}: {compare(name, folder)}")


def link(compiler, objects, name, folder):
    """The program of a model. What a linker warns of would keep users from linking with their own flags."""
    run(compiler, "-static", "-Wl,--fatal-warnings", f"-Wl,--defsym=rlx_runner_model={name}_model", *objects,
        "-lpthread", "-o", name, folder=folder)


def build_runtime(compiler, folder):
    """The runtime and the runner, by a compiler, once."""
    folder.mkdir()
    rooms = [REPOSITORY / "runtime-lite" / room for room in ("core", "hosted", "runner")]
    parts = [file for room in rooms for file in sorted(room.glob("*.c")) if file.name not in ("memory.c", "print.c")]
    include = REPOSITORY / "runtime-lite/include"
    run(compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-c", *parts, folder=folder)
    return [folder / f"{file.stem}.o" for file in parts]


def main():
    for tool in (COMPILER, QEMU[0]):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            return 77
    with tempfile.TemporaryDirectory(prefix="relaxc-embedded-") as path:
        sources = {"here": build_runtime("cc", Path(path) / "runtime_here"),
                   "there": build_runtime(COMPILER, Path(path) / "runtime_there")}
        for name in PROGRAMS:
            folder = Path(path) / name
            folder.mkdir()
            try_program(name, folder, sources)
    return 0


if __name__ == "__main__":
    sys.exit(main())
