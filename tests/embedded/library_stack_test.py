"""The figures of compiler/codegen/llvm/library_stack.cpp, which docs/abi.md lists: no function of the compiler's library or of
runtime-lite takes more on a board, painted over operands of every kind.

Usage: library_stack_test.py MACHINE… (of stack_test.py) The exit code is 77 if a tool is missing."""

import re
import sys
import tempfile
from pathlib import Path

from board import HERE
from machines import machine_of, run_program
from programs import REPOSITORY

WORDS, PAIRS = "uint32_t {}(uint32_t, uint32_t)", "uint64_t {}(uint64_t, uint64_t)"
WIDENS, SHIFTS = "uint64_t {}(uint32_t, uint32_t)", "uint64_t {}(uint64_t, uint32_t)"
ARM = {
    "arithmetic of floats": (WORDS, "fadd fsub frsub fmul fdiv f2iz f2uiz i2f ui2f idiv uidiv idivmod uidivmod"),
    "comparisons of floats": (WORDS, "fcmpeq fcmplt fcmple fcmpge fcmpgt fcmpun"),
    "arithmetic of doubles": (PAIRS, "dadd dsub drsub dmul ddiv d2iz d2uiz d2f"),
    "comparisons of doubles": (PAIRS, "dcmpeq dcmplt dcmple dcmpge dcmpgt dcmpun"),
    "arithmetic of doubles, from words": (WIDENS, "f2d i2d ui2d"),
    "64-bit products": (PAIRS, "lmul lcmp ulcmp"),
    "64-bit products, shifts": (SHIFTS, "llsl llsr lasr"),
    "64-bit division": (PAIRS, "ldivmod uldivmod d2lz d2ulz l2d ul2d l2f ul2f"),
    "64-bit division, from words": (WIDENS, "f2lz f2ulz"),
}
RISCV32 = {
    "arithmetic of floats": (WORDS, "addsf3 subsf3 mulsf3 divsf3 fixsfsi fixunssfsi floatsisf floatunsisf"),
    "comparisons of floats": (WORDS, "eqsf2 nesf2 ltsf2 lesf2 gtsf2 gesf2 unordsf2"),
    "arithmetic of doubles": (PAIRS, "adddf3 subdf3 muldf3 divdf3 fixdfsi fixunsdfsi truncdfsf2"),
    "comparisons of doubles": (PAIRS, "eqdf2 ltdf2 ledf2 gtdf2 gedf2 unorddf2"),
    "arithmetic of doubles, from words": (WIDENS, "extendsfdf2 floatsidf floatunsidf"),
    "64-bit products": (PAIRS, "muldi3"),
    "64-bit products, shifts": (SHIFTS, "ashldi3 lshrdi3 ashrdi3"),
    "64-bit division": (PAIRS, "divdi3 udivdi3 moddi3 umoddi3 fixdfdi fixunsdfdi floatdidf floatundidf floatdisf floatundisf"),
    "64-bit division, from words": (WIDENS, "fixsfdi fixunssfdi"),
}
RUNTIME = {
    "rlx_sqrt": "number = rlx_sqrt(doubles[i])",
    "rlx_sqrtf": "number = (double)rlx_sqrtf(floats[i])",
    "rlx_fmod": "number = rlx_fmod(doubles[i], doubles[j])",
    "rlx_fmodf": "number = (double)rlx_fmodf(floats[i], floats[j])",
    "rlx_fma": "number = rlx_fma(doubles[i], doubles[j], doubles[(i + j) % 16])",
    "rlx_fmaf": "number = (double)rlx_fmaf(floats[i], floats[j], floats[(i + j) % 16])",
    "rlx_reduce_angles": "rlx_reduce_angles(2, doubles + i % 15, rests, quadrants)",
    "rlx_heap_reserve": "(void)rlx_heap_reserve(&context, heap, blocks[j % 4], blocks[j % 4][0] != 0, (int64_t)(i * i * 40 + 1), &error)",
    "rlx_heap_claim": "(void)rlx_heap_claim(&context, heap, blocks[j % 4], (int64_t)(i * 40 + 1), &error)",
    "rlx_heap_release": "(void)rlx_heap_release(&context, heap, blocks[j % 4], &error)",
    "rlx_result_end": "(void)rlx_result_end(&tensor, result, &error)",
    "rlx_object_read": "(void)rlx_object_read(&context, &handle, result, 1, &error)",
}
ROWS = {"rlx_heap_reserve": "the heap of a run", "rlx_heap_claim": "the heap of a run", "rlx_heap_release": "the heap of a run",
        "rlx_result_end": "that others made", "rlx_object_read": "that others made"}
