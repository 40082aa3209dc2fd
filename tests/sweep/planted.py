"""planted.py: what tests of passes are about, with random operators around it.

A test of tests/passes has functions that a pass changes, or must leave alone. A case takes one of them that is a single
dataflow block: its parameters and its results pass through random operators, and one of the values in between may be a
result as well. So a pass meets what it looks for with other producers and readers than its author thought of.

`relaxc inspect --verify-semantics` interprets the program after every pass and names the first that changes its
numbers; `relaxc verify` compares what is compiled with the interpreter's numbers.
"""

import functools
import random
import re
import tempfile
from pathlib import Path

import compiled
from compiled import Fault, Refused

PASSES = Path(__file__).resolve().parents[1] / "passes"
FUNCTION = re.compile(r'^@R\.function\ndef (\w+)\((.*?)\)(?: -> .*)?:\n((?:    .*\n|\n)+)', re.MULTILINE)
PARAMETER = re.compile(r"(\w+): (R\.Tensor\(\(.*?\), (?:dtype=)?\"(\w+)\"\))(?:, |$)")
BLOCK = re.compile(r"(?P<declarations>(?:    \w+ = T\.int64\(.*\)\n)*)    with R\.dataflow\(\):\n(?P<statements>(?:        \w+ = .*\n)+)"
                   r"        R\.output\(.*\)\n    return (?P<results>.*)\n+")
PLAIN = re.compile(r"(?P<declarations>(?:    \w+ = T\.int64\(.*\)\n)*)(?P<statements>(?:    \w+ = .*\n)+)    return (?P<results>.*)\n+")
SIZES = (1, 2, 3, 5, 8, 17, 33)
# Smooth, so that the last bits of an operand do not decide a result.
SMOOTH = ("R.negative({})", "R.tanh({})", "R.nn.relu({})", "R.abs({})", "R.sigmoid({})", 'R.add({}, R.const(0.25, "float32"))',
          'R.multiply({}, R.const(-0.5, "float32"))', "R.add({0}, {0})", "R.nn.silu({})",
          'R.maximum({}, R.const(-0.75, "float32"))')


class Pattern:
    """A function of a test as text: parameters with their types, declarations, statements, results."""

    def __init__(self, file, name, parameters, block):
        self.file, self.name, self.parameters = file, name, parameters
        self.declarations, self.results = block["declarations"].splitlines(), names_of(block["results"])
        self.statements = [f"        {line.strip()}" for line in block["statements"].splitlines()]
        self.symbols = sorted(set(re.findall(r'"(\w+)"', " ".join(kind for _, kind, _ in parameters))) - {kind[2] for kind in parameters})

    def inner(self):
        """Names of values that are no results."""
        return [line.split(" = ")[0].strip() for line in self.statements if line.split(" = ")[0].strip() not in self.results]


def names_of(result):
    return re.findall(r"\w+", result) if re.fullmatch(r"\w+|\((?:\w+, ?)+\w*\)", result) else []


@functools.cache
def patterns():
    """Every function of the tests that has the form of a pattern, in a fixed order."""
    found = []
    for file in sorted(PASSES.rglob("*.relax")):
        text = file.read_text(encoding="utf-8").partition("# ----")[0]
        for name, parameters, body in FUNCTION.findall(text):
            block = BLOCK.fullmatch(body + "\n") or PLAIN.fullmatch(body + "\n")
            typed = PARAMETER.findall(parameters)
            if block and names_of(block["results"]) and PARAMETER.sub("", parameters) == "" and "cls." not in body:
                found.append(Pattern(f"{file.parent.name}/{file.stem}", name, typed, block))
    return found


def chain(rng, name, to, prefix):
    """Statements that take a float32 value through random operators; `to` is the name of the last result."""
    count, lines = rng.randint(1, 3), []
    for i in range(count):
        result = to if i == count - 1 else f"{prefix}{i}"
        lines.append(f"        {result} = {rng.choice(SMOOTH).format(name)}")
        name = result
    return lines


class Planted:
    """The program of a seed."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.pattern = pattern = rng.choice(patterns())
        self.name = f"planted-{seed} ({pattern.file}, {pattern.name})"
        parameters, lines = [], []
        for name, kind, dtype in pattern.parameters:
            through = dtype == "float32" and rng.random() < 0.6
            parameters.append(f"{name}_given: {kind}" if through else f"{name}: {kind}")
            if through:
                lines += chain(rng, f"{name}_given", name, f"{name}_before")
        lines += pattern.statements
        outputs = []
        for name in pattern.results:
            outputs.append(name)
            if rng.random() < 0.6:  # not every result is of float32: such a program is refused
                lines += chain(rng, name, f"{name}_last", f"{name}_after")
                outputs[-1] = f"{name}_last"
        if pattern.inner() and rng.random() < 0.5:
            outputs.append(rng.choice(pattern.inner()))
        self.sizes = [f"--dim={symbol}={rng.choice(SIZES)}" for symbol in pattern.symbols]
        self.text = "\n".join([
            "@R.function", f"def main({', '.join(parameters)}):", *pattern.declarations, "    with R.dataflow():",
            *lines, f"        R.output({', '.join(dict.fromkeys(outputs))})", f"    return ({', '.join(outputs)},)", ""])


def make(seed):
    return Planted(seed)


def verification(path, case, row):
    sizes = case.sizes if row.dims == "fixed" else []
    return ["verify", path, *row.flags(), *sizes, "-j", row.threads, "--random", "--rtol", "2e-4", "--atol", "1e-4"]


def check(sweep, case, rows):
    """Counts a case as right, wrong or refused, and prints what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planted.relax"
        path.write_text(case.text, encoding="utf-8")
        try:
            compiled.run([sweep.relaxc, "--check", path], "relaxc")
        except Refused as refusal:
            return sweep.refuse(refusal)
        commands = [["inspect", path, "--verify-semantics"], *(verification(path, case, row) for row in rows)]
        try:
            for command in commands:
                compiled.run([sweep.relaxc, *command], "relaxc")
        except (Fault, Refused) as fault:
            if re.search(r"planted\.relax:.* error: |error: the interpreter refuses", str(fault)):  # at the sizes that were drawn
                return sweep.refuse(fault)
            sweep.counts["wrong"] += 1
            print(f"{case.name}: {' '.join(map(str, command))}: {fault}\n{case.text}", flush=True)
            if sweep.folder is not None:
                sweep.folder.mkdir(parents=True, exist_ok=True)
                (sweep.folder / f"{case.name.split()[0]}.relax").write_text(case.text, encoding="utf-8")
        else:
            sweep.counts["right"] += 1
