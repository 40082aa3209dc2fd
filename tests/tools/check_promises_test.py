"""check_promises: which blocks and rows it complains of, and what it writes."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

loader = importlib.machinery.SourceFileLoader("check_promises", str(Path(__file__).with_name("check_promises")))
check_promises = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_promises", loader))
loader.exec_module(check_promises)

PAGE = """# The interface

It has a version, and
numbers stay.

1. one promise
2. another, as [a page](page.md#there) says

| code | name |
|---|---|
| 1 | first |
| 2 | second |

```c
int run(void);
# no heading
```

## Layout

| field | at |
|---|---|
| a | 0 |

### A record

It has fields.
"""
ROWS = """# a comment
[docs/abi.md]
It has a version
  abi:layout; e2e:objects#test_one*
and numbers stay
  - says so
one promise
  abi:layout
another, as a page says
  abi:layout
| 1 | first
  abi:lay*
| 2 | second
  abi:layout
int run(void);
  abi:layout
## Layout
  abi:layout
"""


def run(page=PAGE, rows=ROWS, tests=None, update=True):
    """(exit code, what was printed, the generated page); `tests` is what CTest knows, None without a build directory."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        script = root / "objects_test.py"
        script.write_text("def test_one_byte(self):\n    pass\n")
        for name in check_promises.PAGES:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(page if name == "docs/abi.md" else "# Empty\n")
        (root / "tests").mkdir()
        (root / check_promises.ROWS).write_text(rows)
        listed = json.dumps({"tests": [{"name": name, "command": ["python", str(script)]} for name in tests or ()]})
        ctest = root / "ctest"
        ctest.write_text(f"#!/bin/sh\ncat <<'END'\n{listed}\nEND\n")
        ctest.chmod(0o755)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.dict(os.environ, {"PATH": f"{root}:{os.environ['PATH']}"}):
            code = check_promises.main(root, *(() if tests is None else (root,)), update=update)
        generated = root / check_promises.GENERATED
        return code, out.getvalue(), generated.read_text() if generated.exists() else ""


class CheckPromises(unittest.TestCase):
    def refuses(self, text, **changed):
        code, out, _ = run(**changed)
        self.assertEqual(code, 1, out)
        self.assertIn(text, out)

    def test_rows_for_every_block_are_fine(self):
        code, out, page = run()
        self.assertEqual(code, 0, out)
        self.assertIn("names of tests are not checked", out)
        self.assertIn("| It has a version | `abi:layout`, `e2e:objects#test_one*` |", page)
        self.assertIn("| and numbers stay | says so |", page)
        self.assertIn("| 1: first | `abi:lay*` |", page)
        self.assertIn("8 rows: 7 held by tests, 1 not", page)

    def test_a_block_without_a_row_is_found(self):
        for more in ("\nA new promise.\n", "\n- a new item\n", "\n```\na new line\n```\n"):
            self.refuses("no row of tests/promises.txt covers", page=PAGE.replace("\n## Layout", more + "\n## Layout"))
        self.refuses("covers '| 3 | third |'", page=PAGE.replace("| 2 | second |\n", "| 2 | second |\n| 3 | third |\n"))

    def test_the_head_of_a_table_covers_its_rows(self):
        rows = ROWS.replace("| 1 | first\n", "| code | name\n").replace("| 2 | second\n  abi:layout\n", "")
        self.assertEqual(run(rows=rows)[0], 0)

    def test_a_heading_covers_what_is_below_it(self):
        self.assertEqual(run(page=PAGE + "\nAnd more.\n")[0], 0)
        self.refuses("covers 'And more.'", page=PAGE + "\n## Names\n\nAnd more.\n")

    def test_a_snippet_is_in_one_block(self):
        self.refuses("'It has a number' occurs in no block of docs/abi.md", rows=ROWS.replace("It has a version", "It has a number"))
        self.refuses("'an' occurs in 2 blocks, at lines 3, 7, of docs/abi.md", rows=ROWS.replace("one promise", "an"))

    def test_a_row_has_tests_or_a_reason(self):
        self.refuses("'one promise' needs tests or a reason, and not both", rows=ROWS.replace("one promise\n  abi:layout\n", "one promise\n"))
        self.refuses("needs tests or a reason", rows=ROWS + "  - a reason\n")
        self.refuses("the page is 'docs/none.md'", rows=ROWS + "[docs/none.md]\nwords\n  abi:layout\n")
        self.refuses("belongs to no snippet", rows="  abi:layout\n" + ROWS)

    def test_patterns_match_tests_and_functions(self):
        self.assertEqual(run(tests=["abi:layout", "e2e:objects"])[:1], (0,))
        self.refuses("no test is called 'e2e:objects'", tests=["abi:layout"])
        self.refuses("the test 'e2e:objects' has no function 'test_two*'", tests=["abi:layout", "e2e:objects"],
                     rows=ROWS.replace("test_one*", "test_two*"))

    def test_the_generated_page_must_be_up_to_date(self):
        self.refuses("docs/promises.md: error: is not what tests/promises.txt says", update=False)


if __name__ == "__main__":
    unittest.main()
