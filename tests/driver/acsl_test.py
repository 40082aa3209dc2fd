"""The contracts in C that --c-profile=misra writes: that each function and each loop has one, that Frama-C's WP proves
those of kernels and the absence of undefined behaviour by Z3, and that its Eva finds no such behaviour and no contract
that is not met in a program that runs the model, where these are installed (cmake/install_packages.sh long).

Usage: acsl_test.py RELAXC RUNTIME [unittest's own]"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import program
from program import INCLUDE, ProgramTest

REPOSITORY = Path(__file__).resolve().parents[2]
FRAMA_C = [shutil.which(name) for name in ("frama-c", "why3", "z3")]

PADDED = """@R.function
def main(x: R.Tensor((1, 2, 5, 5), "float32"), w: R.Tensor((3, 2, 3, 3), "float32")) -> R.Tensor((1, 3, 5, 5), "float32"):
    with R.dataflow():
        y = R.nn.relu(R.nn.conv2d(x, w, padding=(1, 1)))
        R.output(y)
    return y
"""
POOLED = """@R.function
def main(x: R.Tensor((1, 3, 6, 6), "float32")) -> R.Tensor((1, 3, 3, 3), "float32"):
    with R.dataflow():
        y = R.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
        R.output(y)
    return y
"""
TAKEN = """@R.function
def main(x: R.Tensor((9, 4), "float32"), at: R.Tensor((3,), "int64")) -> R.Tensor((3, 4), "float32"):
    with R.dataflow():
        y = R.take(x, at, axis=0)
        R.output(y)
    return y
"""
DENSE = """@R.function
def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 6), "float32")) -> R.Tensor((1, 6), "float32"):
    with R.dataflow():
        y = R.sqrt(R.abs(R.matmul(x, w)))
        R.output(y)
    return y
"""
SUMMED = """@R.function
def main(x: R.Tensor((4, 10), "int32")) -> R.Tensor((4,), "int32"):
    with R.dataflow():
        y = R.max(x, axis=1)
        R.output(y)
    return y
