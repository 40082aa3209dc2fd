"""`--certificate=DIR`: what is recorded of the files that were written, and how changed files are found.

Usage: certificate_test.py RELAXC RUNTIME [unittest's own]"""

import hashlib
import json
import random
import re
import shutil
import struct
import subprocess
import unittest
from fractions import Fraction
from pathlib import Path

import program
import wire
from program import RELAXC, RUNTIME, ProgramTest
from programs_test import floats, npy, read_npy

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.onnx"
TFLITE = ROOT / "tests/fuzz/corpus/import_tflite/strided_slice.tflite"
FILES = ("certificate.json", "certificate.md")
SUMS = """@R.function
def main(x: R.Tensor((3, {0}), "float32"), w: R.Tensor(({0}, 5), "float32")):
    with R.dataflow():
        y = R.matmul(x, w)
        z = R.sum(x, axis=1)
        R.output(y, z)
    return (y, z)
"""


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Certificate(ProgramTest):
    def certified(self, *arguments, folder="cert"):
        self.compiles(*arguments, "--certificate", folder)
        record = json.loads((self.path / folder / FILES[0]).read_text())
        for one in record["outputs"]:
            self.assertEqual(sha256(self.path / one["file"]), one["sha256"])
        self.assertEqual(record["page"]["sha256"], sha256(self.path / folder / FILES[1]))
        return record

    def test_it_describes_every_kind_of_input_and_output(self):
        for source, output, flags in ((DIGITS, "m.o", ["--dim", "n=1..2"]),
                                      (DIGITS, "m.c", ["--dim", "n=1", "--c-profile", "misra"]), (TFLITE, "m.o", []),
                                      ("relu.relax", "m.c", []), ("relu.onnx", "m.o", ["--target", "cortex-m4"]),
                                      ("relu.onnx", "m.o", ["--names", "none"])):
            with self.subTest(f"{source} {output} {flags}"):
                record = self.certified(source, *flags, "-o", output)
                source = self.path / source
                self.assertEqual(record["inputs"][0]["sha256"], sha256(source))
                self.assertEqual({one["file"] for one in record["outputs"]}, {output, "m.h"})
                self.assertIn(record["compiler"]["sha256"], (sha256(RELAXC), None))
                for kernel in record["kernels"]:
                    self.assertTrue(kernel["nodes"] and kernel["code"] and kernel["error"], kernel)
                    self.assertIn(kernel["proof"]["answer"], ("proved", "checked", "not scheduled"))
                self.assertEqual([one for claims in record["memory_proofs"] for one in claims["refuted"]], [])
                agreed = self.compiles("--check-certificate", "cert", source).out
                self.assertEqual(len(agreed.splitlines()), 4)

    def test_the_code_of_a_kernel_is_where_it_says(self):
        record = self.certified(DIGITS, "--dim", "n=1", "-o", "m.c", "--c-profile", "misra")
        lines = (self.path / "m.c").read_text().splitlines()
        for kernel in record["kernels"]:
            [place] = kernel["code"]
            self.assertIn(f" {place['symbol']}(", lines[place["first_line"] - 1])
            self.assertEqual(lines[place["last_line"] - 1], "}")
            # Every loop of the text has its bound in the record.
            body = "\n".join(lines[place["first_line"]:place["last_line"]])
            bounds = {int(end) for end in re.findall(r"< (\d+); \w+\+\+", body)}
            self.assertLessEqual(bounds, {loop["at_most"] for loop in kernel["loops"]})
        record = self.certified(DIGITS, "--dim", "n=1", "-o", "m.o")
        symbols = subprocess.run(["nm", "-S", "m.o"], cwd=self.path, capture_output=True, check=True, text=True).stdout
        places = {(line.split()[3], int(line.split()[0], 16), int(line.split()[1], 16))
                  for line in symbols.splitlines() if len(line.split()) == 4}
        for kernel in record["kernels"]:
            for place in kernel["code"]:
                self.assertIn((place["symbol"], place["offset"], place["bytes"]), places)

    def test_bounds_of_loops_follow_the_dims(self):
        loops = lambda *dims: [loop["at_most"] for kernel in self.certified("relu.relax", *dims, "-o", "m.o")["kernels"]
                               for loop in kernel["loops"]]
        self.assertNotIn(None, loops("--dim", "n=1..2"))
        self.assertIn(None, loops())

    def test_the_same_input_gives_the_same_certificate(self):
        self.certified(DIGITS, "--dim", "n=2", "-o", "m.o")
        first = [(self.path / "cert" / name).read_bytes() for name in FILES]
        self.write("other/digits.onnx", DIGITS.read_bytes())
        shutil.copytree(self.path / "cert", self.path / "before")
        self.certified("other/digits.onnx", "--dim", "n=2", "-o", "m.o", "-j", "2")  # replaces the files
        self.assertEqual(first, [(self.path / "cert" / name).read_bytes() for name in FILES])
        self.assertEqual(self.relaxc("--check-certificate", "before", "other/digits.onnx").code, 0)

    def test_what_was_changed_is_found(self):
        self.certified("relu.onnx", "-o", "m.o")
        for name in ("relu.onnx", "m.o", "m.h", "cert/certificate.md", "cert/certificate.json"):
            kept = (self.path / name).read_bytes()
            half = len(kept) // 2
            for change in (kept[:half] + bytes([kept[half] ^ 1]) + kept[half + 1:], kept + b"\n", b""):
                self.write(name, change)
                done = self.relaxc("--check-certificate", "cert")
                self.assertEqual(done.code, 1)
                self.assertRegex(done.err, rf"{Path(name).name} (is another file|has changed since it was written)")
                self.assertEqual(done.out, "")
            (self.path / name).unlink()
            self.assertEqual(self.relaxc("--check-certificate", "cert").code, 1)
            self.write(name, kept)
        self.assertEqual(self.relaxc("--check-certificate", "cert").code, 0)

    def test_a_seal_around_anything_else_is_refused(self):
        """Whoever writes a file can seal it."""
        for body in ("{", "[", '{"schema": "relaxc certificate", "version": 1', '{"schema": 1', '{"version": 1',
                     '{"schema": "relaxc certificate", "version": 1, "page": {"file": 2, "sha256": "a"}',
                     '{"schema": "relaxc certificate", "version": 1, "page": {"file": "", "sha256": []}, "inputs": 3'):
            seal = hashlib.sha256(body.encode()).hexdigest()
            self.write("cert/certificate.json", f'{body},\n "seal": "{seal}"\n}}\n')
            done = self.relaxc("--check-certificate", "cert")
            self.assertEqual((done.code, done.out), (1, ""), body)
            self.assertRegex(done.err, "certificate.json (lacks what a certificate has|is not a certificate|has changed)")

    def test_nothing_is_left_of_a_certificate_that_cannot_be_written(self):
        self.refuses(1, "cannot make the folder", "relu.onnx", "-o", "m.o", "--certificate", "relu.relax")
        self.refuses(1, "cannot make the folder", "relu.onnx", "-o", "m.o", "--certificate", "none/cert")
        (self.path / "taken/certificate.md").mkdir(parents=True)
        self.refuses(1, "cannot write", "relu.onnx", "-o", "m.o", "--certificate", "taken")
        self.refuses(1, "", "none.onnx", "-o", "m.o", "--certificate", "cert")
        for output in ("m.s", "m.relax", "m"):
            self.refuses(2, "--certificate is about an object", "relu.onnx", "-o", output, "--certificate", "cert")
        for flags in (["--check"], ["--stop-after", "infer"]):
            self.refuses(2, "--certificate is about an object", "relu.onnx", *flags, "--certificate", "cert")

    def test_names_of_a_model_are_no_markup(self):
        name = "a|b`<script>*[x](y)\n# z\x1b\u202e"
        self.write("m.onnx", wire.model([wire.node("Relu", ["x"], ["y"], name=name)], [wire.value_info("x", (2,))],
                                        [wire.value_info("y", (2,))]))
        record = self.certified("m.onnx", "-o", "m.o")
        self.assertEqual(record["kernels"][0]["nodes"], [f"{name} (Relu)"])
        page = (self.path / "cert" / FILES[1]).read_text()
        for mark in ("<script>", "\n# z", "\x1b", "\u202e", "|b`", " [x]"):
            self.assertNotIn(mark, page)
        self.assertIn("a\\|b\\`&lt;script&gt;", page)

    def test_a_selftest_is_part_of_it(self):
        self.assertIsNone(self.certified("relu.onnx", "-o", "m.o")["selftest"])
        record = self.certified("relu.onnx", "-o", "m.o", "--emit-selftest")
        self.assertEqual(record["selftest"]["function"], "m_selftest")
        self.assertGreater(record["selftest"]["data_bytes"], 0)

    def test_sums_are_within_their_bound(self):
        """The bound of a sum of k terms, which certificates cite, against exact sums."""
        numbers = random.Random(1)
        for k in (1, 7, 100, 768):
            x, w = ([struct.unpack("<f", struct.pack("<f", numbers.choice((-1, 1)) * 2 ** numbers.uniform(-8, 8)))[0]
                     for _ in range(count)] for count in (3 * k, 5 * k))
            self.write("p.relax", SUMS.format(k))
            self.write("x.npy", npy((3, k), floats(*x)))
            self.write("w.npy", npy((k, 5), floats(*w)))
            done = self.relaxc("run", "p.relax", "x.npy", "w.npy", "-o", "out", "--runtime", RUNTIME)
            self.assertEqual(done.code, 0, done.err)
            found = [struct.unpack(f"<{len(data) // 4}f", data)
                     for data in (read_npy(path)[1] for path in sorted((self.path / "out").glob("*.npy")))]
            self.assertEqual([len(one) for one in found], [15, 3])
            products = [[Fraction(x[i * k + m]) * Fraction(w[m * 5 + j]) for m in range(k)]
                        for i in range(3) for j in range(5)]
            rows = [[Fraction(value) for value in x[i * k:(i + 1) * k]] for i in range(3)]
            u = Fraction(1, 2**24)
            for terms, value in zip(products + rows, [*found[0], *found[1]]):
                limit = (k + 1) * u / (1 - (k + 1) * u) * sum(map(abs, terms))
                self.assertLessEqual(abs(Fraction(value) - sum(terms)), limit)


if __name__ == "__main__":
    program.main()
