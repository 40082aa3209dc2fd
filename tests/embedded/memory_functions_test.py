"""The memory functions of runtime-lite on boards: memcpy and memset give what loops over bytes give, for addresses and
sizes of every kind, and write nothing beside it. On Arm four words at a time are assembly.

Usage: memory_functions_test.py CPU… The exit code is 77 if a tool is missing."""

import sys
import tempfile
from pathlib import Path

from board import HERE, Board
from machines import run_program

PROGRAM = r"""
#include <stddef.h>
#include <stdint.h>
#include "board.h"
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
enum { ROOM = 96 };
static _Alignas(8) unsigned char from[ROOM], to[ROOM];
static int wrong_bytes(unsigned at, unsigned begin, unsigned bytes, int value) {
  int wrong = 0;
  for (unsigned i = 0; i < ROOM; i++) {
    const int within = i >= at && i < at + bytes;
    const int wanted = !within ? 0xee : value >= 0 ? value : from[begin + i - at];
    wrong += to[i] != wanted;
  }
  return wrong;
}
static void prepare(void) {
  for (unsigned i = 0; i < ROOM; i++) ((volatile unsigned char*)to)[i] = 0xee;
}
int main(void) {
  int wrong = 0;
  for (unsigned i = 0; i < ROOM; i++) from[i] = (unsigned char)(i * 7 + 1);
  for (unsigned at = 0; at < 6; at++)
    for (unsigned begin = 0; begin < 6; begin++)
      for (unsigned bytes = 0; bytes < 70; bytes++) {
        prepare();
        wrong += memcpy(to + at, from + begin, bytes) != to + at;
        wrong += wrong_bytes(at, begin, bytes, -1);
        prepare();
        wrong += memset(to + at, (int)(0x700 + begin), bytes) != to + at;
        wrong += wrong_bytes(at, begin, bytes, (int)begin);
      }
  print("wrong "); print_number((uint32_t)wrong); print("\n");
  return 0;
}
"""


def check(cpu, place):
    """Whether the functions are right; nothing if a tool is missing."""
    board = Board(cpu, place / "runtime")
    if missing := board.missing():
        print("skipped: there is no " + ", ".join(missing))
        return None
    (place / "memory.c").write_text(PROGRAM)
    board.compile(place, ["memory.c"], f"-I{HERE}", "-fno-builtin")
    board.link(place, ["memory.o", *board.runtime()])
    text = run_program("board", board, place)
    print(f"{cpu}: {text.strip()}")
    return text.strip() == "wrong 0"


def main():
    with tempfile.TemporaryDirectory(prefix="relaxc-memory-") as folder:
        checked = [check(cpu, Path(tempfile.mkdtemp(dir=folder))) for cpu in sys.argv[1:]]
    return 1 if False in checked else 77 if None in checked else 0


if __name__ == "__main__":
    sys.exit(main())
