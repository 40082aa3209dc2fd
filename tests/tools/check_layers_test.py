"""Tests check_layers on small trees: it must refuse each kind of forbidden edge, name the line, and accept the same
tree without it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).with_name("check_layers")
PAGE = """
| component | holds | may include |
|---|---|---|
| `compiler/support/` | basics | the standard library |
| `compiler/arith/` | expressions | `compiler/support/` |
| `compiler/tir/` | loops | `compiler/arith/` |
| `compiler/schedule/` | schedules | `compiler/tir/` |
| `compiler/transform/` | passes | `compiler/arith/`, `compiler/schedule/query.h` |
| `compiler/codegen/llvm/` | LLVM | `compiler/tir/` |
| `compiler/driver/` | main | everything |
| `runtime-lite/include/` | its header | `<stdint.h>` |
| `runtime-lite/core/` | the runtime | `runtime-lite/include/`, `<stdint.h>` |

| external header | only in |
|---|---|
| `llvm/` | `compiler/codegen/llvm/` |
| `*.pb.h` | `compiler/driver/` |
"""
GOOD = {
    "docs/architecture.md": PAGE,
    "compiler/support/result.h": "#include <vector>\n",
    "compiler/arith/expr.h": '#include "compiler/support/result.h"\n',
    "compiler/tir/stmt.cpp": '// uses arith\n#include "compiler/arith/expr.h"\n#include "compiler/support/result.h"\n',
    "compiler/schedule/query.h": '#include "compiler/tir/stmt.h"\n',
    "compiler/schedule/tile.h": "",
    "compiler/transform/graph/fold.cpp": '#include "compiler/schedule/query.h"\n#include "compiler/support/result.h"\n',
    "compiler/codegen/llvm/emit.cpp": "#include <llvm/IR/Module.h>\n",
    "compiler/driver/main.cpp": '#include "compiler/transform/fold.h"\n#include "onnx.pb.h"\n',
    "runtime-lite/include/relax_rt.h": "#include <stdint.h>\n",
    "runtime-lite/core/guard.c": '#include "relax_rt.h"\n',
}


def run(files):
    """Exit code and output of check_layers on a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckLayers(unittest.TestCase):
    def refuses(self, name, text, message):
        code, output = run({**GOOD, name: text})
        self.assertIn(message, output)
        self.assertEqual(code, 1)

    def test_a_tree_that_follows_the_table_passes(self):
        self.assertEqual(run(GOOD), (0, "10 files, 0 forbidden includes\n"))

    def test_an_edge_upwards_is_refused_with_its_line(self):
        self.refuses("compiler/arith/expr.h", '\n#include "compiler/tir/stmt.h"\n',
                     "compiler/arith/expr.h:2: error: compiler/arith/ may not include compiler/tir/")

    def test_an_edge_sideways_is_refused(self):
        self.refuses("compiler/codegen/llvm/emit.cpp", '#include "compiler/schedule/tile.h"\n',
                     "compiler/codegen/llvm/ may not include compiler/schedule/")

    def test_a_row_that_names_one_file_allows_that_file_only(self):
        self.refuses("compiler/transform/pass.cpp", '#include "compiler/schedule/tile.h"\n',
                     "compiler/transform/ may not include compiler/schedule/")

    def test_a_file_brings_no_rights_of_its_component(self):
        self.refuses("compiler/transform/pass.cpp", '#include "compiler/tir/stmt.h"\n',
                     "compiler/transform/ may not include compiler/tir/")

    def test_a_relative_include_is_refused_too(self):
        self.refuses("compiler/support/bad.h", '#include "../arith/expr.h"\n',
                     "compiler/support/ may not include compiler/arith/")

    def test_a_folder_with_a_row_of_its_own_gets_nothing_from_the_folder_around(self):
        page = PAGE.replace("| `compiler/schedule/` | schedules | `compiler/tir/` |",
                            "| `compiler/schedule/` | schedules | `compiler/schedule/steps/`, `targets/` |\n"
                            "| `compiler/schedule/steps/` | steps | `compiler/tir/` |\n| `targets/` | machines | nothing |")
        tree = {**GOOD, "docs/architecture.md": page, "targets/target.h": "", "compiler/schedule/steps/split.h": "",
                "compiler/schedule/plan.cpp": '#include "compiler/schedule/steps/split.h"\n#include "targets/target.h"\n'}
        self.assertEqual(run(tree)[0], 0)
        code, output = run({**tree, "compiler/schedule/steps/split.h": '#include "targets/target.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("compiler/schedule/steps/split.h:1: error: compiler/schedule/steps/ may not include targets/", output)

    def test_llvm_belongs_to_its_component(self):
        self.refuses("compiler/tir/stmt.cpp", "#include <llvm/ADT/SmallVector.h>\n",
                     "compiler/tir/stmt.cpp:1: error: <llvm/ADT/SmallVector.h> belongs to")

    def test_generated_protobuf_headers_belong_to_their_component(self):
        self.refuses("compiler/tir/stmt.cpp", '#include "onnx.pb.h"\n', "<onnx.pb.h> belongs to compiler/driver/ alone")

    def test_a_component_with_a_list_of_system_headers_gets_no_other(self):
        self.refuses("runtime-lite/core/guard.c", "#include <stdio.h>\n",
                     "runtime-lite/core/ may include only <stdint.h>")

    def test_a_comment_is_not_an_include(self):
        text = '/* as in\n#include "compiler/driver/main.h"\n*/\n// #include "compiler/driver/main.h"\n'
        self.assertEqual(run({**GOOD, "compiler/arith/expr.h": text})[0], 0)

    def test_an_include_through_a_macro_is_refused(self):
        self.refuses("compiler/arith/expr.h", "#include KINDS\n", "an include through a macro cannot be checked")

    def test_a_file_outside_all_components_is_refused(self):
        self.refuses("compiler/attic/old.h", "", "compiler/attic/old.h: error: in no component of the table")

    def test_a_table_with_a_cycle_is_refused(self):
        page = PAGE.replace("| the standard library |", "| `compiler/tir/` |")
        self.refuses("docs/architecture.md", page, "the table has a cycle: compiler/support/ -> compiler/tir/")

    def test_a_table_that_names_no_component_is_refused(self):
        page = PAGE.replace("| `compiler/tir/` |\n| `compiler/transform", "| `compiler/tri/` |\n| `compiler/transform")
        self.refuses("docs/architecture.md", page, "'compiler/tri/', which is not a component")

    def test_a_page_without_the_table_is_refused(self):
        self.refuses("docs/architecture.md", "# nothing\n", "no table whose first column is 'component'")


if __name__ == "__main__":
    unittest.main()
