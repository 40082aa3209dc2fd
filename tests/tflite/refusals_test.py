"""refusals_test.py: files that are not models, and models that are wrong or beyond relaxc: each gives its message.

Usage: refusals_test.py RELAXC.
"""

import importlib
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from model import Graph, Op, T, model, schema

RELAXC = sys.argv.pop(1)


def relu(x=None, y=None):
    """The bytes of a model of one RELU."""
    x, y = x or T([2, 3], name="x"), y or T([2, 3], name="y")
    return model(Graph([x], [y], [Op("RELU", [x], [y])]))


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "model.tflite"

    def run_relaxc(self, content, *flags):
        self.path.write_bytes(content)
        out = self.path.with_suffix(".o")
        return subprocess.run([RELAXC, self.path, "-o", out, *flags], capture_output=True, text=True, check=False, timeout=120)

    def refused(self, content, *texts, flags=(), code=1):
        done = self.run_relaxc(content, *flags)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertFalse(self.path.with_suffix(".o").exists())

    def edited(self, edit):
        """The bytes of a RELU after `edit` changed its tables."""
        import flatbuffers

        root = schema.ModelT.InitFromObj(schema.Model.GetRootAs(relu(), 0))
        edit(root)
        builder = flatbuffers.Builder(1024)
        builder.Finish(root.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def test_no_models(self):
        self.refused(b"", "the file is empty")
        self.refused(b"some text", "bytes 4 to 7 are not TFL3")
        self.refused(b"abc", "is it truncated?")
        whole = relu()
        self.refused(whole[:len(whole) // 2], "not a TFLite model")
        self.refused(whole[:8] + bytes(range(256)) * 4, "not a TFLite model")

    def test_every_cut_is_refused_with_a_message(self):
        whole = relu()
        for end in range(0, len(whole) - 16, 37):
            self.refused(whole[:end], "error:")

    def test_content_decides_where_the_extension_does_not(self):
        self.path = self.path.with_suffix(".bin")
        done = self.run_relaxc(relu())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_versions(self):
        self.refused(self.edited(lambda m: setattr(m, "version", 2)), "schema version 2; 3 is supported")

    def test_indices(self):
        def at(path, value):
            def edit(m):
                graph = m.subgraphs[0]
                {"input": lambda: setattr(graph, "inputs", [value]), "output": lambda: setattr(graph, "outputs", [value]),
                 "operand": lambda: setattr(graph.operators[0], "inputs", [value]),
                 "code": lambda: setattr(graph.operators[0], "opcodeIndex", value),
                 "buffer": lambda: setattr(graph.tensors[0], "buffer", value)}[path]()
            return self.edited(edit)

        for value in (-1, -7, 99):
            self.refused(at("input", value), f"takes tensor {value}; there are 2")
            self.refused(at("output", value), f"gives tensor {value}; there are 2")
        self.refused(at("operand", 99), "reads tensor 99")
        self.refused(at("code", 99), "code 99; the model has 1")
        self.refused(at("buffer", 99), "tensor 'x' is in buffer 99; the model has 1")
        self.refused(self.edited(lambda m: setattr(m, "subgraphs", [])), "has no subgraph")

    def test_shapes_and_sizes(self):
        def shape(dims):
            return self.edited(lambda m: setattr(m.subgraphs[0].tensors[0], "shape", dims))

        self.refused(shape([2, -3]), "tensor 'x' has a dim of -3")
        self.refused(shape([2**31 - 1] * 3), "the size of tensor 'x' overflows")
        self.refused(shape([1] * 40), "40 dims")
        x, y = T([2, 3]), T([2, 3])
        c = T(data=np.zeros(6, np.float32), shape=[2, 3])
        c.shape = [2, 4]
        self.refused(model(Graph([x], [y], [Op("ADD", [x, c], [y], "AddOptions")])), "has 24 bytes; float32[2, 4] takes 32")

    def test_quantization(self):
        def quantization(**fields):
            def edit(m):
                quant = schema.QuantizationParametersT()
                for name, value in fields.items():
                    setattr(quant, name, value)
                m.subgraphs[0].tensors[0].quantization = quant
            return self.edited(edit)

        self.refused(quantization(scale=[-1.0]), "has a scale of -1")
        self.refused(quantization(scale=[float("nan")]), "has a scale of nan")
        self.refused(quantization(scale=[1.0, 1.0, 1.0], zeroPoint=[1, 2]), "3 scales and 2 zero points")
        self.refused(quantization(scale=[1.0, 1.0], quantizedDimension=7), "2 scales along axis 7")
        self.refused(quantization(scale=[1.0], zeroPoint=[2**40]), "a zero point of 1099511627776")

    def test_operators(self):
        x, y = T([2, 3], name="x"), T([2, 3], name="y")
        self.refused(model(Graph([x], [y], [Op("RFFT2D", [x], [y])])), "RFFT2D", "there is no converter", "--custom-op 'tflite::RFFT2D")
        self.refused(model(Graph([x], [y], [Op("", [x], [y], custom="Mine")])), "(custom Mine)", "'tflite::Mine=")
        self.refused(model(Graph([x], [y], [Op("ADD", [x], [y])])), "it has 1 inputs; 2 to 2 are expected")
        i = T([2, 3], "int64", name="x")
        self.refused(model(Graph([i], [y], [Op("SIN", [i], [y])])), "it is not supported for int64; float32 are")
        self.refused(relu(y=T([2, 3], "int8", name="y")), "output 'y' is declared as int8, but the operator gives")
        z = T([2, 3])
        self.refused(model(Graph([x], [y], [Op("ADD", [x, z], [y], "AddOptions")])), "is not made by an operator")
        s = T([2, 3], "int32", name="x")
        shape = T([1], "int32", name="shape")
        self.refused(model(Graph([s, shape], [T([3, 2], "int32")], [Op("SUM", [s, shape], [T([3], "int32")], "ReducerOptions")])),
                     "the axes must be a constant")

    def test_types_that_no_kernel_computes(self):
        """TFLite refuses such files, or computes another type than the file declares."""
        found = {}
        for case in (case for family in ("arithmetic", "unary", "products", "reductions", "windows", "softmaxes", "networks", "pieces")
                     for case in importlib.import_module(f"family_{family}").cases()):
            if len(case.graphs) == 1 and len(case.graphs[0].ops) == 1 and any(t is not None and t.scale is not None for t in case.graphs[0].ops[0].inputs):
                found.setdefault(case.code, case)
        for code in ("ADD", "CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "MEAN", "SUM", "SOFTMAX", "LOGISTIC",
                     "RELU", "LEAKY_RELU", "HARD_SWISH", "PRELU", "ABS", "SQRT", "ARG_MAX"):
            output = found[code].graphs[0].outputs[0]
            for dtype in ("float32", "uint32" if code == "ARG_MAX" else "int32"):
                output.dtype = dtype
                with self.subTest(code=code, dtype=dtype):
                    self.refused(found[code].model(), f"is declared as {dtype}; it must be ", flags=["--check"])

    def test_windows(self):
        def pool(**fields):
            x, y = T([1, 4, 4, 2], name="x"), T([1, 2, 2, 2], name="y")
            fields = {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2, "padding": 1} | fields
            return model(Graph([x], [y], [Op("MAX_POOL_2D", [x], [y], "Pool2DOptions", **fields)]))

        self.refused(pool(strideH=0), "with stride 0")
        self.refused(pool(filterHeight=9), "does not fit into 4")
        self.refused(pool(padding=9), "neither SAME nor VALID")
        self.refused(pool(fusedActivationFunction=77), "activation 77 is not supported")

    def test_subgraphs_that_call_themselves(self):
        c, x, y = T([], "bool"), T([2]), T([2])
        graph = Graph([c, x], [y], [Op("IF", [c, x], [y], "IfOptions", thenSubgraphIndex=0, elseSubgraphIndex=0)])
        self.refused(model(graph), "takes 2 values, found 1")
        a, b = T([], "bool"), T([], "bool")
        self.refused(model(Graph([a], [b], [Op("IF", [a, a], [b], "IfOptions", thenSubgraphIndex=0, elseSubgraphIndex=0)])), "deep")
        again = [Op("IF", [a, a], [T([], "bool")], "IfOptions", thenSubgraphIndex=0, elseSubgraphIndex=0) for _ in range(3)]
        self.refused(model(Graph([a], [again[0].outputs[0]], again)), "deep")  # each of them would call all three again
        self.refused(model(Graph([c, x], [y], [Op("IF", [c, x], [y], "IfOptions", thenSubgraphIndex=9, elseSubgraphIndex=-1)])),
                     "there is no subgraph")

    def test_subgraphs_that_call_each_other_ever_more_often(self):
        """Their operators are counted before they are converted, which would take hours."""
        a, b = T([], "bool"), T([], "bool")
        last = Graph([a], [b], [Op("LOGICAL_NOT", [a], [b])])

        def chain(depth, *names):
            name, *fields = names
            inputs = [a, a] if name == "IF" else [a]
            return model(*[Graph([a], [b], [Op(name, inputs, [b], fields[0], **{field: k + 1 for field in fields[1:]})])
                           for k in range(depth)], last)
        for names in (("IF", "IfOptions", "thenSubgraphIndex", "elseSubgraphIndex"),
                      ("WHILE", "WhileOptions", "condSubgraphIndex", "bodySubgraphIndex")):
            self.refused(chain(30, *names), "comes to 1073741824 operators, and the budget (--max-nodes) is 200000")
            self.refused(chain(70, *names), "comes to 10^15 or more operators")

    def test_flags(self):
        self.refused(relu(), "--dim n: the sizes of a TFLite model", flags=["--dim", "n=4"], code=2)
        self.refused(relu(), "for ONNX models", flags=["--keep-initializers-as-inputs"], code=2)

    def test_check_lists_all(self):
        x, a, b = T([2, 3], name="x"), T([2, 3], name="a"), T([2, 3], name="b")
        content = model(Graph([x], [a, b], [Op("RFFT2D", [x], [a]), Op("", [x], [b], custom="Mine")]))
        self.path.write_bytes(content)
        done = subprocess.run([RELAXC, self.path, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("RFFT2D", done.stdout + done.stderr)
        self.assertIn("Mine", done.stdout + done.stderr)

    def test_custom_operators_are_calls(self):
        x, y = T([2, 3], name="x"), T([2, 6], name="y")
        content = model(Graph([x], [y], [Op("", [x], [y], custom="Mine", custom_options=b"abc")]))
        rule = "tflite::Mine=float32[n, c] -> [n, 2 * c]; custom_options"
        self.refused(content, "its rule requires 3 dims", flags=["--custom-op", "tflite::Mine=[a, b, c] -> [a]"])
        self.refused(content, "there is no attribute 'alpha'", flags=["--custom-op", "tflite::Mine=* -> like(0); alpha"])
        done = self.run_relaxc(content, "--custom-op", rule)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
