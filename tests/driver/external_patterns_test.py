"""Groups of operators that C functions of the user's compute: what is called, what is checked, and what is refused.

Usage: external_patterns_test.py RELAXC RUNTIME [unittest's own]"""

import re
import subprocess
import unittest

import program
from program import INCLUDE, LINK_FLAGS, RUNTIME, ProgramTest

FIRST = "relaxc external patterns 1\n"

DENSE = FIRST + """
# A dense layer with what follows it.
pattern lib.dense
  match nn.relu(add(matmul(x, %w), %b))
  operand x = float32[m, k]
  operand w = float32[k, n]
  operand b = float32[n]
  when n == 2
  scratch 4 * m
  call lib_dense(x, w, b, m, k, n)
"""

MODEL = """@R.function
def main(x: R.Tensor(("n", "k"), "float32"), u: R.Tensor(("l", 3), "float32")) -> R.Tensor(("n", 2), "float32"):
    with R.dataflow():
        a = R.matmul(x, u)
        b = R.nn.relu(R.add(R.matmul(a, R.const([[1, -2], [3, -4], [5, 6]], "float32")), R.const([1, 2], "float32")))
        R.output(b)
    return b
"""

LIBRARY = """#include <stdio.h>
#include "model.h"

int32_t lib_dense(rlx_context* context, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* b, int64_t m, int64_t k,
                  int64_t n, const rlx_tensor* scratch, const rlx_tensor* y) {
  const float *xs = x->data, *ws = w->data, *bs = b->data;
  float *ys = y->data, *rows = scratch->data;
  (void)context;
  if (m < 0) return 1;
  for (int64_t i = 0; i < m; i++) rows[i] = 0; /* memory of its own */
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      float sum = bs[j];
      for (int64_t l = 0; l < k; l++) sum += xs[i * k + l] * ws[l * n + j];
      ys[i * n + j] = sum > 0 ? sum : 0;
    }
  printf("called with %d rows, %d bytes of scratch\\n", (int)m, (int)scratch->shape[0]);
  return 0;
}
"""

MAIN = """#include <stdio.h>
#include "model.h"

static _Alignas(64) char memory[1 << 16];

int main(int count, char** arguments) {
  float x[6] = {1, 2, 3, -4, 5, 6}, u[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, y[4] = {0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = memory;
  context.arena_bytes = sizeof memory;
  (void)arguments;
  model_args args = {.n = 2, .k = 3, .l = count > 1 ? 2 : 3, .x = x, .u = u, .b = y};
  int32_t status = model_run(&context, &args);
  printf("%s %g %g %g %g\\n", rlx_status_name(status), y[0], y[1], y[2], y[3]);
  return 0;
}
"""

CODEGEN = """@I.ir_module
class Module:
    @R.function
    def fused_dense_lib(data: R.Tensor((2, 3), dtype="float32"), weight: R.Tensor((3, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        R.func_attr({"Codegen": "lib", "global_symbol": "fused_dense_lib"})

        @R.function
        def local_func(data_1: R.Tensor((2, 3), dtype="float32"), weight_1: R.Tensor((3, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
            R.func_attr({"Composite": "lib.dense"})
            with R.dataflow():
                lv: R.Tensor((2, 2), dtype="float32") = R.matmul(data_1, weight_1, out_dtype="void")
                gv: R.Tensor((2, 2), dtype="float32") = R.nn.relu(lv)
                R.output(gv)
            return gv

        output: R.Tensor((2, 2), dtype="float32") = local_func(data, weight)
        return output

    @R.function
    def main(data: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((2, 2), dtype="float32") = cls.fused_dense_lib(data, R.const([[1, 2], [3, 4], [5, 6]], "float32"))
            R.output(gv)
        return gv
"""

RELAY = """#[version = "0.0.5"]
def @main(%data: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
  %0 = @tvmgen_default_lib_main_0(%data) /* ty=Tensor[(1, 4), float32] */;
  negative(%0) /* ty=Tensor[(1, 4), float32] */
}

def @tvmgen_default_lib_main_0(%lib_0_i0: Tensor[(1, 4), float32], Inline=1, Compiler="lib", global_symbol="tvmgen_default_lib_main_0", Primitive=1) -> Tensor[(1, 4), float32] {
  %1 = fn (%FunctionVar_0_0: Tensor[(1, 4), float32], PartitionedFromPattern="nn.relu_", Composite="lib.relu") -> Tensor[(1, 4), float32] {
    nn.relu(%FunctionVar_0_0) /* ty=Tensor[(1, 4), float32] */
  } /* ty=fn (Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] */;
  %1(%lib_0_i0) /* ty=Tensor[(1, 4), float32] */
}
"""


