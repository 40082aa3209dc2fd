"""Objects of other formats: read by llvm-readobj, linked by lld, and WebAssembly run by node.

Usage: formats_test.py RELAXC LLVM_TOOLS. Exits with 77 where lld or node is missing."""

import json
import math
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

RELAXC, TOOLS = sys.argv[1], Path(sys.argv[2])
REPOSITORY = Path(__file__).resolve().parents[2]
DIGITS = REPOSITORY / "examples/digits/digits.onnx"
NEEDED = [TOOLS / name for name in ("llvm-readobj", "lld-link", "ld64.lld", "wasm-ld")]

CALL = """
const fs = require("fs");
const memory = new WebAssembly.Memory({initial: 64});
const bytes = () => new Uint8Array(memory.buffer);
const env = {memory,
  memcpy: (to, from, n) => { bytes().copyWithin(to, from, from + n); return to; },
  memmove: (to, from, n) => { bytes().copyWithin(to, from, from + n); return to; },
  memset: (to, value, n) => { bytes().fill(value, to, to + n); return to; }};
const instance = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), {env});
const run = Object.entries(instance.exports).find(([name]) => name.startsWith("digits_run_"))[1];
const arena = (instance.exports.__heap_base.value + 63) & ~63, size = Number(process.argv[3]);
const context = arena + size, args = context + 256, image = args + 64, logits = image + 4 * 64;
const view = new DataView(memory.buffer);
view.setUint32(context, 1, true);
view.setUint32(context + 4, 88, true);
view.setUint32(context + 8, arena, true);
view.setBigUint64(context + 16, BigInt(size), true);
view.setUint32(args, image, true);
view.setUint32(args + 4, logits, true);
const pixels = JSON.parse(process.argv[4]);
for (let i = 0; i < 64; i++) view.setFloat32(image + 4 * i, pixels[i], true);
const status = run(context, args);
console.log(status, ...Array.from({length: 10}, (_, i) => view.getFloat32(logits + 4 * i, true)));
"""


def run(*arguments, **keywords):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, check=False, **keywords)
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def undefined(path):
    listed = run(TOOLS / "llvm-nm", "--undefined-only", "--format=just-symbols", path)
    return {name.lstrip("_") for name in listed.split()}


def check_native(folder, machine, form, link):
    run(RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", "digits.o", cwd=folder)
    said = run(TOOLS / "llvm-readobj", "--sections", "--symbols", folder / "digits.o")
    assert f"Format: {form}" in said, said[:200]
    assert re.search(r"Name: _?digits_run_", said) and "weights" in said
    writable = re.findall(r"Name: \.(?:data|bss)[^\n]*\n(?:[^\n]*\n){1,6}?\s*RawDataSize: [1-9]", said)
    assert not writable, writable
    others = {name for name in undefined(folder / "digits.o")
              if not name.startswith("rlx_") and name not in ("memcpy", "memmove", "memset", "fltused", "bzero")}
    assert not others, others
    run(*link, cwd=folder)


def pixels():
    row = re.findall(r"\d+", (REPOSITORY / "examples/digits/samples.h").read_text().split("sample_pixels")[1])[2:66]
    return [float(value) for value in row]


def check_wasm(folder, machine, expected):
    run(RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", "digits.o", "-Os", cwd=folder)
    name = re.search(r"digits_run_\w+", (folder / "digits.h").read_text())[0]
    arena = re.search(r"ARENA_BYTES (\d+)", (folder / "digits.h").read_text())[1]
    run(TOOLS / "wasm-ld", "--no-entry", "--gc-sections", "--import-memory", "--export", name, "--export=__heap_base",
        "--allow-undefined", "digits.o", "-o", "digits.wasm", cwd=folder)
    (folder / "call.js").write_text(CALL)
    status, *logits = run("node", "call.js", "digits.wasm", arena, json.dumps(pixels()), cwd=folder).split()
    assert status == "0", status
    logits = [float(value) for value in logits]
    assert all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) for a, b in zip(logits, expected, strict=True)), logits


def expected_logits(folder):
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
    head += b" " * (-(11 + len(head)) % 64) + b"\n"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<64f", *pixels()))
    run(RELAXC, "run", DIGITS, "x.npy", "--interpret", "-o", "out", cwd=folder)
    return struct.unpack("<10f", (folder / "out/logits.npy").read_bytes()[-40:])


def main():
    missing = [str(tool) for tool in NEEDED if not tool.exists()] + ["node"] * (shutil.which("node") is None)
    if missing:
        print("skipped: there is no " + ", ".join(missing))
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="relaxc-formats-") as name:
        folder = Path(name)
        for machine, form, word in (("x86-64-windows", "COFF-x86-64", "x64"), ("aarch64-windows", "COFF-ARM64", "arm64")):
            check_native(folder, machine, form, [TOOLS / "lld-link", "/dll", "/noentry", "/nodefaultlib", "/force:unresolved",
                                                 f"/machine:{word}", "/export:digits_model,DATA", "/out:d.dll", "digits.o"])
        for machine, form, word in (("x86-64-macos", "Mach-O 64-bit x86-64", "x86_64"),
                                    ("aarch64-macos", "Mach-O arm64", "arm64")):
            check_native(folder, machine, form, [TOOLS / "ld64.lld", "-dylib", "-arch", word, "-platform_version", "macos",
                                                 "11.0", "11.0", "-undefined", "dynamic_lookup", "-o", "d.dylib", "digits.o"])
        expected = expected_logits(folder)
        for machine in ("wasm32", "wasm32-simd"):
            check_wasm(folder, machine, expected)


main()
