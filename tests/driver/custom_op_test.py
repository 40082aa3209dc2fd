"""Operators that the user declares: their rules, what the header says of them, and what is refused.

Usage: custom_op_test.py RELAXC RUNTIME [unittest's own]"""

import json
import unittest

import program
import wire
from program import ProgramTest


def scaled(dims=("n", 3), attributes=()):
    """y = my.ops::Grow(x), whose import of my.ops is part of the model."""
    grow = wire.node("Grow", ["x"], ["y"], domain="my.ops", attributes=attributes)
    return (wire.model([grow], [wire.value_info("x", dims)], [wire.field(1, "y")]) +
            wire.field(8, wire.field(1, "my.ops") + wire.field(2, 1)))


class CustomOps(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("grow.onnx", scaled(attributes=[wire.int_attribute("times", 2)]))

    def header(self, *arguments):
        self.compiles("grow.onnx", *arguments, "-o", "grow.o")
        return (self.path / "grow.h").read_text()

    def refused(self, text, rule, code=2):
        self.refuses(code, text, "grow.onnx", "--custom-op", rule, "-o", "grow.o")

    def test_an_unknown_operator_says_how_to_declare_it(self):
        self.refuses(1, "--custom-op 'my.ops::Grow=", "grow.onnx", "-o", "grow.o")

    def test_dims_of_operands_and_attributes_make_the_results(self):
        header = self.header("--custom-op", "my.ops::Grow=[n, c] -> [n, c * times + 1]; times")
        self.assertIn("my_ops_Grow(rlx_context *context, const rlx_tensor *", header)
        self.assertIn("float32 [n, 7]", header)
        self.assertIn("int64_t ", header)

    def test_every_operator_of_dims(self):
        header = self.header("--custom-op", "my.ops::Grow=[n, c] -> int8[(c + 20) // 3 % 5, min(c, 2), max(9 - c, 2)]")
        self.assertIn("int8 [2, 2, 6]", header)

    def test_any_operand_and_a_result_like_it(self):
        self.assertIn("float32 [n, 3]", self.header("--custom-op", "my.ops::Grow=* -> like(0)"))

    def test_a_size_that_the_function_decides(self):
        self.assertIn("size known after the call", self.header("--custom-op", "my.ops::Grow=[n, c] -> int64[?found, c]"))

    def test_rules_from_a_file_are_a_dependency(self):
        self.write("ops.json", json.dumps({"my.ops::Grow": {"rule": "* -> like(0)", "function": "grow_it"}}))
        self.assertIn("int32_t grow_it(", self.header("--custom-op", "ops.json", "-MD"))
        self.assertIn("ops.json", (self.path / "grow.d").read_text())

    def test_rules_that_cannot_be_read(self):
        for rule, text in (("my.ops::Grow=[n, c]", "expected '->'"), ("my.ops::Grow=[n, c] -> [n, c", "expected ',' or ']'"),
                           ("my.ops::Grow=[n, c] -> [n c]", "before 'c]'"), ("my.ops::Grow=* -> like(1)", "like(1)"),
                           ("my.ops::Grow=float33[n] -> [n]", "expected a dtype"), ("my.ops::Grow=[?n] -> [n]", "before '?n]"),
                           ("my.ops::Grow=* -> [n]; times=x", "expected a number"), ("=* -> like(0)", "domain::Name=rule"),
                           ("my.ops::Grow=[n] -> [" + "(" * 200 + "n", "fewer parentheses"),
                           ("my.ops::Grow=[n] -> [n" + "+n" * 200 + "]", "shorter dim"), ("absent.json", "can be read")):
            with self.subTest(rule=rule):
                self.refused(text, rule)

    def test_files_that_cannot_be_read(self):
        for content, text in (("[]", "expected a JSON object"), ("{", "expected a JSON object"),
                              ('{"a::B": 1}', "needs a rule"), ('{"a::B": {"rule": "* -> like(0)", "function": "a b"}}', "cannot name")):
            with self.subTest(content=content):
                self.write("ops.json", content)
                self.refuses(2, text, "grow.onnx", "--custom-op", "ops.json", "-o", "grow.o")

    def test_an_operator_is_declared_once(self):
        self.refuses(2, "given twice", "grow.onnx", "--custom-op", "a::B=* -> like(0)", "--custom-op", "a::B=* -> like(0)",
                     "-o", "grow.o")

    def test_nodes_that_do_not_fit_their_rule(self):
        for rule, text in (("[n] -> [n]", "requires 1 dims of operand 0"), ("*, * -> like(0)", "takes 2 operands"),
                           ("int8[n, c] -> [n]", "requires operand 0 in int8"), ("[n, 4] -> [n]", "promises"),
                           ("[n, c] -> [n, unknown]", "'unknown' in its rule"), ("[n, c] -> [n]; unknown", "has no default"),
                           ("[n, c] -> [n // 0]", "divides by 0"), ("[n, c] -> [c - 5]", "an extent of -2")):
            with self.subTest(rule=rule):
                self.refused(text, "my.ops::Grow=" + rule, code=1)

    def test_text_programs_have_no_custom_operators(self):
        self.refuses(2, "for ONNX models", "relu.relax", "--custom-op", "a::B=* -> like(0)", "-o", "relu.o")


class ExternalData(ProgramTest):
    def test_weights_outside_are_read_if_that_is_allowed(self):
        self.write("weights.bin", b"\0" * 8)
        self.write("inner/outside.onnx", wire.with_external_data("../weights.bin"))
        self.refuses(1, "--allow-external-outside", "inner/outside.onnx", "-o", "outside.o")
        self.compiles("inner/outside.onnx", "--allow-external-outside", "-o", "outside.o")

    def test_inputs_with_a_default(self):
        model = wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (2,)), wire.value_info("w", (2,))],
                           [wire.value_info("y", (2,))], [wire.tensor("w", (2,), b"\0" * 8)])
        self.write("default.onnx", model)
        self.compiles("default.onnx", "-o", "constant.o")
        self.assertNotIn("const float* w;", (self.path / "constant.h").read_text())
        self.compiles("default.onnx", "--keep-initializers-as-inputs", "-o", "input.o")
        self.assertIn("const float* w;", (self.path / "input.h").read_text())


if __name__ == "__main__":
    program.main()
