"""data_test.py RELAXC SOURCE: algebraic data and polymorphic functions of Relay: programs with the Prelude's functions
compiled by both backends, interpreted, and compared with NumPy; limits, and what is refused.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RELAXC, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
sys.path[:0] = [f"{SOURCE}/bench", f"{SOURCE}/tests/relay"]

import numpy as np
import rlx
from prelude import PRELUDE

VERSION = '#[version = "0.0.5"]\n'
F32 = np.float32


class Data(unittest.TestCase):
    programs = 0

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "model.relay"

    def relaxc(self, *command):
        return subprocess.run([RELAXC, *map(str, command)], capture_output=True, text=True, timeout=120, check=False)

    def models(self, text, *flags):
        """The program by the LLVM backend and by the C backend."""
        self.path.write_text(text)
        self.programs += 1  # a loader keeps a library that has the name of one
        library, source, of_c = (self.folder / f"{name}_{self.programs}{extension}"
                                 for name, extension in (("model", ".so"), ("of_c", ".c"), ("of_c", ".so")))
        for out in (library, source):
            done = self.relaxc(self.path, "-o", out, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run(["cc", "-std=c99", "-O1", "-Wno-psabi", "-shared", "-fPIC", f"-I{SOURCE}/runtime-lite/include", source,
                        Path(RELAXC).parents[1] / "lib/librelax_rt.a", "-o", of_c], check=True)
        return [rlx.Model(library).functions["main"], rlx.Model(of_c).functions["main"]]

    def check(self, text, inputs, *expected, flags=()):
        for model in self.models(text, *flags):
            found = model(*inputs)
            self.assertEqual(len(found), len(expected))
            for a, e in zip(found, expected):
                np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
                self.assertEqual(a.dtype, np.asarray(e).dtype)
        files = []
        for k, value in enumerate(inputs):
            files.append(self.folder / f"input_{k}.npy")
            np.save(files[-1], value)
        done = self.relaxc("run", self.path, *files, "--interpret", "-o", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        outputs = sorted((self.folder / "out").iterdir())
        self.assertEqual(len(outputs), len(expected))
        for a in expected:
            self.assertTrue(any(np.load(o).shape == np.shape(a) and np.allclose(np.load(o), a, rtol=1e-5, atol=1e-6)
                                for o in outputs))

    def refused(self, text, *messages):
        self.path.write_text(VERSION + text)
        done = self.relaxc(self.path, "-o", self.folder / "refused.c")
        self.assertEqual(done.returncode, 1, done.stderr)
        for message in messages:
            self.assertIn(message, done.stderr)

    def test_a_list_of_scalars(self):
        self.check(VERSION + """
type Numbers { More(float32, Numbers), End, }
def @build(%n: int64, %rest: Numbers) -> Numbers {
  if (greater(%n, 0i64)) { @build(subtract(%n, 1i64), More(cast(%n, dtype="float32"), %rest)) } else { %rest }
}
def @total(%l: Numbers) -> float32 { match (%l) { More(%x, %rest) => add(%x, @total(%rest)), End => 0f, } }
def @main(%n: int64) -> float32 { @total(@build(%n, End)) }
""", [np.array(100)], F32(5050))

    LIST = PRELUDE + """
