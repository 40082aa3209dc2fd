"""The records that bench/rlx.py writes down have the offsets and sizes that a C compiler gives to those of relax_rt.h.

Usage: layout_test.py CC REPOSITORY
"""

import ctypes
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER, ROOT = sys.argv.pop(1), Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "bench"))
import rlx  # noqa: E402: the folder is known only now

RECORDS = {"rlx_tensor": rlx.Tensor, "rlx_error": rlx.Error, "rlx_context": rlx.Context, "rlx_symbol": rlx.Symbol,
           "rlx_quant": rlx.Quant, "rlx_tensor_spec": rlx.TensorSpec, "rlx_function": rlx.Function,
           "rlx_model": rlx.ModelRecord}


def layout_in_c():
    """Lines "record field offset size" and "record - 0 size" as the compiler sees them."""
    lines = ['#include <relax_rt.h>', "#include <stdio.h>", "int main(void) {"]
    for record, python in RECORDS.items():
        lines.append(f'printf("{record} - 0 %zu\\n", sizeof({record}));')
        for field, *_ in python._fields_:
            place = f"offsetof({record}, {field}), sizeof((({record}*)0)->{field})"
            lines.append(f'printf("{record} {field} %zu %zu\\n", {place});')
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "layout.c", Path(folder) / "layout"
        source.write_text("\n".join([*lines, "return 0; }"]))
        subprocess.run([COMPILER, "-I", ROOT / "runtime-lite/include", source, "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


class Layout(unittest.TestCase):
    def test_every_field_is_where_c_puts_it(self):
        python = []
        for record, structure in RECORDS.items():
            python.append(f"{record} - 0 {ctypes.sizeof(structure)}")
            for field, *_ in structure._fields_:
                descriptor = getattr(structure, field)
                python.append(f"{record} {field} {descriptor.offset} {descriptor.size}")
        self.assertEqual(layout_in_c(), python)


if __name__ == "__main__":
    unittest.main()
