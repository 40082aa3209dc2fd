"""Files of other tools, which people try first: each is named, with the way to get a model out of it. Models and text
are recognized whatever they are called.

Usage: foreign_test.py RELAXC RUNTIME [unittest's own]"""

import io
import json
import pickle
import struct
import unittest
import zipfile

import program
import wire
from program import ProgramTest


def archive(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name in names:
            made.writestr(name, b"x" * 100)
    return buffer.getvalue()


def safetensors():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(4)


EXPORT = 'torch.onnx.export(model, (example_input,), "model.onnx", dynamo=True)'
FILES = (
    ("net.pt", archive("net/data.pkl", "net/version", "net/data/0"), "a PyTorch file", EXPORT),
    ("script.pt", archive("s/data.pkl", "s/code/__torch__.py", "s/constants.pkl"), "a TorchScript archive", EXPORT),
    ("net.pt2", archive("archive_format", "models/model.json"), "a torch.export program", "torch.export.load(path)"),
    ("old.pth", pickle.dumps({"weight": [1.0]}, protocol=2), "a pickle", EXPORT),
    ("net.keras", archive("metadata.json", "config.json", "model.weights.h5"), "a Keras archive", 'format="onnx"'),
    ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file", 'format="onnx"'),
    ("net.gguf", b"GGUF\x03\0\0\0" + bytes(100), "a GGUF file", "export the model that it was made from as ONNX"),
    ("x.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}", "a NumPy array", "relaxc run"),
    ("x.npz", archive("a.npy"), "an archive of arrays", "--params"),
    ("w.safetensors", safetensors(), "a file of weights", "--params"),
    ("net.engine", b"ftrt" + bytes(100), "a TensorRT engine", "compile the ONNX model that it was made from"),
    ("net.plan", b"\x01\x02" + bytes(100), "a TensorRT engine", "compile the ONNX model that it was made from"),
    ("net.ort", bytes(4) + b"ORTM" + bytes(100), "ONNX Runtime's own format", "compile the ONNX model"),
    ("net.pb", b"\x0a\x10" + bytes(100), "a TensorFlow graph", "tf2onnx"),
    ("net.xml", b"<?xml version='1.0'?><net/>", "as OpenVINO writes", "compile the ONNX model"),
    ("net.bin", bytes(range(256)), "neither text nor a model", "give an ONNX model (.onnx)"),
    ("net.onnx", archive("net/data.pkl"), "a PyTorch file", EXPORT),
    ("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer", "git lfs pull"),
    ("page.onnx", b"<!DOCTYPE html><html>404</html>", "a web page", "download the file itself"),
    ("net.onnx.zip", archive("net.onnx"), "a zip archive with an ONNX model", "unpack it"),
    ("model.relax", archive("net/data.pkl"), "a PyTorch file", EXPORT),
    ("net.py", b"import os\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n",
     "a Python program that uses PyTorch", EXPORT),
    ("train.py", b'"""Trains."""\nfrom tensorflow import keras\n', "a Python program that uses TensorFlow", "tf2onnx"),
    ("config.json", b'{\n  "architectures": ["Bert"]\n}\n', "JSON, not a model", "give an ONNX model (.onnx)"),
    ("web.json", b'{"format": "graph-model", "modelTopology": {}}', "a model of TensorFlow.js", "compile the model that"),
    ("saved.json", b'{"root_index": 0, "nodes": [], "metadata": {"tvm_version": "0.27.0"}}', "a module that TVM saved",
     "script(show_meta=True)"),
    ("net.mlir", b"module {\n  func.func @main(%arg0: tensor<4xf32>) {\n  }\n}\n", "a program in MLIR", "compile the ONNX"),
    ("net.prototxt", b'name: "LeNet"\nlayer {\n  name: "data"\n}\n', "a network of Caffe", "convert it to ONNX"),
    ("main.c", b"// ours\n#include <stdio.h>\nint main(void) { return 0; }\n", "source code in C", "give an ONNX model"),
    ("graph.pb", b"\x08\x01\x12\x9e\x07\x0a\x05serve", "a TensorFlow graph", "tf2onnx"),
    ("net.wasm", b"\0asm\x01\0\0\0", "compiled code already (WebAssembly)", "give the model that it was compiled from"),
    ("libnet.a", b"!<arch>\nnet.o/          0           0     0     644     0         `\n", "a library of compiled code",
     "give the model that it was compiled from"),
)


class Foreign(ProgramTest):
    def test_each_kind_is_named_with_the_way_to_onnx(self):
        for name, content, what, way in FILES:
            with self.subTest(name):
                self.write(name, content)
                done = self.refuses(1, f"relaxc: error: '{name}' is ", name, "-o", "m.o")
                self.assertIn(what, done.err)
                self.assertIn(way, done.err)
                self.assertEqual(done.err.count("error"), 1, done.err)

    def test_a_folder_of_tensorflow(self):
        self.write("saved/saved_model.pb", b"\x08\x01")
        self.refuses(1, "'saved' is a TensorFlow SavedModel; convert it with the package tf2onnx", "saved", "-o", "m.o")

    def test_json_has_reason_and_remedy_separately(self):
        self.write("net.pt", archive("net/data.pkl"))
        found, = json.loads(self.relaxc("--check=json", "net.pt").out)["diagnostics"]
        self.assertEqual(found["reason"], "'net.pt' is a PyTorch file (torch.save)")
        self.assertIn("torch.onnx.export", found["remedy"])

    def test_an_onnx_model_is_read_whatever_it_is_called(self):
        self.compiles("relu.onnx", "-o", "m.o")
        expected = (self.path / "m.o").read_bytes()
        for name in ("relu.bin", "relu.pt", "relu", "relu.pb"):
            with self.subTest(name):
                self.write(name, wire.relu())
                self.compiles(name, "-o", "m.o")
                self.assertEqual((self.path / "m.o").read_bytes(), expected)
        self.write("other.bin", wire.relu((4,)))
        self.compiles("relu.bin", "other.bin", "-o", "both.o")

    def test_text_is_not_taken_for_one(self):
        for name in ("relu.txt", "relu.py"):
            self.write(name, program.TEXT)
            self.compiles(name, "-o", "m.o")
        for content in (b"\x08", b"\x08\x08", b"\x08\x08\x3a", b"\x08 not a model\n"):
            self.write("odd.txt", content)
            self.assertNotIn("internal", self.refuses(1, "error", "odd.txt", "-o", "m.o").err)


if __name__ == "__main__":
    program.main()
