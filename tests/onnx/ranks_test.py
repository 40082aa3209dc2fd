#!/usr/bin/env python3
"""ranks_test.py: every operator, in every version, on inputs of any rank, dtype and size, with any attributes.

Usage: ranks_test.py RELAXC SIGNATURES PAGE SEED NODES    (NODES: how many of each operator and version)

From signatures.txt: nodes with as many inputs and outputs as the operator may have, of ranks 0 to 5, dims 0 to 6, open or
fixed, constant or not, and attributes of the declared types with small and extreme values. Most are none that anybody
would write. relaxc must answer each with an error about the node or take it, and what it takes it must compile, here to C:
it may not crash, end with an internal error or run on. What it says is up to other tests.
"""

import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx.defs
from onnx import AttributeProto, TensorProto, helper, numpy_helper

TOGETHER = 40  # nodes of a model
DTYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
          "tensor(int8)": np.int8, "tensor(bool)": np.bool_, "tensor(float16)": np.float16, "tensor(double)": np.float64,
          "tensor(string)": np.object_}
INTS = (0, 1, 2, 3, 4, 5, -1, -2, -5, 6, 7, 16, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.0, 0.5, -1.0, 1e-30, 3e38, float("inf"), float("nan"))
WORDS = ("", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "constant", "edge", "reflect", "wrap", "linear", "cubic", "nearest",
         "asymmetric", "tf_crop_and_resize", "half_pixel", "mean", "sum", "none", "add", "max", "min", "forward", "reverse",
         "bidirectional", "Tanh", "Relu", "DCR", "CRD", "ij->ji", "bij,bjk->bik", "...i->i", "i,j", "LEFT", "RIGHT", "LOGISTIC",
         "SOFTMAX", "SUM", "AVERAGE", "BRANCH_LEQ", "LEAF", "zeros", "border", "euclidean", "TF", "TFIDF", "avg", "[a-z]+", "L2")


def signatures(path, page):
    """(domain, operator, version, inputs, outputs, attributes) of what is converted."""
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\d+) \|(.*)\|$", Path(page).read_text(), re.M)
    known = {(d, op): int(since) for d, op, since, rest in rows if rest.split("|")[-1].strip() != "refused"}
    for line in Path(path).read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        head, inputs, outputs, attributes = (part.split() for part in line.split("|"))
        domain, op, version = head[0], head[1], int(head[2])
        if known.get((domain, op), 10**6) <= version:
            yield domain, op, version, inputs, outputs, [a.split(":") for a in attributes]


class Nodes:
    """Nodes of one version of one domain, and what they read."""

    def __init__(self, rng, words, domain, version):
        self.words = words  # by the name of an attribute
        self.rng, self.domain, self.version = rng, "" if domain == "ai.onnx" else domain, version
        self.inputs, self.constants, self.nodes = [], [], []

    def formal_types(self, op):
        try:
            schema = onnx.defs.get_schema(op, self.version, self.domain)
        except onnx.defs.SchemaError:
            return []
        return [[t for t in formal.types if t in DTYPES] or list(DTYPES) for formal in schema.inputs]

    def operand(self, types):
        rng, name = self.rng, f"t{len(self.inputs) + len(self.constants)}"
        dtype = DTYPES[rng.choice(types)]
        shape = [rng.choice((1, 1, 2, 2, 3, 4, 5, 6, 0)) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5)))]
        if rng.random() < 0.35:
            count = int(np.prod(shape, dtype=np.int64))
            if dtype is np.object_:
                values = [rng.choice(WORDS).encode() for _ in range(count)]
                self.constants.append(helper.make_tensor(name, TensorProto.STRING, shape, values))
            else:
                if np.issubdtype(dtype, np.integer):
                    info = np.iinfo(dtype)
                    values = [max(info.min, min(info.max, rng.choice(INTS))) for _ in range(count)]
                else:
                    values = [rng.choice((0.0, 1.0, 2.0, 0.5, -1.0, float("nan"), 1e30)) for _ in range(count)]
                with np.errstate(over="ignore"):
                    self.constants.append(numpy_helper.from_array(np.array(values, dtype).reshape(shape), name))
            return name
        dims = [f"d{n}" if rng.random() < 0.3 else n for n in shape]
        kind = TensorProto.STRING if dtype is np.object_ else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def graph(self):
        """Takes and gives something, which need not be what the operator wants."""
        count = self.rng.randrange(4)
        names = [f"g{self.rng.randrange(10**9)}" for _ in range(count + 1)]
        nodes = [helper.make_node("Constant", [], [names[0]], value_float=1.0)]
        infos = [helper.make_tensor_value_info(n, self.rng.choice((1, 7, 9)), [1] * self.rng.randrange(3)) for n in names]
        return helper.make_graph(nodes, "g", infos[1:], [infos[0]] * self.rng.randrange(1, 4))

    def attribute(self, name, kind, tame):
        rng = self.rng
        known = self.words.get(name) if tame or rng.random() < 0.5 else None
        number = (lambda: rng.choice((0, 1, 1, 2))) if tame else (lambda: rng.choice(INTS))
        if kind not in ("int", "float", "string", "ints", "floats", "strings", "tensor", "graph"):
            return None
        given = AttributeProto(name=name, type=AttributeProto.AttributeType.Value(kind.upper()))
        if kind == "int":
            given.i = number()
        elif kind == "float":
            given.f = rng.choice(FLOATS[:3] if tame else FLOATS)
        elif kind == "string":
            given.s = rng.choice(known or WORDS).encode()
        elif kind == "ints":
            given.ints.extend(number() for _ in range(rng.randrange(7)))
        elif kind == "floats":
            given.floats.extend(rng.choice(FLOATS) for _ in range(rng.randrange(7)))
        elif kind == "strings":
            given.strings.extend(rng.choice(known or WORDS).encode() for _ in range(rng.randrange(5)))
        elif kind == "tensor":
            shape = [rng.randrange(3) for _ in range(rng.randrange(4))]
            given.t.CopyFrom(numpy_helper.from_array(np.full(shape, number() % 100, rng.choice((np.float32, np.int64)))))
        else:
            given.g.CopyFrom(self.graph())
        return given

    def add(self, op, inputs, outputs, attributes):
        rng, types, operands = self.rng, self.formal_types(op), []
        for i, formal in enumerate(inputs):
            some = types[min(i, len(types) - 1)] if types and rng.random() < 0.95 else list(DTYPES)
            repeated = rng.randrange(4) if formal[-1] in "*+" else 1
            if formal[-1] == "?" and rng.random() < 0.4:
                operands.append("")
            operands += [self.operand(some) for _ in range(repeated if formal[-1] != "?" or len(operands) == i else 0)]
        while operands and not operands[-1]:
            operands.pop()
        count = max(1, rng.randrange(len(outputs) + 1)) if rng.random() < 0.5 else max(1, len(outputs))
        node = onnx.NodeProto(op_type=op, domain=self.domain, name=f"n{len(self.nodes)}")
        node.input.extend(operands)
        node.output.extend(f"r{len(self.nodes)}_{i}" for i in range(count))
        tame = rng.random() < 0.7
        for name, kind in attributes:
            if rng.random() < (0.97 if kind.endswith("!") else 0.4):
                given = self.attribute(name, kind.rstrip("!"), tame)
                node.attribute.extend([given] if given is not None else [])
        self.nodes.append(node)

    def model(self, nodes):
        end = helper.make_node("Identity", ["x"], ["end"])
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "end"))
        given = [onnx.ValueInfoProto(name=name) for node in nodes for name in node.output if name]
        graph = helper.make_graph([*nodes, end], "g", [x, *self.inputs], [y, *given], self.constants)
        sets = {"": 17, self.domain: self.version}
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid(d, v) for d, v in sets.items()])


