"""Writes docs/gallery.md: real models with the command that compiles each, its size and its speed.

Sizes are what relaxc's manifest says of the object that the command writes. Times are those of docs/performance.md, which
bench/run.py measures. What a model is, and who published it, is in INDEX.tsv beside the models.

Usage: gallery.py RELAXC MODELS [--check NAME ...]. With --check, only compares: the times of all rows with
docs/performance.md, and weights and arena of the named models with what RELAXC writes now."""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/gallery.md"
HEAD = """# Gallery

Real models that others published, each compiled for x86-64-v3 by the command in its row. `bench/gallery.py` writes this
page.

- *weights* and *code* are bytes in the object. *arena* is the memory of a call, which the caller provides; where dims
  are open, it is that of the sizes in the row. `--dim` bounds them, and makes the arena a constant of the header.
- *µs* is one run on one core, and *ONNX Runtime* how many times as long that takes. Machine and method are those of
  [performance.md](performance.md), which also has two cores, other networks and boards.

| model | what it is | command | weights | code | arena | µs | ONNX Runtime |
|---|---|---|---:|---:|---:|---:|---:|
"""


def times():
    """Texts of microseconds and ratio by model: the table of real models in docs/performance.md."""
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    table = page.split("### Real models")[1].split("\n### ")[0]
    return {row[0]: row[1:] for row in re.findall(r"^\| (\S+) \| ([\d.]+) \| [^|]*\| ([^|]*?) \|", table, re.M)}


def sizes(relaxc, model):
    """The cells of weights, code and arena."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([relaxc, model, "-o", f"{folder}/model.o", "--manifest", f"{folder}/model.json"], check=True,
                       capture_output=True)
        manifest = json.loads(Path(f"{folder}/model.json").read_text(encoding="utf-8"))
    main = next(one for one in manifest["functions"] if one["name"] == "main")
    arena = "" if main["arena_max"] is None else f"{main['arena_max']:,}"
    if main["symbols"] and main["profiles"]:
        first = main["profiles"][0]
        symbols = ", ".join(f"{name}={value}" for name, value in first["symbols"].items())
        arena = f"{first['arena_bytes']:,} ({symbols})"
    return [f"{manifest['weights']['bytes']:,}", f"{manifest['object']['code_bytes']:,}", arena]


def rows_of_page():
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {re.match(r"\[(.*?)\]", row[0]).group(1): row for row in rows}


def write(relaxc, models, index):
    measured, text = times(), HEAD
    for entry in index:
        name = entry["name"]
        if name not in measured:
            continue
        micros, ratio = measured[name]
        source = f"https://github.com/{entry['repo']}"
        cells = [f"[{name}]({source})", entry["what"].replace("|", "/"), f"`relaxc {name}.onnx -o {name.replace('-', '_')}.o`",
                 *sizes(relaxc, models / name / "model.onnx"), micros, ratio]
        text += "| " + " | ".join(cells) + " |\n"
    PAGE.write_text(text, encoding="utf-8")
    return 0


def check(relaxc, models, names):
    faults, rows = [], rows_of_page()
    for name, (micros, ratio) in times().items():
        if rows.get(name, [""])[-2:] != [micros, ratio]:
            faults.append(f"{name}: docs/performance.md has {micros} µs and {ratio}")
    for name in names:
        weights, _, arena = sizes(relaxc, models / name / "model.onnx")
        if [rows[name][3], rows[name][5]] != [weights, arena]:
            faults.append(f"{name}: weights and arena are {weights} and {arena}")
    for fault in faults:
        print(fault, "(bench/gallery.py writes docs/gallery.md)")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relaxc")
    parser.add_argument("models", type=Path)
    parser.add_argument("--check", nargs="+", default=[])
    arguments = parser.parse_args()
    if not (arguments.models / "INDEX.tsv").exists():
        print("skipped: there is no folder of models")
        return 77
    if arguments.check:
        return check(arguments.relaxc, arguments.models, arguments.check)
    with open(arguments.models / "INDEX.tsv", encoding="utf-8") as file:
        return write(arguments.relaxc, arguments.models, list(csv.DictReader(file, delimiter="\t")))


if __name__ == "__main__":
    sys.exit(main())
