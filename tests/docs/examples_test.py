"""Runs the programs of a documentation page: examples_test.py PAGE RUN_GOLDEN RELAXC.

A block that begins with ```python is a whole module. It must parse, print and parse again as the same module, mean the
same after all passes, whose output must print and parse as well, and compile to an object and to C. Fragments are in
```text blocks.
"""

import pathlib
import subprocess
import sys
import tempfile


def programs(page):
    """The (line, text) of each python block."""
    found, block = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if block is None and line.strip() == "```python":
            block = (number, [])
        elif block is not None and line.strip() == "```":
            found.append((block[0], "\n".join(block[1]) + "\n"))
            block = None
        elif block is not None:
            block[1].append(line)
    if block is not None:
        raise SystemExit(f"{page}:{block[0]}: the block does not end")
    return found


def complaint(command):
    """What a command that fails says; nothing if it succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"


def main(page, run_golden, relaxc):
    failures, examples = [], programs(pathlib.Path(page))
    with tempfile.TemporaryDirectory() as folder:
        for line, text in examples:
            program = pathlib.Path(folder) / f"line_{line}.relax"
            program.write_text("# passes: all\n" + text, encoding="utf-8")
            commands = [[run_golden, str(program)]]
            commands += [[relaxc, str(program), "-o", str(program.with_suffix(extension))] for extension in (".o", ".c")]
            said = next(filter(None, map(complaint, commands)), "")
            if said:
                failures.append(f"{page}:{line}: {said}")
    print("\n".join(failures) or f"{len(examples)} programs")
    if not examples:
        raise SystemExit(f"{page}: no program; fragments are ```text blocks")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
