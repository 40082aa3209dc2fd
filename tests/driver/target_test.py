"""Machines: names, triples, descriptions in files, and what their objects say of themselves.

Usage: target_test.py RELAXC RUNTIME [unittest's own]"""

import json
import subprocess

import program
from program import ProgramTest


# What objects of other formats than ELF begin with.
FORMATS = {"-windows": (b"\x64\x86", b"\x64\xaa"), "-macos": (b"\xcf\xfa\xed\xfe",), "wasm32": (b"\0asm",)}


class Targets(ProgramTest):
    def readelf(self, *arguments):
        return subprocess.run(["readelf", *arguments], cwd=self.path, check=True, capture_output=True).stdout.decode()

    def target_line(self, *flags):
        done = self.compiles("relu.onnx", "-o", "m.o", "-v", *flags)
        return next(line for line in done.err.splitlines() if line.startswith("relaxc: target "))

    def names(self):
        return [line.split()[0] for line in self.compiles("--print-targets").out.splitlines()]

    def test_every_named_machine_compiles(self):
        machines = {"x86-64": "X86-64", "aarch64": "AArch64", "arm": "ARM", "cortex": "ARM", "riscv": "RISC-V"}
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            with self.subTest(name):
                self.compiles("relu.relax", "--target", name, "-o", "m.c")
                if name == "xtensa":  # LLVM has no code for it
                    continue
                self.compiles("relu.relax", "--target", name, "-o", "m.o")
                magic = (self.path / "m.o").read_bytes()[:4]
                other = next((start for start in FORMATS if name.endswith(start) or name.startswith(start)), None)
                if other is not None:  # tests/embedded reads, links and runs these
                    self.assertIn(magic[:len(FORMATS[other][0])], FORMATS[other])
                    continue
                wanted = next(text for start, text in machines.items() if name.startswith(start))
                head = self.readelf("-h", "m.o")
                self.assertIn(wanted, head)
                small = "cortex" in name or "armv7" in name or "riscv32" in name
                self.assertIn("ELF32" if small else "ELF64", head)
                self.assertIn(".note.GNU-stack", self.readelf("-SW", "m.o"))
                undefined = [line.split()[-1] for line in self.readelf("-sW", "m.o").splitlines() if " UND " in line]
                for symbol in undefined:
                    helper = symbol in ("memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_", "UND")
                    helper = helper or symbol.startswith(("rlx_", "__")) and "unwind" not in symbol
                    self.assertTrue(helper, symbol)

    def test_a_triple_means_the_first_machine_of_its_architecture(self):
        self.assertIn("CPU generic-rv64, features +m,+a,+f,+d,+c", self.target_line("--target", "riscv64-linux-gnu"))
        self.assertIn("CPU cortex-m0plus", self.target_line("--target", "thumbv6m-none-eabi"))
        self.assertIn("CPU x86-64-v3", self.target_line("--target", "x86_64-linux-gnu"))
        self.assertIn("eabi, CPU cortex-m4, features +soft-float", self.target_line("--target", "thumbv7em-none-eabi"))
        self.assertIn("CPU cortex-m4, 1", self.target_line("--target", "thumbv7em-none-eabihf"))

    def test_flags_change_a_named_machine(self):
        self.assertIn("CPU cortex-m7, 1", self.target_line("--target", "cortex-m4", "--mcpu", "cortex-m7"))
        self.assertIn("features +m,+a,+f,+d,+c,+v", self.target_line("--target", "riscv64gc", "--mattr", "+v"))
        self.assertIn("generic, features +neon,+vfp4,", self.target_line("--target", "armv7-a"))

    def test_the_float_abi_is_in_the_object(self):
        for abi, hard in (("hard", True), ("softfp", False), ("soft", False)):
            with self.subTest(abi):
                line = self.target_line("--target", "cortex-m4", "--float-abi", abi)
                self.assertIn("eabihf," if hard else "eabi,", line)
                self.assertEqual("Tag_ABI_VFP_args: VFP registers" in self.readelf("-A", "m.o"), hard)
        self.refuses(2, "no choice of float ABI", "relu.onnx", "-o", "m.o", "--target", "aarch64", "--float-abi", "soft")
        self.refuses(2, "--float-abi", "relu.onnx", "-o", "m.o", "--float-abi", "firm")

    def test_no_tag_of_enums_or_wide_characters(self):
        self.compiles("relu.onnx", "--target", "cortex-m4", "-o", "m.o")
        tags = self.readelf("-A", "m.o")
        self.assertIn("Tag_CPU_arch: v7E-M", tags)
        self.assertNotIn("Tag_ABI_enum_size", tags)
        self.assertNotIn("Tag_ABI_PCS_wchar_t", tags)

    def test_a_description_in_a_file(self):
        board = {"target": "cortex-m4", "features": "-dsp", "float_abi": "soft", "task_slots": 2, "l1_bytes": 4096,
                 "l2_bytes": 4096, "about": "mine"}
        self.write("board.json", json.dumps(board))
        line = self.target_line("--target", "board.json", "-MD")
        self.assertIn("eabi, CPU cortex-m4, features -dsp,+soft-float, 2 task slots", line)
        self.assertIn("board.json", (self.path / "m.d").read_text())
        self.write("board.json", json.dumps({"target": "aarch64-linux-gnu", "cpu": "cortex-a76"}))
        self.assertIn("aarch64-unknown-linux-gnu, CPU cortex-a76, 8", self.target_line("--target", "board.json"))
        registers = {}
        for bits in (128, 256):
            self.write("board.json", json.dumps({"target": "x86-64-v4", "vector_bits": bits, "vector_registers": 16}))
            self.compiles("relu.onnx", "--target", "board.json", "-o", "m.s")
            text = (self.path / "m.s").read_text()
            registers[bits] = [name for name in ("%xmm", "%ymm", "%zmm") if name in text]
        self.assertNotIn("%zmm", registers[256])
        self.assertIn("%ymm", registers[256])
        self.assertNotIn("%ymm", registers[128])

    def test_descriptions_that_are_wrong(self):
        for text, message in (("[]", "one JSON object"), ("{", "one JSON object"), ("{}", '"target" must name'),
                              ('{"target": ""}', '"target" must name'), ('{"target": 3}', '"target" must name'),
                              ('{"target": "aarch64", "cache": 1}', 'unknown field "cache"'),
                              ('{"target": "aarch64", "cpu": 1}', '"cpu" must be a string'),
                              ('{"target": "aarch64", "task_slots": 0}', "whole number from 1 to 1024"),
                              ('{"target": "aarch64", "vector_bits": 64}', "0 (no vectors), 128, 256 or 512"),
                              ('{"target": "aarch64", "vector_registers": 33}', "whole number from 1 to 32"),
                              ('{"target": "aarch64", "vector_bits": 256}', "has no more than 128"),
                              ('{"target": "aarch64", "l1_bytes": 1e99}', "whole number"),
                              ('{"target": "aarch64", "l1_bytes": 18446744073709551615}', "whole number"),
                              ('{"target": "aarch64", "fma_latency": "4"}', '"fma_latency" must be a number from 1 to 16'),
                              ('{"target": "aarch64", "tlb_pages": 1.5}', "whole number from 1 to 1048576"),
                              ('{"target": "aarch64", "line_bytes": 96}', "power of two, which 96 is not"),
                              ('{"target": "aarch64", "cpu": "z80"}', "unknown CPU 'z80'"),
                              ('{"target": "nowhere"}', "unknown target 'nowhere'"),
                              ('{"target": "aarch64", "features": "+wings"}', "unknown CPU feature '+wings'"),
                              ('{"target": "cortex-m4", "float_abi": "firm"}', "unknown float ABI 'firm'")):
            with self.subTest(text):
                self.write("board.json", text)
                self.refuses(2, message, "relu.onnx", "-o", "m.o", "--target", "board.json")
        self.refuses(1, "cannot read none.json", "relu.onnx", "-o", "m.o", "--target", "none.json")

    def test_architectures_without_code(self):
        for triple in ("bpf-linux", "i386-linux-gnu", "aarch64_be-linux-gnu", "amdgcn-amd-amdhsa", "avr"):
            with self.subTest(triple):
                self.refuses(2, "has an architecture that relaxc does not support; it supports x86-64", "relu.onnx", "-o",
                             "m.o", "--target", triple)

    def test_native(self):
        self.compiles("relu.onnx", "-o", "m.o", "--target", "native")
        self.refuses(2, "no input is given", "-o", "m.o")


if __name__ == "__main__":
    program.main()
