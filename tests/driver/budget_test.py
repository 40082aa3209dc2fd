"""--flash-budget and --ram-budget: what does not fit a device is refused with what takes most.

Usage: budget_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
from pathlib import Path

import program
from program import ProgramTest

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.onnx"
FLAGS = ("--target", "cortex-m4", "--dim", "n=1", "-Os")


class Budget(ProgramTest):
    def test_flash(self):
        self.compiles(DIGITS, *FLAGS, "-o", "d.o", "--flash-budget", "96K")
        (self.path / "d.o").unlink()
        (self.path / "d.h").unlink()
        done = self.refuses(1, "more than its budget of 65536", DIGITS, *FLAGS, "-o", "d.o", "--flash-budget", "64K")
        listed = [int(size) for size in re.findall(r"(\d+) bytes (?:weights|kernel|\.|in )", done.err)]
        total = int(re.search(r"the object takes (\d+) bytes", done.err)[1])
        self.assertEqual(sum(listed), total)
        self.assertRegex(done.err, r"7\d{4} bytes weights")
        self.assertIn("kernel fused_conv", done.err)

    def test_ram(self):
        """Tensors that are there as a whole take 18,432 bytes; rows of them take less, of which 9,216 are the least."""
        for budget in (18432, 18431, 9216):
            self.compiles(DIGITS, *FLAGS, "-o", "d.o", "--ram-budget", budget)
            arena = int(re.search(r"ARENA_BYTES (\d+)", (self.path / "d.h").read_text())[1])
            self.assertLessEqual(arena, budget)
            (self.path / "d.o").unlink()
            (self.path / "d.h").unlink()
        self.refuses(1, "the arena of 'main' takes 9216 bytes of RAM, 1 more than its budget of 9215", DIGITS, *FLAGS,
                     "-o", "d.o", "--ram-budget", "9215")
        self.refuses(1, "has no bound, so it fits no budget", DIGITS, "-o", "d.o", "--ram-budget", "1M")

    def test_small_code_does_not_buy_speed_with_weights(self):
        weights = {}
        for level in ("-O2", "-Os", "-Oz"):
            self.compiles(DIGITS, "--dim", "n=1", level, "-o", "d.o", "--manifest", "d.json")
            weights[level] = json.loads((self.path / "d.json").read_text())["weights"]["bytes"]
        self.assertEqual(weights["-Os"], weights["-Oz"])
        self.assertLess(weights["-Os"], weights["-O2"])  # whose filters are held at the points of Winograd's algorithm

    def test_needs_sections_to_count(self):
        self.refuses(2, "--flash-budget counts the sections of an object", DIGITS, "-o", "d.c", "--flash-budget", "1M")
        self.refuses(2, "flash-budget", DIGITS, "-o", "d.o", "--flash-budget", "small")


if __name__ == "__main__":
    program.main()
