"""relax_rt.py on libraries that relaxc wrote: arrays of NumPy and DLPack, weights in a file, memory that a model asks for.

Usage: python_test.py RELAXC REPOSITORY [unittest's own]"""

import gc
import importlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))
import relax_rt  # noqa: E402: the folder is known only now

PROGRAMS = ROOT / "tests/e2e/programs"
DIGITS = ROOT / "examples/digits/digits.onnx"


# The sum of a square of ones whose size the data says.
SUMS = """@R.function
def main(f: R.Tensor((1,), "float64")):
    k = T.int64()
    s = R.match_cast(R.tensor_to_shape(R.astype(f, "int64")), R.Shape([k]))
    y = R.sum(R.cumsum(R.ones((k, k), "float32"), axis=0))
    return y
"""

# As many zeros as the data says.
ZEROS = """@R.function
def main(f: R.Tensor((2,), "float64")):
    n, m = T.int64(), T.int64()
    s = R.match_cast(R.tensor_to_shape(R.astype(f, "int64")), R.Shape([n, m]))
    y = R.zeros(s, "float32")
    return y
"""


TWO = """@R.function
def main(a: R.Tensor(("n", 3), "float32"), b: R.Tensor(("n", 3), "int32")):
    with R.dataflow():
        sum = R.add(a, R.astype(b, "float32"))
        twice = R.add(sum, sum)
        R.output(sum, twice)
    return (sum, twice)
"""

HALF = """@R.function
def main(x: R.Tensor((3,), "bfloat16")):
    y = R.add(x, x)
    return y
"""

WIDE = """@R.function
def main(x: R.Tensor((512, 512), "float32")):
    y = R.matmul(R.tanh(x), x)
    return y
"""


