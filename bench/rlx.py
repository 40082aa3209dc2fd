"""rlx.py: the loader of runtime-lite/python, under the name that bench/ and tests/ import."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime-lite" / "python"))

from relax_rt import *  # noqa: E402, F403
