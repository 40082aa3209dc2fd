"""Tests bench/ without the compiler: a library written by hand (double.c) is loaded, run, and raced against ONNX Runtime.

Usage: harness_test.py CC REPOSITORY BUILD
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

COMPILER, ROOT, BUILD = sys.argv.pop(1), Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "bench"))
import rlx  # noqa: E402: the folder is known only now


def compile_double(output, *flags):
    source, include = ROOT / "tests/bench/double.c", ROOT / "runtime-lite/include"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-I", include, *flags, source, "-o", output], check=True)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Loader(Case):
    def setUp(self):
        super().setUp()
        compile_double(self.folder / "double.so")
        self.main = rlx.Model(self.folder / "double.so").functions["main"]

    def test_names_and_symbols_are_read(self):
        self.assertEqual((self.main.inputs[0].name, self.main.outputs[0].name), (b"x", b"y"))
        self.assertEqual([(s.name, s.lower, s.upper) for s in self.main.symbols], [(b"n", 1, 100)])

    def test_one_library_runs_several_sizes(self):
        for n in (1, 7, 100):
            x = np.arange(n * 3, dtype=np.float32).reshape(n, 3)
            (y,) = self.main(x)
            np.testing.assert_array_equal(y, 2 * x)

    def test_a_call_can_be_repeated(self):
        call = self.main.prepare([np.ones((4, 3), np.float32)])
        call.run()
        call.run()
        np.testing.assert_array_equal(call.results()[0], np.full((4, 3), 2, np.float32))

    def test_a_refused_call_raises_with_the_record(self):
        with self.assertRaises(rlx.RlxError) as caught:
            self.main(np.ones((101, 3), np.float32))
        self.assertEqual((caught.exception.error.code, caught.exception.error.expected), (9, 100))


class Race(Case):
    def race(self, factor, *more):
        """Exit code, output and JSON of run.py on y = x + x, where the stand-in for relaxc computes y = factor * x."""
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])
        graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [value("x")], [value("y")])
        opset = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), self.folder / "double.onnx")
        library, stand_in = self.folder / "double.so", self.folder / "relaxc"
        compile_double(library, f"-DFACTOR={factor}", "-DNAME=bench_model")
        stand_in.write_text(f'#!/bin/sh\nfor output; do :; done\ncp "{library}" "$output"\n')
        stand_in.chmod(0o755)
        command = [sys.executable, ROOT / "bench/run.py", self.folder / "double.onnx", "--dim", "n=5", "--pairs", "6"]
        command += ["--window-ms", "1", "--relaxc", stand_in, "--build", BUILD, "--json", self.folder / "out.json", *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertTrue((self.folder / "out.json").exists(), done.stdout + done.stderr)
        return done.returncode, done.stdout, json.loads((self.folder / "out.json").read_text())

    def test_records_of_a_fair_race_are_complete(self):
        code, output, result = self.race(2)
        self.assertEqual(code, 0, output)
        self.assertEqual([record["threads"] for record in result["records"]], [1, 2])
        for record in result["records"]:
            self.assertTrue(record["agree"])
            theirs = record["onnxruntime"]
            self.assertLessEqual(theirs["ratio_low"], theirs["ratio"])
            self.assertLessEqual(theirs["ratio"], theirs["ratio_high"])
            for kind in ("relaxc", "onnxruntime"):
                self.assertEqual(len(record[kind]["windows_us"]), 6)
                self.assertGreater(record[kind]["first_ns"], 0)
                self.assertGreater(record[kind]["peak_kib"], 0)
                self.assertGreater(record["bytes"][kind], 0)

    def test_a_busy_machine_is_left_out_of_the_processors_time(self):
        code, output, result = self.race(2, "--clock", "cpu", "--threads", "1")
        self.assertEqual(code, 0, output)
        self.assertEqual([record["clock"] for record in result["records"]], ["cpu"])
        command = [sys.executable, ROOT / "bench/run.py", self.folder / "double.onnx", "--clock", "cpu"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it needs --threads 1", done.stderr)

    def test_a_library_that_does_not_load_is_named(self):
        stand_in = self.folder / "relaxc"
        stand_in.write_text('#!/bin/sh\nfor output; do :; done\necho nothing > "$output"\n')
        stand_in.chmod(0o755)
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
        graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [value("x")], [value("y")])
        onnx.save(helper.make_model(graph), self.folder / "double.onnx")
        command = [sys.executable, ROOT / "bench/run.py", self.folder / "double.onnx", "--relaxc", stand_in]
        done = subprocess.run([*command, "--threads", "1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("relaxc ended before its time", done.stderr)

    def test_sizes_differ_by_data_sets(self):
        import cases

        for k, rows in enumerate((4, 2, 4)):
            folder = self.folder / f"test_data_set_{k}"
            folder.mkdir()
            tensor = onnx.numpy_helper.from_array(np.ones((rows, 3), np.float32), "x")
            onnx.save_tensor(tensor, folder / "input_0.pb")
        code, output, result = self.race(2, "--all-sizes", "--threads", "1")
        self.assertEqual(code, 0, output)
        self.assertEqual([record["size"] for record in result["records"]], ["4x3", "2x3"])
        self.assertEqual(len(cases.data_sets(self.folder / "double.onnx", None, False)), 1)

    def test_a_report_has_a_row_for_each_race(self):
        self.race(2, "--threads", "1")
        page = self.folder / "page.md"
        page.write_text("before\n<!-- written by bench/report.py -->\n<!-- end of what bench/report.py writes -->\nafter\n")
        command = [sys.executable, ROOT / "bench/report.py", f"A title={self.folder / 'out.json'}", "--page", page]
        for _ in range(2):  # the second time over the first one's text
            subprocess.run(command, check=True)
        text = page.read_text()
        self.assertEqual(text.count("| double |"), 1)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"), text)
        self.assertIn("geometric mean", text)

    def test_a_report_has_numbers_of_threads_side_by_side(self):
        self.race(2, "--threads", "1,2")
        done = subprocess.run([sys.executable, ROOT / "bench/report.py", f"A title={self.folder / 'out.json'}"], check=True,
                              capture_output=True, text=True)
        self.assertEqual(done.stdout.count("| double |"), 1)
        self.assertIn("| model | relaxc µs, 1 thread | ONNX Runtime µs | ratio to ONNX Runtime | relaxc µs, 2 threads |",
                      done.stdout)
        self.assertIn("Against ONNX Runtime with 2 threads: geometric mean", done.stdout)

    def test_a_wrong_answer_loses(self):
        code, output, result = self.race(3)
        self.assertEqual(code, 1)
        self.assertIn("OUTPUTS DIFFER", output)
        self.assertFalse(result["records"][0]["agree"])


if __name__ == "__main__":
    unittest.main()
