"""Files beside a model whose structure is wrong: descriptions of boards, custom operators, schedules, records of tuning,
weights, data of a self-test, external data of ONNX, and what a program that is made of a model reads. Taken or refused within
10 s and 1 GB, by a message, with no output of which a part is there. hostile_bytes_test.py changes bytes; here values are
exchanged for such as no writer of the format makes.

Usage: hostile_files_test.py RELAXC RUNTIME Sample|Every"""

import io
import json
import random
import struct
import zipfile
import zlib

import program
import wire
from hostile import HostileTest, mutated
from program import RELAXC, RUNTIME
from schedules_test import EDITED, MM_RELU

LINEAR = """@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")):
    R.func_attr({"num_input": 1})
    return R.matmul(x, w)
"""

# Texts of JSON in place of a value: other types, numbers that no dtype holds, strings that are names of files, of formats or
# of nothing, and bytes that are not JSON.
VALUES = [b"null", b"true", b"-1", b"0", b"1", b"0.5", b"1e308", b"-1e308", b"1e999", b"2147483648", b"9223372036854775807",
          b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809", b"1e-320", b"NaN",
          b"Infinity", b'""', b'"\\u0000"', b'"a\\u0000b"', b'"\\ud800"', b'"\\n\\r\\t\\u001b[2J"', b'"%s%n{}{0}"', b'"../../x"',
          b'"' + b"x" * 70_000 + b'"', b'"\xff\xfe"', "\"\u202e\u0130\"".encode(), b"[]", b"{}", b"[" + b"1," * 9999 + b"1]",
          b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[-1]", b"[4294967296,4294967296]", b'"1"', b""]

BOARD = {"about": "a board", "target": "cortex-m4", "cpu": "cortex-m4", "features": "+fp16", "float_abi": "hard",
         "task_slots": 2, "vector_bits": 0, "vector_registers": 16, "page_bytes": 4096, "loads_per_cycle": 1.0,
         "gather_steps": 2.0, "memory_bytes_per_cycle": 4.0}
RULE = "float32[n, m] -> float32[n, m]; radius=2"
CUSTOM_OPS = {"my::Scale": RULE, "my::Pool": {"rule": RULE, "function": "pool"}}
WEIGHTS = b'{"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}}'

CHOICE = """relaxc schedules 1
target x86_64-pc-linux-gnu x86-64-v3
kernel mm_relu
  choose "tile: 4x3"
"""


def places(value):
    """Paths to each value in JSON, the whole first."""
    found = [()]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += [(key, *rest) for rest in places(child)]
    return found


def with_value(value, path, text):
    """The JSON of `value` with `text` at `path`."""
    if not path:
        return text

    def child(key, of):
        return with_value(of, path[1:], text) if key == path[0] else json.dumps(of).encode()

    if isinstance(value, list):
        return b"[" + b",".join(child(i, v) for i, v in enumerate(value)) + b"]"
    return b"{" + b",".join(json.dumps(k).encode() + b":" + child(k, v) for k, v in value.items()) + b"}"


def twice(value, key):
    """The JSON of `value` with a key that occurs again with another value."""
    return json.dumps(value).encode()[:-1] + b"," + json.dumps(key).encode() + b":1}"


def npy(shape="(3, 2)", descr="'<f4'", data=bytes(24), order="False", extra="", version=b"\1\0", length=None):
    head = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {extra}}}\n".encode("latin-1")
    return b"\x93NUMPY" + version + struct.pack("<H", len(head) if length is None else length) + head + data