def @list(%x: Tensor[(5), float32], %n: int64, %rest: List[float32]) -> List[float32] {
  if (equal(%n, 0i64)) { %rest } else {
    let %m = subtract(%n, 1i64);
    @list(%x, %m, Cons(take(%x, %m), %rest))
  }
}
def @array(%xs: List[float32]) -> Tensor[(5), float32] {
  let %put = fn (%acc: (Tensor[(5), float32], int64), %v: float32) -> (Tensor[(5), float32], int64) {
    (where(equal(arange(0i64, 5i64, 1i64, dtype="int64"), %acc.1), %v, %acc.0), add(%acc.1, 1i64))
  };
  let %all = @foldl(%put, (zeros(shape=[5], dtype="float32"), 0i64), %xs);
  %all.0
}
"""
    x = np.array([3, -1, 4, 1.5, -9], F32)

    def of_list(self, body, *expected, inputs=None):
        self.check(VERSION + self.LIST + "def @main(%x: Tensor[(5), float32]) {\n  let %l = @list(%x, 5i64, Nil);\n" +
                   body + "\n}\n", inputs or [self.x], *expected)

    def test_reversal_map_and_filter(self):
        self.of_list("""
  let %double = fn (%a: float32) -> float32 { multiply(%a, 2f) };
  let %positive = fn (%a: float32) -> bool { greater(%a, 0f) };
  (@array(@rev(%l)), @array(@map(%double, %l)), @array(@filter(%positive, %l)))""",
                     self.x[::-1], self.x * 2, np.array([3, 4, 1.5, 0, 0], F32))

    def test_parts_of_lists(self):
        self.of_list("(@nth(%l, 3), @hd(@tl(%l)), @length(%l), @array(@update(%l, 1, 7f)))",
                     F32(1.5), F32(-1), np.int32(5), np.array([3, 7, 4, 1.5, -9], F32))

    def test_constructors_and_operators_are_functions(self):
        self.of_list("""
  let %swapped = fn (%rest: List[float32], %a: float32) -> List[float32] { Cons(%a, %rest) };
  (@array(@foldr(Cons, Nil, %l)), @array(@foldl(%swapped, Nil, %l)), @length(@foldr(Cons, %l, %l)),
   @array(@map(negative, %l)), @foldl(add, 0f, %l), @foldl(maximum, -100f, @map(abs, %l)))""",
                     self.x, self.x[::-1], np.int32(10), -self.x, self.x.sum(), F32(9))

    def test_functions_of_types_inside_of_functions(self):
        self.of_list("""
  let %second = fn [A, B](%a: A, %b: List[B]) -> List[B] { @tl(%b) };
  let %same = fn [A](%a: A) -> A { %a };
  (@array(%second(%x, %l)), %same(%x), @length(@map(fn [C](%c: C) { (%c, %x) }, %l)))""",
                     np.array([-1, 4, 1.5, -9, 0], F32), self.x, np.int32(5))

    def test_a_function_of_types_in_a_text_without_data(self):
        self.check(VERSION + "def @main(%x: Tensor[(5), float32]) { let %f = fn [A](%a: A) -> A { %a }; add(%f(%x), %x) }",
                   [self.x], 2 * self.x)

    def test_operators_that_are_no_functions(self):
        self.refused(self.LIST + "def @main(%x: Tensor[(5), float32]) { let %f = negative; %x }",
                     "the operator 'negative' is a value only where a function of known types is needed")
        self.refused(self.LIST + "def @main(%x: Tensor[(5), float32]) { @length(@map(negatve, @list(%x, 5i64, Nil))) }",
                     "negatve")

    def test_folds_from_the_right(self):
        self.of_list("""
  let %minus = fn (%a: float32, %b: float32) -> float32 { subtract(%a, %b) };
  (@foldr(%minus, 1f, %l), @foldr1(%minus, %l), @length(@concat(%l, %l)))""",
                     F32(3 - (-1 - (4 - (1.5 - (-9 - 1))))), F32(3 - (-1 - (4 - (1.5 + 9)))), np.int32(10))

    def test_lists_of_pairs(self):
        self.of_list("""
  let %pairs = @zip(%l, @tl(%l));
  let %parts = @unzip(%pairs);
  (@array(%parts.0), @array(%parts.1), @length(%pairs))""",
                     np.array([3, -1, 4, 1.5, 0], F32), np.array([-1, 4, 1.5, -9, 0], F32), np.int32(4))

    def test_options_end_an_unfolding(self):
        self.of_list("""
  let %step = fn (%s: float32) -> Option[(float32, float32)] {
    if (greater(%s, 20f)) { None } else { Some((multiply(%s, 2f), %s)) }
  };
  @array(@unfoldr(%step, take(%x, 3i64)))""", np.array([1.5, 3, 6, 12, 0], F32))

    def test_trees(self):
        self.check(VERSION + PRELUDE + """
