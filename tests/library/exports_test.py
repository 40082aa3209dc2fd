"""librelaxc.so exports the functions of relaxc.h and nothing else, under a name that carries the major version."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

LIBRARY, HEADER, MAJOR = sys.argv[1:4]


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Exports(unittest.TestCase):
    def test_functions_of_the_header_and_nothing_else(self):
        lines = printed("nm", "-D", "--defined-only", "--extern-only", LIBRARY).splitlines()
        found = {line.split()[-1] for line in lines if line.split()[-2] != "A"}  # A: the version itself
        text = re.sub(r"/\*.*?\*/", "", Path(HEADER).read_text(encoding="utf-8"), flags=re.DOTALL)
        declared = set(re.findall(r"\b(relaxc_\w+)\([^()]*\)\s*;", text))
        self.assertGreater(len(declared), 15)
        self.assertEqual({f"{name}@@RELAXC_{MAJOR}" for name in declared}, found)

    def test_the_name_carries_the_major_version(self):
        self.assertIn(f"Library soname: [librelaxc.so.{MAJOR}]", printed("readelf", "-d", LIBRARY))

    def test_no_stack_is_executable_and_no_code_is_relocated(self):
        dynamic = printed("readelf", "-dW", LIBRARY)
        self.assertNotIn("TEXTREL", dynamic)
        stack = next(line for line in printed("readelf", "-lW", LIBRARY).splitlines() if "GNU_STACK" in line)
        self.assertNotIn("E", stack.split()[6])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
