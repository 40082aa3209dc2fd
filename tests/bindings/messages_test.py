"""What a call that is refused says: one sentence for each kind of finding, the same from both backends, in C, C++ and
Python, from the generic and the typed call, from `relaxc run` and the interpreter.

The kinds are those of compiler/support/findings.h and the statuses those of relax_rt.h: one without a case fails here.

Usage: messages_test.py RELAXC REPOSITORY [unittest's own]"""

import ctypes as c
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "runtime-lite/python"))
import relax_rt  # noqa: E402: the folder is known only now

PROGRAMS = ROOT / "tests/e2e/programs"
INCLUDE = ROOT / "runtime-lite/include"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
EVERYWHERE = ("python", "c", "cpp", "typed", "run", "interpret")


class Case:
    """A model, inputs that it refuses, and what it says. `typed` is what the typed call says where that is something
    else, `without` the ways that do not refuse, or for reasons of their own."""

    def __init__(self, finding, model, inputs, said, status, flags=(), typed=None, without=()):
        self.finding, self.model, self.inputs, self.said, self.status = finding, model, inputs, said, status
        self.flags, self.typed, self.ways = flags, typed or said, [way for way in EVERYWHERE if way not in without]


def model(kind, name, inputs, rank=1, constants=(), dtype=FLOAT, **attributes):
    """An ONNX model of one node. `inputs` has (dtype, dims) by name; `constants` arrays by name."""
    dtypes = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}
    initializers = [helper.make_tensor(n, dtypes[a.dtype], a.shape, a.ravel()) for n, a in dict(constants).items()]
    outputs = attributes.pop("outputs", ["y"])
    node = helper.make_node(kind, [*inputs, *dict(constants)], outputs, name=name, **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(n, t, dims) for n, (t, dims) in inputs.items()],
        [helper.make_tensor_value_info(outputs[0], dtype, [f"y{i}" for i in range(rank)])], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def floats(*dims):
    return np.ones(dims, np.float32)


def ints(*values):
    return np.array(values, np.int64)


BOUNDED = """@R.function
def main(x: R.Tensor(("n",), "float32"), mask: R.Tensor(("n",), "bool")):
    k = T.int64()
    seen: R.Tensor((k,), "float32") = R.masked_select(x, mask)
    R.func_attr({"tir_var_upper_bound": {"k": 3}})
    y = R.exp(seen)
    return y
"""

SHUFFLED = """@R.function
def main(x: R.Tensor((1, "c", 2, 2), "float32")):
    y = R.nn.pixel_shuffle(x, upscale_factor=2)
    return y
"""

DOUBLED = """@R.function
def main(times: R.Prim("int64"), x: R.Tensor(("n",), "float32")):
    n, k = T.int64(), T.int64()
    R.func_attr({"tir_var_upper_bound": {"n": 4, "k": 10}})
    with R.loop(times, carried=(x,), ty_args=(R.Tensor((k,), "float32"),)) as (i, a):
        b = R.concat((a, a), axis=0)
        y = R.carry(b)
    return y
"""

ENORMOUS = """@R.function
def main(m: R.Tensor((1,), "int64")):
    k = T.int64()
    s = R.match_cast(R.tensor_to_shape(m), R.Shape([k]))
    z = R.zeros((k, k), "float32")
    y = R.sum(R.cumsum(z, axis=0))
    return y
"""

NODES = """@R.function
def main(v: R.Tensor((), "int64")):
    nil = R.adt.construct((), tag=7)
    one = R.adt.construct((v, nil), tag=0)
    two = R.adt.construct((v, one), tag=3)
    y = R.adt.field(READ, R.shape([]), tag=TAG, index=0, dtype="int64")
    return y
"""

