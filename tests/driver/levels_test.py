"""Several CPUs in one object (--mcpu=A,B): each call takes the form that its context, or the CPU, allows.

The forms give different bits where one has fused multiply-add, so that the host's own runs tell which was taken; of other
CPUs QEMU lists the functions that it ran.

Usage: levels_test.py RELAXC RUNTIME [unittest's own]"""

import platform
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest

REPOSITORY = Path(__file__).resolve().parents[2]
DIGITS = REPOSITORY / "examples/digits/digits.onnx"
INCLUDE = REPOSITORY / "runtime-lite/include"

# argv[1]: cpu_features. Prints the status, the record, whether memory was written, and the outputs' bits.
# With argv[2] what the context says afterwards, and what the runtime says of the CPU.
GENERIC = """rlx_tensor in = {0}, out = {0};
  int64_t in_shape[4] = {1, 1, 8, 8}, out_shape[2] = {1, 10};
  in.data = image, in.ndim = 4, in.shape = in_shape, in.device_type = 1;
  out.data = logits, out.ndim = 2, out.shape = out_shape, out.device_type = 1;
  in.dtype_code = out.dtype_code = 2, in.dtype_bits = out.dtype_bits = 32, in.dtype_lanes = out.dtype_lanes = 1;
  int status = m_model.functions[0].run(&context, &in, 1, &out, 1);"""
