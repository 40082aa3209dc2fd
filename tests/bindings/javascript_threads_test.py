"""relax_rt_threads.mjs: models on several threads and in workers, in Node and in a page.

Usage: javascript_threads_test.py RELAXC REPOSITORY [unittest's own]"""

import functools
import http.server
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
missing = [tool for tool in ("node", "clang", "wasm-ld") if shutil.which(tool) is None]
if missing:
    print(f"skipped: there is no {', '.join(missing)}")
    sys.exit(77)

SHOW = "const show = (value) => console.log(JSON.stringify(value, (_, v) => typeof v === 'bigint' ? v + 'n' : ArrayBuffer.isView(v) ? [...v] : v));\n"
# Rows are divided among threads; a row of an index outside of the table ends the task that reads it.
PRODUCTS = """@R.function
def main(x: R.Tensor(("n", 64), "float32"), rows: R.Tensor(("n",), "int64")):
    with R.dataflow():
        y = R.matmul(x, R.ones((64, 64), "float32"))
        z = R.take(y, rows, axis=0)
        R.output(z)
    return z
"""
STATEFUL = """@R.function
def main(x: R.Tensor(("n", 4), "float32"), h: R.Tensor(("n", 4), "float32")):
    with R.dataflow():
        y = R.add(x, h)
        z = R.multiply(y, y)
        R.output(y, z)
    return (y, z)
"""
GIVEN = """const given = (n, last = n - 1) => ({ x: { data: new Float32Array(64 * n).map((_, i) => i % 5), shape: [n, 64] },
  rows: BigInt64Array.from({ length: n }, (_, i) => BigInt(i === 0 ? last : n - 1 - i)) });
const only = (results) => Object.values(results)[0];
"""


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder on a port of this machine, and takes what a page posts. Pages of an isolated server may share memory
    between threads."""

    def __init__(self, folder, isolated):
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.isolated, self.posted = isolated, queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_):
        pass

    def end_headers(self):
        if self.server.isolated:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def do_POST(self):
        self.server.posted.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()


class Threads(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compiled(self, source, *flags):
        """Writes m.wasm, m.mjs and the files that they import."""
        (self.folder / "m.relax").write_text(source, encoding="utf-8")
        subprocess.run([RELAXC, "m.relax", "-o", "m.mjs", *flags], cwd=self.folder, check=True, capture_output=True)

    def node(self, text):
        """What a program prints that imports the module m: a line of JSON for each `show`."""
        program = self.folder / "run.mjs"
        program.write_text('import { load, loadInWorker, RelaxError } from "./m.mjs";\n' + SHOW + GIVEN + text, encoding="utf-8")
        done = subprocess.run(["node", program], cwd="/", capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_threads_give_the_numbers_of_one(self):
        self.compiled(PRODUCTS, "--target", "wasm32-threads")
        shown = self.node("""const one = await load(), three = await load(undefined, { threads: 3 });
            show([one.threads, three.threads]);
            let same = 0;
            for (let i = 0; i < 300; ++i) {
              const n = 1 + (i * 37) % 200, a = only(one.run(given(n))), b = only(three.run(given(n)));
              same += a.data.every((value, k) => value === b.data[k]) && a.data.length === 64 * n && !(b.data.buffer instanceof SharedArrayBuffer);
            }
            show(same);
            three.close(); show([three.threads, only(three.run(given(3))).shape]);""")
        self.assertEqual(shown, [[1, 3], 300, [1, [3, 64]]])

    def test_what_fails_in_a_thread_is_told(self):
        self.compiled(PRODUCTS, "--target", "wasm32-threads")
        shown = self.node("""const m = await load(undefined, { threads: 3 });
            for (const n of [200, 3, 200]) {
              try { m.run(given(n, n + 5)); show("ran"); } catch (error) { show([error instanceof RelaxError, error.status]); }
              show(only(m.run(given(n))).shape);
            }""")
        self.assertEqual(shown, [[True, "INDEX_RANGE"], [200, 64], [True, "INDEX_RANGE"], [3, 64], [True, "INDEX_RANGE"], [200, 64]])

    def test_memory(self):
        """Weights of 1.2 MB are more than a shared memory begins with, and memory grows under waiting threads."""
        rows = [[(3 * i + j) % 7 for j in range(300)] for i in range(1000)]
        self.compiled(f"""@R.function
def main(x: R.Tensor(("n", 1000), "float32")):
    with R.dataflow():
        y = R.matmul(x, R.const({rows}, "float32"))
        R.output(y)
    return y
