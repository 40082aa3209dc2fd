"""The package `relaxc` of packaging/python on the build's library: compiling, calling, states, errors, the session with
ONNX Runtime's calls (compared with it), and the cache. With `wheel` in place of the folder of the build, the package is
what the wheel brought, in an environment of its own.

Usage: package_test.py BUILD|wheel REPOSITORY [unittest's own]"""

import gc
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

BUILD, ROOT = sys.argv.pop(1), Path(sys.argv.pop(1)).resolve()
if BUILD != "wheel":
    sys.path[:0] = [str(ROOT / "packaging/python"), str(ROOT / "runtime-lite/python")]
    os.environ["RELAXC_PREFIX"] = str(Path(BUILD).resolve())
    os.environ["RELAX_RT_THREADS"] = str(Path(BUILD).resolve() / "lib/relaxc/librelax_rt_threads.so")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import relaxc  # noqa: E402

DIGITS = ROOT / "examples/digits/digits.onnx"
IMAGES = np.random.default_rng(1).standard_normal((4, 1, 8, 8), np.float32)


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache"
        os.environ["RELAXC_CACHE"] = str(self.cache)
        os.environ.pop("RELAXC_CACHE_BYTES", None)

    def entries(self):
        return [entry for entry in self.cache.iterdir() if not entry.name.startswith(".")]

    def test_the_same_from_every_kind_of_model(self):
        ort = reference()
        expected, = ort.InferenceSession(DIGITS, providers=["CPUExecutionProvider"]).run(None, {"image": IMAGES})
        model = onnx.load(DIGITS)
        for given in (DIGITS, str(DIGITS), model, model.SerializeToString()):
            compiled = relaxc.compile(given, dims={"n": (1, 12)})
            np.testing.assert_allclose(compiled(IMAGES)["logits"], expected, rtol=1e-4, atol=1e-5)
        self.assertEqual(compiled.inputs(), [("image", "float32", ("n", 1, 8, 8))])
        self.assertEqual(compiled.outputs(), [("logits", "float32", ("n", 10))])
        self.assertEqual(relaxc.compile(DIGITS, dims={"n": 4}).inputs(), [("image", "float32", (4, 1, 8, 8))])
        self.assertRegex(relaxc.__version__, r"^\d+\.\d+\.\d+$")

    def test_untrusted_refuses_as_the_program_does(self):
        relaxc.compile(DIGITS, options={"untrusted": True})
        text = self.folder / "m.relax"
        text.write_text('@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return x\n')
        with self.assertRaisesRegex(relaxc.CompileError, "--untrusted refuses text programs"):
            relaxc.compile(text, options={"untrusted": True})

    def test_a_budget_of_memory_is_kept_or_refused(self):
        with self.assertRaisesRegex(relaxc.CompileError, "more than its budget of 100"):
            relaxc.compile(DIGITS, dims={"n": 4}, ram_budget=100)
        for enough in ("min", "1M", 1 << 20):
            relaxc.compile(DIGITS, dims={"n": 4}, ram_budget=enough)

    def test_what_is_saved_is_loaded_under_any_name(self):
        model = relaxc.compile(DIGITS, name="digits", threads=2)
        model.save(self.folder / "elsewhere.so")
        np.testing.assert_array_equal(relaxc.load(self.folder / "elsewhere.so")(IMAGES)[0], model(IMAGES)[0])

    def test_threads_share_a_model(self):
        model, found = relaxc.compile(DIGITS), []
        workers = [threading.Thread(target=lambda: found.append(model(IMAGES)[0])) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for logits in found:
            np.testing.assert_array_equal(logits, found[0])

    def test_states(self):
        source = self.folder / "sum.relax"
        source.write_text("""@R.function
def main(x: R.Tensor(("n", 4), "float32"), h: R.Tensor(("n", 4), "float32")):
    with R.dataflow():
        y = R.add(x, h)
        z = R.multiply(y, y)
        R.output(y, z)
    return (y, z)
""")
        model = relaxc.compile(source, states={"h": "y"})
        with self.assertRaisesRegex(TypeError, r"the size of dim 'n' of state 'h' is open: stream\(n=1\)"):
            model.stream()
        stream = model.stream(n=2)
        for i in range(1, 4):
            np.testing.assert_array_equal(stream(np.ones((2, 4)))["z"], np.full((2, 4), i * i))
        np.testing.assert_array_equal(stream.states["h"], np.full((2, 4), 3))
        stream.reset()
        np.testing.assert_array_equal(stream(x=np.ones((2, 4)))["z"], np.ones((2, 4)))
        with self.assertRaisesRegex(TypeError, "has no states; compile it with states="):
            relaxc.compile(DIGITS).stream()

    def test_errors_are_exceptions_with_records(self):
        node = onnx.helper.make_node("Relux", ["x"], ["y"], name="n7")
        ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ends[:1], ends[1:]))
        with self.assertRaisesRegex(relaxc.CompileError, "there is no converter for this operator") as caught:
            relaxc.compile(model)
        self.assertEqual(caught.exception.status, "refused")
        record = caught.exception.diagnostics[0]
        self.assertEqual((record.severity, record.kind, record.node, record.op),
                         ("error", "unknown_operator", "n7", "Relux"))
        self.assertIn("did you mean Relu?", [note.message for note in record.notes])
        for options, said in (({"dims": {"m": 1}}, "no dim is called 'm'"), ({"cpu": "pentium9"}, "unknown CPU"),
                              ({"options": {"bogus": True}}, "there is no flag '--bogus'")):
            with self.assertRaisesRegex(relaxc.CompileError, said) as caught:
                relaxc.compile(DIGITS, **options)
            self.assertEqual(caught.exception.status, "usage")
        with self.assertRaisesRegex(FileNotFoundError, "there is no model 'none.onnx'"):
            relaxc.compile("none.onnx")
        with self.assertRaisesRegex(relaxc.RlxError, "dim 2 is 9, must be 8"):
            relaxc.compile(DIGITS)(np.zeros((1, 1, 9, 8), np.float32))
        self.assertEqual([entry.name for entry in self.cache.iterdir() if entry.name.startswith(".new")], [])

    def test_the_session_answers_as_that_of_onnx_runtime(self):
        ort = reference()
        theirs = ort.InferenceSession(DIGITS, providers=["CPUExecutionProvider"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ours = relaxc.InferenceSession(DIGITS, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.assertEqual([str(one.message) for one in caught],
                         ["relaxc runs models on the CPU and ignores CUDAExecutionProvider"])
        for kind in ("get_inputs", "get_outputs"):
            for mine, other in zip(getattr(ours, kind)(), getattr(theirs, kind)(), strict=True):
                self.assertEqual((mine.name, mine.type, mine.shape), (other.name, other.type, other.shape))
        self.assertEqual(ours.get_providers(), theirs.get_providers())
        for names in (None, ["logits"]):
            for mine, other in zip(ours.run(names, {"image": IMAGES}), theirs.run(names, {"image": IMAGES}), strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(KeyError, "no output is called 'scores'"):
            ours.run(["scores"], {"image": IMAGES})

    def test_io_binding_writes_to_the_memory_that_is_bound(self):
        session = relaxc.InferenceSession(DIGITS)
        expected, = session.run(None, {"image": IMAGES})
        logits = np.zeros((4, 10), np.float32)
        binding = session.io_binding()
        with self.assertRaisesRegex(RuntimeError, "no outputs before"):
            binding.copy_outputs_to_cpu()
        binding.bind_input("image", "cpu", 0, np.float32, IMAGES.shape, IMAGES.ctypes.data)
        binding.bind_output("logits", "cpu", 0, np.float32, logits.shape, logits.ctypes.data)
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(logits, expected)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], expected)
        binding.clear_binding_outputs()
        binding.bind_cpu_input("image", IMAGES[:2])
        binding.bind_output("logits")
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], expected[:2])
        np.testing.assert_array_equal(logits, expected)  # no longer bound

    def test_outputs_in_the_callers_arrays(self):
        model = relaxc.compile(DIGITS)
        logits = np.zeros((4, 10), np.float32)
        result = model.run_into({"image": IMAGES}, {"logits": logits})
        self.assertTrue(np.shares_memory(result["logits"], logits))
        np.testing.assert_array_equal(logits, model(IMAGES)[0])
        for wrong, said in ((np.zeros((3, 10), np.float32), r"output 'logits' is float32 \[4, 10\], found float32 \[3, 10\]"),
                            (np.zeros((4, 10)), "found float64"), (np.zeros((10, 4), np.float32).T, "compact")):
            with self.assertRaisesRegex(TypeError, said):
                model.run_into({"image": IMAGES}, {"logits": wrong})
        with self.assertRaisesRegex(TypeError, "no output is called scores; there are: logits: float32"):
            model.run_into({"image": IMAGES}, {"scores": logits})

    def test_the_cache_keeps_what_was_compiled(self):
        relaxc.compile(DIGITS)
        entry, = self.entries()
        library, = entry.glob("*.so")
        before = library.stat().st_ino
        relaxc.compile(DIGITS.read_bytes())  # another name, but bytes have none
        self.assertEqual(len(self.entries()), 2)
        relaxc.compile(DIGITS)
        self.assertEqual(library.stat().st_ino, before)
        relaxc.compile(DIGITS, opt=1)
        relaxc.compile(DIGITS, cpu="x86-64-v3")
        self.assertEqual(len(self.entries()), 4)
        apart = relaxc.compile(DIGITS, opt=3, cache=False)
        self.assertEqual(len(self.entries()), 4)
        apart.save(self.folder / "apart.so")
        folder = apart.path.parent
        del apart
        gc.collect()
        self.assertFalse(folder.exists())

    def test_the_cache_is_bounded(self):
        model = relaxc.compile(DIGITS)
        first, = self.entries()
        size = sum(file.stat().st_size for file in first.iterdir())
        os.environ["RELAXC_CACHE_BYTES"] = str(size * 5 // 2)
        os.utime(first, (1, 1))
        for opt in (0, 1, 3):
            relaxc.compile(DIGITS, opt=opt)
        self.assertFalse(first.exists())
        self.assertLessEqual(sum(file.stat().st_size for entry in self.entries() for file in entry.iterdir()), size * 5 // 2)
        self.assertEqual(model(IMAGES)[0].shape, (4, 10))  # goes on in this process
        os.environ["RELAXC_CACHE_BYTES"] = "1"
        relaxc.compile(DIGITS, opt="s")(IMAGES)
        self.assertEqual(len(self.entries()), 1)

    def test_a_cache_that_cannot_be_written_is_not_used(self):
        os.environ["RELAXC_CACHE"] = "/proc/relaxc"
        self.assertEqual(relaxc.compile(DIGITS)(IMAGES)[0].shape, (4, 10))

    def test_what_a_killed_process_left_is_removed_after_a_day(self):
        for name, age in ((".new-old", 2 * 86400), (".gone-old-1", 2 * 86400), (".new-now", 60)):
            (self.cache / name).mkdir(parents=True)
            os.utime(self.cache / name, (time.time() - age,) * 2)
        relaxc.compile(DIGITS)
        self.assertEqual([entry.name for entry in self.cache.iterdir() if entry.name.startswith((".new", ".gone"))],
                         [".new-now"])

    def test_processes_share_the_cache(self):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            sums = pool.map(compile_digits_at, [str(self.cache)] * 4, chunksize=1)
        self.assertEqual(len(set(sums)), 1)
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual([entry.name for entry in self.cache.iterdir() if entry.name.startswith((".new", ".gone"))], [])

    def test_the_page_runs(self):
        page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        programs = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual(len(programs), 3)
        (self.folder / "digits.onnx").write_bytes(DIGITS.read_bytes())
        for program in programs:
            done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(BUILD == "wheel", "of an installed wheel")
    def test_the_program_of_the_wheel(self):
        program = Path(sys.executable).with_name("relaxc")
        bare = {"PATH": "/nowhere", "HOME": str(self.folder)}
        self.assertRegex(subprocess.run([program, "--version"], capture_output=True, text=True, check=True, env=bare).stdout,
                         r"^relaxc \d")
        subprocess.run([program, DIGITS, "-o", self.folder / "digits.so"], check=True, env=bare)
        np.testing.assert_allclose(relaxc.load(self.folder / "digits.so")(IMAGES)[0], relaxc.compile(DIGITS)(IMAGES)[0],
                                   rtol=1e-4, atol=1e-5)
        subprocess.run([program, DIGITS, "-o", self.folder / "digits.o", "--target", "cortex-m4"], check=True, env=bare)


def compile_digits_at(cache):
    os.environ["RELAXC_CACHE"] = cache
    return float(relaxc.compile(DIGITS)(IMAGES)["logits"].sum())


def reference():
    try:
        import onnxruntime
    except ImportError as error:
        raise unittest.SkipTest("there is no onnxruntime") from error
    return onnxruntime


if __name__ == "__main__":
    unittest.main()