TYPED = """const m_args args = {image, logits};
  int status = m_run(&context, &args);"""
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
#include "relax_rt.h"
static struct { _Alignas(64) unsigned char bytes[M_ARENA_BYTES]; } arena;
int main(int count, char** arguments) {
  static float image[64], logits[10];
  for (int i = 0; i < 64; i++) image[i] = (float)((i * 37 + 11) % 17);
  memset(logits, 0x55, sizeof logits);
  rlx_error error = {0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  context.error = &error;
  context.cpu_features = count > 1 ? strtoull(arguments[1], NULL, 0) : 0;
  """ + TYPED + """
  if (count > 2) return printf("%llx %llx\\n", (unsigned long long)context.cpu_features,
                               (unsigned long long)rlx_cpu_features()) < 0;
  printf("%s %lld %llu", rlx_status_name(status), (long long)error.expected, (unsigned long long)error.actual);
  for (int i = 0; i < 10; i++) {
    unsigned bits;
    memcpy(&bits, &logits[i], 4);
    printf(" %08x", bits);
  }
  printf("\\n");
  return 0;
}
"""

KNOWN, SSE42, AVX2, FMA, F16C, AVX512, BMI, DOTPROD, FP16 = 1 << 63, 1, 2, 4, 8, 16, 128, 1 << 17, 1 << 19
V3 = KNOWN | SSE42 | AVX2 | FMA | F16C | BMI
UNTOUCHED = ["55555555"] * 10

DYNAMIC = """@R.function
def main(x: R.Tensor(("n", 96), "float32"), w: R.Tensor((96, 40), "float32")) -> R.Tensor(("n", 40), "float32"):
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.nn.softmax(R.tanh(a), axis=-1)
        y = R.matmul(R.permute_dims(R.matmul(R.permute_dims(a), b)), R.permute_dims(w))
        z = R.matmul(y, w)
        R.output(z)
    return z
"""


class Levels(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("main.c", MAIN)

    def build(self, program_name, *flags, compiler=("cc", *LINK_FLAGS), runtime=(RUNTIME,), model=DIGITS):
        done = self.compiles(model, "--dim", "n=1", "--name", "m", "-o", "m.o", "-v", *flags)
        subprocess.run([*compiler, "main.c", "m.o", *runtime, "-I", INCLUDE, "-o", program_name], cwd=self.path, check=True)
        return done.err

    def answer(self, program_name, features, *before):
        arguments = [*before, f"./{program_name}", *([str(features)] if features is not None else [])]
        done = subprocess.run(arguments, cwd=self.path, capture_output=True, check=True, timeout=120)
        status, expected, actual, *bits = done.stdout.decode().split()
        return status, int(expected), int(actual), bits

    @unittest.skipUnless(platform.machine() == "x86_64", "the host is no x86-64")
    def test_the_context_chooses(self):
        alone = {}
        for cpu in ("x86-64", "x86-64-v3"):
            self.build("alone", "--mcpu", cpu)
            alone[cpu] = self.answer("alone", 0)[3]
        self.assertNotEqual(alone["x86-64"], alone["x86-64-v3"], "the test cannot tell the two")
        self.build("both", "--mcpu", "x86-64,x86-64-v3")
        self.assertEqual(self.answer("both", KNOWN), ("OK", 0, 0, alone["x86-64"]))
        self.assertEqual(self.answer("both", V3), ("OK", 0, 0, alone["x86-64-v3"]))
        for lacking in (AVX2, FMA, F16C, BMI, SSE42):  # whatever is missing of v3
            self.assertEqual(self.answer("both", V3 & ~lacking)[3], alone["x86-64"])
        self.assertIn(self.answer("both", 0)[3], alone.values())  # what the CPU says

    @unittest.skipUnless(platform.machine() == "x86_64", "the host is no x86-64")
    def test_a_cpu_below_all_levels_is_refused_before_anything_is_written(self):
        self.build("high", "--mcpu", "x86-64-v3,x86-64-v4")
        needs = V3 & ~KNOWN
        self.assertEqual(self.answer("high", KNOWN | SSE42), ("CPU_FEATURES", needs, KNOWN | SSE42, UNTOUCHED))
        self.assertEqual(self.answer("high", V3)[0], "OK")

    def ran(self, cpu, emulator):
        """The model's functions that QEMU translated."""
        log = self.path / "log"
        self.answer("both", None, emulator, "-cpu", cpu, "-d", "in_asm", "-D", str(log))
        return set(re.findall(r"IN: m\.([\w.+-]+?)\.f\.", log.read_text()))

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "there is no qemu-x86_64")
    @unittest.skipUnless(platform.machine() == "x86_64" and not LINK_FLAGS, "needs a static program of the host")
    def test_the_cpu_is_asked_where_the_context_says_nothing(self):
        self.build("both", "--mcpu", "x86-64-v2,x86-64-v3", compiler=("cc", "-static"))
        self.assertEqual(self.ran("Nehalem", "qemu-x86_64"), {"x86-64-v2"})
        self.assertEqual(self.ran("max", "qemu-x86_64"), {"x86-64-v3"})

    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64"),
                         "there is no aarch64-linux-gnu-gcc, or no qemu-aarch64")
    def test_aarch64(self):
        core = [str(path) for path in sorted((REPOSITORY / "runtime-lite/core").glob("*.c"))
                if path.name not in ("memory.c", "print.c")]
        self.build("both", "--target", "aarch64", "--mcpu", "aarch64,aarch64-v8.2",
                   compiler=("aarch64-linux-gnu-gcc", "-static", "-O1"), runtime=core)
        self.assertEqual(self.ran("cortex-a53", "qemu-aarch64"), {"aarch64"})
        self.assertEqual(self.ran("cortex-a76", "qemu-aarch64"), {"aarch64-v8.2"})
        status, *_, bits = self.answer("both", KNOWN | DOTPROD, "qemu-aarch64", "-cpu", "cortex-a76")
        self.assertEqual((status, bits), ("OK", self.answer("both", KNOWN, "qemu-aarch64", "-cpu", "cortex-a53")[3]))

    def symbols(self, path, kind="U"):
        out = subprocess.run(["nm", path], cwd=self.path, check=True, capture_output=True, text=True).stdout
        return set(re.findall(rf"^[0-9a-f ]+ {kind} (\S+)$", out, re.MULTILINE))

    @unittest.skipUnless(platform.machine() == "x86_64", "the host is no x86-64")
    def test_the_default_object_refuses_older_cpus(self):
        """In both calls, whatever of x86-64-v3 is missing, and before anything is written."""
        for call in (TYPED, GENERIC):
            self.write("main.c", MAIN.replace(TYPED, call))
            self.build("usual")
            self.assertEqual(self.answer("usual", V3)[0], "OK")
            for lacking in (AVX2, FMA, F16C, BMI, SSE42, V3 & ~KNOWN):
                features = V3 & ~lacking
                self.assertEqual(self.answer("usual", features), ("CPU_FEATURES", V3 & ~KNOWN, features, UNTOUCHED))
        self.assertIn("calls return CPU_FEATURES", self.build("usual"))
        self.assertIn("On a CPU that lacks what x86-64-v3 has", (self.path / "m.h").read_text())

    @unittest.skipUnless(platform.machine() == "x86_64", "the host is no x86-64")
    def test_a_cpu_that_is_named_is_not_asked_for(self):
        for flags in (["--mcpu=x86-64-v3"], ["--target=x86-64-v3"], ["--mattr=+avx2"], ["--mcpu=native"],
                      ["--target-from-cc=cc -march=x86-64"], ["--target-from-cc=cc -mavx"]):
            with self.subTest(flags):
                self.compiles(DIGITS, "--dim", "n=1", "-o", "m.o", *flags)
                self.assertNotIn("m.cpu_features", self.symbols("m.o", "t"))
                self.assertNotIn("On a CPU that lacks", (self.path / "m.h").read_text())
        for flags in ([], ["--target=x86_64-linux-gnu"], ["--target-from-cc=cc"], ["--target-from-cc=cc -O3 -mtune=native"],
                      ["--target=x86_64-linux-gnu", "--target-from-cc=cc"], ["--mcpu=x86-64,x86-64-v3"], ["--trace"]):
            with self.subTest(flags):
                self.compiles(DIGITS, "--dim", "n=1", "-o", "m.o", *flags)
                self.assertIn("m.cpu_features", self.symbols("m.o", "t"))
                self.assertNotIn("rlx_cpu_features", self.symbols("m.o"))
        for target in ("x86-64-windows", "x86-64-macos"):
            self.assertIn("calls return CPU_FEATURES",
                          self.compiles(DIGITS, "--dim", "n=1", "-o", "m.o", "-v", "--target", target).err)

    @unittest.skipUnless(platform.machine() == "x86_64" and not LINK_FLAGS, "needs a plain program of the host")
    def test_typed_calls_take_nothing_of_the_runtime(self):
        for cpus in ([], ["--mcpu=x86-64,x86-64-v3"]):
            self.compiles(DIGITS, "--dim", "n=1", "--name", "m", "-o", "m.o", *cpus)
            self.write("main.c", MAIN.replace("rlx_status_name(status)", 'status == 0 ? "OK" : "CPU_FEATURES"')
                       .replace("rlx_cpu_features()", "0"))
            subprocess.run(["cc", "-ffunction-sections", "main.c", "m.o", "-I", INCLUDE, "-Wl,--gc-sections",
                            "-Wl,--defsym=rlx_abi_1=0", "-o", "alone"], cwd=self.path, check=True)
            self.assertEqual(self.answer("alone", V3)[0], "OK")

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "there is no qemu-x86_64")
    @unittest.skipUnless(platform.machine() == "x86_64" and not LINK_FLAGS, "needs a static program of the host")
    def test_the_object_asks_as_the_runtime_does(self):
        """And refuses where the code would die."""
        self.build("usual", compiler=("cc", "-static"))
        cpus = ("qemu64", "Conroe", "Nehalem", "SandyBridge", "IvyBridge", "Haswell", "Broadwell", "Opteron_G5", "EPYC", "max")
        for cpu in cpus:
            emulator = ("qemu-x86_64", "-cpu", cpu)
            said = subprocess.run([*emulator, "./usual", "0", "tell"], cwd=self.path, capture_output=True, check=True,
                                  timeout=120).stdout.decode().split()
            self.assertEqual(said[0], said[1], cpu)
            has = int(said[0], 16)
            status, expected, actual, bits = self.answer("usual", None, *emulator)
            if has & V3 == V3:
                self.assertEqual(status, "OK", cpu)
            else:
                self.assertEqual((status, expected, actual, bits), ("CPU_FEATURES", V3 & ~KNOWN, has, UNTOUCHED), cpu)
        here = subprocess.run(["./usual", "0", "tell"], cwd=self.path, capture_output=True, check=True).stdout.split()
        self.assertEqual(*here)

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "there is no qemu-x86_64")
    @unittest.skipUnless(platform.machine() == "x86_64" and not LINK_FLAGS, "needs a static program of the host")
    def test_programs_and_libraries_refuse_too(self):
        self.compiles(DIGITS, "--dim", "n=1", "-o", "program", "--cc", "cc -static", "--runtime", RUNTIME)
        self.write("zeros.npy", b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
                   .ljust(117) + b"\n" + bytes(256))
        for cpu, code in (("Nehalem", 1), ("max", 0)):
            done = subprocess.run(["qemu-x86_64", "-cpu", cpu, "./program", "zeros.npy"], cwd=self.path, timeout=120,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(b"CPU_FEATURES" in done.stderr, code == 1, done.stderr)
        self.compiles(DIGITS, "--dim", "n=1", "-o", "m.so", "--runtime", RUNTIME)
        subprocess.run(["cc", "main.c", "-I", INCLUDE, "./m.so", RUNTIME, "-o", "by_library"], cwd=self.path, check=True)
        for cpu, status in (("Nehalem", "CPU_FEATURES"), ("max", "OK")):
            self.assertEqual(self.answer("by_library", None, "qemu-x86_64", "-cpu", cpu)[0], status)

    def arena(self, *flags):
        self.compiles(DIGITS, "--dim", "n=1", "--name", "m", "-o", "m.o", *flags)
        return int(re.search(r"M_ARENA_BYTES (\d+)", (self.path / "m.h").read_text())[1])

    def test_one_arena_serves_all(self):
        each = [self.arena("--target", "x86-64", "--mcpu", cpu) for cpu in ("x86-64", "x86-64-v3", "x86-64-v4")]
        self.assertEqual(self.arena("--target", "x86-64", "--mcpu", "x86-64,x86-64-v3,x86-64-v4"), max(each))

    def test_weights_in_one_packing_are_there_once(self):
        said = self.compiles(DIGITS, "--target", "x86-64", "--mcpu", "x86-64-v3,x86-64-v4", "-o", "m.o", "-v").err
        own = re.search(r"level x86-64-v3: \d+ functions of its own, (\d+) bytes of weights in a packing", said)
        both = int(re.search(r"weights (\d+) bytes", said)[1])
        self.compiles(DIGITS, "--target", "x86-64", "--mcpu", "x86-64-v4", "-o", "m.o", "-v")
        alone = int(re.search(r"weights (\d+) bytes", self.compiles(
            DIGITS, "--target", "x86-64", "--mcpu", "x86-64-v4", "-o", "m.o", "-v").err)[1])
        self.assertEqual(both, alone + int(own[1]))
        self.assertLess(int(own[1]), alone)  # biases at least are shared
        again = self.compiles(DIGITS, "--target", "x86-64", "--mcpu", "x86-64-v2,x86-64-v2+f16c", "-o", "m.o", "-v").err
        self.assertIn("level x86-64-v2: ", again)
        self.assertRegex(again, r"x86-64-v2: \d+ functions of its own, 0 bytes of weights")  # the same panels

    def test_the_object_keeps_no_state_and_is_the_same_twice(self):
        self.write("d.relax", DYNAMIC)
        for name in ("a", "b"):
            self.compiles("d.relax", "--target", "x86-64", "--mcpu", "x86-64,x86-64-v4", "--name", "m", "-o", name + ".o")
        self.assertEqual((self.path / "a.o").read_bytes(), (self.path / "b.o").read_bytes())
        sections = subprocess.run(["readelf", "-SW", "a.o"], cwd=self.path, check=True, capture_output=True).stdout.decode()
        writable = {name for name, size, flags in re.findall(
            r"\] (\S+)\s+(?:PROGBITS|NOBITS)\s+\w+ \w+ (\w+) \w+ +(W\w*)", sections) if int(size, 16)}
        self.assertTrue(all(name.startswith(".data.rel.ro") for name in writable), writable)

    def test_lists_that_cannot_be(self):
        for cpus, text in (("x86-64,znver4", "'znver4' cannot be in a list"),
                           ("x86-64-v4,x86-64-v3", "lacks features of"),
                           ("x86-64,x86-64", "is listed twice"),
                           ("x86-64,", "'' cannot be in a list"),
                           ("x86-64,x86-64-v3+wings", "'wings' cannot be detected at run time"),
                           ("x86-64-v3,x86-64-v3+avx2", "cannot be distinguished at run time"),
                           ("x86-64,native", "'native' cannot be in a list")):
            with self.subTest(cpus):
                self.refuses(2, text, DIGITS, "--target", "x86-64", "--mcpu", cpus, "-o", "m.o")
        self.refuses(2, "on x86-64 and aarch64 only", DIGITS, "--target", "cortex-m4", "--mcpu", "cortex-m4,cortex-m7",
                     "-o", "m.o")
        self.refuses(2, "a C compiler decides", DIGITS, "--mcpu", "x86-64,x86-64-v3", "-o", "m.c")
        self.refuses(2, "--mattr=+avx2 would apply to every CPU", DIGITS, "--mcpu", "x86-64,x86-64-v3", "--mattr=+avx2", "-o",
                     "m.o")
        self.refuses(2, "--trace numbers the kernels of one CPU", DIGITS, "--mcpu", "x86-64,x86-64-v3", "--trace", "-o",
                     "m.o")

    @unittest.skipUnless(platform.machine() == "x86_64", "the host is no x86-64")
    def test_each_form_calls_the_poll_hook(self):
        self.write("main.c", MAIN.replace("int main(", "static int32_t stop(void* user, int32_t node) {\n"
                                          "  (void)user;\n  return node + 7;\n}\nint main(")
                   .replace("context.error = &error;", "context.error = &error;\n  context.poll = stop;"))
        self.build("both", "--mcpu", "x86-64,x86-64-v3", "--poll")
        for features in (KNOWN, V3):
            status, expected, actual, bits = self.answer("both", features)
            self.assertEqual((status, expected, bits), ("POLLED", 0, UNTOUCHED))
            self.assertGreaterEqual(actual, 7)


if __name__ == "__main__":
    program.main()
