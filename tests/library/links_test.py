"""A library and a program that librelaxc.so links, from Python: the runtime is found beside the library, and where there
is nothing to load it from, the bytes are the program's."""

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY, RELAXC = sys.argv[1:3]
TEXT = b"""@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        y = R.nn.relu(x)
        R.output(y)
    return y
"""


class File(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("path", ctypes.c_char_p), ("bytes", ctypes.c_void_p),
                ("size", ctypes.c_size_t)]


def load():
    library = ctypes.CDLL(LIBRARY)
    for name in ("relaxc_request_create", "relaxc_compile"):
        getattr(library, name).restype = ctypes.c_void_p
    library.relaxc_result_files.restype = ctypes.c_size_t
    library.relaxc_result_text.restype = ctypes.c_char_p
    return library


def compiled(output):
    """The files that the library makes, by their paths."""
    library = load()
    request = ctypes.c_void_p(library.relaxc_request_create())
    library.relaxc_request_memory(request, b"relu.relax", TEXT, ctypes.c_size_t(len(TEXT)))
    library.relaxc_request_input(request, b"relu.relax")
    library.relaxc_request_option(request, b"o", output.encode())
    library.relaxc_request_option(request, b"name", b"relu")
    result = ctypes.c_void_p(library.relaxc_compile(request))
    assert library.relaxc_result_status(result) == 0, library.relaxc_result_text(result)
    files = {}
    for index in range(library.relaxc_result_files(result)):
        file = File(struct_bytes=ctypes.sizeof(File))
        assert library.relaxc_result_file(result, ctypes.c_size_t(index), ctypes.byref(file)) == 0
        files[file.path.decode()] = ctypes.string_at(file.bytes, file.size)
    library.relaxc_result_destroy(result)
    library.relaxc_request_destroy(request)
    return files


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-library-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def program(self, output):
        (self.path / "relu.relax").write_bytes(TEXT)
        subprocess.run([RELAXC, "relu.relax", "-o", output, "--name", "relu"], cwd=self.path, check=True)
        return (self.path / output).read_bytes()

    def test_a_shared_library(self):
        files = compiled("relu.so")
        self.assertEqual(set(files), {"relu.so", "relu.h"})
        self.assertEqual(files["relu.so"], self.program("relu.so"))

    def test_a_program(self):
        files = compiled("relu")
        self.assertEqual(set(files), {"relu"})
        path = self.path / "made"
        path.write_bytes(files["relu"])
        os.chmod(path, 0o755)
        self.assertIn("Runs the model", subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
