"""R.print and R.assert_op in linked programs: what they write, that a program without the hosted runtime is silent, and
that a freestanding object stays freestanding.

Usage: print_test.py RELAXC C-COMPILER"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
RELAXC, CC = Path(sys.argv[1]).resolve(), sys.argv[2]
INCLUDE = ROOT / "runtime-lite/include"

PROGRAM = """
#include "shown.h"
int main(void) {
  float x[6] = {0, 0.25F, -1.5F, 1e30F, 3, 0.1F}, out[6];
  int64_t x_shape[2] = {2, 3}, out_shape[2] = {2, 3};
  uint8_t on = 1;
  rlx_error error = {0};
  rlx_tensor in[2] = {{x, 1, 0, 2, 2, 32, 1, x_shape, NULL, 0}, {&on, 1, 0, 0, 6, 8, 1, NULL, NULL, 0}};
  rlx_tensor result = {out, 1, 0, 2, 2, 32, 1, out_shape, NULL, 0};
  const rlx_function *f = &shown_model.functions[0];
  static uint64_t arena[512];
  rlx_context context = RLX_CONTEXT_INIT;
  int32_t status;
  context.arena = (void *)(((uintptr_t)arena + 63) / 64 * 64);
  context.arena_bytes = 2048;
  context.error = &error;
  in[1].shape = x_shape;
  status = f->run(&context, in, 2, &result, 1);
  if (status != RLX_OK) return 1;
  on = 0;
  status = f->run(&context, in, 2, &result, 1);
  if (status != RLX_ASSERTION || error.expected != 1 || error.actual != 0) return 2;
  return error.node >= 0 && f->nodes[error.node][0] == 'm' ? 0 : 3;
}
"""
SHOWN = """@R.function(pure=False)
def main(x: R.Tensor(("n", 3), "float32"), on: R.Prim("bool")):
    n = T.int64()
    R.print(x, format="x = {}")
    R.assert_op(on, format="must be on")
    R.print(R.shape([n, 3]), n * 2, on, format="{{shape}} {}, twice {}, {}")
    R.print(n, on)
    return R.add(x, x)
