"""Models and programs compiled for another machine, as an object and as C, by a relaxc with sanitizers: whether the
compiler does what C++ defines. What it writes is the same without sanitizers, and is run by the tests of that build.

With K/N the K-th of every N models; programs, each of which is there for a kind of kernel, all the same.

Usage: compile_test.py RELAXC MACHINE [K/N]"""

import sys
import tempfile
from pathlib import Path

from board import run
from board_cases import own_cases, wild_cases
from programs import PROGRAMS


def main():
    relaxc, machine = Path(sys.argv[1]).resolve(), sys.argv[2]
    share, shares = (int(part) for part in (sys.argv[3] if len(sys.argv) > 3 else "0/1").split("/"))
    with tempfile.TemporaryDirectory(prefix="relaxc-compile-") as path:
        models = [*own_cases(relaxc, path), *wild_cases(relaxc, machine, path)]
        for case in models[share::shares]:
            for emit in ("o", "c"):
                case.compile(["--target", machine], emit, "-Os")
        for name, (source, content, _, flags) in PROGRAMS.items():
            folder = Path(path) / "programs" / name
            folder.mkdir(parents=True)
            if content is not None:
                (folder / source).write_bytes(content.encode() if isinstance(content, str) else content)
            run(relaxc, source, *flags, "--target", machine, "--name", name, "-o", "m.o", folder=folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