def strange_arrays():
    """Files .npy that say what no NumPy says of 24 bytes."""
    shapes = ["()", "(6,)", "(-3, -2)", "(9223372036854775807, 2)", "(9223372036854775808,)", "(4294967296, 4294967296)",
              "(0, 99999999999)", "(3, 2,", "3, 2", "(3; 2)", "(3, 2.0)", "(0x3, 2)", "(3, 2)" * 900, "(" + "1, " * 5000 + ")",
              "None", "(True, 2)", "(3,, 2)"]
    descrs = ["'<f8'", "'>f4'", "'|f4'", "'=f4'", "'<f99999999999999999999'", "'<f0'", "'<f-4'", "'<c16'", "'|O'", "'<U3'",
              "'|V4'", "'<M8[ns]'", "[('a', '<f4')]", "('<f4', (2,))", "'<i4", "''", "'<'", "'<f4\0'", "'" + "<" * 5000 + "'",
              "\"<f4\"", "4", "None"]
    found = [npy(shape=s) for s in shapes] + [npy(descr=d) for d in descrs]
    found += [npy(order=o) for o in ("True", "1", "None", "'False'", "Fals")]
    found += [npy(extra=e) for e in ("'shape': (1,), ", "'other': 1, ")]
    found += [npy(version=bytes(v)) for v in ((0, 0), (2, 0), (3, 0), (9, 9), (255, 255))]
    found += [npy(length=n) for n in (0, 1, 9, 65535)]
    return found + [npy(data=bytes(n)) for n in (0, 1, 23, 25, 4096)] + [b"", b"\x93NUMPY", npy()[:10]]


def archive(members, **changes):
    """An .npz of (name, content) with fields of the directory's entries and of the local heads overwritten: field=value."""
    local_fields = {"method": (8, 2), "crc": (14, 4), "packed": (18, 4), "size": (22, 4), "name_length": (26, 2),
                    "extra_length": (28, 2)}
    central_fields = {"flags": (8, 2), "method": (10, 2), "crc": (16, 4), "packed": (20, 4), "size": (24, 4),
                      "name_length": (28, 2), "extra_length": (30, 2), "comment_length": (32, 2), "place": (42, 4)}
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members:
            made.writestr(name, content)
    data = bytearray(memory.getvalue())
    for mark, fields in ((b"PK\3\4", local_fields), (b"PK\1\2", central_fields)):
        at = data.find(mark)
        for name, value in changes.items():
            if name in fields:
                offset, size = fields[name]
                data[at + offset:at + offset + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(data)


def strange_archives():
    """Archives whose directory does not fit what is there."""
    whole, numbers = [("w.npy", npy())], (0, 1, 8, 0x7fff, 0xffff, 2**31, 2**32 - 1)
    fields = ("method", "crc", "packed", "size", "name_length", "extra_length", "flags", "comment_length", "place")
    found = [archive(whole, **{field: value}) for field in fields for value in numbers]
    names = (".npy", "w", "w.npy.npy", "../w.npy", "/w.npy", "w\n.npy", "w" * 60_000 + ".npy", "é.npy", "w.NPY")
    found += [archive([(name, npy())]) for name in names]
    found += [archive([*whole, ("w.npy", npy(data=b"\1" * 24))]), archive([])]
    found.append(archive([(f"{i}.npy", npy()) for i in range(700)]))
    end = archive(whole)
    directory = end.index(b"PK\5\6")
    for offset, size in ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)):
        before, behind = end[:directory + offset], end[directory + offset + size:]
        found += [before + (n % (1 << 8 * size)).to_bytes(size, "little") + behind for n in numbers]
    # One deflated member of 60 MB to which 600 entries point: 36 GB of 100 KB.
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(bytes(60 << 20)) + packer.flush()
    local = b"PK\3\4" + bytes(22) + struct.pack("<HH", 0, 0)
    entry = b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 8, 0, 0, 0, len(packed), 60 << 20, 7, *[0] * 6)
    entries = b"".join(entry + b"%03d.npy" % i for i in range(600))
    tail = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 600, 600, len(entries), len(local) + len(packed), 0)
    return found + [local + packed + entries + tail]


