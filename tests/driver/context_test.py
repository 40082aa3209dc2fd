"""What a call does to its context, and what an object leaves to it: fields that stay as they are, pools that nothing needs,
allocators, records of objects without names; and that compiling runs nothing of a program.

Usage: context_test.py RELAXC RUNTIME [unittest's own]"""

import json
import subprocess
from pathlib import Path

import program
import wire
from program import INCLUDE, LINK_FLAGS, RUNTIME, ProgramTest

PROGRAMS = Path(__file__).resolve().parents[1] / "e2e/programs"

# Runs y = relu(x) of 8 floats by both calls. Prints the statuses, the record's node, and the offsets of bytes of the context
# that changed.
MAIN = """#include <stdio.h>
#include <string.h>
#include "m.h"
int main(void) {
  static float x[8] = {-1, 2, -3, 4, 5, -6, 7, 8}, y[8];
  static M_ARENA arena;
  rlx_error error = {0, -1, -1, -1, -1, 0, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  context.error = &error;
  context.num_threads = 3;
  MORE
  rlx_context before = context;
  int64_t in_shape[2] = {2, 4}, out_shape[2] = {2, 4};
  rlx_tensor in = {x, 1, 0, 2, 2, 32, 1, in_shape, NULL, 0}, out = {y, 1, 0, 2, 2, 32, 1, out_shape, NULL, 0};
  int generic = m_model.functions[0].run(&context, &in, 1, &out, 1);
  const m_args args = {ARGS};
  int typed = m_run(&context, &args);
  printf("%d %d %d\\n", generic, typed, error.node);
  for (size_t i = 0; i < sizeof context; i++)
    if (((unsigned char*)&before)[i] != ((unsigned char*)&context)[i]) printf("%d ", (int)i);
  printf("%d\\n", (int)offsetof(rlx_context, cpu_features));
  return 0;
}
"""
ASSERTS = """@R.function
def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
    s = R.sum(x)
    R.assert_op(R.less(s, R.const(0, "float32")), format="must be below nothing")
    y = R.nn.relu(x)
    return y
"""
EFFECTS = """@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    R.print(x, format="x is {}")
    c = R.const([1.0, 2.0, 3.0, 4.0], "float32")
    R.print(c, format="c is {}")
    y = R.call_dps_packed("abort", (c,), out_sinfo=R.Tensor((4,), "float32"))
    return y
"""


class Contexts(ProgramTest):
    def run_model(self, source, *flags, args="x, y", more="", output="m.o"):
        self.compiles(source, "-o", output, "--name", "m", *flags)
        arena = "m_arena" if "m_arena;" in (self.path / "m.h").read_text() else "struct { double none; }"
        self.write("main.c", MAIN.replace("ARGS", args).replace("M_ARENA", arena).replace("MORE", more))
        subprocess.run(["cc", "-std=c99", "-Wno-psabi", *LINK_FLAGS, f"-I{INCLUDE}", "main.c", output, RUNTIME, "-lm", "-o", "main"],
                       cwd=self.path, check=True)
        statuses, changed = subprocess.run(["./main"], cwd=self.path, check=True, capture_output=True,
                                           text=True).stdout.splitlines()
        *offsets, features = map(int, changed.split())
        return [int(word) for word in statuses.split()], set(offsets), set(range(features, features + 8))

    def test_no_field_of_the_context_is_written_but_the_features_of_the_cpu(self):
        self.write("two.onnx", wire.relu((2, 4)))
        for output in ("m.o", "m.c"):
            statuses, changed, features = self.run_model("two.onnx", output=output)
            self.assertEqual(statuses[:2], [0, 0])
            self.assertLessEqual(changed, features)
        self.run_model("two.onnx")
        _, changed, features = self.run_model("two.onnx", more="context.cpu_features = rlx_cpu_features();")
        self.assertEqual(changed, set())

    def test_a_pool_that_nothing_needs_may_be_null(self):
        self.write("two.onnx", wire.relu((2, 4)))
        statuses, *_ = self.run_model("two.onnx", "--pool", "tiny=1")
        self.assertEqual(statuses[:2], [0, 0])

    def test_the_header_says_whether_an_allocator_is_needed(self):
        for name, needed in (("unbounded_loop", True), ("nonzero", False), ("static", False)):
            for output in ("m.o", "m.c"):
                self.compiles(PROGRAMS / f"{name}.relax", "-o", output, "--name", "m")
                self.assertEqual("#define M_NEEDS_ALLOCATOR 1\n" in (self.path / "m.h").read_text(), needed, name)

    def test_a_record_has_its_node_where_names_are_left_out(self):
        self.write("asserts.relax", ASSERTS)
        numbers = {}
        for names in ("full", "io", "none"):
            (generic, typed, node), *_ = self.run_model("asserts.relax", f"--names={names}", "--manifest", "m.json")
            self.assertEqual((generic, typed), (34, 34))
            function, = json.loads((self.path / "m.json").read_text())["functions"]
            numbers[names] = node, function["nodes"][node]
            self.assertEqual(b"must be below nothing" in (self.path / "m.o").read_bytes(), names == "full")
        self.assertEqual(numbers["full"], numbers["io"])
        self.assertEqual(numbers["full"], numbers["none"])
        self.assertIn("must be below nothing", json.dumps(numbers["full"][1]))

    def test_compiling_runs_nothing_of_a_program(self):
        self.write("effects.relax", EFFECTS)
        for output in ("m.o", "m.c", "m.relax"):
            for level in ("-O0", "-O3"):
                done = self.compiles("effects.relax", "-o", output, level)
                self.assertNotIn("is float32", done.out + done.err)

    def test_c_for_a_compiler_that_names_no_byte_order_is_little_endian(self):
        self.write("w.onnx", wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (4,))],
                                        [wire.value_info("y", (4,))], [wire.tensor("w", (4,), bytes(range(16)))]))
        self.compiles("w.onnx", "-o", "m.c", "--name", "m", "--weights", "w.bin")
        for flags, accepted in (([], True), (["-U__BYTE_ORDER__"], True), (["-U__BYTE_ORDER__", "-D__BIG_ENDIAN__"], False),
                                (["-U__BYTE_ORDER__", "-D__big_endian__"], False), (["-U__BYTE_ORDER__", "-D__ARMEB__"], False),
                                (["-U__BYTE_ORDER__", "-D__MIPSEB__"], False)):
            done = subprocess.run(["cc", "-std=c99", *flags, f"-I{INCLUDE}", "-fsyntax-only", "m.c"], cwd=self.path,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode == 0, accepted, (flags, done.stderr))


if __name__ == "__main__":
    program.main()
