"""What the runtime is made of and how it links: no state, no foreign symbols, a version that no linker option can hide.

The core is compiled here with flags of its own, because a build with sanitizers or coverage adds both state and
symbols.

Usage: link_test.py C-COMPILER"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
CC = sys.argv[1]
FLAGS = ("-std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables"
         " -fno-stack-protector -fno-builtin -fno-tree-loop-distribute-patterns -fno-PIC -fno-PIE").split()

ENTRY = """
__asm__(".pushsection .text.entry,\\"ax\\",%progbits\\n"
        ".globl fake_entry\\nfake_entry: .reloc fake_entry, BFD_RELOC_NONE, {symbol}\\n.8byte 0\\n.popsection");
extern const char fake_entry[];
int main(void) {{ return fake_entry[0]; }}
"""

# A program without a C library that makes the generic call.
BARE = """
#include "fake_model.h"
void _start(void);
void _start(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  rlx_tensor tensors[2] = {{0}};
  fake_model.functions[0].run(&context, tensors, 1, tensors + 1, 1);
  for (;;) {}
}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def symbols(file):
    """(type letter, name) of every symbol that is not local."""
    lines = run("nm", "-g", file)[1].splitlines()
    return {(words[-2], words[-1]) for words in map(str.split, lines) if len(words) >= 2}


class Link(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = Path(cls.folder.name)
        cls.objects = [cls.compile(source) for source in sorted((ROOT / "runtime-lite/core").glob("*.c"))]
        cls.memory = cls.path / "memory.o"
        cls.core = [file for file in cls.objects if file != cls.memory]
        cls.archive = cls.path / "librelax_rt.a"
        assert run("ar", "rcs", cls.archive, *cls.core)[0] == 0

    @classmethod
    def compile(cls, source):
        target = cls.path / (source.stem + ".o")
        includes = ["-I", ROOT / "runtime-lite/include", "-I", ROOT / "tests/abi"]
        code, output = run(CC, *FLAGS, *includes, "-c", source, "-o", target)
        assert code == 0, output
        return target

    def link(self, text, *flags):
        source = self.path / "program.c"
        source.write_text(text)
        return run(CC, "-no-pie", self.compile(source), *flags, "-o", self.path / "program")

    def test_the_runtime_has_no_writable_section_and_no_code_outside_its_own_sections(self):
        self.assertGreater(len(self.objects), 10)
        for file in self.objects:
            sections = re.findall(r"\] (\.\S+)\s+\w+\s+\w+ \w+ (\w+) \w+\s+(\w*)", run("readelf", "-SW", file)[1])
            self.assertTrue(sections)
            for name, size, flags in sections:
                if int(size, 16) != 0:
                    self.assertFalse("W" in flags and "A" in flags, f"{file.name} {name}")
                    self.assertNotEqual(name, ".text", file.name)

    def test_the_runtime_asks_for_nothing_but_memory_functions(self):
        for file in self.objects:
            for kind, name in symbols(file):
                if kind == "U":
                    self.assertRegex(name, r"^(rlx_\w+|memcpy|memmove|memset)$", file.name)
                elif file != self.memory:
                    self.assertRegex(name, r"^rlx_\w+$", file.name)
        self.assertEqual(symbols(self.memory), {("W", "memcpy"), ("W", "memmove"), ("W", "memset")})

    def test_the_typed_call_links_nothing_but_the_version(self):
        code, output = self.link(ENTRY.format(symbol="rlx_abi_1"), self.archive)
        self.assertEqual(code, 0, output)
        linked = {name for _, name in symbols(self.path / "program") if name.startswith("rlx_")}
        self.assertEqual(linked, {"rlx_abi_1"})

    def test_a_runtime_of_another_version_does_not_link(self):
        for flags in ([], ["-Wl,--gc-sections"]):
            code, output = self.link(ENTRY.format(symbol="rlx_abi_2"), *flags, self.archive)
            self.assertNotEqual(code, 0)
            self.assertRegex(output, "undefined (reference|symbol).*rlx_abi_2")

    def test_a_program_without_a_c_library_links(self):
        model = self.compile(ROOT / "tests/abi/fake_model.c")
        code, output = self.link(BARE, "-nostdlib", "-static", model, self.archive, self.memory)
        self.assertEqual(code, 0, output)
        undefined = [name for kind, name in symbols(self.path / "program") if kind == "U"]
        self.assertEqual(undefined, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
