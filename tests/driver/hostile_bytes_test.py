"""Files whose bytes were changed, cut or made to ask for much: compiled or refused within 10 s and 1 GB, by a message and never
by a crash. `Sample` is for every run, `Every` for the long one. tests/fuzz tries readers alone; here all passes run.

Usage: hostile_bytes_test.py RELAXC RUNTIME Sample|Every"""

import random
import struct
import zipfile
from pathlib import Path

import program
import wire
from hostile import HostileTest, mutated
from program import RUNTIME

ROOT = Path(__file__).resolve().parents[2]
LINEAR = """@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")):
    R.func_attr({"num_input": 1})
    return R.matmul(x, w)
"""


def seeds():
    """Small models of both formats by name."""
    folders = [ROOT / "tests/fuzz/corpus/import_onnx", ROOT / "tests/fuzz/corpus/import_tflite"]
    found = {path.name: path.read_bytes() for folder in folders for path in sorted(folder.iterdir())}
    found["digits.onnx"] = (ROOT / "examples/digits/digits.onnx").read_bytes()
    found["streaming.onnx"] = wire.streaming()
    found["open.onnx"] = wire.model(
        [wire.node("Softmax", ["x"], ["a"]), wire.node("Reshape", ["a", "s"], ["b"]), wire.node("Concat", ["b", "b"], ["y"], attributes=[
            wire.int_attribute("axis", 0)])], [wire.value_info("x", ("n", "k"))], [wire.value_info("y", ("p", "q"))],
        [wire.tensor("s", (2,), struct.pack("<2q", -1, 4), wire.INT64)])
    return {name: content for name, content in found.items() if content and name != "text.onnx"}


class HostileBytes(HostileTest):
    def is_compiled(self, name, content):
        """Changes of what is refused anyway find little."""
        self.write(name, content)
        return self.relaxc(name, "--check", "--untrusted").code == 0

    def try_mutations(self, count, seed):
        numbers, compiled, models = random.Random(seed), 0, seeds()
        names = [name for name in sorted(models) if self.is_compiled(name, models[name])]
        self.assertGreater(len(names), 5)
        for i in range(count):
            name = numbers.choice(names)
            content = mutated(models[name], numbers)
            form = numbers.choice(("m.o", "m.c", "m.relax"))
            with self.subTest(i=i, name=name):
                self.write(name, content)
                done = self.answer(name, "-O1", "-o", form, "--name", "m", "--untrusted")
                compiled += done.returncode == 0
            for file in self.path.glob("m.*"):
                file.unlink()
        print(f"{count} models, {compiled} of them compiled")
        self.assertGreater(compiled, 0)
        self.assertLess(compiled, count)