class Calls(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.relax", MODEL)
        self.write("lib.txt", DENSE)
        self.write("lib.c", LIBRARY)
        self.write("main.c", MAIN)

    def linked(self, *sources):
        subprocess.run(["cc", "-std=c11", f"-I{self.path}", f"-I{INCLUDE}", *LINK_FLAGS, "-o", "program", *sources, RUNTIME,
                        "-lm"], cwd=self.path, check=True)

    def printed(self, *arguments):
        return subprocess.run([self.path / "program", *arguments], capture_output=True, check=True).stdout.decode()

    def test_what_the_library_gives_is_what_the_kernels_give(self):
        self.compiles("model.relax", "-o", "model.o")
        self.linked("main.c", "model.o")
        expected = self.printed()
        self.assertIn("OK 23 10 42 26", expected)
        for output in "model.o", "model.c":
            with self.subTest(output=output):
                self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", output)
                self.linked("main.c", "lib.c", output)
                self.assertEqual(self.printed(), "called with 2 rows, 8 bytes of scratch\n" + expected)

    def test_sizes_are_checked_as_the_operators_would(self):
        self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", "model.o")
        self.linked("main.c", "lib.c", "model.o")
        self.assertNotRegex(self.printed("other"), "called|^OK")
        self.write("lib.txt", FIRST + "pattern two\n  match matmul(x, w)\n  operand w = float32[k, 3]\n  call lib_two(x, w)\n")
        self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", "model.o")
        self.write("lib.c", '#include <stdio.h>\n#include "model.h"\nint32_t lib_two(rlx_context* c, const rlx_tensor* x, '
                   'const rlx_tensor* w, const rlx_tensor* y) { puts("called"); return (c != 0) + (x == w) + (x == y); }\n')
        self.linked("main.c", "lib.c", "model.o")
        self.assertNotRegex(self.printed("other"), "called|^OK")

    def test_a_failure_of_the_function_is_that_of_the_call(self):
        self.write("lib.c", LIBRARY.replace("if (m < 0) return 1;", "if (m > 0) return 7;"))
        self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", "model.o")
        self.linked("main.c", "lib.c", "model.o")
        self.assertIn("EXTERNAL_FAILED", self.printed())

    def test_the_file_is_a_dependency_and_part_of_the_hash(self):
        hashes = set()
        for factor in 4, 8:
            self.write("lib.txt", DENSE.replace("scratch 4", f"scratch {factor}"))
            self.compiles("model.relax", "--external-patterns", "lib.txt", "-MD", "-o", "model.o", "--manifest=model.json")
            self.assertIn("lib.txt", (self.path / "model.d").read_text())
            hashes.add(re.search('"hash": *"([0-9a-f]+)"', (self.path / "model.json").read_text())[1])
        self.assertEqual(len(hashes), 2)

    def test_a_pattern_that_matches_nothing_says_why(self):
        for change, text in (("n == 2", "n >= 3"), "condition 1 is not known to hold"), \
                            (("float32[n]", "float16[n]"), "must be of float16"), \
                            (("float32[k, n]", "float32[n, k]"), "which is not known to be"), \
                            (("nn.relu(", "nn.gelu("), "matches nothing\n"):
            with self.subTest(change=change):
                self.write("lib.txt", DENSE.replace(*change))
                done = self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", "model.o")
                self.assertIn("the external pattern 'lib.dense' matches nothing", done.err)
                self.assertIn(text, done.err)

    def test_semantics_are_compared_before_and_behind_the_pass(self):
        self.compiles("model.relax", "--external-patterns", "lib.txt", "--verify-semantics", "-o", "model.o")

    def test_tools_find_the_functions_in_a_library(self):
        self.write("model.relax", MODEL.replace('("l", 3)', "(3, 3)"))
        self.refuses(1, "--load names the library of the C functions", "bench", "model.relax", "--external-patterns", "lib.txt",
                     "--dim", "n=2")


class CodegenFunctions(ProgramTest):
    """Functions that TVM's partitioning has set apart."""

    def compiled(self, *rows):
        self.write("model.relax", CODEGEN)
        self.write("lib.txt", FIRST + "\n".join(rows) + "\n")
        done = self.compiles("model.relax", "--external-patterns", "lib.txt", "-o", "model.o")
        return done.err, (self.path / "model.h").read_text()

    def test_a_row_with_parameters_is_the_call_of_the_function(self):
        for name in "lib.dense", "fused_dense_lib":
            with self.subTest(name=name):
                err, header = self.compiled(f"pattern {name}", "  parameters x, w", "  operand w = float32[k, n]",
                                            "  call lib_dense(x, w, k)")
                self.assertEqual(err, "")
                self.assertIn("int32_t lib_dense(", header)
                self.assertNotIn("fused_dense_lib", header)

    def test_a_row_with_a_pattern_sees_constants_of_the_caller(self):
        err, header = self.compiled("pattern lib.dense", "  match nn.relu(matmul(x, %w))", "  call lib_dense(x, w)")
        self.assertEqual(err, "")
        self.assertIn("int32_t lib_dense(", header)

    def test_without_a_row_it_is_a_function_like_others(self):
        err, header = self.compiled("pattern lib.other", "  parameters x", "  call lib_other(x)")
        self.assertIn("no external pattern is named 'lib.dense'; relaxc compiles it itself", err)
        self.assertNotIn("lib_", header.replace("fused_dense_lib", ""))
        done = self.compiles("model.relax", "-o", "model.o")
        self.assertIn("no external pattern is named 'lib'", done.err)
        self.assertNotIn("fused_dense_lib", (self.path / "model.h").read_text())

    def test_a_row_that_does_not_fit_says_why(self):
        for lines, text in ((["  parameters x"], "has 2 parameters, and the pattern 1"),
                            (["  parameters x, w", "  operand x = int8[m, k]"], "must be of int8")):
            with self.subTest(text=text):
                self.assertIn(text, self.compiled("pattern lib.dense", *lines, "  call lib_dense(x)")[0])


class Relay(ProgramTest):
    def test_functions_that_partition_graph_makes(self):
        self.write("model.relay", RELAY)
        self.write("lib.txt", FIRST + "pattern lib.relu\n  parameters x\n  call lib_relu(x)\n")
        done = self.compiles("model.relay", "--external-patterns", "lib.txt", "-o", "model.o")
        self.assertEqual(done.err, "")
        self.assertIn("int32_t lib_relu(", (self.path / "model.h").read_text())


class Refusals(ProgramTest):
    def refused(self, place, text, *lines):
        self.write("lib.txt", "\n".join(lines) + "\n")
        done = self.refuses(1, text, "relu.relax", "--external-patterns", "lib.txt", "-o", "relu.o")
        self.assertIn(f"lib.txt:{place}: error: ", done.err)

    def row(self, place, text, *lines):
        self.refused(place, text, FIRST.strip(), "pattern a", *lines)

    def test_files(self):
        self.refuses(1, "absent.txt", "relu.relax", "--external-patterns", "absent.txt", "-o", "relu.o")
        self.refused("1:1", "does not start with 'relaxc external patterns 1'", "{}")
        self.refused("3:1", "must come after a line 'pattern NAME'", FIRST.strip(), "# none", "match exp(x)")
        self.refused("2:9", "needs a line 'match'", FIRST.strip(), "pattern a", "  call f(x)")
        self.refused("2:9", "lacks a line 'call'", FIRST.strip(), "pattern a", "  match exp(x)")
        self.refused("5:9", "there is a pattern 'a' already", FIRST.strip(), "pattern a", " match exp(x)", " call f(x)",
                     "pattern a")
        self.row("3:3", "expected one of pattern, match", "  mach exp(x)")
        self.row("3:3", "did you mean 'match'?", "  mach exp(x)")
        self.row("4:3", "has a line 'match' already", "  match exp(x)", "  match exp(x)")

    def test_patterns(self):
        self.row("3:9", "did you mean 'nn.relu'?", "  match relu(x)")
        self.row("3:13", "there is no operator 'nn.conv2d'", "  match exp(nn.conv2d(x, w))")
        self.row("3:20", "'nn.softmax' has no attribute 'axes'; it has axis", "  match nn.softmax[axes=1](x)")
        self.row("3:9", "'add' takes 2 operands, found 1", "  match add(x)")
        self.row("3:20", "is an integer, found 'last'", "  match nn.softmax[axis=last](x)")
        self.row("3:14", "expected", "  match exp(x")
        self.row("3:9", "expected an operator and its operands", "  match x")
        self.row("3:19", "expected an operator and its operands", "  match (exp(x) | x)")
        self.row("3:73", "at most 64 operators", "  match " + "(" * 80 + "x")

    def test_names(self):
        match, call = "  match add(x, %b)", "  call f(x, b)"
        self.row("4:11", "'y' is not an operand of the pattern", match, "  operand y = float32[n]", call)
        self.row("4:8", "'n' is not a dim of an operand", match, "  when n == 1", call)
        self.row("4:13", "'bias' is not an operand, a dim or an attribute", match, "  call f(x, bias)")
        self.row("4:8", "expected the name of a C function of yours", match, "  call rlx_run(x)")
        self.row("4:26", "expected ',' or ']'", match, "  operand x = float32[nn k]", call)
        self.row("4:15", "expected a dtype", match, "  operand x = floot32[n]", call)
        self.row("4:10", "expected ==, !=", match, "  when 1 = 1", call)
        self.row("4:10", "'('", match, "  call f x")
        self.row("4:19", "is not an operand", match, "  call f(permuted(q, 1, 0))")


if __name__ == "__main__":
    program.main()
