"""M_RUN_STACK_MAX is never below what the typed call takes of a painted stack, and at most a quarter above, or the bytes of
one function of the runtime that the operands did not lead to.

Usage: stack_test.py RELAXC SEED|all [MACHINE…]: some machines, levels and programs drawn by a seed (a number, or 0 for that of
the day), or all of them. The exit code is 77 if no tool of a machine is there."""

import datetime
import random
import re
import sys
import tempfile
from pathlib import Path

from board import CPUS, HERE, run
from machines import machine_of, run_program
from process import LINUX
from programs import PROGRAMS, REPOSITORY

sys.path.insert(0, str(HERE.parent / "driver"))
import code_test  # noqa: E402
import program  # noqa: E402

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"]
HOST = ["x86-64", "x86-64-v2", "x86-64-v3", "native", "x86-64,x86-64-v3"]  # in processes of this machine
MACHINES = [*(f"host:{cpu}" for cpu in HOST), *(f"process:{cpu}" for cpu in [*LINUX, "riscv32imac"]),
            *(f"board:{cpu}" for cpu in CPUS)]
E2E, EXAMPLES = REPOSITORY / "tests/e2e/programs", REPOSITORY / "examples"
MANY = """@R.function
def main(x: R.Tensor((64, 256), "float32"), k: R.Tensor((256, 256), "float32")) -> R.Tensor((64, 256), "float32"):
    with R.dataflow():
        a = R.nn.gelu(R.matmul(x, k))
        b = R.cumsum(R.sin(a) * R.const(7.0, "float32"), axis=1)
        y = R.nn.softmax(R.sqrt(R.abs(b)) + R.tanh(a))
        R.output(y)
    return y
"""
DOUBLES = """@R.function
def main(x: R.Tensor(("n", 9), "float64"), i: R.Tensor(("n", 9), "int64"), h: R.Tensor(("n", 9), "float16")) -> R.Tensor(("n", 9), "float64"):
    with R.dataflow():
        a = R.sqrt(R.abs(x)) * R.exp(x) + R.sin(x)
        b = R.floor_divide(i, R.add(R.multiply(i, i), R.const(3, "int64")))
        y = a + R.astype(b, "float64") + R.astype(h, "float64") + R.floor_mod(x, R.const(2.5, "float64"))
        R.output(y)
    return y
"""
FRAME = """@T.prim_func(private=True)
def back(X: T.Buffer((2100,), "float32"), Y: T.Buffer((2100,), "float32")):
    for k in range(1):
        room = T.alloc_buffer((2100,), "float32", scope="local")
        for i in range(2100):
            room[i] = X[i] * T.float32(2)
        for i in range(2100):
            Y[i] = room[2099 - i] + room[(i * 7) % 2100]

@R.function
def main(x: R.Tensor((2100,), "float32")) -> R.Tensor((2100,), "float32"):
    y = R.call_tir(back, (x,), out_sinfo=R.Tensor((2100,), "float32"))
    return y
"""
# Name: source (a file, or text), flags, symbols, whether a board has room.
CASES = {
    "digits": (EXAMPLES / "digits/digits.onnx", ["--dim", "n=1..12"], {"n": 1}, True),
    "digits8": (EXAMPLES / "digits-int8/digits8.onnx", [], {}, True),
    "decoder": (EXAMPLES / "decode/decoder.relax", ["--dim", "n=0..63"], {"n": 20}, True),
    "vad": (EXAMPLES / "streaming/vad.relax", [], {}, True),
    "lstm": (PROGRAMS["lstm"][1], ["--dim", "t=1..8"], {"t": 7}, True),
    "dynamic": (PROGRAMS["dynamic"][1], ["--dim", "n=1..4", "--dim", "m=1..8"], {"n": 3, "m": 5}, True),
    "bytes": (PROGRAMS["bytes"][1], ["--dim", "n=1..16"], {"n": 9}, True),
    "network": (code_test.NETWORK, [], {}, False),
    "rows": (code_test.DYNAMIC, ["--dim", "n=1..64"], {"n": 33}, True),
    "program": (program.TEXT, ["--dim", "n=1..64"], {"n": 9}, True),
    "many": (MANY, [], {}, False),
    "doubles": (DOUBLES, ["--dim", "n=1..16"], {"n": 5}, True),
    "frame": (FRAME, [], {}, True),
    "closures": (E2E / "closures.relax", [], {}, True),
    "tail_recursion": (E2E / "tail_recursion.relax", [], {}, True),
    "parallel": (E2E / "parallel.relax", [], {}, True),
    "unbounded_loop": (E2E / "unbounded_loop.relax", [], {}, True),
    "nonzero": (E2E / "nonzero.relax", [], {}, True),
}
UNREACHED = 176  # of the heap on ARMv6-M, the most that such a function takes
LARGE = {"doubles", "many"}  # with angles that are reduced


