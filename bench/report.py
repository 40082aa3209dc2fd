#!/usr/bin/env python3
"""report.py: what run.py and start.py measured, as tables in a page and as a plot.

    build/venv/bin/python bench/report.py "Real models=real.json" "Networks with random weights=a.json,b.json" \\
        --start start.json --page docs/performance.md --plot bench/performance.png

The page has two lines between which everything is written anew. A ratio is another's time by relaxc's, above 1 where
relaxc is faster, and the lower end of its 95% interval: what can be claimed, not what is likeliest.
"""

import argparse
import json
import math
import sys
from pathlib import Path

BEGIN, END = "<!-- written by bench/report.py -->\n", "<!-- end of what bench/report.py writes -->\n"
PEERS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "iree": "IREE", "tvm": "TVM"}


def label(record):
    """The model, with its size where the model was run at several."""
    return f"{record['name']} {record['size']}" if record["several"] else record["name"]


def read(files):
    records = [record for file in files.split(",") for record in json.loads(Path(file).read_text())["records"]]
    sizes = {}
    for record in records:
        sizes.setdefault(record["name"], set()).add(record["size"])
    for record in records:
        record["several"] = len(sizes[record["name"]]) > 1
    return sorted(records, key=lambda record: (record["threads"], record["name"]))


def microseconds(time):
    return f"{time:.0f}" if time >= 100 else f"{time:.3g}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def ratios(records, peer):
    return [record[peer]["ratio_low"] for record in records if "ratio_low" in record.get(peer, {})]


def cell(record, peer):
    result = record.get(peer, {})
    if "ratio_low" not in result:
        return "refused" if "refused" in result else ""
    return f"{result['ratio_low']:.2f}" + ("" if result["agree"] else " (differs)")


def table(records):
    """A row a model and size; the columns of one number of threads are side by side."""
    counts = sorted({record["threads"] for record in records})
    peers = [peer for peer in PEERS if any(peer in record for record in records)]
    heads, rows = ["model"], {}
    for count in counts:
        threads = "" if len(counts) == 1 else f", {count} thread{'s' if count > 1 else ''}"
        heads += [f"relaxc µs{threads}", "ONNX Runtime µs", *(f"ratio to {PEERS[peer]}" for peer in peers)]
    for record in records:
        rows.setdefault(label(record), {})[record["threads"]] = record
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for name, of_threads in rows.items():
        cells = [name]
        for count in counts:
            record = of_threads.get(count, {})
            cells += [microseconds(record[kind]["min_us"]) if "min_us" in record.get(kind, {}) else ""
                      for kind in ("relaxc", "onnxruntime")]
            cells += [cell(record, peer) for peer in peers]
        lines.append("| " + " | ".join(cells) + " |")
    for peer in peers:
        for count in counts:
            found = ratios([record for record in records if record["threads"] == count], peer)
            threads = "" if len(counts) == 1 else f" with {count} thread{'s' if count > 1 else ''}"
            if found:
                lines.append(f"\nAgainst {PEERS[peer]}{threads}: geometric mean {mean(found):.2f}, ahead on "
                             f"{sum(ratio > 1 for ratio in found)} of {len(found)}.")
    return "\n".join(lines) + "\n"


def start_table(file):
    lines = ["| model | relaxc ms | ONNX Runtime ms | ratio | peak MiB, relaxc | peak MiB, ONNX Runtime |",
             "|---|---:|---:|---:|---:|---:|"]
    for record in json.loads(Path(file).read_text())["records"]:
        ours, theirs = record["relaxc"], record["onnxruntime"]
        lines.append(f"| {record['name']} | {ours['cpu_ms']:.2f} | {theirs['cpu_ms']:.1f} | {record['ratio_low']:.1f} | "
                     f"{ours['peak_kib'] / 1024:.1f} | {theirs['peak_kib'] / 1024:.1f} |")
    return "\n".join(lines) + "\n"


def compile_table(groups, least=1.0):
    """What relaxc took for models of at least this many seconds; the limit is 1.5 times the model + 300 MB."""
    lines = ["| model | seconds of the processor | peak MB | limit MB |", "|---|---:|---:|---:|"]
    once = {record["name"]: record for records in groups.values() for record in records}
    for name, record in sorted(once.items(), key=lambda item: -item[1]["compile_cpu_s"]):
        limit = 1.5 * record["bytes"]["onnx"] / 1e6 + 300
        if record["compile_cpu_s"] >= least:
            peak = record["compile_peak_kib"] * 1024 / 1e6
            lines.append(f"| {name} | {record['compile_cpu_s']:.1f} | {peak:.0f} | {limit:.0f} |")
    return "\n".join(lines) + "\n"


def plot(groups, path):
    """One bar a row with the fewest threads, as long as the logarithm of the ratio to ONNX Runtime, one panel a group."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    fewest = min(record["threads"] for records in groups.values() for record in records)
    rows = {title: [r for r in records if r["threads"] == fewest and "ratio_low" in r.get("onnxruntime", {})]
            for title, records in groups.items()}
    heights = [max(len(records), 1) for records in rows.values()]
    figure, panels = pyplot.subplots(len(rows), 1, figsize=(8, 1.2 * len(rows) + 0.17 * sum(heights)), squeeze=False,
                                     height_ratios=heights, layout="constrained")
    for (title, records), (panel,) in zip(rows.items(), panels):
        records = sorted(records, key=lambda record: record["onnxruntime"]["ratio_low"])
        values = [record["onnxruntime"]["ratio_low"] for record in records]
        panel.barh(range(len(values)), [value - 1 for value in values], left=1, height=0.7,
                   color=["#2a7f62" if value >= 1 else "#b5482f" for value in values])
        panel.set_yticks(range(len(values)), [label(record) for record in records], fontsize=7)
        panel.set_xscale("log")
        ticks = [tick for tick in (0.25, 0.5, 1, 2, 4, 8, 16, 32) if 0.8 * min(values) <= tick <= 1.3 * max(values)]
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.axvline(1, color="black", linewidth=0.8)
        panel.set_ylim(-0.6, len(values) - 0.4)
        panel.set_title(f"{title}: times as fast as ONNX Runtime (geometric mean {mean(values):.2f})", fontsize=9,
                        loc="left")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+", help="TITLE=FILE.json,FILE.json")
    parser.add_argument("--start", help="JSON of start.py")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    groups = {title: read(files) for title, files in (group.split("=", 1) for group in given.groups)}
    text = "\n".join(f"### {title}\n\n{table(records)}" for title, records in groups.items())
    if given.start:
        text += f"\n### From the start of a process to the first answer\n\n{start_table(given.start)}"
    text += f"\n### What compiling takes\n\n{compile_table(groups)}"
    if given.plot:
        plot(groups, given.plot)
    if not given.page:
        print(text)
        return 0
    page = given.page.read_text()
    if BEGIN not in page or END not in page:
        parser.error(f"{given.page} lacks the lines {BEGIN.strip()} and {END.strip()}")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    given.page.write_text(before + BEGIN + "\n" + text + "\n" + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
