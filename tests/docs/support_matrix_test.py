"""The targets of docs/support-matrix.md are those of `relaxc --print-targets`, each once.

Usage: support_matrix_test.py PAGE RELAXC"""

import re
import subprocess
import sys
from pathlib import Path

section = Path(sys.argv[1]).read_text(encoding="utf-8").split("## Targets")[1].split("\n## ")[0]
first_cells = "".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
listed = re.findall(r"`([^`]+)`", first_cells)
printed = subprocess.run([sys.argv[2], "--print-targets"], check=True, capture_output=True, text=True).stdout
known = [line.split()[0] for line in printed.splitlines()]
if twice := {name for name in listed if listed.count(name) > 1}:
    sys.exit(f"listed twice: {sorted(twice)}")
if set(listed) != set(known):
    sys.exit(f"missing on the page: {sorted(set(known) - set(listed))}; unknown: {sorted(set(listed) - set(known))}")
print(f"{len(known)} targets")
