"""What a small input may cost: budgets in steps whose errors name them, and limits of time and memory that end in an
error and leave no file.

Usage: limits_test.py RELAXC RUNTIME [unittest's own]"""

import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

import program
import wire
from program import LINK_FLAGS, RELAXC, RUNTIME, ProgramTest
from wire import field, fields, node, value_info


def function(name, inputs, outputs, nodes):
    return (field(1, name) + fields(4, inputs) + fields(5, outputs) + fields(7, nodes) +
            fields(9, [field(1, domain) + field(2, version) for domain, version in (("", 13), ("f", 1))]) + field(10, "f"))


def with_functions(functions, call, opset=13):
    """y = call(x), with the functions in domain f."""
    graph = (fields(1, [call]) + field(2, "g") + fields(11, [value_info("x", (4,))]) + fields(12, [value_info("y", (4,))]))
    return (field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset)) +
            field(8, field(1, "f") + field(2, 1)) + fields(25, functions))


def calling(count, depth):
    """F0 is a Relu; each of F1, F2, … calls the one before `count` times."""
    functions = [function("F0", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]
    for level in range(1, depth + 1):
        names = ["a"] + [f"t{i}" for i in range(count - 1)] + ["b"]
        functions.append(function(f"F{level}", ["a"], ["b"], [
            node(f"F{level - 1}", [names[i]], [names[i + 1]], domain="f") for i in range(count)]))
    return with_functions(functions, node(f"F{depth}", ["x"], ["y"], domain="f"))


def graph_attribute(name, graph):
    return field(1, name) + field(6, graph) + field(20, 5)


def nested_ifs(depth, op="If"):
    """An If in both branches of an If, and so on."""
    body = fields(1, [node("Relu", ["x"], ["r"])]) + field(2, "g") + fields(12, [value_info("r", (4,))])
    for level in range(depth):
        inner = node(op, ["c"], ["r"], name=f"n{level}", attributes=[graph_attribute("then_branch", body),
                                                                     graph_attribute("else_branch", body)])
        body = fields(1, [inner]) + field(2, "g") + fields(12, [value_info("r", (4,))])
    call = node(op, ["c"], ["y"], attributes=[graph_attribute("then_branch", body), graph_attribute("else_branch", body)])
    return wire.model([call], [value_info("x", (4,)), value_info("c", (), 9)], [value_info("y", (4,))])


def nested_loops(depth):
    """A Loop that doubles what it carries, in the body of a Loop, and so on: bodies are read again as sizes settle."""
    def body(inner):
        nodes = [node("Identity", ["cond"], ["cond_out"])] + inner
        return (fields(1, nodes) + field(2, "b") +
                fields(11, [value_info("i", (), 7), value_info("cond", (), 9), value_info("v", ("k",))]) +
                fields(12, [value_info("cond_out", (), 9), value_info("w", ("m",))]))
    inner = [node("Concat", ["v", "v"], ["w"], attributes=[wire.int_attribute("axis", 0)])]
    for level in range(depth):
        inner = [node("Loop", ["n", "cond", "v"], ["w"], name=f"l{level}", attributes=[graph_attribute("body", body(inner))])]
    call = node("Loop", ["n", "c", "x"], ["y"], attributes=[graph_attribute("body", body(inner))])
    return wire.model([call], [value_info("x", (4,)), value_info("n", (), 7), value_info("c", (), 9)],
                      [value_info("y", ("q",))])


def header(text):
    return struct.pack("<Q", len(text)) + text


def zipped(members, overlap=False):
    """An archive of deflated .npy files; with `overlap` all of them are the bytes of the first."""
    out, directory, first = b"", b"", None
    for name, data in members:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        at = len(out)
        head = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 0, zlib.crc32(data), len(packed), len(data), len(name), 0)
        if overlap and first is not None:
            at = first
        else:
            first = at
            out += head + name.encode() + packed
        directory += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 8, 0, 0, zlib.crc32(data), len(packed), len(data),
                                 len(name), 0, 0, 0, 0, 0, at) + name.encode()
    return out + directory + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, len(members), len(members), len(directory), len(out), 0)


def npy(count):
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count},), }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + bytes(count)


