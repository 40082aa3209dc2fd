"""Checks the listings of docs/no-vm.md: no_vm_test.py PAGE RELAXC [--print].

The page's python block is compiled to x86-64 assembly. Each ```asm block begins with a label and quotes instructions
of that function in their order; `...` stands for what is left out. Registers, stack slots and local labels may be
others than the page says, instructions, symbols and numbers may not. --print shows what the functions are now.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TARGET = ["--target=x86_64-unknown-linux-gnu", "--mcpu=x86-64-v3", "-O2"]


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def plain(line):
    """An instruction without what another choice of registers would change."""
    line = re.sub(r"#.*", "", line)
    line = re.sub(r"%[a-z0-9]+", "%r", line)
    line = re.sub(r"-?\d+\(%r\)", "(%r)", line)
    line = re.sub(r"\.L\w+", ".L", line)
    return " ".join(line.split())


def functions(assembly):
    """Instructions of each function by its label."""
    found, current = {}, None
    for line in assembly.splitlines():
        label = re.match(r'^"?([A-Za-z_][\w.$]*)"?:', line)
        if label and not line.startswith(".L"):
            current = found.setdefault(label.group(1), [])
        elif current is not None and line.startswith("\t") and not line.strip().startswith("."):
            current.append(line)
    return found


def missing(quoted, instructions):
    """The first quoted line that does not follow those before it; None if all do."""
    rest = iter(map(plain, instructions))
    for line in quoted:
        wanted = plain(line)
        if wanted and wanted != "..." and not any(wanted == found for found in rest):
            return line.strip()
    return None


def main(page, relaxc, *options):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        program, assembly = pathlib.Path(folder) / "novm.relax", pathlib.Path(folder) / "novm.s"
        program.write_text(blocks(text, "python")[0], encoding="utf-8")
        subprocess.run([relaxc, str(program), "-o", str(assembly), *TARGET], check=True, timeout=300)
        found = functions(assembly.read_text(encoding="utf-8"))
    if "--print" in options:
        for name, lines in found.items():
            print(f"{name}:", *lines, sep="\n")
        return 0
    failures, listings = [], blocks(text, "asm")
    for listing in listings:
        label, *quoted = listing.splitlines()
        name = label.rstrip(":")
        line = missing(quoted, found[name]) if name in found else "(the function itself)"
        if line is not None:
            failures.append(f"{page}: {name} has no '{line}' there any more")
    print("\n".join(failures) or f"{len(listings)} listings")
    return 1 if failures or not listings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
