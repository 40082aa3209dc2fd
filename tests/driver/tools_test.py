"""`relaxc run`, `verify`, `bench` and `inspect`; completions and the man page.

Usage: tools_test.py RELAXC RUNTIME [unittest's own]"""

import json
import os
import re
import struct
import subprocess
import zipfile
from pathlib import Path

import program
import wire
from program import RUNTIME, ProgramTest
from programs_test import floats, npy, read_npy

ROOT = Path(__file__).resolve().parents[2]

PRODUCT = """@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 8), "float32")) -> R.Tensor(("n", 8), "float32"):
    with R.dataflow():
        positive = R.nn.relu(x)
        product = R.matmul(positive, w)
        y = R.nn.relu(product)
        R.output(y)
    return y
"""


PRIM_FUNC = """@T.prim_func
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("y"):
            v = T.axis.spatial(4, i)
            y[v] = x[v] * T.float32(2)
"""


class Tools(ProgramTest):
    def tool(self, *arguments, code=0):
        linker = self.write("linker", f'#!/bin/sh\nexec cc {" ".join(program.LINK_FLAGS)} "$@"\n')
        linker.chmod(0o755)
        before = self.files()
        done = self.relaxc(*arguments, "--runtime", RUNTIME, "--cc", linker)
        self.assertEqual(done.code, code, done.out + done.err)
        if not {"-o"} & set(arguments):
            self.assertEqual(self.files(), before)
        return done.out if code < 2 else done.err

    def data(self):
        self.write("x.npy", npy((2, 3), floats(1, -2, 3, -4, 5, -6)))
        self.write("y.npy", npy((2, 3), floats(1, 0, 3, 0, 5, 0)))

    def test_a_timeline_has_each_kernel_and_task_of_the_fastest_run(self):
        large = PRODUCT.replace("(64, 8)", "(512, 512)").replace('("n", 64)', '("n", 512)').replace('("n", 8)', '("n", 512)')
        self.write("product.relax", large)
        linker = self.linker()
        self.compiles("bench", "product.relax", "--dim", "n=512", "-j", "2", "--repeat", "3", "--timeline", "out.json",
                      "--runtime", RUNTIME, "--cc", linker)
        events = json.loads((self.path / "out.json").read_text())["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        kernels = [event for event in spans if event["cat"] == "kernel"]
        tasks = [event for event in spans if event["cat"] == "task"]
        self.assertTrue(any("matmul" in event["name"] for event in kernels), events)
        self.assertEqual({event["tid"] for event in kernels}, {0})
        self.assertTrue(tasks)
        for task in tasks:
            around = [one for one in kernels if one["ts"] <= task["ts"] and
                      task["ts"] + task["dur"] <= one["ts"] + one["dur"] + 1e-3]
            self.assertEqual([one["args"]["node"] for one in around], [task["args"]["node"]])
        named = {event["tid"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(named, {event["tid"] for event in spans} | {0})
        self.assertEqual(len([one for one in kernels if one["args"]["node"] == kernels[0]["args"]["node"]]), 1)

    def test_runs_on_files_of_each_form(self):
        self.data()
        self.write("x.pb", wire.tensor("x", (2, 3), floats(1, -2, 3, -4, 5, -6)))
        with zipfile.ZipFile(self.path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(self.path / "x.npy", "x.npy")
        for file in ("x.npy", "x.pb", "x=x.npy", "x.npz"):
            with self.subTest(file):
                self.assertEqual(self.tool("run", "relu.onnx", file), "y: float32 [2, 3] = 1 0 3 0 5 0\n")
        self.assertEqual(self.tool("run", "relu.onnx", "x.npy", "--interpret"), "y: float32 [2, 3] = 1 0 3 0 5 0\n")
        self.tool("run", "relu.onnx", "x.npy", "-o", "out")
        head, data = read_npy(self.path / "out" / "y.npy")
        self.assertEqual((head["shape"], data), ((2, 3), floats(1, 0, 3, 0, 5, 0)))

    def test_says_what_is_wrong_with_data(self):
        self.data()
        self.write("d.npy", npy((2, 3), struct.pack("<6d", *range(6)), "<f8"))
        self.write("r.npy", npy((6,), floats(*range(6))))
        (self.path / "empty").mkdir()
        for code, text, *files in ((2, "no file is given for input 'x'; give one, or --random"),
                                   (1, "cannot read none.npy", "none.npy"),
                                   (1, "d.npy holds float64, but input 'x' is float32", "d.npy"),
                                   (2, "there is no input left for y.npy", "x.npy", "y.npy"),
                                   (2, "there is no input named 'z'; there are: x", "z=x.npy"),
                                   (1, "empty has neither input_0.pb nor", "empty")):
            with self.subTest(files):
                done = self.relaxc("run", "relu.onnx", *files, "--runtime", RUNTIME)
                self.assertEqual(done.code, code, done.err)
                self.assertIn(text, done.err)
        self.assertIn("RANK", self.relaxc("run", "relu.onnx", "r.npy", "--runtime", RUNTIME).err)
        self.assertIn("--target is for compiling", self.tool("run", "relu.onnx", "--target", "cortex-m4", code=2))

    def test_a_file_without_elements_does_not_ask_for_terabytes(self):
        """A shape of 2^40 rows of nothing is a small file, and says how many elements the other input has."""
        self.write("two.relax", '@R.function\ndef main(a: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("n",), "float32")):\n'
                                '    c = R.add(b, b)\n    return (c, a)\n')
        self.write("a.npy", npy((1 << 40, 0), b""))
        for tool in ("run", "verify", "bench"):
            said = self.relaxc(tool, "two.relax", "a=a.npy", "--random", "--runtime", RUNTIME)
            self.assertEqual(said.code, 1, said.out + said.err)
            self.assertIn("input 'b' would have more than 4 GB of random numbers: [1099511627776]", said.err)

    def test_says_why_prim_funcs_alone_cannot_be_run(self):
        self.write("p.relax", PRIM_FUNC)
        for tool in ("run", "verify", "bench"):
            with self.subTest(tool):
                self.assertIn("has no Relax function", self.relaxc(tool, "p.relax", "--random", "--runtime", RUNTIME).err)

    def test_verifies_against_data(self):
        self.data()
        for k, last in ((0, 0), (1, 0.5)):
            folder = f"sets/test_data_set_{k}"
            self.write(f"{folder}/input_0.pb", wire.tensor("x", (2, 3), floats(1, -2, 3, -4, 5, -6)))
            self.write(f"{folder}/output_0.pb", wire.tensor("y", (2, 3), floats(1, 0, 3, 0, 5, last)))
        out = self.tool("verify", "relu.onnx", "sets", code=1)
        rows = [line.split() for line in out.splitlines()[1:]]
        self.assertEqual(rows[0], ["test_data_set_0", "y", "6", "0", "0", "0", "1.000000000"])
        self.assertEqual(rows[1][:5], ["test_data_set_1", "y", "6", "0.5", "1"])
        self.assertIn("1 beyond the tolerance; element 5 is 0, expected 0.5", out)
        self.tool("verify", "relu.onnx", "sets", "--atol", "0.5")
        self.tool("verify", "relu.onnx", "x.npy", "--expect", "y=y.npy")
        self.tool("verify", "relu.onnx", "x.npy", "--expect", "x.npy", code=1)

    def test_counts_the_floats_between_two_floats(self):
        self.write("x.npy", npy((2, 3), floats(1, 2, 0, 0, 0, 0)))
        one, two = struct.unpack("<ff", struct.pack("<II", 0x3F800003, 0x3FFFFFFE))
        self.write("y.npy", npy((2, 3), floats(one, two, 0, 0, 0, 0)))
        row = self.tool("verify", "relu.onnx", "x.npy", "--expect", "y.npy").splitlines()[1].split()
        self.assertEqual(row[5], "3")

    def test_finds_the_first_node_that_differs(self):
        """Sums in another order are the only thing that compiling may change, and no tolerance shows it."""
        self.write("p.relax", PRODUCT)
        self.assertIn("1.000000000", self.tool("verify", "p.relax", "--dim", "n=5"))
        out = self.tool("verify", "p.relax", "--dim", "n=5", "--bisect", "--rtol", "0", "--atol", "0", code=1)
        self.assertIn("first difference: value 2 of 3: product", out)
        self.assertIn("no difference", self.tool("verify", "p.relax", "--bisect"))

    def test_compares_with_onnxruntime(self):
        self.assertIn("is not an ONNX model", self.relaxc("verify", "relu.relax", "--dim", "n=2", "--against", "onnxruntime").err)
        python = ROOT / "build/venv/bin"
        if not (python / "python3").exists():
            self.skipTest("there is no onnxruntime")
        # Names that no line, no archive and no argument of Python can have.
        names = ["x", "a/b", "a\nb", "file", "../c", "y"]
        self.write("p.onnx", wire.model([wire.node("Neg" if i else "Relu", [names[i]], [names[i + 1]], name=f"n{i}") for i in range(5)],
                                        [wire.value_info("x", (2, 3))], [wire.value_info("y", (2, 3))]))
        path = {"PATH": f"{python}:{os.environ['PATH']}"}
        done = self.relaxc("verify", "p.onnx", "--against", "onnxruntime", "--bisect", "--runtime", RUNTIME, environment=path)
        self.assertEqual(done.code, 0, done.err)
        self.assertRegex(done.out, r"onnxruntime +y +6 +0 +0 +0 +1\.0")
        self.assertIn("no difference: the results of the function's 5 values agree with ONNX Runtime", done.out)

    def test_calls_custom_operators_of_a_library(self):
        grow = wire.node("Twice", ["x"], ["y"], domain="my.ops")
        self.write("grow.onnx", wire.model([grow], [wire.value_info("x", (3,))], [wire.field(1, "y")]) +
                   wire.field(8, wire.field(1, "my.ops") + wire.field(2, 1)))
        self.write("twice.c", """#include "relax_rt.h"
int32_t twice(rlx_context* context, const rlx_tensor* x, rlx_tensor* y);
int32_t twice(rlx_context* context, const rlx_tensor* x, rlx_tensor* y) {
  (void)context;
  for (int i = 0; i < 3; i++) ((float*)y->data)[i] = 2 * ((const float*)x->data)[i];
  return RLX_OK;
}
""")
        self.write("ops.json", '{"my.ops::Twice": {"rule": "* -> like(0)", "function": "twice"}}')
        subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "runtime-lite/include", "twice.c", "-o", "twice.so"],
                       cwd=self.path, check=True)
        self.write("x.npy", npy((3,), floats(1, -2.5, 3)))
        flags = ("grow.onnx", "--custom-op", "ops.json", "x.npy")
        self.assertIn("y: float32 [3] = 2 -5 6", self.tool("run", *flags, "--load", "twice.so"))
        self.assertIn("--load names the library", self.relaxc("run", *flags).err)
        self.assertIn("--load no.so: ", self.relaxc("run", *flags, "--load", "no.so").err)

    def test_times(self):
        out = self.tool("bench", "relu.onnx", "--repeat", "7")
        self.assertRegex(out, r"^7 runs, 1 thread: min [\d.]+ us, median [\d.]+ us")
        self.write("open.onnx", wire.relu(("n", "m")))
        for flags, dims in (((), "n=1, m=1"), (("--dim", "n=8", "--dim", "m=2..3"), "m=2"),
                            (("--dim", "n=5..9"), "n=5, m=1")):
            self.assertRegex(self.tool("bench", "open.onnx", "--repeat", "7", *flags), rf"^dims: {dims}\n7 runs, ")

    def test_profiles_kernels(self):
        self.write("p.relax", PRODUCT)
        out = self.tool("bench", "p.relax", "--dim", "n=1..64", "--profile", "--repeat", "5")
        head, *rows, limits = out.splitlines()[2:]
        self.assertEqual(head.split(), "share us a run calls GFLOP/s GOP/s GB/s of limit kernel: what it comes from".split())
        self.assertRegex(limits, r"^limits of 1 core of \S+ at \d+\.\d GHz: \d+ GFLOP/s; \d+ GOP/s of integers; \d+ GB/s where a call's data fits \d+ KB, ")
        kernel = re.compile(r"^ *([\d.]+)% +[\d.]+ +1\.0 +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%  (\S+): (.+)$")
        found = [kernel.match(row) for row in rows[:-1]]
        self.assertTrue(found and all(found), out)
        self.assertTrue(any("line 5" in one[3] for one in found), out)
        self.assertRegex(rows[-1], r"^ *[\d.]+% +[\d.]+ +outside of kernels$")
        shares = [float(row.split("%")[0]) for row in rows]
        self.assertAlmostEqual(sum(shares), 100, delta=1)

    def test_tunes_and_compiles_by_the_record(self):
        self.write("p.relax", PRODUCT)
        out = self.tool("tune", "p.relax", "--dim", "n=96", "-o", "tuned.txt", "--budget", "4")
        self.assertRegex(out, r"\d+ of [1-9]\d* kernels with choices are faster with another one\n$")
        self.assertRegex((self.path / "tuned.txt").read_text(),
                         r'^relaxc schedules 1\ntarget \S.*\n(\nkernel \S+ [0-9a-f]{32}\n  # .* us instead of .*\n  choose ".+"\n)*$')
        native = ["--target", "native", "--dim", "n=96", "--name", "p"]
        for name in ("a", "b"):
            self.compiles("p.relax", "-o", f"{name}.o", "--tune-log", "tuned.txt", *native)
        self.assertEqual((self.path / "a.o").read_bytes(), (self.path / "b.o").read_bytes())
        # Whatever the record says, the numbers are the same to the bit.
        self.tool("verify", "p.relax", "--dim", "n=96", "--schedules", "tuned.txt")

    def test_measures_the_machine_for_a_description_that_is_read_back(self):
        out = self.tool("tune", "--machine", "-o", "this.json")
        said = json.loads((self.path / "this.json").read_text())
        numbers = {name: value for name, value in said.items() if name not in ("about", "target", "cpu", "features")}
        self.assertEqual([line.split()[0] for line in out.splitlines()], list(numbers))
        for name in ("page_bytes", "loads_per_cycle", "gather_steps", "memory_bytes_per_cycle"):
            self.assertIn(name, numbers)
        # Each number is in the range that a description may have, or reading it would be an error.
        self.write("p.relax", PRODUCT)
        self.compiles("p.relax", "-o", "p.o", "--target", "this.json", "--dim", "n=96")
        for wrong in (["tune", "--machine", "p.relax", "-o", "x.json"], ["tune", "-o", "x.json"]):
            done = self.relaxc(*wrong)
            self.assertEqual((done.code, done.out), (2, ""), done.err)
        self.assertFalse((self.path / "x.json").exists())

    def test_shows_how_far_it_is_on_a_terminal_alone(self):
        self.write("p.relax", PRODUCT)
        tune = ["tune", "p.relax", "--dim", "n=96", "-o", "tuned.txt", "--budget", "40"]
        text = self.on_terminal(0, *tune)
        self.assertRegex(text, r"\r\[#*\.*\] round 1 of \d+ ")
        self.assertRegex(text, r"\r +\r[^\r]*kernels with choices")  # the bar is wiped before the answer
        self.assertEqual(self.relaxc(*tune[:-1], "1").err, "")

    def test_a_record_that_cannot_be_written_is_reported_before_anything_is_measured(self):
        done = self.relaxc("tune", "relu.relax", "--dim", "n=8", "-o", "none/tuned.txt")
        self.assertEqual((done.code, done.out), (1, ""))
        self.assertIn("cannot write none/tuned.txt: No such file or directory", done.err)

    def test_inspects_without_compiling_code(self):
        out = self.relaxc("inspect", "p.relax" if self.write("p.relax", PRODUCT) else "", "--dim", "n=1..8", "--target",
                          "cortex-m4").out
        for text in ("input    x: float32 [n, 64]", "output   ", "dim      n: 1..8", "CPU cortex-m4",
                     "memory   arena at most"):
            self.assertIn(text, out)

    def test_explains_how_kernels_are_scheduled(self):
        self.write("p.relax", PRODUCT)
        every = self.relaxc("inspect", "p.relax", "--explain").out
        kernels = re.findall(r"^kernel (.*)$", every, re.M)
        self.assertTrue(kernels)
        for text in ("gemm_tile ", "taken: vectors along", "winograd ", "it is not a convolution"):
            self.assertIn(text, every)
        one = self.relaxc("inspect", "p.relax", f"--explain={kernels[0]}").out
        self.assertEqual(re.findall(r"^kernel (.*)$", one, re.M), kernels[:1])
        none = self.relaxc("inspect", "p.relax", "--explain=nobody")
        self.assertNotEqual(none.code, 0)
        self.assertIn("--explain=nobody: there is no such kernel; the kernels are: " + ", ".join(kernels), none.err)

    def test_proves_that_tensors_share_no_memory(self):
        self.write("p.relax", PRODUCT)
        done = self.relaxc("inspect", "p.relax", "--prove")
        self.assertEqual(done.code, 0)
        self.assertRegex(done.out, r"memory   main_call: [1-9]\d* proved, 0 refuted, 0 undecided\n")
        self.assertNotIn("proved", self.relaxc("inspect", "p.relax").out)

    def test_proves_that_schedules_keep_what_kernels_compute(self):
        self.write("p.relax", PRODUCT)
        both = self.relaxc("inspect", "p.relax", "--prove")
        self.assertRegex(both.out, r"kernels  0 proved, [1-9]\d* checked for sizes, 0 checked up to 8, 0 refuted, "
                                   r"0 undecided\n")
        memory = self.relaxc("inspect", "p.relax", "--prove=memory")
        self.assertNotIn("kernels  ", memory.out)
        kernels = self.relaxc("inspect", "p.relax", "--prove=kernels")
        self.assertNotIn("memory   main_call", kernels.out)
        self.assertEqual((both.code, memory.code, kernels.code), (0, 0, 0))
        self.assertNotEqual(self.relaxc("inspect", "p.relax", "--prove=nothing").code, 0)


class Pages(ProgramTest):
    def test_shells_take_the_completions(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.compiles("--completion", shell).out
            for word in ("verify", "emit", "print-targets", "bisect", "MD"):
                self.assertIn(word, text)
        self.write("complete.bash", self.compiles("--completion", "bash").out)
        script = ('. ./complete.bash; COMP_WORDS=(relaxc --emit s); COMP_CWORD=2; _relaxc; echo "${COMPREPLY[@]}"; '
                  'COMP_WORDS=(relaxc verify --bi); COMP_CWORD=2; _relaxc; echo "${COMPREPLY[@]}"; '
                  'COMP_WORDS=(relaxc insp); COMP_CWORD=1; _relaxc; echo "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script], cwd=self.path, check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "shared\n--bisect\ninspect\n")

    def test_the_page_for_man_has_every_flag(self):
        page = self.compiles("--man").out
        self.assertTrue(page.startswith(".TH RELAXC 1"))
        for group in ("Input", "Object", "Target", "Output", "Build systems", "Limits", "Passes"):
            self.assertEqual(page.count(f".SS {group}\n"), 1, group)
        for flag in ("\\-\\-float\\-abi", "\\-MD", "\\-\\-bisect", ".SH relaxc inspect"):
            self.assertIn(flag, page)


if __name__ == "__main__":
    program.main()