class Sample(HostileBytes):
    def test_mutated_models(self):
        self.try_mutations(100, 11)

    def test_nests_of_json(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            for depth in (100, 100_000, 1_000_000):
                nest = opening * depth + "1" + closing * depth
                for text in (nest, opening * depth, '{"target": "cortex-m4", "about": ' + nest + "}"):
                    self.write("deep.json", text)
                    with self.subTest(opening=opening, depth=depth, text=text[:40]):
                        self.answer("relu.onnx", "-o", "m.o", "--target", "./deep.json", codes=(0, 1, 2))
                        self.answer("relu.onnx", "-o", "m.o", "--custom-op", "deep.json", codes=(1, 2))
        for opening, depth in (("[", 1_000_000), ('{"a":', 1_000_000)):
            head = (opening * depth).encode()
            self.write("deep.safetensors", struct.pack("<Q", len(head)) + head)
            self.write("linear.relax", LINEAR)
            self.answer("linear.relax", "--params", "deep.safetensors", "-o", "m.o", codes=(1,))
        self.write("deep.txt", "relaxc schedules 1\nkernel a\n" + "  x " + "[" * 1_000_000)
        self.answer("relu.onnx", "-o", "m.o", "--schedules", "deep.txt", codes=(1,))

    def test_bombs_of_zip(self):
        self.write("linear.relax", LINEAR)
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n"
        array = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(24)
        with zipfile.ZipFile(self.path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("w.npy", "w", force_zip64=True) as member:
                for _ in range(400):
                    member.write(bytes(1 << 20))
        with zipfile.ZipFile(self.path / "many.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(300):
                archive.writestr(f"{i}.npy", array + bytes(1 << 20))
        with zipfile.ZipFile(self.path / "nested.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("w.npy", (self.path / "bomb.npz").read_bytes())
        with zipfile.ZipFile(self.path / "whole.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("w.npy", array)
        whole = (self.path / "whole.npz").read_bytes()
        self.compiles("linear.relax", "--params", "whole.npz", "-o", "m.o")
        claims = [("bomb.npz", None), ("many.npz", None), ("nested.npz", None)]
        entry = whole.index(b"PK\1\2")
        for offset, size in ((20, 4), (24, 4), (42, 4), (28, 2), (30, 2)):  # packed and whole size, place, lengths of name and extra
            for value in (0, 1, (1 << 8 * size) - 1, (1 << 8 * size) - 2, 1 << (8 * size - 1)):
                at = entry + offset
                claims.append((f"claim_{offset}_{value}.npz", whole[:at] + value.to_bytes(size, "little") + whole[at + size:]))
        for name, content in claims:
            with self.subTest(name):
                if content is not None:
                    self.write(name, content)
                if content != whole:
                    self.answer("linear.relax", "--params", name, "-o", "k.o", codes=(1,))

    def test_places_of_external_data(self):
        self.write("w.bin", bytes(64))
        huge = (2**63 - 1, 2**63, 2**64 - 1, 2**64 - 8, 2**64, 2**100, -1, 56, 57, 60)
        for offset in (0, *huge):
            for length in (8, *huge):
                with self.subTest(offset=offset, length=length):
                    data = wire.external_tensor("w", (2,), "w.bin", offset=offset, length=length)
                    self.write("m.onnx", wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (2,))],
                                                    [wire.value_info("y", (2,))], [data]))
                    fits = length == 8 and offset in (0, 56)
                    self.answer("m.onnx", "--check", codes=(0,) if fits else (1,))

    def test_nests_of_protobuf(self):
        """Subgraphs in subgraphs, types of sequences of sequences, and unknown groups."""
        for depth in (3, 20, 40, 1000, 20_000):
            graph = wire.fields(1, [wire.node("Relu", ["x"], ["y"])]) + wire.field(12, wire.value_info("y", (2,)))
            info = wire.field(1, wire.field(1, wire.FLOAT))
            for _ in range(min(depth, 5000)):
                branch = wire.field(1, "then_branch") + wire.field(6, graph) + wire.field(20, 5)
                graph = wire.field(1, wire.node("If", ["c"], ["y"], attributes=[branch])) + wire.field(12, wire.value_info("y", (2,)))
                info = wire.field(4, wire.field(1, info))
            group = b"\x0b" * depth + b"\x0c" * depth
            for content in (wire.field(1, 8) + wire.field(7, graph) + wire.field(8, wire.field(2, 16)),
                            wire.field(1, 8) + wire.field(7, wire.field(11, wire.field(1, "x") + wire.field(2, info))) + wire.field(8, wire.field(2, 16)),
                            wire.field(1, 8) + group + wire.relu((2,))):
                self.write("deep.onnx", content)
                with self.subTest(depth=depth, size=len(content)):
                    self.answer("deep.onnx", "-o", "m.o", "--untrusted")

    def test_programs_with_many_of_one_thing(self):
        """Parameters, open dims and closures. Where each was compared with every other one, they took two to four times as long."""
        dims = ", ".join(f'p{i}: R.Tensor(("n{i}",), "float32")' for i in range(6000))
        parameters = ", ".join(f"%p{i}: Tensor[(4), float32]" for i in range(25_000))
        closures = "".join(f"let %f{i} = fn (%y: Tensor[(4), float32]) {{ add(%y, %x) }};\nlet %z{i} = %f{i}(%x);\n" for i in range(2000))
        head = '#[version = "0.0.5"]\n'
        programs = {"dims.relax": f"@R.function\ndef main({dims}):\n    return R.exp(p0)\n",
                    "parameters.relay": f"{head}def @main({parameters}) {{ add(%p0, %p1) }}\n",
                    "closures.relay": f"{head}def @main(%x: Tensor[(4), float32]) {{\n{closures}%z0\n}}\n"}
        for name, text in programs.items():
            self.write(name, text)
            with self.subTest(name):
                self.answer(name, "-o", "m.c", codes=(0,), processor=4)

    def test_open_parts_of_a_concatenation(self):
        """The place of each part is the sum of the sizes before it. Where it was written out, and each symbol asked for what the
        sum of all says of it, 700 parts took 7 s and 2,000 more than 100."""
        count = 1000
        parts = [f'p{i}: R.Tensor(("n{i}",), "float32")' for i in range(count)]
        names = ", ".join(f"p{i}" for i in range(count))
        self.write("parts.relax", f"@R.function\ndef main({', '.join(parts)}):\n    y = R.exp(R.concat([{names}]))\n    w = y + R.sum(y)\n"
                                  "    return R.concat([w, w])\n")
        self.answer("parts.relax", "-o", "m.c", codes=(0,), processor=4)

    def test_functions_of_one_object(self):
        """Each entry asked for the names of all others, which took 23 s for 600 of them."""
        self.write("functions.relax", "".join(
            f'@R.function\ndef f{i}(x: R.Tensor((4,), "float32")):\n    return R.exp(x)\n' for i in range(1200)))
        self.answer("functions.relax", "-o", "m.c", codes=(0,), processor=5)

    def test_dims_that_grow(self):
        """Each dim is an expression of the one before it. Where it was one of all before, 128 slices took 10 s."""
        count = 1000
        body = "".join(f"    x{i + 1} = R.strided_slice(x{i}, axes=[0], begin=[1], end=[-1])\n" for i in range(count))
        self.write("chain.relax", f'@R.function\ndef main(x0: R.Tensor(("n",), "float32")):\n{body}    return x{count}\n')
        self.answer("chain.relax", "--check", codes=(0,), processor=5)
        nodes = [wire.node("Slice", [f"x{i}", "begin", "end"], [f"x{i + 1}"]) for i in range(count)]
        bounds = [wire.tensor(name, (1,), struct.pack("<q", value), wire.INT64) for name, value in (("begin", 1), ("end", -1))]
        self.write("chain.onnx", wire.model(nodes, [wire.value_info("x0", ("n",))], [wire.value_info(f"x{count}", ("m",))], bounds))
        self.answer("chain.onnx", "--check", codes=(0,), processor=5)

    def test_dims_that_are_computed(self):
        """Each slice ends or begins where an input says. 500 took 15 s where each size was evaluated and asked for anew, and 1,000
        23 s where its symbols were replaced anew in all of it; at -O0 and -O1 LLVM took minutes and 21 s for blocks of more
        than 1,000 checked operations."""
        for name, count in (("slices.relax", 350), ("more.relax", 1000)):
            body = "".join(f"    x{i + 1} = R.strided_slice(x{i}, axes=[0], begin=[m], end=[-1])\n" for i in range(count))
            self.write(name, f'@R.function\ndef main(x0: R.Tensor(("n",), "float32"), s: R.Shape(["m"])):\n{body}    return x{count}\n')
        self.answer("more.relax", "--check", codes=(0,), processor=10)
        count = 350
        nodes = [wire.node("Slice", [f"x{i}", "begin", f"e{i}"], [f"x{i + 1}"]) for i in range(count)]
        inputs = [wire.value_info("x0", ("n",))] + [wire.value_info(f"e{i}", (1,), wire.INT64) for i in range(count)]
        self.write("slices.onnx", wire.model(nodes, inputs, [wire.value_info(f"x{count}", ("m",))],
                                             [wire.tensor("begin", (1,), struct.pack("<q", 1), wire.INT64)]))
        for name in ("slices.relax", "slices.onnx"):
            for flags in (["-O0", "-o", "m.o"], ["-O1", "-o", "m.o"], ["-o", "m.c"]):
                with self.subTest(name=name, flags=flags):
                    self.answer(name, *flags, codes=(0,), processor=8)

    def test_products_that_grow(self):
        """Each dim is a product of all before it and of a minimum. 64 took 27 s where every proof tried the bounds of every factor."""
        step = "R.reshape(R.strided_slice(R.expand_dims(x{0}, 0) * R.expand_dims(x{0}, 1), axes=[0], begin=[0], end=[3]), [-1])"
        body = "".join(f"    x{i + 1} = {step.format(i)}\n" for i in range(64))
        self.write("products.relax", f'@R.function\ndef main(x0: R.Tensor(("n",), "float32")):\n{body}    return x64\n')
        self.answer("products.relax", "--check", codes=(0,), processor=6)

    def test_branches_that_grow(self):
        """Each bound is the larger one of two that contain the bound before. Where it was written as a maximum, 300 branches
        took 20 s, and 100 whose lengths cannot be compared 10 s."""
        parameters = "".join(f', {name}: R.Tensor(("{name}_",), "float32")' for name in "yz") + ', c: R.Tensor((), "bool")'
        for count, then, otherwise, code in ((300, "R.concat([x{0}, x{0}])", "R.exp(x{0})", 1),
                                             (300, "R.strided_slice(x{0}, axes=[0], begin=[1], end=[-1])", "R.exp(x{0})", 0),
                                             (100, "R.concat([x{0}, y])", "R.concat([x{0}, z])", 0)):
            body = "".join(f"    if c:\n        x{i + 1} = {then.format(i)}\n    else:\n        x{i + 1} = {otherwise.format(i)}\n"
                           for i in range(count))
            self.write("branches.relax", f'@R.function\ndef main(x0: R.Tensor(("n",), "float32"){parameters}):\n{body}    return x{count}\n')
            with self.subTest(then):
                self.answer("branches.relax", "--check", codes=(code,), processor=5)

    def test_equal_dims_that_grow(self):
        """Dims of two chains are equal, and stay so where they have names: their sum needs no broadcast."""
        body = "".join(f"    {x}{i + 1} = R.strided_slice({x}{i}, axes=[0], begin=[-900], end=[-1])\n" for x in "ab" for i in range(30))
        self.write("two.relax", '@R.function\ndef main(a0: R.Tensor(("n",), "float32")):\n    b0 = R.exp(a0)\n'
                                f"{body}    return R.add(a30, b30)\n")
        self.answer("two.relax", "--emit=relax", "-o", "printed.relax", codes=(0,), processor=5)
        printed = (self.path / "printed.relax").read_text()
        self.assertIn("R.match_cast", printed)
        self.assertNotIn("T.Select", printed)

    def test_calls_that_double(self):
        """Each function calls the one before it twice, and so squares by how much a length grows."""
        functions = "".join(f'@R.function(private=True)\ndef f{i}(x: R.Tensor(("n",), "float32")):\n    return f{i - 1}(f{i - 1}(x))\n'
                            for i in range(1, 16))
        self.write("calls.relax", f'@R.function(private=True)\ndef f0(x: R.Tensor(("n",), "float32")):\n    return R.concat([x, x])\n{functions}'
                                  '@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    return f15(x)\n')
        self.answer("calls.relax", "--check", codes=(1,), processor=5)

    def test_expressions_that_double(self):
        """Each prim func of a scalar calls the one before it twice, with other arguments."""
        functions = "".join(f"@T.prim_func(private=True)\ndef f{i}(x: T.float32) -> T.float32:\n"
                            f"    return f{i - 1}(x + T.float32({i})) * f{i - 1}(x * T.float32({i + 1})) + x\n" for i in range(1, 26))
        self.write("expressions.relax", f"@T.prim_func(private=True)\ndef f0(x: T.float32) -> T.float32:\n    return x * x\n{functions}"
                                        '@T.prim_func\ndef main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):\n'
                                        "    for i in range(4):\n        B[i] = f25(A[i]) + A[i]\n")
        self.answer("expressions.relax", "--check", codes=(1,), processor=5)

    def test_strings_of_c_functions(self):
        """Each byte is a store. Those of one string of 90,000 took the scheduler 10 s."""
        for length, count, code in ((90_000, 1, 1), (900, 95, 0)):
            calls = f'    T.evaluate(T.call_extern("int32", "say", A.data, "{"a" * length}"))\n' * count
            self.write("strings.relax", f'@T.prim_func\ndef main(A: T.Buffer((4,), "float32")):\n{calls}')
            self.answer("strings.relax", "-O1", "-o", "m.o", codes=(code,), processor=5)

    def test_unrolled_loops_that_multiply(self):
        """Six loops of 64 in each other are 2^36 copies, which did not end; neither did C where they are inside of lanes."""
        for outermost in ("range(4)", "T.vectorized(8)"):
            kinds = [outermost] + ["T.unroll(64)"] * 6
            loops = "".join("    " * (i + 1) + f"for i{i} in {kind}:\n" for i, kind in enumerate(kinds))
            self.write("loops.relax", '@T.prim_func\ndef main(A: T.Buffer((128,), "float32")):\n'
                                      f"{loops}{'    ' * 8}A[i0 + i2] = A[i0 + i2] + A[i0]\n")
            for flags in (["-O0", "-o", "m.o"], ["-O2", "-o", "m.o"], ["-O1", "--target", "cortex-m4", "-o", "m.o"], ["-o", "m.c"]):
                with self.subTest(outermost=outermost, flags=flags):
                    self.answer("loops.relax", *flags, codes=(0,), processor=8)
        for order in (("T.vectorized(1024)", "T.unroll(64)", "T.unroll(30)"), ("T.unroll(64)", "T.unroll(30)", "T.vectorized(1024)")):
            loops = "".join("  " * (i + 1) + f"for i{i} in {kind}:\n" for i, kind in enumerate(order))
            self.write("lanes.relax", f'@T.prim_func\ndef main(A: T.Buffer((4096,), "float32")):\n{loops}'
                                      "        A[i0 + i2] = A[i0 + i2] + A[i0 + i1 + i2]\n")
            with self.subTest(order=order):
                self.answer("lanes.relax", "-O2", "-o", "m.o", codes=(0,), processor=8)
        nests = "".join("  for i in T.unroll(64):\n    for j in T.unroll(30):\n      A[i + j] = A[i + j] + A[j]\n" for _ in range(1000))
        self.write("nests.relax", f'@T.prim_func\ndef main(A: T.Buffer((128,), "float32")):\n{nests}')
        for flags in (["-O1", "-o", "m.o"], ["-o", "m.c"]):
            with self.subTest("many nests", flags=flags):
                self.answer("nests.relax", *flags, codes=(0,), processor=10)

    def test_axes_that_double(self):
        """Blocks in blocks, whose axes are a sum and a difference of those around them."""
        lines = ["@T.prim_func", 'def main(A: T.Buffer((8,), "float32")):', '  with T.sblock("b0"):',
                 "    a0 = T.axis.spatial(1, 0)", "    b0 = T.axis.spatial(1, 0)"]
        for i in range(1, 60):
            indent = "  " * (i + 1)
            lines += [f'{indent}with T.sblock("b{i}"):', f"{indent}  a{i} = T.axis.spatial(8, a{i - 1} + b{i - 1})",
                      f"{indent}  b{i} = T.axis.spatial(8, a{i - 1} - b{i - 1})"]
        lines.append("  " * 61 + "A[a59] = T.float32(1)")
        self.write("axes.relax", "\n".join(lines) + "\n")
        self.answer("axes.relax", "-o", "m.o", codes=(0,))

    def test_arrays_that_were_changed(self):
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
        arrays = {"x.npy": b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(24), "x.pb": wire.tensor("x", (2, 3), bytes(24))}
        numbers = random.Random(5)
        self.write("relu.onnx", wire.relu((2, 3)))
        self.compiles("relu.onnx", "-o", "m", "--runtime", RUNTIME, "--cc", self.linker())
        for i in range(150):
            name = numbers.choice(list(arrays))
            self.write(name, mutated(arrays[name], numbers))
            with self.subTest(i=i, name=name):
                self.answer(name, command="./m")


class Every(HostileBytes):
    def test_mutated_models(self):
        self.try_mutations(10_000, 12)


if __name__ == "__main__":
    program.main()
