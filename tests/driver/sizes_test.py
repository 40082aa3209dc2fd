"""Dims of the typed call whose sizes do not fit are refused, with a record, before anything is written; and what tells
that is free where --dim bounds the dims.

Usage: sizes_test.py RELAXC RUNTIME [unittest's own]"""

import subprocess
from pathlib import Path

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest

INCLUDE = Path(__file__).resolve().parents[2] / "runtime-lite/include"
MODEL = """
@R.function
def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("k", 1, 1), "float32")):
    with R.dataflow():
        table = R.multiply(y, x)
        total = R.sum(table, axis=[0])
        R.output(total, table)
    return total, table
"""
# argv: n, m, k. Prints the status, and the record if there is one.
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
int main(int count, char** arguments) {
  (void)count;
  static float x[64], y[64], total[64], table[64];
  static unsigned char arena[4096];
  rlx_error error = {0, -1, -1, -1, -1, 0, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = (void*)(((uintptr_t)arena + 63) / 64 * 64);
  context.arena_bytes = sizeof arena - 64;
  context.error = &error;
  m_args args;
  memset(&args, 0, sizeof args);
  args.x = x, args.y = y, args.total = total, args.table = table;
  args.n = strtoll(arguments[1], NULL, 0), args.m = strtoll(arguments[2], NULL, 0);
  args.k = strtoll(arguments[3], NULL, 0);
  int status = m_run(&context, &args);
  printf("%s", rlx_status_name(status));
  if (status != 0) printf(" %d %d %lld %lld", error.code, error.tensor, (long long)error.expected, (long long)error.actual);
  for (int i = 0; i < 64; i++) if (status != 0 && (total[i] != 0 || table[i] != 0)) printf(" written");
  return 0;
}
"""
MOST = 2**63 - 1


class Sizes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.relax", MODEL)
        self.write("main.c", MAIN)

    def build(self, suffix, *flags):
        self.compiles("m.relax", "-o", "m" + suffix, "--name", "m", *flags)
        subprocess.run(["cc", "-std=c99", "-O1", "-I.", f"-I{INCLUDE}", "main.c", "m" + suffix, RUNTIME, *LINK_FLAGS, "-lm",
                        "-o", "a.out"], cwd=self.path, check=True)

    def run_with(self, *dims):
        words = subprocess.run(["./a.out", *map(str, dims)], cwd=self.path, check=True, capture_output=True, text=True)
        return words.stdout.split()

    def test_sizes_that_do_not_fit_are_refused_and_recorded(self):
        for suffix in (".o", ".c"):
            with self.subTest(suffix):
                self.build(suffix)
                self.assertEqual(self.run_with(2, 2, 3), ["OK"])
                # The input x itself, whether its elements wrap around to 0, to 4 or only its bytes do not fit.
                for n, m in ((2**32, 2**32), (2**62 + 1, 4), (2**31, 2**30), (MOST, MOST), (MOST, 1)):
                    name, code, tensor, limit, found = self.run_with(n, m, 1)
                    self.assertEqual((name, code, tensor, int(limit)), ("SIZE_OVERFLOW", "20", "0", MOST))
                    self.assertEqual(int(found), min(n * m, MOST))
                # Inputs that fit, and an output that does not.
                for n, m, k in ((2**30, 2**20, 2**20), (2**20, 2**20, 2**24)):
                    name, code, tensor, limit, found = self.run_with(n, m, k)
                    self.assertEqual((name, code, tensor, int(limit)), ("SIZE_OVERFLOW", "20", "3", MOST))

    def test_dims_stay_what_they_were_refused_for(self):
        self.build(".o")
        self.assertEqual(self.run_with(-1, 2, 1)[:2], ["DIM_BOUNDS", "9"])

    def test_bounded_dims_are_not_checked(self):
        dims = [flag for name in "nmk" for flag in ("--dim", f"{name}=1..1024")]
        self.build(".o", *dims)
        self.assertEqual(self.run_with(2, 2, 3), ["OK"])
        text = subprocess.run(["objdump", "-d", "m.o"], cwd=self.path, check=True, capture_output=True, text=True).stdout
        calls = text[text.index("main_call"):]
        self.assertNotIn("\tjo ", calls)


if __name__ == "__main__":
    program.main()
