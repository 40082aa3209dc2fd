"""What pages show of C, Make, CMake, JSON and commands, taken from them as it is there and run from an installed
package: every such block is either run here, or listed with the test that runs it or the reason why nothing could.

Usage: snippets_test.py REPOSITORY BUILD [unittest's own]"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROOT, BUILD = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
DIGITS = ROOT / "examples/digits/digits.onnx"
LANGUAGES = ("c", "make", "cmake", "json", "sh")

# Blocks by page, language and number that are not run below.
ELSEWHERE = {
    ("README.md", "c", 0): "docs:readme",
    ("README.md", "make", 0): "docs:readme",
    ("README.md", "cmake", 0): "docs:readme",
    ("docs/abi.md", "c", 1): "the form of a prototype",
}
RUN = set()


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.M | re.S)


def block(name, language, number=0):
    RUN.add((name, language, number))
    return blocks(name, language)[number]


def commands(name, first):
    """The lines of a block without a language that begin with "$ " or with relaxc, of the block with `first` in it."""
    found = next(text for text in re.findall(r"^```\n(.*?)^```$", page(name), re.M | re.S) if first in text)
    return [line.removeprefix("$ ").split("  #")[0].strip() for line in found.splitlines()
            if line.startswith(("$ ", "relaxc "))]


class Snippets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.prefix = Path(cls.scratch.name) / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "model.onnx").write_bytes(DIGITS.read_bytes())

    def run_in(self, *words, **environment):
        path = f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": path, **environment})
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def program(self, text, *objects):
        """Compiles and runs a C program with these objects."""
        self.write("main.c", text)
        self.run_in("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", f"-I{self.prefix}/include",
                    "main.c", *objects, f"-L{self.prefix}/lib", "-lrelax_rt_hosted", "-lrelax_rt", "-lm", "-o", "main")
        return self.run_in("./main")

    def test_the_generic_call(self):
        self.write("mlp.relax", '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):\n    y = R.nn.relu(x)\n'
                                "    return y\n")
        self.run_in("relaxc", "mlp.relax", "-o", "mlp.o")
        self.program("""#include <stdlib.h>
#include "relax_rt.h"
int main(void) {
  float x[8] = {-1, 2, -3, 4, 5, -6, 7, -8}, y[8] = {0};
  int64_t shape[2] = {2, 4}, dims[2];
  rlx_tensor inputs[1] = {{.data = x, .device_type = 1, .ndim = 2, .dtype_code = 2, .dtype_bits = 32,
                           .dtype_lanes = 1, .shape = shape}};
  rlx_tensor outputs[1] = {inputs[0]};
  outputs[0].data = y, outputs[0].shape = dims;
  rlx_context context = RLX_CONTEXT_INIT;
  rlx_error error;
  uint64_t bytes;
  """ + block("docs/abi.md", "c", 0) + """  return dims[0] == 2 && y[0] == 0 && y[1] == 2 && y[6] == 7 && y[7] == 0 ? 0 : 1;
}
""", "mlp.o")

    def test_descriptions_of_machines(self):
        for name in ("docs/command-line.md", "docs/machine-model.md"):
            self.write("board.json", block(name, "json"))
            self.run_in("relaxc", "model.onnx", "--target", "board.json", "-o", "board.o")

    def test_pools(self):
        self.run_in("relaxc", "model.onnx", "-o", "model.o", "--dim", "n=1", "--pool", "fast=4K", "--pool", "slow")
        self.program("""#include "model.h"
static float image[64], logits[10];
int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  """ + block("docs/command-line.md", "c", 0) + """  model_args args = {.image = image, .logits = logits};
  return model_run(&context, &args);
}
""", "model.o")

    def test_c_in_several_files(self):
        self.write("Makefile", block("docs/command-line.md", "make"))
        (self.folder / "gen").mkdir()
        flags = ("model.a", f"RELAXC_INCLUDE={self.prefix}/include")
        self.run_in("make", *flags)
        self.run_in("make", "-q", *flags)

    def test_the_self_test(self):
        self.run_in("relaxc", "model.onnx", "-o", "model.o", "--dim", "n=1", "--emit-selftest")
        header = (self.folder / "model.h").read_text()
        macro, prototype = block("docs/command-line.md", "c", 1).splitlines()
        self.assertIn(macro.rsplit(" ", 1)[0] + " ", header)
        self.assertIn(prototype.split(";")[0] + ";", header)
        self.program("""#include "model.h"
