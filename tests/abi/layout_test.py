"""Holds the tables of docs/abi.md against the headers: every field of every record has the offset that the page gives,
for 64-bit and 32-bit targets, and rlx_tensor has the layout of DLPack's DLTensor.

The page is the only copy of the numbers. From it comes a C file of static assertions that the compiler checks, so
nothing has to run and a 32-bit C library is not needed. -malign-double gives i386 the alignment that 32-bit targets of
relaxc have.

Usage: layout_test.py COMPILER 64-BIT-FLAGS 32-BIT-FLAGS; the second are '-' if the compiler has no 32-bit target."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPILER = sys.argv[1]
FLAGS = {2: sys.argv[2].split(), 3: sys.argv[3].split()}

# Compilers for the targets of objects, with the column of the page that holds for them. Those that are missing are skipped.
OTHERS = [
    (2, "aarch64-linux-gnu-gcc"), (2, "riscv64-linux-gnu-gcc"), (2, "riscv64-unknown-elf-gcc"),
    (2, "clang --target=x86_64-pc-windows-msvc"), (2, "clang --target=arm64-apple-macosx11.0.0"),
    (3, "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"), (3, "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -fno-short-enums"),
    (3, "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -fshort-enums"), (3, "arm-linux-gnueabihf-gcc"),
    (3, "riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32"), (3, "clang --target=riscv32-unknown-none-elf -march=rv32imac"),
    (3, "clang --target=wasm32-unknown-unknown"), (3, "clang --target=thumbv7em-unknown-none-eabihf -fshort-enums"),
]

# DLPack 0.8's DLTensor on a 64-bit machine: data, device {type, id}, ndim, dtype {code, bits, lanes}, shape, strides,
# byte_offset.
DLPACK = {"data": 0, "device_type": 8, "device_id": 12, "ndim": 16, "dtype_code": 20, "dtype_bits": 21,
          "dtype_lanes": 22, "shape": 24, "strides": 32, "byte_offset": 40, "size": 48}


def tables():
    """record -> rows of (field, width, 64-bit, 32-bit)."""
    records, rows = {}, None
    for line in (ROOT / "docs/abi.md").read_text().splitlines():
        title = re.fullmatch(r"### `(rlx_\w+)`", line)
        if title:
            rows = records.setdefault(title[1], [])
        elif rows is not None and line.startswith("| ") and not line.startswith("| field"):
            rows.append([cell.strip(" `") for cell in line.strip("|").split("|")])
    return records


def fields_of(record):
    """The names of a record's fields as the headers declare them."""
    text = "".join((ROOT / "runtime-lite/include" / name).read_text() for name in ("relax_rt.h", "rlx_internal.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (record, record), text, re.S)[1]
    names = []
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        if pointer:
            names.append(pointer[1])
        else:
            parts = [part.strip() for part in declaration.split(",") if part.strip()]
            names += [re.search(r"(\w+)(\[\d+\])?$", part)[1] for part in parts]
    return names


class Layout(unittest.TestCase):
    def compile(self, column, command=None):
        lines = ['#include "rlx_internal.h"', "#define AT(r, f, n) _Static_assert(offsetof(r, f) == n, #r \".\" #f)"]
        for record, rows in tables().items():
            for row in rows:
                if row[0] == "size":
                    lines.append(f"_Static_assert(sizeof({record}) == {row[column]}, \"sizeof {record}\");")
                else:
                    lines.append(f"AT({record}, {row[0]}, {row[column]});")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "layout.c"
            source.write_text("\n".join(lines) + "\n")
            compiler = command or [COMPILER, *FLAGS[column]]
            done = subprocess.run([*compiler, "-std=c11", "-ffreestanding", "-fsyntax-only", "-I",
                                   ROOT / "runtime-lite/include", source], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_64_bit_offsets_are_those_of_the_page(self):
        self.compile(2)

    @unittest.skipIf(FLAGS[3] == ["-"], "this compiler has no 32-bit target at hand")
    def test_32_bit_offsets_are_those_of_the_page(self):
        self.compile(3)

    def test_compilers_for_other_machines_agree(self):
        for column, words in OTHERS:
            command = words.split()
            with self.subTest(words):
                if shutil.which(command[0]) is None:
                    self.skipTest(f"there is no {command[0]}")
                self.compile(column, command)

    def test_the_page_has_every_field_of_every_record(self):
        found = tables()
        self.assertEqual(len(found), 14)
        for record, rows in found.items():
            self.assertEqual([row[0] for row in rows], fields_of(record) + ["size"], record)

    def test_the_page_has_every_status_with_its_number(self):
        header = (ROOT / "runtime-lite/include/relax_rt.h").read_text()
        body = re.search(r"typedef enum rlx_status \{(.*?)RLX_STATUS_WIDTH_", header, re.S)[1]
        page = (ROOT / "docs/abi.md").read_text()
        self.assertEqual(re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.M),
                         [(number, name) for name, number in re.findall(r"RLX_(\w+) = (\d+),", body)])

    def test_a_tensor_has_the_layout_of_dlpack(self):
        self.assertEqual({row[0]: int(row[2]) for row in tables()["rlx_tensor"]}, DLPACK)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
