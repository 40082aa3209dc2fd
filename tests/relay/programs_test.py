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
import onnxruntime
import rlx
from onnx import TensorProto, helper, numpy_helper

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

    def test_references_in_a_function(self):
        text = VERSION + """
def @main(%x: Tensor[(2, 3), float32], %c: bool) {
  let %r: ref(Tensor[(2, 3), float32]) = ref(%x);
  let %same = %r;
  let %before = ref_read(%r);
  let %_ = ref_write(%same, add(ref_read(%r), 1f));
  %0 = ref(2f);
  let %y = if (%c) {
    let %_1 = ref_write(%r, multiply(ref_read(%r), ref_read(%0)));
    let %own = ref(%before);
    let %_2 = ref_write(%own, negative(ref_read(%own)));
    ref_read(%own)
  } else {
    let %_3 = ref_write(%0, 5f);
    ref_read(%r)
  };
  (%y, ref_read(%same), ref_read(%0))
}
"""
        self.check(text, [self.x, np.array(True)], -self.x, 2 * (self.x + 1), np.float32(2))
        self.check(text, [self.x, np.array(False)], self.x + 1, self.x + 1, np.float32(5))

    def test_references_and_match(self):
        text = VERSION + """
type Option[A] { Some(A), None, }
def @main(%x: Tensor[(2, 3), float32], %c: bool) {
  let %r = ref(%x);
  let %o = if (%c) { Some(%x) } else { None };
  let %y = match (%o) {
    Some(%a) => { let %_ = ref_write(%r, add(%a, 1f)); %a },
    None => ref_read(%r),
  };
  subtract(ref_read(%r), %y)
}
"""
        self.check(text, [self.x, np.array(True)], 0 * self.x + 1)
        self.check(text, [self.x, np.array(False)], 0 * self.x)

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

    def test_numbers_have_the_types_of_their_comments(self):
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), int64], %n: int) {
  %0 = add(%x, 1 /* ty=int64 */);
  %1 = add(%n, 1 /* ty=int32 */);
  (%0, %1)
}
""", [self.x.astype(np.int64), np.array(4, np.int32)], self.x.astype(np.int64) + 1, np.int32(5))

    def test_quantized_layers_are_products_of_bytes_and_run_by_rows(self):
        layer = """qnn.conv2d({}, meta[relay.Constant][{}], {}, 0, 0.02f, 0.01f, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3],
    data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")"""
        text = VERSION + f"""
def @main(%x: Tensor[(1, 64, 64, 4), uint8]) {{
  %0 = {layer.format("%x", 0, 128)};
  %1 = nn.bias_add(%0, meta[relay.Constant][2], axis=3);
  %2 = qnn.requantize(%1, 0.0002f, 0, 0.02f, 3, axis=3, out_dtype="uint8");
  %3 = {layer.format("%2", 1, 3)};
  qnn.requantize(%3, 0.0002f, 0, 0.05f, 128, axis=3, out_dtype="uint8")
}}
"""
        rng = np.random.default_rng(1)
        weights = [rng.integers(-127, 128, shape).astype(np.int8) for shape in ((3, 3, 4, 16), (3, 3, 16, 16))]
        text += metadata(*weights, rng.integers(-900, 900, 16).astype(np.int32))
        x = rng.integers(0, 256, (1, 64, 64, 4)).astype(np.uint8)
        whole = self.compiled(text)(x)[0]
        np.testing.assert_array_equal(self.compiled(text, "--ram-budget=50K")(x)[0], whole)
        done = subprocess.run([RELAXC, self.path, "--print-after=recognize_quantization", "-o", self.path.with_suffix(".c")],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr.count("R.nn.conv_integer("), 2, done.stderr)

    def test_a_network_next_to_onnx_runtime(self):
        rng = np.random.default_rng(2)
        w, v, d = (rng.normal(0, 0.3, s).astype(np.float32) for s in ((8, 3, 3, 3), (8, 8, 3, 3), (10, 8)))
        scale, shift, mean = (rng.normal(0, 1, 8).astype(np.float32) for _ in range(3))
        variance, bias = rng.uniform(0.5, 2, 8).astype(np.float32), rng.normal(0, 1, 10).astype(np.float32)
        weights = {"w": w, "scale": scale, "shift": shift, "mean": mean, "variance": variance, "v": v, "d": d, "bias": bias}
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
                 helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["b"]),
                 helper.make_node("Relu", ["b"], ["c"]), helper.make_node("Conv", ["c", "v"], ["e"], pads=[1, 1, 1, 1]),
                 helper.make_node("Add", ["e", "c"], ["f"]), helper.make_node("GlobalAveragePool", ["f"], ["g"]),
                 helper.make_node("Flatten", ["g"], ["h"]), helper.make_node("Gemm", ["h", "d", "bias"], ["i"], transB=1),
                 helper.make_node("Softmax", ["i"], ["y"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 16, 16])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])],
                                  [numpy_helper.from_array(a, name) for name, a in weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        x = rng.normal(0, 1, (2, 3, 16, 16)).astype(np.float32)
        stored = [f"meta[relay.Constant][{k}]" for k in range(len(weights))]
        self.check(VERSION + """
def @main(%x: Tensor[(?, 3, 16, 16), float32]) -> Tensor[(?, 10), float32] {
  %0 = nn.conv2d(%x, W, strides=[2, 2], padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, STATISTICS);
  %2 = %1.0;
  %3 = nn.relu(%2);
  %4 = nn.conv2d(%3, V, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %5 = add(%4, %3);
  %6 = nn.global_avg_pool2d(%5);
  %7 = nn.batch_flatten(%6);
  %8 = nn.dense(%7, D, units=10);
  %9 = nn.bias_add(%8, B, axis=-1);
  nn.softmax(%9)
}
""".replace("W", stored[0]).replace("STATISTICS", ", ".join(stored[1:5])).replace("V", stored[5]).replace("D", stored[6]).replace("B", stored[7])
                   + metadata(*weights.values()), [x], session.run(None, {"x": x})[0])

    def test_an_expression_without_a_function(self):
        self.check(VERSION + "free_var %x: Tensor[(2, 3), float32];\n%0 = exp(%x);\nadd(%0, 1f)\n", [self.x], np.exp(self.x) + 1)

    def test_data_decides_a_size(self):
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(?, 2), int32] {
  %0 = greater(%x, 2f);
  argwhere(%0) /* ty=Tensor[(?, 2), int32] */
}
""", [self.x], np.argwhere(self.x > 2).astype(np.int32))

    def test_what_is_computed_of_sizes_may_be_negative(self):
        """(2 - 5) / 2 is -1, as integers are divided, and a bound of -1 is the last row."""
        self.check(VERSION + """
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = shape_of(%x, dtype="int64");
  %1 = divide(subtract(%0, 5i64), 2i64);
  %2 = ones_like(%0);
  dyn.strided_slice(%x, %1, %0, %2)
}
""", [self.x], self.x[-1:, -1:])

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
