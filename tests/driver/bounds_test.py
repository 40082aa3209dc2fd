"""Where bounds of dims would make more known when compiling, one note says which, with flags that do it; and there is
none where nothing is gained.

Usage: bounds_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import shlex
import subprocess

import program
import wire
from program import ProgramTest

NOTE = re.compile(r"^(.*): note: (.*) no bound(.*); (--dim .*?)( and so on)?, for example, would (.*)$", re.M)


def function(name, parameters, lines):
    """A function of the text IR; `lines` make y."""
    body = "".join(f"        {line}\n" for line in lines)
    return (f"@R.function\ndef {name}({parameters}):\n    with R.dataflow():\n{body}        R.output(y)\n"
            f"    return y\n\n")


def tensor(name, dims):
    return f'{name}: R.Tensor(({", ".join(dims)},), "float32")'


# What has an arena: a value that is needed twice, by a sum of it and by what the sum divides.
NORMALIZE = ["e = R.exp({x})", "s = R.sum(e, axis=[{last}], keepdims=True)", "t = R.divide(e, s)",
             "q = R.matmul(t, {w})", "y = R.matmul(q, {w})"]


def normalize(name="main", dims=('"n"', '"m"'), x="x"):
    lines = [line.format(x=x, w="w", last=len(dims) - 1) for line in NORMALIZE]
    return function(name, tensor(x, dims) + ", " + tensor("w", (dims[-1], dims[-1])), lines)


# Sizes as exports of convolutions write them; each further one is harder to compare.
PYRAMID = function("main", tensor("x", ("1", "4", '"h"', '"w"')) + ", " + tensor("k", ("4", "4", "3", "3")), [
    "a = R.nn.conv2d(x, k, strides=[2, 2], padding=[1, 1, 1, 1])",
    "b = R.nn.conv2d(a, k, strides=[2, 2], padding=[1, 1, 1, 1])",
    "c = R.nn.conv2d(b, k, strides=[2, 2], padding=[1, 1, 1, 1])",
    "d = R.nn.conv2d(R.tanh(c), k, padding=[1, 1, 1, 1])",
    "y = R.add(c, d)"])


def many(count):
    """Inputs with a dim each; all dims are in the arena's size."""
    names = [f"d{i}" for i in range(count)]
    inputs = [tensor(f"x{i}", (f'"{name}"', "8")) for i, name in enumerate(names)]
    parameters = ", ".join([*inputs, tensor("w", ("8", "8"))])
    lines = []
    for i in range(count):
        lines += [f"a{i} = R.matmul(x{i}, w)", f"b{i} = R.matmul(a{i}, w)"]
    parts = ", ".join(f"b{i}" for i in range(count))
    return function("main", parameters, [*lines, f"y = R.concat(({parts}), axis=0)"])


# A filter of 700 samples: what the guard leaves of "len" begins there.
LONG = function("main", ", ".join([tensor("x", ("1", "4", '"len"')), tensor("k", ("4", "4", "700")),
                                   tensor("l", ("4", "4", "3"))]), [
    "a = R.nn.conv1d(x, k)", "b = R.nn.conv1d(R.tanh(a), l, padding=[1, 1])", "y = R.add(R.tanh(a), b)"])

TWICE = [wire.node("MatMul", ["x", "w"], ["a"]), wire.node("MatMul", ["a", "w"], ["b"]),
         wire.node("Add", ["a", "b"], ["y"])]


