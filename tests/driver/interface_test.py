"""What the tables and the header of an object say where no other test asks: equal names, sizes without a bound, states that
cannot grow, stacks that are not known, assertions of dims, and what a library prints.

Usage: interface_test.py RELAXC RUNTIME [unittest's own]"""

import re
import subprocess
from pathlib import Path

import program
import wire
from program import INCLUDE, LINK_FLAGS, RUNTIME, ProgramTest

PROGRAMS = Path(__file__).resolve().parents[1] / "e2e/programs"
SAME = """@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.nn.relu(x)
    return (y, y)
"""
# What `output_shape` says of each output of a model whose inputs have 3 and no dims.
SHAPES = """#include <inttypes.h>
#include <stdio.h>
#include "m.h"
int main(void) {
  const rlx_function* f = &m_model.functions[0];
  int64_t symbols[4] = {3, 3, 3, 3}, dims[8];
  for (uint32_t i = 0; i < f->num_outputs; i++) {
    int32_t status = f->output_shape(symbols, i, dims);
    printf("%s %d", rlx_status_name(status), (f->outputs[i].flags & RLX_FLAG_DATA_DEPENDENT) != 0);
    for (int32_t axis = 0; status == RLX_OK && axis < f->outputs[i].ndim; axis++) printf(" %" PRId64, dims[axis]);
    printf("\\n");
  }
  return 0;
}
"""
# y = relu(x) of [n, 4] where n is half of m: called with n = 2 and m as given; prints the status, and whether y was written.
ASSERTS = """@R.function(pure=False)
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m",), "float32")):
    n, m = T.int64(), T.int64()
    PRINT
    R.assert_op(n * 2 == m, format="twice as many")
    z = R.nn.relu(x)
    return z
"""
CALL_ASSERTS = """#include <stdio.h>
#include <stdlib.h>
#include "m.h"
int main(int count, char** arguments) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[16] = {0}, z[8] = {0};
  int64_t m = count > 1 ? atoi(arguments[1]) : 0, x_shape[2] = {2, 4}, y_shape[1] = {m}, z_shape[2] = {2, 4}, symbols[4];
  rlx_tensor in[2] = {{x, 1, 0, 2, 2, 32, 1, x_shape, NULL, 0}, {y, 1, 0, 1, 2, 32, 1, y_shape, NULL, 0}};
  rlx_tensor out = {z, 1, 0, 2, 2, 32, 1, z_shape, NULL, 0};
  rlx_error error = {0, -1, -1, -1, -1, 0, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  const rlx_function* f = &m_model.functions[0];
  static _Alignas(64) unsigned char arena[4096];
  context.arena = arena;
  context.arena_bytes = sizeof arena;
  context.error = &error;
  int32_t bound = f->bind(&context, in, 2, symbols, &error);
  int32_t status = f->run(&context, in, 2, &out, 1);
  printf("%s %s %d %s\\n", rlx_status_name(bound), rlx_status_name(status), z[7] != 0, error.node >= 0 ? f->nodes[error.node] : "");
  return 0;
}
"""
PRINTS = """@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    R.print(x, format="x = {}")
    return x
"""
CALL_PRINTS = """#include "m.h"
int main(void) {
  float x[2] = {1, 2}, y[2];
  rlx_context context = RLX_CONTEXT_INIT;
  const m_args args = {x, y};
  return m_run(&context, &args);
}
"""

# DLPack 1.1's codes.
CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11,
         "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14, "float4_e2m1fn": 17}
SPECS = """#include <stdio.h>
#include "m.h"
int main(void) {
  const rlx_function* f = &m_model.functions[0];
  for (uint32_t i = 0; i < f->num_inputs; i++)
    printf("%d %d %d\\n", f->inputs[i].kind, f->inputs[i].dtype_code, f->inputs[i].dtype_bits);
  return 0;
}
"""