""", "--target", "wasm32-threads")
        sums = [sum(column) for column in zip(*rows, strict=True)]
        text = f"const sums = {sums};\n" + """const m = await load(undefined, { threads: 2, maximumBytes: LIMIT });
            const rows = (n) => ({ x: { data: new Float32Array(1000 * n).fill(1), shape: [n, 1000] } });
            for (const n of [1, 2000, 5]) show(only(m.run(rows(n))).data.every((value, i) => value === sums[i % 300]));
            try { m.run(rows(20000)); show("ran"); } catch (error) { show(error.name); }"""
        self.assertEqual(self.node(text.replace("LIMIT", "2 ** 25")), [True, True, True, "RangeError"])
        self.assertEqual(self.node(text.replace("LIMIT", "2 ** 30")), [True, True, True, "ran"])

    def test_models_that_are_not_made_for_threads(self):
        self.compiled(PRODUCTS, "--target", "wasm32-simd")
        self.assertEqual(self.node("try { await load(undefined, { threads: 2 }); } catch (error) { show(error.message); }"),
                         ["the model is not made for threads; compile it with --target wasm32-threads"])

    def test_a_model_in_a_worker(self):
        for target, threads in (("wasm32", 1), ("wasm32-threads", 2)):
            with self.subTest(target=target):
                self.compiled(PRODUCTS, "--target", target)
                shown = self.node(f"""const m = await loadInWorker(undefined, {{ threads: {threads} }});
                    show([m.name, m.threads, m.inputs.map((one) => one.shape)]);
                    const [a, b] = await Promise.all([m.run(given(2)), m.run(given(70))]);
                    show([only(a).shape, only(b).shape]);
                    show(only(await m.functions.main.run(given(2))).data.every((value, i) => value === only(a).data[i]));
                    try {{ await m.run(given(9, 9)); }} catch (error) {{ show([error instanceof RelaxError, error.status, error.record.expected]); }}
                    try {{ await m.run({{}}); }} catch (error) {{ show(error.name); }}
                    m.close();
                    try {{ await m.run(given(2)); }} catch (error) {{ show(error.message); }}""")
                self.assertEqual(shown, [["m", threads, [["n", 64], ["n"]]], [[2, 64], [70, 64]], True, [True, "INDEX_RANGE", "9n"],
                                         "TypeError", "the worker of this model is closed"])

    def test_streams_in_a_worker(self):
        self.compiled(STATEFUL, "--state", "h:y")
        shown = self.node("""const m = await loadInWorker(), x = { data: new Float32Array(8).fill(1), shape: [2, 4] };
            const a = await m.stream({ n: 2 }), b = await m.stream({ n: 2 });
            for (let i = 0; i < 3; ++i) show((await a.run({ x })).z.data[7]);
            show((await b.run({ x })).z.data[0]);
            await a.reset(); show((await a.run({ x })).z.data[0]);
            try { await m.stream(); } catch (error) { show(error.name); }""")
        self.assertEqual(shown, [1, 4, 9, 1, 1, "TypeError"])

    @unittest.skipIf(shutil.which("tsc") is None, "there is no tsc")
    def test_types(self):
        self.compiled(STATEFUL, "--state", "h:y")
        right = """import { load, loadInWorker } from "./m.mjs";
import { loadInWorker as loadAny } from "./relax_rt_threads.mjs";
const model = await loadInWorker(undefined, { threads: 2 }), data = new Float32Array(8);
const z: Float32Array = (await model.run({ x: { data, shape: [2, 4] }, h: [1, 2, 3, 4] })).z.data;
const stream = await model.functions.main.stream({ n: 2 });
const four: 4 = (await stream.run({ x: data })).z.shape[1];
await stream.reset();
const count: number = (await load(undefined, { threads: 2, maximumBytes: 1e9 })).threads;
const any = (await (await loadAny("m.wasm")).run({ x: data })).z!.shape;
model.close();
"""
        wrong = {"(await model.run({ x: data }));": "is missing in type", "model.run({ x: data, h: data }).z;": "'z' does not exist",
                 "await model.stream();": "Expected 1 arguments", "await load(undefined, { thread: 2 });": "'thread' does not exist"}
        (self.folder / "use.mts").write_text(right + "\n".join(wrong), encoding="utf-8")
        done = subprocess.run(["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution",
                               "nodenext", "--lib", "es2022,dom", "use.mts"], cwd=self.folder, capture_output=True, text=True, check=False)
        found = re.split(r"\n(?=\S)", done.stdout.strip())
        first = 1 + right.count("\n")
        self.assertEqual(len(found), len(wrong), found)
        for line, (call, said) in enumerate(wrong.items(), first):
            self.assertTrue([one for one in found if one.startswith(f"use.mts({line},") and said in one], (call, found))

    @unittest.skipIf(shutil.which("chromium") is None, "there is no chromium")
    def test_a_page(self):
        self.compiled(PRODUCTS, "--target", "wasm32-threads,wasm32-threads-relaxed")
        relaxed, plain = re.findall(r'hash: "(\w+)"', (self.folder / "m.mjs").read_text(encoding="utf-8"))
        self.assertNotEqual(relaxed, plain)
        (self.folder / "page.html").write_text(f"""<body><script type="module">
            import {{ load, loadInWorker }} from "./m.mjs";
            {GIVEN}
            const found = [];
            for (const loading of [load, loadInWorker]) {{
              const m = await loading(undefined, {{ threads: 2 }});
              let sum = 0;
              for (let i = 0; i < 50; ++i) sum += only(await m.run(given(100))).data.length;
              found.push(m.threads, sum, m.hash);
              m.close();
            }}
            await fetch("/", {{ method: "POST", body: JSON.stringify(found) }});
            </script></body>""", encoding="utf-8")
        for isolated, threads in ((True, 2), (False, 1)):
            with self.subTest(isolated=isolated), Server(self.folder, isolated) as server:
                browser = subprocess.Popen(
                    ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile{threads}",
                     f"http://127.0.0.1:{server.server_port}/page.html"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"},
                    start_new_session=True)
                try:
                    self.assertEqual(json.loads(server.posted.get(timeout=120)), [threads, 320000, relaxed] * 2)
                finally:
                    os.killpg(browser.pid, signal.SIGKILL)
                    browser.wait()
                    server.shutdown()


if __name__ == "__main__":
    unittest.main()
