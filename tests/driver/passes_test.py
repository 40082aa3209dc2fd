"""What can be switched and seen of passes: dumps, bisection, options, statistics.

Usage: passes_test.py RELAXC RUNTIME [unittest's own]"""

import re
import resource
import unittest
from pathlib import Path

import program
from program import ProgramTest

TWICE = """@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        a = R.exp(x)
        b = R.exp(x)
        y = R.add(a, b)
        R.output(y)
    return y
"""
FILL = """@R.function
def main() -> R.Tensor((64, 64), "float32"):
    with R.dataflow():
        y = R.add(R.full((64, 64), R.const(1.0, "float32")), R.const(1.0, "float32"))
        R.output(y)
    return y
"""


class Passes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.relax", TWICE)

    def test_a_file_for_every_pass_that_changed_something(self):
        self.compiles("m.relax", "-o", "m.o", "--dump-passes=dump")
        names = sorted(path.name for path in (self.path / "dump").iterdir())
        self.assertEqual(names[0], "00_input.relax")
        self.assertTrue(all(re.fullmatch(r"\d\d_\w+\.relax", name) for name in names), names)
        kept = [name for name in names if name.endswith("_common_subexpressions.relax")]
        self.assertEqual(len(kept), 1)
        self.assertEqual((self.path / "dump" / "00_input.relax").read_text().count("R.exp("), 2)
        self.assertEqual((self.path / "dump" / kept[0]).read_text().count("R.exp("), 1)
        self.compiles(f"dump/{kept[0]}", "-o", "again.o")  # what was dumped is a program

    def test_names_of_earlier_versions_are_taken_with_a_note(self):
        done = self.compiles("m.relax", "-o", "m.o", "--print-after=merge_kernels", "--disable-pass=fuse_siblings",
                             "--pass-option", "merge_kernels.sizes=2", "--time-passes")
        self.assertIn("the pass 'merge_kernels' is now called 'deduplicate_kernels'", done.err)
        self.assertIn("the pass 'fuse_siblings' is now called 'horizontal_fusion'", done.err)
        self.assertIn("the option 'merge_kernels.sizes' is now called 'deduplicate_kernels.sizes'", done.err)
        self.assertIn("# ---- after deduplicate_kernels", done.out + done.err)
        self.assertNotIn("ms  horizontal_fusion", done.out + done.err)
        stopped = self.compiles("m.relax", "--stop-after=adopt_casts")
        self.assertNotIn("call_tir", stopped.out)

    def test_clean_ups_are_timed_and_left_out_as_passes_are(self):
        times = self.compiles("m.relax", "-o", "m.o", "--time-passes").err
        self.assertRegex(times, r"ms  common_subexpressions\n +\d+\.\d\d ms    dead_code\n")
        self.write("product.relax", chain(4))
        flags = ("product.relax", "-o", "p.o", "--mixed-precision=float16", "--time-passes")
        self.assertRegex(self.compiles(*flags).err, r"ms  mixed_precision\n(.*ms    .*\n)+.*ms    fold_constants\n")
        times = self.compiles(*flags, "--disable-pass=fold_constants").err
        self.assertRegex(times, r"ms  mixed_precision\n.*ms    dead_code\n")
        self.assertNotRegex(times, r"ms +fold_constants\n")
        self.refuses(2, "pass 'dead_code' cannot be disabled: 'resolve_closures' is not complete without it", "m.relax",
                     "-o", "n.o", "--disable-pass=dead_code")

    def test_a_clean_up_that_is_named_is_printed_after_other_passes(self):
        printed = self.compiles("m.relax", "--check", "--print-after=dead_code").err
        self.assertGreater(printed.count("# ---- after dead_code"), 1)
        everything = self.compiles("m.relax", "--check", "--print-after=all").err
        self.assertEqual(everything.count("# ---- after dead_code"), 1)

    def test_a_folder_that_cannot_be_made(self):
        self.write("file", "")
        self.refuses(1, "cannot write", "m.relax", "-o", "m.o", "--dump-passes=file/below")

    def test_bisection_stops_after_n_passes(self):
        lines = self.compiles("m.relax", "-o", "m.o", "--opt-bisect-limit=0", "--dim", "n=1..8").err.splitlines()
        self.assertGreater(len(lines), 5)
        self.assertTrue(all(line.startswith("bisect: leaving out pass ") for line in lines), lines)
        numbered = {line.split()[-1]: int(line.split()[-2]) for line in lines}
        self.assertNotIn("legalize", numbered)
        at = numbered["common_subexpressions"]
        for limit, times in ((at - 1, 2), (at, 1)):
            done = self.compiles("m.relax", "--stop-after=common_subexpressions", f"--opt-bisect-limit={limit}")
            self.assertEqual(done.out.count("R.exp("), times)
        self.refuses(2, "--opt-bisect-limit", "m.relax", "-o", "n.o", "--opt-bisect-limit=-1")

    def test_options_of_passes(self):
        self.write("fill.relax", FILL)
        folded = self.compiles("fill.relax", "--stop-after=fold_constants")
        self.assertNotIn("R.add(", folded.out)
        kept = self.compiles("fill.relax", "--stop-after=fold_constants", "--pass-option", "fold_constants.budget=100")
        self.assertIn("R.add(", kept.out)
        self.refuses(2, "the options are: quantized_io.on, fold_constants.budget", "m.relax", "-o", "m.o", "--pass-option", "a.b=1")
        for bad in ("fuse_ops.members=0", "fuse_ops.members=x", "fuse_ops.members"):
            self.refuses(2, "takes a number of at least 1", "m.relax", "-o", "m.o", "--pass-option", bad)

    def test_text_for_tvm_has_its_types_of_scalars_and_loops_that_are_functions(self):
        body = """@R.function
def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int32")):
    p: R.Prim(value=n) = R.prim_value(n)
    y = R.reshape(x, R.shape([p, 1]))
    return y, p
"""
        self.write("scalar.relax", body)
        self.compiles("scalar.relax", "-o", "tvm.relax", "--dialect=tvm")
        text = (self.path / "tvm.relax").read_text()
        self.assertIn('R.Prim("int64")', text)
        self.assertNotIn("R.Prim(value", text)
        self.write("powers.relax", """@T.prim_func
def powers(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.exp_nonpositive(x[i]) + T.expm1(x[i])
""")
        self.compiles("powers.relax", "-o", "tvm.relax", "--dialect=tvm")
        text = (self.path / "tvm.relax").read_text()
        self.assertIn("T.exp(x[i]) + (T.exp(x[i]) - T.float32(1", text)
        self.write("loop.relax", """@R.function
def main(trips: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")):
    with R.loop(trips, carried=(x,)) as (i, a):
        last = R.carry(R.exp(a))
    return last
""")
        self.compiles("loop.relax", "-o", "tvm.relax", "--dialect=tvm")
        text = (self.path / "tvm.relax").read_text()
        self.assertIn('def main_loop(sizes: R.Shape(["i", "trips"]), a: R.Tensor((4,), dtype="float32"))', text)
        self.assertEqual(text.count("cls.main_loop(R.shape") + text.count("cls.main_loop(lv"), 2)  # from main and from itself
        self.assertNotIn("R.loop", text)

    def test_statistics_name_every_pass(self):
        table = self.compiles("m.relax", "-o", "m.o", "--pass-statistics").err
        self.assertRegex(table, r"\d+ +\d+ +\d+  common_subexpressions\n")
        self.assertRegex(table, r"\d+ +\d+ +\d+  tail_call_to_loop \(nothing changed\)\n")


