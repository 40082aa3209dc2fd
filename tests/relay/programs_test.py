"""programs_test.py RELAXC SOURCE: programs of Relay as TVM prints them: graphs, lets, branches, loops, functions as
values, constants in the metadata, compiled and compared with NumPy.
"""

import base64
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RELAXC, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
sys.path[:0] = [f"{SOURCE}/bench"]

import numpy as np
import rlx

VERSION = '#[version = "0.0.5"]\n'


def metadata(*arrays):
    """The metadata of constants: a list of nodes that refer to each other, and the tensors in base64."""
    codes = {"i": 0, "u": 1, "f": 2}
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
             {"type_key": "Array", "data": list(range(3, 3 + len(arrays)))}]
    nodes += [{"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": str(i), "span": "0"}} for i in range(len(arrays))]
    tensors = []
    for a in arrays:
        head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, a.ndim, codes[a.dtype.kind], a.itemsize * 8, 1)
        data = head + struct.pack(f"<{a.ndim}q", *a.shape) + struct.pack("<q", a.nbytes) + a.tobytes()
        tensors.append(base64.b64encode(data).decode())
    return "\n#[metadata]\n" + json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": tensors, "attrs": {"tvm_version": "0.13.0"}})


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "model.relay"

    def compiled(self, text, *flags):
        self.path.write_text(text)
        library = self.path.with_suffix(".so")
        done = subprocess.run([RELAXC, self.path, "-o", library, *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rlx.Model(library).functions["main"]

    def check(self, text, inputs, *expected, flags=()):
        found = self.compiled(text, *flags)(*inputs)
        self.assertEqual(len(found), len(expected))
        for a, e in zip(found, expected):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
            self.assertEqual(a.dtype, np.asarray(e).dtype)

    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_graph_form_with_types_in_comments(self):
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] span=from_string:2:11 */) -> Tensor[(2, 3), float32] {
  %0 = add(%x, 1f /* ty=float32 */) /* ty=Tensor[(2, 3), float32] */;
  %1 = (%0, %x) /* /* nested */ ty=(Tensor[(2, 3), float32], Tensor[(2, 3), float32]) */;
  %2 = %1.0;  // the first
  multiply(%2, %1.1) /* ty=Tensor[(2, 3), float32] */
}
""", [self.x], (self.x + 1) * self.x)

    def test_names_with_dots(self):
        self.check(VERSION + """
def @main(%input.1: Tensor[(?, 3), float32], %x/y: (Tensor[(3), float32], Tensor[(3), float32])) {
  let %t.0 = (%input.1, %x/y.1);
  add(%t.0.0, %t.0.1)
}
""", [self.x, self.x[0], self.x[1]], self.x + self.x[1])

    def test_let_form_hides_names(self):
        self.check(VERSION + """
def @main(%x: Tensor[(?, ?), float32], %R: bool) {
  let %y: Tensor[(2, 3), float32] = add(%x, 1f);
  let %y = multiply(%y, 2f);
  let %z = if (%R) { let %y = negative(%y); %y } else { let %y = exp(%y); %y };
  add(%z, %y)
}
""", [self.x, np.array(True)], 0 * self.x)

    def test_branches_share_values(self):
        text = VERSION + """
