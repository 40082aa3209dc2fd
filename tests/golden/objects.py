#!/usr/bin/env python3
"""objects.py: holds the code and the data of emitted objects against tests/golden/objects.tsv.

    tests/golden/objects.py [--update] [--only REGEX] [--relaxc PATH] [-j N] [--generated FOLDER]

A change that is to leave emitted code as it is (a rebuilt pass, a moved class) has no other witness: numbers agree
after most mistakes of a schedule. So the table has a row for each model and target, with a hash of the model, one of
all sections with code and one of all other sections that are loaded, relocations included. What names the compilation
alone (the model's hash, the producer) is no part of it. A change that alters objects rewrites the rows by --update, and
its commit says which and why.

Models are those of examples/, those that bench/models writes, and those of the folder RELAXC_MODELS (default:
shared/models beside the repository); what is not there is skipped. Objects depend on LLVM, so with another version than
the table's nothing is compared, and the exit code is 77. What writes models runs in build/venv, and they depend on its
NumPy and ONNX Runtime: one that is another than the table's is named and not compared. --generated keeps them in a
folder for the next run, else they are made anew.
"""

import argparse
import concurrent.futures
import ctypes
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_suffix(".tsv")
SHARED = Path(os.environ.get("RELAXC_MODELS", ROOT.parent / "shared/models"))
VENV = ROOT / "build/venv/bin/python"
SECONDS = 60  # of one compilation
SKIPPED = 77  # CTest's SKIP_RETURN_CODE

# Machines that each model is compiled for, and up to how many bytes of a model: both are cut where time is.
TARGETS = [("x86-64-v3", 1 << 40), ("aarch64-v8.2", 16 << 20), ("cortex-m4", 512 << 10), ("cortex-m55", 512 << 10)]
NOT_COMPARED = {".rodata.m.hash", ".rodata.m.producer"}

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 2, 4, 8, 9
SHF_ALLOC, SHF_EXECINSTR = 2, 4
STT_SECTION = 3


class LeftOut(Exception):
    """A model that has no row, and why."""


class Elf:
    """Sections of a little-endian relocatable file: name, type, flags, offset, size, link, info, size of an entry."""

    def __init__(self, data):
        self.data = data
        if data[:4] != b"\x7fELF" or data[5] != 1:
            raise ValueError("not a little-endian ELF file")
        self.wide = data[4] == 2
        start, size, count, names = struct.unpack_from("<40xQ10xHHH" if self.wide else "<32xI10xHHH", data)
        row = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        rows = [struct.unpack_from(row, data, start + size * i) for i in range(count or 0)]
        if not count:  # more than fit the header: the first section has the number
            rows = [struct.unpack_from(row, data, start + size * i)
                    for i in range(struct.unpack_from(row, data, start)[5])]
        self.sections = [(kind, flags, offset, length, link, info, entry)
                         for _, kind, flags, _, offset, length, link, info, _, entry in rows]
        table = self.sections[rows[0][6] if names == 0xFFFF else names][2]
        self.names = [self.text(table, row[0]) for row in rows]

    def text(self, table, at):
        return self.data[table + at:self.data.index(b"\0", table + at)].decode()

    def symbols(self, index):
        """What a relocation against each symbol of this table means: the symbol's name, or its section's."""
        _, _, offset, length, link, _, entry = self.sections[index]
        strings, names = self.sections[link][2], []
        for at in range(offset, offset + length, entry):
            if self.wide:
                name, info, section = struct.unpack_from("<IBxH", self.data, at)
            else:
                name, info, section = struct.unpack_from("<I8xBxH", self.data, at)
            names.append(f"section {self.names[section]}" if info & 15 == STT_SECTION else self.text(strings, name))
        return names

    def relocations(self):
        """By section: lines "offset type symbol+addend", in the order of the file."""
        found, tables = {}, {}
        for kind, _, offset, length, link, info, entry in self.sections:
            if kind not in (SHT_REL, SHT_RELA):
                continue
            if link not in tables:
                tables[link] = self.symbols(link)
            symbols = tables[link]
            form = ("<QQ" if self.wide else "<II") + ("" if kind == SHT_REL else "q" if self.wide else "i")
            for at in range(offset, offset + length, entry):
                place, what, *addend = struct.unpack_from(form, self.data, at)
                symbol, sort = (what >> 32, what & 0xFFFFFFFF) if self.wide else (what >> 8, what & 255)
                found.setdefault(info, []).append(f"{place} {sort} {symbols[symbol]}+{addend}")
        return found

    def hashes(self):
        """Of sections with code, and of other loaded sections: names, bytes, relocations."""
        code, rest, relocations = hashlib.sha256(), hashlib.sha256(), self.relocations()
        for index, (kind, flags, offset, length, *_) in enumerate(self.sections):
            if not flags & SHF_ALLOC or self.names[index] in NOT_COMPARED:
                continue
            into = code if flags & SHF_EXECINSTR else rest
            into.update(f"{self.names[index]} {length}\n".encode())
            if kind != SHT_NOBITS:
                into.update(memoryview(self.data)[offset:offset + length])
            into.update("\n".join(relocations.get(index, [])).encode())
        return code.hexdigest()[:16], rest.hexdigest()[:16]


def llvm_version(relaxc):
    """Of the library that relaxc is linked with; nothing if that cannot be told."""
    listed = subprocess.run(["ldd", relaxc], capture_output=True, text=True, check=False).stdout
    library = re.search(r"libLLVM\S* => (\S+)", listed)
    if not library:
        return None
    parts = [ctypes.c_uint() for _ in range(3)]
    ctypes.CDLL(library[1]).LLVMGetVersion(*map(ctypes.byref, parts))
    return ".".join(str(part.value) for part in parts)


