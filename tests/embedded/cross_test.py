"""Models compiled for another machine give there what they give here.

The runner of `relaxc model.onnx -o model` is built for the machine and linked with objects for it; qemu-user runs it on
the same .npy files as the host's program. Integers must be the same, floats the same up to the order of sums, which
depends on the width of vectors.

Usage: cross_test.py RELAXC MACHINE"""

import ast
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "driver"))
import wire  # noqa: E402

RELAXC = Path(sys.argv[1]).resolve()
MACHINE = sys.argv[2]
TOOLS = {  # machine: its C compiler, QEMU
    "aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a53"]),
    "aarch64-v8.2": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a76"]),
    "armv7-a": ("arm-linux-gnueabihf-gcc", ["qemu-arm", "-cpu", "cortex-a15"]),
    "riscv64gc": ("riscv64-linux-gnu-gcc", ["qemu-riscv64"]),
}
# More of what CPUs of a kind may have: (flags, QEMU).
MORE = {"aarch64-v8.2": (["--mattr=+i8mm"], ["qemu-aarch64", "-cpu", "max"])}
COMPILER, QEMU = TOOLS[MACHINE]
SUFFIX = {"f4": "f", "i4": "i", "i8": "q", "u1": "B", "b1": "B"}

DYNAMIC = """@R.function
def main(x: R.Tensor(("n", 8), "float32"), table: R.Tensor(("m", 8), "float32")) -> R.Tensor(("n", "m"), "float32"):
    with R.dataflow():
        a = R.matmul(x, R.permute_dims(table, axes=[1, 0]))
        b = R.nn.softmax(R.tanh(a) * R.const(3.0, "float32"), axis=-1)
        c = R.exp(R.negative(b)) + R.sigmoid(a) - R.sqrt(R.abs(a))
        R.output(c)
    return c
"""

LSTM = """@R.function
def main(x: R.Tensor(("t", 1, 4), "float32"), state: R.Tensor((1, 6), "float32"),
         w: R.Tensor((6, 4), "float32"), r: R.Tensor((6, 6), "float32")) -> R.Tensor((1, 6), "float32"):
    with R.dataflow():
        s = R.sum(x, axis=[0])
        g = R.matmul(s, R.permute_dims(w, axes=[1, 0])) + R.matmul(state, R.permute_dims(r, axes=[1, 0]))
        y = R.sigmoid(g) * R.tanh(g)
        R.output(y)
    return y
"""


def bytes_program():
    """Products of bytes with all extremes, by constants whose rows fill vectors and leave some over."""
    extremes = [-128, 127, -1, 0, 1, -128, -128, 127, 55]
    weights = [[extremes[(7 * k + 5 * n + k * n) % 9] for n in range(22)] for k in range(12)]
    return f"""@R.function
def main(x: R.Tensor(("n", 12), "uint8"), y: R.Tensor((12, 9), "uint8")) -> R.Tuple(R.Tensor(("n", 22), "int32"), R.Tensor(("n", 9), "int32")):
    with R.dataflow():
        wide = R.subtract(R.astype(x, dtype="int32"), R.const(200, "int32"))
        w = R.const({weights}, "int8")
        a = R.matmul(wide, R.astype(w, dtype="int32"))
        b = R.matmul(wide, R.subtract(R.astype(y, dtype="int32"), R.const(9, "int32")))
        R.output(a, b)
    return (a, b)
"""


def whole(count, seed):
    """Bytes, the largest and the smallest most often."""
    return [max(0, min(255, int(value * 200) + 128)) for value in numbers(count, seed)]


def numbers(count, seed):
    """Floats from -2 to 2, the same everywhere."""
    out = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        out.append(seed / (1 << 29) - 2)
    return out


def npy(dims, values, kind="f4"):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(dims)!r}, }}".encode()
    head += b" " * (-(11 + len(head)) % 64) + b"\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head +
            struct.pack(f"<{len(values)}{SUFFIX[kind]}", *values))


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    body = data[10 + length:]
    suffix = SUFFIX[head["descr"][1:]]
    return head, struct.unpack(f"<{len(body) // struct.calcsize(suffix)}{suffix}", body)


def digits():
    """The pictures of the example, a batch of five."""
    text = (REPOSITORY / "examples/digits/samples.h").read_text()
    rows = text[text.index("sample_pixels"):].split("{")[2:7]
    pixels = [float(value) for row in rows for value in row.split("}")[0].replace("f", "").split(",") if value.strip()]
    assert len(pixels) == 5 * 64, len(pixels)
    return [((5, 1, 8, 8), pixels, "f4")]


def nonzero():
    """Positions of values that are not zero, their number, and integer arithmetic at the edges."""
    return wire.model(
        [wire.node("NonZero", ["x"], ["where"]), wire.node("Mul", ["k", "k"], ["square"]),
         wire.node("Div", ["k", "three"], ["third"])],
        [wire.value_info("x", ("n",)), wire.value_info("k", ("m",), wire.INT64)],
        [wire.value_info("where", (1, "found"), wire.INT64), wire.value_info("square", ("m",), wire.INT64),
         wire.value_info("third", ("m",), wire.INT64)],
        [wire.tensor("three", (), struct.pack("<q", 3), wire.INT64)])


PROGRAMS = {  # name: (source file, its content, inputs, flags)
    "bytes": ("bytes.relax", bytes_program(), [((9, 12), whole(108, 9), "u1"), ((12, 9), whole(108, 10), "u1")], []),
    "digits": (REPOSITORY / "examples/digits/digits.onnx", None, digits(), []),
    "dynamic": ("dynamic.relax", DYNAMIC, [((3, 8), numbers(24, 1), "f4"), ((5, 8), numbers(40, 2), "f4")], []),
    "lstm": ("lstm.relax", LSTM, [((7, 1, 4), numbers(28, 3), "f4"), ((1, 6), numbers(6, 4), "f4"),
                                  ((6, 4), numbers(24, 5), "f4"), ((6, 6), numbers(36, 6), "f4")], []),
    "nonzero": ("nonzero.onnx", nonzero(), [((6,), [0, 1, 0, -2, 3, 0], "f4"),
                                            ((5,), [-7, 7, -(1 << 62), (1 << 63) - 1, 0], "i8")], []),
    "small": (REPOSITORY / "examples/digits/digits.onnx", None, digits(), ["-Os", "--weights", "small.weights"]),
    "plain": ("plain.relax", DYNAMIC, [((2, 8), numbers(16, 7), "f4"), ((1, 8), numbers(8, 8), "f4")], ["-O0"]),
}


def run(*arguments, folder):
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, timeout=300,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{MACHINE}: {arguments} gave {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def close(a, b):
    return a == b or abs(a - b) <= 2e-5 * max(1.0, abs(a), abs(b))


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
