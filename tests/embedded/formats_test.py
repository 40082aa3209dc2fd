"""Objects and libraries of other formats: read by llvm-readobj, linked by lld and by relaxc, and WebAssembly run by node.

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
view.setUint32(context + 4, 96, true);
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


def loaded_sections(path):
    """(name, bytes) of what is loaded, as llvm-readobj prints it."""
    said, loaded = run(TOOLS / "llvm-readobj", "--sections", path), []
    for block in said.split("Section {")[1:]:
        name = re.search(r"Name: (\S+) ?\(", block)
        size = int(re.search(r"\b(?:RawDataSize|Size): (\w+)", block)[1], 0)
        if "Segment: " in block:  # Mach-O
            name = re.search(r"Segment: (\w+)", block)[1] + "," + name[1]
        elif "Characteristics [" in block:  # COFF
            name = "" if re.search(r"IMAGE_SCN_(LNK_REMOVE|LNK_INFO|MEM_DISCARDABLE)", block) else name[1]
        else:  # WebAssembly
            name = re.search(r"Type: (\w+)", block)[1]
            name = "" if name == "CUSTOM" else name
        if name and size and not name.startswith(("__DWARF,", "__LD,")):
            loaded.append((name, size))
    return loaded


def check_manifest(folder):
    """What --manifest says of digits.o against LLVM's own tools."""
    told = json.loads((folder / "digits.json").read_text())["object"]
    assert [(s["name"], s["bytes"]) for s in told["sections"]] == loaded_sections(folder / "digits.o"), told["sections"]
    assert told["bytes"] == (folder / "digits.o").stat().st_size
    names = {"globals": [], "undefined": []}
    for line in run(TOOLS / "llvm-nm", "--extern-only", folder / "digits.o").splitlines():
        *_, kind, name = line.split()
        names["undefined" if kind == "U" else "globals"].append(name)
    assert sorted(s["name"] for s in told["globals"]) == sorted(names["globals"]), told["globals"]
    assert told["undefined"] == sorted(names["undefined"]), told["undefined"]
    assert told["code_bytes"] > 1000 and told["constant_bytes"] > 70000, told


def check_budget(folder, machine):
    done = subprocess.run([RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", "digits.o", "--flash-budget", "64K"],
                          cwd=folder, capture_output=True, text=True, check=False)
    total = re.search(r"the object takes (\d+) bytes of flash, \d+ more than its budget of 65536", done.stderr)
    assert done.returncode == 1 and total, done.stderr
    pieces = [int(size) for size in re.findall(r"^[^:]*?(\d+) bytes (?!of)", done.stderr, re.M)]
    assert sum(pieces) == int(total[1]), (pieces, done.stderr)
    assert "kernel fused_conv" in done.stderr, done.stderr


def check_native(folder, machine, form, link):
    run(RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", "digits.o", "--manifest", "digits.json", cwd=folder)
    check_manifest(folder)
    check_budget(folder, machine)
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
    run(RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", "digits.o", "-Os", "--manifest", "digits.json", cwd=folder)
    check_manifest(folder)
    name = re.search(r"digits_run_\w+", (folder / "digits.h").read_text())[0]
    arena = re.search(r"ARENA_BYTES (\d+)", (folder / "digits.h").read_text())[1]
    run(TOOLS / "wasm-ld", "--no-entry", "--gc-sections", "--import-memory", "--export", name, "--export=__heap_base",
        "--allow-undefined", "digits.o", "-o", "digits.wasm", cwd=folder)
    (folder / "call.js").write_text(CALL)
    status, *logits = run("node", "call.js", "digits.wasm", arena, json.dumps(pixels()), cwd=folder).split()
    assert status == "0", status
    logits = [float(value) for value in logits]
    assert all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) for a, b in zip(logits, expected, strict=True)), logits


def check_library(folder, machine, extension, exports):
    """relaxc links by clang and compiles the runtime for the machine; `exports` prints what the library exports."""
    library = f"digits{extension}"
    for copy in ("first", library):  # the same bytes again
        run(RELAXC, DIGITS, "--dim", "n=1", "--target", machine, "-o", library, "--manifest", "digits.json", cwd=folder)
        if copy == "first":
            (folder / library).rename(folder / copy)
    assert (folder / "first").read_bytes() == (folder / library).read_bytes(), machine
    said = run(*exports, folder / library)
    assert "digits_model" in said and re.search(r"digits_run_\w{16}", said), said
    assert "rlx_" not in said, said
    told = {symbol["name"].lstrip("_") for symbol in json.loads((folder / "digits.json").read_text())["object"]["globals"]}
    assert "digits_model" in told, told


WASM_EXPORTS = """
const module_ = new WebAssembly.Module(require("fs").readFileSync(process.argv[2]));
const made = new WebAssembly.Instance(module_, {}).exports;
if (!(made.memory.buffer.byteLength > 0 && made.__heap_base.value > made.digits_model.value)) process.exit(1);
console.log(Object.keys(made).join(" "));
"""


def check_import_library(folder):
    """A program that calls the model links with the .lib that relaxc left beside the .dll, and asks that for the call."""
    (folder / "use.c").write_text("""#include "digits.h"
int mainCRTStartup(void) {
  static digits_arena arena;
  static float image[64], logits[10];
  static rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  const digits_args args = {image, logits};
  return digits_run(&context, &args);
}
""")
    run("clang", "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-I", REPOSITORY / "runtime-lite/include", "-c", "use.c",
        "-o", "use.obj", cwd=folder)
    run(TOOLS / "lld-link", "/nodefaultlib", "/subsystem:console", "/out:use.exe", "use.obj", "digits.lib", cwd=folder)
    asked = run(TOOLS / "llvm-readobj", "--coff-imports", "use.exe", cwd=folder)
    assert "Name: digits.dll" in asked and re.search(r"Symbol: digits_run_\w{16}", asked), asked


def check_libraries(folder):
    (folder / "exports.js").write_text(WASM_EXPORTS)
    check_library(folder, "x86-64-windows", ".dll", [TOOLS / "llvm-readobj", "--coff-exports"])
    check_import_library(folder)
    check_library(folder, "aarch64-macos", ".dylib", [TOOLS / "llvm-objdump", "--macho", "--exports-trie"])
    check_library(folder, "wasm32", ".wasm", ["node", folder / "exports.js"])
    for machine, extension, why in (("wasm32", ".dll", "'.dll' is a library of Windows, but the target is wasm32"),
                                 ("cortex-m4", ".so", "a shared library for thumbv7em-unknown-none-eabihf cannot be linked")):
        done = subprocess.run([RELAXC, DIGITS, "--target", machine, "-o", f"no{extension}"], cwd=folder, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 2 and why in done.stderr, done.stderr
    done = subprocess.run([RELAXC, DIGITS, "--target", "wasm32", "-o", "no.wasm"], cwd=folder, capture_output=True,
                          text=True, check=False, env={"PATH": str(folder)})
    assert done.returncode == 2 and "clang was not found; install clang and lld" in done.stderr, done.stderr


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
        if shutil.which("clang") and shutil.which("wasm-ld"):
            check_libraries(folder)
        else:
            print("no libraries of other formats: there is no clang with lld")


main()