class Interface(ProgramTest):
    def output_of(self, text, *files, arguments=()):
        self.write("main.c", text)
        subprocess.run(["cc", "-std=c11", "-Wno-psabi", *LINK_FLAGS, f"-I{INCLUDE}", "main.c", *files, "-lm", "-o", "main"],
                       cwd=self.path, check=True)
        return subprocess.run(["./main", *arguments], cwd=self.path, check=True, capture_output=True, text=True).stdout

    def test_equal_names_get_a_number(self):
        self.write("m.relax", SAME)
        for level in ("-O0", "-O3"):
            self.compiles("m.relax", "-o", "m.o", level)
            self.assertEqual(re.findall(r"output (\w+):", (self.path / "m.h").read_text()), ["y", "y_1"])

    def test_specs_have_the_kinds_of_the_page_and_the_codes_of_dlpack(self):
        dtypes = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
                  "bool", *(name for name in CODES if "_" in name)]
        tensors = ", ".join(f'x{i}: R.Tensor((2,), "{dtype}")' for i, dtype in enumerate(dtypes))
        self.write("m.relax", f'@R.function\ndef main({tensors}, s: R.Shape(["m", "k"]), c: R.Prim("int64")):\n'
                   "    y = R.add(x0, x0)\n    return y\n")
        self.compiles("m.relax", "-o", "m.o")
        expected = []
        for dtype in dtypes:
            name, bits = (dtype, re.search(r"\d+", dtype)[0]) if "_" in dtype else re.fullmatch(r"([a-z]+)(\d*)", dtype).groups()
            expected.append(f"0 {CODES[name]} {bits or 8}")
        self.assertEqual(self.output_of(SPECS, "m.o", RUNTIME).splitlines(), [*expected, "1 0 64", "2 0 64"])

    def test_a_size_without_a_bound_is_the_largest_number(self):
        self.compiles(PROGRAMS / "unbounded_loop.relax", "-o", "m.o", "--name", "m")
        sums, found, y = self.output_of(SHAPES, "m.o", RUNTIME).splitlines()
        for said in (sums, found, y):
            status, dependent, *dims = said.split()
            self.assertEqual((status, dependent), ("OK", "1"))
            self.assertIn(str(2**63 - 1), dims)
        self.compiles(PROGRAMS / "nonzero.relax", "-o", "m.o", "--name", "m")
        self.assertEqual(self.output_of(SHAPES, "m.o", RUNTIME), "OK 1 2 9\n")

    def test_a_state_does_not_grow_inside_of_heads(self):
        node = wire.node("Concat", ["h0", "x"], ["hn"], attributes=[wire.int_attribute("axis", 1)])
        for heads, accepted in ((1, True), (2, False)):
            dims = [("h0", (heads, "n", 4)), ("x", (heads, "k", 4))]
            self.write("grow.onnx", wire.model([node], [wire.value_info(*one) for one in dims],
                                               [wire.value_info("hn", (heads, "m", 4))]))
            if accepted:
                self.compiles("grow.onnx", "-o", "m.o", "--state=h0:hn")
            else:
                self.refuses(1, "along an axis with nothing but dims of 1 before it", "grow.onnx", "-o", "k.o", "--state=h0:hn")

    def test_outputs_that_are_no_elf_objects_have_no_stack_number(self):
        prototypes = {}
        for output, flags, known in (("m.o", [], True), ("m.s", [], False), ("m.ll", [], False), ("m.bc", [], False),
                                     ("m.c", [], False), ("w.o", ["--target=x86-64-windows"], False),
                                     ("a.o", ["--target=x86-64-macos"], False)):
            self.compiles("relu.onnx", "-o", output, "--name", "m", *flags)
            text = (self.path / output).with_suffix(".h").read_text()
            self.assertEqual("M_STACK_MAX" in text, known, output)
            self.assertEqual("M_RUN_STACK_MAX" in text, known, output)
            if not flags and output != "m.c":  # the C text is another program, with flags of its own
                prototypes[output] = re.search(r"m_run_\w+", text)[0]
        self.assertEqual(len(set(prototypes.values())), 1, prototypes)

    def test_an_assertion_about_symbols_is_a_guard_unless_the_program_has_printed(self):
        for printed in (False, True):
            self.write("m.relax", ASSERTS.replace("PRINT", 'R.print(n, format="n = {}")' if printed else "n = T.int64()"))
            for output in ("m.o", "m.c"):
                self.compiles("m.relax", "-o", output, "--name", "m")
                *_, good = self.output_of(CALL_ASSERTS, output, RUNTIME, arguments=["4"]).splitlines()
                self.assertEqual(good.split()[:3], ["OK", "OK", "1"])
                *_, bad = self.output_of(CALL_ASSERTS, output, RUNTIME, arguments=["5"]).splitlines()
                self.assertEqual(bad.split()[0] == "OK", printed)
                self.assertEqual(bad.split()[2], "0")
                self.assertIn("twice as many", bad)

    def test_a_shared_library_prints(self):
        self.write("m.relax", PRINTS)
        self.compiles("m.relax", "-o", "libm.so", "--name", "m", "--runtime", RUNTIME, "--cc", self.linker())
        (self.path / "libm.h").rename(self.path / "m.h")
        self.assertEqual(self.output_of(CALL_PRINTS, "./libm.so"), "x = float32[2] [1.0, 2.0]\n")


if __name__ == "__main__":
    program.main()
