"""--names: what an object reveals of the model that it was made of.

Usage: names_test.py RELAXC RUNTIME [unittest's own]"""

import re
import subprocess

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest

NAMES = {"in": "secret_input", "out": "secret_output", "dim": "secret_dim", "node": "secret_layer"}

# Calls by the tables; prints what they say, and the numbers.
MAIN = """#include <stdio.h>
#include "m.h"
int main(void) {
  static M_ARENA_TYPE arena;
  const rlx_function* f = &m_model.functions[0];
  printf("%s|%s|%s|%s|%u|%s\\n", f->name, f->inputs[0].name, f->outputs[0].name, f->symbols[0].name, f->num_nodes,
         f->nodes == NULL ? "none" : f->nodes[0]);
  float x[8] = {-1, 2, -3, 4, 5, -6, 7, 8}, y[8];
  int64_t in_shape[2] = {2, 4}, out_shape[2] = {2, 4};
  rlx_tensor in = {x, 1, 0, 2, 2, 32, 1, in_shape, NULL, 0}, out = {y, 1, 0, 2, 2, 32, 1, out_shape, NULL, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  int status = f->run(&context, &in, 1, &out, 1);
  printf("%d", status);
  for (int i = 0; i < 8; i++) printf(" %g", (double)y[i]);
  m_args args = {.secret_input = x, .secret_output = y, .secret_dim = 2};
  printf(" %d\\n", m_run(&context, &args));
  return 0;
}
"""


class Names(ProgramTest):
    def setUp(self):
        super().setUp()
        nodes = [wire.node("Exp", [NAMES["in"]], ["secret_middle"], name="secret_first"),
                 wire.node("Softmax", ["secret_middle"], [NAMES["out"]], name=NAMES["node"])]
        self.write("net.onnx", wire.model(nodes, [wire.value_info(NAMES["in"], (NAMES["dim"], 4))],
                                          [wire.value_info(NAMES["out"], (NAMES["dim"], 4))]))
        self.write("main.c", MAIN.replace("M_ARENA_TYPE", "m_arena"))

    def build(self, names, output="m.o", *flags):
        self.compiles("net.onnx", "-o", output, "--name", "m", "--dim", f"{NAMES['dim']}=1..8", f"--names={names}", *flags)
        subprocess.run(["cc", "-std=c99", "-ffp-contract=off", "-I", str(program.INCLUDE), "main.c", output, *LINK_FLAGS,
                        RUNTIME, "-lm", "-o", "run"], cwd=self.path, check=True)
        told, numbers = subprocess.run(["./run"], cwd=self.path, check=True, capture_output=True, text=True).stdout.splitlines()
        return told.split("|"), numbers

    def bytes_of(self, name):
        return (self.path / name).read_bytes().decode("latin-1")

    def test_what_the_tables_and_symbols_tell(self):
        told, numbers = {}, {}
        for names in ("full", "io", "none"):
            told[names], numbers[names] = self.build(names)
        self.assertEqual(told["full"][:4], ["main", NAMES["in"], NAMES["out"], NAMES["dim"]])
        self.assertGreater(int(told["full"][4]), 0)
        self.assertEqual(told["io"], ["main", NAMES["in"], NAMES["out"], NAMES["dim"], "0", "none"])
        self.assertEqual(told["none"], ["main", "", "", "", "0", "none"])
        self.assertEqual(numbers["full"].split()[0], "0")
        self.assertEqual(numbers["full"], numbers["io"])
        self.assertEqual(numbers["full"], numbers["none"])

    def test_nothing_else_in_the_object_says_more(self):
        for names, secret, there in (("full", "softmax", True), ("io", "softmax", False), ("io", NAMES["in"], True),
                                     ("none", "softmax", False), ("none", "secret", False)):
            self.build(names)
            self.assertEqual(secret in self.bytes_of("m.o"), there, (names, secret))

    def test_c_and_several_cpus(self):
        told, numbers = self.build("none", "m.c")
        self.assertEqual(told, ["main", "", "", "", "0", "none"])
        self.assertNotIn("softmax", re.sub(r'#include "m.h"', "", self.bytes_of("m.c")))
        self.assertEqual(numbers.split()[0], "0")
        for names in ("full", "none"):
            self.compiles("net.onnx", "-o", f"{names}.o", "--name", "m", "--mcpu=x86-64,x86-64-v3", "--target", "x86-64",
                          f"--names={names}")
            self.assertEqual("softmax" in self.bytes_of(f"{names}.o"), names == "full")

    def test_the_header_is_the_same(self):
        for names in ("full", "none"):
            self.compiles("net.onnx", "-o", f"{names}.o", "--name", "m", "--manifest", f"{names}.json", f"--names={names}")
        self.assertEqual(self.bytes_of("full.h"), self.bytes_of("none.h"))
        self.assertIn(NAMES["in"], self.bytes_of("none.json"))

    def test_line_tables_would_tell_them(self):
        self.refuses(2, "-g writes the names that --names removes", "net.onnx", "-o", "m.o", "-g", "--names=io")
        self.refuses(2, "--names", "net.onnx", "-o", "m.o", "--names=some")


if __name__ == "__main__":
    program.main()
