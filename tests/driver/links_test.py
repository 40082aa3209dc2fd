"""What a model names beside itself stays in its folder: no symbolic link on the way is followed, also none that is made while
relaxc looks, whether the kernel has openat2 or not. faults.c takes openat2 away.

Usage: links_test.py RELAXC RUNTIME [unittest's own]"""

import ctypes
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import program
import wire
from program import ProgramTest

RENAME_EXCHANGE = 2
SECRET = b"a secret of eight"[:8]
TEXT = """metadata = relaxc.load_params("%s")
@R.function
def main(x: R.Tensor((300,), "float32")):
    return R.add(x, metadata["relax.expr.Constant"][0])
"""


class Links(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="relaxc-links-")
        self.addCleanup(folder.cleanup)
        self.library = f"{folder.name}/faults.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.library, Path(__file__).with_name("faults.c"), "-ldl"], check=True)
        self.write("secret.bin", SECRET)
        self.write("sub/real/w.bin", bytes(8))
        self.write("sub/w.bin", bytes(8))

    def kernels(self):
        """With openat2, and without it."""
        if "address" in os.environ.get("RELAXC_LINK_FLAGS", ""):
            return ({},)  # a sanitizer wants to be loaded first
        return ({}, {"LD_PRELOAD": self.library, "NO_OPENAT2": "1"})

    def test_no_link_is_followed(self):
        links = {"file": ("w.bin", "link.bin"), "outside": ("../secret.bin", "out.bin"), "absolute": (self.path / "secret.bin", "abs.bin"),
                 "folder": ("real", "folder"), "folder outside": ("..", "up"), "magic": ("/proc/self/cwd", "magic"),
                 "loop": ("loop", "loop")}
        for target, name in links.values():
            (self.path / "sub" / name).symlink_to(target)
        names = ["link.bin", "./link.bin", "out.bin", "abs.bin", "folder/w.bin", "folder/../w.bin", "up/secret.bin", "magic/secret.bin", "loop",
                 "real/../link.bin"]
        for environment in self.kernels():
            for name in names:
                with self.subTest(name=name, environment=environment):
                    self.write("sub/model.onnx", wire.with_external_data(name))
                    done = self.refuses(1, name, "sub/model.onnx", "-o", "m.o", environment=environment)
                    if ".." not in name:
                        self.assertIn("it is a symbolic link, or behind one", done.err)
                        self.assertIn("--allow-external-outside follows them", done.err)
            for name in ("w.bin", "./w.bin", "real/w.bin", "real/./w.bin", "real//w.bin"):
                with self.subTest(name=name, environment=environment):
                    self.write("sub/model.onnx", wire.with_external_data(name))
                    self.compiles("sub/model.onnx", "-o", "m.o", environment=environment)
        for name in ("link.bin", "out.bin", "up/secret.bin"):
            self.write("sub/model.onnx", wire.with_external_data(name))
            self.compiles("sub/model.onnx", "-o", "m.o", "--allow-external-outside")

    def test_the_folder_itself_may_be_behind_a_link(self):
        (self.path / "there").symlink_to("sub")
        self.write("sub/model.onnx", wire.with_external_data("real/w.bin"))
        (self.path / "model.onnx").symlink_to("sub/model.onnx")
        for environment in self.kernels():
            self.compiles("there/model.onnx", "-o", "m.o", environment=environment)
            # The folder is that of the path which was given.
            self.refuses(1, "'real/w.bin': No such file", "model.onnx", "-o", "k.o", environment=environment)

    def test_weights_that_a_text_names(self):
        wide = wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (300,))], [wire.value_info("y", (300,))],
                          [wire.tensor("w", (300,), bytes(1200))])
        self.write("wide.onnx", wide)
        self.compiles("wide.onnx", "-o", "w.relax")
        os.rename(self.path / "w.safetensors", self.path / "sub/w.safetensors")
        (self.path / "link.safetensors").symlink_to("sub/w.safetensors")
        (self.path / "folder").symlink_to("sub")
        for environment in self.kernels():
            for name in ("link.safetensors", "folder/w.safetensors"):
                self.write("t.relax", TEXT % name)
                self.refuses(1, f"cannot open '{name}': it is a symbolic link, or behind one", "t.relax", "-o", "m.o",
                             environment=environment)
            self.write("t.relax", TEXT % "sub/w.safetensors")
            self.compiles("t.relax", "-o", "m.o", environment=environment)
        self.write("t.relax", (TEXT % "").split("\n", 1)[1])  # what the command line names may be a link
        self.compiles("t.relax", "-o", "m.o", "--params", "link.safetensors")

    def test_a_file_that_is_exchanged_with_a_link_all_the_time(self):
        library = ctypes.CDLL(None, use_errno=True)
        folder = os.fsencode(self.path / "sub")
        (self.path / "sub/other").symlink_to("../secret.bin")
        self.write("sub/model.onnx", wire.with_external_data("w.bin"))
        if library.renameat2(-100, folder + b"/other", -100, folder + b"/w.bin", RENAME_EXCHANGE) != 0:
            self.skipTest("the file system cannot exchange files")
        stop = threading.Event()

        def exchange():
            while not stop.is_set():
                library.renameat2(-100, folder + b"/other", -100, folder + b"/w.bin", RENAME_EXCHANGE)

        exchanging = threading.Thread(target=exchange)
        exchanging.start()
        self.addCleanup(exchanging.join)
        self.addCleanup(stop.set)
        refused = 0
        for environment in self.kernels() * 15:
            (self.path / "m.o").unlink(missing_ok=True)
            done = self.relaxc("sub/model.onnx", "-O0", "-o", "m.o", environment=environment)
            self.assertIn(done.code, (0, 1), done.err)
            refused += done.code
            if done.code == 0:
                self.assertNotIn(SECRET, (self.path / "m.o").read_bytes())
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    program.main()