OPERANDS = r"""
#include "board.h"
#include "paint.h"
#include "rlx_internal.h"
enum { WORDS = 16, PAIRS = 16 };
static const uint32_t words[] = {0, 0x80000000u, 1, 0x00800000, 0x3f800000, 0xbf800000, 0x40490fdb, 0x7f7fffff, 0x7f800000,
                                 0x7fc00000, 0x4b000001, 0x5f000000, 7, 0xffffffffu, 0x00012345, 0x33d6bf95};
static const uint64_t pairs[] = {
    0, 1, UINT64_C(0x8000000000000000), UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000001), UINT64_C(0x7fefffffffffffff),
    UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000), UINT64_C(0x0010000000000000), UINT64_C(0x000fffffffffffff),
    UINT64_C(0x43e0000000000000), UINT64_C(0x4330000000000001), UINT64_C(0xffffffffffffffff), 1000003,
    UINT64_C(0x0123456789abcdef), UINT64_C(0x380fffffffffffff)};
static float floats[16];
static double doubles[16];
static volatile uint64_t whole;
static volatile double number;
static double rests[2], quadrants[2];
static rlx_context context = RLX_CONTEXT_INIT;
static rlx_error error;
static int64_t heap[RLX_HEAP_WORDS], blocks[4][2], result[8], extents[2] = {3, 4};
static _Alignas(64) unsigned char memory[1 << 17];
static uintptr_t used;
/* Takes no stack of its own. */
static void* allocate(void* user, uint64_t bytes, uint64_t align) {
  const uintptr_t at = used;
  (void)user;
  (void)align;
  if (bytes > sizeof memory - at) return 0;
  used = at + (uintptr_t)bytes;
  return memory + at;
}
static rlx_object object = {.kind = 1};
static rlx_tensor tensor = {.device_type = 1, .ndim = 2, .dtype_code = 2, .dtype_bits = 32, .dtype_lanes = 1, .data = memory,
                            .shape = extents};
static uint64_t handle;
/* The most that CALL took, of all pairs of operands i and j. */
#define MEASURE(function, CALL)                                                \
  __attribute__((noinline)) static uint32_t measure_##function(void) {        \
    uint32_t most = 0;                                                         \
    for (uint32_t i = 0; i < 16; i++)                                          \
      for (uint32_t j = 0; j < 16; j++) {                                      \
        volatile unsigned char *top, *at;                                      \
        STACK_POINTER(top);                                                    \
        for (at = top - 1024; at < top; at++) *at = PAINT_COLOR;               \
        CALL;                                                                  \
        for (at = top - 1024; at < top && *at == PAINT_COLOR; at++) continue;  \
        if ((uint32_t)(top - at) > most) most = (uint32_t)(top - at);          \
      }                                                                        \
    return most;                                                               \
  }
"""


def figures(cpu):
    """The column of docs/abi.md: what a row begins with, and its bytes."""
    columns = ["x86-64", "AArch64", "RISC-V 64", "ARM", "ARMv6-M", "RISC-V 32"]
    name = {"x86-64": "x86-64", "aarch64": "AArch64", "cortex-m0plus": "ARMv6-M", "riscv32imac": "RISC-V 32",
            "riscv64gc": "RISC-V 64"}.get(cpu, "ARM")
    text = (REPOSITORY / "docs/abi.md").read_text()
    rows = re.findall(r"^\| ([^|]+?)" + r" \| (\d+)" * len(columns) + r" \|$", text, re.M)
    if not same_as_the_compiler([tuple(map(int, row[1:])) for row in rows]):
        sys.exit("docs/abi.md and library_stack.cpp have different figures")
    return {row[0]: int(row[1 + columns.index(name)]) for row in rows}