def models(folder):
    """Name -> path, or none of one that is to be generated, in the order of the table."""
    found = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "examples").rglob("*.onnx"))}
    if VENV.exists():
        command = [VENV, ROOT / "bench/models/generate.py", "--list"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        for name in listed.stdout.split():
            path = folder / name / "model.onnx" if folder else None
            found[f"bench/models/{name}"] = path if path and path.exists() else None
    else:
        print("models of bench/models are skipped: no build/venv (tests/run.sh makes it)")
    if SHARED.exists():
        found |= {f"shared/models/{path.relative_to(SHARED)}": path for path in sorted(SHARED.rglob("*.onnx"))}
    else:
        print(f"real models are skipped: no folder {SHARED} (RELAXC_MODELS)")
    return found


def generate(name, folder):
    """The hash seed is fixed because onnxruntime.quantization names what it adds in the order of sets."""
    command = [VENV, ROOT / "bench/models/generate.py", folder, name.removeprefix("bench/models/")]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise LeftOut(f"it cannot be generated: {done.stderr.splitlines()[-1]}")
    return Path(folder) / command[-1] / "model.onnx"


def compile_for(relaxc, model, target, folder):
    output = Path(folder) / "m.o"
    command = [relaxc, "--name", "m", "--target", target, "-j1", "--embed-weights", model, "-o", output]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise LeftOut(f"it takes more than {SECONDS} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise LeftOut("it is refused: " + (errors or ["without a message"])[0].replace(str(model), "").lstrip(": "))
    return Elf(output.read_bytes()).hashes()


# A generator of a large model takes gigabytes: one at a time.
one_generator = threading.Lock()


def rows_of(relaxc, name, path, kept):
    """The rows of a model, (name, target) -> (model, code, data), and the reasons of those that there are not."""
    rows, left_out = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            if path is None:
                with one_generator:
                    path = generate(name, kept or folder)
        except LeftOut as why:
            return rows, {(name, "every"): str(why)}
        with path.open("rb") as file:
            model = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        for target, limit in TARGETS:
            if path.stat().st_size <= limit:
                try:
                    rows[name, target] = (model, *compile_for(relaxc, path, target, folder))
                except LeftOut as why:
                    left_out[name, target] = str(why)
    return rows, left_out


def read_table():
    """The LLVM version, rows, and what was left out with its reason."""
    version, rows, left_out = None, {}, {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line.startswith("# LLVM "):
            version = line.removeprefix("# LLVM ")
        elif line.startswith("# left out: "):
            name, target, why = line.removeprefix("# left out: ").split("\t")
            left_out[name, target] = why
        elif line and not line.startswith("#"):
            name, target, *hashes = line.split("\t")
            rows[name, target] = tuple(hashes)
    return version, rows, left_out


def write_table(version, rows, left_out):
    lines = ["# What relaxc emits: hashes of a model, of its object's code and of its data.",
             "# tests/golden/objects.py writes and compares them.",
             f"# LLVM {version}", "# model\ttarget\tmodel's hash\tcode\tdata"]
    lines += ["\t".join((*key, *hashes)) for key, hashes in sorted(rows.items())]
    lines += ["# left out: " + "\t".join((*key, why)) for key, why in sorted(left_out.items())]
    TABLE.write_text("\n".join(lines) + "\n")


def compare(stored, found, left_out, expected_left_out):
    """Prints differences and says how many there are."""
    differences, others = [], set()
    for key, (model, code, data) in found.items():
        if key not in stored:
            differences.append((key, "has no row"))
        elif stored[key][0] != model:
            others.add(key[0])
        elif changed := [part for part, a, b in zip(("code", "data"), stored[key][1:], (code, data)) if a != b]:
            differences.append((key, " and ".join(changed) + (" differs" if len(changed) == 1 else " differ")))
    differences += [(key, why) for key, why in left_out.items() if key not in expected_left_out]
    for name in sorted(others):
        print(f"{name}: not compared, the model itself is another than the table's")
    for (name, target), what in sorted(differences):
        print(f"{name} --target {target}: {what}")
    compared = sum(key[0] not in others for key in found)
    print(f"{compared} objects compared, {len(differences)} differ")
    return len(differences), compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write what is found instead of comparing")
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="models whose name has a match")
    parser.add_argument("--relaxc", type=Path, default=ROOT / "build/bin/relaxc", metavar="PATH")
    parser.add_argument("--generated", type=Path, metavar="FOLDER", help="keeps models of bench/models")
    parser.add_argument("-j", type=int, default=1, metavar="N", dest="jobs", help="compilations at a time")
    given = parser.parse_args()
    found, left_out, version = {}, {}, llvm_version(given.relaxc)
    stored_version, stored, stored_left_out = read_table()
    if version is None or (version != stored_version and not given.update):
        print(f"not compared: the table is of LLVM {stored_version}, relaxc has {version or 'one that cannot be told'}")
        return SKIPPED
    chosen = {name: path for name, path in models(given.generated).items() if not given.only or given.only.search(name)}
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for rows, reasons in pool.map(lambda item: rows_of(given.relaxc, *item, given.generated), chosen.items()):
            found |= rows
            left_out |= reasons
    if given.update:
        def keep(table):
            return {key: value for key, value in table.items() if key[0] not in chosen}
        write_table(version, keep(stored) | found, keep(stored_left_out) | left_out)
        return 0
    differing, compared = compare(stored, found, left_out, stored_left_out)
    return 1 if differing else 0 if compared else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