static _Alignas(MODEL_ARENA_ALIGN) unsigned char arena[MODEL_SELFTEST_ARENA_BYTES];
int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = arena, context.arena_bytes = sizeof arena;
  return model_selftest(&context);
}
""", "model.o")

    def test_tools(self):
        image = np.random.default_rng(1).standard_normal((1, 1, 8, 8), np.float32)
        np.save(self.folder / "image.npy", image)
        self.run_in("relaxc", "run", "model.onnx", "image.npy", "-o", "out")
        data = self.folder / "sets/test_data_set_0"
        data.mkdir(parents=True)
        for name, array in (("input_0", image), ("output_0", np.load(self.folder / "out/logits.npy"))):
            (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        lines = commands("docs/command-line.md", "relaxc verify model.onnx")
        self.assertEqual([line.split()[1] for line in lines], ["run", "verify", "bench", "inspect"])
        for line in lines:
            self.run_in(*shlex.split(line))

    def test_a_model_as_a_program(self):
        np.save(self.folder / "image.npy", np.zeros((1, 1, 8, 8), np.float32))
        self.run_in("relaxc", "model.onnx", "-o", "model")
        lines = commands("docs/command-line.md", "./model image.npy")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.run_in(*shlex.split(line))
        self.assertEqual(np.load(self.folder / "out/logits.npy").shape, (1, 10))

    def test_rules_of_operators(self):
        node = helper.make_node("Smooth", ["x"], ["y"], domain="my.dsp", radius=3)
        ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n"]) for name in "xy"]
        model = helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:]), ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("my.dsp", 1)])
        onnx.save(model, self.folder / "model.onnx")
        self.write("ops.json", block("docs/custom-operators.md", "json"))
        lines = commands("docs/custom-operators.md", "--custom-op ops.json")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.run_in(*shlex.split(line))

    def test_the_compiler_in_a_program(self):
        compiles, refused = (block("docs/embed-the-compiler.md", "c", i) for i in range(2))
        self.write("app.c", """#include <relaxc.h>
#include <stdio.h>
#include <string.h>
static char bytes[1 << 20];
static size_t kept;
static void keep(const char *path, const void *content, size_t size) {
  kept += content != NULL && size != 0 && strncmp(path, "model.", 6) == 0;
}
static void compile(size_t size) {
  """ + compiles.replace("\n", "\n  ") + """
}
static void refuse(void) {
  relaxc_request *request = relaxc_request_create();
  relaxc_request_input(request, "none.onnx");
  relaxc_request_option(request, "o", "none.o");
  relaxc_result *result = relaxc_compile(request);
  """ + refused.replace("\n", "\n  ") + """
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}
int main(void) {
  FILE *file = fopen("model.onnx", "rb");
  compile(fread(bytes, 1, sizeof bytes, file));
  refuse();
  return kept == 2 ? 0 : 1;
}
""")
        # The page's dim is that of another model.
        text = (self.folder / "app.c").read_text()
        self.write("app.c", text.replace('"batch=1..16"', '"n=1..16"'))
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.21)\nproject(app LANGUAGES C)\n"
                                     "add_executable(app app.c)\n" + block("docs/embed-the-compiler.md", "cmake"))
        self.run_in("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_in("cmake", "--build", "build")
        self.assertIn("No such file", self.run_in("build/app"))

    def test_numbers_of_a_quantized_interface(self):
        model, = (ROOT / "examples/digits-int8").glob("*.onnx")
        self.run_in("relaxc", model, "-o", "digits8.o", "--io=quantized")
        header = (self.folder / "digits8.h").read_text()
        for line in block("docs/quantization.md", "c").splitlines():
            self.assertIn(line, header)

    def test_schedules(self):
        self.write("mm_relu.relax", '@R.function\ndef main(a: R.Tensor((64, 64), "float32"), '
                                    'b: R.Tensor((64, 64), "float32")):\n    y = R.nn.relu(R.matmul(a, b))\n    return y\n')
        for line in block("docs/schedules.md", "sh").splitlines():
            self.run_in("sh", "-euc", line.removeprefix("$ "), EDITOR="true")

    def test_training(self):
        self.write("model.relax", "\n".join(blocks("docs/training.md", "python")))
        self.run_in("relaxc", "model.relax", "--dim", "n=1..8", "-o", "model.o")
        self.program("""#include "model.h"
static _Alignas(MODEL_ARENA_ALIGN_OF_ALL) unsigned char arena[MODEL_ARENA_MAX_OF_ALL];
int main(void) {
  const float x[8] = {1, 2, 3, 4, -1, 0, 2, 1};
  const int64_t label[2] = {0, 2}, n = 2;
  float w[12] = {0}, g[12], y = 0, rate = 0.1f;
  int steps = 50;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = arena, context.arena_bytes = sizeof arena;
""" + block("docs/training.md", "c") + """  return y < 0.1f ? 0 : 1;
}
""", "model.o")

    def test_zz_no_block_is_left_out(self):
        pages = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]
        for name in pages:
            for language in LANGUAGES:
                for number in range(len(blocks(name, language))):
                    self.assertIn((name, language, number), RUN | set(ELSEWHERE))


if __name__ == "__main__":
    unittest.main()
