"""Outputs are called as the model declares, whatever passes make of the values behind them.

Usage: output_names_test.py RELAXC RUNTIME [unittest's own]"""

import importlib.util
import json
import os
import struct
from pathlib import Path

import program
import wire
from program import RUNTIME, ProgramTest

ROOT = Path(__file__).resolve().parents[2]
MODELS = Path(os.environ.get("RELAXC_MODELS", ROOT.parent / "shared/models"))
LEVELS = ("-O0", "-O2", "-O3")
BOOL, STRING = 9, 8


def ints(name, values):
    return wire.field(1, name) + wire.fields(8, values) + wire.field(20, 7)


def graph(name, nodes, outputs):
    body = wire.fields(1, nodes) + wire.field(2, "branch") + wire.fields(12, outputs)
    return wire.field(1, name) + wire.field(6, body) + wire.field(20, 5)


def constant(name, dims, values):
    return wire.tensor(name, dims, struct.pack(f"<{len(values)}q", *values), wire.INT64)


def branch(name, source):
    out = f"{name}_out"
    return graph(name, [wire.node("Identity", [source], [out])], [wire.value_info(out, ("n", 4))])


# Of x, float [n, 4], and again: what gives the same values, or values that a pass finds to be the same.
PASSING = {
    "Identity": (["x"], ()), "Cast": (["x"], [wire.int_attribute("to", wire.FLOAT)]), "Dropout": (["x"], ()), "Relu": (["again"], ()),
    "Reshape": (["x", "shape"], ()), "Expand": (["x", "ones"], ()), "Tile": (["x", "ones"], ()), "Slice": (["x", "zeros", "far", "axes"], ()),
    "Pad": (["x", "pads"], ()), "Sum": (["x"], ()), "Max": (["x"], ()), "Mean": (["x"], ()), "Concat": (["x"], [wire.int_attribute("axis", 0)]),
    "Transpose": (["x"], [ints("perm", [0, 1])]), "Add": (["x", "zero"], ()), "Sub": (["x", "zero"], ()), "Mul": (["x", "one"], ()),
    "Div": (["x", "one"], ()), "Pow": (["x", "one"], ()), "Clip": (["x"], ()), "Flatten": (["x"], [wire.int_attribute("axis", 1)]),
    "If": (["yes"], [branch("then_branch", "x"), branch("else_branch", "again")]),
    "Where": (["yes", "x", "again"], ()), "Neg": (["negated"], ()), "Split": (["x"], [wire.int_attribute("axis", 1)]),
}
# Names that are not identifiers, and would be one file in a folder of outputs.
STYLES = ("{}", "res/{}", "res_{}", "{}:0", "{}.out")


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def passing_model():
    """Every operator of the table gives outputs of all styles; inputs and initializers are outputs as well."""
    nodes = [wire.node("Relu", ["x"], ["again"]), wire.node("Neg", ["x"], ["negated"])]
    outputs = ["x", "weights"]
    for k, (op, (inputs, attributes)) in enumerate(PASSING.items()):
        name = STYLES[k % len(STYLES)].format(op.lower())
        nodes.append(wire.node(op, inputs, [name], name=f"node{k}", attributes=attributes))
        nodes.append(wire.node("Identity", [name], [f"{name} twice"], name=f"twice{k}"))
        outputs += [name, f"{name} twice"]
    nodes.append(wire.node("Relu", ["x"], ["res/a"], name="slash"))
    nodes.append(wire.node("Relu", ["x"], ["res_a"], name="score"))
    outputs += ["res/a", "res_a"]
    constants = [constant("shape", [2], [-1, 4]), constant("ones", [2], [1, 1]), constant("zeros", [2], [0, 0]),
                 constant("far", [2], [2**31, 2**31]), constant("axes", [2], [0, 1]), constant("pads", [4], [0, 0, 0, 0]),
                 wire.tensor("zero", [], floats(0)), wire.tensor("one", [], floats(1)), wire.tensor("yes", [], b"\1", BOOL),
                 wire.tensor("weights", [2], floats(1, 2))]
    shapes = {"weights": (2,)}
    return wire.model(nodes, [wire.value_info("x", ("n", 4))], [wire.value_info(name, shapes.get(name, ("n", 4))) for name in outputs],
                      constants), outputs


