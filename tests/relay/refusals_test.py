"""refusals_test.py RELAXC SOURCE: texts that are not Relay, and programs that are wrong or beyond relaxc: each gives its
message at its place, and no text makes relaxc crash or hang.
"""

import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RELAXC = sys.argv.pop(1)
sys.argv.pop(1)
VERSION = '#[version = "0.0.5"]\n'


def body(text, params="%x: Tensor[(2, 3), float32]"):
    return f"{VERSION}def @main({params}) {{\n  {text}\n}}\n"


WHOLE = VERSION + """
def @main(%x: Tensor[(?, 3), float32], %c: bool) -> (Tensor[(?, 3), float32], float32) {
  %0 = add(%x, 1f) /* ty=Tensor[(?, 3), float32] */;
  let %f = fn (%p: Tensor[(?, 3), float32], Primitive=1) -> Tensor[(?, 3), float32] { tanh(%p) };
  %2 = if (%c) { %1 = (%0, %x); %1.0 } else { %f(%x) };
  (@other(%2, 0), -1.5e-3f)
}
def @other(%y: Tensor[(?, 3), float32], %i: int32) -> Tensor[(?, 3), float32] {
  if (less(%i, 5)) { @other(%y * 2f, add(%i, 1)) } else { strided_slice(%y, begin=[0], end=[1], strides=[1]) }
}
"""


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "model.relay"

    def run_relaxc(self, text, *flags):
        self.path.write_text(text)
        out = self.path.with_suffix(".c")
        out.unlink(missing_ok=True)
        return subprocess.run([RELAXC, self.path, "-o", out, *flags], capture_output=True, text=True, timeout=60)

    def refused(self, text, *messages):
        done = self.run_relaxc(text)
        self.assertEqual(done.returncode, 1, done.stderr)
        for message in messages:
            self.assertIn(message, done.stderr)
        self.assertFalse(self.path.with_suffix(".c").exists())

    def test_syntax(self):
        self.refused(body("%0 = add(%x, 1f)\n  %0"), "4:3: error: expected ';' behind a binding, found '%0'", "^~")
        self.refused(body("add(%x, 1f"), "4:1: error: expected ')' behind arguments, found '}'")
        self.refused(body("add(%x, 1q)"), "this is not a number")
        self.refused(body("add(%x, ;)"), "expected an expression, found ';'")
        self.refused(body("let x = 1f; %x"), "expected a variable such as %x, found 'x'")
        self.refused(body('add(%x, "a)'), "this string does not end")
        self.refused(body("%x /* "), "this comment does not end")
        self.refused(body("%x $"), "unexpected character")
        self.refused(VERSION + "def @main(%x: Tensor[(2), float32]) -> { %x }", "expected a type such as Tensor[(1, 4), float32]")
        self.refused(VERSION + "def @main(%x: Tensor[(2), float33]) { %x }", "'float33' is not a dtype")
        self.refused(VERSION + "def @main(%x) { %x }", "parameter '%x' needs a type")
        self.refused(body("%x", "%x: Tensor[(2), float32], %x: Tensor[(2), float32]"), "two parameters are named '%x'")
        self.refused(VERSION + "#[other]\n", "expected #[version")
        self.refused(VERSION, "no function is defined here")
        self.refused(VERSION + "def @f() { 1f }\ndef @f() { 2f }", "two functions are named '@f'")

    def test_names(self):
        self.refused(body("add(%x, %y)"), "3:11: error: the variable '%y' has no value here")
        self.refused(body("add(%x, %7)"), "the value '%7' is not defined above")
        self.refused(body("@f(%x)"), "there is no function '@f' in the text")
        self.refused(body("nn.relo(%x)"), "there is no operator 'nn.relo'", "did you mean 'nn.relu'?")
        self.refused(body("nn.softmax(%x, axes=1)"), "nn.softmax has no argument 'axes'", "did you mean 'axis'?")
        self.refused(body("nn.relu(%x, %x)"), "nn.relu takes 1 arguments at most, found 2")
        self.refused(body("add(%x)"), "add needs 'b'")
        self.refused(body("dyn.strided_slice(%x, %b, %b, %b)", "%x: Tensor[(2, 3), float32], %b: Tensor[(1000000000000), int64]"),
                     "dyn.strided_slice of 2 dims has 1000000000000 bounds")
        self.refused(body("sequence_mask(%x, 2)"), "sequence_mask takes a list of lengths")
        self.refused(body("nn.batch_to_space_nd(%x, block_shape=[0], crops=[[0, 0]])"), "blocks of 2 dims")
        self.refused(body("let %y = if (True) { let %z = %x; %z } else { %x }; %z"), "the variable '%z' has no value here")

    def test_what_is_not_supported(self):
        self.refused(body("match (%x) { Nil => 1f }"), "3:16: error: no type has a constructor 'Nil'")
        bound = "a reference can only be bound to a variable, read and written"
        self.refused(body("ref(%x)"), "3:3: error: " + bound)
        self.refused(body("let %r = ref(%x); (%r, %x)"), bound)
        self.refused(body("let %r = ref(%x); ref_read(%x)"), "this is no reference that a variable of this function stands for")
        self.refused(body("let %r = ref(%x); let %f = fn () { ref_read(%r) }; %f()"),
                     "a reference can be used only in the function that makes it")
        self.refused(body("%r", "%r: ref(float32)"), "a reference cannot be a parameter or a part of a type")
        self.refused(body("let %r = ref(%x); let %c = if (True) { %0 = ref_read(%r); %0 } else { %0 }; %c"),
                     "the value '%0' of a branch depends on a reference; bind it before")
        self.refused(VERSION + "def @main[A](%x: A) { %x }", "'@main' has parameters that are types, and nothing calls it")
        self.refused(body("meta[relay.attrs.CastAttrs][0]"), "of the metadata only relay.Constant is a value")
        self.refused(body("add(%x, meta[relay.Constant][0])"), "constant 0 is not in the text", "print the module with astext(show_meta_data=True)")
        self.refused(body("add(%x, meta[relay.Constant][3])") + '#[metadata]\n{"root": 1, "nodes": [{}, {"type_key": "Map"}]}',
                     "there is no constant 3")
        self.refused(body("%x") + "#[metadata]\n{", "not the metadata of a module")
        self.refused(body("take(%x, 0, axis=0, batch_dims=1)"), "take with batch_dims=1")
        self.refused(body("add"), "the operator 'add' is not a value; call it")

    def test_shapes_and_types(self):
        self.refused(body("add(%x, %y)", "%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]"), "3:3: error:", "broadcast")
        self.refused(body("reshape(%x, newshape=[4, 0, 0])"), "the number 0 of the new shape does not fit a tensor of 2 dims")
        self.refused(body("%x.0"), "3:3: error:")
        self.refused(body("if (%x) { %x } else { %x }"), "a condition must be a bool")

    def test_three_mistakes_are_three_messages(self):
        done = self.run_relaxc(body("%0 = nn.relo(%x);\n  %1 = reshape(%x, newshape=[7]);\n  %2 = exp(%1);\n  %3 = add(%x);\n  (%0, %2, %3)"))
        self.assertEqual(done.stderr.count("error:"), 3, done.stderr)

    def test_depth(self):
        for text in ("(" * 10000, "add(" * 10000 + "%x", "%x" + ".0" * 10000, "-" * 10000, "%x" + " + 1f" * 10000,
                     "if (True) { " * 10000, "let %y = " * 10000, "fn () { " * 10000, "exp(%x, a=" + "[" * 10000):
            done = self.run_relaxc(body(text))
            self.assertIn(done.returncode, (0, 1), text[:40])
        self.refused(VERSION + "def @main(%x: " + "(" * 10000, "nested more than 100 levels deep")

    def test_one_name_for_many_values(self):
        """Each gets another name in the tree, which must not be searched for from the first number on."""
        done = self.run_relaxc(body("let %a = %x;\n" + "let %a = exp(%a);\n" * 50_000 + "%a"), "--stop-after=infer")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_flags(self):
        done = self.run_relaxc(body("%x"), "--untrusted")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--untrusted refuses text programs", done.stderr)

    def test_every_cut_is_compiled_or_refused(self):
        self.assertEqual(self.run_relaxc(WHOLE).returncode, 0)
        for end in range(0, len(WHOLE) - 3, 41):
            self.refused(WHOLE[:end], "error:")

    def test_changed_texts_are_compiled_or_refused(self):
        rng = random.Random(5)
        pieces = list("(){}[],;=.%@/*?\"-") + ["%0", "%x", "let ", "if ", "fn ", "1f", "meta[", "def @main", "0", "Tensor["]
        for _ in range(60):
            text = list(WHOLE)
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(text))
                text[at:at + rng.randint(0, 6)] = rng.choice(pieces)
            done = self.run_relaxc("".join(text))
            self.assertIn(done.returncode, (0, 1), "".join(text) + done.stderr)


if __name__ == "__main__":
    unittest.main()