def chain(length):
    """Matmuls, activations and residual sums, one after the other."""
    kinds = ("R.matmul({0}, w)", "R.nn.relu({0})", "R.add({0}, x)", "R.tanh({0})")
    lines = [f"        v{i + 1} = {kinds[i % 4].format(f'v{i}' if i else 'x')}" for i in range(length)]
    return graph(lines, f"v{length}")


def fan(width):
    """Branches side by side that meet in one concatenation."""
    lines = [f'        v{i} = R.matmul(R.multiply(x, R.const({i}.5, "float32")), w)' for i in range(width)]
    lines.append(f"        y = R.concat(({', '.join(f'v{i}' for i in range(width))}), axis=1)")
    return graph(lines, "y")


def graph(lines, result):
    return "\n".join(['@R.function', 'def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32")):',
                      '    n = T.int64()', '    with R.dataflow():', *lines, f'        R.output({result})',
                      f'    return {result}', ''])


def room_for_sanitizers():
    """A larger stack where relaxc is built with sanitizers: frames take several times as much there."""
    if b"__asan_init" in Path(program.RELAXC).read_bytes():
        resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))


class Large(ProgramTest):
    """Graphs of thousands of nodes. That their cost is linear is tests/unit/pipeline/cost_test.cpp's, which counts."""

    def kernels(self, name, text):
        self.write(name, text)
        return self.compiles(name, "--stop-after=plan_memory", preexec=room_for_sanitizers).out.count("@T.prim_func")

    def test_a_chain_of_ten_thousand_operators_is_a_few_kernels(self):
        count = 1000 if program.SAMPLED else 10000
        self.assertLessEqual(self.kernels("long.relax", chain(count)), 12)  # a quarter of them calls, of few different ones

    def test_a_thousand_branches_compile(self):
        count = 100 if program.SAMPLED else 1000
        self.assertLessEqual(self.kernels("wide.relax", fan(count)), count + 10)


if __name__ == "__main__":
    program.main()
