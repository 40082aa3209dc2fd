"""Weights beside a text program: in its metadata, in a file of --params, in a file that relaxc itself wrote.

Usage: weights_test.py RELAXC RUNTIME [unittest's own]"""

import base64
import io
import json
import struct
import unittest
import zipfile

import program
import wire
from program import ProgramTest

LINEAR = """@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")):
    R.func_attr({"num_input": 1})
    return R.matmul(x, w)
"""
CONSTANT = """@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.add(x, metadata["relax.expr.Constant"][0])
"""


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def safetensors(**tensors):
    """Of float32: a shape and bytes for each name."""
    header, data = {}, b""
    for name, (shape, content) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def npz(method=zipfile.ZIP_STORED, **tensors):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, (shape, content) in tensors.items():
            head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}\n".encode()
            file.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + content)
    return archive.getvalue()


def ndarray(shape, content):
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), 2, 32, 1)
    return base64.b64encode(head + struct.pack(f"<{len(shape)}qq", *shape, len(content)) + content).decode()


def metadata(shape, content):
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]},
             {"type_key": "Array", "data": [3]},
             {"type_key": "relax.expr.Constant", "attrs": {"data": "0", "span": "0"}}]
    text = json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": [ndarray(shape, content)]})
    return f'metadata = tvm.ir.load_json("""{text}""")\n'


def tensors_metadata(*tensors, key="ffi.Tensor"):
    """The metadata of a module whose attributes refer to tensors, as TVM prints it since its nodes have types."""
    nodes = [{"type": "None"}, {"type": "ffi.String", "data": key}]
    nodes += [{"type": key, "data": ndarray(shape, content)} for shape, content in tensors]
    nodes += [{"type": "ffi.Array", "data": list(range(2, 2 + len(tensors)))}, {"type": "ffi.Map", "data": [1, 2 + len(tensors)]}]
    text = json.dumps({"root_index": len(nodes) - 1, "nodes": nodes, "metadata": {"tvm_version": "0.27.0"}})
    return f'metadata = tvm.ir.load_json("""{text}""")\n'


W = floats(1, 2, 3, 4, 5, 6)
# A module that TVM's importers make with keep_params_in_input: the values of its last parameters are an attribute.
KEPT = LINEAR.replace('"num_input": 1', '"num_input": 1, "params": [metadata["ffi.Tensor"][0]]')