class Budgets(ProgramTest):
    def refused_soon(self, text, *arguments):
        begin = time.process_time(), time.monotonic()
        done = self.refuses(1, text, *arguments)
        self.assertLess(time.monotonic() - begin[1], 30)  # of a loaded machine; unbounded ones take hours
        return done

    def test_functions_that_call_functions(self):
        cases = 0
        for count in (2, 3, 10):
            for depth in (24, 40, 60):
                with self.subTest(count=count, depth=depth):
                    self.write("laughs.onnx", calling(count, depth))
                    done = self.refused_soon("--max-nodes", "laughs.onnx", "-o", "m.o")
                    self.assertIn(f"this call of 'F{depth}'", done.err)
                    cases += 1
        for count, depth in ((1, 60), (2, 5), (3, 3)):
            self.write("few.onnx", calling(count, depth))
            self.compiles("few.onnx", "-o", "m.o")
            # The call, and each call below it with the Relu of the last.
            nodes = sum(count**level for level in range(depth + 1)) + count**depth
            self.compiles("few.onnx", "-o", "m.o", f"--max-nodes={nodes}")
            done = self.relaxc("few.onnx", "-o", "m.o", f"--max-nodes={nodes - 1}")
            self.assertEqual(done.code, 1)
            self.assertIn(f"the budget (--max-nodes) is {nodes - 1}", done.err)
            cases += 3
        print(f"{cases} models of functions")

    def test_a_chain_of_calls_that_is_too_deep(self):
        for depth in (64, 100, 1000, 5000):
            self.write("deep.onnx", calling(1, depth))
            self.refused_soon("functions call each other", "deep.onnx", "-o", "m.o")

    def test_branches_in_branches(self):
        for depth in (4, 8):
            self.write("ifs.onnx", nested_ifs(depth))
            self.refused_soon("the budget (--max-nodes) is 10", "ifs.onnx", "-o", "m.o", "--max-nodes=10")

    def test_branches_that_call(self):
        """Each function calls the one before in both branches: 2^depth paths of a file of 3 KB."""
        for depth in (16, 40):
            functions = [function("F0", ["a", "c"], ["b"], [node("Relu", ["a"], ["b"])])]
            for level in range(1, depth + 1):
                call = node(f"F{level - 1}", ["a", "c"], ["r"], domain="f")
                body = fields(1, [call]) + field(2, "g") + fields(12, [value_info("r", (4,))])
                branches = [graph_attribute("then_branch", body), graph_attribute("else_branch", body)]
                functions.append(function(f"F{level}", ["a", "c"], ["b"], [node("If", ["c"], ["b"], attributes=branches)]))
            graph = (fields(1, [node(f"F{depth}", ["x", "c"], ["y"], domain="f")]) + field(2, "g") +
                     fields(11, [value_info("x", (4,)), value_info("c", (), 9)]) + fields(12, [value_info("y", (4,))]))
            self.write("paths.onnx", field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)) +
                       field(8, field(1, "f") + field(2, 1)) + fields(25, functions))
            done = self.refused_soon("the budget (--max-nodes) is 200000", "paths.onnx", "-o", "m.o")
            self.assertIn(f"this call of 'F{depth}'", done.err)

    def test_loops_in_loops(self):
        for depth in (1, 4, 12):
            self.write("loops.onnx", nested_loops(depth))
            done = self.relaxc("loops.onnx", "-o", "m.o", "--max-nodes=2000", "--time-limit=60")
            self.assertIn(done.code, (0, 1), done.err)
            self.assertNotIn("--time-limit", done.err)

    def test_archives_that_are_larger_than_they_look(self):
        text = '@R.function\ndef main(x: R.Tensor((4,), "uint8"), w: R.Tensor((4,), "uint8")) -> R.Tensor((4,), "uint8"):\n' \
               "    return R.add(x, w)\n"
        self.write("p.relax", text)
        self.write("bomb.npz", zipped([(f"w{i}.npy", npy(200 << 20)) for i in range(2)]))
        self.refused_soon("the budget of a file of", "p.relax", "--params", "bomb.npz", "-o", "m.o")
        self.write("shared.npz", zipped([(f"w{i}.npy", npy(1 << 20)) for i in range(300)], overlap=True))
        self.refused_soon("share bytes", "p.relax", "--params", "shared.npz", "-o", "m.o")
        self.write("fine.npz", zipped([("w.npy", npy(4))]))
        self.compiles("p.relax", "--params", "fine.npz", "-o", "m.o")

    def test_files_of_weights_that_say_more_than_they_have(self):
        self.write("p.relax", program.TEXT)
        for name, content in (("header.safetensors", struct.pack("<Q", 2**63) + b"{}"),
                              ("deep.safetensors", struct.pack("<Q", 200_000) + b"[" * 200_000),
                              ("lists.safetensors", header(b'{"w":{"shape":' + b"[" * 4_000_000)),
                              ("numbers.safetensors", header(b'{"w":{"shape":[' + b"1," * 4_000_000)),
                              ("shape.safetensors", struct.pack("<Q", 70) + b'{"w":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'[:70].ljust(70))):
            with self.subTest(name):
                self.write(name, content)
                self.refused_soon("error", "p.relax", "--params", name, "-o", "m.o")

    def test_messages_inside_of_each_other(self):
        """Graphs in Ifs and Loops, and unknown messages: at most an error, however deep."""
        cases = 0
        for depth in (20, 31, 100, 10_000):
            for op, name in (("If", "then_branch"), ("Loop", "body")):
                graph = b""
                for _ in range(depth):
                    graph = wire.field(1, wire.node(op, [], ["y"], attributes=[graph_attribute(name, graph)]))
                self.write("deep.onnx", wire.field(1, 8) + wire.field(7, graph) + wire.field(8, wire.field(2, 17)))
                self.refused_soon("error", "deep.onnx", "-o", "m.o")
                cases += 1
            unknown, groups = b"", b"\xbb\x3e" * depth + b"\xbc\x3e" * depth  # field 999
            for _ in range(depth):
                unknown = wire.field(999, unknown)
            model = wire.relu((2,))
            for place in (unknown, wire.field(7, unknown), wire.field(7, wire.field(11, wire.field(2, unknown))),
                          groups, wire.field(7, groups), wire.field(7, wire.field(11, wire.field(2, groups)))):
                self.write("strange.onnx", model + place)
                done = self.relaxc("strange.onnx", "-o", "m.o")
                self.assertIn(done.code, (0, 1), done.err[-300:])
                cases += 1
        print(f"{cases} nested messages", file=sys.stderr)

    def test_deep_texts(self):
        for opening, closing in (("(", ")"), ("-", ""), ("R.nn.relu(", ")"), ("[", "]"), ("not ", "")):
            with self.subTest(opening):
                value = opening * 100_000 + "x" + closing * 100_000
                self.write("deep.relax", program.TEXT.replace("R.nn.relu(x)", value))
                self.refused_soon("error", "deep.relax", "-o", "m.o")

    def test_large_declared_tensors(self):
        for dims in ((2**40,), (2**20, 2**20), (2**31, 2**31, 2**31)):
            value = fields(1, dims) + field(2, 1) + field(8, "w")
            for data in (b"", field(9, bytes(16)), field(4, bytes(16))):
                with self.subTest(dims=dims):
                    self.write("w.onnx", wire.model([node("Add", ["x", "w"], ["y"])], [value_info("x", (1,))],
                                                    [value_info("y", dims)], [value + data]))
                    self.refused_soon("error", "w.onnx", "-o", "m.o")