class Runs:
    def __init__(self, relaxc, folder):
        self.relaxc, self.path, self.count, self.compiled, self.faults = relaxc, Path(folder) / "m.onnx", 0, 0, []

    def fault(self, nodes, some):
        """What is wrong with the run; empty if it compiles, or an error says why not: then those without one are tried."""
        self.count += 1
        self.path.write_bytes(nodes.model(some).SerializeToString())
        output = self.path.with_suffix(".c")
        try:
            done = subprocess.run([self.relaxc, self.path, "-o", output, "--max-memory=2G"], capture_output=True, text=True,
                                  errors="replace", check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "runs for more than two minutes"
        if done.returncode not in (0, 1):
            return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
        named = set(re.findall(r"error: node '(n\d+)'", done.stderr))
        rest = [node for node in some if node.name not in named]
        if done.returncode == 0:
            self.compiled += len(some)
        elif rest and len(rest) < len(some):
            self.judge(nodes, rest)
        return ""

    def judge(self, nodes, some):
        """Finds the nodes at fault by halves."""
        why = self.fault(nodes, some)
        if not why:
            return
        if len(some) > 1:
            half = len(some) // 2
            self.judge(nodes, some[:half])
            self.judge(nodes, some[half:])
            return
        self.faults.append((some[0].op_type, why))
        print(f"{some[0].domain or 'ai.onnx'} {nodes.version} {some[0].op_type}: {why}\n  "
              f"{onnx.helper.printable_node(some[0])[:600]}\n  inputs: "
              f"{[i for i in map(onnx.helper.printable_value_info, nodes.inputs) if i.split(',')[0].strip('%').split('[')[0] in some[0].input]}",
              flush=True)


def main(relaxc, path, page, seed, nodes_each):
    groups = {}
    for domain, op, version, inputs, outputs, attributes in signatures(path, page):
        groups.setdefault((domain, version), []).append((op, inputs, outputs, attributes))
    rows = Path(path).with_name("attribute_limits.cpp").read_text().split("kWords[]")[1]
    words = {}
    for name, row in re.findall(r'\{"(\w+)",\s*((?:"[^"]*"\s*)+)', rows):
        words.setdefault(name, []).extend("".join(re.findall('"([^"]*)"', row)).split())
    total, operators = 0, Counter()
    with tempfile.TemporaryDirectory(prefix="relaxc-ranks-") as folder:
        runs = Runs(relaxc, folder)
        for (domain, version), rows in sorted(groups.items()):
            rng = random.Random(f"{seed} {domain} {version}")
            nodes = Nodes(rng, words, domain, version)
            for op, *formals in rows:
                for _ in range(int(nodes_each)):
                    nodes.add(op, *formals)
                    operators[domain, op] += 1
                    total += 1
                    if len(nodes.nodes) == TOGETHER:
                        runs.judge(nodes, nodes.nodes)
                        nodes = Nodes(rng, words, domain, version)
            if nodes.nodes:
                runs.judge(nodes, nodes.nodes)
    print(f"{total} nodes of {len(operators)} operators in {runs.count} runs, {runs.compiled} of them compiled: "
          f"{len(runs.faults)} end in a crash")
    return 1 if runs.faults or len(operators) < 250 or runs.compiled < total // 20 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
