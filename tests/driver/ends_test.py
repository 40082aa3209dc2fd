"""However a compilation ends, its files are whole: each allocation fails in turn, signals come at any moment, and two
compilations write the same files at once. `Sample` is for every run, `Every` for the long one.

Usage: ends_test.py RELAXC RUNTIME Sample|Every"""

import os
import random
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import program
import wire
from program import RELAXC, RUNTIME, ProgramTest

MEMORY_MESSAGE = re.compile(r"error: .*(out of memory|no memory|cannot allocate|Cannot allocate)", re.IGNORECASE)
# What is compiled or run, and whether memory is all that can be wrong: what the system says of a library may be "no
# such file".
COMMANDS = {
    "object": ["new.onnx", "-O1", "-o", "m.o", "-MD", "--manifest", "m.json", "--report", "m.html", "--rust", "m.rs"],
    "C": ["new.onnx", "-O1", "-o", "m.c", "--c-split=1K"],
    "library": ["new.onnx", "-O0", "-o", "m.so", "--runtime", RUNTIME],
    "text": ["new.onnx", "-o", "m.relax"],
    "text program": ["t.relax", "--params", "w.npz", "-o", "m.o"],
    "run": ["run", "new.onnx", "--random", "-O0", "-o", "out", "--runtime", RUNTIME],
    "check": ["bad.onnx", "--check=json"],
}
TEXT = """@R.function
def main(x: R.Tensor(("n", 300), "float32"), w: R.Tensor((300,), "float32")):
    R.func_attr({"num_input": 1})
    return R.nn.softmax(R.add(x, w))
"""


