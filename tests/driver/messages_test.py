"""How messages look: with colour on a terminal, plain in a pipe or if NO_COLOR asks for it.

Usage: messages_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re

import program
import wire
from program import ProgramTest

ESCAPE = "\x1b["


class Messages(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("bad.relax", program.TEXT.replace("R.nn.relu(x)", "R.nn.relu(z)"))

    def test_progress_counts_what_is_generated(self):
        sizes = range(20, 100)
        parameters = ", ".join(f'x{n}: R.Tensor(({n}, {n}), "float32")' for n in sizes)
        body = "".join(f"    y{n} = R.matmul(R.tanh(x{n}), x{n})\n" for n in sizes)
        self.write("many.relax", f"@R.function\ndef main({parameters}):\n{body}    return (y20, y21)\n"
                   .replace("(y20, y21)", "(" + ", ".join(f"y{n}" for n in sizes) + ")"))
        text = self.on_terminal(0, "many.relax", "-o", "m.o", "-j", "2")
        counts = [(int(begun), int(all_of)) for begun, all_of in
                  re.findall(r"relaxc: generating code, function (\d+) of (\d+)", text)]
        self.assertTrue(counts, text)
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1][0], counts[-1][1])

    def test_plain_in_a_pipe(self):
        done = self.refuses(1, "bad.relax:4:", "bad.relax", "-o", "m.o")
        self.assertNotIn("\x1b", done.err)
        lines = done.err.splitlines()
        self.assertIn("        y = R.nn.relu(z)", lines[1])
        self.assertEqual(lines[1].index("z"), lines[2].index("^"))

    def test_colour_on_a_terminal(self):
        text = self.on_terminal(1, "bad.relax", "-o", "m.o")
        self.assertIn(ESCAPE, text)
        self.assertIn("^", text)

    def test_no_colour_where_it_is_not_wanted(self):
        plain = self.refuses(1, "", "bad.relax", "-o", "m.o").err
        self.assertEqual(self.on_terminal(1, "bad.relax", "-o", "m.o", NO_COLOR="1"), plain)
        self.assertEqual(self.on_terminal(1, "bad.relax", "-o", "m.o", TERM="dumb"), plain)
        self.assertIn(ESCAPE, self.on_terminal(1, "bad.relax", "-o", "m.o", NO_COLOR=""))

    def test_a_model_cannot_give_orders_to_the_terminal(self):
        self.write("sly.onnx", wire.model([wire.node("Wobble", ["x"], ["y"], name="a\x1b[2J\x07")],
                                          [wire.value_info("x", (2,))], [wire.value_info("y", (2,))]))
        self.assertIn("'a\\x1b[2J\\x07' (Wobble", self.refuses(1, "", "sly.onnx", "-o", "m.o").err)

    def test_names_cannot_end_a_line(self):
        """Files, nodes and tensors, in every message about them."""
        sly, shown = "m\nrelaxc: error: \t\u202eall is well.onnx", "m\\nrelaxc: error: \\t\\xe2\\x80\\xaeall is well.onnx"
        node = wire.node("Wobble", ["x\nx"], ["y"], name="a\nb")
        self.write(sly, wire.model([node], [wire.value_info("x\nx", (2,))], [wire.value_info("y", (2,))]))
        cases = [(1, (sly, "-o", "m.o")), (1, (sly, "--check")), (1, (f"{sly}.gone", "-o", "m.o")),
                 (2, (sly, "-o", f"m.{sly}")), (1, ("bad.relax", "--params", f"{sly}.npz", "-o", "m.o")),
                 (1, ("run", sly)), (2, (sly, "-o", "m.o", "--dim", "n\nn=x"))]
        for code, arguments in cases:
            with self.subTest(arguments):
                done = self.refuses(code, "", *arguments)
                self.assertNotIn("\u202e", done.err + done.out)
                for line in (done.err + done.out).splitlines():
                    self.assertFalse(line.startswith("relaxc: error: \t"), line)
                if sly in arguments:
                    self.assertIn(shown if "--dim" not in arguments else "n\\nn", done.err)

    def test_tools_show_names_in_one_line(self):
        self.write("sly.onnx", wire.model([wire.node("Relu", ["x\nx"], ["y\x1b[2J"], name="a\nb")],
                                          [wire.value_info("x\nx", ("n\tn",))], [wire.value_info("y\x1b[2J", ("n\tn",))]))
        for arguments in (("inspect", "sly.onnx"), ("run", "sly.onnx", "--random"), ("verify", "sly.onnx"), ("run", "sly.onnx")):
            with self.subTest(arguments):
                done = self.relaxc(*arguments)
                self.assertNotIn("\x1b", done.out + done.err)
                self.assertNotIn("\nx", done.out + done.err)

    def test_json_goes_to_the_output_and_has_no_colour(self):
        text = self.on_terminal(1, "bad.relax", "--check=json")
        self.assertNotIn("\x1b", text)
        self.assertIn('"compiles": false', text)

    def test_check_says_all_of_a_refused_node(self):
        self.write("odd.onnx", wire.model([wire.node("Abs", ["x"], ["a"], name="first"),
                                           wire.node("Wobble", ["a", ""], ["y"], name="second")],
                                          [wire.value_info("x", ("n", 2))], [wire.value_info("y", ("n", 2))]))
        done = self.refuses(1, "", "odd.onnx", "--check=json")
        found = json.loads(done.out)["diagnostics"][0]
        self.assertEqual((found["node"], found["op"], found["domain"]), ("second", "Wobble", "ai.onnx"))
        self.assertEqual(found["inputs"], [{"name": "a", "form": "tensor", "dtype": "float32", "shape": ["n", 2]},
                                           {"name": "", "form": "none"}])
        self.assertEqual(found["reason"], "there is no converter for this operator")
        self.assertIn("--custom-op", found["remedy"])
        text = self.refuses(1, "second", "odd.onnx", "--check").out
        for line in ("node     second", "op       Wobble, domain ai.onnx", "inputs   a: float32 [n, 2]; none",
                     "reason   there is no converter", "remedy   --custom-op"):
            self.assertIn(line, text)


if __name__ == "__main__":
    program.main()
