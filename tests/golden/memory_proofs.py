#!/usr/bin/env python3
"""memory_proofs.py: what `relaxc inspect --prove=memory` leaves open, against tests/golden/memory_proofs.tsv.

    tests/golden/memory_proofs.py [--update] [--only REGEX] [--relaxc PATH] [--generated FOLDER]

The checker of compiler/proof shows of each plan of memory that no two tensors in use at one time share memory. What it
cannot decide is a row: the model, the claim and the reason. A claim that is not in the table must be proved, a refuted
one is a failure whatever the table says, and a row whose claim is proved by now has to go (--update rewrites the rows of
what ran). Programs are those of tests/e2e/programs and examples/; models are found as objects.py finds them.
"""

import argparse
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import objects

ROOT = objects.ROOT
TABLE = Path(__file__).with_suffix(".tsv")
FLAGS = {"examples/custom-op/peaks.onnx": ["--custom-op", ROOT / "examples/custom-op/ops.json"]}
SECONDS = 300  # of one model


def programs(folder):
    """Name -> path, or none of a model that is to be generated."""
    texts = [*(ROOT / "tests/e2e/programs").glob("*.relax"), *(ROOT / "examples").rglob("*.relax")]
    return {str(path.relative_to(ROOT)): path for path in sorted(texts)} | objects.models(folder)


def open_claims(relaxc, name, path):
    """(proved, refuted claims, undecided claims); none if the model is refused, which other tests are for."""
    command = [relaxc, "inspect", path, "--prove=memory", "--target", "x86-64-v3", *FLAGS.get(name, [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    counts = re.findall(r"^memory   (\S+): (\d+) proved, \d+ refuted, \d+ undecided$", done.stdout, re.M)
    if not counts:
        return None
    claims = {kind: re.findall(rf"^ +{kind}: (.*)$", done.stdout, re.M) for kind in ("refuted", "undecided")}
    if done.returncode != (1 if claims["refuted"] else 0):
        raise SystemExit(f"{name}: exit code {done.returncode}: {done.stderr}")
    return sum(int(proved) for _, proved in counts), claims["refuted"], claims["undecided"]


def read_table():
    rows = collections.defaultdict(list)
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        name, claim, why = line.split("\t")
        rows[name].append(f"{claim}: {why}")
    return rows


def write_table(rows):
    lines = [f"{name}\t" + "\t".join(claim.rsplit(": ", 1)) for name in sorted(rows) for claim in sorted(rows[name])]
    TABLE.write_text("".join(line + "\n" for line in lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true", help="writes the rows of what ran")
    parser.add_argument("--only", type=re.compile, help="names of programs and models")
    parser.add_argument("--relaxc", default=ROOT / "build/bin/relaxc", type=Path)
    parser.add_argument("--generated", type=Path, metavar="FOLDER", help="keeps models of bench/models")
    given = parser.parse_args()
    table, wrong, proved, undecided = read_table(), [], 0, 0
    for name, path in programs(given.generated).items():
        if given.only and not given.only.search(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = path or objects.generate(name, given.generated or folder)
            except objects.LeftOut as why:
                print(f"{name} is skipped: {why}")
                continue
            found = open_claims(given.relaxc, name, path)
        if found is None:
            print(f"{name} is skipped: it is refused")
            continue
        proved, undecided = proved + found[0], undecided + len(found[2])
        wrong += [f"{name}: refuted: {claim}" for claim in found[1]]
        if not given.update:
            now, before = collections.Counter(found[2]), collections.Counter(table[name])
            wrong += [f"{name}: not in the table: {claim}" for claim in now - before]
            wrong += [f"{name}: no longer undecided: {claim}" for claim in before - now]
        table[name] = found[2]
    if given.update:
        write_table(table)
    print("\n".join([*wrong, f"{proved} claims proved, {undecided} undecided, {len(wrong)} differences"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