"""
# Goals that WP leaves, at most. taken: a loop checks the indices, which is no invariant of the loop that uses them.
# dense: an access to memory and clauses on what is assigned, for a reason that has not been found out.
LEFT = {"pooled": 0, "summed": 0, "taken": 3, "dense": 4}
# Reads that Eva, which knows ranges of single variables only, cannot show in bounds, at most. taken: as above. padded: a
# condition bounds a sum of two counters, and the subscript has the sum again.
UNBOUNDED_READS = {"pooled": 0, "summed": 0, "dense": 0, "taken": 1, "padded": 4}
MODELS = {"padded": PADDED, "pooled": POOLED, "taken": TAKEN, "dense": DENSE, "summed": SUMMED}


# The arena's type has an alignment of C11, which Frama-C does not read.
READER = ["-machdep", "gcc_x86_64", f"-cpp-extra-args=-I{INCLUDE} -std=c99 -U__STDC_VERSION__ -D__STDC_VERSION__=199901L",
          "-warn-special-float", "none"]
# Any values, as Eva's own library makes them: floats from -16 to 16, indices of which some are out of range.
ANY = {"float": "Frama_C_float_interval(-16.0f, 16.0f)", "int32_t": "Frama_C_interval(-20, 20)",
       "int64_t": "Frama_C_interval(-20, 20)"}
PROGRAM = """#include "m.h"
float Frama_C_float_interval(float low, float high);
int Frama_C_interval(int low, int high);
static m_arena arena;
{arrays}
int main(void) {{
{fills}
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  m_args args = {{{args}}};
  return m_run(&context, &args);
}}
"""


class Acsl(ProgramTest):
    def text_of(self, name):
        self.write(f"{name}.relax", MODELS[name])
        self.compiles(f"{name}.relax", "-o", "m.c", "--c-profile=misra", "--target", "cortex-m4")
        return (self.path / "m.c").read_text()

    def environment(self):
        return {**os.environ, "HOME": str(self.path), "PWD": str(self.path)}  # Frama-C reads both

    def frama_c(self, *arguments):
        return subprocess.run(["frama-c", *READER, *arguments], cwd=self.path, env=self.environment(), capture_output=True,
                              text=True, check=False)

    def alarms(self, name, missing=0):
        """Has Eva analyze a program that runs a model on any data; returns its alarms. `missing`: elements that the last
        result lacks."""
        self.text_of(name)
        header = (self.path / "m.h").read_text()
        fields = re.findall(r"^  (const )?(\w+)\* (\w+);$", header[header.index("typedef struct m_args"):], re.M)
        self.assertGreater(len(fields), 1)
        self.write("main.c", PROGRAM.format(
            arrays="\n".join(f"static {of} {field}_data[M_{field.upper()}_ELEMENTS{f' - {missing}' * (not const)}];"
                             for const, of, field in fields),
            fills="\n".join(f"  for (int i = 0; i < M_{field.upper()}_ELEMENTS; i++) {field}_data[i] = {ANY[of]};"
                            for const, of, field in fields if const),
            args=", ".join(f".{field} = {field}_data" for *_, field in fields)))
        share = subprocess.run(["frama-c", "-print-share-path"], env=self.environment(), capture_output=True, text=True,
                               check=True).stdout.strip()
        done = self.frama_c("-eva", "m.c", "main.c", f"{share}/libc/__fc_builtin.c")
        if not missing:
            self.assertRegex(done.stdout, r"functions analyzed .*: 100% coverage", done.stdout[-2000:] + done.stderr)
        return re.findall(r"\[eva:alarm\] \S+ Warning: \n +(\S.*)", done.stdout)

    def check_alarms(self, name):
        """Preconditions of calls that are not met would be alarms."""
        found = self.alarms(name)
        self.assertEqual([one for one in found if one != "out of bounds read."], [])
        self.assertLessEqual(len(found), UNBOUNDED_READS[name])

    def wp(self, name):
        """Has WP prove the kernels of a model; returns how many goals it proves, and of how many."""
        text = self.text_of(name)
        kernels = set(re.findall(r"^static RLX_NOINLINE \w+ (k_\w+)", text, re.M)) - {"k_main_call"}
        inlined = ["@inline", *(["rlx_fail"] if " rlx_fail(" in text else [])]
        subprocess.run(["why3", "config", "detect"], env=self.environment(), capture_output=True, check=True)
        done = self.frama_c("-inline-calls", ",".join(inlined), "-wp", "-wp-rte", "-wp-prover", "z3", "-wp-timeout", "10",
                            "-wp-fct", ",".join(sorted(kernels)), "m.c")
        goals = re.search(r"Proved goals: +(\d+) / (\d+)", done.stdout)
        self.assertTrue(goals, done.stdout[-2000:] + done.stderr)
        return int(goals[1]), int(goals[2])


class Sample(Acsl):
    def test_every_function_and_loop_has_a_contract(self):
        for name in MODELS:
            with self.subTest(name):
                text = self.text_of(name)
                functions = re.findall(r"( \*/\n)?(?:static RLX_NOINLINE \w+|int32_t) ((?:k|m)_\w+)\(.*\{\n", text)
                self.assertEqual([function for contract, function in functions if not contract], [])
                self.assertTrue({"k_main_call", "m_run"} <= {re.sub(r"^m_run_.*", "m_run", one) for _, one in functions})
                self.assertEqual(len(re.findall(r"^ *for \(", text, re.M)), text.count("loop variant"))
                self.assertEqual(text.count("loop variant"), text.count("loop invariant 0 <= "))

    def test_the_contract_of_a_kernel(self):
        text = self.text_of("pooled")
        for clause in (r"requires \valid_read(x0 + (0 .. 107));", r"requires \valid(y + (0 .. 26));",
                       r"requires \separated(y + (0 .. 26), x0 + (0 .. 107));", "assigns y[0 .. 26];"):
            self.assertIn(clause, text)
        text = self.text_of("taken")
        self.assertRegex(text, r"assigns \w+\[0 \.\. 11\], \*error;\n  @ ensures \\result == 0 \|\| \\result == \d+; \*/")
        text = self.text_of("padded")  # a convolution and its relu, in one kernel
        self.assertRegex(text, r"  @ requires \\separated\(y \+ \(0 \.\. 74\), x \+ \(0 \.\. 49\)\);(.*\n)*?"
                               r"static RLX_NOINLINE void k_main_call\(")
        self.assertRegex(text, r"  @ requires args != \\null ==> \\valid\(args->y \+ \(0 \.\. 74\)\);(.*\n)*?"
                               r"  @ assigns \*context->error, args->y\[0 \.\. 74\];\n"
                               r"  @ ensures \\result == 0 \|\| \\result == 1; \*/\nint32_t m_run_")
        self.write("pooled.relax", POOLED)
        self.compiles("pooled.relax", "-o", "plain.c", "--target", "cortex-m4")
        self.assertNotIn("/*@", (self.path / "plain.c").read_text())

    @unittest.skipUnless(FRAMA_C[0], "there is no Frama-C: cmake/install_packages.sh long")
    def test_eva_finds_nothing_in_a_product(self):
        self.check_alarms("dense")

    @unittest.skipUnless(FRAMA_C[0], "there is no Frama-C: cmake/install_packages.sh long")
    def test_eva_finds_a_result_that_is_too_short(self):
        found = self.alarms("dense", missing=1)
        self.assertRegex(found[0], r"^function m_run_\w+: precondition args ≢ \\null ⇒")
        self.assertEqual(len(found), 1)


@unittest.skipUnless(all(FRAMA_C), "there is no Frama-C with why3 and Z3: cmake/install_packages.sh long")
class Every(Acsl):
    def test_wp_proves_the_kernels(self):
        for name, left in LEFT.items():
            with self.subTest(name):
                proved, goals = self.wp(name)
                self.assertLessEqual(goals - proved, left)
                self.assertGreater(goals, 20)
                print(f"{name}: {proved} of {goals} goals")

    def test_eva_finds_only_what_is_explained(self):
        for name in MODELS:
            with self.subTest(name):
                self.check_alarms(name)


if __name__ == "__main__":
    program.main()
