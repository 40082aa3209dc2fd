"""The parts of the sweep: rows of settings have all pairs, rewritten graphs are equal, what is shrunk still fails."""

import itertools
import tempfile
import unittest
from dataclasses import astuple
from pathlib import Path

import onnx

import check
import own_graphs
import planted
import rewritten_graphs
import settings
import shrink

SEEDS = range(12)


def ops_of(case):
    return [node.op_type for node in case.model.graph.node]


class Sweep(unittest.TestCase):
    def test_each_two_settings_occur_together(self):
        rows = [astuple(row) for row in settings.covering()]
        for (i, one), (j, other) in itertools.combinations(enumerate(settings.COLUMNS), 2):
            for values in itertools.product(one, other):
                self.assertTrue(any((row[i], row[j]) == values for row in rows), values)

    def test_neighbours_have_all_rows(self):
        self.assertEqual({row for seed in range(7) for row in settings.of_seed(seed, 2)}, set(settings.of_seed(0, 13)))

    def test_a_rewritten_graph_computes_the_same(self):
        drawn = [case for case in map(rewritten_graphs.make, SEEDS) if case is not None]
        self.assertGreater(len(drawn), len(SEEDS) // 2)
        for case in drawn:
            wanted = check.expected(case)
            with self.subTest(case.name, steps=case.steps):
                self.assertNotEqual(case.equal, case.model)
                self.assertEqual(check.difference(check.expected(shrink.replace(case, model=case.equal)), wanted), "")

    def test_the_same_seed_gives_the_same_case(self):
        for kind in (own_graphs, rewritten_graphs):
            self.assertEqual(kind.make(3).model, kind.make(3).model)
        self.assertEqual(planted.make(3).text, planted.make(3).text)

    def test_what_is_shrunk_still_fails_and_has_nothing_else(self):
        case = next(case for case in map(own_graphs.make, itertools.count()) if len(ops_of(case)) > 8 and "Tanh" in ops_of(case))
        least = shrink.shrunk(case, lambda smaller: "Tanh" in ops_of(smaller))
        self.assertEqual(ops_of(least), ["Tanh"])
        with tempfile.TemporaryDirectory() as folder:
            wanted = check.expected(least)
            shrink.write(least, wanted, Path(folder))
            written = Path(folder) / least.name
            self.assertEqual(onnx.load(written / "model.onnx"), least.model)
            self.assertEqual(sorted(file.name for file in (written / "test_data_set_0").iterdir()), ["input_0.pb", "output_0.pb"])

    def test_differences_are_seen(self):
        wanted = check.expected(own_graphs.make(0))
        self.assertEqual(check.difference(wanted, wanted), "")
        self.assertIn("output 0", check.difference([wanted[0] + wanted[0].dtype.type(1), *wanted[1:]], wanted))
        self.assertIn("outputs, expected", check.difference(wanted[1:], wanted))


if __name__ == "__main__":
    unittest.main()
