"""Loaders read a model whose records have grown: they step by function_size and spec_size, never by their own sizes.

The model's tables are copied into records with fields behind those of today when the library is loaded. relax_rt.py,
relax_rt.hpp and rlx_error_text must then find the second function, and the second input of it, where they are.

Usage: grown_test.py RELAXC REPOSITORY [unittest's own]"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))
import relax_rt  # noqa: E402: the folder is known only now

PROGRAM = """@R.function
def first(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    y = R.negative(x)
    return y

@R.function
def second(a: R.Tensor(("n", 3), "float32"), b: R.Tensor(("n",), "float32")):
    s = R.sum(a, axis=[1])
    y = R.add(s, b)
    z = R.multiply(s, b)
    return y, z
"""
GROWN = """#include <string.h>
#include "m.h"
typedef struct { rlx_function known; unsigned char more[40]; } function;
typedef struct { rlx_tensor_spec known; unsigned char more[24]; } spec;
static function functions[2];
static spec specs[2][2][4];
rlx_model grown_model;
static rlx_tensor_spec* copied(spec* to, const rlx_tensor_spec* from, uint32_t count) {
  memset(to, 0xa5, sizeof *to * 4);
  for (uint32_t i = 0; i < count; ++i) to[i].known = from[i];
  return &to->known;
}
__attribute__((constructor)) static void grow(void) {
  memset(functions, 0xa5, sizeof functions);
  for (uint32_t i = 0; i < m_model.num_functions; ++i) {
    rlx_function* f = &functions[i].known;
    *f = m_model.functions[i];
    f->inputs = copied(specs[i][0], f->inputs, f->num_inputs);
    f->outputs = copied(specs[i][1], f->outputs, f->num_outputs);
  }
  grown_model = m_model;
  grown_model.function_size = sizeof(function);
  grown_model.spec_size = sizeof(spec);
  grown_model.functions = &functions[0].known;
}
"""
CPP = """#include <cstdio>
#include "relax_rt.hpp"
extern "C" rlx_model grown_model;
int main() {
  relax::Model model(grown_model, "second");
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[2] = {10, 20};
  auto out = model.run({relax::view(a, {2, 3}), relax::view(b, {2})});
  std::printf("%s %s %g %g\\n", model.input(1).name, model.output(1).name, out[0].data<float>()[1], out[1].data<float>()[1]);
  try {
    model.run({relax::view(a, {2, 3}), relax::view(b, {1})});
  } catch (const relax::Error& error) {
    std::printf("%s\\n", error.what());
  }
}
"""
REFUSAL = "input 'b': dim 0 is 1 where dim 'n' is 2 (SYMBOL_EQUALITY)"


class Grown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-grown-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)
        for name, text in (("m.relax", PROGRAM), ("grown.c", GROWN), ("main.cpp", CPP)):
            (cls.path / name).write_text(text)
        cls.run_tool(RELAXC, "m.relax", "-o", "m.c")
        core = [file for file in sorted((ROOT / "runtime-lite/core").glob("*.c")) if file.name != "memory.c"]
        includes = [f"-I{ROOT}/runtime-lite/include", f"-I{ROOT}/runtime-lite/cpp", f"-I{ROOT}"]
        cls.run_tool("cc", "-O1", "-shared", "-fPIC", *includes, "grown.c", "m.c", *core, "-lm", "-o", "grown.so")
        cls.run_tool("c++", "-std=c++17", *includes, "main.cpp", cls.path / "grown.so", "-o", "main")

    @classmethod
    def run_tool(cls, *command):
        done = subprocess.run([str(word) for word in command], cwd=cls.path, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    def test_python_steps_by_the_sizes_of_the_model(self):
        model = relax_rt.load(self.path / "grown.so")
        self.assertEqual(list(model.functions), ["first", "second"])
        second = model.functions["second"]
        self.assertEqual([spec.name for spec in (*second.inputs, *second.outputs)], [b"a", b"b", b"y", b"z"])
        y, z = second(np.arange(1, 7, dtype=np.float32).reshape(2, 3), np.float32([10, 20]))
        self.assertEqual((y.tolist(), z.tolist()), ([16, 35], [60, 300]))
        with self.assertRaises(relax_rt.RlxError) as caught:
            second(np.ones((2, 3), np.float32), np.float32([1]))
        self.assertTrue(str(caught.exception).endswith(REFUSAL), caught.exception)

    def test_python_refuses_another_version(self):
        (self.path / "other.c").write_text('#include "relax_rt.h"\nconst rlx_model other_model = {RLX_ABI_VERSION + 1};\n')
        self.run_tool("cc", "-shared", "-fPIC", f"-I{ROOT}/runtime-lite/include", "other.c", "-o", "other.so")
        with self.assertRaisesRegex(ValueError, "ABI version 2, this loader knows 1"):
            relax_rt.load(self.path / "other.so")

    def test_cpp_and_sentences_step_by_the_sizes_of_the_model(self):
        values, refusal = self.run_tool("./main").splitlines()
        self.assertEqual(values, "b z 35 300")
        self.assertTrue(refusal.endswith(REFUSAL), refusal)


if __name__ == "__main__":
    unittest.main()
