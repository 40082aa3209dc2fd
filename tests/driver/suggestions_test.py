"""What is near to what was mistyped is suggested, of flags, tools, machines, CPUs, operators, dims.

Usage: suggestions_test.py RELAXC RUNTIME [unittest's own]"""

import unittest

import program
import wire
from program import ProgramTest

RELU = ("relu.onnx", "-o", "m.o")


class Suggestions(ProgramTest):
    def test_of_the_command_line(self):
        for words, text in (
                ((*RELU, "--taget=x86-64"), "there is no flag '--taget'; did you mean '--target'?"),
                ((*RELU, "--Dim", "n=1"), "there is no flag '--Dim'; did you mean '--dim'?"),
                (("bench", "relu.onnx", "--repaet", "3"), "there is no flag '--repaet'; did you mean '--repeat'?"),
                ((*RELU, "--zzzzzzzzzz"), "there is no flag '--zzzzzzzzzz'\n"),
                ((*RELU, "-march=native"), "there is no flag '-march'; --mcpu selects the CPU"),
                ((*RELU, "--batch-size=4"), "there is no flag '--batch-size'; --dim fixes or bounds a dim"),
                ((*RELU, "--ram", "8K"), "there is no flag '--ram'; did you mean '--ram-budget'?"),
                ((*RELU, "--quantize"), "quantize the model before, as in docs/quantization.md"),
                ((*RELU, "-I", "include"), "there is no flag '-I'\n"),
                (("run", "relu.onnx", "--input", "x.npy"), "files stand behind the model, in the order of its inputs"),
                (("relu.onnx",), "nothing to write: give an output with -o, as in -o relu.o"),
                (("relu.onnx", "net.o"), "nothing to write: give an output with -o, as in -o net.o"),
                (("compile", *RELU), "there is no file 'compile'; 'relaxc MODEL -o OUTPUT' compiles"),
                (("bnech", "relu.onnx"), "did you mean 'bench'?"),
                ((*RELU, "--emit", "share"), "--emit: 'share' is not one of obj, ar, asm, llvm, bc, c, shared, relax, dot, "
                                             "exe and js; did you mean 'shared'?"),
                ((*RELU, "-O9"), "-O: '9' is not one of 0, 1, 2, 3, s and z\n"),
                ((*RELU, "--name", "a", "--name", "b"), "--name is given more than once, but takes one value"),
                ((*RELU, "--dim"), "--dim has no value, expected NAME=RANGE"),
                ((*RELU, "--threads", "0"), "--threads: 0 is outside 1..1024"),
                ((*RELU, "--opt-bisect-limit", "-1"), "--opt-bisect-limit: -1 is less than 0"),
                ((*RELU, "--max-nodes", "many"), "--max-nodes: expected an integer, found 'many'"),
                (("--help=tarot",), "--help=tarot: there are input, object, target")):
            with self.subTest(words):
                self.refuses(2, text, *words)

    def test_of_machines(self):
        for words, text in (
                (("--target=cortexm4",), "did you mean 'cortex-m4'?"),
                (("--target=x86_64-unknown-linux-gun",), "did you mean"),
                (("--target=wasm32-relax",), "unknown target 'wasm32-relax'; --print-targets lists names, and triples are "
                                             "LLVM's; did you mean 'wasm32-relaxed'?"),
                (("--target=wasm32-smid",), "did you mean 'wasm32-simd'?"),
                (("--mcpu=haswel",), "unknown CPU 'haswel' for target 'x86_64-pc-linux-gnu'; did you mean 'haswell'?"),
                (("--mcpu=cortexm4",), "did you mean --target=cortex-m4?"),
                (("--mcpu=cortex-m4",), "--target=cortex-m4 is a machine of this name"),
                (("--target=cuda",), "unknown target 'cuda'; --print-targets lists names, and triples are LLVM's; relaxc compiles "
                                     "for CPUs alone"),
                (("--target=stm32f407",), "; of a chip or board, name its core, as in --target cortex-m4"),
                (("--mattr=+avx5",), "did you mean '+avx")):
            with self.subTest(words):
                done = self.relaxc(*RELU, *words)
                self.assertEqual((done.code, text in done.err), (0 if "linux-gun" in words[0] else 2, "gun" not in words[0]),
                                 done.err)

    def test_a_machine_that_only_c_reaches_says_how(self):
        for triple, name in (("xtensa-esp32-elf", "xtensa"), ("mipsel-unknown-linux-gnu", "riscv32imac")):
            done = self.refuses(2, "has an architecture that relaxc does not support", *RELU, "--target", triple)
            self.assertIn(f"; its C compiler takes '-o model.c --target={name}'", done.err)
        for format_ in ("model.o", "model.s", "model.so"):
            self.refuses(2, "LLVM has no code for target 'xtensa'; its C compiler takes '-o model.c'", "relu.onnx",
                         "--target=xtensa", "-o", format_)
        self.compiles("relu.onnx", "-o", "model.c", "--target=xtensa")
        self.assertEqual(self.compiles("--target=xtensa", "--print-target").out, "--target=xtensa\n")

    def test_of_cores_by_other_names(self):
        for name, near in (("cortexm52", "cortex-m52"), ("cortex_m85", "cortex-m85"), ("cortex-m0+", "cortex-m0"),
                           ("cortex-r52+", "cortex-r52"), ("rv32imc", "riscv32imc"), ("rv32imafc", "riscv32imafc"),
                           ("rv64imac", "riscv64imac"), ("xtensaa", "xtensa")):
            with self.subTest(name):
                self.refuses(2, f"did you mean '{near}'?", *RELU, "--target", name)

    def test_of_operators_and_dims(self):
        self.write("relux.onnx", wire.model([wire.node("Relux", ["x"], ["y"])], [wire.value_info("x", (2,))],
                                            [wire.value_info("y", (2,))]))
        self.refuses(1, "did you mean Relu?", "relux.onnx", "-o", "m.o")
        self.write("gelu.onnx", wire.model([wire.node("FusedConv", ["x"], ["y"])], [wire.value_info("x", (2,))],
                                           [wire.value_info("y", (2,))]))
        self.refuses(1, "did you mean FusedConv of domain com.microsoft?", "gelu.onnx", "-o", "m.o")
        self.write("open.onnx", wire.relu(("batch", 4)))
        self.refuses(2, "did you mean 'batch'?", "open.onnx", "-o", "m.o", "--dim", "bacth=1")
        self.refuses(2, "did you mean 'n'?", "relu.relax", "-o", "m.o", "--dim", "N=1")
        self.write("rellu.relax", program.TEXT.replace("R.nn.relu", "R.nn.rellu"))
        self.refuses(1, "did you mean R.nn.relu?", "rellu.relax", "-o", "m.o")

    def test_the_last_level_counts(self):
        self.compiles("relu.onnx", "-o", "m.o", "-O3")
        expected = (self.path / "m.o").read_bytes()
        self.compiles("relu.onnx", "-o", "m.o", "-O0", "-Os", "-O3")
        self.assertEqual((self.path / "m.o").read_bytes(), expected)


