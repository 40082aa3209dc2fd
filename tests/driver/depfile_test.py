"""What a dependency file says is what make reads, whatever a file is called: make itself is asked, about every byte in
every place of a name. A name that make cannot read is refused, and nothing of it is run.

Usage: depfile_test.py RELAXC RUNTIME [unittest's own]"""

import os
import subprocess
import unittest

import program
import wire
from program import LONG, RELAXC, ProgramTest

MAKEFILE = """m.o: model.onnx
\t@echo made >> log
\t@touch m.o
-include m.d
"""
# Bytes for which there is no escape; others that are not listed must be accepted.
REFUSED = {*range(1, 32), 127, ord(";"), ord("|")}
REFUSED_AT_THE_END = {*REFUSED, *b"\\ &)"}


class Depfiles(ProgramTest):
    def make(self):
        done = subprocess.run(["make", "-s"], cwd=self.path, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return (self.path / "log").read_text().count("made") if (self.path / "log").exists() else 0

    def check_name(self, name, flags):
        """The external data is called `name`; a change of it makes the object again, and so does its absence with -MP."""
        for old in self.path.iterdir():
            if old.is_file():
                old.unlink()
        self.write("Makefile", MAKEFILE)
        (self.path / "model.onnx").write_bytes(wire.with_external_data(name))
        data = os.fsencode(self.path) + b"/" + name
        with open(data, "wb") as file:
            file.write(bytes(8))
        done = self.relaxc("model.onnx", "-o", "m.o", "-O0", *flags)
        if done.code != 0:
            self.assertEqual(done.code, 1)
            self.assertIn("make cannot express the name", done.err)
            self.assertFalse((self.path / "m.o").exists() or (self.path / "m.d").exists())
            return False
        os.utime(self.path / "m.o", (2 * 10**8, 2 * 10**8))
        os.utime(self.path / "model.onnx", (10**8, 10**8))
        os.utime(data, (10**8, 10**8))
        self.assertEqual(self.make(), 0, "m.o is up to date")
        os.utime(data, (10**9, 10**9))
        self.assertEqual(self.make(), 1, "the data has changed")
        if "-MP" in flags and b"=" not in name:  # whose empty rule would be an assignment
            os.unlink(data)
            self.assertEqual(self.make(), 2, "the data has gone")
        return True

    def test_every_byte(self):
        counts = {True: 0, False: 0}
        for byte in [*range(1, 128), 0xe9]:
            if byte == ord("/"):
                continue
            c = bytes([byte])
            forms = [(b"a" + c + b"b", False), (c + b"b", False), (b"a" + c, True), (b"a" + c + c + b"b", False)]
            # Bytes that make has no use for go by one form each.
            for name, end in forms if LONG or not c.isalnum() else forms[byte % 4:][:1]:
                with self.subTest(name=name):
                    try:
                        name.decode()
                    except UnicodeDecodeError:
                        name = name.decode("latin1").encode()
                    accepted = self.check_name(name, ["-MD", "-MP"])
                    refused = byte in (REFUSED_AT_THE_END if end else REFUSED) or name[:1] in (b"~", b"=")
                    self.assertEqual(accepted, not refused)
                    counts[accepted] += 1
        print(f"{counts[True]} names that make reads, {counts[False]} refused")

    def test_syntax_of_make(self):
        """Pairs that mean something to make together."""
        for name in ("a=b", "CC=evil", "a =b", "a:=b", "a?=b", "a+=b", "a!=b", "a::=b", "$(shell touch x)a",
                     "${x}", "$$", "a\\ b", "a\\#b", "a\\\\ b", "lib(member", "%", "a%b", "*.onnx", "[am]odel.onnx", "model.onn?",
                     "-m", "a:b", "a::b", ".PHONY", "include x", "export a", "define b", "a &b", "@a", "ifdef"):
            with self.subTest(name=name):
                self.assertTrue(self.check_name(name.encode(), ["-MD", "-MP"]))
                self.assertFalse((self.path / "x").exists())

    def test_a_newline_runs_nothing(self):
        for name in ("~root", "~", "-lm", "lib(member)", "$(shell touch x)", "w\n\ttouch x", "w\nall: y\n\ttouch x", "w; touch x", "w\r\n\ttouch x"):
            with self.subTest(name=name):
                self.assertFalse(self.check_name(name.encode(), ["-MD"]))
        self.write("model.onnx", wire.with_external_data("w\nx"))
        self.write("w\nx", bytes(8))
        self.compiles("model.onnx", "-o", "m.o")  # without -MD it does not matter

    def test_outputs_with_special_names(self):
        """The target is the output's path: make finds the rule by it."""
        for name in ("a b.o", "a#b.o", "a$b.o", "a:b.o", "a%b.o", "a*b.o", "a[b].o", "a?b.o"):
            with self.subTest(name=name):
                self.write("model.onnx", wire.with_external_data("w.bin"))
                self.write("w.bin", bytes(8))
                self.compiles("model.onnx", "-o", name, "--name", "m", "-MD", "-MF", "m.d")
                (self.path / "empty.d").write_text((self.path / "m.d").read_text())
                database = subprocess.run(["make", "-pqf", "m.d"], cwd=self.path, capture_output=True, text=True, check=False)
                self.assertTrue(any(line == f"{name}: model.onnx w.bin" for line in
                                    database.stdout.replace("\\", "").splitlines()), database.stdout[-3000:])


    def test_names_that_would_be_assignments(self):
        self.write("lr=1.onnx", wire.relu())
        for arguments in (["relu.onnx", "-o", "CC=x.o", "--name", "m"], ["lr=1.onnx", "-o", "m.o"],
                          ["relu.onnx", "-o", "~.o", "--name", "m"]):
            self.refuses(1, "make cannot express the name", *arguments, "-MD")
        self.compiles("relu.onnx", "-o", "CC=x.o", "--name", "m", "-MD", "-MT", "all")


if __name__ == "__main__":
    program.main()
