"""Runs relaxc in a folder that each test has for itself."""

import os
import pty
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import wire

INCLUDE = Path(__file__).resolve().parents[2] / "runtime-lite/include"
RELAXC, RUNTIME = (str(Path(argument).resolve()) for argument in sys.argv[1:3])

LINK_FLAGS = os.environ.get("RELAXC_LINK_FLAGS", "").split()
LONG = os.environ.get("RELAXC_LONG_TESTS", "0") == "1"  # whole loops, from which the ordinary run takes a sample

TEXT = """@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        y = R.nn.relu(x)
        R.output(y)
    return y
"""


class Done:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-driver-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.write("relu.onnx", wire.relu())
        self.write("relu.relax", TEXT)

    def write(self, name, content):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def linker(self):
        """A C compiler that links with what this build's libraries need."""
        path = self.write("linker", f'#!/bin/sh\nexec cc {" ".join(LINK_FLAGS)} "$@"\n')
        path.chmod(0o755)
        return path

    def relaxc(self, *arguments, environment=None, preexec=None, before=()):
        done = subprocess.run([*before, RELAXC, *map(str, arguments)], cwd=self.path, capture_output=True, timeout=120,
                              env={**os.environ, **(environment or {})}, preexec_fn=preexec, check=False)
        return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def on_terminal(self, code, *arguments, **environment):
        """What the program writes to a terminal of its own."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"there is no pseudo-terminal to be had: {error}")
        without = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        running = subprocess.Popen([RELAXC, *map(str, arguments)], cwd=self.path, stdin=theirs, stdout=theirs,
                                   stderr=theirs, env={**without, "TERM": "xterm", **environment})
        os.close(theirs)
        written = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side has closed
                break
            if not piece:
                break
            written += piece
        os.close(ours)
        self.assertEqual(running.wait(60), code, written.decode(errors="replace"))
        return written.decode().replace("\r\n", "\n")

    def compiles(self, *arguments, **keywords):
        done = self.relaxc(*arguments, **keywords)
        self.assertEqual(done.code, 0, done.err)
        return done

    def refuses(self, code, text, *arguments, **keywords):
        """Exit code, a message with `text` in it, and no file that was not there before."""
        before = self.files()
        done = self.relaxc(*arguments, **keywords)
        self.assertEqual(done.code, code, f"{arguments}: {done.err}")
        self.assertIn(text, done.err)
        self.assertEqual(self.files(), before)
        return done

    def files(self):
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*"))


PART = tuple(map(int, os.environ.get("RELAXC_TEST_PART", "0/1").split("/")))
SAMPLED = PART[1] > 1  # under sanitizers; what is long in a test is a sample there, too


class Part(unittest.TestLoader):
    """Loads every N-th test of a class, beginning with the K-th; K/N is in RELAXC_TEST_PART."""

    def getTestCaseNames(self, test_case):
        k, n = PART
        return super().getTestCaseNames(test_case)[k::n]


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], testLoader=Part())
