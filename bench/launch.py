"""launch.py: what a program takes from its start to its end, without what the process that starts it takes.

Linux counts the memory of the process that forks as the new one's, and Python with a model loaded has hundreds of
megabytes; so a small program (start_launch.c) starts it.
"""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def compile_c(name, folder):
    """bench/`name`.c as a program in `folder`, compiled once."""
    program = folder / name
    if not program.exists():
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", program, HERE / f"{name}.c", "-ldl"], check=True)
    return program


def once(command, folder):
    """Milliseconds of the processor and on the wall from start to end of a program, and its peak of memory in KiB."""
    command = [compile_c("start_launch", folder), *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{Path(command[1]).name} failed: {' '.join(map(str, command[1:]))}")
    cpu, passed, peak = map(int, done.stdout.split())
    return cpu / 1e3, passed / 1e3, peak