def write_case(folder, symbols, small, large):
    """Arguments out of the header: memory for every pointer, with small numbers in it, so that loops run some times."""
    header = (folder / "m.h").read_text()
    record = re.sub(r"/\*.*?\*/", "", re.search(r"typedef struct m_args \{(.*?)\} m_args;", header, re.S)[1], flags=re.S)
    fields = re.findall(r"(const )?(\w+)\s*(\*?)\s*(\w+);", record)
    arena = re.search(r"M_ARENA_(?:BYTES|MAX) (\d+)", header)
    size = 1 << (14 if small else 20)
    values, fills, refused = [], "", ""
    for i, (constant, kind, pointer, name) in enumerate(fields):
        values.append(f".{name} = (void*)data[{i}]" if pointer else f".{name} = {symbols.get(name, 3)}")
        if constant or (pointer and name.endswith("_dims")):  # of an output: how much there is room for
            number = f"(float)(i % 7) + 0.5f + (i % 5 == 4 ? {large}f : 0)" if kind in ("float", "double") else (
                "1" if kind in ("bool", "uint8_t") else "3" if constant else "40")
            fills += f"for (uint32_t i = 0; i < {size} / sizeof({kind}); i++) (({kind}*)(void*)data[{i}])[i] = {number}; "
        if not pointer:
            refused += "".join(f"refused.{name} = {value}; (void)measure(&context, &refused); " for value in ("-1", "INT64_MAX"))
    (folder / "stack_case.h").write_text(
        f"enum {{ ARENA = {max(int(arena[1]) if arena else 1 << 16, 64)}, HEAP = {1 << (16 if small else 24)} }};\n"
        f"static _Alignas(64) unsigned char data[{len(fields)}][{size}];\n"
        f"#define ARGUMENTS {{{', '.join(values)}}}\n#define FILL do {{ {fills}}} while (0)\n#define REFUSED {refused}(void)refused;\n")


def check(relaxc, machine, kind, level, name, folder):
    """One program by one level on one machine; a complaint, or nothing."""
    source, flags, symbols, _ = CASES[name]
    if not isinstance(source, Path):
        suffix = "relax" if isinstance(source, str) else "onnx"
        path = folder / f"{name}.{suffix}"
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        source = path
    target = ["--mcpu" if kind == "host" else "--target", machine.cpu]
    run(relaxc, source, *flags, *target, level, "--name", "m", "-o", "m.o", folder=folder)
    if "M_RUN_STACK_MAX" not in (folder / "m.h").read_text():
        return "the header has no bound"
    write_case(folder, symbols, kind == "board", "1e30" if name in LARGE else "0.0")
    machine.compile(folder, [HERE / "stack_main.c"], f"-I{HERE}", "-fno-stack-protector")
    machine.link(folder, ["stack_main.o", "m.o", *machine.runtime()])
    status, most, of_all, tasks, bound = map(int, run_program(kind, machine, folder).split())
    print(f"{kind}:{machine.cpu} {level} {name}: {most} bytes, {of_all} of all calls, {bound} at most, {tasks} times tasks, "
          f"status {status}", flush=True)
    if status != 0:
        return f"status {status}"
    most_stated = max(1.25 * of_all, of_all + UNREACHED)
    return "" if of_all <= bound <= most_stated else f"the header says {bound} bytes, {of_all} were painted over"


def draw(machines, seed):
    """Three machines, each with some levels and programs."""
    chance = random.Random(seed)
    for machine in chance.sample(machines, min(3, len(machines))):
        for _ in range(3):
            yield machine, chance.choice(LEVELS), chance.choice(list(CASES))


def main():
    relaxc, seed = Path(sys.argv[1]).resolve(), sys.argv[2]
    machines = sys.argv[3:] or MACHINES
    every = [(machine, level, name) for machine in machines for name in CASES for level in LEVELS]
    number = datetime.date.today().toordinal() if seed == "0" else seed
    if seed != "all":
        print(f"seed {number}")
    failures, count = [], 0
    with tempfile.TemporaryDirectory(prefix="relaxc-stack-") as folder:
        for machine, level, name in every if seed == "all" else draw(machines, int(number)):
            one = machine_of(machine, folder)
            kind = machine.split(":")[0]
            if one.missing() or (kind == "board" and not CASES[name][3]):
                continue
            place = Path(tempfile.mkdtemp(dir=folder))
            try:
                complaint = check(relaxc, one, kind, level, name, place)
            except RuntimeError as error:
                complaint = str(error)
            count += 1
            if complaint:
                failures.append(f"{machine} {level} {name}: {complaint}")
                print(failures[-1], file=sys.stderr, flush=True)
    print(f"{count} programs, {len(failures)} failures")
    return 1 if failures else 0 if count else 77


if __name__ == "__main__":
    sys.exit(main())
