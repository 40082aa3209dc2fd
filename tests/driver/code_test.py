"""What is said of the code beside what it computes: how much stack it takes, and which source it comes from.

Usage: code_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import program
from program import LINK_FLAGS, LONG, RUNTIME, ProgramTest

PROGRAMS = Path(__file__).parents[1] / "e2e/programs"
NETWORK = """@R.function
def main(x: R.Tensor((1, 3, 16, 16), "float32"), w: R.Tensor((8, 3, 3, 3), "float32"), v: R.Tensor((2048, 40), "float32")) -> R.Tensor((1, 40), "float32"):
    with R.dataflow():
        a = R.nn.conv(x, w, padding=[1, 1, 1, 1])
        b = R.nn.gelu(a)
        c = R.reshape(b, (1, 2048))
        d = R.matmul(c, v)
        y = R.nn.softmax(d)
        R.output(y)
    return y
"""
DYNAMIC = """@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32")) -> R.Tensor(("n", 64), "float32"):
    n = T.int64()
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.tanh(a)
        c = R.cumsum(b, axis=0)
        y = R.nn.layer_norm(c)
        R.output(y)
    return y
"""
SEVEN_ROWS = """@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor((7, 4), "float32"):
    with R.dataflow():
        a = R.reshape(x, (7, 4))
        y = R.nn.relu(a)
        R.output(y)
    return y
"""
ENDLESS = """@R.function
def main(x: R.Tensor((), "float32")):
    go = R.less(R.const(0, "float32"), R.const(1, "float32"))
    with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((), "float32"),)) as (i, a):
        b = R.add(a, x)
        c = R.less(R.multiply(b, R.const(0, "float32")), R.const(1, "float32"))
        last = R.carry(b, condition=c)
    return last
"""
CALLS_ITSELF = """@R.function(private=True)
def down(x: R.Tensor((4,), "float32"), n: R.Tensor((), "int64")) -> R.Tensor((4,), "float32"):
    c = R.less(n, R.const(1, "int64"))
    if c:
        r = x
    else:
        m = R.subtract(n, R.const(1, "int64"))
        q = down(x, m)
        r = R.add(q, x)
    return r

@R.function
def main(x: R.Tensor((4,), "float32"), n: R.Tensor((), "int64")) -> R.Tensor((4,), "float32"):
    y = down(x, n)
    return y
"""
CALLS_OUT = """@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.call_dps_packed("mine", (x,), out_sinfo=R.Tensor((4,), "float32"))
    return y
"""
PRINTS = """@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    _ = R.print(x, format="x is {}")
    return x
