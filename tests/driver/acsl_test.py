"""The contracts in C that --c-profile=misra writes: that each kernel and each loop has one, and that Frama-C's WP proves
them and the absence of undefined behaviour by Z3 where both are installed (cmake/install_packages.sh long).

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
MODELS = {"padded": PADDED, "pooled": POOLED, "taken": TAKEN, "dense": DENSE, "summed": SUMMED}


class Acsl(ProgramTest):
    def text_of(self, name):
        self.write(f"{name}.relax", MODELS[name])
        self.compiles(f"{name}.relax", "-o", "m.c", "--c-profile=misra", "--target", "cortex-m4")
        return (self.path / "m.c").read_text()

    def wp(self, name):
        """Has WP prove the kernels of a model; returns how many goals it proves, and of how many."""
        text = self.text_of(name)
        kernels = set(re.findall(r"^static RLX_NOINLINE \w+ (k_\w+)", text, re.M)) - {"k_main_call"}
        inlined = ["@inline", *(["rlx_fail"] if " rlx_fail(" in text else [])]
        environment = {**os.environ, "HOME": str(self.path), "PWD": str(self.path)}  # Frama-C reads both
        subprocess.run(["why3", "config", "detect"], env=environment, capture_output=True, check=True)
        # The arena's type has an alignment of C11, which Frama-C does not read.
        language = "-std=c99 -U__STDC_VERSION__ -D__STDC_VERSION__=199901L"
        done = subprocess.run(
            ["frama-c", "-machdep", "gcc_x86_64", f"-cpp-extra-args=-I{INCLUDE} {language}", "-warn-special-float", "none",
             "-inline-calls", ",".join(inlined), "-wp", "-wp-rte", "-wp-prover", "z3", "-wp-timeout", "10", "-wp-fct",
             ",".join(sorted(kernels)), "m.c"], cwd=self.path, env=environment, capture_output=True, text=True, check=False)
        goals = re.search(r"Proved goals: +(\d+) / (\d+)", done.stdout)
        self.assertTrue(goals, done.stdout[-2000:] + done.stderr)
        return int(goals[1]), int(goals[2])


class Sample(Acsl):
    def test_every_kernel_and_loop_has_a_contract(self):
        for name in MODELS:
            with self.subTest(name):
                text = self.text_of(name)
                kernels = re.findall(r"( \*/\n)?static RLX_NOINLINE \w+ (k_\w+)\(.*\{\n", text)
                self.assertEqual([kernel for contract, kernel in kernels if not contract], ["k_main_call"])
                self.assertEqual(len(re.findall(r"^ *for \(", text, re.M)), text.count("loop variant"))
                self.assertEqual(text.count("loop variant"), text.count("loop invariant 0 <= "))

    def test_the_contract_of_a_kernel(self):
        text = self.text_of("pooled")
        for clause in (r"requires \valid_read(x0 + (0 .. 107));", r"requires \valid(y + (0 .. 26));",
                       r"requires \separated(y + (0 .. 26), x0 + (0 .. 107));", "assigns y[0 .. 26];"):
            self.assertIn(clause, text)
        text = self.text_of("taken")
        self.assertRegex(text, r"assigns \w+\[0 \.\. 11\], \*error;\n  @ ensures \\result == 0 \|\| \\result == \d+; \*/")
        self.write("pooled.relax", POOLED)
        self.compiles("pooled.relax", "-o", "plain.c", "--target", "cortex-m4")
        self.assertNotIn("/*@", (self.path / "plain.c").read_text())


@unittest.skipUnless(all(FRAMA_C), "there is no Frama-C with why3 and Z3: cmake/install_packages.sh long")
class Every(Acsl):
    def test_wp_proves_the_kernels(self):
        for name, left in LEFT.items():
            with self.subTest(name):
                proved, goals = self.wp(name)
                self.assertLessEqual(goals - proved, left)
                self.assertGreater(goals, 20)


if __name__ == "__main__":
    program.main()
