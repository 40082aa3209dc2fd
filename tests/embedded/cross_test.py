"""Models compiled for another machine give there what they give here.

The runner of `relaxc model.onnx -o model` is built for the machine and linked with objects for it; qemu-user runs it on
the same .npy files as the host's program. Integers must be the same, floats the same up to the order of sums, which
depends on the width of vectors.

Usage: cross_test.py RELAXC MACHINE…"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import PROGRAMS, REPOSITORY, close, npy, read_npy

RELAXC = Path(sys.argv[1]).resolve()
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


def run(*arguments, folder):
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, timeout=300,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{arguments} gave {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def compare(name, machine, folder):
    here, there = sorted((folder / "here").iterdir()), sorted((folder / machine).iterdir())
    if not here or [file.name for file in here] != [file.name for file in there]:
        sys.exit(f"{name}: other outputs on {machine}: {here} and {there}")
    same = True
    for a, b in zip(here, there):
        (head, x), (other, y) = read_npy(a), read_npy(b)
        exact = x == y
        same = same and exact
        floats = head["descr"].endswith("f4")
        if head != other or len(x) != len(y) or not (exact or floats and all(map(close, x, y))):
            sys.exit(f"{name}: output {a.name} is {head} {x[:8]} here and {other} {y[:8]} on {machine}")
    return "the same bits" if same else "equal up to the order of sums"


def run_here(name, folder, runtime):
    """Runs a program on this machine; returns its source, its flags and the files of its inputs."""
    source, content, inputs, flags = PROGRAMS[name]
    if content is not None:
        (folder / source).write_bytes(content.encode() if isinstance(content, str) else content)
    files = []
    for index, (dims, values, kind) in enumerate(inputs):
        files.append(f"x{index}.npy")
        (folder / files[-1]).write_bytes(npy(dims, values, kind))
    run(RELAXC, source, *flags, "-o", "here.o", "--name", name, folder=folder)
    link("cc", ["here.o", *runtime], name, folder)
    run("./" + name, "-o", "here", *files, folder=folder)
    return source, flags, files


def run_there(name, machine, folder, runtime, program):
    source, flags, files = program
    compiler, qemu = TOOLS[machine]
    run(RELAXC, source, *flags, "--target", machine, "-o", "there.o", "--name", name, folder=folder)
    if (machine, name) in INSTRUCTIONS:
        run(RELAXC, source, *flags, "--target", machine, "-o", "there.s", "--name", name, folder=folder)
        found = set((folder / "there.s").read_text().split())
        if not found.issuperset(INSTRUCTIONS[machine, name]):
            sys.exit(f"{name}: the code for {machine} lacks some of {INSTRUCTIONS[machine, name]}")
    link(compiler, ["there.o", *runtime], name, folder)
    printed = run(*qemu, "./" + name, "-o", machine, "--threads", "2", *files, folder=folder)
    print(f"{machine} {name}: {compare(name, machine, folder)}, {os.path.getsize(folder / 'there.o')} bytes; "
          f"{printed.splitlines()[0]}")
    if name == "bytes":  # linked by relaxc, with the runtime from its sources
        run(RELAXC, source, *flags, "--target", machine, "--cc", compiler + " -static", "-o", name, folder=folder)
        run(*qemu, "./" + name, "-o", machine, *files, folder=folder)
        print(f"{machine} {name} in one command: {compare(name, machine, folder)}")
    if name == "bytes" and machine in MORE:
        more, emulator = MORE[machine]
        run(RELAXC, source, *flags, "--target", machine, *more, "-o", "there.o", "--name", name, folder=folder)
        link(compiler, ["there.o", *runtime], name, folder)
        run(*emulator, "./" + name, "-o", machine, *files, folder=folder)
        print(f"{machine} {name} with {more}: {compare(name, machine, folder)}")


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
    machines = [machine for machine in sys.argv[2:] if all(shutil.which(tool) for tool in (TOOLS[machine][0], TOOLS[machine][1][0]))]
    for machine in sys.argv[2:]:
        if machine not in machines:
            print(f"{machine} is left out: there is no {TOOLS[machine][0]} or no {TOOLS[machine][1][0]}")
    if not machines:
        return 77
    with tempfile.TemporaryDirectory(prefix="relaxc-embedded-") as path:
        here = build_runtime("cc", Path(path) / "runtime_here")
        compilers = {TOOLS[machine][0] for machine in machines}
        there = {compiler: build_runtime(compiler, Path(path) / f"runtime_{compiler}") for compiler in sorted(compilers)}
        for name in PROGRAMS:
            folder = Path(path) / name
            folder.mkdir()
            program = run_here(name, folder, here)
            for machine in machines:
                run_there(name, machine, folder, there[TOOLS[machine][0]], program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
