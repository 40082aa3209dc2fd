"""--emit-selftest: an object that carries what it should answer, and notices another weight.

Usage: selftest_test.py RELAXC RUNTIME [unittest's own]"""

import io
import struct
import subprocess
import zipfile
from pathlib import Path

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest
from programs_test import floats, npy

INCLUDE = Path(__file__).resolve().parents[2] / "runtime-lite" / "include"

DENSE = """@R.function
def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 2), "float32"):
    with R.dataflow():
        y = R.matmul(x, metadata["relax.expr.Constant"][0])
        R.output(y)
    return y
"""

SUMS = """@R.function
def main(x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 8), "float32"):
    with R.dataflow():
        down = R.cumsum(x, axis=0)
        along = R.cumsum(down, axis=1)
        y = R.cumsum(along, axis=0)
        R.output(y)
    return y
"""

MAIN = """#include <stdio.h>
#include "m.h"
static struct { _Alignas(64) unsigned char bytes[M_SELFTEST_ARENA_BYTES + 1]; } arena;
int main(void) {
  rlx_error error;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.error = &error;
  context.arena_bytes = M_SELFTEST_ARENA_BYTES - 1;
  if (m_selftest(&context) != RLX_ARENA_SIZE || error.expected != M_SELFTEST_ARENA_BYTES) return 3;
  context.arena_bytes = M_SELFTEST_ARENA_BYTES;
  arena.bytes[M_SELFTEST_ARENA_BYTES] = 77;
  int status = m_selftest(&context);
  if (arena.bytes[M_SELFTEST_ARENA_BYTES] != 77) return 4;
  if (status != RLX_OK) printf("%s %d %lld\\n", rlx_status_name(status), (int)error.tensor, (long long)error.actual);
  return status == RLX_OK ? 0 : 1;
}
"""


class Selftest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.weights = (1.23, -2.34, 0.257, 3.19, 40.7, 5.43)
        self.write("w.npz", self.archive(self.weights))
        self.write("dense.relax", DENSE)
        self.write("main.c", MAIN)

    def archive(self, values):
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as archive:
            archive.writestr("0.npy", npy((3, 2), floats(*values)))
        return memory.getvalue()

    def compile(self, output, *flags):
        self.compiles("dense.relax", "--params", "w.npz", "--dim", "n=1..8", "-o", output, "--emit-selftest", *flags)

    def run_test(self, source):
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *LINK_FLAGS, "-I", INCLUDE,
                        "-ffp-contract=off", "main.c", source, RUNTIME, "-lm", "-o", "test"],
                       cwd=self.path, check=True)
        done = subprocess.run(["./test"], cwd=self.path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_passes_with_both_backends_and_needs_the_arena_that_it_states(self):
        for output in ("m.o", "m.c"):
            with self.subTest(output):
                self.compile(output)
                self.assertEqual(self.run_test(output), (0, ""))

    def test_any_other_weight_fails(self):
        self.compile("m.o")
        whole = (self.path / "m.o").read_bytes()
        for weight in self.weights[:3]:
            at = whole.find(floats(weight))
            self.assertGreater(at, 0)
            (self.path / "m.o").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            code, said = self.run_test("m.o")
            self.assertEqual((code, said.split()[:2]), (1, ["SELFTEST", "-1"]))

    def test_another_answer_fails(self):
        self.write("x.npy", npy((2, 3), floats(1, 2, 3, 4, 5, 6)))
        self.compile("m.o", "--selftest-data", "x.npy")
        self.assertEqual(self.run_test("m.o"), (0, ""))
        w = self.weights
        first, largest = w[0] + 2 * w[2] + 3 * w[4], 4 * w[0] + 5 * w[2] + 6 * w[4]
        least = first - (1e-3 * first + 1e-4 * largest)
        whole = (self.path / "m.o").read_bytes()
        at = next(i for i in range(len(whole) - 3) if abs(struct.unpack_from("<f", whole, i)[0] - least) < 1e-3)
        (self.path / "m.o").write_bytes(whole[:at] + floats(first + 1) + whole[at + 4:])
        self.assertEqual(self.run_test("m.o"), (1, "SELFTEST 1 0\n"))

    def test_refuses_what_cannot_be_tried(self):
        self.write("sums.relax", SUMS)
        self.refuses(2, "the arena of 'main' has no bound; bound it with --dim", "sums.relax", "-o", "m.o",
                     "--emit-selftest")
        self.write("x.npy", npy((2, 3), floats(1, 2, 3, 4, 5, float("nan"))))
        self.refuses(2, "has NaN for these inputs", "dense.relax", "--params", "w.npz", "--dim", "n=2", "-o", "m.o",
                     "--emit-selftest", "--selftest-data", "x.npy")

    def test_costs_nothing_where_it_is_not_asked_for(self):
        self.compiles("dense.relax", "--params", "w.npz", "-o", "m.o", "--dim", "n=1..8")
        self.assertNotIn(b"selftest", (self.path / "m.o").read_bytes())


if __name__ == "__main__":
    program.main()
