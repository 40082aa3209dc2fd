"""The sizes of the runtime that docs/abi.md states, measured as it says, and that of a heap's record.

Usage: figures_test.py SOURCE_DIR
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def bytes_of(source, flags, names, folder):
    """What the files take in flash: code and constants."""
    total = 0
    for name in names:
        made = Path(folder, name).with_suffix(".o")
        subprocess.run([*flags, f"-I{source}", f"-I{source}/runtime-lite/include", "-c",
                        source / "runtime-lite/core" / name, "-o", made], check=True)
        text, data, *_ = subprocess.run(["size", made], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()
        total += int(text) + int(data)
    return total


def heap_record_differs(source, page):
    """Whether the heap's record has another size than the page says."""
    stated = re.search(r"the heap's\s+record \((\d+) bytes\)", page)[1]
    text = f'#include "rlx_internal.h"\n_Static_assert(RLX_HEAP_WORDS * 8 == {stated}, "bytes of a heap\'s record");\n'
    done = subprocess.run(["cc", "-std=c11", "-ffreestanding", "-fsyntax-only", f"-I{source}/runtime-lite/include", "-x", "c", "-"],
                          input=text, capture_output=True, text=True, check=False)
    print(done.stderr, end="")
    return done.returncode != 0


def main(source):
    page = (source / "docs/abi.md").read_text()
    if heap_record_differs(source, page):
        return 1
    start = page.index("The guards are loops over tables")
    text = " ".join(page[start : page.index("\n\n", start)].split())
    flags = re.search(r"`(clang[^`]*)`", text)[1].split()
    guards = re.findall(r"`(\w+\.c)`", text[: text.index("`clang")])
    kilobytes, memory = re.search(r"([\d.]+) KB", text)[1], re.search(r"and (\d+) more", text)[1]
    if shutil.which(flags[0]) is None:
        print(f"skipped: there is no {flags[0]}")
        return 0
    with tempfile.TemporaryDirectory(prefix="relaxc-figures-") as folder:
        found = {"guards": (bytes_of(source, flags, guards, folder), float(kilobytes) * 1000),
                 "memory.c": (bytes_of(source, flags, ["memory.c"], folder), int(memory)),
                 "abi_version.c": (bytes_of(source, flags, ["abi_version.c"], folder), 4)}
    for what, (measured, stated) in found.items():
        print(f"{what}: {measured} bytes, stated {stated:.0f}")
    return int(len(guards) < 5 or any(abs(a - b) > 0.05 * b for a, b in found.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
