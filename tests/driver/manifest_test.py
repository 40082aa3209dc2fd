"""The manifest says of an object what nm, readelf and the header say.

Usage: manifest_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import struct
import subprocess

import program
import wire
from program import RUNTIME, ProgramTest


class Manifest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.onnx", wire.model(
            [wire.node("MatMul", ["x", "w"], ["t"]), wire.node("Relu", ["t"], ["y"])],
            [wire.value_info("x", ("n", 8))], [wire.value_info("y", ("n", 16))],
            [wire.tensor("w", (8, 16), struct.pack("<128f", *range(128)))]))

    def manifest(self, source, output, *flags):
        self.compiles(source, "-o", output, "--manifest", "m.json", *flags)
        return json.loads((self.path / "m.json").read_text())

    def tool(self, *arguments):
        return subprocess.run(list(map(str, arguments)), cwd=self.path, check=True, capture_output=True).stdout.decode()

    def loaded_sections(self, file):
        """(name, size, flags) of what is loaded and not empty, as readelf shows it."""
        found = []
        for line in self.tool("readelf", "-SW", file).splitlines():
            fields = re.match(r" +\[ *\d+\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Z]*) ", line)
            if fields and "A" in fields[3] and int(fields[2], 16):
                found.append((fields[1], int(fields[2], 16), fields[3]))
        return found

    def symbols(self, file):
        """Sizes of the global symbols that it defines, and the names of those that it does not."""
        defined, undefined = {}, set()
        for line in self.tool("readelf", "-sW", file).splitlines():
            fields = line.split()
            if len(fields) == 8 and fields[0][:-1].isdigit() and fields[4] in ("GLOBAL", "WEAK"):
                if fields[6] == "UND":
                    undefined.add(fields[7])
                else:
                    defined[fields[7]] = int(fields[2], 0)
        return defined, undefined

    def test_it_agrees_with_readelf_on_every_machine(self):
        for machine in ("x86-64-v3", "aarch64", "armv7-a", "cortex-m0plus", "cortex-m4", "riscv64gc", "riscv32imac"):
            for flags in ([], ["--weights", "m.bin"]):
                with self.subTest(machine=machine, flags=flags):
                    told = self.manifest("net.onnx", "m.o", "--target", machine, *flags)["object"]
                    sections = self.loaded_sections("m.o")
                    self.assertEqual([(s["name"], s["bytes"]) for s in told["sections"]], [s[:2] for s in sections])
                    self.assertEqual(told["code_bytes"], sum(size for _, size, flags in sections if "X" in flags))
                    self.assertEqual(told["relocated_bytes"], sum(size for _, size, flags in sections if "W" in flags))
                    self.assertEqual(told["constant_bytes"], sum(size for _, size, flags in sections
                                                                 if "X" not in flags and "W" not in flags))
                    defined, undefined = self.symbols("m.o")
                    self.assertEqual({s["name"]: s["bytes"] for s in told["globals"]}, defined)
                    self.assertEqual(told["undefined"], sorted(undefined))
                    self.assertEqual(told["bytes"], (self.path / "m.o").stat().st_size)
                    self.assertTrue(all(name.startswith("m_") or name.startswith("m.") for name in defined), defined)

    def test_it_agrees_with_the_header(self):
        told = self.manifest("net.onnx", "m.o", "--dim", "n=1..16", "-O3", "--threads", "4")
        header = (self.path / "m.h").read_text()
        main = told["functions"][0]
        self.assertIn(f"#define M_ARENA_MAX {main['arena_max']}\n", header)
        self.assertIn(f"#define M_ARENA_ALIGN {main['arena_align']}\n", header)
        self.assertIn(f"m_run_{told['interface_hash']}", header)
        self.assertEqual(main["symbols"], [{"name": "n", "lower": 1, "upper": 16, "multiple_of": 1}])
        self.assertEqual(main["inputs"], [{"name": "x", "dtype": "float32", "dims": ["n", 8]}])
        self.assertEqual(main["outputs"], [{"name": "y", "dtype": "float32", "dims": ["n", 16]}])
        self.assertFalse(main["needs_allocator"])
        self.assertEqual(told["flags"], ["-O3", "--dim=n=1..16", "--threads=4", "--max-recursion=1000", "--max-data-nodes=100000"])
        self.assertIn(bytes.fromhex(told["hash"]), (self.path / "m.o").read_bytes())

    def test_the_work_of_nodes(self):
        told = self.manifest("net.onnx", "m.o", "--dim", "n=16")
        profile = told["functions"][0]["profiles"][0]
        flops = sum(node["flops"] for node in profile["nodes"])
        self.assertGreaterEqual(flops, 2 * 16 * 8 * 16)
        self.assertLessEqual(flops, 2 * 16 * 8 * 16 + 4 * 16 * 16)
        self.assertGreaterEqual(sum(node["bytes"] for node in profile["nodes"]), 4 * (16 * 8 + 16 * 16 + 128))

    def test_weights(self):
        told = self.manifest("net.onnx", "m.o")
        self.assertEqual((told["weights"]["file"], told["weights"]["file_bytes"]), (None, 0))
        inside = next(s["bytes"] for s in told["object"]["sections"] if s["name"] == ".rodata.m.weights")
        self.assertEqual(told["weights"]["bytes"], inside)
        told = self.manifest("net.onnx", "m.o", "--weights", "m.bin")
        self.assertEqual(told["weights"]["file"], "m.bin")
        self.assertEqual(told["weights"]["file_bytes"], (self.path / "m.bin").stat().st_size)
        self.assertNotIn(".rodata.m.weights", [s["name"] for s in told["object"]["sections"]])

    def test_a_shared_library_and_what_cannot_be_described(self):
        told = self.manifest("net.onnx", "m.so", "--runtime", RUNTIME)
        defined, undefined = self.symbols("m.so")
        self.assertIn("m_model", defined)
        self.assertEqual(set(told["object"]["undefined"]), undefined)
        for output in ("m.c", "m.s", "m.ll", "m.a"):
            self.refuses(2, "--manifest", "relu.onnx", "-o", output, "--name", "k", "--manifest", "k.json")
        self.refuses(2, "cannot be both", "relu.onnx", "-o", "k.o", "--manifest", "k.h")

    def test_the_same_bytes_from_another_folder(self):
        self.manifest("net.onnx", "m.o")
        first = (self.path / "m.json").read_bytes()
        (self.path / "sub").mkdir()
        self.write("sub/net.onnx", (self.path / "net.onnx").read_bytes())
        self.compiles("sub/net.onnx", "-o", "sub/m.o", "--manifest", "sub/m.json")
        self.assertEqual((self.path / "sub/m.json").read_bytes(), first)


if __name__ == "__main__":
    program.main()
