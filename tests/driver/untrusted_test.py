"""--untrusted: what it refuses, with which exit code, which limits it sets, and that it changes no byte of what is written.

Usage: untrusted_test.py RELAXC RUNTIME [unittest's own]"""

import json
import resource
import unittest

import program
import wire
from program import ProgramTest

DEFAULT_BYTES = 4 << 30


class Untrusted(ProgramTest):
    def refused(self, code, text, *arguments):
        self.refuses(code, text, *arguments, "--untrusted")

    def test_a_model_of_one_file_gives_the_same_bytes(self):
        for form in ("m.o", "m.c", "m.relax"):
            self.compiles("relu.onnx", "-o", form)
            before = (self.path / form).read_bytes()
            self.compiles("relu.onnx", "-o", form, "--untrusted")
            self.assertEqual((self.path / form).read_bytes(), before)

    def test_text_is_refused_whatever_it_is_called(self):
        for name in ("relu.relax", "relu.py", "relu.txt", "text.onnx"):
            self.write(name, program.TEXT)
            self.refused(1, "'" + name + "' is not an ONNX or TFLite model, and --untrusted refuses text programs"
                         if name != "text.onnx" else "not an ONNX model", name, "-o", "m.o")
        self.refused(2, "relu.relax", "relu.onnx", "relu.relax", "-o", "m.o")  # several inputs are models in any case

    def test_external_data_is_refused_wherever_it_is(self):
        self.write("w.bin", bytes(8))
        self.write("data.onnx", wire.with_external_data("w.bin"))
        self.compiles("data.onnx", "-o", "m.o")
        for location in ("w.bin", "gone.bin", "/etc/passwd", "../w.bin"):
            self.write("data.onnx", wire.with_external_data(location))
            self.refused(1, f"its data are in another file, '{location}'", "data.onnx", "-o", "m.o")
        self.refused(2, "--allow-external-outside", "data.onnx", "--allow-external-outside", "-o", "m.o")

    def test_operators_and_libraries_of_the_model_are_refused(self):
        rule = "my.ops::Grow=* -> like(0)"
        self.write("ops.json", json.dumps({"my.ops::Grow": "* -> like(0)"}))
        for given in (rule, "ops.json", "gone.json"):
            self.refused(2, "--custom-op", "relu.onnx", "--custom-op", given, "-o", "m.o")
        self.refused(2, "--external-patterns", "relu.onnx", "--external-patterns", "lib.txt", "-o", "m.o")
        for tool in (["run", "relu.onnx", "--random", "--load", "any.so"], ["verify", "relu.onnx", "--load", "any.so"],
                     ["verify", "relu.onnx", "--against", "onnxruntime"]):
            self.refused(2, "--load, and --against onnxruntime", *tool)
        self.compiles("run", "relu.onnx", "--random", "--untrusted")

    def test_the_check_says_the_same(self):
        self.write("data.onnx", wire.with_external_data("w.bin"))
        done = self.relaxc("data.onnx", "--check=json", "--untrusted")
        self.assertEqual(done.code, 1)
        self.assertIn("--untrusted", json.loads(done.out)["diagnostics"][0]["message"])

    def limits_of(self, *flags):
        """What the program sets: bytes of RLIMIT_DATA, and the seconds of its timer."""
        linker = self.write("limits", "#!/usr/bin/env python3\nimport resource\n"
                            "open('limits.txt', 'w').write(str(resource.getrlimit(resource.RLIMIT_DATA)[0]))\nraise SystemExit(1)\n")
        linker.chmod(0o755)
        (self.path / "limits.txt").unlink(missing_ok=True)
        self.relaxc("relu.onnx", "-o", "m.so", "--runtime", program.RUNTIME, "--cc", str(linker), *flags)
        return int((self.path / "limits.txt").read_text())

    def test_it_limits_memory_and_time(self):
        before = resource.getrlimit(resource.RLIMIT_DATA)[0]
        self.assertEqual(self.limits_of(), before)
        self.assertEqual(self.limits_of("--untrusted"), DEFAULT_BYTES)
        self.assertEqual(self.limits_of("--untrusted", "--max-memory=512M"), 512 << 20)
        self.assertEqual(self.limits_of("--max-memory=5G", "--untrusted"), 5 << 30)
        names = ["x"] + [f"t{i}" for i in range(3000)] + ["y"]
        self.write("long.onnx", wire.model(
            [wire.node(("Softmax", "Exp", "Tanh")[i % 3], [names[i]], [names[i + 1]]) for i in range(3001)],
            [wire.value_info("x", (6, 7))], [wire.value_info("y", (6, 7))]))
        self.refused(1, "--time-limit=0.05", "long.onnx", "-O3", "-o", "m.o", "--time-limit=0.05")

    def test_the_timer_of_five_minutes_runs(self):
        linker = self.write("timer", "#!/bin/sh\n"
                            "grep SigCgt /proc/$PPID/status > caught.txt\nexit 1\n")
        linker.chmod(0o755)
        caught = []
        for flags in ([], ["--untrusted"]):
            self.relaxc("relu.onnx", "-o", "m.so", "--runtime", program.RUNTIME, "--cc", str(linker), *flags)
            mask = int((self.path / "caught.txt").read_text().split()[1], 16)
            caught.append(bool(mask & 1 << 13))  # SIGALRM, which only a limit of time handles
        self.assertEqual(caught, [False, True])


if __name__ == "__main__":
    program.main()
