"""--c-profile=misra: C for models of fixed size without what MISRA C forbids outright, and the list of what it advises
against and stays (misra_deviations.txt), held against cppcheck.

Usage: misra_test.py RELAXC RUNTIME [unittest's own]"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "embedded"))
import program
import programs
from program import LINK_FLAGS, LONG, RUNTIME, ProgramTest

REPOSITORY = Path(__file__).resolve().parents[2]
INCLUDE = REPOSITORY / "runtime-lite/include"
DIGITS = REPOSITORY / "examples/digits/digits.onnx"
SMALL = REPOSITORY / "examples/digits-int8/digits8.onnx"
MODELS = Path(os.environ.get("RELAXC_MODELS", REPOSITORY.parent / "shared/models"))
WILD = {"mnist-8": [], "unitree-g1-policy": [], "autoencoder1d": [], "qtdnn": ["--dim", "input_d0=8"]}  # where they are
OWN = ("stacked", "static", "tir_arms", "tir_assert")  # of tests/e2e/programs, those of fixed size
STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -Wundef -ffp-contract=off".split()

GATE = """@R.function
def main(image: R.Tensor((1, 64), "float32"), w: R.Tensor((64, 10), "float32")) -> R.Tensor((1, 10), "float32"):
    with R.dataflow():
        a = R.matmul(image, R.ones((64, 10), "float32") * R.const(0.05, "float32"))
        b = R.sigmoid(a) * R.tanh(a) - R.nn.softmax(a, axis=-1)
        logits = b + R.sqrt(R.abs(a)) + R.matmul(image, w) + R.sin(a)
        R.output(logits)
    return logits
"""

MAIN = """#include <stdio.h>
#include <string.h>
#include "m.h"
static struct { _Alignas(64) unsigned char bytes[M_ARENA_BYTES + 1]; } arena;
int main(void) {
  static float image[64], w[640], logits[42], cells[12];
  for (int i = 0; i < 64; i++) image[i] = (float)((i * 37 + 11) %% 17);
  for (int i = 0; i < 640; i++) w[i] = (float)((i * 31 + 7) %% 13) * 0.01f;
  (void)w;
  (void)cells;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = M_ARENA_BYTES;
  const m_args args = {%s};
  int status = m_run(&context, &args);
  printf("%%d", status);
  for (int i = 0; i < 54; i++) {
    unsigned bits;
    memcpy(&bits, i < 42 ? &logits[i] : &cells[i - 42], 4);
    printf(" %%08x", bits);
  }
  return 0;
}
"""


class Misra(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gate.relax", GATE)
        self.write("lstm.onnx", programs.lstm())
        self.models = {"digits": (DIGITS, ["--dim", "n=1"], "image, logits"), "digits8": (SMALL, [], "image, logits"),
                       "gate": ("gate.relax", [], "image, w, logits"),
                       "lstm": ("lstm.onnx", ["--dim", "t=7"], "image, logits, cells, cells + 6")}

    def run_c(self, compiler, name):
        subprocess.run([compiler, *STRICT, "-I", INCLUDE, "-c", f"{name}.c", "-o", "m.o"], cwd=self.path, check=True)
        subprocess.run(["cc", *LINK_FLAGS, "main.c", "m.o", RUNTIME, "-lm", "-I", INCLUDE, "-o", "program"], cwd=self.path,
                       check=True)
        return subprocess.run(["./program"], cwd=self.path, capture_output=True, check=True).stdout.decode()

    def test_it_computes_the_same_under_both_compilers(self):
        for model, (source, flags, more) in self.models.items():
            with self.subTest(model):
                self.write("main.c", MAIN % more)
                answers = set()
                for profile in ("c99", "misra"):
                    self.compiles(source, *flags, "--name", "m", "--target", "cortex-m4", "-o", "m.c", "--c-profile", profile)
                    for compiler in filter(shutil.which, ("gcc", "clang")):
                        answers.add(self.run_c(compiler, "m"))
                self.assertEqual(len(answers), 1, answers)
                self.assertTrue(answers.pop().startswith("0 "))
                text = (self.path / "m.c").read_text()
                # The header declares no table that the file does not have.
                self.assertNotIn("m_model", (self.path / "m.h").read_text())
                for word in ("union", "goto", "rlx_internal", "rlx_function", "m_model", "malloc"):
                    self.assertNotRegex(text, rf"\b{word}\b")
                self.assertNotRegex(text, r"\(\*\w+\)\(")  # a pointer to a function
                bounds = re.findall(r"for \(.*?; \w+ < (.*?); ", text)
                self.assertTrue(bounds and all(bound.rstrip("u").isdigit() for bound in bounds), bounds)

    @unittest.skipUnless(shutil.which("cppcheck"), "there is no cppcheck")
    def test_what_cppcheck_finds_is_on_the_list(self):
        lines = (Path(__file__).parent / "misra_deviations.txt").read_text().splitlines()
        listed = {line.split(":")[0] for line in lines if not line.startswith("#")}
        found = {}
        models = {name: (source, flags) for name, (source, flags, _) in self.models.items()}
        models.update({name: (REPOSITORY / f"tests/e2e/programs/{name}.relax", []) for name in OWN})
        for name, flags in WILD.items():
            path = MODELS / name / "model.onnx"
            models.update({name: (path, flags)} if path.exists() else {})
        if not LONG:  # cppcheck takes about three seconds a file
            models = dict(list(models.items())[::2])
        for model, (source, flags) in models.items():
            self.compiles(source, *flags, "--name", "m", "--target", "cortex-m4", "-o", "m.c", "--c-profile", "misra",
                          *(["--weights", "w.bin"] if model not in ("gate", "digits8", *OWN) else []))
            for compiler in filter(shutil.which, ("gcc", "clang")):
                subprocess.run([compiler, *STRICT, "-I", INCLUDE, "-c", "m.c", "-o", "m.o"], cwd=self.path, check=True)
            # Of the runtime's header what a system's compiler sees: cppcheck would go through all machines that it knows.
            self.write("rlx_libc.h", "#include <math.h>\n#include <string.h>\n")
            done = subprocess.run(["cppcheck", "--addon=misra", "--std=c99", f"-I{INCLUDE}", "--enable=style", "m.c"],
                                  cwd=self.path, capture_output=True, check=True, timeout=120)
            for place, rule in re.findall(r"^(m\.[ch]:\d+).*\[misra-c2012-([\d.]+)\]$", done.stderr.decode(), re.M):
                found.setdefault(rule, f"{model} {place}")
        self.assertTrue(found, "cppcheck has no MISRA addon, or it finds nothing at all")
        self.assertEqual({rule: place for rule, place in found.items() if rule not in listed}, {})
        if LONG:
            self.assertEqual(listed - set(found), set(), "no longer found: take it off the list")

    def test_what_cannot_be_written_so(self):
        self.refuses(1, "'main' has dims that are not fixed", DIGITS, "-o", "m.c", "--c-profile=misra")
        self.refuses(2, "--c-profile=misra is for C", DIGITS, "-o", "m.o", "--c-profile=misra")
        for flag in ("--trace", "--poll"):
            self.refuses(1, "context.trace and context.poll are pointers to functions", DIGITS, "--dim", "n=1", "-o", "m.c",
                         "--c-profile=misra", flag)
        self.write("f.relax", """@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.call_dps_packed("mine", (x,), out_sinfo=R.Tensor((4,), "float32"))
    return y
""")
        self.refuses(1, "calls 'mine', which is not part of it", "f.relax", "-o", "m.c", "--c-profile=misra")


if __name__ == "__main__":
    program.main()