CASES = [
    Case("Nodes", NODES.replace("READ", "two").replace("TAG", "3"), [np.array(5)],
         "adt.construct 'two': 2 nodes of data, where --max-data-nodes is 1", "NODE_LIMIT", ["--max-data-nodes=1"],
         without=["interpret"]),
    Case("Tag", NODES.replace("READ", "two").replace("TAG", "0"), [np.array(5)],
         "adt.field 'y': constructor number 3 where 0 is matched", "DATA_BOUND", without=["interpret"]),
    Case("Exact", NODES.replace("READ", "nil").replace("TAG", "-1"), [np.array(5)],
         "adt.field 'y': the number of clauses that fit is 0, must be 1", "DATA_BOUND", without=["interpret"]),
    Case("Elements", model("Reshape", "view_3", {"x": (FLOAT, ["n"])}, 2, {"shape": ints(4, 168)}), [floats(480)],
         "Reshape 'view_3': 480 elements become 672", "DERIVED_DIM"),
    Case("Where", model("Concat", "cat_1", {"a": (FLOAT, ["n", "k"]), "b": (FLOAT, ["m", "l"])}, 2, axis=0),
         [floats(2, 3), floats(2, 4)], "Concat 'cat_1': dim 1 of 'a' is 3 where 'b' has 4", "DERIVED_DIM"),
    Case("Where", model("Add", "sum", {"a": (FLOAT, ["n"]), "b": (FLOAT, ["m"])}), [floats(2), floats(3)],
         "Add 'sum': dim 0 of 'a' is 2 where 'b' has 3", "BROADCAST"),
    Case("Differ", model("MatMul", "mm", {"a": (FLOAT, ["n", "k"]), "b": (FLOAT, ["m", "p"])}, 2),
         [floats(2, 3), floats(4, 5)], "MatMul 'mm': inner dims 3 and 4 differ", "DERIVED_DIM"),
    Case("AtLeast", model("ArgMax", "best", {"x": (FLOAT, ["n"])}, dtype=INT64, axis=0), [floats(0)],
         "ArgMax 'best': dim 0 is 0, must be at least 1", "DERIVED_DIM"),
    Case("AtMost", model("TopK", "top", {"x": (FLOAT, ["n"])}, 1, {"k": ints(5)}, outputs=["y", "at"]), [floats(3)],
         "TopK 'top': k is 5, must be at most 3", "DERIVED_DIM"),
    Case("Multiple", SHUFFLED, [floats(1, 6, 2, 2)],
         "nn.pixel_shuffle 'y': a dim is 6, must be a multiple of 4", "DERIVED_DIM"),
    Case("Room", DOUBLED, [np.array(4), floats(3)], "concat 'b': 12 elements where there is room for 10", "DATA_BOUND",
         without=["interpret"]),
    Case("Overflow", ENORMOUS, [ints(2**40)], "the arena of this call does not fit the address space", "SIZE_OVERFLOW",
         typed="function 'main': a size is beyond 9223372036854775807", without=["interpret"]),
    Case("Exact", model("Squeeze", "sq", {"x": (FLOAT, ["n", 2])}, 1, {"axes": ints(0)}), [floats(3, 2)],
         "Squeeze 'sq': dim 0 is 3, must be 1", "DERIVED_DIM"),
    Case("Zero", model("Slice", "cut", {"x": (FLOAT, ["n"]), "b": (INT64, [1]), "e": (INT64, [1]), "a": (INT64, [1]),
                                        "s": (INT64, [1])}), [floats(3), ints(0), ints(3), ints(0), ints(0)],
         "Slice 'cut': a step is 0", "DERIVED_DIM"),
    Case("Broadcast", model("Where", "pick", {"c": (BOOL, ["n"]), "a": (FLOAT, ["m"]), "b": (FLOAT, ["k"])}),
         [np.ones(2, bool), floats(3), floats(1)],
         "Where 'pick': dim 0 is 2 here and 3 there, must be equal or 1", "BROADCAST"),
    Case("Depth", PROGRAMS / "deep_recursion.relax", [np.array(50)],
         "function 'depth': a call that is 11 deep, where --max-recursion is 10", "RECURSION_DEPTH",
         ["--max-recursion=10"], without=["interpret"]),
    Case("AtMost", BOUNDED, [floats(5), np.ones(5, bool)], "masked_select 'seen': 'selected' is 5, must be at most 3",
         "DATA_BOUND", without=["interpret"]),
    Case(None, model("Gather", "pick", {"x": (FLOAT, ["n"]), "i": (INT64, ["m"])}), [floats(5), ints(1, 7)],
         "Gather 'pick': index 7 is outside of an axis of 5", "INDEX_RANGE"),
    Case(None, model("Relu", "r", {"image": (FLOAT, ["n", 3, "h"])}, 3), [floats(1, 3, 31)],
         "input 'image': dim 2 is 31, must be a multiple of 8", "DIM_BOUNDS", ["--dim", "h=8..64:8"],
         typed="dim 'h' is 31, must be a multiple of 8", without=["interpret"]),
    Case(None, model("Relu", "r", {"image": (FLOAT, ["n", 3, "h"])}, 3), [floats(1, 3, 72)],
         "input 'image': dim 2 is 72, must be at most 64", "DIM_BOUNDS", ["--dim", "h=8..64:8"],
         typed="dim 'h' is 72, must be at most 64", without=["interpret"]),
    Case(None, model("Add", "sum", {"a": (FLOAT, ["n"]), "b": (FLOAT, ["n"])}), [floats(4), floats(3)],
         "input 'b': dim 0 is 3 where dim 'n' is 4", "SYMBOL_EQUALITY", without=["typed", "interpret"]),
    Case(None, model("Relu", "r", {"x": (FLOAT, ["n", 3])}, 2), [floats(1, 2)],
         "input 'x': dim 1 is 2, must be 3", "STATIC_DIM", without=["typed", "interpret"]),
    Case(None, model("Relu", "r", {"x": (FLOAT, ["n", 3])}, 2), [floats(3)],
         "input 'x': the number of dims is 1, must be 2", "RANK", without=["typed", "interpret"]),
    Case(None, PROGRAMS / "tir_assert.relax", [floats(4) - 1],
         "positive 'y': all must be positive: does not hold", "ASSERTION"),
]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)


