"""Schedules as a file: written, taken back, edited, refused."""

import os
import re
import unittest

import program

MM_RELU = """@I.ir_module
class Module:
    @T.prim_func
    def mm_relu(A: T.Buffer((24, 32), "float32"), B: T.Buffer((32, 48), "float32"), C: T.Buffer((24, 48), "float32")):
        Y = T.alloc_buffer((24, 48), dtype="float32")
        for i, j, k in T.grid(24, 48, 32):
            with T.sblock("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(24, 48):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""

MODELS = program.Path(os.environ.get("RELAXC_MODELS", program.Path(__file__).resolve().parents[3] / "shared/models"))
GUIDE = MODELS.parent / "programs/guide_mm_relu.py"  # the same program as TVM's guide has it

EDITED = """relaxc schedules 1
kernel mm_relu  # by its name, whatever it computes and whatever the target is
  focus_nests [Y, C]
  decompose_reduction Y k
  bind_axes
  reverse_compute_at C j [i, j]
  scalar_replace Y j drop
  split j 8 peeled; split i 3 peeled   # a tile of three rows and a vector
  vectorize j_i
  jam_inner j_i
  unroll i_i
  jam i_i
  unfocus
  parallel i_o
"""

CALL = """#include <stdio.h>
#include "m.h"
static float a[%(a)d], b[%(b)d], c[%(c)d];
int main(void) {
  for (int i = 0; i < %(a)d; ++i) a[i] = (float)(i %% 7 - 3);
  for (int i = 0; i < %(b)d; ++i) b[i] = (float)(i %% 5 - 2);
  if (m_mm_relu(NULL, a, b, c) != RLX_OK) return 1;
  double sum = 0;
  for (int i = 0; i < %(c)d; ++i) sum += (i %% 11 + 1) * (double)c[i];
  printf("%%.17g\\n", sum);
  return 0;
}
"""


class SchedulesTest(program.ProgramTest):
    def same_but_for_the_hash(self, first, second):
        """Objects tell a hash of all that was read, and so of the schedules."""
        a, b = ((self.path / name).read_bytes() for name in (first, second))
        self.assertEqual(len(a), len(b))
        self.assertLessEqual(sum(x != y for x, y in zip(a, b)), 32)

    def test_what_was_written_is_taken_back(self):
        root = program.Path(__file__).resolve().parents[2]
        programs = [root / "tests/e2e/programs" / f"{name}.relax" for name in
                    ("attention", "mlp_high_level", "lstm", "parallel", "guarded", "pyramid", "tir_functions")]
        forms = [], ["--mcpu=native"], ["--target=cortex-m4"]
        models = [*programs, root / "examples/digits/digits.onnx", root / "examples/digits-int8/digits8.onnx"]
        for k, model in enumerate(models):
            for flags in [forms[k % len(forms)]] if program.SAMPLED else forms:
                with self.subTest(model=model.name, flags=flags):
                    self.compiles(model, "-o", "a.o", "--name", "m", "--write-schedules", "a.txt", *flags)
                    done = self.compiles(model, "-o", "b.o", "--name", "m", "--schedules", "a.txt", "--write-schedules",
                                         "b.txt", *flags)
                    self.assertNotIn("a.txt", done.err)  # no note that a kernel does not use it
                    self.assertEqual((self.path / "a.txt").read_text(), (self.path / "b.txt").read_text())
                    self.same_but_for_the_hash("a.o", "b.o")

    def result_of(self, source, sizes, *flags):
        self.compiles(source, "-o", "m.o", *flags)
        self.write("call.c", CALL % sizes)
        program.subprocess.run(["cc", *program.LINK_FLAGS, f"-I{program.INCLUDE}", "call.c", "m.o", program.RUNTIME,
                                "-o", "call", "-lm"], cwd=self.path, check=True)
        return program.subprocess.run(["./call"], cwd=self.path, check=True, capture_output=True).stdout

    def test_an_edited_schedule_computes_the_same(self):
        programs = [(self.write("mm_relu.relax", MM_RELU), {"a": 24 * 32, "b": 32 * 48, "c": 24 * 48})]
        if GUIDE.exists():
            programs.append((GUIDE, {"a": 1 << 14, "b": 1 << 14, "c": 1 << 14}))
        self.write("edited.txt", EDITED)
        for source, sizes in programs:
            with self.subTest(source.name):
                usual = self.result_of(source, sizes)
                self.assertEqual(self.result_of(source, sizes, "--schedules", "edited.txt", "--write-schedules", "now.txt"),
                                 usual)
                now = (self.path / "now.txt").read_text()
                self.assertIn("  split i 3 peeled\n", now)
                self.assertIn("  parallel i_o\n", now)

    def test_steps_with_their_former_names_are_taken_with_a_note(self):
        self.write("mm_relu.relax", MM_RELU)
        self.write("now.txt", EDITED)
        former = {"scalar_replace": "contract", "jam_inner": "sink"}
        old = EDITED
        for name, was in former.items():
            old = old.replace(f"  {name} ", f"  {was} ")
        self.write("old.txt", old)
        self.compiles("mm_relu.relax", "-o", "a.o", "--name", "m", "--schedules", "now.txt")
        done = self.compiles("mm_relu.relax", "-o", "b.o", "--name", "m", "--schedules", "old.txt", "--write-schedules",
                             "written.txt")
        self.same_but_for_the_hash("a.o", "b.o")
        for name, was in former.items():
            self.assertIn(f"the step '{was}' is now called '{name}'", done.err)
            self.assertIn(f"  {name} ", (self.path / "written.txt").read_text())

    def test_what_cannot_be_done_is_reported_where_it_is(self):
        self.write("m.relax", MM_RELU)
        for old, new, line, why in (
            ("vectorize j_i", "vectorize k", 9, "iterations of loop 'k' depend on each other: one may need what another one stores"),
            ("split i 3 peeled", "split q 3 peeled", 8, "there is no loop 'q' here; the loops are i, j_o, j_i, k"),
            ("  bind_axes\n", "  bind_axis\n", 5, "there is no primitive 'bind_axis'; the primitives are "),
            ("scalar_replace Y j drop", "scalar_replace Y k drop", 7, "loop 'k' does not begin with a store to Y"),
            ("kernel mm_relu ", "kernel mm_relo ", 2, "there is no kernel 'mm_relo' in the model"),
            ("parallel i_o", "parallel j_o\n  parallel i_o", 15, "loops whose iterations run at the same time cannot"),
            ("  focus_nests", "  choose \"tile: 2x1\"\n  focus_nests", 4, "a kernel has either steps or one 'choose'"),
            ("  focus_nests [Y, C]", "  focus_nests [Y, C", 3, "a quote or a bracket is not closed"),
        ):
            with self.subTest(why):
                self.write("bad.txt", EDITED.replace(old, new))
                done = self.relaxc("m.relax", "-o", "m.o", "--schedules", "bad.txt")
                self.assertEqual(done.code, 1, done.err)
                self.assertRegex(done.err, rf"bad.txt:{line}:\d+: error: (kernel 'mm_relu': )?" + re.escape(why))
                self.assertFalse((self.path / "m.o").exists())

    def test_invalid_files_of_schedules(self):
        for text, why in (("{}", "'bad.txt' is not a file of schedules: it does not start with 'relaxc schedules 1'"),
                          ("relaxc schedules 1\nsplit i 4 peeled", "a step must come after a line"),
                          ("relaxc schedules 1\nkernel a\nkernel a", "kernel 'a' has a schedule already"),
                          ("relaxc schedules 1\nkernel a\nchoose tile", "'choose' takes choices in quotes"),
                          ('relaxc schedules 1\nkernel a\nchoose "tile: 4x3"x', "'choose' takes choices in quotes")):
            with self.subTest(text):
                self.write("bad.txt", text)
                self.refuses(1, why, "relu.relax", "-o", "m.o", "--schedules", "bad.txt")
        self.refuses(1, "cannot read the schedules 'none.txt'", "relu.relax", "-o", "m.o", "--schedules", "none.txt")

    def test_schedules_of_other_targets_and_models_are_left_alone(self):
        self.write("other.txt", "relaxc schedules 1\ntarget none\nkernel nothing\n")
        done = self.compiles("relu.relax", "-o", "m.o", "--schedules", "other.txt")
        self.assertIn("note: 'other.txt' is for none, and is not used for ", done.err)
        self.write("other.txt", "relaxc schedules 1\nkernel nothing 0123\n")
        done = self.compiles("relu.relax", "-o", "m.o", "--schedules", "other.txt")
        self.assertIn("note: 1 of 1 schedules in 'other.txt' match no kernel of the model", done.err)

    def test_schedules_that_no_pass_reads(self):
        self.write("other.txt", "relaxc schedules 1\nkernel nothing 0123\n")
        for flags in (["-O0"], ["--disable-pass", "schedule_kernels"]):
            done = self.compiles("relu.relax", "-o", "m.o", "--schedules", "other.txt", *flags)
            self.assertIn("warning: 'other.txt' is not used: the pass schedule_kernels does not run", done.err)


if __name__ == "__main__":
    program.main()
