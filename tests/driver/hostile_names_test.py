"""Names of a model may hold anything. One model has all that is special to some language, as names of inputs, outputs, dims,
nodes, weights and of the model itself, and goes through each form of output: what reads that form has to take it, names come
back as they were where a form can hold them, and nothing of them is run, ends a page or hides what stands behind it.

tests/unit/interface/headers_test.py has more names, for headers and Rust.

Usage: hostile_names_test.py RELAXC RUNTIME [unittest's own]"""

import importlib.util
import json
import re
import shutil
import subprocess
import unicodedata
import unittest
from pathlib import Path

import program
import wire
from program import INCLUDE, LINK_FLAGS, RUNTIME, ProgramTest

ROOT = Path(__file__).resolve().parents[2]

NAMES = ["\"", "'", "a\"); system(\"touch OWNED", "$(touch OWNED)", "`touch OWNED`", "; touch OWNED;", "\nall:\n\ttouch OWNED", "a\\", "a\\\n",
         "\\\"", "../../OWNED", "/OWNED", ".", "..", "</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "]]>",
         "*/ int broken; /*", "//", "/*", "??/", "a??/\nb", "??)", "\n#error x", "#define x y", "%s%n", "{}", "{0}", "${x}", "#{x}", "{{x}}",
         "int", "while", "class", "fn", "function", "__proto__", "constructor", "toString", "then", "default", "self", "None", "NULL", "errno",
         "\t", "\r\n", " ", "a b", "\x01", "\x07\x1b[2J", "\x7f", "\x85", "\u2028", "\u2029", "\u202egnp.exe", "\u2066x", "\u200b", "\ufeff",
         "\U000e0041", "e\u0301", "\u00e9", "🙂", "١", "a" * 10_000, "=", "a=b", "a:b", "~", "-x", "--help", "@R.function", "R.Tensor", "x]", "(", "],",
         "\"\"\"", "r\"", "\\N{DASH}", "\\u0041", "file", "relax.expr.Constant[0]"]
BYTES = [b"nul\0end", b"\0", b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"a\x80b", b"\xf8\x88\x80\x80\x80"]
# Characters that no text may hold as they are: controls but tab and newline, and what changes how others are shown.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


def raw(name):
    return name.encode() if isinstance(name, str) else name


def model(names, dims=True):
    """For each name an input of that name, and dim, and an output of the name behind "o"."""
    nodes, inputs, outputs, weights = [], [], [], []
    for i, name in enumerate(names):
        shape = (raw(name), 2) if dims else (2,)
        nodes.append(wire.node("Add", [raw(name), b"w" + raw(name)], [b"t" + raw(name)], name=raw(name)))
        nodes.append(wire.node("Relu", [b"t" + raw(name)], [b"o" + raw(name)], name=raw(name)))
        inputs.append(wire.value_info(raw(name), shape))
        outputs.append(wire.value_info(b"o" + raw(name), shape))
        weights.append(wire.tensor(b"w" + raw(name), (2,), bytes([i % 100]) * 8))
    return wire.model(nodes, inputs, outputs, weights)