def made(*command):
    done = run(*command)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stderr}")


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        core = [source for source in sorted((ROOT / "runtime-lite/core").glob("*.c")) if source.name != "memory.c"]
        cls.core = cls.folder / "libcore.so"
        made("cc", "-O1", "-shared", "-fPIC", f"-I{INCLUDE}", f"-I{ROOT}", *core, "-o", cls.core)
        cls.say_error = cls.folder / "say_error"
        made("c++", "-std=c++17", f"-I{INCLUDE}", f"-I{ROOT}/runtime-lite/cpp", ROOT / "tests/bindings/say_error.cpp",
             cls.core, f"-Wl,-rpath,{cls.folder}", "-ldl", "-o", cls.say_error)

    def source(self, case, folder):
        if isinstance(case.model, Path):
            return case.model
        if isinstance(case.model, str):
            path = folder / "model.relax"
            path.write_text(case.model)
        else:
            path = folder / "model.onnx"
            save(case.model, path)
        return path

    def python(self, library, inputs):
        with self.assertRaises(relax_rt.RlxError) as caught:
            relax_rt.load(library)(*inputs)
        return str(caught.exception)

    def cpp(self, library, inputs, folder):
        words = []
        for i, array in enumerate(inputs):
            path = folder / f"{i}.raw"
            path.write_bytes(array.tobytes())
            code, bits = relax_rt.CODES[array.dtype]
            words += [code, bits, ",".join(map(str, array.shape)) or "-", path]
        done = run(self.say_error, library, f"{library.stem}_model", *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout.strip()

    def typed(self, library, header, inputs):
        """The call of the header, whose struct of arguments is read from it."""
        loaded = relax_rt.load(library)
        entry = loaded.functions["main"]
        text = header.read_text()
        run_name = re.search(r"int32_t (\w+_run_\w+)\(", text)[1]
        arguments = re.search(r"typedef struct \w+_args {(.*?)}", text, re.S)[1]
        fields = re.findall(r"^  (const )?(\w+)(\*)? (\w+);", arguments, re.M)
        names = [re.sub(r"\W", "_", spec.name.decode()) for spec in entry.inputs]
        symbols = {symbol.name.decode(): k for k, symbol in enumerate(entry.symbols)}
        values = (c.c_int64 * max(len(symbols), 1))()
        for spec, array in zip(entry.inputs, inputs):
            for axis in range(spec.ndim):
                dim = c.cast(spec.dims, c.POINTER(c.c_int64))[axis]
                if -1 - dim in range(len(symbols)):
                    values[-1 - dim] = array.shape[axis]
        room, kept = np.zeros(1 << 16, np.uint8), []
        words = (c.c_uint64 * len(fields))()
        for i, (_, kind, pointer, name) in enumerate(fields):
            if not pointer:
                words[i] = values[symbols[name]] & (2**64 - 1)
            elif name in names:
                kept.append(np.ascontiguousarray(inputs[names.index(name)]))
                words[i] = kept[-1].ctypes.data
            elif kind == "int64_t" and name.endswith("_dims"):
                kept.append(np.full(8, 1024, np.int64))
                words[i] = kept[-1].ctypes.data
            else:
                words[i] = room.ctypes.data
        error = relax_rt.Error()
        arena = relax_rt.aligned(1 << 22, 64)
        lent = []

        def lend(_, size, align):
            lent.append(relax_rt.aligned(size, max(align, 1)))
            return lent[-1].ctypes.data

        alloc = relax_rt.ALLOC(lend)
        context = relax_rt.Context(abi_version=1, struct_size=c.sizeof(relax_rt.Context), error=c.pointer(error),
                                   arena=arena.ctypes.data, arena_bytes=1 << 22, alloc=c.cast(alloc, c.c_void_p))
        status = loaded.library[run_name](c.byref(context), words)
        self.assertEqual(status, error.code)
        return str(relax_rt.RlxError(entry, error))

    def answers(self, case, folder):
        source, library = self.source(case, folder), folder / "m.so"
        made(RELAXC, source, "-o", library, "--name", "m", *case.flags)
        yield "python", self.python(library, case.inputs)
        yield "cpp", self.cpp(library, case.inputs, folder)
        if "typed" in case.ways:
            yield "typed", self.typed(library, folder / "m.h", case.inputs)
        from_c = folder / "c" / "m.so"
        from_c.parent.mkdir()
        made(RELAXC, source, "-o", folder / "m.c", "--name", "m", *case.flags)
        made("cc", "-O1", "-march=native", "-shared", "-fPIC", f"-I{INCLUDE}", folder / "m.c", self.core,
             f"-Wl,-rpath,{self.folder}", "-lm", "-o", from_c)
        yield "c", self.python(from_c, case.inputs)
        files = []
        for i, array in enumerate(case.inputs):
            files.append(folder / f"{i}.npy")
            np.save(files[-1], array)
        for way, flags in (("run", []), ("interpret", ["--interpret"])):
            if way in case.ways:
                done = run(RELAXC, "run", *flags, *case.flags, source, *files)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                yield way, done.stderr.strip().splitlines()[-1]

    def test_every_case_says_its_sentence_in_every_way(self):
        for number, case in enumerate(CASES):
            folder = self.folder / str(number)
            folder.mkdir()
            for way, said in self.answers(case, folder):
                with self.subTest(case.said, way=way):
                    sentence = case.typed if way == "typed" else case.said
                    self.assertTrue(said.endswith(f": {sentence} ({case.status})"), said)

    # Findings that no program is known to reach, since the compiler proves them or refuses the program.
    UNREACHED = {"Relation": "facts that a function assumes of its symbols come from operators' expansions alone"}

    def test_every_finding_has_a_case(self):
        text = (ROOT / "compiler/support/findings.h").read_text()
        kinds = re.findall(r"^  X\((\w+), ", text, re.M)
        self.assertGreater(len(kinds), 9)
        reached = {case.finding for case in CASES if case.finding}
        self.assertEqual(set(kinds), reached | set(self.UNREACHED))

    def test_every_status_has_its_name_in_c(self):
        name_of = c.CDLL(str(self.core)).rlx_status_name
        name_of.restype = c.c_char_p
        known = {number: name for number, (name, _) in relax_rt.STATUSES.items()}
        known[0] = "OK"
        for number in [*range(-2, 80), 2**31 - 1]:
            self.assertEqual(name_of(number).decode(), known.get(number, "UNKNOWN"))

    def test_every_status_has_a_sentence_and_it_is_the_same_in_c(self):
        header = (INCLUDE / "relax_rt.h").read_text()
        statuses = {name: int(number) for name, number in re.findall(r"^  RLX_([A-Z_]+) = (\d+),", header, re.M)}
        known = {name: number for number, (name, _) in relax_rt.STATUSES.items()}
        self.assertEqual(known, {name: number for name, number in statuses.items() if number})
        source, library = self.folder / "state.relax", self.folder / "state.so"
        source.write_text(BOUNDED)
        made(RELAXC, source, "-o", library)
        loaded = relax_rt.load(library)
        entry = loaded.functions["main"]
        core = c.CDLL(str(self.core))
        text = core.rlx_error_text
        text.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_char_p, c.c_size_t]
        text.restype = c.c_size_t
        count = 0
        for code in known.values():
            for tensor, axis, symbol, node in [(t, a, s, n) for t in (-1, 0, 2) for a in (-1, 1) for s in (-1, 0)
                                               for n in (-1, 0, 1, 77)]:
                for expected, actual in ((3, 7), (7, 3), (0, 0), (-2, -1), (0x10010, 2), (2**63 - 1, -2**63)):
                    error = relax_rt.Error(code, tensor, axis, symbol, node, expected, actual)
                    said = str(relax_rt.Record(entry, error))
                    room = c.create_string_buffer(400)
                    length = text(c.byref(loaded.record), c.byref(entry.record), c.byref(error), room, 400)
                    self.assertEqual(room.value.decode(), said, (code, tensor, axis, symbol, node, expected, actual))
                    self.assertEqual(length, len(said))
                    self.assertNotIn("unknown", said)
                    short = c.create_string_buffer(b"#" * 12)
                    cut = text(c.byref(loaded.record), c.byref(entry.record), c.byref(error), short, 10)
                    self.assertEqual(cut, length)
                    self.assertEqual(short.raw[:10], said.encode()[:9] + b"\0")
                    self.assertEqual(short.raw[10:12], b"##")
                    count += 1
        self.assertGreater(count, 5000)


unittest.main()