class PeakMemory(ProgramTest):
    """What a compilation takes at most, as the system counts it: mapped pages of files among it."""

    def peak_of(self, *arguments):
        """Bytes of the process that compiles."""
        running = subprocess.Popen([RELAXC, *arguments], cwd=self.path)
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(running.returncode, 0)
        return usage.ru_maxrss << 10

    @unittest.skipIf("-fsanitize" in " ".join(LINK_FLAGS), "a sanitizer keeps what was freed")
    def test_weights_are_not_in_memory_all_at_once(self):
        side, count = 1024, 32
        weight_bytes = 4 * side * side
        names = ["x", *(f"v{i}" for i in range(count - 1)), "y"]

        zeros = bytes(weight_bytes - 4)
        nodes = [wire.node("Add", [names[i], f"w{i}"], [names[i + 1]]) for i in range(count)]
        weights = [wire.tensor(f"w{i}", (side, side), zeros + struct.pack("<f", i)) for i in range(count)]
        self.write("large.onnx", wire.model(nodes, [value_info("x", (side, side))], [value_info("y", (side, side))], weights))
        small = self.peak_of("relu.onnx", "-o", "relu.o")
        large = self.peak_of("large.onnx", "-o", "large.o")
        self.assertLess(large - small, count * weight_bytes // 2)


class Limits(ProgramTest):
    def setUp(self):
        super().setUp()
        names = ["x"] + [f"t{i}" for i in range(4800)] + ["y"]
        self.write("long.onnx", wire.model(
            [node(("Softmax", "Exp", "Tanh")[i % 3], [names[i]], [names[i + 1]]) for i in range(4801)],
            [value_info("x", (6, 7))], [value_info("y", (6, 7))]))
        folder = tempfile.TemporaryDirectory(prefix="relaxc-temporary-")
        self.addCleanup(folder.cleanup)
        self.temporary = Path(folder.name)

    def test_a_limit_of_time(self):
        for flags in (["-o", "m.o", "-j1"], ["-o", "m.c"], ["-o", "m.so", "--runtime", RUNTIME], ["-o", "m.o", "-j4", "-MD"]):
            for seconds in ("0.01", "0.05", "0.1"):
                with self.subTest(flags=flags, seconds=seconds):
                    done = self.refuses(1, f"--time-limit={seconds}: not done within {seconds} s", "long.onnx", "-O3", *flags,
                                        f"--time-limit={seconds}", environment={"TMPDIR": str(self.temporary)})
                    self.assertEqual(done.err.count("\n"), 1)
                    self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_linker_that_does_not_end(self):
        linker = self.write("linker", "#!/bin/sh\necho $$ > pid\nexec sleep 300\n")
        linker.chmod(0o755)
        begin = time.monotonic()
        self.write("pid", "")
        self.refuses(1, "--time-limit", "relu.onnx", "-o", "m.so", "--runtime", RUNTIME, "--cc", str(linker),
                     "--time-limit=3", environment={"TMPDIR": str(self.temporary)})
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(list(self.temporary.iterdir()), [])
        number = (self.path / "pid").read_text().strip()
        state = Path(f"/proc/{number}/stat")
        for _ in range(100):
            if not state.exists() or state.read_text().split(") ")[1][0] == "Z":
                break
            time.sleep(0.05)
        else:
            self.fail("the linker still runs")

    def test_tools_have_limits_too(self):
        for tool in (["run", "long.onnx", "--random"], ["verify", "long.onnx"], ["bench", "long.onnx", "--repeat", "1000000"],
                     ["inspect", "long.onnx"]):
            with self.subTest(tool):
                self.refuses(1, "--time-limit", *tool, "--time-limit=0.05", environment={"TMPDIR": str(self.temporary)})
                self.assertEqual(list(self.temporary.iterdir()), [])
                self.refuses(1, "--max-memory", *tool, "--max-memory=4M", environment={"TMPDIR": str(self.temporary)})
                self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_limit_of_memory(self):
        for amount in ("2M", "3000K", "4000000"):
            for output in ("m.o", "m.c", "m.so"):
                with self.subTest(amount=amount, output=output):
                    self.refuses(1, "out of memory: --max-memory=", "long.onnx", "-o", output, "--runtime", RUNTIME,
                                 f"--max-memory={amount}")

    def test_limits_that_are_not_reached_change_nothing(self):
        self.compiles("relu.onnx", "-o", "m.o")
        before = (self.path / "m.o").read_bytes()
        self.compiles("relu.onnx", "-o", "m.o", "--time-limit=600", "--max-memory=64G", "--max-nodes=1000")
        self.assertEqual((self.path / "m.o").read_bytes(), before)

    def test_values(self):
        for flag in ("--time-limit=0", "--time-limit=-1", "--time-limit=soon", "--max-memory=0", "--max-memory=much",
                     "--max-memory=-1", "--max-nodes=0", "--max-nodes=x"):
            with self.subTest(flag):
                self.refuses(2, flag.split("=")[0], "relu.onnx", "-o", "m.o", flag)

    def test_they_are_in_help_man_page_and_completion(self):
        for page in (["--help=all"], ["--man"], ["--completion", "bash"], ["--completion", "zsh"], ["--completion", "fish"]):
            text = self.compiles(*page).out.replace("\\-", "-")
            for flag in ("time-limit", "max-memory", "max-nodes"):
                self.assertIn(flag, text)


if __name__ == "__main__":
    program.main()
