"""Several models in one object: what is equal is there once, and one arena serves all.

Usage: several_test.py RELAXC RUNTIME [unittest's own]"""

import os
import subprocess
from pathlib import Path

import program
import wire
from program import LINK_FLAGS, RELAXC, RUNTIME, ProgramTest

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

OPEN = """#include <stdio.h>
#include "zoo.h"
static struct { _Alignas(ZOO_ARENA_ALIGN_OF_ALL) unsigned char bytes[ZOO_ARENA_MAX_OF_ALL]; } arena;
int main(void) {
  static float images[5 * 64], all[50], one[10];
  float state[4] = {0}, x[4] = {1, -2, 3, -4}, y[4];
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  for (int i = 0; i < 5 * 64; i++) images[i] = (float)(i % 17);
  zoo_one_args batch = {.image = images, .logits = all, .n = 5};
  if (zoo_one_run(&context, &batch) != RLX_OK) return 1;
  for (int i = 0; i < 5; i++) {
    zoo_one_args single = {.image = images + 64 * i, .logits = one, .n = 1};
    zoo_stream_args step = {.x = x, .h0 = state, .y = y, .hn = state};
    if (zoo_one_run(&context, &single) != RLX_OK || zoo_stream_run(&context, &step) != RLX_OK) return 2;
    for (int k = 0; k < 10; k++)
      if (one[k] - all[10 * i + k] > 1e-4f || all[10 * i + k] - one[k] > 1e-4f) return 3;
    for (int k = 0; k < 4; k++)
      if (state[k] != (float)(i + 1) * x[k] || y[k] != (x[k] > 0 ? state[k] : 0)) return 4;
  }
  zoo_one_args six = {.image = images, .logits = all, .n = 6};
  return zoo_one_run(&context, &six) == RLX_OK ? 5 : 0;
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

    def test_a_dim_that_stays_open_and_a_state(self):
        self.write("stream.onnx", wire.streaming())
        self.compiles("one.onnx", "stream.onnx", "-o", "zoo.a", "--dim", "one:n=1..5", "--state", "h0:hn")
        header = (self.path / "zoo.h").read_text()
        self.write("use.c", OPEN)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *LINK_FLAGS, "-I", ROOT / "runtime-lite/include",
                        "use.c", "zoo.a", RUNTIME, "-o", "use"], cwd=self.path, check=True)
        done = subprocess.run(["./use"], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), header)

    def test_the_same_bytes_in_any_folder_and_beside_other_compilations(self):
        """What `make -j1` and `make -j2` build is the same, wherever the sources lie."""
        command = [RELAXC, "one.onnx", "other.onnx", "stream.onnx", "-o", "zoo.o", "--manifest", "zoo.json", "--dim",
                   "one:n=1..5", "--emit-selftest", "-g", "--runtime", RUNTIME]
        folders = [self.path / name for name in ("alone", "here", "some/where/else")]
        for folder in folders:
            for name in ("one", "other"):
                self.write(folder.relative_to(self.path) / f"{name}.onnx", (self.path / f"{name}.onnx").read_bytes())
            self.write(folder.relative_to(self.path) / "stream.onnx", wire.streaming())
        subprocess.run(command, cwd=folders[0], check=True)
        together = [subprocess.Popen(command, cwd=folder) for folder in folders[1:]]
        self.assertEqual([running.wait(120) for running in together], [0, 0])
        for name in ("zoo.o", "zoo.h", "zoo.json"):
            written = {(folder / name).read_bytes() for folder in folders}
            self.assertEqual(len(written), 1, name)

    def test_refuses_names_that_collide(self):
        self.write("folder/one.onnx", wire.relu())
        self.refuses(2, "two models would be called 'one'", "one.onnx", "folder/one.onnx", "-o", "m.o")
        self.refuses(2, "is not an ONNX or TFLite model", "one.onnx", "relu.relax", "-o", "m.o")


if __name__ == "__main__":
    program.main()