class Bounds(ProgramTest):
    def note(self, *arguments):
        """The one note, with the flags that it proposes; nothing if there is none."""
        err = self.compiles(*arguments).err
        self.assertEqual(err.count("no bound"), len(NOTE.findall(err)), err)
        self.assertLessEqual(err.count("note"), 1, err)
        return NOTE.search(err)

    def arena_max(self, header="m.h"):
        found = re.search(r"_ARENA_MAX(?:_OF_ALL)? (\d+)", (self.path / header).read_text())
        return None if found is None else int(found[1])

    def helps(self, source, *flags):
        """The note's example takes the place of what is said of the same dims, gives the arena that it says, and leaves
        nothing to be noted."""
        note = self.note(source, "-o", "m.o", *flags)
        self.assertIsNotNone(note, source)
        self.assertIsNone(self.arena_max(), "the arena has a bound already")
        self.assertEqual(note[1], source)
        proposed = shlex.split(note[4])
        dims = {flag.split("=")[0] for flag in proposed[1::2]}
        kept = [word for flag in flags[1::2] if flag.split("=")[0] not in dims for word in ("--dim", flag)]
        self.assertIsNone(self.note(source, "-o", "m.o", *kept, *proposed), proposed)
        said = int(re.search(r"by (\d+) bytes", note[6])[1])
        self.assertLessEqual(self.arena_max(), said)
        self.assertGreater(2 * self.arena_max(), said)
        return note, proposed

    def test_the_example_of_the_note_does_what_it_says(self):
        for name, text, dims in (("normalize", normalize(), "nm"), ("pyramid", PYRAMID, "hw")):
            with self.subTest(name):
                self.write(f"{name}.relax", text)
                note, proposed = self.helps(f"{name}.relax")
                self.assertEqual({flag.split("=")[0] for flag in proposed[1::2]}, set(dims))
                for dim in dims:
                    self.assertIn(f"'{dim}'", note[2])

    def test_the_example_starts_where_guards_start(self):
        self.write("long.relax", LONG)
        _, proposed = self.helps("long.relax")
        lower, upper = map(int, re.fullmatch(r"len=(\d+)\.\.(\d+)", proposed[1]).groups())
        self.assertGreaterEqual(lower, 700)
        self.assertGreater(upper, lower)

    def test_the_example_keeps_what_is_declared(self):
        self.write("m.relax", normalize())
        _, proposed = self.helps("m.relax", "--dim", "n=1000..:64", "--dim", "m=..32")
        self.assertEqual(len(proposed), 2, proposed)  # of n alone
        lower, upper = map(int, re.fullmatch(r"n=(\d+)\.\.(\d+):64", proposed[1]).groups())
        self.assertEqual((lower % 64, upper % 64, lower >= 1000), (0, 0, True))

    def test_one_dim_that_is_left_open_is_named_alone(self):
        self.write("m.relax", normalize())
        note, proposed = self.helps("m.relax", "--dim", "m=1..64")
        self.assertEqual((note[2], proposed[1].split("=")[0]), ("'n' has", "n"))

    def test_bounded_dims_get_no_note(self):
        self.write("pyramid.relax", PYRAMID)
        self.write("m.relax", normalize())
        self.write("many.relax", many(12))
        for source, dims in (("pyramid.relax", "hw"), ("m.relax", "nm"), ("many.relax", [f"d{i}" for i in range(12)])):
            for bound in ("32..512", "64", "1..1000000:4"):
                flags = [word for dim in dims for word in ("--dim", f"{dim}={bound}")]
                self.assertIsNone(self.note(source, "-o", "m.o", *flags), (source, bound))

    def test_no_note_where_the_arena_needs_no_bound(self):
        for source in ("relu.relax", "relu.onnx"):  # no arena, and no open dim
            self.assertIsNone(self.note(source, "-o", "m.o"))
        self.write("fixed.relax", function("main", tensor("x", ('"n"', "4")) + ", " + tensor("w", ("64", "64")), [
            "p = R.matmul(R.tanh(w), w)", "q = R.sum(R.matmul(p, w))", "y = R.add(x, q)"]))
        self.assertIsNone(self.note("fixed.relax", "-o", "m.o"))
        self.assertGreater(self.arena_max(), 0)

    def test_no_note_where_no_header_could_say_it(self):
        self.write("m.relax", normalize())
        for flags in (["m", "--cc", self.linker()], ["m2.relax"], ["m.dot", "--emit", "dot"]):
            self.assertIsNone(self.note("m.relax", "-o", *flags))

    def test_many_dims_are_one_note(self):
        self.write("many.relax", many(24))
        note = self.note("many.relax", "-o", "m.o")
        self.assertEqual(len(shlex.split(note[4])), 8)
        self.assertEqual((note[2].count("'"), note[5]), (8, " and so on"))
        self.assertIn("and 20 more have", note[2])

    def test_what_moves_the_arena_most_comes_first(self):
        inputs = {"x": ('"few"', "4"), "z": ('"much"', "64"), "v": ("4", "4"), "w": ("64", "64")}
        self.write("m.relax", function("main", ", ".join(tensor(name, dims) for name, dims in inputs.items()), [
            "a = R.sum(R.matmul(R.matmul(x, v), v))", "b = R.sum(R.matmul(R.matmul(z, w), w))",
            "y = R.add(a, b)"]))
        note = self.note("m.relax", "-o", "m.o")
        self.assertEqual(note[2], "'much' and 'few' have")

    def test_several_functions_are_one_note(self):
        self.write("m.relax", normalize("one", ('"n"', '"m"')) + normalize("two", ('"n"', '"k"')))
        note, _ = self.helps("m.relax")
        self.assertIn("so the arena of 'one' and 'two' has none", note[3].lstrip(", "))

    def test_several_models_are_named_by_the_flags(self):
        weights = wire.tensor("w", [8, 8], bytes(256))
        for name in ("first", "second"):
            self.write(f"{name}.onnx", wire.model(
                TWICE,
                [wire.value_info("x", ("n", 8))], [wire.value_info("y", ("n", 8))], [weights]))
        note = self.note("first.onnx", "second.onnx", "-o", "m.a")
        proposed = shlex.split(note[4])
        self.assertEqual([flag.split("=")[0] for flag in proposed[1::2]], ["first:n", "second:n"])
        self.assertIsNone(self.note("first.onnx", "second.onnx", "-o", "m.a", *proposed))

    def test_names_are_words_of_a_shell(self):
        weights = wire.tensor("w", [8, 8], bytes(256))
        self.write("odd.onnx", wire.model(
            TWICE,
            [wire.value_info("x", ("it's $n", 8))], [wire.value_info("y", ("it's $n", 8))], [weights]))
        note = self.note("odd.onnx", "-o", "m.o")
        self.assertIsNone(self.note("odd.onnx", "-o", "m.o", *shlex.split(note[4])))

    def test_check_says_it_too(self):
        self.write("m.relax", normalize())
        self.assertRegex(self.compiles("m.relax", "--check").err, NOTE)
        remarks = json.loads(self.compiles("m.relax", "--check=json").out)["remarks"]
        self.assertEqual(len(remarks), 1)
        self.assertIn("--dim m=", remarks[0])

    def test_the_header_says_why_there_is_no_type_for_the_arena(self):
        self.write("m.relax", normalize())
        self.compiles("m.relax", "-o", "m.o")
        header = (self.path / "m.h").read_text()
        self.assertIn("There is no type m_arena, since 'n', 'm' have no bound: ask m_arena_bytes below", header)
        self.assertNotIn("} m_arena;", header)
        self.compiles("m.relax", "-o", "m.o", "--dim", "n=1..8", "--dim", "m=1..8")
        header = (self.path / "m.h").read_text()
        self.assertIn("} m_arena;", header)
        self.assertNotIn("There is no type", header)

    def test_a_long_dim_is_called_by_its_position_in_c(self):
        name = " + ".join(f"floor(width{i}/2)" for i in range(60))
        self.assertGreater(len(name), 1000)
        weights = wire.tensor("w", [8, 8], bytes(256))
        self.write("long.onnx", wire.model(TWICE, [wire.value_info("x", (name, 8))], [wire.value_info("y", (name, 8))],
                                           [weights]))
        self.compiles("long.onnx", "-o", "m.o", "--rust", "m.rs")
        header = (self.path / "m.h").read_text()
        self.assertIn("  int64_t dim_0;\n", header)
        self.assertIn("#define M_SYMBOL_DIM_0 0\n", header)
        self.assertIn(f'dim    dim_0: 0.., named "{name[:60]}..." ({len(name)} characters)', header)
        self.assertIn("input  x: float32 [dim_0, 8]", header)
        self.assertLessEqual(max(map(len, header.splitlines())), 200)
        self.assertIn("dim_0: i64", (self.path / "m.rs").read_text())
        self.write("m.c", '#include "m.h"\nint main(void) { m_args args = {.dim_0 = 1}; return args.dim_0 != 1; }\n')
        subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-I", program.INCLUDE, "-fsyntax-only", "m.c"],
                       cwd=self.path, check=True)

    def test_a_note_is_not_a_warning(self):
        self.write("m.relax", normalize())
        self.assertIsNotNone(self.note("m.relax", "-o", "m.o", "-Werror"))


if __name__ == "__main__":
    program.main()
