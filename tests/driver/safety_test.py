"""`inspect --safety`: what safety-related systems ask of a model and its implementation, requirement by requirement.

Usage: safety_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import unittest
from pathlib import Path

import program
from program import ProgramTest

DIGITS = Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"
SOFTMAX = """@R.function
def main(x: R.Tensor((4, 100), "float32")):
    with R.dataflow():
        y = R.nn.softmax(x, axis=1)
        z = R.max(y, axis=1)
        R.output(y, z)
    return (y, z)
"""
FOUND = """@R.function
def main(x: R.Tensor((8,), "float32"), at: R.Tensor((3,), "int64")):
    y = R.nonzero(x)
    z = R.take(x, at, axis=0)
    return (y, z)
"""
RECURSION = """@R.function
def count(x: R.Tensor((1,), "int64")) -> R.Tensor((1,), "int64"):
    c: R.Tensor((), "bool") = R.squeeze(R.greater(x, R.const([0], "int64")), axis=[0])
    if c:
        y = R.add(count(R.subtract(x, R.const([1], "int64"))), R.const([2], "int64"))
    else:
        y = x
    return y

@R.function
def main(x: R.Tensor((1,), "int64")) -> R.Tensor((1,), "int64"):
    y = R.add(count(x), x)
    return y
"""


class Safety(ProgramTest):
    def found(self, *arguments):
        """Answers and facts of the requirements by their ids, and the whole record."""
        done = self.relaxc("inspect", *arguments, "--safety=json")
        self.assertEqual(done.code, 0, done.err)
        record = json.loads(done.out)
        return {one["id"]: (one["answer"], one["facts"]) for one in record["requirements"]}, record

    def test_a_model_that_leaves_things_open(self):
        found, record = self.found(DIGITS)
        self.assertEqual({name for name, (answer, _) in found.items() if answer == "deviation"},
                         {"explicit-attributes", "bounded-dims", "static-memory", "validated"})
        self.assertIn("conv1 (Conv): auto_pad, dilations, group, strides", found["explicit-attributes"][1])
        self.assertEqual(found["explicit-versions"], ("met", ["IR version 8, ai.onnx 17"]))
        kernels = {kernel["name"]: kernel for kernel in record["kernels"]}
        self.assertEqual(kernels["fused_matmul_add"]["nodes"], ["fc (Gemm)"])
        self.assertEqual(kernels["max_pool"]["error"], ["exact: no operation rounds"])
        self.assertIn("for k = 768 ", kernels["fused_matmul_add"]["error"][1])

    def test_bounds_and_proofs_answer_the_rest(self):
        found, record = self.found(DIGITS, "--dim", "n=1..2", "--prove")
        self.assertEqual({name for name, (answer, _) in found.items() if answer == "deviation"}, {"explicit-attributes"})
        self.assertRegex(found["static-memory"][1][0], r"main: the arena has at most \d+ bytes")
        self.assertEqual({proof["answer"] for proof in record["proofs"]} - {"proved", "checked"}, set())
        self.assertEqual({proof["kernel"] for proof in record["proofs"]}, {kernel["name"] for kernel in record["kernels"]})

    def test_text(self):
        self.write("p.relax", SOFTMAX)
        out = self.relaxc("inspect", "p.relax", "--safety").out
        self.assertIn("safety   explicit-attributes: not applicable (no attribute is left to a default)\n", out)
        self.assertIn("exp_nonpositive (float32): 2 ULP", out)
        self.assertRegex(out, r"safety   12 requirements: \d+ met, 1 deviations, 2 not applicable\n")
        self.assertNotIn("safety ", self.relaxc("inspect", "p.relax").out)

    def test_what_depends_on_data(self):
        self.write("p.relax", FOUND)
        found, _ = self.found("p.relax")
        self.assertEqual(found["static-memory"][0], "deviation")
        self.assertTrue([fact for fact in found["static-memory"][1] if re.search("the size of output .* depends on data", fact)])
        self.assertTrue([fact for fact in found["checked-preconditions"][1] if "code 32, INDEX_RANGE" in fact])

    def test_recursion(self):
        self.write("p.relax", RECURSION)
        found, _ = self.found("p.relax")
        self.assertEqual(found["bounded-loops"][0], "deviation")
        self.assertTrue([fact for fact in found["bounded-loops"][1] if "--max-recursion" in fact], found["bounded-loops"])

    def test_what_is_no_form_is_refused(self):
        self.refuses(2, "--safety", "inspect", DIGITS, "--safety=xml")


if __name__ == "__main__":
    program.main()