def same_as_the_compiler(rows):
    """Whether docs/abi.md has the table that the compiler counts with, except for the generic call's row."""
    text = (REPOSITORY / "compiler/codegen/llvm/library_stack.cpp").read_text()
    table = re.search(r"kLibraryBytes\[kLibKinds\]\[kOnMachines\] = \{(.*?)\n\};", text, re.S)[1]
    counted = [tuple(map(int, row.split(","))) for row in re.findall(r"^ *\{([\d, ]+)\},", table, re.M)]
    return sorted(row for row in counted if set(row) != {1536}) == sorted(rows)


def figure(stated, what):
    found = [value for row, value in stated.items() if what.split(",")[0] in row]
    if len(found) != 1:
        sys.exit(f"docs/abi.md has {len(found)} rows about '{what}'")
    return found[0]


def program(library, prefix):
    """C that prints the name of each function and what it took."""
    text, names = OPERANDS, []
    for form, functions in library.values():
        for name in (prefix + function for function in functions.split()):
            first, second = ("pairs", "pairs") if form == PAIRS else ("words", "words")
            operand = "j" if form == SHIFTS else f"{second}[j]"
            first = "pairs" if form == SHIFTS else first
            text += f"{form.format(name)};\nMEASURE({name}, whole = {name}({first}[i], {operand}))\n"
            names.append(name)
    for name, call in RUNTIME.items():
        text += f"MEASURE({name}, {call})\n"
        names.append(name)
    prints = "\n".join(f'  print("{name} "); print_number(measure_{name}()); print("\\n");' for name in names)
    copies = "  for (int i = 0; i < 16; i++) {\n    union { uint32_t w; float f; } a = {words[i]};\n" \
             "    union { uint64_t w; double f; } b = {pairs[i]};\n    floats[i] = a.f, doubles[i] = b.f;\n  }\n"
    copies += "  context.alloc = allocate;\n  object.tensor = tensor;\n  handle = (uint64_t)(uintptr_t)&object;\n" \
              "  result[RLX_RESULT_NDIM] = 2;\n  result[RLX_RESULT_DTYPE] = 2 | 32 << 8;\n"
    return text + "int main(void) {\n" + copies + prints + "\n  return 0;\n}\n"


def check(name, place):
    """Complaints about one machine; nothing if a tool is missing."""
    kind, cpu = name.split(":")
    library = RISCV32 if cpu == "riscv32imac" else ARM if cpu.startswith("cortex") else {}
    prefix = "__" if cpu == "riscv32imac" else "__aeabi_"
    board = machine_of(name, place / "runtime")
    if missing := board.missing():
        print("skipped: there is no " + ", ".join(missing))
        return None
    (place / "library.c").write_text(program(library, prefix))
    board.compile(place, ["library.c"], f"-I{HERE}", "-fno-stack-protector")
    board.link(place, ["library.o", *board.runtime()])
    text = run_program(kind, board, place)
    took = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", text)}
    stated = figures(cpu)
    kinds = {prefix + one: row for row, (_, names) in library.items() for one in names.split()}
    limits = {one: figure(stated, kinds.get(one, ROWS.get(one, f"`{one}`"))) for one in [*kinds, *RUNTIME]}
    wrong = [f"{cpu}: {one} takes {took[one]} bytes, docs/abi.md says {most}" for one, most in limits.items() if took[one] > most]
    print(f"{cpu}: {len(limits)} functions of libraries, {len(wrong)} that take more than is said")
    return wrong


def main():
    with tempfile.TemporaryDirectory(prefix="relaxc-library-") as folder:
        checked = [check(name, Path(tempfile.mkdtemp(dir=folder))) for name in sys.argv[1:]]
    wrong = [line for lines in checked for line in lines or []]
    print("\n".join(wrong))
    return 1 if wrong else 77 if None in checked else 0


if __name__ == "__main__":
    sys.exit(main())
