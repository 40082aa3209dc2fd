"""The public headers compile clean in every language and with every warning that they promise, and refuse another
version.

Usage: headers_test.py C-COMPILER C++-COMPILER"""

import subprocess
import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path

INCLUDE = Path(__file__).parents[2] / "runtime-lite/include"
CC, CXX = sys.argv[1:3]
WARNINGS = "-Wall -Wextra -pedantic -Wundef -Wshadow -Wconversion -Wcast-align -Werror".split()
LANGUAGES = [(CC, "c", "c99"), (CC, "c", "c11"), (CXX, "c++", "c++11"), (CXX, "c++", "c++20")]
HEADERS = ["relax_rt.h", "rlx_internal.h", "relax_rt_hosted.h"]

# Uses what a program uses; the array has no size if an enumeration got narrower.
PROGRAM = """
static rlx_context context = RLX_CONTEXT_INIT;
int width[sizeof(rlx_status) == 4 && sizeof(rlx_error) == 40 ? 1 : -1];
int use(void);
int use(void) {
  const rlx_context local = RLX_CONTEXT_INIT;
  const int64_t dims[] = {RLX_DIM_SYMBOL(0), RLX_DIM_DERIVED};
  const uint64_t features = RLX_CPU_KNOWN | RLX_CPU_AVX2;
  return context.abi_version == local.abi_version && dims[0] < 0 && features != 0 ? RLX_OK : RLX_ABI_MISMATCH;
}
"""


def compile_text(compiler, language, standard, text, flags=()):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.write_text(text)
        command = [compiler, f"-std={standard}", *WARNINGS, *flags, "-I", INCLUDE, "-fsyntax-only", "-x", language]
        done = subprocess.run([*command, source], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Headers(unittest.TestCase):
    def test_every_header_is_clean_in_every_language(self):
        for (compiler, language, standard), header, flags in product(LANGUAGES, HEADERS, ([], ["-fshort-enums"])):
            with self.subTest(standard=standard, header=header, flags=flags):
                text = f'#include "{header}"\n#include "{header}"\n{PROGRAM}'
                self.assertEqual(compile_text(compiler, language, standard, text, flags), (0, ""))

    def test_the_headers_of_objects_need_no_library(self):
        for header in HEADERS[:2]:
            text = f'#include "{header}"\n{PROGRAM}'
            self.assertEqual(compile_text(CC, "c", "c99", text, ["-ffreestanding"]), (0, ""))

    def test_a_header_of_another_version_before_ours_is_an_error(self):
        code, message = compile_text(CC, "c", "c99", '#define RLX_ABI_VERSION 2\n#include "relax_rt.h"\n')
        self.assertNotEqual(code, 0)
        self.assertIn("another ABI version", message)

    def test_a_header_of_another_version_after_ours_can_tell(self):
        text = '#include "relax_rt.h"\n#if RLX_ABI_VERSION != 2\n#error "wants ABI version 2"\n#endif\n'
        code, message = compile_text(CC, "c", "c99", text)
        self.assertNotEqual(code, 0)
        self.assertIn("wants ABI version 2", message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