def @main(%x: Tensor[(2, 3), float32], %c: bool) -> Tensor[(2, 3), float32] {
  if (%c) {
    %0 = exp(%x);
    %1 = add(%0, 1f);
    multiply(%1, %0)
  } else {
    %2 = negative(%1);
    subtract(%2, %0)
  }
}
"""
        e = np.exp(self.x)
        self.check(text, [self.x, np.array(True)], (e + 1) * e)
        self.check(text, [self.x, np.array(False)], -(e + 1) - e)

    def test_local_functions_and_primitive_ones(self):
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(3), float32]) {
  let %f = fn (%a: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { add(%a, %w) };
  %2 = fn (%p0: Tensor[(2, 3), float32], Primitive=1, hash="7a") -> Tensor[(2, 3), float32] {
    %0 = exp(%p0);
    sqrt(%0)
  };
  %3 = %f(%x);
  %2(%3)
}
""", [self.x, self.x[0]], np.sqrt(np.exp(self.x + self.x[0])))

    def test_functions_as_values(self):
        self.check(VERSION + """
def @twice(%f: fn (Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32], %x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  %0 = %f(%x);
  %f(%0)
}
def @unused(%x: List[float32]) { match (%x) { Nil => 1, } }
def @main(%x: Tensor[(2, 3), float32]) {
  @twice(@next, %x)
}
def @next(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { %x + 1f }
type List[A] { Cons(A, List[A]), Nil, }
""", [self.x], self.x + 2)

    def test_while_loops(self):
        text = VERSION + """
def @main(%x: Tensor[(?, 3), float32], %n: int32) {
  let %while_loop = fn (%i: int32, %acc: Tensor[(?, 3), float32]) -> (int32, Tensor[(?, 3), float32]) {
    %0 = less(%i, %n);
    %1 = min(%0);
    if (%1) {
      %2 = add(%i, 1);
      %3 = multiply(%acc, 2f);
      %while_loop(%2, %3)
    } else {
      (%i, %acc)
    }
  };
  %4 = %while_loop(0, %x);
  %4.1
}
"""
        self.check(text, [self.x, np.array(3, np.int32)], self.x * 8)
        self.check(text, [self.x, np.array(0, np.int32)], self.x)

    def test_a_list_that_grows(self):
        text = VERSION + """
def @loop(%i: int64, %acc: Tensor[(?, 3), float32], %row: Tensor[(1, 3), float32], %n: int64) -> Tensor[(?, 3), float32] {
  %0 = less(%i, %n);
  if (%0) {
    %1 = (%acc, %row);
    %2 = concatenate(%1);
    @loop(add(%i, 1i64), %2, %row, %n)
  } else {
    %acc
  }
}
def @main(%x: Tensor[(1, 3), float32], %n: int64) {
  @loop(0i64, %x, %x, %n)
}
"""
        row = self.x[:1]
        self.check(text, [row, np.array(4, np.int64)], np.repeat(row, 5, 0))

    def test_recursion_that_is_no_loop(self):
        self.check(VERSION + """
def @main(%n: int64) -> int64 {
  if (less(%n, 2i64)) { %n } else {
    %0 = @main(subtract(%n, 1i64));
    %1 = @main(subtract(%n, 2i64));
    add(%0, %1)
  }
}
""", [np.array(10, np.int64)], np.int64(55))

    def test_constants_of_the_metadata(self):
        w, b = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), np.array([1, 2, 3, 4], np.int8)
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32], executor=meta[Executor][0]) {
  %0 = nn.dense(%x, meta[relay.Constant][0] /* ty=Tensor[(4, 3), float32] */, units=4);
  %1 = cast(meta[relay.Constant][1], dtype="float32");
  nn.bias_add(%0, %1)
}
""" + metadata(w, b), [self.x], self.x @ w.T + b)

    def test_an_expression_without_a_function(self):
        self.check(VERSION + "free_var %x: Tensor[(2, 3), float32];\n%0 = exp(%x);\nadd(%0, 1f)\n", [self.x], np.exp(self.x) + 1)

    def test_data_decides_a_size(self):
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(?, 2), int32] {
  %0 = greater(%x, 2f);
  argwhere(%0) /* ty=Tensor[(?, 2), int32] */
}
""", [self.x], np.argwhere(self.x > 2).astype(np.int32))

    def test_content_decides_where_the_extension_does_not(self):
        self.path = self.path.with_suffix(".txt")
        self.check(VERSION + "def @main(%x: Tensor[(2, 3), float32]) { tanh(%x) }", [self.x], np.tanh(self.x))

    def test_weights_beside_the_text(self):
        w = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
        np.savez(self.path.with_suffix(".npz"), **{"layer.0.weight": w})
        self.check(VERSION + """
def @main(%x: Tensor[(?, 3), float32], %layer.0.weight: Tensor[(4, 3), float32]) { nn.dense(%x, %layer.0.weight) }
""", [self.x], self.x @ w.T, flags=["--params", self.path.with_suffix(".npz")])

    def test_dims_are_bounded_by_name(self):
        model = self.compiled(VERSION + "def @main(%x: Tensor[(?, 3), float32]) { nn.softmax(%x) }", "--dim", "x_0=1..4")
        np.testing.assert_allclose(model(self.x)[0].sum(1), 1, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
