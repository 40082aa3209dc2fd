"""The figures of compiler/codegen/llvm/library_stack.cpp, which docs/abi.md lists: no function of the compiler's library or of
runtime-lite takes more on a board, painted over operands of every kind.

Usage: library_stack_test.py CPU… The exit code is 77 if a tool is missing."""

import re
import sys
import tempfile
from pathlib import Path

from board import HERE, Board, run
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
RUNTIME = {"rlx_sqrt": 1, "rlx_sqrtf": 1, "rlx_fmod": 2, "rlx_fmodf": 2, "rlx_fma": 3, "rlx_fmaf": 3}
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
    name = {"cortex-m0plus": "ARMv6-M", "riscv32imac": "RISC-V 32", "riscv64gc": "RISC-V 64"}.get(cpu, "ARM")
    text = (REPOSITORY / "docs/abi.md").read_text()
    rows = re.findall(r"^\| ([^|]+?)" + r" \| (\d+)" * len(columns) + r" \|$", text, re.M)
    if not same_as_the_compiler([tuple(map(int, row[1:])) for row in rows]):
        sys.exit("docs/abi.md and library_stack.cpp have different figures")
    return {row[0]: int(row[1 + columns.index(name)]) for row in rows}


def same_as_the_compiler(rows):
    """Whether docs/abi.md has the table that the compiler counts with, but for the generic call's row."""
    text = (REPOSITORY / "compiler/codegen/llvm/library_stack.cpp").read_text()
    table = re.search(r"kBytes\[kKinds\]\[kMachines\] = \{(.*?)\n\};", text, re.S)[1]
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
    for name, count in RUNTIME.items():
        values = "floats" if name.endswith("f") else "doubles"
        operands = ", ".join(f"{values}[{at}]" for at in ("i", "j", "(i + j) % 16")[:count])
        text += f"MEASURE({name}, number = (double){name}({operands}))\n"
        names.append(name)
    prints = "\n".join(f'  print("{name} "); print_number(measure_{name}()); print("\\n");' for name in names)
    copies = "  for (int i = 0; i < 16; i++) {\n    union { uint32_t w; float f; } a = {words[i]};\n" \
             "    union { uint64_t w; double f; } b = {pairs[i]};\n    floats[i] = a.f, doubles[i] = b.f;\n  }\n"
    return text + "int main(void) {\n" + copies + prints + "\n  return 0;\n}\n"


def check(cpu, place):
    """Complaints about one board; nothing if a tool is missing."""
    library = {"riscv32imac": RISCV32, "riscv64gc": {}}.get(cpu, ARM)
    prefix = "__" if cpu == "riscv32imac" else "__aeabi_"
    board = Board(cpu, place / "runtime")
    if missing := board.missing():
        print("skipped: there is no " + ", ".join(missing))
        return None
    (place / "library.c").write_text(program(library, prefix))
    board.compile(place, ["library.c"], f"-I{HERE}")
    board.link(place, ["library.o", *board.runtime()])
    text = run(*board.qemu(), "-M", board.board, "-nographic", "-kernel", "m.elf", folder=place)
    took = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", text)}
    stated = figures(cpu)
    kinds = {prefix + name: kind for kind, (_, names) in library.items() for name in names.split()}
    limits = {name: figure(stated, kinds.get(name, f"`{name}`")) for name in [*kinds, *RUNTIME]}
    wrong = [f"{cpu}: {name} takes {took[name]} bytes, docs/abi.md says {most}" for name, most in limits.items()
             if took[name] > most]
    print(f"{cpu}: {len(limits)} functions of libraries, {len(wrong)} that take more than is said")
    return wrong


def main():
    with tempfile.TemporaryDirectory(prefix="relaxc-library-") as folder:
        checked = [check(cpu, Path(tempfile.mkdtemp(dir=folder))) for cpu in sys.argv[1:]]
    wrong = [line for lines in checked for line in lines or []]
    print("\n".join(wrong))
    return 1 if wrong else 77 if None in checked else 0


if __name__ == "__main__":
    sys.exit(main())