def safetensors(header, data=bytes(24), length=None):
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def strange_safetensors(numbers, count):
    right, whole = json.loads(WEIGHTS), WEIGHTS
    found = [safetensors(whole, length=n) for n in (0, 1, len(whole) - 1, len(whole) + 1, 2**31, 2**63, 2**64 - 8, 2**64 - 1)]
    found += [safetensors(with_value(right, path, text)) for path in places(right) for text in VALUES]
    found += [safetensors(twice(right, "w")), safetensors(whole.replace(b'"shape"', b'"shape": [1], "shape"'))]
    for name in (b"\\u0000", b"\\ud800", b"x" * 60_000, b"w.npy", b"../w", b""):
        found.append(safetensors(whole.replace(b'"w"', b'"' + name + b'"')))
    changed = [mutated(safetensors(whole), numbers) for _ in range(count // 8)]
    return numbers.sample(found, min(count, len(found))) + changed


ENTRIES = {"location": "w.bin", "offset": "8", "length": "24"}


def external(entries, dims=(3, 2), dtype=wire.FLOAT, where=1, more=b""):
    """A model y = x + w, where w is a tensor of external data with these entries."""
    w = (wire.fields(1, dims) + wire.field(2, dtype) + wire.field(8, "w") +
         wire.fields(13, [wire.field(1, key) + wire.field(2, value) for key, value in entries]) + wire.field(14, where) + more)
    return wire.model([wire.node("Add", ["x", "w"], ["y"])], [wire.value_info("x", (3, 2))],
                      [wire.value_info("y", (3, 2))], [w])


def strange_external_data():
    """Tensors whose external data is named, placed or typed as no exporter does."""
    texts = ["", "0", "1", "-0", "+8", " 8", "8 ", "08", "0x8", "8.0", "1e1", "8\0", "-8", "40", "41", "2147483648",
             "9223372036854775807", "9223372036854775808", "18446744073709551608", "18446744073709551616", "9" * 5000, "٨",
             "nan", "[8]", "8,8"]
    names = ["", ".", "..", "/", "./w.bin", "../w.bin", "sub/../w.bin", "sub/../../w.bin", "/dev/zero", "/dev/stdin",
             "/proc/self/mem", "folder", "link", "w.bin/", "w.bin\0x", "w.bin\n", "W.BIN", "m.onnx", "C:\\w.bin", "file:w.bin",
             "file:///etc/hostname", "~/w.bin", "$HOME/w.bin", "$(touch x)", "%s%n", "w" * 300, "w/" * 3000,
             b"\xff\xfe", "empty.bin"]
    right = list(ENTRIES.items())
    found = [external([(k, text if k == key else v) for k, v in right]) for key in ("offset", "length") for text in texts]
    found += [external([("location", name), *right[1:]]) for name in names]
    found += [external(right + [(key, value)]) for key in (*ENTRIES, "checksum", "", "x" * 5000) for value in ("0", "w.bin", "")]
    found += [external([entry for entry in right if entry[0] != key]) for key in ENTRIES] + [external([]), external(right * 3000)]
    found += [external(right, where=where) for where in (0, 2, -1, 1 << 40)]
    found += [external(right, dtype=dtype) for dtype in range(-1, 30)]
    dims = [(), (6,), (0,), (-3, -2), (2**62, 2), (2**32, 2**32), (3, 2, 2**63 - 1, 0), (1,) * 3000, (3, 3)]
    found += [external(right, dims=some) for some in dims]
    beside = (wire.field(9, bytes(24)), wire.field(9, b""), wire.field(4, bytes(24)), wire.field(5, bytes(6)),
              wire.field(3, wire.field(1, 9)))  # raw_data, float_data, int32_data, segment
    return found + [external(right, more=more) for more in beside]


def tensor_proto(dims=(3, 2), dtype=wire.FLOAT, content=wire.field(9, bytes(24))):
    return wire.fields(1, dims) + wire.field(2, dtype) + content


def strange_tensors():
    """Files .pb of six numbers that no writer of protobuf makes of 24 bytes."""
    shapes = ((), (6,), (-3, -2), (2**63 - 1, 2), (2**32, 2**32), (0, 2**40), (1,) * 70, (3, 2) * 900)
    found = [tensor_proto(dims=dims) for dims in shapes]
    found += [tensor_proto(dtype=dtype) for dtype in (*range(-1, 30), 1 << 40)]
    contents = [b"", wire.field(9, b""), wire.field(9, bytes(23)), wire.field(9, bytes(25)), wire.field(4, bytes(24)),
                wire.field(4, bytes(23)), wire.field(4, bytes(28)), wire.field(5, bytes(6)), wire.field(7, b"\x80" * 24),
                wire.field(10, bytes(48)), wire.field(11, b"\xff" * 60), wire.field(9, bytes(24)) * 2,
                wire.field(4, bytes(12)) * 2,
                b"\x4a" + b"\xff" * 9 + b"\x01", b"\x4a\x80", b"\x4d\0\0\0\0", b"\x4b\x4c", b"\x4f", b"\xff" * 12,
                wire.field(13, wire.field(1, "location") + wire.field(2, "w.bin")) + wire.field(14, 1),
                wire.field(6, "text")]
    return found + [tensor_proto(content=content) for content in contents] + [b"", b"\0", b"\x08"]


def strange_schedules(right, numbers, count):
    """Lines and words of a schedule exchanged, and numbers that are too large."""
    words = ["0", "-1", "1", "2147483648", "9223372036854775807", "99999999999999999999", "1e9", "nan", "y", "j_i", "[", "]",
             "[[[[", '"', "'", ";", ";;", "#", "kernel", "target", "choose", "unroll", "split", "fuse", "reorder", "vectorize",
             "tile", "parallel", "reduce_in_lanes", "winograd", "focus_nests", "pack", "cache_window", "\0", "\xff", "x" * 5000,
             ""]
    found = []
    for _ in range(count):
        lines = [line.split(" ") for line in right.splitlines()]
        for _ in range(numbers.choice((1, 1, 2, 3))):
            line = numbers.choice(lines)
            how = numbers.randrange(5)
            if how < 2 and line:
                line[numbers.randrange(len(line))] = numbers.choice(words)
            elif how == 2:
                line.insert(numbers.randrange(len(line) + 1), numbers.choice(words))
            elif how == 3:
                lines.insert(numbers.randrange(len(lines)), list(line))
            elif len(lines) > 1:
                lines.remove(line)
        found.append("\n".join(" ".join(line) for line in lines).encode("latin-1"))
    return found


class HostileFiles(HostileTest):
    def each(self, what, right, contents, name, *arguments, codes=(1, 2), command=RELAXC):
        """Tries each content in the file `name`, of which `right` is taken."""
        self.write(name, right)
        self.answer(*arguments, codes=(0,), command=command)
        taken = 0
        for i, content in enumerate(contents):
            self.write(name, content)
            with self.subTest(what, i=i, content=content[:100]):
                done = self.answer(*arguments, codes=(0, *codes), command=command)
                taken += done.returncode == 0
        print(f"{what}: {len(contents)} files, {taken} of them taken")
        self.assertLess(taken, len(contents))

    def json_of(self, value, numbers, count):
        right = json.dumps(value)
        found = [with_value(value, path, text) for path in places(value) for text in VALUES]
        found += [twice(value, key) for key in value]
        found += [b"", b"\xef\xbb\xbf" + right.encode(), right.encode("utf-16"), right.encode() + b"x"]
        changed = [mutated(right.encode(), numbers) for _ in range(count // 8)]
        return numbers.sample(found, min(count, len(found))) + changed

    def try_boards(self, count, numbers):
        self.each("boards", json.dumps(BOARD), self.json_of(BOARD, numbers, count), "b.json", "relu.onnx", "-o", "m.o",
                  "--target", "./b.json")

    def try_custom_operators(self, count, numbers):
        self.write("custom.onnx", wire.model([wire.node("Scale", ["x"], ["y"], domain="my")], [wire.value_info("x", (2, 3))],
                                             [wire.value_info("y", (2, 3))]))
        self.each("custom operators", json.dumps(CUSTOM_OPS), self.json_of(CUSTOM_OPS, numbers, count), "c.json",
                  "custom.onnx", "-o", "m.c", "--custom-op", "c.json")

    def try_schedules(self, count, numbers):
        self.write("mm.relax", MM_RELU)
        for flag, right in (("--schedules", EDITED), ("--tune-log", CHOICE)):
            self.each(flag, right, strange_schedules(right, numbers, count // 2), "s.txt", "mm.relax", "-o", "m.c", flag, "s.txt",
                      "--target", "x86-64-v3")

    def try_weights(self, count, numbers):
        self.write("linear.relax", LINEAR)
        compiled = ("linear.relax", "-o", "m.c", "--params")
        self.each("safetensors", safetensors(WEIGHTS), strange_safetensors(numbers, count), "w.safetensors", *compiled,
                  "w.safetensors")
        *archives, bomb = strange_archives()
        self.each("archives", archive([("w.npy", npy())]), [*numbers.sample(archives, min(count, len(archives))), bomb],
                  "w.npz", *compiled, "w.npz")
        arrays = strange_arrays()
        some = numbers.sample(arrays, min(count, len(arrays)))
        self.each("arrays in archives", archive([("w.npy", npy())]), [archive([("w.npy", one)]) for one in some], "w.npz",
                  *compiled, "w.npz")

    def try_data(self, count, numbers):
        self.write("relu.onnx", wire.relu((3, 2)))
        arrays = strange_arrays()
        self.each("data of self-tests", npy(), numbers.sample(arrays, min(count, len(arrays))), "x.npy", "relu.onnx", "-o",
                  "m.c", "--emit-selftest", "--selftest-data", "x.npy")

    def try_external_data(self, count, numbers):
        for name, content in (("w.bin", bytes(40)), ("empty.bin", b""), ("folder/file", b"")):
            self.write(name, content)
        (self.path / "link").symlink_to("/etc/hostname")
        right, found = external(ENTRIES.items()), strange_external_data()
        changed = [mutated(right, numbers) for _ in range(count // 8)]
        some = numbers.sample(found, min(count, len(found)))
        self.each("external data", right, [*some, *changed], "m.onnx", "m.onnx", "-o", "m.c")

    def try_program(self, count, numbers):
        """The files that a program reads: .npy and .pb, their numbers of rows and columns open."""
        self.write("softmax.onnx", wire.model([wire.node("Softmax", ["x"], ["y"])], [wire.value_info("x", ("n", "m"))],
                                              [wire.value_info("y", ("n", "m"))]))
        self.compiles("softmax.onnx", "-o", "softmax", "--runtime", RUNTIME, "--cc", self.linker())
        for name, right, strange in (("x.npy", npy(), strange_arrays()), ("x.pb", tensor_proto(), strange_tensors())):
            changed = [mutated(right, numbers) for _ in range(count // 8)]
            found = [*numbers.sample(strange, min(count, len(strange))), *changed]
            self.each(f"a program's {name}", right, found, name, name, command=self.path / "softmax")


class Sample(HostileFiles):
    COUNT = 10

    def test_boards(self):
        self.try_boards(self.COUNT, random.Random(1))

    def test_custom_operators(self):
        self.try_custom_operators(self.COUNT, random.Random(2))

    def test_schedules(self):
        self.try_schedules(self.COUNT, random.Random(3))

    def test_weights(self):
        self.try_weights(self.COUNT, random.Random(4))

    def test_data_of_self_tests(self):
        self.try_data(self.COUNT, random.Random(5))

    def test_external_data(self):
        self.try_external_data(self.COUNT, random.Random(6))

    def test_program(self):
        self.try_program(self.COUNT, random.Random(7))


class Every(Sample):
    COUNT = 2000


if __name__ == "__main__":
    program.main()
