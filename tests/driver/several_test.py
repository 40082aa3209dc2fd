"""Several models in one object: what is equal is there once, and one arena serves all.

Usage: several_test.py RELAXC RUNTIME [unittest's own]"""

import os
import subprocess
from pathlib import Path

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest

ROOT = Path(__file__).resolve().parents[2]

USE = """#include <stdio.h>
#include "zoo.h"
static struct { _Alignas(ZOO_ARENA_ALIGN_OF_ALL) unsigned char bytes[ZOO_ARENA_MAX_OF_ALL]; } arena;
int main(void) {
  static float image[64], a[10], b[10];
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  for (int i = 0; i < 64; i++) image[i] = (float)(i % 17);
  zoo_one_args first = {.image = image, .logits = a};
  zoo_other_args second = {.image = image, .logits = b};
  if (zoo_one_run(&context, &first) != RLX_OK || zoo_other_run(&context, &second) != RLX_OK) return 2;
  for (int i = 0; i < 10; i++)
    if (a[i] != b[i]) return 1;
  return zoo_model.num_functions == 2 ? 0 : 3;
}
"""


class Several(ProgramTest):
    def setUp(self):
        super().setUp()
        model = (ROOT / "examples" / "digits" / "digits.onnx").read_bytes()
        self.write("one.onnx", model)
        self.write("other.onnx", model)

    def test_equal_weights_and_kernels_are_there_once(self):
        self.compiles("one.onnx", "-o", "one.o", "--dim", "n=1")
        self.compiles("one.onnx", "other.onnx", "-o", "zoo.a", "--dim", "n=1", "-MD")
        subprocess.run(["ar", "x", "zoo.a"], cwd=self.path, check=True)
        alone, both = (os.path.getsize(self.path / name) for name in ("one.o", "zoo.o"))
        self.assertLess(both, alone + 12000)
        self.assertIn("other.onnx", (self.path / "zoo.d").read_text())
        self.write("use.c", USE)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *LINK_FLAGS, "-I", ROOT / "runtime-lite/include",
                        "use.c", "zoo.a", RUNTIME, "-o", "use"], cwd=self.path, check=True)
        subprocess.run(["./use"], cwd=self.path, check=True)

    def test_a_dim_may_be_of_one_model(self):
        self.compiles("one.onnx", "other.onnx", "-o", "zoo.o", "--dim", "one:n=1", "--dim", "other:n=2..5")
        text = (self.path / "zoo.h").read_text()
        self.assertIn("#define ZOO_ONE_ARENA_BYTES", text)
        self.assertIn("dim    n: 2..5", text)
        self.refuses(2, "there is no model 'third' in this command", "one.onnx", "other.onnx", "-o", "m.o", "--dim",
                     "third:n=1")

    def test_refuses_what_cannot_be_told_apart(self):
        self.write("folder/one.onnx", wire.relu())
        self.refuses(2, "two models would be called 'one'", "one.onnx", "folder/one.onnx", "-o", "m.o")
        self.refuses(2, "is no ONNX model", "one.onnx", "relu.relax", "-o", "m.o")


if __name__ == "__main__":
    program.main()