def sequence_info(name, dtype):
    element = wire.field(1, wire.field(1, dtype) + wire.field(2, wire.dim("k")))
    return wire.field(1, name) + wire.field(2, wire.field(4, wire.field(1, element)))


def optional_info(name):
    return wire.field(1, name) + wire.field(2, wire.field(9, wire.field(1, wire.field(1, wire.field(1, wire.FLOAT) + wire.field(2, wire.dim(2))))))


def fields_of(data):
    """(number, value) of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
            yield key >> 3, data[at:at + size]
            at += size


def declared_outputs(path):
    """Names of tensors; None if some output is none."""
    graph_bytes = next(value for number, value in fields_of(path.read_bytes()) if number == 7)
    outputs = [dict(fields_of(value)) for number, value in fields_of(graph_bytes) if number == 12]
    tensors = all(1 in dict(fields_of(output[2])) and dict(fields_of(dict(fields_of(output[2]))[1])).get(1) != STRING for output in outputs)
    return [output[1].decode() for output in outputs] if tensors else None


class OutputNames(ProgramTest):
    def outputs(self, *arguments):
        self.compiles(*arguments, "-o", "m.o", "--name", "m", "--manifest", "m.json")
        told = json.loads((self.path / "m.json").read_text())
        return {function["name"]: [output["name"] for output in function["outputs"]] for function in told["functions"]}

    def test_what_passes_values_on(self):
        model, declared = passing_model()
        self.write("p.onnx", model)
        self.assertGreater(len(declared), 2 * len(PASSING))
        for level in LEVELS:
            with self.subTest(level):
                self.assertEqual(self.outputs("p.onnx", level)["main"], declared)
                header = (self.path / "m.h").read_text()
                for name in declared:
                    self.assertRegex(header, rf'"{name}"|output {name}:')

    def test_run_and_verify_see_all_of_them(self):
        model, declared = passing_model()
        self.write("p.onnx", model)
        done = self.compiles("run", "p.onnx", "--random", "--dim", "n=3", "-o", "out", "--runtime", RUNTIME)
        self.assertEqual([line.split(": float32")[0] for line in done.out.splitlines()], declared)
        self.assertEqual(len(list((self.path / "out").glob("*.npy"))), len(declared))
        done = self.compiles("verify", "p.onnx", "--dim", "n=3", "--runtime", RUNTIME)
        self.assertEqual(len(done.out.splitlines()), 1 + len(declared))

    def test_a_program_writes_all_of_them(self):
        model, declared = passing_model()
        self.write("p.onnx", model)
        self.compiles("p.onnx", "-o", "p", "--name", "p", "--dim", "n=1", "--runtime", RUNTIME)
        header = str({"descr": "<f4", "fortran_order": False, "shape": (1, 4)}).ljust(117).encode() + b"\n"
        self.write("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + floats(1, 2, 3, 4))
        done = program.subprocess.run(["./p", "-o", "out", "x.npy"], cwd=self.path, capture_output=True, text=True, check=False)
        if done.returncode != 0 and not (self.path / "out").exists():
            (self.path / "out").mkdir()
            done = program.subprocess.run(["./p", "-o", "out", "x.npy"], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.path / "out").glob("*.npy"))), len(declared))

    def test_python_finds_them_by_name(self):
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("there is no numpy")
        spec = importlib.util.spec_from_file_location("relax_rt", ROOT / "runtime-lite/python/relax_rt.py")
        relax_rt = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(relax_rt)
        import numpy
        model, declared = passing_model()
        self.write("p.onnx", model)
        self.compiles("p.onnx", "-o", "p.so", "--runtime", RUNTIME)
        function = relax_rt.Model(self.path / "p.so").functions["main"]
        self.assertEqual([output.name.decode() for output in function.outputs], declared)
        self.assertEqual(len(function(numpy.ones((2, 4), numpy.float32))), len(declared))

    def test_a_state_is_found_by_its_declared_name(self):
        nodes = [wire.node("Add", ["h0", "x"], ["inner"]), wire.node("Identity", ["inner"], ["h:n"]), wire.node("Relu", ["inner"], ["y"])]
        self.write("s.onnx", wire.model(nodes, [wire.value_info("x", (4,)), wire.value_info("h0", (4,))],
                                        [wire.value_info("y", (4,)), wire.value_info("h:n", (4,))]))
        for level in LEVELS:
            self.compiles("s.onnx", "-o", "s.o", level, "--state", "h0:h:n")
            self.assertIn("state", (self.path / "s.h").read_text())
        self.refuses(1, "names no output of 'main'; they are: y, h:n", "s.onnx", "-o", "t.o", "--state", "h0:inner")

    def test_sequences_strings_and_optionals(self):
        nodes = [wire.node("SequenceConstruct", ["x", "x"], ["made"]), wire.node("Identity", ["made"], ["seq"]),
                 wire.node("Identity", ["text"], ["words"]), wire.node("Identity", ["words"], ["same words"]),
                 wire.node("Optional", ["x"], ["maybe"]), wire.node("Identity", ["x"], ["plain"])]
        self.write("c.onnx", wire.model(nodes, [wire.value_info("x", (2,)), wire.value_info("text", (3,), STRING)],
                                        [sequence_info("seq", wire.FLOAT), wire.value_info("words", (3,), STRING),
                                         wire.value_info("same words", (3,), STRING), optional_info("maybe"), wire.value_info("plain", (2,))],
                                        opset=16))
        declared = ["seq.elements", "seq.shapes", "words.spans", "words.bytes", "same words.spans", "same words.bytes", "maybe.present",
                    "maybe", "plain"]
        for level in LEVELS:
            self.assertEqual(self.outputs("c.onnx", level)["main"], declared)

    def test_several_entry_points(self):
        for name in ("one", "two"):
            self.write(f"{name}.onnx", wire.model([wire.node("Identity", ["x"], [f"{name}.y"]), wire.node("Dropout", ["x"], [f"{name}.z"])],
                                                  [wire.value_info("x", (4,))],
                                                  [wire.value_info(f"{name}.y", (4,)), wire.value_info(f"{name}.z", (4,))]))
        for level in LEVELS:
            self.assertEqual(self.outputs("one.onnx", "two.onnx", level), {"one": ["one.y", "one.z"], "two": ["two.y", "two.z"]})

    def test_programs_in_text(self):
        self.write("t.relax", """@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    with R.dataflow():
        same = R.astype(x, "float32")
        other = R.astype(same, "float32")
        both = (same, other)
        R.output(both)
    return both
