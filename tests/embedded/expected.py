"""Writes what the host's interpreter gives for the models of board_cases.py, which all boards are compared with: interpreting
them took half of the time of a board's test.

Usage: expected.py RELAXC FOLDER own|models"""

import shutil
import sys
import tempfile
from pathlib import Path

from board_cases import MODELS, own_cases, wild_cases


def main():
    relaxc, expected, kind = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
    if kind == "models" and not MODELS.exists():
        print(f"skipped: there is no folder '{MODELS}'")
        return 77
    expected.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="relaxc-expected-") as folder:
        for case in own_cases(relaxc, folder) if kind == "own" else wild_cases(relaxc, "", folder):
            want = expected / case.folder.name
            shutil.rmtree(want, ignore_errors=True)
            case.interpret(want)
    return 0


if __name__ == "__main__":
    sys.exit(main())