class Params(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("linear.relax", LINEAR)
        self.write("constant.relax", CONSTANT)
        self.write("w.safetensors", safetensors(w=([3, 2], W)))

    def module(self, *arguments):
        return self.compiles(*arguments, "--stop-after", "infer").out

    def test_each_format_binds_a_parameter(self):
        self.write("stored.npz", npz(w=([3, 2], W)))
        self.write("deflated.npz", npz(zipfile.ZIP_DEFLATED, w=([3, 2], W)))
        for file in ("w.safetensors", "stored.npz", "deflated.npz"):
            self.assertIn("R.const([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]", self.module("linear.relax", "--params", file))

    def test_the_weights_are_part_of_the_object(self):
        self.compiles("linear.relax", "--params", "w.safetensors", "-o", "m.o", "-MD")
        header = (self.path / "m.h").read_text()
        self.assertNotIn("const void *w", header)
        self.assertIn("w.safetensors", (self.path / "m.d").read_text())
        first = (self.path / "m.o").read_bytes()
        self.write("w.safetensors", safetensors(w=([3, 2], W[::-1])))
        self.compiles("linear.relax", "--params", "w.safetensors", "-o", "m.o")
        self.assertNotEqual((self.path / "m.o").read_bytes(), first)

    def test_constants_by_number(self):
        for name in ("0", "relax.expr.Constant[0]"):
            self.write("c.safetensors", safetensors(**{name: ([3], W[:12])}))
            self.assertIn("R.const([1.0, 2.0, 3.0]", self.module("constant.relax", "--params", "c.safetensors"))

    def test_values_of_parameters_in_the_attributes(self):
        whole = "R.const([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"
        for key in ("ffi.Tensor", "ffi.NDArray", "runtime.NDArray"):
            self.write("kept.relax", tensors_metadata(([3, 2], W), key=key) + KEPT.replace("ffi.Tensor", key))
            text = self.module("kept.relax")
            self.assertIn(whole, text)
            self.assertIn('def main(x: R.Tensor(("n", 3), dtype="float32")) ->', text)
        self.write("other.safetensors", safetensors(w=([3, 2], W[::-1])))
        self.assertNotIn(whole, self.module("kept.relax", "--params", "other.safetensors"))

    def test_attributes_without_the_values_leave_inputs(self):
        self.write("kept.relax", KEPT)
        done = self.compiles("kept.relax", "--stop-after", "infer")
        self.assertIn("w: R.Tensor((3, 2)", done.out)
        self.assertIn("the text has no values for 'w' of 'main', so they stay inputs; print the module with "
                      "show_meta=True, or name a file that has them with --params", done.err)
        done = self.compiles("kept.relax", "--params", "w.safetensors", "--stop-after", "infer")
        self.assertIn('def main(x: R.Tensor(("n", 3), dtype="float32")) ->', done.out)
        self.assertNotIn("warning", done.err)

    def test_wrong_values_of_parameters(self):
        self.write("kept.relax", tensors_metadata(([3, 2], W)) + KEPT.replace('"][0]', '"][1]'))
        self.refuses(1, "kept.relax:4:45: error: there is no tensor 1; the metadata has 1 tensors", "kept.relax", "-o", "m.o")
        self.write("kept.relax", tensors_metadata(([2, 3], W)) + KEPT)
        self.refuses(1, "parameter 'w' of 'main' is R.Tensor((3, 2), dtype=\"float32\"), and the weights have [2, 3]",
                     "kept.relax", "-o", "m.o")
        self.write("kept.relax", KEPT.replace('metadata["ffi.Tensor"][0]', "7"))
        self.refuses(1, "'params' takes tensors such as metadata[\"ffi.Tensor\"][0], found", "kept.relax", "-o", "m.o")
        self.write("kept.relax", KEPT.replace('[metadata["ffi.Tensor"][0]]', '"w"'))
        self.refuses(1, "'params' is a list of at most 2 tensors, found", "kept.relax", "-o", "m.o")

    def test_several_files(self):
        self.write("two.relax", LINEAR.replace("):\n", ', b: R.Tensor((2,), "float32")):\n', 1)
                   .replace("R.matmul(x, w)", "R.add(R.matmul(x, w), b)"))
        self.write("b.npz", npz(b=([2], W[:8])))
        self.assertIn("R.const([1.0, 2.0]", self.module("two.relax", "--params", "w.safetensors", "--params", "b.npz"))
        self.refuses(1, "the weights have no 'b'", "two.relax", "--params", "w.safetensors", "-o", "m.o")
        self.refuses(1, "an earlier --params has 'w' too", "two.relax", "--params", "w.safetensors", "--params",
                     "./w.safetensors", "-o", "m.o")

    def test_what_does_not_fit(self):
        self.write("shape.safetensors", safetensors(w=([2, 3], W)))
        self.refuses(1, "R.Tensor((3, 2), dtype=\"float32\"), and the weights have [2, 3] of float32", "linear.relax",
                     "--params", "shape.safetensors", "-o", "m.o")
        self.write("name.safetensors", safetensors(w=([3, 2], W), ww=([1], W[:4])))
        self.refuses(1, "the weights have 'ww', which is neither a parameter nor a constant", "linear.relax", "--params",
                     "name.safetensors", "-o", "m.o")
        self.write("shape.safetensors", safetensors(**{"0": ([2], W[:8])}))
        self.refuses(1, "cannot broadcast 3 with 2", "constant.relax", "--params", "shape.safetensors", "-o", "m.o")
        self.refuses(1, "constant 0 is not in the text", "constant.relax", "-o", "m.o")

    def test_invalid_files(self):
        self.refuses(1, "No such file", "linear.relax", "--params", "none.npz", "-o", "m.o")
        self.refuses(1, ".npz and .safetensors", "linear.relax", "--params", "relu.relax", "-o", "m.o")
        for name in ("bad.npz", "bad.safetensors"):
            for content in (b"", b"x" * 7, b"\xff" * 300):
                self.write(name, content)
                self.refuses(1, name + ": not a ", "linear.relax", "--params", name, "-o", "m.o")
        whole = safetensors(w=([3, 2], W))
        for length in range(0, len(whole), 7):
            self.write("bad.safetensors", whole[:length])
            self.refuses(1, "not a safetensors file", "linear.relax", "--params", "bad.safetensors", "-o", "m.o")

    def test_usage(self):
        self.refuses(2, "--params is for text programs", "relu.onnx", "--params", "w.safetensors", "-o", "m.o")
        self.write("m.npz", npz(w=([3, 2], W)))
        self.refuses(2, "cannot be both a file of --params and the output", "linear.relax", "--params", "m.npz", "-o",
                     "m.npz", "--emit", "obj")


class Metadata(ProgramTest):
    def test_a_module_that_was_printed_with_its_weights(self):
        self.write("m.relax", metadata([3], floats(1, 2, 4)) + CONSTANT)
        self.assertIn("R.const([1.0, 2.0, 4.0]", self.compiles("m.relax", "--stop-after", "infer").out)

    def test_metadata_that_is_cut(self):
        text = metadata([3], floats(1, 2, 4))
        begin, end = text.index('"""') + 3, text.rindex('"""')
        for cut in range(begin, end, 11):
            if text[cut - 1] == '"':
                continue  # would lengthen the closing quotes
            self.write("m.relax", text[:cut] + text[end:] + CONSTANT)
            self.refuses(1, "not the metadata of a module", "m.relax", "-o", "m.o")
        content = ndarray([3], floats(1, 2, 4))
        for cut in range(0, len(content), 3):
            self.write("m.relax", text.replace(content, content[:cut]) + CONSTANT)
            self.refuses(1, "not the metadata of a module: the data of constant 0 ", "m.relax", "-o", "m.o")


class Written(ProgramTest):
    def setUp(self):
        super().setUp()
        values = [i / 4 for i in range(300)]
        self.write("big.onnx", wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (300,))],
                                          [wire.value_info("y", (300,))],
                                          [wire.tensor("w", (300,), floats(*values))]))

    def test_a_model_as_text_compiles_to_the_same_code(self):
        self.compiles("big.onnx", "-o", "big.relax", "-MD")
        self.assertTrue((self.path / "big.relax").read_text().startswith(
            'metadata = relaxc.load_params("big.safetensors")\n'))
        self.assertFalse((self.path / "big.h").exists())
        self.compiles("big.relax", "-o", "m.o", "-MD")
        self.assertIn("big.safetensors", (self.path / "m.d").read_text())
        self.compiles("big.relax", "-o", "again.relax")
        self.assertEqual((self.path / "again.relax").read_text(),
                         (self.path / "big.relax").read_text().replace("big.safetensors", "again.safetensors"))
        self.assertEqual((self.path / "again.safetensors").read_bytes(), (self.path / "big.safetensors").read_bytes())

    def test_a_module_after_a_pass(self):
        self.compiles("big.onnx", "--stop-after", "legalize", "-o", "after.relax")
        self.assertIn("R.call_tir", (self.path / "after.relax").read_text())
        self.compiles("after.relax", "-o", "m.o")

    def test_a_small_module_has_no_file_beside_it(self):
        self.compiles("relu.relax", "-o", "out.relax")
        self.assertFalse((self.path / "out.safetensors").exists())
        self.compiles("out.relax", "--emit", "relax", "-o", "out.txt")
        self.assertEqual((self.path / "out.txt").read_text(), (self.path / "out.relax").read_text())

    def test_the_file_must_be_there_and_near(self):
        self.compiles("big.onnx", "-o", "big.relax")
        text = (self.path / "big.relax").read_text()
        (self.path / "big.safetensors").rename(self.path / "moved.safetensors")
        self.refuses(1, "big.relax:1:31: error: cannot open 'big.safetensors'", "big.relax", "-o", "m.o")
        self.compiles("big.relax", "--params", "moved.safetensors", "-o", "m.o")
        for path in ("/tmp/big.safetensors", "../big.safetensors", ""):
            self.write("big.relax", text.replace("big.safetensors", path))
            self.refuses(1, "relative to it, without '..'", "big.relax", "-o", "k.o")

    def test_a_file_that_is_read_is_not_written(self):
        self.compiles("big.onnx", "-o", "big.relax")
        self.write("in.relax", (self.path / "big.relax").read_text())
        self.refuses(2, "cannot be both read and the file of constants", "in.relax", "--emit", "relax", "-o", "big.txt")


if __name__ == "__main__":
    program.main()