class Help(ProgramTest):
    def test_it_fits_a_screen(self):
        lines = self.compiles("--help").out.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(sum(line.startswith("  relaxc ") for line in lines), 6)
        self.assertEqual(self.compiles("-h").out.splitlines(), lines)

    def test_groups_tools_and_all(self):
        target = self.compiles("--help=target").out
        self.assertIn("--target-from-cc COMMAND", target)
        self.assertNotIn("--dim", target)
        tool = self.compiles("bench", "--help").out
        self.assertIn("--repeat N", tool)
        self.assertNotIn("--dim", tool)
        every = self.compiles("--help=all").out
        for flag in ("--dim NAME=RANGE", "-MD", "--time-passes", "--repeat N", "--explain"):
            self.assertIn(flag, every)
        self.assertNotIn("922337", every)
        self.assertNotIn("--MD", every)
        self.assertLessEqual(max(map(len, every.splitlines())), 80)

    def test_the_examples_of_the_man_page_run(self):
        page = self.compiles("--man").out
        examples = page[page.index(".SH EXAMPLES"):page.index(".SH EXIT STATUS")]
        commands = [line[3:].replace("\\-", "-") for line in examples.splitlines() if line.startswith(".B relaxc")]
        self.assertEqual(len(commands), 6)
        self.write("net.onnx", wire.relu(("n", 4)))
        for command in commands:
            with self.subTest(command):
                more = ["--runtime", program.RUNTIME, "--cc", self.linker()] if command.endswith(("-o net", "-j 2")) else []
                self.compiles(*command.split()[1:], *more)

    def test_completion_offers_machines_and_passes(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.compiles("--completion", shell).out
            for word in ("cortex-m4", "fuse_ops", "full"):
                self.assertIn(word, script, shell)


if __name__ == "__main__":
    program.main()
