"""relax_rt.mjs in Node on .wasm files that relaxc wrote: numbers of every dtype, open and data-dependent sizes, states,
memory that a model asks for, modules of a model with their types, messages, and offsets of the records against a C compiler's.

Usage: javascript_test.py RELAXC REPOSITORY [unittest's own]"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
LOADER = ROOT / "runtime-lite/javascript/relax_rt.mjs"
missing = [tool for tool in ("node", "clang", "wasm-ld") if shutil.which(tool) is None]
if missing:
    print(f"skipped: there is no {', '.join(missing)}")
    sys.exit(77)

SHOW = "const show = (value) => console.log(JSON.stringify(value, (_, v) => typeof v === 'bigint' ? v + 'n' : ArrayBuffer.isView(v) ? [...v] : v));\n"
NODE_V8 = subprocess.run(["node", "-p", "process.versions.v8"], capture_output=True, text=True, check=True).stdout
PRODUCTS = """@R.function
def main(x: R.Tensor((16, 16), "float32"), w: R.Tensor((16, 16), "float32")):
    with R.dataflow():
        y = R.matmul(x, w)
        z = R.multiply(R.exp(x), R.tanh(w))
        R.output(y, z)
    return (y, z)
"""
STATEFUL = """@R.function
def main(x: R.Tensor(("n", 4), "float32"), h: R.Tensor(("n", 4), "float32")):
    with R.dataflow():
        y = R.add(x, h)
        z = R.multiply(y, y)
        R.output(y, z)
    return (y, z)
"""


def samples(name):
    text = (ROOT / "examples/digits/samples.h").read_text(encoding="utf-8")
    return [int(number) for number in re.findall(r"\d+", text.split(f"sample_{name}[", 1)[1].split("=", 1)[1].split(";", 1)[0])]


class JavaScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def wasm(self, source, *flags):
        if isinstance(source, str):
            (self.folder / "m.relax").write_text(source, encoding="utf-8")
            source = self.folder / "m.relax"
        subprocess.run([RELAXC, source, "-o", self.folder / "m.wasm", *flags], check=True, capture_output=True)

    def node(self, text):
        """What a program prints, whose model `m` is loaded: a line of JSON for each `show`."""
        program = self.folder / "run.mjs"
        program.write_text(f'import {{ load, RelaxError }} from "{LOADER}";\n{SHOW}const m = await load("m.wasm");\n{text}',
                           encoding="utf-8")
        done = subprocess.run(["node", program], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_digits_in_batches_of_any_size(self):
        pixels, truth = samples("pixels"), samples("truth")
        for target in ("wasm32", "wasm32-simd"):
            self.wasm(ROOT / "examples/digits/digits.onnx", "--target", target)
            inputs, *logits = self.node(f"show([m.name, m.inputs, m.outputs]); const pixels = {pixels};"
                                        "for (const n of [12, 1, 12]) show(m.run({image: pixels.slice(0, 64 * n)}).logits);")
            self.assertEqual(inputs, ["m", [{"name": "image", "dtype": "float32", "shape": ["n", 1, 8, 8]}],
                                      [{"name": "logits", "dtype": "float32", "shape": ["n", 10]}]])
            for found, size in zip(logits, (12, 1, 12), strict=True):
                self.assertEqual(found["shape"], [size, 10])
                rows = [found["data"][10 * i:10 * i + 10] for i in range(size)]
                self.assertEqual([row.index(max(row)) for row in rows], truth[:size])

    def test_dtypes(self):
        values = {"int8": "Int8Array.of(-3, 4)", "uint8": "Uint8Array.of(3, 250)", "int16": "Int16Array.of(-300, 4)",
                  "uint16": "Uint16Array.of(3, 65530)", "int32": "Int32Array.of(-70000, 4)",
                  "uint32": "Uint32Array.of(3, 4294967290)", "int64": "BigInt64Array.of(-5000000000n, 4n)",
                  "uint64": "BigUint64Array.of(3n, 4n)", "float32": "Float32Array.of(-1.5, 4)",
                  "float64": "Float64Array.of(-0.1, 4)", "bool": "Uint8Array.of(1, 0)", "bfloat16": "Uint16Array.of(0x3fc0, 0x4000)",
                  "float16": "Uint16Array.of(0x3c00, 0x4000)"}
        names = list(values)
        arguments = ", ".join(f'i{i}: R.Tensor((2,), "{name}")' for i, name in enumerate(names))
        body = "".join(f"    o{i} = R.concat((i{i}, i{i}), axis=0)\n" for i in range(len(names)))
        self.wasm(f"@R.function\ndef main({arguments}):\n{body}    return ({', '.join(f'o{i}' for i in range(len(names)))})\n")
        given = ", ".join(f"i{i}: {values[name]}" for i, name in enumerate(names))
        shown, = self.node(f"const given = {{{given}}}; const found = m.run(given);"
                           "show(Object.values(found).map((one, i) => [one.dtype, one.shape, String([...one.data]) ==="
                           "String([...given['i' + i], ...given['i' + i]]) || [...one.data]]));")
        for (dtype, shape, same), name in zip(shown, names, strict=True):
            self.assertEqual((dtype, shape), (name, [4]))
            if name != "float16" or same is not True:  # where there is a Float16Array, the result is numbers
                self.assertIn(same, (True, [1, 2, 1, 2]), name)

    def test_sizes_that_data_decide(self):
        self.wasm('@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    y = R.nonzero(x)\n    return y\n')
        one, many = self.node("""const name = m.outputs[0].name;
            show(m.run({x: [0, 2, 0, 3]})[name]);
            const long = new Float32Array(300000).fill(1); show(m.run({x: long})[name].data.length);""")
        self.assertEqual((one["shape"], one["data"]), ([1, 2], ["1n", "3n"]))
        self.assertEqual(many, 300000)

    def test_memory_that_a_model_asks_for(self):
        self.wasm("""@R.function