"""

# Runs the model on a stack of its own that was filled with a pattern, and prints how far down the pattern is gone, next
# to what the model says.
PAINT = r"""
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
enum { kStack = 1 << 20 };
static unsigned char *stack;
static rlx_context context = RLX_CONTEXT_INIT;
static rlx_tensor tensors[16];
static int64_t shapes[16][8];
static uint64_t used;
static int32_t status;
static void prepare(const rlx_function *f) {
  int64_t symbols[4] = {33, 33, 33, 33};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < f->num_inputs + f->num_outputs; ++i) {
    const rlx_tensor_spec *spec = i < f->num_inputs ? &f->inputs[i] : &f->outputs[i - f->num_inputs];
    int64_t count = 1;
    for (int32_t k = 0; k < spec->ndim; ++k) count *= shapes[i][k] = spec->dims[k] >= 0 ? spec->dims[k] : 33;
    tensors[i].data = calloc((size_t)count, spec->dtype_bits / 8);
    tensors[i].device_type = 1;
    tensors[i].ndim = spec->ndim;
    tensors[i].dtype_code = spec->dtype_code;
    tensors[i].dtype_bits = spec->dtype_bits;
    tensors[i].dtype_lanes = 1;
    tensors[i].shape = shapes[i];
  }
  if (f->arena_bytes(symbols, &bytes) != RLX_OK) exit(3);
  context.arena_bytes = bytes;
  context.arena = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64 + 64);
}
static void *run(void *unused) {
  const rlx_function *f = &m_model.functions[0];
  unsigned char here;
  unsigned char *base = &here;
  (void)unused;
  memset(stack, 0xa5, (size_t)(base - 512 - stack));
  status = f->run(&context, tensors, f->num_inputs, tensors + f->num_inputs, f->num_outputs);
  unsigned char *at = stack;
  while (*at == 0xa5) ++at;
  used = (uint64_t)(base - at);
  return NULL;
}
int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  stack = aligned_alloc(4096, kStack);
  prepare(&m_model.functions[0]);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, kStack) != 0) return 4;
  if (pthread_create(&thread, &attributes, run, NULL) != 0) return 5;
  pthread_join(thread, NULL);
  printf("{\"status\": %d, \"used\": %" PRIu64 ", \"stack_max\": %" PRIu64 "}\n", status, used,
         m_model.functions[0].stack_max);
  return 0;
}
"""


class Stack(ProgramTest):
    def painted(self, text, *flags):
        self.write("m.relax", text)
        self.compiles("m.relax", "-o", "m.o", "--manifest=m.json", *flags)
        self.write("paint.c", PAINT)
        include = Path(__file__).resolve().parents[2] / "runtime-lite" / "include"
        subprocess.run(["cc", "-O1", "-I", include, "-I", ".", "paint.c", "m.o", RUNTIME, "-o", "paint", "-lpthread",
                        *LINK_FLAGS], cwd=self.path, check=True)
        done = json.loads(subprocess.run(["./paint"], cwd=self.path, check=True, capture_output=True).stdout)
        self.assertEqual(done["status"], 0)
        stated = json.loads((self.path / "m.json").read_text())["functions"][0]["stack_max"]
        self.assertEqual(done["stack_max"], 2**64 - 1 if stated is None else stated)
        return done

    @unittest.skipIf("-fsanitize" in " ".join(LINK_FLAGS), "frames of sanitized code are larger")
    def test_a_run_takes_no_more_stack_than_is_said(self):
        for text in (NETWORK, DYNAMIC):
            for flags in (["-O0"], ["-O2"], ["-O2", "--fast-codegen"], ["-O3", "--mcpu=native"]):
                done = self.painted(text, *flags)
                self.assertGreater(done["used"], 100)
                self.assertLessEqual(done["used"], done["stack_max"], flags)
                self.assertLess(done["stack_max"], 64 * 1024)  # a bound that says something

    def test_the_header_says_it_too(self):
        self.write("m.relax", DYNAMIC)
        self.compiles("m.relax", "-o", "m.o", "--manifest=m.json", "--rust=m.rs")
        stated = json.loads((self.path / "m.json").read_text())["functions"][0]
        self.assertIn(f"#define M_STACK_MAX {stated['stack_max']}\n", (self.path / "m.h").read_text())
        self.assertIn(f"#define M_RUN_STACK_MAX {stated['run_stack_max']}\n", (self.path / "m.h").read_text())
        self.assertIn(f"pub const M_RUN_STACK_MAX: usize = {stated['run_stack_max']};\n", (self.path / "m.rs").read_text())
        self.assertLess(stated["run_stack_max"] + 2048, stated["stack_max"])
        self.compiles("m.relax", "-o", "m.c")
        self.assertNotIn("STACK_MAX", (self.path / "m.h").read_text())  # another compiler decides

    def test_a_function_that_calls_itself_or_the_program_has_no_bound(self):
        for text in (CALLS_ITSELF, CALLS_OUT, CALLS_OUT.replace("mine", "getauxval"), PRINTS):
            self.write("m.relax", text)
            self.compiles("m.relax", "-o", "m.o", "--manifest=m.json")
            stated = json.loads((self.path / "m.json").read_text())["functions"][0]
            self.assertIsNone(stated["stack_max"], text)
            self.assertIsNone(stated["run_stack_max"], text)
            self.assertNotIn("STACK_MAX", (self.path / "m.h").read_text())


@unittest.skipUnless(shutil.which("addr2line") and shutil.which("nm"), "needs addr2line and nm")
class Lines(ProgramTest):
    def places(self, path):
        """What addr2line says of the first instruction of every kernel."""
        out = subprocess.run(["nm", path], cwd=self.path, check=True, capture_output=True, text=True).stdout
        found = {}
        for address, name in re.findall(r"^([0-9a-f]+) t \w+\.f\.(\S+)$", out, re.MULTILINE):
            done = subprocess.run(["addr2line", "-f", "-e", path, "0x" + address], cwd=self.path, check=True,
                                  capture_output=True, text=True)
            found[name] = done.stdout.splitlines()
        return found

    def test_a_kernel_of_a_text_program_has_the_line_of_its_operator(self):
        self.write("m.relax", NETWORK)
        self.compiles("m.relax", "-o", "m.so", "-g")
        places = self.places("m.so")
        self.assertRegex(places["softmax"][1], r"m\.relax:8")
        self.assertRegex(places["fused_conv_gelu"][1], r"m\.relax:[45]")

    def test_a_kernel_of_a_model_has_the_names_of_its_nodes(self):
        self.compiles("relu.onnx", "-o", "m.so", "-g")
        function, place = self.places("m.so")["relu"]
        self.assertIn("(Relu)", function)
        self.assertIn("relu.onnx:", place)

    def test_without_the_flag_there_is_none(self):
        self.compiles("relu.onnx", "-o", "m.so")
        self.assertNotIn("relu.onnx", self.places("m.so")["relu"][1])

    def test_products_of_bfloat16_take_the_instructions_for_them(self):
        weights = [[0.5 * (k - n) for n in range(16)] for k in range(6)]
        self.write("b.relax", f"""@R.function
def main(x: R.Tensor(("n", 6), "float32")) -> R.Tensor(("n", 16), "float32"):
    with R.dataflow():
        w = R.astype(R.const({weights}, "float32"), dtype="bfloat16")
        y = R.matmul(R.astype(x, dtype="bfloat16"), w, out_dtype="float32")
        R.output(y)
    return y
