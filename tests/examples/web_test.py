"""The page of examples/web in a browser: digits drawn with a pointer are recognized, and the page clears.

Usage: web_test.py REPOSITORY BUILD"""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
STROKES = {  # of each digit as points from 0 to 1
    "0": [[(0.5 + 0.28 * x, 0.5 + 0.42 * y) for x, y in
           ((0, -1), (-0.7, -0.7), (-1, 0), (-0.7, 0.7), (0, 1), (0.7, 0.7), (1, 0), (0.7, -0.7), (0, -1))]],
    "4": [[(0.5, 0.1), (0.2, 0.6), (0.85, 0.6)], [(0.6, 0.35), (0.6, 0.9)]],
    "7": [[(0.2, 0.12), (0.8, 0.12), (0.4, 0.9)], [(0.3, 0.5), (0.75, 0.5)]],
}
DRIVER = """
const wait = () => new Promise((done) => setTimeout(done, 10));
while (!document.body.dataset.ready) await wait();
const paper = document.querySelector("#paper"), answer = document.querySelector("#answer");
const at = (kind, [x, y]) => {
  const box = paper.getBoundingClientRect();
  paper.dispatchEvent(new PointerEvent(kind, {clientX: box.left + 1 + x * paper.clientWidth,
                                              clientY: box.top + 1 + y * paper.clientHeight}));
};
const found = {};
for (const [digit, strokes] of Object.entries(STROKES)) {
  for (const stroke of strokes) {
    at("pointerdown", stroke[0]);
    for (const point of stroke.slice(1)) at("pointermove", point);
    at("pointerup", stroke.at(-1));
  }
  found[digit] = answer.textContent + "/" + document.querySelectorAll("meter").length;
  document.querySelector("#clear").click();
}
found.cleared = answer.textContent;
document.body.insertAdjacentHTML("beforeend", `<pre id="found">${JSON.stringify(found)}</pre>`);
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_):
        pass


def main():
    missing = [tool for tool in ("chromium", "clang", "wasm-ld") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: there is no {', '.join(missing)}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        example = Path(scratch) / "examples/web"
        shutil.copytree(ROOT / "examples/web", example, ignore=shutil.ignore_patterns("build"))
        shutil.copytree(ROOT / "examples/digits", example.parent / "digits", ignore=shutil.ignore_patterns("build"))
        subprocess.run(["make", "-s", f"RELAXC={BUILD}/bin/relaxc"], cwd=example, check=True)
        page = example / "build/test.html"
        strokes = str({digit: [[list(point) for point in stroke] for stroke in drawn] for digit, drawn in STROKES.items()})
        page.write_text((example / "index.html").read_text().replace(
            "</html>", f'<script type="module">const STROKES = {strokes};{DRIVER}</script></html>'))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=example / "build"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom",
             f"http://127.0.0.1:{server.server_port}/test.html"], capture_output=True, text=True, timeout=300, check=True,
            env={"HOME": scratch, "PATH": "/usr/bin:/bin"})
        server.shutdown()
    found = re.search(r'<pre id="found">({".*?)</pre>', done.stdout)
    wanted = "{" + ",".join(f'"{digit}":"{digit}/10"' for digit in STROKES) + ',"cleared":"nothing yet"}'
    if not found or found.group(1) != wanted:
        sys.exit(f"the page shows {found.group(1) if found else done.stdout + done.stderr}, not {wanted}")
    print(found.group(1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
