"""The runtime under flags that its own build does not use: no function calls itself, which is what compilers make of a
loop that they take for memset inside of memset, and the memory functions do what they should.

Usage: flags_test.py C_COMPILER [--all]"""

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
CORE = REPOSITORY / "runtime-lite/core"
INCLUDE = f"-I{REPOSITORY / 'runtime-lite/include'}"
COMPILERS = [name for name in (sys.argv[1], "clang-22") if shutil.which(name)]
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
MODES = ([], ["-ffreestanding"], ["-fno-builtin"], ["-std=c99", "-pedantic"], ["-flto"])

MAIN = r"""
#include <stddef.h>
#include <stdio.h>
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
typedef void* (*copy)(void*, const void*, size_t);
typedef void* (*set)(void*, int, size_t);
volatile copy copies[2] = {memcpy, memmove};
volatile set sets[1] = {memset};
static unsigned char area[4200], wanted[4200];
static int bytes;  /* that a case looks at: what it touches and some behind it */
static int differs(void) {
  for (int i = 0; i < bytes; i++)
    if (area[i] != wanted[i]) return 1;
  return 0;
}
static void fill(void) {
  for (int i = 0; i < bytes; i++) area[i] = wanted[i] = (unsigned char)(i * 37 + i / 251);
}
int main(void) {
  int cases = 0;
  for (int size = 0; size < 2000; size = size < 70 ? size + 1 : size * 2 + 1)
    for (int from = 0; from < 2100; from = from < 9 ? from + 1 : from * 3)
      for (int to = 0; to < 2100; to = to < 9 ? to + 2 : to * 2 + 1) {
        bytes = (from > to ? from : to) + size + 70;
        int apart = from + size <= to || to + size <= from;
        for (int which = apart ? 0 : 1; which < 2; which++, cases++) {
          fill();
          for (int i = 0; i < size; i++) wanted[to + i] = (unsigned char)((from + i) * 37 + (from + i) / 251);
          if (copies[which](area + to, area + from, (size_t)size) != area + to || differs()) return 1;
        }
        fill();
        for (int i = 0; i < size; i++) wanted[to + i] = (unsigned char)(from + 200);
        if (sets[0](area + to, from + 200, (size_t)size) != area + to || differs()) return 2;
        cases++;
      }
  printf("%d\n", cases);
  return 0;
}
"""


def call(*arguments, folder):
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))} gave {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def calls_of_itself(listing):
    """Functions of a disassembly that jump to their start from within or that a relocation makes call themselves."""
    function, found = None, set()
    for line in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(\w+)>:$", line):
            function = match[1]
        elif match := re.search(r"\sR_\w+\s+(\w+)(-0x[0-9a-f]+)?$", line):
            found |= {function} if match[1] == function else set()
        elif match := re.search(r"\tcall\w*\s+[0-9a-f]+ <(\w+)>$", line):
            found |= {function} if match[1] == function else set()
    return found


def main():
    files = sorted(CORE.glob("*.c"))
    functions = runs = 0
    with tempfile.TemporaryDirectory(prefix="relaxc-flags-") as path:
        (Path(path) / "main.c").write_text(MAIN)
        for compiler, level in itertools.product(COMPILERS, LEVELS):
            call(compiler, level, "-ffunction-sections", INCLUDE, "-c", *files, folder=path)
            for file in files:
                listing = call("objdump", "-dr", file.stem + ".o", folder=path)
                if found := calls_of_itself(listing):
                    sys.exit(f"{compiler} {level} makes {sorted(found)} of {file.name} call themselves")
                functions += len(re.findall(r"^[0-9a-f]+ <\w+>:$", listing, re.M))
        for compiler, level, mode in itertools.product(COMPILERS, LEVELS, MODES):
            if mode and level not in ("-O2", "-Os") and "--all" not in sys.argv:
                continue  # modes at the levels that users build by; every level without a mode
            if "-flto" in mode and "clang" in compiler and shutil.which("ld.lld") is None:
                continue
            linker = ["-fuse-ld=lld"] if "-flto" in mode and "clang" in compiler else []
            call(compiler, level, *mode, "-c", CORE / "memory.c", "-o", "memory.o", folder=path)
            call(compiler, "-O1", "-fno-builtin", *(mode if "-flto" in mode else []), "-c", "main.c", folder=path)
            call(compiler, level, *mode, *linker, "main.o", "memory.o", "-o", "program", folder=path)
            runs += int(int(call("./program", folder=path)) > 1000)
    print(f"{', '.join(COMPILERS)}: {functions} functions that never call themselves, {runs} programs right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