""")
        for flags, instruction in ((["--mcpu=znver4"], "vdpbf16ps"), (["--mcpu=cooperlake"], "vdpbf16ps"),
                                   (["--target=aarch64-v8.6"], "bfdot"), (["--target=aarch64-v8.2"], None),
                                   (["--mcpu=x86-64-v4"], None)):
            self.compiles("b.relax", "-o", "b.s", *flags)
            words = set((self.path / "b.s").read_text().split())
            self.assertEqual(words & {"vdpbf16ps", "bfdot"}, {instruction} - {None}, flags)

    def test_the_last_lanes_are_stored_in_parts_where_stores_under_masks_are_slow(self):
        self.write("b.relax", """@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((14,), "float64")):
    a = R.add(x, x)
    b = R.add(y, y)
    return a, b
""")
        self.write("slow.json", """{"target": "x86-64-v3", "cpu": "haswell", "masked_store_cycles": 14}""")
        self.write("quick.json", """{"target": "x86-64-v3", "masked_store_cycles": 1}""")
        for machine, stores in (("--mcpu=znver3", None), ("--mcpu=x86-64-v3", None), ("--target=x86-64-v3", None),
                                ("--target=slow.json", None), ("--mcpu=haswell", "avx"), ("--target=quick.json", "avx"),
                                ("--target=x86-64-v3 --mcpu=skylake", "avx"), ("--mcpu=x86-64-v4", "avx512")):
            self.compiles("b.relax", "-o", "b.s", *machine.split())
            text = (self.path / "b.s").read_text()
            found = {"avx": re.search(r"vp?maskmov\w+\s+%[xy]mm\d+, %[xy]mm\d+, .*\(", text),
                     "avx512": re.search(r"vmovup\w\s+%[xyz]mm\d+, .*\) \{%k", text)}
            self.assertEqual([name for name, store in found.items() if store], [stores] if stores else [], machine)

    def test_lines_of_later_terms_are_prefetched_where_the_cpu_gains(self):
        """Twelve terms ahead, a channel of 7x7 is 196 bytes; a map of open size has no known distance."""
        for name, dims in (("fixed", ("7", "7")), ("open", ('"h"', '"w"'))):
            symbols = "" if name == "fixed" else "    h = T.int64()\n    w = T.int64()\n"
            self.write("c.relax", f"""@R.function
def main(x: R.Tensor((1, 960, {dims[0]}, {dims[1]}), "float32"), f: R.Tensor((16, 960, 1, 1), "float32")):
{symbols}    y = R.nn.conv2d(x, f)
    return y
""")
            for cpu, expected in (("znver3", True), ("x86-64-v3", True), ("haswell", False), ("x86-64-v4", False)):
                self.compiles("c.relax", "-o", "c.s", f"--mcpu={cpu}")
                found = re.findall(r"prefetcht0\s+(-?\d*)\(", (self.path / "c.s").read_text())
                self.assertEqual(bool(found), expected, (name, cpu))
                if expected and name == "fixed":
                    self.assertIn(str(12 * 196), found)

    def test_lines_change_no_code(self):
        self.compiles("relu.onnx", "-o", "a.o", "--name=m")
        self.compiles("relu.onnx", "-o", "b.o", "--name=m", "-g")
        text = [subprocess.run(["objdump", "-d", "-j", ".text.m.f.relu", name], cwd=self.path, check=True,
                               capture_output=True, text=True).stdout.splitlines()[3:] for name in ("a.o", "b.o")]
        self.assertEqual(*text)


class Semantics(ProgramTest):
    def test_passes_that_keep_the_results_are_accepted(self):
        self.write("m.relax", DYNAMIC)
        self.compiles("m.relax", "-o", "m.o", "--verify-semantics")
        self.compiles("relu.onnx", "-o", "m.o", "--verify-semantics")

    def test_programs_of_every_kind(self):
        """Recursion, sizes that data decides, loops without an end, calls for their effect: no pass is blamed."""
        programs = [*sorted(PROGRAMS.glob("*.relax")), PROGRAMS.parents[1] / "language/regions_and_calls.relax"]
        for path in programs if LONG else [*programs[::3], programs[-1]]:
            with self.subTest(path.name):
                self.compiles(path, "-o", "m.o", "--verify-semantics")
        self.assertGreater(len(programs), 50)

    def test_a_program_without_an_end_is_reported(self):
        self.write("m.relax", ENDLESS)
        done = self.compiles("m.relax", "-o", "m.o", "--verify-semantics")
        self.assertIn("no random input lets 'main' run to its end", done.err)

    def test_a_program_that_never_runs_is_reported(self):
        self.write("m.relax", SEVEN_ROWS)
        done = self.relaxc("m.relax", "-o", "m.o", "--verify-semantics")
        self.assertIn("no random input lets 'main' run to its end", done.err)


if __name__ == "__main__":
    program.main()
