"""What a process takes that runs a model: no more than the model's weights, its arena and its tensors, and 3 MB for the
program itself, C library included. The kernel's own count says so (VmHWM of /proc/self/status).

Usage: resident_test.py RELAXC C-COMPILER"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
RELAXC, CC = Path(sys.argv[1]).resolve(), sys.argv[2]
SHARED = Path(os.environ.get("RELAXC_MODELS", ROOT.parent / "shared/models"))
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "relax_rt.h"

extern const rlx_model model_model;
enum { kMostTensors = 16, kMostRank = 8 };
static uint64_t bytes_of_tensors;

/* Memory for a tensor of constant dims, of which every page is written. */
static int make(const rlx_tensor_spec *spec, rlx_tensor *tensor, int64_t *shape) {
  size_t bytes = spec->dtype_bits / 8;
  int32_t i;
  if (spec->ndim > kMostRank) return 0;
  for (i = 0; i < spec->ndim; ++i) {
    if (spec->dims[i] < 0) return 0;
    shape[i] = spec->dims[i];
    bytes *= (size_t)shape[i];
  }
  tensor->data = malloc(bytes);
  if (tensor->data == NULL) return 0;
  memset(tensor->data, 0, bytes);
  bytes_of_tensors += bytes;
  tensor->device_type = 1;
  tensor->ndim = spec->ndim;
  tensor->dtype_code = spec->dtype_code;
  tensor->dtype_bits = spec->dtype_bits;
  tensor->dtype_lanes = 1;
  tensor->shape = shape;
  return 1;
}

static void print_resident(void) {
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0) printf("%s", line);
}

int main(void) {
  static rlx_tensor in[kMostTensors], out[kMostTensors];
  static int64_t shapes[2 * kMostTensors][kMostRank];
  const rlx_function *function = model_model.functions;
  rlx_context context = RLX_CONTEXT_INIT;
  uint32_t i;
  if (function->num_inputs > kMostTensors || function->num_outputs > kMostTensors) return 1;
  for (i = 0; i < function->num_inputs; ++i)
    if (!make(&function->inputs[i], &in[i], shapes[i])) return 2;
  for (i = 0; i < function->num_outputs; ++i)
    if (!make(&function->outputs[i], &out[i], shapes[kMostTensors + i])) return 3;
  context.arena_bytes = function->arena_max;
  context.arena = aligned_alloc(64, (size_t)(function->arena_max + 63) / 64 * 64);
  if (context.arena == NULL) return 4;
  if (function->run(&context, in, function->num_inputs, out, function->num_outputs) != RLX_OK) return 5;
  printf("arena: %llu tensors: %llu\\n", (unsigned long long)function->arena_max, (unsigned long long)bytes_of_tensors);
  print_resident();
  return 0;
}
"""
# Products that wait for later ones: an arena of megabytes, and no weights.
ROWS = """@R.function
def main(x: R.Tensor((1024, 1024), "float32")) -> R.Tensor((1024, 1024), "float32"):
    a = R.matmul(x, x)
    b = R.matmul(a, x)
    c = R.matmul(b, a)
    d = R.matmul(c, b)
    e = R.matmul(R.matmul(d, c), R.matmul(b, a))
    return e
"""
PROGRAM_ITSELF = 3 << 20


class Resident(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-resident-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def run_in(self, *command):
        done = subprocess.run(list(map(str, command)), cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check(self, source, *flags):
        self.run_in(RELAXC, source, *flags, "--threads=1", "-o", "model.o")
        (self.path / "program.c").write_text(PROGRAM)
        self.run_in(CC, "-O1", "-I", ROOT / "runtime-lite/include", "program.c", "model.o",
                    *sorted((ROOT / "runtime-lite/core").glob("*.c")), "-o", "program")
        numbers = dict(re.findall(r"(\w+):\s+(\d+)", self.run_in("./program")))
        weights = re.search(r"\.weights\s+(\d+)", self.run_in("size", "-A", "model.o"))
        planned = int(numbers["arena"]) + int(numbers["tensors"]) + int(weights[1] if weights else 0)
        resident = int(numbers["VmHWM"]) * 1024
        print(f"{Path(source).parent.name}: {resident:,} resident, {planned:,} planned")
        self.assertLessEqual(resident, planned + PROGRAM_ITSELF)
        return planned

    def test_large_tensors_between_kernels(self):
        (self.path / "rows.relax").write_text(ROWS)
        self.assertGreater(self.check(self.path / "rows.relax"), 16_000_000)

    @unittest.skipUnless((SHARED / "lesson14-mlp").exists(), "needs a model of the shared folder")
    def test_a_model_that_is_mostly_weights(self):
        self.assertGreater(self.check(SHARED / "lesson14-mlp/model.onnx", "--dim", "N=1"), 4_000_000)

    @unittest.skipUnless((SHARED / "super-resolution-10").exists(), "needs a model of the shared folder")
    def test_a_model_that_is_mostly_activations(self):
        self.assertGreater(self.check(SHARED / "super-resolution-10/model.onnx", "--dim", "batch_size=1"), 16_000_000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
