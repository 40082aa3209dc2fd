#!/usr/bin/env python3
"""changed_nodes_test.py: models of one operator that are right but for one change: nothing may crash.

Usage: changed_nodes_test.py RELAXC FOLDER K/N    (every Nth change from the Kth on, of FOLDER/*/model.onnx)

ranks_test.py invents nodes, of which an operator with many inputs takes few; these are the node tests of ONNX, with an
input left out, cut off, or replaced by a value of another kind (a sequence, an optional, strings, a tensor of unknown
rank, a scalar), an output that is not wanted, or an attribute left out, also in branches and bodies. relaxc must take the
model or answer with an error; what it says is up to other tests. Changes that are alike are made once.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

LONGEST = 20  # seconds; most take a hundredth of one
FEWEST = 100  # models of FOLDER
TENSOR = helper.make_tensor_type_proto
OTHERS = {
    "sequence": helper.make_sequence_type_proto(TENSOR(TensorProto.FLOAT, None)),
    "optional": helper.make_optional_type_proto(TENSOR(TensorProto.FLOAT, [2])),
    "optional sequence": helper.make_optional_type_proto(helper.make_sequence_type_proto(TENSOR(TensorProto.FLOAT, [2]))),
    "strings": TENSOR(TensorProto.STRING, [2]),
    "unknown rank": TENSOR(TensorProto.INT64, None),
    "scalar": TENSOR(TensorProto.BOOL, []),
}


def nodes_of(graph):
    """The nodes of a graph and of those in their attributes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                yield from nodes_of(inner)


def changes_of(node):
    """(what, place) of the changes that a node allows."""
    given = [i for i, name in enumerate(node.input) if name]
    yield from (("left out", i) for i in given)
    yield from ((kind, i) for kind in OTHERS for i in given)
    if node.input:
        yield "cut off", len(node.input) - 1
    yield from (("not wanted", i) for i in range(len(node.output)))
    yield from ((attribute.name, i) for i, attribute in enumerate(node.attribute))


def changed(path, number, what, place):
    model = onnx.load(path, load_external_data=False)
    node = list(nodes_of(model.graph))[number]
    if what in OTHERS:
        node.input[place] = "of another kind"
        model.graph.input.append(helper.make_value_info("of another kind", OTHERS[what]))
    elif what == "left out":
        node.input[place] = ""
    elif what == "cut off":
        del node.input[place]
    elif what == "not wanted":
        node.output[place] = ""
    else:
        del node.attribute[place]
    return model.SerializeToString()


def different_changes(folder):
    """(path, number of the node, what, place), one for each change of an operator."""
    seen, paths = set(), sorted(folder.glob("*/model.onnx"))
    for path in paths:
        graph = onnx.load(path, load_external_data=False).graph
        for number, node in enumerate(nodes_of(graph)):
            for what, place in changes_of(node):
                alike = (node.domain, node.op_type, what, place, len(node.input), len(node.output))
                if alike not in seen:
                    seen.add(alike)
                    yield path, number, what, place


def fault(relaxc, path):
    """What is wrong with the end of relaxc; empty if it takes the model or refuses it."""
    try:
        done = subprocess.run([relaxc, path, "--check"], capture_output=True, text=True, errors="replace", check=False,
                              timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"runs for more than {LONGEST} s"
    if done.returncode not in (0, 1) or "internal error" in done.stderr:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    return ""


def main(relaxc, folder, share):
    first, step = map(int, share.split("/"))
    folder = Path(folder)
    if len(list(folder.glob("*/model.onnx"))) < FEWEST:
        print(f"skipped: {folder} has no node tests")
        return 77
    changes = list(different_changes(folder))[first::step]
    faults = 0
    with tempfile.TemporaryDirectory(prefix="relaxc-changed-") as name:
        file = Path(name) / "model.onnx"
        for path, number, what, place in changes:
            file.write_bytes(changed(path, number, what, place))
            if why := fault(relaxc, file):
                faults += 1
                print(f"{path.parent.name}, node {number}, {what} {place}: {why}", flush=True)
    print(f"{len(changes)} changes: {faults} end in a crash")
    return 1 if faults or not changes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