"""
TEXT = """x = float32[2, 3] [[0.0, 0.25, -1.5], [1e+30, 3.0, 0.1]]
{shape} [2, 3], twice 4, True
2 True
x = float32[2, 3] [[0.0, 0.25, -1.5], [1e+30, 3.0, 0.1]]
"""
VALUES = """
#include "relax_rt.h"
static void show(const void *data, uint8_t code, uint8_t bits, int32_t ndim, int64_t *shape) {
  int64_t length = 1;
  char line[] = "\\n";
  rlx_tensor text = {line, 1, 0, 1, 1, 8, 1, &length, NULL, 0}, value = {NULL, 1, 0, 0, 0, 0, 1, NULL, NULL, 0};
  value.data = (void *)(uintptr_t)data;
  value.dtype_code = code, value.dtype_bits = bits, value.ndim = ndim, value.shape = shape;
  rlx_print(NULL, &text, &value, RLX_PRINT_TENSOR);
}
int main(void) {
  static int32_t many[2000];
  int64_t two[] = {2}, four[] = {4}, none[] = {0, 3}, large[] = {2, 1000}, rows[] = {1001, 1};
  const uint16_t half[] = {0x3c00, 0x2e66, 0x7c00, 0xfe00}, brain[] = {0x3f80, 0xbe00, 0x0001, 0x7f80};
  const uint8_t e4m3fn[] = {0x38, 0x7e, 0xff, 0x01}, e4m3fnuz[] = {0x40, 0x80, 0x7f, 0x01};
  const uint8_t e5m2[] = {0x3c, 0xfc, 0x7d, 0x01}, e5m2fnuz[] = {0x40, 0x80, 0x7f, 0x01};
  const uint8_t e8m0[] = {127, 255, 0, 130}, e2m1[] = {2, 15, 1, 5};
  const int8_t i8[] = {-128, 127};
  const uint64_t u64[] = {0, ~(uint64_t)0};
  const int64_t i64[] = {INT64_MIN, 7};
  const double f64[] = {0.1, -1e-320};
  const float f32[] = {16777216.0F, 0.333333343F}, c64[] = {1, -0.5F, 0, 2};
  const uint8_t flags[] = {1, 0};
  int i;
  for (i = 0; i < 2000; ++i) many[i] = i;
  show(half, 2, 16, 1, four), show(brain, 4, 16, 1, four);
  show(e4m3fn, 10, 8, 1, four), show(e4m3fnuz, 11, 8, 1, four), show(e5m2, 12, 8, 1, four);
  show(e5m2fnuz, 13, 8, 1, four), show(e8m0, 14, 8, 1, four), show(e2m1, 17, 4, 1, four);
  show(i8, 0, 8, 1, two), show(u64, 1, 64, 1, two), show(i64, 0, 64, 1, two), show(f64, 2, 64, 1, two);
  show(f32, 2, 32, 1, two), show(c64, 5, 64, 1, two), show(flags, 6, 8, 1, two);
  show(many, 0, 32, 2, none), show(many, 0, 32, 0, NULL), show(many, 0, 32, 2, large), show(many, 0, 32, 2, rows);
  return 0;
}
"""
SHOWN_VALUES = """
float16[4] [1.0, 0.1, inf, nan]
bfloat16[4] [1.0, -0.125, 9.2e-41, inf]
float8_e4m3fn[4] [1.0, 448.0, nan, 0.002]
float8_e4m3fnuz[4] [1.0, nan, 240.0, 0.001]
float8_e5m2[4] [1.0, -inf, nan, 1.5e-05]
float8_e5m2fnuz[4] [1.0, nan, 57344.0, 8e-06]
float8_e8m0fnu[4] [1.0, nan, 6e-39, 8.0]
float4_e2m1fn[4] [1.0, -6.0, 0.5, 3.0]
int8[2] [-128, 127]
uint64[2] [0, 18446744073709551615]
int64[2] [-9223372036854775808, 7]
float64[2] [0.1, -1e-320]
float32[2] [16777216.0, 0.33333334]
complex64[2] [(1.0, -0.5), (0.0, 2.0)]
bool[2] [True, False]
int32[0, 3] []
int32[] 0
int32[2, 1000] [[0, 1, 2, ..., 997, 998, 999], [1000, 1001, 1002, ..., 1997, 1998, 1999]]
int32[1001, 1] [[0], [1], [2], ..., [998], [999], [1000]]"""


class Print(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.path = Path(tempfile.mkdtemp(prefix="relaxc-print-"))
        self.addCleanup(shutil.rmtree, self.path)

    def run_tool(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.path, capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def library(self, name, folder):
        """The runtime, compiled here."""
        sources = [s for s in sorted((ROOT / "runtime-lite" / folder).glob("*.c")) if s.name != "memory.c"]
        for source in sources:
            self.run_tool(CC, "-c", "-O1", "-I", INCLUDE, source, "-o", f"{name}_{source.stem}.o")
        self.run_tool("ar", "rcs", f"lib{name}.a", *(f"{name}_{source.stem}.o" for source in sources))

    def compile(self, text, name, extension):
        (self.path / f"{name}.relax").write_text(text)
        self.run_tool(RELAXC, f"{name}.relax", "-o", name + extension)

    def test_what_a_program_prints(self):
        self.library("relax_rt", "core")
        self.library("relax_rt_hosted", "hosted")
        (self.path / "main.c").write_text(PROGRAM)
        for extension in (".o", ".c"):
            with self.subTest(extension):
                self.compile(SHOWN, "shown", extension)
                build = [CC, "-std=c99", "-I", INCLUDE, "main.c", "shown" + extension, "-L."]
                self.run_tool(*build, "-o", "loud", "-lrelax_rt_hosted", "-lrelax_rt")
                self.assertEqual(self.run_tool("./loud"), TEXT)
                self.run_tool(*build, "-o", "silent", "-lrelax_rt")
                self.assertEqual(self.run_tool("./silent"), "")

    def test_only_an_object_that_prints_refers_to_the_hook(self):
        self.compile(SHOWN, "shown", ".o")
        self.assertIn(" U rlx_print", self.run_tool("nm", "shown.o"))
        lines = [line for line in SHOWN.splitlines(True) if "R.print" not in line]
        self.compile("".join(lines), "quiet", ".o")
        self.assertNotIn("rlx_print", self.run_tool("nm", "quiet.o"))
        undefined = [line.split()[-1] for line in self.run_tool("nm", "-u", "shown.o").splitlines()]
        self.assertEqual([name for name in undefined if not name.startswith(("rlx_", "mem"))], [])

    def test_a_freestanding_program_that_prints_links(self):
        self.library("relax_rt", "core")
        (self.path / "start.c").write_text('#include "shown.h"\nconst rlx_model *model;\n'
                                           'void _start(void) { model = &shown_model; for (;;) {} }\n')
        self.compile(SHOWN, "shown", ".o")
        self.run_tool(CC, "-c", "-ffreestanding", "-I", INCLUDE, ROOT / "runtime-lite/core/memory.c", "-o", "memory.o")
        self.run_tool(CC, "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-I", INCLUDE, "start.c",
                      "shown.o", "-L.", "-lrelax_rt", "memory.o", "-lgcc", "-o", "bare")

    def test_how_values_are_shown(self):
        (self.path / "values.c").write_text(VALUES)
        self.run_tool(CC, "-std=c99", "-I", INCLUDE, "values.c", ROOT / "runtime-lite/hosted/print.c", "-o", "values")
        self.assertEqual(self.run_tool("./values"), SHOWN_VALUES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
