"""hostile_test.py: models with mistakes in their structure are compiled or refused within 10 s and 1 GB, by a message and
never by a crash, and what is refused leaves no file. The seeds are the cases of all operators; mutations.py makes the
mistakes. tests/driver/hostile_bytes_test.py changes bytes, of which most are refused before an operator is looked at.

Usage: hostile_test.py RELAXC COUNT SEED
"""

import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from mutations import mutated
from operator_cases import all_cases

SECONDS, MEMORY = 10, 1 << 30


def limits():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def fault_of(relaxc, content, form, folder):
    """What relaxc does wrong with the model, and its exit code."""
    path = folder / "model.tflite"
    path.write_bytes(content)
    try:
        done = subprocess.run([relaxc, path, "-O1", "-o", folder / form, "--untrusted"], capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, preexec_fn=limits, check=False)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} s", None
    written = [file for file in folder.iterdir() if file != path]
    for file in written:
        file.unlink()
    if done.returncode not in (0, 1):
        return f"exits with {done.returncode}: {done.stderr[-2000:]}", done.returncode
    if ("error: " in done.stderr) != (done.returncode == 1):
        return f"exits with {done.returncode} and says: {done.stderr[-2000:]}", done.returncode
    if bool(written) != (done.returncode == 0):
        return f"exits with {done.returncode} and writes {[file.name for file in written]}", done.returncode
    return "", done.returncode


def main():
    relaxc, count, seed = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    cases, faults, compiled, tried = all_cases(), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        for i in range(count):
            numbers = random.Random(seed * 1_000_003 + i)
            case = numbers.choice(cases)
            content = mutated(case.model(), numbers)
            if content is None:
                continue
            fault, code = fault_of(relaxc, content, numbers.choice(("m.o", "m.c")), Path(name))
            tried, compiled = tried + 1, compiled + (code == 0)
            if fault:
                faults += 1
                print(f"{i} ({case.name}): {fault}")
    print(f"{tried} models, {compiled} compiled, {faults} faults")
    sys.exit(1 if faults or not 0 < compiled < tried else 0)


if __name__ == "__main__":
    main()