class Foreign:
    """A tensor of some other library, which speaks DLPack and is not an array."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Loader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def load(self, source, *flags, name="model"):
        library = self.folder / f"{name}.so"
        subprocess.run([RELAXC, source, "-o", library, *flags], check=True)
        return relax_rt.load(library)

    def test_arrays_of_both_kinds_and_any_strides(self):
        model = self.load(DIGITS)
        images = np.random.default_rng(1).standard_normal((4, 1, 8, 8), np.float32)
        expected, = model(images)
        for given in (Foreign(images), images[::-1][::-1], np.asfortranarray(images), images.tolist()):
            with self.subTest(type(given)):
                np.testing.assert_array_equal(model(image=given)[0], expected)
        np.testing.assert_array_equal(model(images[::2])[0].argmax(1), expected[::2].argmax(1))
        np.testing.assert_array_equal(np.from_dlpack(expected), expected)

    def test_a_foreign_tensor_is_read_in_place(self):
        entry = self.load(DIGITS).functions["main"]
        images = np.zeros((1, 1, 8, 8), np.float32)
        call = entry.prepare([Foreign(images)])
        self.assertTrue(np.shares_memory(call.arrays[0], images))

    def test_weights_in_a_file(self):
        whole = self.load(DIGITS)
        apart = self.load(DIGITS, "--weights", self.folder / "apart.weights", name="apart")
        self.assertEqual(apart.record.weights_bytes, (self.folder / "apart.weights").stat().st_size)
        images = np.ones((2, 1, 8, 8), np.float32)
        np.testing.assert_array_equal(apart(images)[0], whole(images)[0])
        data = bytearray((self.folder / "apart.weights").read_bytes())
        data[30] ^= 1  # in the hash
        (self.folder / "other.weights").write_bytes(data)
        with self.assertRaisesRegex(ValueError, "these are not the weights of apart"):
            relax_rt.load(self.folder / "apart.so", weights=self.folder / "other.weights")

    def test_memory_that_nothing_bounds(self):
        model = self.load(PROGRAMS / "unbounded_loop.relax")
        for limit in (1.0, 50.0, 5000.0):
            x = np.array([1.0, 0.0, 2.5], np.float32)
            sums, found, y = model(x, np.float32(limit))
            last, expected = x, []
            while True:  # as the program says
                go = last.sum() < limit if not expected else expected[-1] < limit
                if not go:
                    break
                last = np.concatenate([last, last])
                expected.append(last.sum())
            np.testing.assert_allclose(sums.ravel(), expected, rtol=1e-6)
            np.testing.assert_array_equal(found[0], np.nonzero(last)[0])
            last = np.concatenate([last, x]) if last.sum() < 100 else x
            np.testing.assert_allclose(y, np.exp(last), rtol=1e-5)

    def test_a_result_that_outgrows_its_first_guess(self):
        model = self.load(PROGRAMS / "nonzero.relax")
        x = np.random.default_rng(2).standard_normal((400, 500), np.float32)
        np.testing.assert_array_equal(model(x)[0], np.array(np.nonzero(x > 0)) * 3 + 1)

    def test_a_result_that_no_memory_holds_is_refused(self):
        source = self.folder / "zeros.relax"
        source.write_text(ZEROS)
        model = self.load(source)
        self.assertEqual(model(np.array([2.0, 3.0]))[0].shape, (2, 3))
        for dims, needed in (([2.0**32, 2.0**32], 2**63 - 1), ([2.0**31, 2.0**30], 2**61)):
            with self.assertRaises(relax_rt.RlxError) as caught:
                model(np.array(dims))
            self.assertEqual((caught.exception.error.code, caught.exception.error.expected), (33, needed))

    def test_an_allocator_without_so_much_memory_says_so(self):
        source = self.folder / "sums.relax"
        source.write_text(SUMS)
        model = self.load(source)
        self.assertEqual(model(np.array([3.0]))[0], 18)
        for size, needed in ((2**23, 2**48), (2**29, 2**60)):  # more than there are addresses, and than an array may have
            with self.assertRaisesRegex(relax_rt.RlxError, "OUT_OF_MEMORY") as caught:
                model(np.array([size], np.float64))
            self.assertGreaterEqual(caught.exception.error.expected, needed)

    def test_what_does_not_fit_is_refused(self):
        model = self.load(DIGITS)
        with self.assertRaises(relax_rt.RlxError) as caught:
            model(np.zeros((1, 1, 8, 9), np.float32))
        self.assertEqual((caught.exception.error.expected, caught.exception.error.actual), (8, 9))
        note, = caught.exception.__notes__
        self.assertEqual(note, "it takes image: float32 [n, 1, 8, 8], found [1, 1, 8, 9]")
        with self.assertRaisesRegex(TypeError, "no input is left for picture; there are: image"):
            model(picture=1)

    def test_inputs_by_name_and_errors_for_other_names(self):
        source = self.folder / "two.relax"
        source.write_text(TWO)
        model = self.load(source)
        a, b = np.ones((2, 3), np.float32), np.full((2, 3), 2, np.int32)
        for results in (model(a, b), model(a, b=b), model(b=b, a=a), model({"a": a, "b": b}), model({"a": a}, b=b)):
            np.testing.assert_array_equal(results["sum"], np.full((2, 3), 3, np.float32))
            np.testing.assert_array_equal(results[1], results["twice"])
        every = r"there are: a: float32 \[n, 3\]; b: int32 \[n, 3\]"
        for arrays, named, said in (
                ((a,), {}, f"nothing is given for input b; {every}"),
                ((a, b, b), {}, f"model.main takes 2 inputs, found 3; {every}"),
                ((a, b), {"a": a}, f"no input is left for a; {every}"),
                ((a, b.astype(np.float32)), {}, r"input 'b' is float32, must be int32; convert it with .astype\('int32'\)")):
            with self.subTest(said), self.assertRaisesRegex(TypeError, said):
                model(*arrays, **named)
        with self.assertRaisesRegex(KeyError, "no output is called 'z'; there are: sum, twice"):
            model(a, b)["z"]
        model(a.astype(np.float64), b.tolist())  # of one kind, and a list

    def test_elements_of_ml_dtypes(self):
        ml_dtypes = importlib.import_module("ml_dtypes")
        source = self.folder / "half.relax"
        source.write_text(HALF)
        model = self.load(source)
        x = np.array([1, -2.5, 3], ml_dtypes.bfloat16)
        y, = model(x)
        self.assertEqual(y.dtype, x.dtype)
        np.testing.assert_array_equal(y, x + x)
        del relax_rt.DTYPES[4, 16]
        try:
            with self.assertRaisesRegex(TypeError, "NumPy has no dtype for the elements of 'x', bfloat16; the package ml_dt"):
                model(x)
        finally:
            relax_rt.DTYPES[4, 16] = x.dtype

    def test_threads(self):
        source = self.folder / "wide.relax"
        source.write_text(WIDE)
        library = self.folder / "wide.so"
        subprocess.run([RELAXC, source, "-o", library], check=True)
        x = np.random.default_rng(3).standard_normal((512, 512), np.float32)
        expected, = relax_rt.load(library)(x)
        with self.assertRaisesRegex(OSError, "threads need librelax_rt_threads.so"):
            os.environ["RELAX_RT_THREADS"] = str(self.folder / "none.so")
            relax_rt.load(library, threads=2)
        os.environ["RELAX_RT_THREADS"] = str(RELAXC.parents[1] / "lib/relaxc/librelax_rt_threads.so")
        model = relax_rt.load(library, threads=3)
        before = len(os.listdir("/proc/self/task"))
        np.testing.assert_array_equal(model(x)[0], expected)
        call = model.functions["main"].prepare([x])
        self.assertEqual(call.context.num_threads, 3)
        self.assertEqual(len(os.listdir("/proc/self/task")), before)
        del model, call
        gc.collect()  # a model and its functions refer to each other
        self.assertEqual(len(os.listdir("/proc/self/task")), before - 2)


unittest.main()