def @top(%t: Tree[Tensor[(3), float32]]) -> Tensor[(3), float32] {
  match (%t) {
    Rose(%a, Nil) => %a,
    Rose(%a, Cons(Rose(%b, _), Nil)) => add(%a, %b),
    Rose(%a, Cons(_, Cons(Rose(%b, _), _))) => subtract(%a, %b),
  }
}
def @main(%x: Tensor[(3), float32]) {
  let %leaf = Rose(%x, Nil);
  let %one = Rose(multiply(%x, 2f), Cons(%leaf, Nil));
  let %two = Rose(multiply(%x, 5f), Cons(%one, Cons(%one, Nil)));
  let %e = @tmap(fn (%a: Tensor[(3), float32]) -> Tensor[(3), float32] { negative(%a) }, %two);
  (@top(%leaf), @top(%one), @top(%e), @size(%two))
}
""", [self.x[:3]], self.x[:3], self.x[:3] * 3, self.x[:3] * -3, np.int32(5))

    def test_a_layer_over_a_list_of_tensors(self):
        rng = np.random.default_rng(0)
        x, w = rng.normal(0, 1, (4, 2, 8)).astype(F32), rng.normal(0, 1, (8, 8)).astype(F32)
        self.check(VERSION + PRELUDE + """
def @main(%x: Tensor[(4, 2, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(2, 8), float32] {
  %0 = split(%x, indices_or_sections=4);
  %1 = squeeze(%0.0, axis=[0]);
  %2 = squeeze(%0.1, axis=[0]);
  %3 = squeeze(%0.2, axis=[0]);
  %4 = squeeze(%0.3, axis=[0]);
  let %l = Cons(%1, Cons(%2, Cons(%3, Cons(%4, Nil))));
  let %layer = fn (%a: Tensor[(2, 8), float32]) -> Tensor[(2, 8), float32] { nn.relu(nn.dense(%a, %w)) };
  let %sum = fn (%a: Tensor[(2, 8), float32], %b: Tensor[(2, 8), float32]) -> Tensor[(2, 8), float32] { add(%a, %b) };
  @foldl(%sum, zeros(shape=[2, 8], dtype="float32"), @map(%layer, %l))
}
""", [x, w], np.maximum(x @ w.T, 0).sum(0))

    def test_a_tree_lstm(self):
        rng = np.random.default_rng(1)
        d = 6
        x = rng.normal(0, 1, (3, 1, d)).astype(F32)
        w, u, b = rng.normal(0, 0.5, (4 * d, d)).astype(F32), rng.normal(0, 0.5, (4 * d, d)).astype(F32), rng.normal(0, 1, 4 * d).astype(F32)

        def sigmoid(v):
            return 1 / (1 + np.exp(-v))

        def cell(v, children):
            h = sum((c[0] for c in children), np.zeros((1, d), F32))
            c = sum((c[1] for c in children), np.zeros((1, d), F32))
            i, f, o, g = np.split(v @ w.T + h @ u.T + b, 4, 1)
            c = sigmoid(i) * np.tanh(g) + sigmoid(f) * c
            return sigmoid(o) * np.tanh(c), c

        leaves = [cell(x[0], []), cell(x[1], [])]
        expected = cell(x[2], [*leaves, cell(x[0], leaves[:1])])
        row = "Tensor[(1, 6), float32]"
        self.check(VERSION + PRELUDE + f"""
def @lstm(%t: Tree[{row}], %w: Tensor[(24, 6), float32], %u: Tensor[(24, 6), float32], %b: Tensor[(24), float32]) -> ({row}, {row}) {{
  match (%t) {{
    Rose(%v, %children) => {{
      let %states = @map(fn (%c: Tree[{row}]) -> ({row}, {row}) {{ @lstm(%c, %w, %u, %b) }}, %children);
      let %add = fn (%a: ({row}, {row}), %s: ({row}, {row})) -> ({row}, {row}) {{ (add(%a.0, %s.0), add(%a.1, %s.1)) }};
      let %zero = zeros(shape=[1, 6], dtype="float32");
      let %all = @foldl(%add, (%zero, %zero), %states);
      %0 = nn.bias_add(add(nn.dense(%v, %w), nn.dense(%all.0, %u)), %b);
      %1 = split(%0, indices_or_sections=4, axis=1);
      let %c = add(multiply(sigmoid(%1.0), tanh(%1.3)), multiply(sigmoid(%1.1), %all.1));
      (multiply(sigmoid(%1.2), tanh(%c)), %c)
    }},
  }}
}}
def @main(%x: Tensor[(3, 1, 6), float32], %w: Tensor[(24, 6), float32], %u: Tensor[(24, 6), float32], %b: Tensor[(24), float32]) {{
  %0 = split(%x, indices_or_sections=3);
  let %a = Rose(squeeze(%0.0, axis=[0]), Nil);
  let %b1 = Rose(squeeze(%0.1, axis=[0]), Nil);
  let %c = Rose(squeeze(%0.0, axis=[0]), Cons(%a, Nil));
  @lstm(Rose(squeeze(%0.2, axis=[0]), Cons(%a, Cons(%b1, Cons(%c, Nil)))), %w, %u, %b)
}}
""", [x, w, u, b], *expected)

    STACK = """
type List[A] { Cons(A, List[A]), Nil, }
type Op { Push(int64), Plus, Times, Swap, Drop, }
def @step(%op: Op, %s: List[int64]) -> List[int64] {
  match? (%op, %s) {
    (Push(%v), _) => Cons(%v, %s),
    (Plus, Cons(%a, Cons(%b, %rest))) => Cons(add(%a, %b), %rest),
    (Times, Cons(%a, Cons(%b, %rest))) => Cons(multiply(%a, %b), %rest),
    (Swap, Cons(%a, Cons(%b, %rest))) => Cons(%b, Cons(%a, %rest)),
    (Drop, Cons(_, %rest)) => %rest,
  }
}
def @run(%program: List[Op], %s: List[int64]) -> List[int64] {
  match (%program) { Cons(%op, %rest) => @run(%rest, @step(%op, %s)), Nil => %s, }
}
def @main(%a: int64, %b: int64) -> int64 {
  match? (@run(PROGRAM, Nil)) { Cons(%x, Nil) => %x, }
}
"""

    def test_a_stack_machine(self):
        program = "Cons(Push(%a), Cons(Push(%b), Cons(Push(10i64), Cons(Swap, Cons(Drop, Cons(Times, Cons(Push(%b), Cons(Plus, Nil))))))))"
        self.check(VERSION + self.STACK.replace("PROGRAM", program), [np.array(7), np.array(3)], np.int64(73))

    def test_values_that_no_clause_fits_end_the_run(self):
        for model in self.models(VERSION + self.STACK.replace("PROGRAM", "Cons(Push(%a), Cons(Plus, Nil))")):
            with self.assertRaisesRegex(Exception, "the number of clauses that fit is 0, must be 1"):
                model(np.array(1), np.array(2))

    def test_long_lists_take_neither_stack_nor_frames(self):
        text = VERSION + PRELUDE + """
def @upto(%n: int64, %l: List[float32]) -> List[float32] {
  if (less(%n, 1i64)) { %l } else { @upto(subtract(%n, 1i64), Cons(cast(%n, dtype="float32"), %l)) }
}
def @main(%n: int64) -> float32 {
  @foldl(fn (%a: float32, %b: float32) -> float32 { maximum(%a, %b) }, 0f, @rev(@upto(%n, Nil)))
}
"""
        for model in self.models(text, "--max-recursion=1"):
            self.assertEqual(model(np.array(40000))[0], 40000)

    def test_more_nodes_than_the_limit_end_the_run(self):
        text = VERSION + """
type List[A] { Cons(A, List[A]), Nil, }
def @upto(%n: int64, %l: List[int64]) -> List[int64] {
  if (less(%n, 1i64)) { %l } else { @upto(subtract(%n, 1i64), Cons(%n, %l)) }
}
def @main(%n: int64) -> int64 { match (@upto(%n, Nil)) { Cons(%x, _) => %x, Nil => 0i64, } }
"""
        for model in self.models(text, "--max-data-nodes=20"):
            self.assertEqual(model(np.array(20))[0], 1)
            with self.assertRaisesRegex(Exception, "21 nodes of data, where --max-data-nodes is 20"):
                model(np.array(21))
        for model in self.models(text):
            self.assertEqual(model(np.array(100000))[0], 1)
            with self.assertRaisesRegex(Exception, "NODE_LIMIT"):
                model(np.array(100001))

    LISTS = "type List[A] { Cons(A, List[A]), Nil, }\n"

    def test_wrong_definitions(self):
        self.refused("type T { A, A, }\ndef @main() { 1f }", "2:13: error: two constructors are named 'A'")
        self.refused("type T { A, }\ntype T { B, }\ndef @main() { 1f }", "two types are named 'T'")
        self.refused("type T { A(U), }\ndef @main(%x: float32) { match (A(%x)) { A(%y) => %y, } }", "there is no type 'U'")
        self.refused(self.LISTS + "def @main() { let %x: List[float32, float32] = Nil; 1f }", "'List' takes 1 types, found 2")

    def test_wrong_patterns(self):
        def of(clauses):
            return self.LISTS + "def @main(%x: float32) -> float32 {\n  match (Cons(%x, Nil)) { " + clauses + " }\n}"
        self.refused(of("Cons(%y, _) => %y"), "4:3: error: no clause fits 'Nil'; 'match?' ends the run there")
        self.refused(of("Cons(_, Nil) => 1f, Nil => 2f"), "no clause fits 'Cons'")
        self.refused(of("Kons(%y, _) => %y, Nil => 1f"), "no type has a constructor 'Kons'")
        self.refused(of("Cons(%y) => %y, Nil => 1f"), "'Cons' has 2 fields, its pattern 1")
        self.refused(of("(%a, %b) => %a"), "a pattern of 2 parts for List[Tensor[(), float32]]")
        self.refused(of("Cons(Nil, _) => 1f, _ => 2f"), "'Nil' makes values of List, found Tensor[(), float32]")
        self.refused(of("Cons(%y, _) => %y, Nil => Nil"), "a clause gives")
        self.refused(of("Cons(%y, _) %y"), "expected '=>' behind a pattern")
        self.refused(of("Cons(%y, _) => %y %y, Nil => 1f"), "expected ',' behind a clause")

    def test_wrong_values(self):
        self.refused(self.LISTS + "def @main(%x: float32) { match (Cons(%x)) { _ => 1f } }", "'Cons' has 2 fields, found 1")
        self.refused(self.LISTS + "def @main(%x: float32) { match (Cons(%x, %x)) { _ => 1f } }", "field 1 of 'Cons' is List[Tensor[(), float32]], found Tensor[(), float32]")
        self.refused(self.LISTS + "def @main(%x: List[float32]) { 1f }", "'@main' takes or gives List[Tensor[(), float32]]; inputs and outputs of a program are tensors")
        self.refused(self.LISTS + "def @main(%x: float32) -> List[float32] { Cons(%x, Nil) }", "inputs and outputs of a program are tensors")
        self.refused(self.LISTS + "def @main(%x: Tensor[(?), float32]) { match? (Cons(%x, Nil)) { Cons(%y, _) => %y } }", "fields of data need fixed dims, found Tensor[(?), float32]")
        self.refused(self.LISTS + "def @f[A](%l: List[A]) -> int64 { 1i64 }\ndef @main(%x: float32) { @f(%x) }", "argument 0 is Tensor[(), float32], where List[_] is needed")

    def test_recursion_that_needs_more_and_more_types(self):
        self.refused(self.LISTS + "def @f[A](%x: A, %n: int64) -> int64 { if (less(%n, 0i64)) { %n } else { @f((%x, %x), subtract(%n, 1i64)) } }\n"
                     "def @main(%n: int64) -> int64 { @f(1f, %n) }", "calls of '@f' need more and more types for 'A', without an end")
        self.refused(self.LISTS + "def @f[A](%x: A, %n: int64) -> int64 { if (less(%n, 0i64)) { %n } else { @f(Cons(%x, Nil), %n) } }\n"
                     "def @main(%n: int64) -> int64 { @f(1f, %n) }", "without an end")


if __name__ == "__main__":
    unittest.main()
