"""Where the installation is: the tree that `cmake --install` makes, inside of a wheel or around this package."""

import os
import sys
from pathlib import Path


def prefix() -> Path:
    """The folder that has lib/librelaxc.so.0 in it."""
    here = Path(__file__).resolve().parent
    named = os.environ.get("RELAXC_PREFIX")
    for place in [Path(named)] if named else [here / "tree", *here.parents[3:4]]:
        if (place / "lib/librelaxc.so.0").is_file():
            return place
    raise ImportError(f"there is no lib/librelaxc.so.0 in {named or here / 'tree'}; RELAXC_PREFIX names the folder that "
                      "relaxc is installed in")


def main() -> None:
    """The program `relaxc`: the one of the installation, in place of this process."""
    program = str(prefix() / "bin/relaxc")
    os.execv(program, ["relaxc", *sys.argv[1:]])
