"""check_walks: which functions it refuses, and which it lets be."""

import contextlib
import importlib.machinery
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

loader = importlib.machinery.SourceFileLoader("check_walks", str(Path(__file__).with_name("check_walks")))
check_walks = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_walks", loader))
loader.exec_module(check_walks)


class CheckWalks(unittest.TestCase):
    def run_on(self, text, allowed=None):
        """(exit code, what was printed) for a tree with one file."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "compiler/schedule/walk.cpp"
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = check_walks.main(Path(folder), allowed or {})
            return code, out.getvalue()

    def refuses(self, text, *words):
        code, out = self.run_on(text)
        self.assertEqual(code, 1, out)
        for word in words:
            self.assertIn(word, out)

    def takes(self, text):
        code, out = self.run_on(text)
        self.assertEqual(code, 0, out)

    def test_a_function_that_calls_itself_on_operands_is_refused(self):
        self.refuses("void look(Expr e) {\n  for (Expr operand : arith::operands(e)) look(operand);\n}\n",
                     "walk.cpp:1", "'look'")
        self.refuses("void look(Expr e) {\n  for (Expr operand : OperandList(e)) look(operand);\n}\n", "'look'")
        self.refuses("int depth(const arith::Binary& n) {\n  return depth(n.a) + depth(n.b);\n}\n", "'depth'")
        self.refuses("bool known(const Value* v) {\n  return known(v->op->operand(0)) || known(v->op->operand(1));\n}\n",
                     "'known'")

    def test_functions_that_call_each_other_are_refused(self):
        self.refuses("int of(Expr e) {\n  return of_sum(*e.as<Add>());\n}\n"
                     "int of_sum(const Add& n) {\n  return of(n.a) + of(n.b);\n}\n", "'of_sum'")

    def test_a_lambda_with_a_name_is_refused(self):
        self.refuses("void f() {\n  std::function<int(Expr)> of = [&](Expr e) {\n"
                     "    return e.as<Add>() ? of(e.as<Add>()->a) : 0;\n  };\n}\n", "'of'")

    def test_a_worklist_that_forgets_is_refused(self):
        loop = ("void f(Expr e) {\n  std::vector<Expr> waiting{e};%s\n  while (!waiting.empty()) {\n"
                "    Expr one = waiting.back();\n    waiting.pop_back();\n%s"
                "    if (const auto* both = one.as<And>()) waiting.push_back(both->b), waiting.push_back(both->a);\n  }\n}\n")
        self.refuses(loop % ("", ""), "walk.cpp:3", "'waiting'")
        self.takes(loop % ("", "    if (!seen.insert(one).second) continue;\n"))
        self.takes(loop % ("", "    if (!met.insert(one)) continue;\n"))
        self.takes(loop % ("  // bounded: kMost", ""))

    def test_walks_of_visit_h_and_other_recursion_pass(self):
        self.takes("bool has(Expr e) {\n  bool found = false;\n"
                   "  arith::for_each_node(e, [&](Expr node) { found |= node.as<Load>() != nullptr; });\n  return found;\n}\n")
        self.takes("int depth(Stmt s) {\n  int most = 0;\n"
                   "  for (Stmt child : tir::children(s)) most = std::max(most, depth(child));\n  return most;\n}\n")
        self.takes("Expr half(Expr e) {\n  return half(e, 2);\n}\n")
        self.takes("// void look(Expr e) { look(e->a); }\n")
        self.takes("void read(const ast::Expr& e) {\n  for (const ast::Expr* item : e.args) read(*item);\n}\n")

    def test_what_is_allowed_passes_and_must_be_there(self):
        text = "void look(Expr e) {\n  for (Expr operand : arith::operands(e)) look(operand);\n}\n"
        code, out = self.run_on(text, {"compiler/schedule/walk.cpp": ("look", "known_")})
        self.assertEqual(code, 0, out)
        code, out = self.run_on(text.replace("look", "see"), {"compiler/schedule/walk.cpp": ("look", "known_")})
        self.assertEqual(code, 1)
        self.assertIn("allows 'look'", out)

    def test_the_tree_is_clean(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_walks.main(Path(__file__).resolve().parents[2])
        self.assertEqual(code, 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