class HostileNames(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("all.onnx", model(NAMES + BYTES))
        self.write("text.onnx", model(NAMES))
        self.write("few.onnx", model(NAMES[:12] + BYTES[:3]))
        self.write("fixed.onnx", model(NAMES + BYTES, dims=False))

    def tearDown(self):
        self.assertEqual([name for name in self.files() if Path(name).name == "OWNED"], [])
        self.assertFalse((self.path.parent / "OWNED").exists() or (self.path.parent.parent / "OWNED").exists() or Path("/OWNED").exists())

    def text(self, name):
        """A file as UTF-8 that shows all that it holds."""
        text = (self.path / name).read_text(encoding="utf-8")
        self.shows_all(text, name)
        return text

    def shows_all(self, text, what):
        found = HIDDEN.search(text)
        self.assertIsNone(found, f"{what}: {found and text[max(0, found.start() - 40):found.end() + 20]!r}")

    def run_quietly(self, *command, **keywords):
        done = subprocess.run([str(word) for word in command], cwd=self.path, capture_output=True, timeout=120, check=False, **keywords)
        self.assertEqual((done.returncode, done.stderr.decode(errors="replace")), (0, ""))
        return done.stdout

    def test_headers_and_rust(self):
        self.compiles("all.onnx", "-O0", "-o", "m.o", "--rust", "m.rs")
        self.text("m.h")
        self.text("m.rs")
        for compiler, standard in (("gcc", "c99"), ("gcc", "gnu2x"), ("g++", "c++11"), ("g++", "c++20")):
            self.write("use.c", '#include "m.h"\nint use(m_args *a);\nint use(m_args *a) { return a != 0; }\n')
            self.run_quietly(compiler, f"-std={standard}", "-x", "c++" if compiler == "g++" else "c", "-Wall", "-Wextra", "-pedantic", "-Wundef",
                             "-Werror", "-I", INCLUDE, "-fsyntax-only", "use.c")
        if shutil.which("rustc") is not None:
            self.run_quietly("rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "-A", "warnings", "m.rs")

    def test_c(self):
        for flags in ([], ["--c-vectors=none", "--c-split=8K"]):
            self.compiles("all.onnx", "-O1", "-o", "m.c", *flags)
            for path in self.path.glob("m*.c"):
                self.text(path.name)
                self.run_quietly("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wtrigraphs", "-Werror", "-Wno-psabi", "-ffp-contract=off", "-I", INCLUDE,
                                 "-c", path.name)

    def test_a_selftest(self):
        self.write("main.c", '#include "m.h"\nstatic _Alignas(64) char memory[1 << 20];\nint main(void) {\n  rlx_context context = RLX_CONTEXT_INIT;\n'
                             '  context.arena = memory, context.arena_bytes = sizeof memory;\n  return m_selftest(&context);\n}\n')
        for output in ("m.o", "m.c"):
            self.compiles("fixed.onnx", "-O1", "-o", output, "--emit-selftest")
            self.run_quietly("cc", "-std=c11", "-Wno-psabi", *LINK_FLAGS, "-I", INCLUDE, "-ffp-contract=off", "main.c", output, RUNTIME, "-lm", "-o", "test")
            self.run_quietly("./test")

    def test_json_has_the_names(self):
        self.compiles("all.onnx", "-O0", "-o", "m.o", "--manifest", "m.json", "--report", "r.json")
        manifest = json.loads(self.text("m.json"))
        names = [tensor["name"] for tensor in manifest["functions"][0]["inputs"]]
        self.assertEqual(names[:len(NAMES)], NAMES)
        json.loads(self.text("r.json"))
        done = self.relaxc("all.onnx", "--check=json")
        self.shows_all(done.out, "--check=json")
        self.assertTrue(json.loads(done.out)["compiles"])

    def test_a_page_ends_where_it_should(self):
        self.compiles("relu.onnx", "-o", "plain.o", "--report", "plain.html")
        self.compiles("all.onnx", "-O0", "-o", "m.o", "--report", "m.html")
        page, plain = self.text("m.html"), self.text("plain.html")
        for tag in ("<script", "</script", "<img", "<!--"):
            self.assertEqual(page.count(tag), plain.count(tag))
        data = page.split('<script id="data" type="application/json">')[1].split("</script>")[0]
        json.loads(data)

    def test_a_graph(self):
        self.compiles("all.onnx", "-o", "m.dot")
        self.text("m.dot")
        if shutil.which("dot") is not None:
            self.run_quietly("dot", "-Tplain", "m.dot", "-o", "m.plain")

    def test_text_is_read_back(self):
        for source, name in (("all.onnx", "m"), ("text.onnx", "n")):
            self.compiles(source, "-o", f"{name}.relax")
            self.text(f"{name}.relax")
            self.compiles(f"{name}.relax", "-o", f"{name}2.relax", "--name", "x")
            self.compiles(f"{name}2.relax", "-o", f"{name}3.relax", "--name", "x")
            self.assertEqual((self.path / f"{name}2.relax").read_bytes(), (self.path / f"{name}3.relax").read_bytes())
        self.compiles("n.relax", "-O0", "-o", "again.o", "--name", "m", "--manifest", "again.json")
        names = [tensor["name"] for tensor in json.loads((self.path / "again.json").read_text())["functions"][0]["inputs"]]
        self.assertEqual(len(names), len(NAMES))

    def test_what_is_printed(self):
        for arguments in (["all.onnx", "-O1", "-o", "m.o", "-v", "--print-after", "all"], ["all.onnx", "--stop-after", "infer"],
                          ["inspect", "few.onnx", "--explain"], ["inspect", "few.onnx", "--prove"], ["inspect", "few.onnx", "--safety"],
                          ["inspect", "few.onnx", "--safety=json"], ["run", "few.onnx", "--random", "--runtime", RUNTIME],
                          ["bench", "few.onnx", "--profile", "--repeat", "2", "--runtime", RUNTIME], ["all.onnx", "--check"],
                          ["verify", "few.onnx", "--runtime", RUNTIME], ["few.onnx", "-o", "m.o", "--opt-bisect-limit", "3"]):
            with self.subTest(arguments):
                done = self.compiles(*arguments)
                self.shows_all(done.out + done.err, arguments)

    def test_arrays_of_a_run(self):
        self.compiles("run", "few.onnx", "--random", "-o", "out/in/side", "--runtime", RUNTIME)
        names = [path.name for path in (self.path / "out/in/side").iterdir()]
        self.assertEqual(len(names), len(NAMES[:12] + BYTES[:3]))
        for name in names:
            self.shows_all(name, "a file's name")

    def test_a_program(self):
        self.compiles("few.onnx", "-o", "m", "--runtime", RUNTIME, "--cc", self.linker())
        said = self.run_quietly("./m", "--help").decode(errors="replace")
        self.shows_all(said, "--help")
        self.assertIn("\\x0aall:\\x0a\\x09touch OWNED: float32", said)
        self.write("x\n\x1b[2J.npy", b"no array")
        done = subprocess.run(["./m", "x\n\x1b[2J.npy"], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read x\\x0a\\x1b[2J.npy: ", done.stderr)

    def test_a_module_of_javascript(self):
        if any(shutil.which(tool) is None for tool in ("node", "clang", "wasm-ld")):
            self.skipTest("there is no node, or no clang with lld")
        self.compiles("all.onnx", "-O0", "-o", "m.mjs", "--runtime", ROOT / "runtime-lite")
        for name in ("m.mjs", "m.d.mts"):
            self.text(name)
        self.write("names.mjs", 'import { load } from "./m.mjs";\nconst m = await load();\n'
                                "console.log(JSON.stringify(m.inputs.map((one) => one.name)));\n")
        names = json.loads(self.run_quietly("node", "names.mjs"))
        self.assertEqual(names[:len(NAMES)], NAMES)
        if shutil.which("tsc") is not None:
            self.run_quietly("tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "m.d.mts")

    def test_a_loader_of_python(self):
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("there is no numpy")
        spec = importlib.util.spec_from_file_location("relax_rt", ROOT / "runtime-lite/python/relax_rt.py")
        relax_rt = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(relax_rt)
        self.compiles("text.onnx", "-O0", "-o", "m.so", "--runtime", RUNTIME)
        found = relax_rt.load(self.path / "m.so").functions["main"]
        self.assertEqual([relax_rt.name_of(tensor) for tensor in found.inputs], NAMES)

    def test_make(self):
        """The dependency file has names of files alone; tests/driver/depfile_test.py has those."""
        self.compiles("all.onnx", "-O0", "-o", "m.o", "-MD", "-MP")
        self.text("m.d")
        self.write("Makefile", "m.o:\n\t@true\n-include m.d\n")
        self.run_quietly("make", "-s")

    def test_names_that_shells_of_the_test_know(self):
        self.assertTrue(all(unicodedata.is_normalized("NFC", name) or "\u0301" in name for name in NAMES))
        self.assertEqual(len(set(map(raw, NAMES + BYTES))), len(NAMES + BYTES))


if __name__ == "__main__":
    program.main()
