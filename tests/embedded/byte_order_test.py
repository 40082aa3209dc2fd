"""C for machines that store the most significant byte first: the runner, the runtime and models as C, compiled for them
and run by qemu-user, give what an object gives here. Outputs are compared as bits where nothing depends on the order of
sums, else up to it.

Usage: byte_order_test.py RELAXC MACHINE [CASE… | --part K/N]; of N parts, part K has every N-th case from the K-th on."""

import ast
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import byte_order_cases
from programs import REPOSITORY, SUFFIX, close

RELAXC, MACHINE = Path(sys.argv[1]).resolve(), sys.argv[2]
TOOLS = {"powerpc": ("powerpc-linux-gnu-gcc", "qemu-ppc"), "s390x": ("s390x-linux-gnu-gcc", "qemu-s390x"),
         "mips": ("mips-linux-gnu-gcc", "qemu-mips")}
COMPILER, QEMU = TOOLS[MACHINE]
INCLUDE = f"-I{REPOSITORY / 'runtime-lite/include'}"
MODELS = Path(os.environ.get("RELAXC_MODELS", REPOSITORY.parent / "shared/models"))
FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wundef", "-Werror", "-ffp-contract=off", INCLUDE]


def run(*arguments, folder, code=0):
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != code:
        sys.exit(f"{MACHINE}: {' '.join(map(str, arguments))} gave {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def build_runtime(compiler, folder):
    folder.mkdir()
    rooms = [REPOSITORY / "runtime-lite" / room for room in ("core", "hosted", "runner")]
    parts = [file for room in rooms for file in sorted(room.glob("*.c")) if file.name not in ("memory.c", "print.c")]
    run(compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", INCLUDE, "-c", *parts, folder=folder)
    return [folder / f"{file.stem}.o" for file in parts]


def link(compiler, files, folder, output):
    run(compiler, *FLAGS, "-static", f"-I{folder}", "-Wl,--defsym=rlx_runner_model=m_model", *files, "-lm", "-lpthread", *(["-latomic"] if compiler == COMPILER else []),
        "-o", output, folder=folder)


def elements(path):
    """The numbers of a .npy file, as bits where they are no floats that can be compared."""
    data = path.read_bytes()
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:end].decode())
    kind, size = head["descr"][1:], int(head["descr"][2:])
    letter = SUFFIX.get(kind, {1: "B", 2: "H", 4: "I", 8: "Q"}[size])
    return head["shape"], kind, struct.unpack(f"<{(len(data) - end) // size}{letter}", data[end:])


def same(kind, a, b):
    return a == b or (a != a and b != b) or (kind in ("f4", "f8") and close(a, b))


def compare(name, folder):
    here, there = sorted((folder / "here").iterdir()), sorted((folder / "there").iterdir())
    if not here or [file.name for file in here] != [file.name for file in there]:
        sys.exit(f"{name}: other outputs on {MACHINE}: {here} and {there}")
    count = 0
    for one, other in zip(here, there):
        (shape, kind, x), (shape_there, kind_there, y) = elements(one), elements(other)
        wrong = [i for i, (a, b) in enumerate(zip(x, y)) if not same(kind, a, b)]
        if shape != shape_there or kind != kind_there or len(x) != len(y) or wrong:
            place = wrong[0] if wrong else 0
            sys.exit(f"{name}: {one.name}: {kind}{shape} here, {kind_there}{shape_there} on {MACHINE}; "
                     f"element {place}: {x[place:place + 4]} and {y[place:place + 4]}, {len(wrong)} differ")
        count += len(x)
    return count


def try_case(case, folder, runtime):
    folder.mkdir()
    source, flags, files = case.write(folder)
    run(RELAXC, source, *flags, "-o", "m.o", "--name=m", folder=folder)
    link("cc", ["m.o", *runtime["here"]], folder, "here.out")
    run("./here.out", "-o", "here", *files, folder=folder)
    (folder / "selftest.c").write_text(byte_order_cases.SELFTEST)
    carries = ["--emit-selftest"] if case.selftest else []
    counts = []
    for more in case.styles:
        run(RELAXC, source, *flags, *more, "-o", "m.c", "--name=m", *carries, folder=folder)
        parts = sorted(folder.glob("m*.c"))
        link(COMPILER, [*parts, *runtime["there"]], folder, "there.out")
        run(QEMU, "./there.out", "-o", "there", *files, folder=folder)
        counts.append(compare(f"{case.name} {more}", folder))
        if case.selftest:
            run(COMPILER, *FLAGS, "-static", *parts, "selftest.c", *runtime["core"], "-lm", "-o", "selftest.out",
                folder=folder)
            run(QEMU, "./selftest.out", folder=folder)
        for part in parts:
            part.unlink()
    print(f"{MACHINE} {case.name}: {counts[0]} elements as here, in {len(case.styles)} styles", flush=True)


def refusals(folder):
    """What is little-endian is refused when it is compiled."""
    folder.mkdir()
    source = REPOSITORY / "examples/digits/digits.onnx"
    for flags in (["--weights=w.bin"], ["--c-weights=incbin"], ["--c-weights=embed"],
                  ["--weights=w.bin", "--dim", "n=1", "--c-profile=misra"]):
        run(RELAXC, source, *flags, "-o", "m.c", "--name=m", folder=folder)
        said = run(COMPILER, "-std=gnu11", INCLUDE, "-c", "m.c", folder=folder, code=1)
        if "little-endian" not in said:
            sys.exit(f"{MACHINE}: {flags} is not refused for its byte order: {said}")


def chosen(words):
    """All cases, those that are named, or those of a part."""
    cases = list(byte_order_cases.cases(MODELS))
    if words and words[0] == "--part":
        part, parts = map(int, words[1].split("/"))
        return cases[part::parts]
    return [case for case in cases if not words or case.name in words]


def main():
    for tool in (COMPILER, QEMU):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            return 77
    with tempfile.TemporaryDirectory(prefix="relaxc-byte-order-") as path:
        base = Path(path)
        there = build_runtime(COMPILER, base / "runtime_there")
        core = {file.stem + ".o" for file in (REPOSITORY / "runtime-lite/core").glob("*.c")}
        runtime = {"here": build_runtime("cc", base / "runtime_here"), "there": there,
                   "core": [file for file in there if file.name in core]}
        for case in chosen(sys.argv[3:]):
            try_case(case, base / case.name, runtime)
        refusals(base / "refusals")
    return 0


if __name__ == "__main__":
    sys.exit(main())