def main(f: R.Tensor((1,), "float64")):
    k = T.int64()
    s = R.match_cast(R.tensor_to_shape(R.astype(f, "int64")), R.Shape([k]))
    y = R.sum(R.cumsum(R.ones((k, k), "float32"), axis=0))
    return y
""")
        name = "const name = m.outputs[0].name;"
        self.assertEqual(self.node(name + "for (const k of [3, 200, 7]) show(m.run({f: [k]})[name].data);"),
                         [[18], [200 * 200 * 201 / 2], [7 * 7 * 4]])
        said, = self.node("try { m.run({f: [100000]}); } catch (error) { show([error instanceof RelaxError, error.status]); }")
        self.assertEqual(said, [True, "OUT_OF_MEMORY"])

    def test_states(self):
        self.wasm(STATEFUL, "--state", "h:y")
        shown = self.node("""try { m.stream(); } catch (error) { show(error.message); }
            const stream = m.stream({n: 2}), x = {data: new Float32Array(8).fill(1), shape: [2, 4]};
            for (let i = 0; i < 3; ++i) show(stream.run({x}).z.data[7]);
            show(stream.states.h.data[0]); stream.reset(); show(stream.run({x}).z.data[0]);""")
        self.assertIn("the size of a dim of state h: float32 [n, 4] is open", shown[0])
        self.assertEqual(shown[1:], [1, 4, 9, 3, 1])

    def module(self, source, *flags):
        """Writes m.wasm and the module m.mjs that loads it."""
        (self.folder / "m.relax").write_text(source, encoding="utf-8")
        subprocess.run([RELAXC, "m.relax", "-o", "m.wasm", "--emit=js", *flags], cwd=self.folder, check=True, capture_output=True)

    def types(self, text):
        """What TypeScript's compiler says of a program that imports the module m."""
        if shutil.which("tsc") is None:
            self.skipTest("there is no tsc")
        (self.folder / "use.mts").write_text(text, encoding="utf-8")
        done = subprocess.run(["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution",
                               "nodenext", "--lib", "es2022,dom", "use.mts"], cwd=self.folder, capture_output=True, text=True, check=False)
        return re.split(r"\n(?=\S)", done.stdout.strip()) if done.stdout.strip() else []

    def test_a_module_of_the_model(self):
        self.module(STATEFUL, "--state", "h:y", "--target", "wasm32-simd")
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"m.relax", "m.wasm", "m.mjs", "m.d.mts", "relax_rt.mjs", "relax_rt.d.mts", "relax_rt_threads.mjs",
                          "relax_rt_threads.d.mts", "relax_rt_worker.mjs"})
        program = self.folder / "use.mjs"
        program.write_text("""import { load, RelaxError } from "./m.mjs";
const model = await load(), x = { data: new Float32Array(8).fill(1), shape: [2, 4] };
const stream = model.functions.main.stream({ n: 2 });
for (let i = 0; i < 3; ++i) console.log(stream.run({ x }).z.data[7]);
try { model.run({ x, h: { data: new Float32Array(4), shape: [1, 4] } }); } catch (e) { console.log(e instanceof RelaxError, e.status); }
""", encoding="utf-8")
        done = subprocess.run(["node", program], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("1\n4\n9\ntrue SYMBOL_EQUALITY\n", ""))
        module = self.folder / "m.mjs"
        module.write_text(re.sub('hash: "....', 'hash: "----', module.read_text(encoding="utf-8")), encoding="utf-8")
        done = subprocess.run(["node", program], cwd="/", capture_output=True, text=True, check=False)
        self.assertIn("m.wasm is from another compilation than this module", done.stderr)

    def versions(self, target, program, source=PRODUCTS):
        """What a program prints in an engine with relaxed vectors, and in one without vectors of any kind; and the hashes of
        the binaries among which the module m chooses, the best first."""
        self.module(source, "--target", target)
        (self.folder / "use.mjs").write_text(program, encoding="utf-8")
        older = tuple(int(part) for part in NODE_V8.split(".")[:2]) < (11, 4)
        engines = [["--experimental-wasm-relaxed-simd"] if older else [],
                   ["--import", "data:text/javascript,WebAssembly.validate = () => false;"]]
        shown = []
        for flags in engines:
            done = subprocess.run(["node", *flags, "use.mjs"], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shown.append([json.loads(line) for line in done.stdout.splitlines()])
        return shown, re.findall(r'hash: "(\w+)"', (self.folder / "m.mjs").read_text(encoding="utf-8"))

    def test_the_module_chooses_among_versions(self):
        shown, hashes = self.versions("wasm32,wasm32-simd,wasm32-relaxed", """import { load, loadInWorker } from "./m.mjs";
const print = (value) => console.log(JSON.stringify(value));
for (const loading of [load, loadInWorker]) {
  const model = await loading(), x = new Float32Array(256).map((_, i) => i % 7);
  print([model.hash, Object.values(await model.run({ x, w: x }))[0].data[17]]);
  model.close();
}
print((await load(new URL("./m.wasm32-simd.wasm", import.meta.url))).hash);
""")
        exact = sum(((16 + i) % 7) * ((16 * i + 1) % 7) for i in range(16))
        relaxed, simd, plain = hashes
        for lines, chosen in zip(shown, (relaxed, plain), strict=True):
            self.assertEqual(lines, [[chosen, exact], [chosen, exact], simd])
        self.assertEqual({path.name for path in self.folder.glob("m.*")},
                         {"m.relax", "m.mjs", "m.d.mts", "m.wasm", "m.wasm32-simd.wasm", "m.wasm32-relaxed.wasm"})

    def test_relaxed_sums_round_as_documented_and_functions_not_at_all(self):
        (relaxed, plain), _ = self.versions("wasm32-simd,wasm32-relaxed", """import { load } from "./m.mjs";
let seed = 7;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5;
const model = await load(), x = new Float32Array(256).map(random), w = new Float32Array(256).map(random);
const [y, z] = Object.values(model.run({ x, w }));
let worst = 0;
for (let i = 0; i < 256; ++i) {
  const row = 16 * (i >> 4), column = i & 15;
  let sum = 0, magnitude = 0;
  for (let k = 0; k < 16; ++k) {
    const product = x[row + k] * w[16 * k + column];
    sum += product, magnitude += Math.abs(product);
  }
  worst = Math.max(worst, Math.abs(y.data[i] - sum) / (16 * 2 ** -23 * magnitude));
}
console.log(JSON.stringify([worst <= 1]));
console.log(JSON.stringify([...new Uint32Array(z.data.buffer)]));
""")
        self.assertEqual((relaxed[0], plain[0]), ([True], [True]))
        self.assertEqual(relaxed[1], plain[1])  # exp, tanh: to the bit
        self.assertEqual(len(set(plain[1])), 256)

    def test_a_module_by_its_own_extension_is_the_same(self):
        self.module(STATEFUL, "--state", "h:y")
        files = {path: path.read_bytes() for path in self.folder.iterdir()}
        subprocess.run([RELAXC, "m.relax", "-o", "m.mjs", "--state", "h:y"], cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(files, {path: path.read_bytes() for path in self.folder.iterdir()})

    def test_types_say_names_arrays_shapes_and_states(self):
        self.module(STATEFUL, "--state", "h:y")
        use = """import { load } from "./m.mjs";
const model = await load(), data = new Float32Array(8);
const z: Float32Array = model.run({ x: { data, shape: [2, 4] }, h: [1, 2, 3, 4] }).z.data;
const [n, four]: [number, 4] = model.functions.main.run({ x: data, h: data }).y.shape;
const stream = model.stream({ n: 2 });
const two: 4 = stream.run({ x: data }).z.shape[1];
"""
        self.assertEqual(self.types(use), [])
        wrong = {"model.run({ x: data });": "is missing in type", "model.run({ x: data, h: data, i: data });": "'i' does not exist",
                 "model.run({ x: new BigInt64Array(8), h: data });": "BigInt64Array",
                 "model.run({ x: { data, shape: [2, 5] }, h: data });": "'5' is not assignable to type '4'",
                 "model.stream();": "Expected 1 arguments", "model.stream({ k: 2 });": "'k' does not exist",
                 "stream.run({ x: data, h: data });": "'h' does not exist", "model.functions.other;": "'other' does not exist"}
        found = self.types(use + "\n".join(wrong))
        first = 1 + use.count("\n")
        for line, (call, said) in enumerate(wrong.items(), first):
            with self.subTest(call=call):
                self.assertTrue([one for one in found if one.startswith(f"use.mts({line},") and said in one], found)

    def test_types_of_every_dtype_and_name(self):
        dtypes = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
                  "bool", "float8_e4m3fn"]
        names = ["a", "class_", "default", "q_r"] + [f"x{i}" for i in range(len(dtypes) - 4)]
        arguments = ", ".join(f'{name}: R.Tensor((2, "n"), "{dtype}")' for name, dtype in zip(names, dtypes, strict=True))
        self.module(f"@R.function\ndef main({arguments}, s: R.Tensor((\"n\", \"k\"), \"float32\")):\n"
                    f"    return ({', '.join(names)}, s)\n"
                    '@R.function\ndef delete(x: R.Tensor((), "int64")):\n    return x\n')
        texts = (self.folder / "m.d.mts").read_text(encoding="utf-8")
        arrays = ["Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array",
                  "Float16Elements", "Uint16Array", "Float32Array", "Float64Array", "Uint8Array", "Uint8Array"]
        for name, array in zip(names, arrays, strict=True):
            self.assertRegex(texts, rf'"{name}": InputOf<{array}, (number|bigint), \[2, number\]>;')
        self.assertIn('"s": ShapedInputOf<Float32Array, number, [number, number]>', texts)
        self.assertEqual(self.types("""import { load } from "./m.mjs";
const model = await load();
const back: bigint = model.functions.delete.run({ x: [3n] })[model.functions.delete.outputs[0]!.name as never]["data"][0];
"""), [])

    def test_modules_that_cannot_be(self):
        (self.folder / "m.relax").write_text(STATEFUL, encoding="utf-8")
        for flags, said in ((["-o", "m.o", "--emit=js"], "'m.o' is neither"),
                            (["-o", "m.mjs", "--names", "none"], "leave out --names none"),
                            (["-o", "m.mjs", "--weights", "m.bin"], "leave out --weights"),
                            (["-o", "m.wasm", "--target", "wasm32,wasm32-simd"], "write one with -o model.mjs"),
                            (["-o", "m.mjs", "--target", "wasm32-simd,wasm32-threads"], "all with threads or all without"),
                            (["-o", "m.mjs", "--target", "wasm32-simd,cortex-m4"], "all with threads or all without"),
                            (["-o", "m.mjs", "--target", "wasm32-simd,wasm32-relax"], "did you mean 'wasm32-relaxed'"),
                            (["-o", "relax_rt.mjs", "--name", "m"], "two outputs would be written there")):
            done = subprocess.run([RELAXC, "m.relax", *flags], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertIn(said, done.stderr)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual([path.name for path in self.folder.iterdir()], ["m.relax"])

    def test_messages(self):
        self.wasm(ROOT / "examples/digits/digits.onnx", "--dim", "n=1..12")
        tries = ["{}", "{image: new Float32Array(64), other: [1]}", "{image: new Float64Array(64)}",
                 "{image: new Float32Array(100)}", "{image: {data: new Float32Array(63), shape: [1, 1, 8, 8]}}",
                 "{image: {data: new Float32Array(72), shape: [1, 1, 9, 8]}}",
                 "{image: {data: new Float32Array(64), shape: [1, 8, 8]}}", "{image: new Float32Array(64 * 13)}"]
        said = self.node("".join(f"try {{ m.run({one}); }} catch (error) {{ show(error.name + ': ' + error.message); }}\n"
                                 for one in tries))
        self.assertEqual(said, [
            "TypeError: nothing is given for input 'image'; there are: image: float32 [n, 1, 8, 8]",
            "TypeError: there is no input 'other'; there are: image: float32 [n, 1, 8, 8]",
            "TypeError: input 'image' is float32 in a Float32Array, found a Float64Array",
            "TypeError: input image: float32 [n, 1, 8, 8] cannot have 100 elements",
            "TypeError: input 'image' has 63 elements, its shape [1, 1, 8, 8] has 64",
            "RelaxError: m.main: STATIC_DIM at input 'image', dim 2: found 9, expected 8",
            "RelaxError: m.main: RANK at input 'image': found 3, expected 4",
            "RelaxError: m.main: DIM_BOUNDS at input 'image', dim 0: found 13, expected 12"])

    def test_records_have_the_layout_of_a_c_compiler(self):
        text = LOADER.read_text(encoding="utf-8")
        records = dict(re.findall(r"^const (\w+) = layout\(fieldsOf\([`\"]([^`\"]*)[`\"]\)\);", text, re.M | re.S))
        structs = {"MODEL": "rlx_model", "FUNCTION": "rlx_function", "SPEC": "rlx_tensor_spec", "SYMBOL": "rlx_symbol",
                   "TENSOR": "rlx_tensor", "ERROR": "rlx_error", "POOL_SPEC": "rlx_memory_pool_spec",
                   "POOL": "rlx_memory_pool", "CONTEXT": "rlx_context"}
        self.assertEqual(set(records), set(structs))
        sizes = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "i64": 8, "u64": 8, "pointer": 4}
        checks = ['#include <stddef.h>\n#include "relax_rt.h"\n']
        for record, struct in structs.items():
            at = 0
            for name, kind in (field.split(":") for field in records[record].split()):
                at = -(-at // sizes[kind]) * sizes[kind]
                checks.append(f'_Static_assert(offsetof({struct}, {name}) == {at} && '
                              f'sizeof((({struct}*)0)->{name}) == {sizes[kind]}, "{struct}.{name}");\n')
                at += sizes[kind]
        (self.folder / "offsets.c").write_text("".join(checks), encoding="utf-8")
        subprocess.run(["clang", "--target=wasm32", "-ffreestanding", "-fsyntax-only", f"-I{ROOT}/runtime-lite/include",
                        self.folder / "offsets.c"], check=True)

    def test_statuses_are_those_of_the_header(self):
        header = (ROOT / "runtime-lite/include/relax_rt.h").read_text(encoding="utf-8")
        named = dict(re.findall(r"^ *RLX_(\w+) += (\d+),?", header, re.M))
        listed = {name: number for number, name in
                  re.findall(r'(\d+): "([A-Z_]+)"', LOADER.read_text(encoding="utf-8").split("STATUSES = {")[1].split("};")[0])}
        for name, number in listed.items():
            self.assertEqual(named.get(name), number, name)
        self.assertGreater(len(listed), 30)


if __name__ == "__main__":
    unittest.main()
