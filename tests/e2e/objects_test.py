"""What every emitted object promises (docs/abi.md): what it consists of, what its header is, how it links.

The objects are made by relaxc from programs of this folder and from the digits example. The runtime is compiled here,
because that of a build with sanitizers or coverage links with nothing else.

Usage: objects_test.py RELAXC C-COMPILER C++-COMPILER"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/e2e/programs"
RELAXC, CC, CXX = Path(sys.argv[1]).resolve(), *sys.argv[2:4]
INCLUDE = ROOT / "runtime-lite/include"
WARNINGS = "-Wall -Wextra -pedantic -Wundef -Wshadow -Wconversion -Wcast-align -Werror".split()
LANGUAGES = [(CC, "c", "c99"), (CC, "c", "c11"), (CXX, "c++", "c++11")]
MODELS = {  # name: input, flags, functions that the program supplies
    "fixed": (PROGRAMS / "static.relax", [], set()),
    "state": (PROGRAMS / "state.relax", ["--state=h:h_next"], set()),
    "external": (PROGRAMS / "external.relax", [], {"test_pad", "test_padded_shape"}),
    "growing": (PROGRAMS / "loop_growing.relax", [], set()),
    "found": (PROGRAMS / "nonzero.relax", [], set()),
    "recurrent": (PROGRAMS / "lstm.relax", [], set()),
    "kernel": (ROOT / "tests/language/guide_mm_relu.relax", [], set()),
    "digits": (ROOT / "examples/digits/digits.onnx", [], set()),
}

FIXED_PROGRAM = """
#include "fixed.h"
static fixed_arena arena;
int main(void) {
  const float x[FIXED_X_ELEMENTS] = {1, 2, 3, 4, 5, 6}, y[FIXED_Y_ELEMENTS] = {1, 1, 1, 1, 1, 1, 1, 1};
  float d[FIXED_D_ELEMENTS];
  rlx_context context = RLX_CONTEXT_INIT;
  const fixed_args args = {x, y, d};
  context.arena = &arena;
  context.arena_bytes = FIXED_ARENA_BYTES;
  if (fixed_run(&context, &args) != RLX_OK) return 1;
  return d[0] == -3.0F && d[4] == -3.0F && d[7] == -3.5F ? 0 : 2;
}
"""
KERNEL_PROGRAM = """
#include "kernel.h"
static float a[128 * 128], b[128 * 128], c[128 * 128];
int main(void) {
  int i;
  for (i = 0; i < 128; ++i) b[i * 128 + i] = 2.0F;
  for (i = 0; i < 128 * 128; ++i) a[i] = (float)(i % 2 == 0 ? i : -i);
  if (kernel_mm_relu(NULL, a, b, c) != RLX_OK) return 1;
  for (i = 0; i < 128 * 128; ++i)
    if (c[i] != (i % 2 == 0 ? 2.0F * (float)i : 0.0F)) return 2;
  return 0;
}
"""
TWO_MODELS = """
#include "fixed.h"
#include "other.h"
#include <string.h>
int main(void) {
  const float x[6] = {1, 2, 3, 4, 5, 6}, y[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  float d[8], e[8];
  fixed_arena arena;
  rlx_context context = RLX_CONTEXT_INIT;
  const fixed_args first = {x, y, d};
  const other_args second = {x, y, e};
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  if (fixed_run(&context, &first) != RLX_OK || other_run(&context, &second) != RLX_OK) return 1;
  return fixed_model.num_functions == 1 && other_model.num_functions == 1 && memcmp(d, e, sizeof d) == 0 ? 0 : 2;
}
"""


# Compiles with the header of any model of these names.
ANY_PROGRAM = """
#include "fixed.h"
static fixed_arena arena;
static float x[8], y[8], d[8];
int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  const fixed_args args = {x, y, d};
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  return fixed_run(&context, &args);
}
"""


LONG_PROGRAM = """
#include "lengthy.h"
static int32_t a[64], b[64];
static const uint32_t wanted[64] = {WANTED};
int main(void) {
  int i;
  for (i = 0; i < 64; ++i) a[i] = i, b[i] = 1;
  if (lengthy_f(NULL, a, b) != RLX_OK) return 1;
  for (i = 0; i < 64; ++i)
    if ((uint32_t)b[i] != wanted[i]) return 2;
  return 0;
}
"""
EXTERNAL_PROGRAM = """
#include "external.h"
/* An opaque shape function, and the function that fills the tensor of that shape. */
int32_t test_padded_shape(rlx_context* context, int64_t n, int64_t m, const rlx_tensor* shape) {
  int64_t* dims = (int64_t*)shape->data;
  (void)context;
  dims[0] = n + 1;
  dims[1] = m + 2;
  return 0;
}
int32_t test_pad(rlx_context* context, const rlx_tensor* from, const rlx_tensor* to) {
  int64_t i;
  (void)context;
  (void)from;
  for (i = 0; i < to->shape[0] * to->shape[1]; ++i) ((float*)to->data)[i] = (float)i;
  return 0;
}
static float x[2 * 3], y[64];
static unsigned char arena[4096];
int main(void) {
  int64_t in_shape[2] = {2, 3}, out_shape[2] = {8, 8};
  rlx_tensor in = {x, 1, 0, 2, RLX_DTYPE_FLOAT, 32, 1, in_shape, NULL, 0};
  rlx_tensor out = {y, 1, 0, 2, RLX_DTYPE_FLOAT, 32, 1, out_shape, NULL, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  size_t offset = 64 - (size_t)arena % 64;
  context.arena = arena + offset;
  context.arena_bytes = 1024;
  if (external_model.functions->run(&context, &in, 1, &out, 1) != RLX_OK) return 1;
  if (out_shape[0] != 3 || out_shape[1] != 5) return 2;
  return y[0] == 1.0F && y[14] == 15.0F ? 0 : 3;
}
"""


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def symbols(file):
    """(type letter, name) of every symbol."""
    lines = run("nm", file)[1].splitlines()
    return [(words[-2], words[-1]) for words in map(str.split, lines) if len(words) >= 2]


def sections(file):
    """(name, size, flags) of every section."""
    rows = re.findall(r"^ *\[ *\d+\] (\S+) +\w+ +\w+ +\w+ (\w+) \w+ +(\w*) +\d+ +\d+ +\d+$",
                      run("readelf", "-SW", file)[1], re.M)
    return [(name, int(size, 16), flags) for name, size, flags in rows]


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = Path(cls.folder.name)
        cls.runtime = cls.build_runtime()
        for name, (source, flags, _) in MODELS.items():
            code, output = run(RELAXC, source, *flags, "-o", cls.path / f"{name}.o")
            assert code == 0, output
        code, output = run(RELAXC, MODELS["fixed"][0], "-o", cls.path / "other.o")
        assert code == 0, output

    @classmethod
    def build_runtime(cls):
        parts = []
        for source in sorted((ROOT / "runtime-lite/core").glob("*.c")):
            parts.append(cls.path / f"{source.stem}.part.o")
            code, output = run(CC, "-std=c99", "-O1", "-I", INCLUDE, "-c", source, "-o", parts[-1])
            assert code == 0, output
        code, output = run("ar", "rcs", cls.path / "librelax_rt.a", *parts)
        assert code == 0, output
        return cls.path / "librelax_rt.a"

    def object(self, name):
        return self.path / f"{name}.o"

    def program(self, text, objects, *flags, runtime=None, include=None):
        """Compiles and links `text`."""
        source = self.path / "source/program.c"  # beside no header
        source.parent.mkdir(exist_ok=True)
        source.write_text(text)
        includes = ["-I", include or self.path, "-I", INCLUDE]
        return run(CC, "-std=c11", "-ffunction-sections", *WARNINGS, *includes, source, *objects, *flags,
                   runtime or self.runtime, "-o", self.path / "program")

    def check_program(self, text, *objects):
        code, output = self.program(text, objects)
        self.assertEqual(code, 0, output)
        self.assertEqual(run(self.path / "program")[0], 0)

    def test_an_object_asks_for_the_runtime_memory_functions_and_what_its_source_names(self):
        for name, (_, _, externals) in MODELS.items():
            undefined = {symbol for kind, symbol in symbols(self.object(name)) if kind in "UwvV"}
            self.assertIn("rlx_abi_1", undefined)
            others = {symbol for symbol in undefined if not re.match(r"^(rlx_\w+|memcpy|memmove|memset)$", symbol)}
            self.assertEqual(others, externals, name)

    def test_global_symbols_begin_with_the_models_name(self):
        for name in MODELS:
            found = [symbol for kind, symbol in symbols(self.object(name)) if kind.isupper() and kind != "U"]
            self.assertIn(f"{name}_model", found)
            for symbol in found:
                self.assertTrue(symbol.startswith(f"{name}_"), symbol)

    def test_nothing_is_writable_and_everything_has_its_own_section(self):
        for name in MODELS:
            listed = sections(self.object(name))
            self.assertGreater(len(listed), 10)
            self.assertIn((".note.GNU-stack", 0, ""), listed)
            for section, size, flags in listed:
                if "A" not in flags or size == 0:
                    continue
                self.assertNotIn(section, (".text", ".data", ".bss", ".rodata", ".eh_frame"), name)
                self.assertNotRegex(section, r"^\.(init|fini|ctors|dtors|tdata|tbss)", name)
                if "W" in flags:  # written by the loader alone, which puts addresses in
                    self.assertRegex(section, r"^\.data\.rel\.ro\.", name)
            table = run("readelf", "-sW", self.object(name))[1]
            homes = re.findall(r" (?:FUNC|OBJECT) +\w+ +\w+ +(\d+) \S+$", table, re.M)
            self.assertGreater(len(homes), 5)
            self.assertEqual(len(homes), len(set(homes)), name)

    def test_headers_are_clean_in_every_language(self):
        for name, (compiler, language, standard), flags in product(MODELS, LANGUAGES, ([], ["-fshort-enums"])):
            text = self.path / "include"
            text.write_text(f'#include "{name}.h"\n#include "{name}.h"\nint use(void);\nint use(void) {{\n'
                            f"  return {name}_model.num_functions > 0;\n}}\n")
            result = run(compiler, f"-std={standard}", *WARNINGS, *flags, "-I", self.path, "-I", INCLUDE,
                         "-fsyntax-only", "-x", language, text)
            self.assertEqual(result, (0, ""), f"{name} {standard} {flags}")

    def test_a_static_model_runs_in_a_few_lines(self):
        self.check_program(FIXED_PROGRAM, self.object("fixed"))

    def test_a_public_prim_func_is_called_by_its_name(self):
        self.check_program(KERNEL_PROGRAM, self.object("kernel"))

    def test_two_models_live_in_one_program(self):
        self.check_program(TWO_MODELS, self.object("fixed"), self.object("other"))

    def test_the_typed_call_brings_no_table_and_no_name(self):
        code, output = self.program(FIXED_PROGRAM, [self.object("fixed")], "-Wl,--gc-sections")
        self.assertEqual(code, 0, output)
        linked = {symbol for _, symbol in symbols(self.path / "program") if re.match("fixed[._]|rlx_", symbol)}
        allowed = r"^(rlx_abi_1|fixed_run_\w+|fixed\.weights|fixed\.f\.\w+|fixed\.cpu_features|fixed\.cpu\.\w+)$"
        self.assertEqual({symbol for symbol in linked if not re.match(allowed, symbol)}, set())
        self.assertTrue(any(symbol.startswith("fixed_run_") for symbol in linked))

    def test_the_header_of_another_model_does_not_link(self):
        other = self.path / "changed"
        other.mkdir()
        text = MODELS["fixed"][0].read_text().replace("y: R.Tensor((2, 4)", "y: R.Tensor((1, 4)")
        (other / "fixed.relax").write_text(text)
        code, output = run(RELAXC, other / "fixed.relax", "-o", other / "fixed.o")
        self.assertEqual(code, 0, output)
        self.check_program(ANY_PROGRAM, self.object("fixed"))
        for flags in ([], ["-Wl,--gc-sections"]):
            code, output = self.program(ANY_PROGRAM, [self.object("fixed")], *flags, include=other)
            self.assertNotEqual(code, 0)
            self.assertRegex(output, "undefined reference to `fixed_run_")

    def test_thousands_of_statements_in_a_row_compile_and_mean_what_they_say(self):
        count, size = 12000, 64
        lines = [f"    B[{i * 7 % size}] = A[{i * 13 % size}] + B[{i * 29 % size}]" for i in range(count)]
        (self.path / "lengthy.relax").write_text("@T.prim_func\ndef f(A: T.Buffer((64,), \"int32\"), "
                                              "B: T.Buffer((64,), \"int32\")):\n" + "\n".join(lines) + "\n")
        code, output = run(RELAXC, self.path / "lengthy.relax", "-o", self.path / "lengthy.o")
        self.assertEqual(code, 0, output)
        a, b = list(range(size)), [1] * size
        for i in range(count):
            b[i * 7 % size] = (a[i * 13 % size] + b[i * 29 % size]) & 0xFFFFFFFF
        wanted = ", ".join(f"{value}U" for value in b)
        self.check_program(LONG_PROGRAM.replace("WANTED", wanted), self.path / "lengthy.o")

    def test_external_functions_are_declared_and_must_be_defined(self):
        header = (self.path / "external.h").read_text()
        self.assertIn("int32_t test_pad(rlx_context *context, const rlx_tensor *h, const rlx_tensor *p);", header)
        self.assertRegex(header, r"int32_t test_padded_shape\(rlx_context \*context, int64_t n, int64_t m, ")
        self.check_program(EXTERNAL_PROGRAM, self.object("external"))
        code, output = self.program(EXTERNAL_PROGRAM.replace("int32_t test_padded_shape", "int32_t test_other"),
                                    [self.object("external")], "-Wno-missing-prototypes")
        self.assertNotEqual(code, 0)
        self.assertRegex(output, "undefined reference to `test_padded_shape'")

    def test_a_runtime_of_another_version_does_not_link(self):
        runtime = self.path / "librelax_rt_2.a"
        code, output = run("objcopy", "--redefine-sym", "rlx_abi_1=rlx_abi_2", self.runtime, runtime)
        self.assertEqual(code, 0, output)
        linkers = [linker for linker in ("bfd", "gold", "lld") if shutil.which(f"ld.{linker}")]
        self.assertTrue(linkers)
        for linker, flags in product(linkers, ([], ["-Wl,--gc-sections"])):
            with self.subTest(linker=linker, flags=flags):
                code, output = self.program(FIXED_PROGRAM, [self.object("fixed")], f"-fuse-ld={linker}", *flags)
                self.assertEqual(code, 0, output)
                code, output = self.program(FIXED_PROGRAM, [self.object("fixed")], f"-fuse-ld={linker}", *flags, runtime=runtime)
                self.assertNotEqual(code, 0)
                self.assertRegex(output, "undefined (reference to|symbol:) [`']?rlx_abi_1")

    def test_the_version_is_asked_for_by_a_relocation_that_does_nothing(self):
        for name in MODELS:
            asked = re.findall(r"^\w+ +\w+ +(R_\w+) .*\brlx_abi_1\b", run("readelf", "-rW", self.object(name))[1], re.M)
            self.assertTrue(asked, name)
            self.assertEqual({kind.split("_")[-1] for kind in asked}, {"NONE"}, name)

    def test_one_input_gives_the_same_bytes_anywhere(self):
        for name, extension in product(("fixed", "recurrent", "digits"), (".o", ".c", ".s", ".h")):
            source, flags, _ = MODELS[name]
            results = []
            for folder in ("here", "there/deeper"):
                path = self.path / folder
                path.mkdir(parents=True, exist_ok=True)
                copy = shutil.copy(source, path / f"copy{source.suffix}")
                output = f"{name}.c" if extension == ".h" else f"{name}{extension}"
                given = Path(copy).name if folder == "here" else copy
                code, message = run(RELAXC, given, *flags, "-o", output, cwd=path)
                self.assertEqual(code, 0, message)
                results.append((path / f"{name}{extension}").read_bytes())
            self.assertEqual(results[0], results[1], name + extension)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
