"""Files appear whole or not at all, whatever keeps them from being written.

Usage: outputs_test.py RELAXC RUNTIME [unittest's own]"""

import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

import program
import wire
from program import RELAXC, RUNTIME, ProgramTest


def small_files():
    """No file may grow beyond 2 KB, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


class Outputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("big.onnx", wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (4096,))],
                                          [wire.value_info("y", (4096,))],
                                          [wire.tensor("w", (4096,), os.urandom(16384))]))

    def test_a_full_disk(self):
        for name in ("m.o", "m.c", "m.s", "m.ll", "m.bc", "m.a", "m.so", "m"):
            with self.subTest(name):
                self.refuses(1, f"cannot write {name}: ", "big.onnx", "-o", name, "--runtime", RUNTIME, preexec=small_files)
        self.refuses(1, "cannot write m.safetensors: ", "big.onnx", "-o", "m.relax", preexec=small_files)
        self.refuses(1, "cannot write m.weights: ", "big.onnx", "-o", "m.o", "--weights", "m.weights", preexec=small_files)

    def test_a_full_disk_of_a_run(self):
        def small():  # but large enough for the library that is linked, also with the runtime of a sanitized build
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 22, 1 << 22))
        self.write("wide.onnx", wire.relu((1 << 21,)))
        before = self.files()
        done = self.relaxc("run", "wide.onnx", "--random", "-o", "out", "--runtime", RUNTIME, preexec=small)
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("cannot write out/y.npy: ", done.err)
        self.assertEqual([name for name in self.files() if name not in before], ["out"])

    def test_a_full_disk_of_webassembly(self):
        if shutil.which("clang") is None or shutil.which("wasm-ld") is None:
            self.skipTest("there is no clang with lld")
        self.refuses(1, "cannot write m.wasm: ", "relu.onnx", "-o", "m.mjs", "--runtime", Path(__file__).resolve().parents[2] / "runtime-lite",
                     preexec=small_files)

    def test_a_standard_output_that_takes_no_more(self):
        for flags in (["--check=json"], ["--stop-after", "infer"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([RELAXC, "relu.onnx", *flags], cwd=self.path, stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"relaxc: error: cannot write", done.stderr)

    def test_a_shared_library(self):
        self.compiles("big.onnx", "-o", "m.so", "--runtime", RUNTIME)
        self.assertIn(b"m_model", (self.path / "m.so").read_bytes())
        self.refuses(1, "cannot write k.so: ", "big.onnx", "-o", "k.so", "--runtime", RUNTIME, preexec=small_files)
        self.refuses(1, "cannot write k.so: ", "relu.onnx", "-o", "k.so", "--runtime", "relu.relax")
        self.refuses(2, "--runtime none.a: there is no such file or folder", "relu.onnx", "-o", "k.so", "--runtime", "none.a")

    def test_webassembly_needs_no_target(self):
        if shutil.which("clang") is None or shutil.which("wasm-ld") is None:
            self.skipTest("there is no clang with lld")
        sources = Path(__file__).resolve().parents[2] / "runtime-lite"
        self.compiles("relu.onnx", "-o", "m.wasm", "--runtime", sources)
        self.assertEqual((self.path / "m.wasm").read_bytes()[:4], b"\0asm")
        self.refuses(2, "clang was not found; install clang and lld, or name another compiler and its flags with --cc", "relu.onnx",
                     "-o", "k.wasm", "--runtime", sources, environment={"PATH": str(self.path)})
        self.refuses(2, "; give --target x86-64-windows or aarch64-windows", "relu.onnx", "-o", "m.dll", "--runtime", sources)

    def test_a_program_for_windows(self):
        self.refuses(2, "a program for Windows needs a main()", "relu.onnx", "-o", "m.exe", "--target", "x86-64")
        self.refuses(2, "link it with a main() of your own, as in 'lld-link main.obj model.obj", "relu.onnx", "-o", "m.exe",
                     "--target", "x86-64-windows")

    def test_a_full_disk_leaves_the_old_output(self):
        self.compiles("relu.onnx", "-o", "m.o", "-MD")
        before = {name: (self.path / name).read_bytes() for name in ("m.o", "m.h", "m.d")}
        self.refuses(1, "cannot write", "big.onnx", "-o", "m.o", "-MD", preexec=small_files)
        self.assertEqual({name: (self.path / name).read_bytes() for name in before}, before)

    def test_places_that_cannot_be_written(self):
        (self.path / "folder.o").mkdir()
        self.refuses(1, "cannot write folder.o: it is a directory", "relu.onnx", "-o", "folder.o")
        self.refuses(1, "cannot write none/m.o: No such file", "relu.onnx", "-o", "none/m.o")
        self.refuses(1, "cannot write relu.onnx/m.o: Not a directory", "relu.onnx", "-o", "relu.onnx/m.o")
        self.refuses(1, "not a regular file", "relu.onnx", "-o", "/dev/null", "--emit", "obj", "--name", "m")
        self.refuses(1, "File name too long", "relu.onnx", "-o", "m" * 255 + ".o", "--name", "m")

    def test_links_to_open_files_are_not_replaced(self):
        """What /dev/stdout is, also where a shell sends it to a file."""
        for target in ("/proc/self/fd/1", "/dev/fd/1", "/dev/stdout"):
            link = self.path / "link.relax"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            with self.subTest(target=target), open(self.path / "stdout", "wb") as stdout:
                done = subprocess.run([RELAXC, "relu.onnx", "-o", "link.relax"], cwd=self.path, stdout=stdout,
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("cannot write link.relax: it is a link to a file that is open", done.stderr)
                self.assertEqual(os.readlink(link), target)

    def test_links_to_files_are_replaced(self):
        memory = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
            old = Path(folder) / "old.relax"
            for target in (old, os.path.relpath(old, self.path.resolve())):
                old.write_text("old")
                link = self.path / "link.relax"
                link.unlink(missing_ok=True)
                link.symlink_to(target)
                self.compiles("relu.onnx", "-o", "link.relax")
                self.assertFalse(link.is_symlink())
                self.assertEqual(old.read_text(), "old")

    def test_a_header_or_dependency_file_that_cannot_be_written(self):
        (self.path / "m.h").mkdir()
        self.refuses(1, "cannot write m.h: it is a directory", "relu.onnx", "-o", "m.o")
        self.refuses(1, "cannot write none/m.d: No such file", "relu.onnx", "-o", "k.o", "-MD", "-MF", "none/m.d")

    def test_a_folder_without_permission(self):
        (self.path / "shut").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
        # Root is held back by permissions only without the right to pass over them.
        rights = "-dac_override,-dac_read_search"
        before = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
        self.refuses(1, "Permission denied", "relu.onnx", "-o", "shut/m.o", before=before)

    def test_an_unchanged_header_is_untouched(self):
        self.compiles("relu.onnx", "-o", "m.o")
        os.utime(self.path / "m.h", ns=(10**18, 10**18))
        self.compiles("relu.onnx", "-o", "m.o", "-O1")
        self.assertEqual((self.path / "m.h").stat().st_mtime_ns, 10**18)
        self.write("other.onnx", wire.relu((5, 7)))
        self.compiles("other.onnx", "-o", "m.o")
        self.assertNotEqual((self.path / "m.h").stat().st_mtime_ns, 10**18)

    def test_nothing_but_the_outputs_is_left(self):
        before = self.files()
        self.compiles("relu.onnx", "-o", "m.o", "-MD")
        self.assertEqual(self.files(), sorted(before + ["m.d", "m.h", "m.o"]))

    def test_the_same_input_gives_the_same_bytes(self):
        for name in ("m.o", "m.c"):
            self.compiles("big.onnx", "-o", name)
            first = (self.path / name).read_bytes()
            self.compiles("big.onnx", "-o", name)
            self.assertEqual((self.path / name).read_bytes(), first)

    def test_warnings_as_errors_do_not_forbid_a_clean_program(self):
        self.compiles("relu.onnx", "-o", "m.o", "-Werror")

    def test_a_signal_takes_the_temporaries_along(self):
        before = sorted([*self.files(), "linker"])
        for number in (signal.SIGINT, signal.SIGTERM):
            linker = self.write("linker", f"#!/bin/sh\nkill -{int(number)} $PPID\nexec sleep 60\n")
            linker.chmod(0o755)
            # A shell has what it runs in the background ignore SIGINT, and so do those that are started by it.
            running = subprocess.run([RELAXC, "relu.onnx", "-o", "m.so", "--runtime", RUNTIME, "--cc", str(linker)],
                                     cwd=self.path, stderr=subprocess.DEVNULL, timeout=60, check=False,
                                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            self.assertEqual(running.returncode, -number)
            self.assertEqual(self.files(), before)


if __name__ == "__main__":
    program.main()
