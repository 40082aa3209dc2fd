"""compile.py: what the middle of the compiler makes of models, in numbers that do not depend on the machine's load.

    python3 bench/compile.py build/bin/relaxc FOLDER [--opt 2]

compiles every FOLDER/*/model.onnx (or FOLDER/*.onnx) and prints a Markdown table: how many kernels there are and how
often they are called, the arena next to what no plan can go below (the worst ratio over the sizes that --report looks
at), bytes of weights next to the model's file, and how long the passes took, with the slowest of them. All of it is read
from `relaxc --report`; only the last two columns depend on the machine. They are the processor's time. C is written, so
that LLVM takes no time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def models(folder):
    """Names and files, in order of names."""
    found = {path.parent.name: path for path in folder.glob("*/model.onnx")}
    found.update({path.stem: path for path in folder.glob("*.onnx")})
    return sorted(found.items())


def report(relaxc, model, opt):
    """What --report says of a model; text if relaxc refuses it."""
    with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as folder:
        page = Path(folder) / "m.json"
        done = subprocess.run([relaxc, model, "-o", Path(folder) / "m.c", f"--report={page}", f"-O{opt}"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[0]
        return json.loads(page.read_text())


def row(name, path, data):
    profiles = data["profiles"]
    worst = max(profiles, key=lambda profile: profile["ratio"] or 0)
    kernels = profiles[-1]["kernels"]
    calls = sum(kernel["calls"] for kernel in kernels)
    passes = [(one["milliseconds"], one["pass"]) for one in data["passes"]]
    slowest, which = max(passes)
    return [name, f"{len(kernels)} / {calls:g}", f"{worst['arena_bytes']:,}", f"{worst['bound_bytes']:,}",
            f"{worst['ratio']:.3f}" if worst["ratio"] else "", f"{data['weight_bytes']:,}",
            f"{path.stat().st_size:,}", f"{sum(took for took, _ in passes):.0f}", f"{which} {slowest:.0f}"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("relaxc")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--opt", default="2")
    given = arguments.parse_args()
    print("| model | kernels / calls | arena | bound | ratio | weights | model file | passes ms | slowest |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for name, path in models(given.folder):
        data = report(given.relaxc, path, given.opt)
        cells = [name, data, "", "", "", "", "", "", ""] if isinstance(data, str) else row(name, path, data)
        print("| " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
