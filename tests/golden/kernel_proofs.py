#!/usr/bin/env python3
"""kernel_proofs.py: what `relaxc inspect --prove=kernels` leaves open, against tests/golden/kernel_proofs.tsv.

    tests/golden/kernel_proofs.py [--update] [--only REGEX] [--relaxc PATH] [--generated FOLDER] [--seconds N]

The checker of compiler/proof/kernels shows of each kernel that its schedule keeps what it computes. What it cannot
decide, or checks only up to 8, is a row: the model, the kernel, and the reason or what was checked. A kernel that is
not in the table must be proved or checked at sizes, a refuted one is a failure whatever the table says, and a row whose
kernel is decided by now has to go (--update rewrites the rows of what ran). Prints totals by kind of kernel. Programs
and models are those of memory_proofs.py; models that take more seconds than are given are named and left out.
"""

import argparse
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import memory_proofs
import objects

ANSWERS = ("proved", "checked", "checked up to 8", "refuted", "undecided")
OPEN = {"checked up to 8", "undecided"}
TABLE = Path(__file__).with_suffix(".tsv")
ROW = re.compile(r"^kernel   (\S+) \((\S+)\): (proved|checked|checked up to 8|refuted|undecided)(?:: (.*))?$", re.M)


def found_of(relaxc, name, path, seconds):
    """[(kernel, kind, answer, text)] of a model; none if it is refused, which other tests are for."""
    command = [relaxc, "inspect", path, "--prove=kernels", "--target", "x86-64-v3", *memory_proofs.FLAGS.get(name, [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    found = ROW.findall(done.stdout)
    if not found and done.returncode == 1:
        return []
    if done.returncode != (1 if any(row[2] == "refuted" for row in found) else 0):
        raise SystemExit(f"{name}: exit code {done.returncode}: {done.stderr}")
    return found


def read_table():
    rows = collections.defaultdict(dict)
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        name, kernel, why = line.split("\t")
        rows[name][kernel] = why
    return rows


def write_table(rows):
    lines = [f"{name}\t{kernel}\t{rows[name][kernel]}\n" for name in sorted(rows) for kernel in sorted(rows[name])]
    TABLE.write_text("".join(lines))


def differences(name, found, known):
    """What a model has that the table has not, and the other way round."""
    wrong = [f"{name}: refuted: {kernel}: {text}" for kernel, _, answer, text in found if answer == "refuted"]
    left = {kernel for kernel, _, answer, _ in found if answer in OPEN}
    wrong += [f"{name}: not in the table: {kernel}" for kernel in sorted(left - known.keys())]
    return wrong + [f"{name}: no longer open: {kernel}" for kernel in sorted(known.keys() - left)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true", help="writes the rows of what ran")
    parser.add_argument("--only", type=re.compile, help="names of programs and models")
    parser.add_argument("--relaxc", default=objects.ROOT / "build/bin/relaxc", type=Path)
    parser.add_argument("--generated", type=Path, metavar="FOLDER", help="keeps models of bench/models")
    parser.add_argument("--seconds", type=float, default=3600, help="of one model")
    given = parser.parse_args()
    table, wrong, counts = read_table(), [], collections.defaultdict(collections.Counter)
    for name, path in memory_proofs.programs(given.generated).items():
        if given.only and not given.only.search(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = found_of(given.relaxc, name, path or objects.generate(name, given.generated or folder), given.seconds)
            except objects.LeftOut as why:
                print(f"{name} is skipped: {why}")
                continue
            except subprocess.TimeoutExpired:
                print(f"{name} is skipped: it takes more than {given.seconds:g} seconds", flush=True)
                continue
        for _, kind, answer, _ in found:
            counts[kind][answer] += 1
        wrong += [line for line in differences(name, found, table[name]) if not given.update or " refuted: " in line]
        table[name] = {kernel: why for kernel, _, answer, why in found if answer in OPEN}
    if given.update:
        write_table(table)
    for kind, count in sorted(counts.items()):
        print(f"{kind}: " + ", ".join(f"{count[answer]} {answer}" for answer in ANSWERS))
    print("\n".join([*wrong, f"{len(wrong)} differences"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
