"""check_passes: which calls it refuses, and what it lets be."""

import contextlib
import importlib.machinery
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

loader = importlib.machinery.SourceFileLoader("check_passes", str(Path(__file__).with_name("check_passes")))
check_passes = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_passes", loader))
loader.exec_module(check_passes)

HEADER = """/// Removes what nothing uses.
Result<Changed> dead_code(relax::Module&, PassContext&);
Result<Changed> infer(relax::Module& module, PassContext& context);
Result<Changed> canonicalize(relax::Module&, PassContext&);
"""
PASS = """Result<Changed> canonicalize(relax::Module& module, PassContext& context) {
  Changed changed = rewrite(module);
%s
}
"""


class CheckPasses(unittest.TestCase):
    def run_on(self, text, name="compiler/transform/graph/canonicalize.cpp", header=HEADER):
        """(exit code, what was printed) for a tree of the header and one source."""
        with tempfile.TemporaryDirectory() as folder:
            for file, content in (("compiler/transform/passes.h", header), (name, text)):
                path = Path(folder) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = check_passes.main(Path(folder))
            return code, out.getvalue()

    def refuses(self, body, line, name="compiler/transform/graph/canonicalize.cpp"):
        code, out = self.run_on(PASS % body, name)
        self.assertEqual(code, 1, out)
        self.assertIn(f"{name}:{line}: error: calls the pass 'dead_code'", out)

    def takes(self, text):
        code, out = self.run_on(text)
        self.assertEqual(code, 0, out)

    def test_a_call_at_the_end_is_refused(self):
        self.refuses("  return changed == Changed::kYes ? dead_code(module, context) : changed;", 3)
        self.refuses("  return dead_code(module, context);", 3)

    def test_a_call_in_the_middle_is_refused(self):
        self.refuses("\n  RELAXC_DO(dead_code(module, context));", 4)
        self.refuses("  RELAXC_TRY(Changed more, dead_code(module, context));", 3)
        self.refuses("  dead_code(module, context);", 3)

    def test_parts_of_passes_and_the_pipeline_component_count_too(self):
        self.refuses("  return dead_code(module, context);", 3, "compiler/transform/graph/moves/part_rules.cpp")
        self.refuses("  return dead_code(module, context);", 3, "compiler/pipeline/schedule_kernels.cpp")

    def test_definitions_members_and_text_pass(self):
        self.takes(PASS % "  return changed;")
        self.takes(PASS % "  op.def->infer(c);\n  types.infer(c);\n  return changed;")
        self.takes("// dead_code(module, context) collects them\nconst char* const kName = \"dead_code(\";\n")
        self.takes("constexpr Pass kRow{.name = \"dead_code\", .run = dead_code};\n")

    def test_functions_that_are_not_passes_pass(self):
        self.takes(PASS % "  remove_dead_ops(module);\n  return changed;")

    def test_a_tree_without_passes_is_refused(self):
        code, out = self.run_on("", header="")
        self.assertEqual(code, 1)
        self.assertIn("no header declares a pass", out)

    def test_the_tree_is_clean(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_passes.main(Path(__file__).resolve().parents[2])
        self.assertEqual(code, 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
