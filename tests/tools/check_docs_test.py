"""check_docs: which names it does not find, and what it leaves alone."""

import contextlib
import importlib.machinery
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

loader = importlib.machinery.SourceFileLoader("check_docs", str(Path(__file__).with_name("check_docs")))
check_docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
loader.exec_module(check_docs)

TREE = {
    "compiler/plan/storage.cpp": '// See compiler/plan.\nflag("--dim");\nvoid plan_memory();\n',
    "docs/memory.md": "# Memory\n\n## How a frame is planned\n",
}


def run(files, examples=None):
    """(exit code, what was printed) for TREE with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**TREE, **files}.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_docs.main(Path(folder), examples or {})
        return code, out.getvalue()


class CheckDocs(unittest.TestCase):
    def refuses(self, page, name, file="docs/page.md"):
        code, out = run({file: page})
        self.assertEqual(code, 1, out)
        self.assertIn(f"'{name}' does not exist", out)

    def takes(self, page, file="docs/page.md"):
        code, out = run({file: page})
        self.assertEqual(code, 0, out)

    def test_a_link_needs_its_file_and_its_heading(self):
        self.takes("[one](memory.md), [two](memory.md#how-a-frame-is-planned), [three](https://llvm.org/none)\n")
        self.refuses("see [frames](frames.md)\n", "frames.md")
        self.refuses("see [frames](memory.md#frames)\n", "memory.md#frames")

    def test_files_and_folders_of_a_page_must_exist(self):
        self.takes("`compiler/plan/storage.cpp`, `plan/storage.cpp`, `storage.cpp`, `compiler/plan/`, `plan/*.cpp`\n")
        self.refuses("`compiler/plan/lifetimes.cpp`\n", "compiler/plan/lifetimes.cpp")
        self.refuses("`lifetimes.cpp`\n", "lifetimes.cpp")
        self.refuses("`compiler/loop/`\n", "compiler/loop/")

    def test_flags_and_identifiers_must_be_in_a_source(self):
        self.takes("`--dim n=1..4`, `plan_memory`, `plan_memory()`, `CamelCase`, `MODEL_ARENA_MAX`, plain_prose\n")
        self.refuses("`--dims`\n", "--dims")
        self.refuses("```\nrelaxc --dims n=4\n```\n", "--dims")
        self.refuses("`order_calls`\n", "order_calls")

    def test_a_block_of_code_is_not_searched_for_links(self):
        self.takes("```python\ny = cls.scaled[n](x)\n```\n")

    def test_files_that_a_comment_names_must_exist(self):
        self.takes("// See storage.cpp, docs/memory.md and compiler/plan/.\nint x;  // (plan/storage.cpp)\n", "targets/a.h")
        self.takes('#include "no/such.h"\nopen("no/such.py");\n', "targets/a.h")
        self.refuses("// See lifetimes.cpp.\n", "lifetimes.cpp", "targets/a.h")
        self.refuses("# as compiler/loop does\n", "compiler/loop", "bench/a.py")

    def test_files_that_a_docstring_names_must_exist(self):
        self.takes('"""As compiler/plan does."""\npath = """compiler/loop"""\n', "bench/a.py")
        self.refuses('"""a.py: what\n\nas compiler/loop does\n"""\n', "compiler/loop", "bench/a.py")
        self.refuses('def f():\n    """As lifetimes.cpp."""\n', "lifetimes.cpp", "bench/a.py")

    def test_the_changelog_may_name_what_is_gone(self):
        self.takes("`--dims` is gone, as `order_calls` and `lifetimes.cpp` are\n", "CHANGELOG.md")

    def test_an_example_is_allowed_and_must_be_named(self):
        page = {"docs/page.md": "put it into `compiler/ops/energy.cpp`\n"}
        self.assertEqual(run(page, {"docs/page.md": "compiler/ops/energy.cpp"})[0], 0)
        code, out = run(page, {"docs/page.md": "compiler/ops/energy.cpp energy.h"})
        self.assertEqual(code, 1)
        self.assertIn("allows 'energy.h'", out)


if __name__ == "__main__":
    unittest.main()
