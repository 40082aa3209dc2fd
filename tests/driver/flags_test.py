"""Every flag of relaxc, through the program itself.

Usage: flags_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import subprocess
import unittest

import program
import wire
from program import ProgramTest


class Form(ProgramTest):
    PARTS = {"m.o": b"\x7fELF", "m.bc": b"BC\xc0\xde", "m.c": b"#include", "m.s": b".globl", "m.ll": b"define"}

    def test_the_extension_selects_the_format(self):
        for name, part in self.PARTS.items():  # .so: outputs_test.py
            with self.subTest(name):
                self.compiles("relu.onnx", "-o", name)
                self.assertIn(part, (self.path / name).read_bytes())
                self.assertTrue((self.path / "m.h").exists())

    def test_emit_overrides_the_extension(self):
        self.compiles("relu.onnx", "-o", "m.xyz", "--emit", "llvm")
        self.assertIn(b"define", (self.path / "m.xyz").read_bytes())
        self.refuses(2, "--emit", "relu.onnx", "-o", "m.o", "--emit", "elf")

    def test_an_extension_that_selects_no_format(self):
        self.refuses(2, "the extension of 'm.xyz' selects no format", "relu.onnx", "-o", "m.xyz")
        self.refuses(2, "selects no format", "relu.onnx", "-o", "m.v2")
        self.refuses(2, "-o m.o --report=m.onnx writes an object and the graph of what runs", "relu.onnx", "-o", "m.onnx")
        self.refuses(2, "an output is a file", "relu.onnx", "-o", "-", "--emit=relax")
        self.assertFalse((self.path / "-").exists())

    def test_no_output_and_no_input(self):
        self.refuses(2, "give an output with -o", "relu.onnx")
        self.refuses(2, "no input is given; 'relaxc MODEL -o OUTPUT' compiles a model", "-o", "m.o")

    def test_the_input_is_not_overwritten(self):
        self.write("m.h", program.TEXT)
        self.refuses(2, "cannot be both the input and the header", "m.h", "-o", "m.o")
        self.write("p.c", program.TEXT)
        self.refuses(2, "cannot be both the input and the output", "p.c", "-o", "./p.c")

    def test_what_people_mistype(self):
        """Each is told what was found and what would be right."""
        for words, text in (
                (("relu.onnx", "-o", "m.o", "--dim", "n"), "--dim: expected NAME=RANGE, as in batch=1"),
                (("relu.onnx", "-o", "m.o", "--state", "x"), "--state: expected INPUT:OUTPUT, as in h0:hn, found 'x'"),
                (("relu.onnx", "-o", "m.o", "--ram-budget", "lots"), "--ram-budget: expected bytes, as in 16384, 64K or 2M"),
                (("relu.onnx", "-o", "m.o", "--flash-budget", "0"), "--flash-budget: expected bytes"),
                (("relu.onnx", "-o", "m.o", "--target", "x86-64", "--mcpu", "pentium"), "CPU 'pentium' is not a 64-bit CPU"),
                (("relu.onnx", "-o", "m.o", "--target", "riscv64gc", "--mcpu", "generic-rv32"), "is not a 64-bit CPU"),
                (("relu.onnx", "-o", "m.o", "--target", "x86-64", "--mattr", "avx2"), "write +avx2 or -avx2"),
                (("relu.onnx", "./relu.onnx", "-o", "m.o"), "'./relu.onnx' is given twice"),
                (("bnch", "relu.onnx"), "'bnch' is neither a file nor one of the tools run, verify, bench, tune, inspect and lsp"),
                (("run",), "relaxc: error: MODEL is required"),
                (("relu.onnx", "-o", "m.so", "--cc", "'no such cc' -O2", "--runtime", program.RUNTIME),
                 "there is no program 'no such cc'")):
            with self.subTest(words):
                self.refuses(2, text, *words)

    def test_unknown_flags(self):
        self.refuses(2, "--bogus", "relu.onnx", "-o", "m.o", "--bogus")
        self.refuses(2, "-O", "relu.onnx", "-o", "m.o", "-O9")
        self.refuses(2, "-W", "relu.onnx", "-o", "m.o", "-Wfoo")


class Name(ProgramTest):
    def test_the_stem_is_the_prefix(self):
        self.compiles("relu.onnx", "-o", "net.c")
        self.assertIn("net_model", (self.path / "net.c").read_text())

    def test_name_replaces_it(self):
        self.compiles("relu.onnx", "-o", "net-8.c", "--name", "net")
        self.assertIn("net_model", (self.path / "net-8.c").read_text())

    def test_a_stem_that_is_not_an_identifier_gives_one_like_it(self):
        for stem, near in (("mnist-8", "mnist_8"), ("8bit", "model_8bit"), ("rlx_net", "model_rlx_net"),
                           ("while", "model_while"), ("größe", "gr____e")):
            with self.subTest(stem):
                result = self.compiles("relu.onnx", "-o", stem + ".c")
                self.assertIn(f"C names begin with '{near}_'", result.err)
                self.assertIn(f" {near}_model", (self.path / (stem + ".h")).read_text())

    def test_a_program_has_no_such_names(self):
        self.assertEqual(self.compiles("relu.onnx", "-o", "mnist-8").err, "")

    def test_a_name_that_is_not_an_identifier_suggests_one(self):
        for name, near in (("mnist-8", "mnist_8"), ("8bit", "model_8bit"), ("int", "model_int")):
            with self.subTest(name):
                self.refuses(2, f"--name={near} can", "relu.onnx", "-o", "m.o", f"--name={name}")

    def test_names_that_c_allows(self):
        for name in ("a__b", "_m", "M9", "rl"):
            with self.subTest(name):
                self.compiles("relu.onnx", "-o", "m.c", "--name", name)
                self.assertIn(f" {name}_model", (self.path / "m.c").read_text())


class Target(ProgramTest):
    def test_levels(self):
        for level in "0123sz":
            with self.subTest(level):
                self.compiles("relu.onnx", "-o", f"m{level}.o", f"-O{level}")

    def test_mistakes_are_named(self):
        self.refuses(2, "unknown target 'foo'", "relu.onnx", "-o", "m.o", "--target", "foo")
        self.refuses(2, "unknown CPU 'foo'", "relu.onnx", "-o", "m.o", "--mcpu", "foo")
        self.refuses(2, "unknown CPU feature '+foo'", "relu.onnx", "-o", "m.o", "--mattr=+foo")
        self.refuses(2, "--threads", "relu.onnx", "-o", "m.o", "--threads", "0")

    def test_another_machine(self):
        self.compiles("relu.onnx", "-o", "m.o", "--target", "aarch64-linux-gnu")
        self.assertEqual((self.path / "m.o").read_bytes()[18], 0xB7)  # EM_AARCH64


class Dependencies(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("w.bin", bytes(8))
        self.write("net.onnx", wire.with_external_data("w.bin"))

    def test_the_model_and_its_external_data_are_listed(self):
        self.compiles("net.onnx", "-o", "m.o", "-MD")
        self.assertEqual((self.path / "m.d").read_text(), "m.o: \\\n  net.onnx \\\n  w.bin\n")

    def test_path_targets_and_empty_rules(self):
        self.compiles("net.onnx", "-o", "m.o", "-MD", "-MF", "deps", "-MT", "a", "-MTb", "-MP")
        self.assertEqual((self.path / "deps").read_text(), "a b: \\\n  net.onnx \\\n  w.bin\n\nw.bin:\n")

    def test_they_need_md(self):
        self.refuses(2, "--MD", "net.onnx", "-o", "m.o", "-MF", "deps")
        self.refuses(2, "cannot be both the header and the dependency file", "net.onnx", "-o", "m.o", "-MD", "-MF",
                     "m.h")

    def test_make_reads_names_with_blanks_hashes_and_dollars(self):
        folder = "a b#c$d"
        self.write(f"{folder}/w 1.bin", bytes(8))
        self.write(f"{folder}/net.onnx", wire.with_external_data("w 1.bin"))
        self.compiles(f"{folder}/net.onnx", "-o", "m.o", "-MD", "-MP")
        self.write("Makefile", "m.o: ; touch m.o\ninclude m.d\n")

        def up_to_date():
            return subprocess.run(["make", "-q", "m.o"], cwd=self.path, check=False, capture_output=True).returncode

        self.assertEqual(up_to_date(), 0)
        (self.path / folder / "w 1.bin").touch()
        self.assertEqual(up_to_date(), 1)


class Dims(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("open.onnx", wire.relu(("batch", 3)))

    def symbols(self, *arguments):
        """What the emitted C says of the symbols: the record of lower and upper bound and multiple."""
        self.compiles(*arguments, "-o", "m.c")
        lines = (self.path / "m.c").read_text().splitlines()
        starts = [i for i, line in enumerate(lines) if "rlx_symbol " in line and "=" in line]
        return "\n".join(line for i in starts for line in lines[i:i + 3])

    def test_fixed_bounded_and_multiple(self):
        for source, name in (("open.onnx", "batch"), ("relu.relax", "n")):
            with self.subTest(source):
                self.assertIn("INT64_C(0), INT64_MAX, INT64_C(1)", self.symbols(source))
                self.assertIn("INT64_C(3), INT64_C(512), INT64_C(64)",
                              self.symbols(source, "--dim", f"{name}=3..512:64"))
                self.assertIn("INT64_C(0), INT64_C(9), INT64_C(1)", self.symbols(source, "--dim", f"{name}=..9"))
        self.assertEqual(self.symbols("open.onnx", "--dim", "batch=7"), "")
        self.assertIn("INT64_C(7), INT64_C(7)", self.symbols("relu.relax", "--dim", "n=7"))

    def test_an_unknown_name_lists_those_there_are(self):
        self.refuses(2, "batch", "open.onnx", "-o", "m.o", "--dim", "seq=4")
        self.refuses(2, "its symbols are: n", "relu.relax", "-o", "m.o", "--dim", "seq=4")

    def test_contradictions(self):
        for source, name in (("open.onnx", "batch"), ("relu.relax", "n")):
            self.refuses(2, "given twice", source, "-o", "m.o", "--dim", f"{name}=1", "--dim", f"{name}=2")
            self.refuses(2, "no multiple of 4 is in 5..6", source, "-o", "m.o", "--dim", f"{name}=5..6:4")

    def test_invalid_ranges(self):
        for text in ("batch", "batch=", "=4", "batch=x", "batch=4..2", "batch=-1", "batch=1..8:0", "batch=1..8:",
                     "batch=99999999999999999999"):
            with self.subTest(text):
                self.refuses(2, "--dim", "open.onnx", "-o", "m.o", "--dim", text)


class States(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("stream.onnx", wire.streaming())

    def test_a_pair(self):
        self.compiles("stream.onnx", "-o", "m.o", "--state=h0:hn")
        self.assertIn("state", (self.path / "m.h").read_text().lower())

    def test_mistakes_are_named(self):
        self.refuses(1, "names no input of 'main'; they are: x, h0", "stream.onnx", "-o", "m.o", "--state=h1:hn")
        self.refuses(1, "names no output of 'main'; they are: y, hn", "stream.onnx", "-o", "m.o", "--state=h0:h1")
        self.refuses(2, "--state", "stream.onnx", "-o", "m.o", "--state=h0")
        for order, axis, dims, more in ((["x", "h0"], 0, (4,), (8,)), (["h0", "x"], 1, (2, 4), (2, 8))):
            self.grows(order, axis, dims, more)
            self.refuses(1, "both must be the same, or the output a concatenation that continues the input", "grow.onnx", "-o",
                         "m.o", "--state=h0:hn")

    def grows(self, operands, axis, dims, more):
        self.write("grow.onnx", wire.model(
            [wire.node("Concat", operands, ["hn"], attributes=[wire.int_attribute("axis", axis)])],
            [wire.value_info("h0", dims), wire.value_info("x", dims)], [wire.value_info("hn", more)]))

    def test_a_state_that_grows_is_not_copied_in_place(self):
        self.grows(["h0", "x"], 1, (1, "n"), (1, "m"))
        self.compiles("grow.onnx", "-o", "m.c", "--state=h0:hn")
        self.assertIn("input  h0: float32 [1, n], state that grows along axis 1", (self.path / "m.h").read_text())
        self.assertIn("if (from != to) {", (self.path / "m.c").read_text())
        self.assertIn("a state that grows along axis 1", self.compiles("inspect", "grow.onnx", "--state=h0:hn").out)

    def test_a_tensor_is_in_one_state_only(self):
        for other in ("h0:y", "x:hn", "h0:hn"):
            self.refuses(2, "already belongs to another state", "stream.onnx", "-o", "m.o", "--state=h0:hn", f"--state={other}")

    def test_check_proposes_pairs(self):
        done = self.compiles("stream.onnx", "--check")
        self.assertIn("--state=h0:hn", done.out)
        self.assertNotIn("x:y", done.out)
        self.assertNotIn("--state", self.compiles("stream.onnx", "--check", "--state=h0:hn").out)


class Check(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("two.onnx", wire.model(
            [wire.node("Frobnicate", ["x"], ["a"], name="first"), wire.node("Relu", ["x"], ["b"], name="fine"),
             wire.node("Wobble", ["b"], ["y"], name="second")],
            [wire.value_info("x", (2,))], [wire.value_info("a", (2,)), wire.value_info("y", (2,))], opset=12))

    def test_all_reasons_at_once(self):
        done = self.refuses(1, "Frobnicate", "--check", "two.onnx")
        self.assertIn("node 'second' (Wobble, opset 12)", done.err)
        self.assertNotIn("'fine'", done.err)

    def test_for_machines(self):
        done = self.refuses(1, "", "--check=json", "two.onnx")
        found = json.loads(done.out)
        self.assertFalse(found["compiles"])
        self.assertEqual([(d["node"], d["op"], d["opset"], d["severity"]) for d in found["diagnostics"]],
                         [("first", "Frobnicate", 12, "error"), ("second", "Wobble", 12, "error")])
        self.assertTrue(all(d["message"] and d["kind"] for d in found["diagnostics"]))

    def test_what_compiles(self):
        self.assertIn("nothing prevents compilation", self.compiles("relu.onnx", "--check").out)
        self.write("stream.onnx", wire.streaming())
        found = json.loads(self.compiles("--check=json", "stream.onnx").out)
        self.assertEqual(found, {"compiles": True, "diagnostics": [], "remarks": [],
                                 "states": [{"function": "main", "input": "h0", "output": "hn"}]})

    def test_text_has_lines(self):
        self.write("bad.relax", program.TEXT.replace("R.nn.relu(x)", "R.nn.rilu(x)"))
        found = json.loads(self.relaxc("--check=json", "bad.relax").out)
        self.assertEqual((found["diagnostics"][0]["line"], found["diagnostics"][0]["file"]), (4, "bad.relax"))

    def test_the_format_is_one_of_two(self):
        self.refuses(2, "--check", "relu.onnx", "--check=xml")


class Passes(ProgramTest):
    def test_before_and_after(self):
        done = self.compiles("relu.relax", "--check", "--print-before", "legalize", "--print-after=legalize,fuse_ops")
        self.assertEqual([line for line in done.err.splitlines() if line.startswith("# ----")],
                         ["# ---- before legalize", "# ---- after legalize", "# ---- after fuse_ops"])

    def test_an_optional_pass_is_left_out(self):
        done = self.compiles("relu.relax", "--check", "--disable-pass", "fuse_ops", "--print-after=all")
        self.assertNotIn("after fuse_ops", done.err)

    def test_a_pass_that_others_need_is_not(self):
        self.refuses(2, "needs what a disabled pass gives", "relu.relax", "-o", "m.o", "--disable-pass", "legalize")

    def test_stop_after_prints_the_module_and_writes_nothing(self):
        before = self.files()
        done = self.compiles("relu.relax", "-o", "m.o", "--stop-after", "infer")
        self.assertIn("R.nn.relu", done.out)
        self.assertEqual(self.files(), before)

    def test_unknown_passes_list_the_known(self):
        for flag in ("--print-before", "--print-after", "--disable-pass", "--stop-after"):
            self.refuses(2, "no pass named 'nope'; the passes are: ", "relu.relax", "-o", "m.o", flag, "nope")

    def test_times(self):
        self.assertRegex(self.compiles("relu.relax", "--check", "--time-passes").err, r"\d+\.\d\d ms  infer")


class Talk(ProgramTest):
    def test_verbose(self):
        done = self.compiles("relu.onnx", "-o", "m.o", "-v", "-MD")
        size = (self.path / "relu.onnx").stat().st_size
        self.assertIn(f"relaxc: read relu.onnx ({size} bytes)", done.err)
        self.assertRegex(done.err, r"relaxc: main: 1 input, 1 output, 0 symbols, 1 kernel, arena \d+ bytes")
        self.assertRegex(done.err, r"relaxc: wrote m\.o \(\d+ bytes\)\nrelaxc: wrote m\.d \(\d+ bytes\)\nrelaxc: wrote m\.h ")
        self.assertIn("target ", done.err)
        self.assertIn("weights 0 bytes", done.err)
        self.assertRegex(done.err, r" ms  infer")

    def test_verbose_names_weights_that_are_stored_in_two_forms(self):
        embedding = wire.node("Gather", ["w", "at"], ["e"])
        product = wire.node("MatMul", ["x", "w"], ["y"])
        inputs = [wire.value_info("x", (5, 64)), wire.value_info("at", (3,), wire.INT64)]
        outputs = [wire.value_info("y", (5, 48)), wire.value_info("e", (3, 48))]
        weights = [wire.tensor("w", (64, 48), bytes(range(256)) * 48)]
        self.write("tied.onnx", wire.model([embedding, product], inputs, outputs, weights))
        flags = ("--target", "x86-64", "--mcpu", "x86-64-v3", "-o", "m.o", "-v")
        self.assertRegex(self.compiles("tied.onnx", *flags).err,
                         r"relaxc: the weights of 'w' are stored 2 times: 12288 bytes as they are, 12288 bytes by pack \[64, 48\]")
        self.write("lone.onnx", wire.model([product], inputs[:1], outputs[:1], weights))
        self.assertNotIn("stand", self.compiles("lone.onnx", *flags).err)

    def test_quiet_otherwise(self):
        done = self.compiles("relu.onnx", "-o", "m.o")
        self.assertEqual((done.out, done.err), ("", ""))

    def test_a_warning_is_an_error_if_asked(self):
        self.write("odd.onnx", wire.model([wire.node("Relu", ["x"], ["y"])], [wire.value_info("x", (2, 3))],
                                          [wire.value_info("y", (2, 4))]))
        self.assertIn("warning: ", self.compiles("odd.onnx", "-o", "m.c").err)
        self.refuses(1, "warning: ", "odd.onnx", "-o", "k.c", "-Werror")

    def test_version_and_help(self):
        self.assertRegex(self.compiles("--version").out, r"^relaxc \d+\.\d+\.\d+\n$")
        for flag in ("-o", "--dim", "--state", "--check", "-MD", "--target", "--time-passes"):
            self.assertIn(flag, self.compiles("--help=all").out)

    def test_values_of_flags_are_named_for_what_they_are(self):
        """CLI11's names of C++ types, and of checks, are none of them."""
        values = set(re.findall(r"^  -[-\w]+(?:,-[-\w]+)* (\S+)  ", self.compiles("--help=all").out, re.M))
        self.assertTrue({"INPUT:OUTPUT", "BYTES", "SECONDS", "TARGET", "PASS"} <= values, values)
        self.assertFalse({value for value in values if re.search(r"\b(TEXT|U?INT|FLOAT|SIZE|POSITIVE)\b", value)}, values)
        self.assertIn("\\fB\\-\\-state\\fR \\fIINPUT:OUTPUT\\fR", self.compiles("--man").out)


if __name__ == "__main__":
    program.main()
