"""settings.py: how a case is compiled and run. Rows are such that each two values of different columns occur together in
one of them, by the usual greedy choice: a fault that two settings bring about is met within a few cases."""

import itertools
import shutil
from dataclasses import astuple, dataclass, replace

COLUMNS = (("0", "2", "3", "z"), ("llvm", "gcc", "clang"), (1, 2), ("x86-64", "x86-64-v3", "native"), ("fixed", "open"))


@dataclass(frozen=True)
class Settings:
    level: str
    backend: str  # gcc and clang compile the C that relaxc writes
    threads: int
    cpu: str
    dims: str

    def flags(self):
        return [f"-O{self.level}", f"--mcpu={self.cpu}"]

    def __str__(self):
        return " ".join((*self.flags(), self.backend, f"{self.threads} threads", f"{self.dims} dims"))


def pairs(row):
    return set(itertools.combinations(enumerate(row), 2))


def covering():
    """Rows that have all pairs; each is the one with most that are missing."""
    every = sorted(itertools.product(*COLUMNS))
    missing, rows = set().union(*map(pairs, every)), []
    while missing:
        rows.append(max(every, key=lambda row: len(pairs(row) & missing)))
        missing -= pairs(rows[-1])
    return [Settings(*row) for row in rows]


def of_seed(seed, count):
    """`count` rows for a case; those of neighbours follow each other, so that a few cases have all of them."""
    rows = covering()
    if shutil.which("clang") is None:
        rows = [replace(row, backend="gcc") if row.backend == "clang" else row for row in rows]
    return [rows[(seed * count + i) % len(rows)] for i in range(count)]


if __name__ == "__main__":
    for settings in covering():
        print(*astuple(settings))