""")
        for level in LEVELS:
            self.assertEqual(self.outputs("t.relax", level)["main"], ["same", "other"])

    def test_verify_fails_on_what_it_cannot_compare(self):
        self.write("s.onnx", wire.streaming())
        for folder in ("set",):
            self.write(f"{folder}/input_0.pb", wire.tensor("x", (4,), floats(1, 2, 3, 4)))
            self.write(f"{folder}/input_1.pb", wire.tensor("h0", (4,), floats(1, 1, 1, 1)))
            self.write(f"{folder}/output_0.pb", wire.tensor("y", (4,), floats(2, 3, 4, 5)))
        done = self.relaxc("verify", "s.onnx", "set", "--runtime", RUNTIME)
        self.assertEqual(done.code, 1, done.err)
        self.assertRegex(done.out, r"set +hn +cannot be compared")
        self.write("set/output_1.pb", wire.tensor("hn", (4,), floats(2, 3, 4, 5)))
        self.compiles("verify", "s.onnx", "set", "--runtime", RUNTIME)

    def test_models(self):
        paths = sorted(MODELS.glob("*/*.onnx"))
        if not paths:
            self.skipTest(f"there are no models in {MODELS}")
        compared = 0
        for path in paths:
            declared = declared_outputs(path)
            if declared is None:
                continue
            with self.subTest(path.parent.name):
                self.compiles(path, "-o", "m.relax")
                text = (self.path / "m.relax").read_text()
                self.assertIn('"output_names": [' + ", ".join(f'"{name}"' for name in declared) + "]", text)
                compared += 1
                if path.stat().st_size < 200_000:
                    self.assertEqual(self.outputs(path)["main"], declared)
        self.assertGreater(compared, len(paths) // 2)


if __name__ == "__main__":
    program.main()