class Ends(ProgramTest):
    def setUp(self):
        super().setUp()
        self.tools = tempfile.TemporaryDirectory(prefix="relaxc-ends-")
        self.addCleanup(self.tools.cleanup)
        weights = wire.tensor("w", (300,), bytes(range(120)) * 10)
        for name, op in (("new.onnx", "Add"), ("old.onnx", "Mul")):
            self.write(name, wire.model([wire.node(op, ["x", "w"], ["a"]), wire.node("Softmax", ["a"], ["b"]),
                                         wire.node("Sin", ["b"], ["y"])], [wire.value_info("x", ("n", 300))],
                                        [wire.value_info("y", ("n", 300))], [weights]))
        self.write("bad.onnx", wire.model([wire.node("Wobble", ["x"], ["y"])], [wire.value_info("x", (2,))], [wire.value_info("y", (2,))]))
        self.write("t.relax", TEXT)
        self.write("w.npz", self.npz())

    def npz(self):
        import io
        import struct
        import zipfile
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (300,), }\n"
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("w.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(1200))
        return made.getvalue()

    def contents(self):
        """Without the times of passes, which reports have."""
        return {name: re.sub(rb'"milliseconds": ?[0-9.e-]+', b"", (self.path / name).read_bytes())
                for name in self.files() if (self.path / name).is_file()}

    def remove_all_but(self, names):
        for name in reversed(self.files()):
            path = self.path / name
            if name not in names:
                path.rmdir() if path.is_dir() else path.unlink()

    # Allocations

    def shim(self):
        if "address" in os.environ.get("RELAXC_LINK_FLAGS", ""):
            self.skipTest("a sanitizer has its own allocator")
        library = f"{self.tools.name}/allocations.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("allocations.c"), "-ldl"], check=True)
        return library

    def try_allocations(self, name, places):
        """`places` gives the numbers of allocations that fail, of how many there are."""
        library, command, kept = self.shim(), COMMANDS[name], self.files()
        counted = Path(self.tools.name) / "count"
        whole = self.relaxc(*command, environment={"LD_PRELOAD": library, "COUNT_TO": str(counted)})
        self.assertEqual(whole.code, 1 if name == "check" else 0, whole.err)
        expected, total = self.contents(), int(counted.read_text())
        refused = cases = 0
        for at in places(total):
            for always in ({}, {"FAIL_ALWAYS": "1"}):
                self.remove_all_but(kept)
                with self.subTest(command=name, at=at, always=always):
                    done = self.relaxc(*command, "-j1",
                                       environment={"LD_PRELOAD": library, "FAIL_AT": str(at), **always})
                    cases += 1
                    self.assertIn(done.code, (0, 1), done.err)
                    found = self.contents()
                    if done.code == 0:  # there was another way
                        self.assertEqual(found, expected)
                    elif name != "check" or done.out != whole.out:
                        refused += 1
                        self.assertRegex(done.err, MEMORY_MESSAGE)
                        if name != "run":  # whose files appear one by one, each whole
                            self.assertEqual(sorted(found), [n for n in kept if n in found])
        self.remove_all_but(kept)
        print(f"{name}: {total} allocations, {cases} failures tried, {refused} refused")
        return refused

    # Signals

    def end_at_random(self, count, seed):
        """Ended by a signal at any moment; files are the old ones or the new ones, each whole, and no others are there."""
        numbers = random.Random(seed)
        kept = [*self.files(), "m.o", "m.h", "m.d", "m.so"]
        commands = {"m.o": ["-o", "m.o", "-MD"], "m.so": ["-o", "m.so", "-MD", "--runtime", RUNTIME]}
        whole, ended = {}, 0
        for model in ("old", "new"):
            for output, flags in commands.items():
                begun = time.monotonic()
                self.compiles(f"{model}.onnx", "-O1", *flags)
                whole[model, output] = {name: (self.path / name).read_bytes() for name in (output, "m.h", "m.d")}, time.monotonic() - begun
        for i in range(count):
            output = numbers.choice(list(commands))
            number = numbers.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
            old, new, seconds = whole["old", output][0], *whole["new", output]
            there = numbers.random() < 0.5
            for name, content in old.items():
                (self.path / name).write_bytes(content) if there else (self.path / name).unlink(missing_ok=True)
            with self.subTest(i=i, output=output, number=number, there=there):
                running = subprocess.Popen([RELAXC, "new.onnx", "-O1", *commands[output]], cwd=self.path, stderr=subprocess.PIPE,
                                           env={**os.environ, "TMPDIR": self.tools.name})
                time.sleep(numbers.random() * seconds * 1.2)
                running.send_signal(number)
                said = running.communicate(timeout=60)[1]
                ended += running.returncode != 0
                self.assertIn(running.returncode, (0, -number), said)
                found = {name: (self.path / name).read_bytes() for name in new if (self.path / name).exists()}
                states = (new,) if running.returncode == 0 else (old if there else {}, new)
                self.assertTrue(found in states or (number == signal.SIGKILL and all(
                    content in (old[name], new[name]) for name, content in found.items())), sorted(found))
                self.assertEqual([name for name in self.files() if name not in kept], [])
        self.compiles("new.onnx", "-O0", "-o", "m.so", "--runtime", RUNTIME, environment={"TMPDIR": self.tools.name})
        self.assertEqual(list(Path(self.tools.name).glob("relaxc-tmp.*")), [])  # what killed ones left was removed
        print(f"{count} signals, {ended} of them ended a compilation")
        self.assertGreater(ended, count // 4)

    # Two at once

    def write_at_once(self, rounds):
        """Two compilations of two models to the same files: those of one of them, header and object of the same."""
        whole = {}
        for model in ("old", "new"):
            self.compiles(f"{model}.onnx", "-O1", "-o", "m.o", "--manifest", "m.json", "--rust", "m.rs", "-MD")
            whole[model] = {name: (self.path / name).read_bytes() for name in ("m.o", "m.json", "m.d")}
        self.assertNotEqual(whole["old"]["m.json"], whole["new"]["m.json"])
        kept = self.files()
        for i in range(rounds):
            running = [subprocess.Popen([RELAXC, f"{model}.onnx", "-O1", "-o", "m.o", "--manifest", "m.json", "--rust", "m.rs", "-MD"],
                                        cwd=self.path, stderr=subprocess.PIPE) for model in ("old", "new") for _ in range(2)]
            for one in running:
                said = one.communicate(timeout=120)[1]
                self.assertEqual(one.returncode, 0, said)
            found = {name: (self.path / name).read_bytes() for name in whole["old"]}
            self.assertIn(found, list(whole.values()), f"round {i}")
            self.assertEqual(self.files(), kept)


class Sample(Ends):
    def test_allocations(self):
        numbers = random.Random(7)
        refused = 0
        for name in COMMANDS:
            refused += self.try_allocations(name, lambda total: [1, 2, 3, *(numbers.randrange(1, total) for _ in range(7))])
        self.assertGreater(refused, 40)

    def test_signals(self):
        self.end_at_random(20, 1)

    def test_two_at_once(self):
        self.write_at_once(4)


class Every(Ends):
    def test_allocations(self):
        numbers = random.Random(1)
        for name in COMMANDS:
            self.try_allocations(name, lambda total: [*range(1, min(total, 2000) + 1),
                                                      *(numbers.randrange(1, total) for _ in range(1000))])

    def test_signals(self):
        self.end_at_random(200, 2)

    def test_two_at_once(self):
        self.write_at_once(50)


if __name__ == "__main__":
    program.main()
