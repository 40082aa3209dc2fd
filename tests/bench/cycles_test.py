"""Tests bench/cycles.py: listings and counts are read as they are written, llvm-mca's cycles and those of the manuals meet
in one estimate, and the instructions that the plugin counts are those that QEMU counts.

Usage: cycles_test.py RELAXC [unittest's own]"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/embedded")]
import cycles  # noqa: E402: the folders are known only now
from board import Board  # noqa: E402
from board_cases import own_cases  # noqa: E402

RELAXC = Path(sys.argv.pop(1)).resolve()
LISTING = """
m.elf:\tfile format elf32-littlearm

00000100 <m.f.dot>:
     100:      \tmov.w\tr4, #0x0
     104:      \tldr\tr0, [r1], #4
     108:      \tldr\tr2, [r3], #4
     10c:      \tsmlad\tr4, r0, r2, r4
     110:      \tsubs\tr5, #0x1
     112:      \tbne\t0x104 <m.f.dot+0x4>   @ imm = #-0x12
     114:      \tbx\tlr
     116:      \tnop

00000118 <main>:
     118:      \tbl\t0x100 <m.f.dot>        @ imm = #-0x1c
"""
COUNTS = "118 118 3 3\n100 112 3 3\n104 112 97 94\n114 114 3 3\n"


def instruction(text):
    return cycles.Instruction(0, text)


class Reading(unittest.TestCase):
    def test_counts_are_of_instructions_and_blocks_end_at_jumps_and_where_one_arrives(self):
        functions, instructions = cycles.parse_listing(LISTING)
        self.assertEqual(functions, [(0x100, "m.f.dot"), (0x118, "main")])
        starts = cycles.add_counts(instructions, COUNTS)
        self.assertEqual([one.count for one in instructions], [3, 100, 100, 100, 100, 100, 3, 0, 3])
        blocks = cycles.blocks_of(functions, instructions, starts, {"main"})
        self.assertEqual([(name, len(block), block[0].count) for name, block in blocks],
                         [("m.f.dot", 1, 3), ("m.f.dot", 5, 100), ("m.f.dot", 1, 3)])
        self.assertEqual(blocks[1][1][-1].jumps, 97)

    def test_text_for_llvm_mca(self):
        for listed, text in (("bne\t0x104 <m.f.dot+0x4>   @ imm = #-0x12", "bne .Lend"),
                             ("cbz\tr0, 0x20 <f>", "cbz r0, .Lend"), ("bx\tlr", "bx lr"),
                             ("ldr\tr0, [pc, #0x10]         @ 0x30 <f+0x30>", "ldr r0, [pc, #0x10]"),
                             ("vldrb.u8\tq0, [r0], #16", "vldrb.u8 q0, [r0], #16"), ("bic\tr0, r1, #0x4", "bic r0, r1, #0x4")):
            self.assertEqual(instruction(listed).text(), text)

    def test_words_beyond_the_first(self):
        for listed, words in (("ldrd\tr0, r1, [r2]", 1), ("push.w\t{r4, r5, r6, lr}", 3), ("ldm.w\tr0!, {r4, r5}", 1),
                              ("vpush\t{d8, d9, d10, d11}", 7), ("vldmia\tr0!, {s0, s1}", 1), ("vldmia\tr0!, {d0-d3}", 7),
                              ("ldr\tr0, [r1]", 0), ("vld20.32\t{q0, q1}, [r0]", 0)):
            self.assertEqual(instruction(listed).registers(), words, listed)


@unittest.skipIf(shutil.which("llvm-mca-22") is None, "there is no llvm-mca-22")
class Estimating(unittest.TestCase):
    def test_a_loop(self):
        """A pair of loads with a use behind them, a sum, a counter and a jump: 6 cycles of an M4 and 2 of the jump."""
        functions, instructions = cycles.parse_listing(LISTING)
        (count, took), = cycles.estimate(functions, instructions, COUNTS, "cortex-m4", {"main"}).values()
        self.assertEqual(count, 3 + 500 + 3)
        self.assertAlmostEqual(took, 100 * 6 + 97 * 2 + 3 * 1 + 3 * (1 + 2), delta=10)

    def test_the_end_of_a_low_overhead_loop_costs_nothing(self):
        took = {}
        for end in ("le\tlr, 0x4 <f+0x4>", "bne\t0x4 <f+0x4>"):
            functions, instructions = cycles.parse_listing(
                f"00000000 <f>:\n   0:\tadd\tr0, r1\n   2:\tnop\n   4:\tvmlava.s8\tr2, q0, q1\n   8:\t{end}\n   c:\tbx\tlr\n")
            took[end[:2]] = sum(took for _, took in cycles.estimate(functions, instructions, "4 8 100 99\n", "cortex-m55").values())
        self.assertGreaterEqual(took["bn"] - took["le"], 99 * cycles.JUMP["cortex-m55"])

    def test_a_load_before_other_work(self):
        alone, used, pair = (cycles.added([instruction(text) for text in texts], "cortex-m4") for texts in (
            ("ldr\tr0, [r1]", "adds\tr2, r3, r4"), ("ldr\tr0, [r1]", "adds\tr2, r0, r4"), ("ldr\tr0, [r1]", "str\tr2, [r3]")))
        self.assertEqual((alone, used, pair), (1, 0, 0))

    def test_several_words_take_a_cycle_each_and_one_more_that_nothing_hides(self):
        block = [instruction(text) for text in ("ldm\tr0!, {r4, r5, r6}", "ldrd\tr0, r1, [r2]", "str\tr2, [r3]")]
        self.assertEqual(cycles.added(block, "cortex-m4"), 3 + 2)
        self.assertEqual(cycles.added(block, "cortex-m33"), 2 + 1)

    def test_the_plugin_counts_what_qemu_counts(self):
        boards = {cpu: Board(cpu, "") for cpu in ("cortex-m4", "cortex-m55")}
        if missing := [tool for board in boards.values() for tool in board.missing()] or (
                [] if shutil.which("cc") else ["cc"]):
            self.skipTest("there is no " + missing[0])
        with tempfile.TemporaryDirectory() as folder:
            case = next(case for case in own_cases(RELAXC, folder) if case.folder.name == "digits8")
            for cpu in boards:
                board = Board(cpu, Path(folder) / "runtime")
                case.build(board, "o", "-O3")
                _, _, counted, _, _ = board.run(case.folder)
                functions = cycles.of_program(board, case.folder, cycles.build_plugin(folder))
                instructions, took = (sum(numbers) for numbers in zip(*functions.values()))
                self.assertAlmostEqual(instructions / counted, 1, delta=0.01)
                self.assertTrue(0.5 < took / instructions < 4, (cpu, took / instructions))


if __name__ == "__main__":
    unittest.main()
