"""`--report=FILE.onnx`, read by the onnx package as viewers read it: its checker accepts the model, kernels are nodes with
types, estimates and schedules, and a kernel's function has the operators that the program was read as.

Usage: kernel_graph_test.py RELAXC [unittest's own]"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

RELAXC = None


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def parsed(text):
    return onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>\n' + text)


class KernelGraph(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def graph_of(self, model, *flags):
        """Compiles a model with both forms of the report; returns the graph, which the checker accepted, and the JSON."""
        onnx.save(model, self.path / "m.onnx")
        for report in ("graph.onnx", "report.json"):
            done = subprocess.run([RELAXC, "m.onnx", "-o", "m.o", f"--report={report}", *flags], cwd=self.path,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        graph = onnx.load(self.path / "graph.onnx")
        onnx.checker.check_model(graph)
        return graph, json.loads((self.path / "report.json").read_text())

    def test_kernels_are_nodes_with_their_numbers(self):
        graph, report = self.graph_of(parsed("""
            net (float[n, 64] x) => (float[n, 64] probabilities, float[n, 64] twice)
              <float[64, 64] w = {%s}> {
              p = MatMul(x, w)
              r = Relu(p)
              probabilities = Softmax(r)
              twice = Add(r, x)
            }""" % ", ".join(["0.5"] * 64 * 64)))
        (profile, *_) = report["profiles"]
        names = {kernel["name"] for kernel in profile["kernels"]}
        self.assertEqual({node.op_type for node in graph.graph.node}, names)
        self.assertEqual([(i.name, onnx.helper.printable_type(i.type)) for i in graph.graph.input],
                         [("x", "FLOAT, nx64")])
        self.assertEqual([o.name for o in graph.graph.output], ["probabilities", "twice"])
        for node in graph.graph.node:
            found = attributes(node)
            for key, scale in (("flops", 1), ("bytes", 1), ("share", 1), ("estimated_seconds", 1e6)):
                expected = [k[key] * scale for p in report["profiles"] for k in p["kernels"] if k["name"] == node.op_type]
                shown = found["estimated_microseconds" if key == "estimated_seconds" else key]
                self.assertEqual(len(shown), len(report["profiles"]))
                for a, b in zip(shown, expected):
                    self.assertAlmostEqual(a, b, delta=1e-6 * abs(b))
            self.assertTrue(found["schedule"])
            self.assertNotIn("measured_microseconds", found)
        metadata = {entry.key: entry.value for entry in graph.metadata_props}
        self.assertEqual(metadata["sizes"], "main at n=1; main at n=16; main at n=128; main at n=512")
        self.assertEqual(len(graph.graph.initializer), 0)

    def test_a_kernel_is_a_function_of_operators(self):
        graph, _ = self.graph_of(parsed("""
            net (float[1, 8, 16, 16] x, float[1, 8, 16, 16] z) => (float[1, 8, 16, 16] y) <float[8, 8, 3, 3] w = {%s}> {
              c = Conv<pads = [1, 1, 1, 1]>(x, w)
              a = Add(c, z)
              y = Relu(a)
            }""" % ", ".join(["0.5"] * 576)))
        (node,) = graph.graph.node
        (function,) = graph.functions
        self.assertEqual((node.op_type, node.domain), (function.name, "relaxc.kernels"))
        self.assertEqual([n.op_type for n in function.node], ["nn.conv", "add", "nn.relu"])
        self.assertEqual(sorted(function.input), ["x", "z"])
        conv, add, relu = function.node
        self.assertEqual(list(conv.input), ["x"])
        self.assertEqual(sorted(add.input), sorted([conv.output[0], "z"]))
        self.assertEqual(list(relu.input), list(add.output))
        self.assertEqual(list(function.output), list(relu.output))
        self.assertEqual([s.decode() for s in attributes(conv)["sources"]], ["node 0 -> c (Conv)"])
        (inner,) = [v for v in function.value_info if v.name == add.output[0]]
        self.assertEqual(onnx.helper.printable_type(inner.type), "FLOAT, 1x8x16x16")

    def test_branches_are_graphs_inside(self):
        graph, _ = self.graph_of(parsed("""
            net (bool c, float[4] x) => (float[4] y) {
              y = If (c) <then_branch = yes () => (float[4] a) { e = Exp(x)  a = Sin(e) },
                          else_branch = no () => (float[4] b) { b = Cos(x) }>
            }"""))
        (node,) = [n for n in graph.graph.node if n.op_type == "if"]
        branches = attributes(node)
        self.assertLessEqual({"then_branch", "else_branch"}, set(branches))
        self.assertIn("cos", branches["else_branch"].node[0].op_type)
        self.assertEqual(len(branches["then_branch"].output), 1)

    def test_a_result_that_is_an_input(self):
        graph, _ = self.graph_of(parsed("net (float[4] x) => (float[4] x2, float[4] y) { x2 = Identity(x)  y = Exp(x) }"))
        self.assertEqual([o.name for o in graph.graph.output], ["x2", "y"])

    def test_hostile_names_are_shown_and_kept_apart(self):
        name = "a\x1b[31m\u202e</script>"
        model = helper.make_model(helper.make_graph(
            [helper.make_node("Exp", ["x"], [name], name), helper.make_node("Sin", [name], ["exp"], "exp")], "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1000])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1000]),
             helper.make_tensor_value_info("exp", TensorProto.FLOAT, [1000])]),
            opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        graph, _ = self.graph_of(model)
        self.assertEqual([o.name for o in graph.graph.output], ["a\\x1b[31m\\xe2\\x80\\xae</script>", "exp"])


if __name__ == "__main__":
    RELAXC = sys.argv.pop(1)
    unittest.main()
