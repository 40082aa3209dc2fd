"""The pages of examples/web in a browser: digits drawn with a pointer are recognized, and the page clears; a voice is
heard in a recording that the browser takes for its microphone.

Usage: web_test.py REPOSITORY BUILD"""

import functools
import http.server
import json
import math
import os
import queue
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import wave
from contextlib import contextmanager
from pathlib import Path

ROOT, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
STROKES = {  # of each digit as points from 0 to 1
    "0": [[(0.5 + 0.28 * x, 0.5 + 0.42 * y) for x, y in
           ((0, -1), (-0.7, -0.7), (-1, 0), (-0.7, 0.7), (0, 1), (0.7, 0.7), (1, 0), (0.7, -0.7), (0, -1))]],
    "4": [[(0.5, 0.1), (0.2, 0.6), (0.85, 0.6)], [(0.6, 0.35), (0.6, 0.9)]],
    "7": [[(0.2, 0.12), (0.8, 0.12), (0.4, 0.9)], [(0.3, 0.5), (0.75, 0.5)]],
}
READY = """
const wait = () => new Promise((done) => setTimeout(done, 10));
const tell = (found) => fetch("/found", {method: "POST", body: JSON.stringify(found)});
while (!document.body.dataset.ready) await wait();
const answer = document.querySelector("#answer");
"""
DRAW = """
const paper = document.querySelector("#paper");
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
await tell(found);
"""
# Listens until the page has changed its answer often enough.
LISTEN = """
const words = [answer.textContent], start = document.querySelector("#start");
new MutationObserver(() => {
  if (words.at(-1) !== answer.textContent) words.push(answer.textContent);
}).observe(answer, {childList: true});
start.click();
while (words.length < 4 && start.disabled) await wait();
await tell(words);
"""
HEARD = ["The microphone is off.", "silence", "speech", "silence"]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and keeps what a page posts."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}
    posted = queue.Queue()

    def do_POST(self):
        self.posted.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """The address of a server of this folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def posted_by(page, script, flags=()):
    """What this page posts in a browser if this script is a part of it."""
    test = page.with_name(f"test_{page.name}")
    test.write_text(page.read_text().replace("</html>", f'<script type="module">{READY}{script}</script></html>'))
    # A process of the browser may still write to the folder when that is removed.
    with served(page.parent) as address, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        with open(Path(home) / "log", "w+") as log:
            command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", *flags, f"{address}/{test.name}"]
            browser = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True,
                                       env={"HOME": home, "PATH": "/usr/bin:/bin"})
            try:
                return Handler.posted.get(timeout=240)
            except queue.Empty:
                log.seek(0)
                sys.exit(f"{page.name} posts nothing; the browser says: {log.read()}")
            finally:
                os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()


def record(path):
    """Writes two seconds of sound, 48,000 samples a second: a hiss, with something like a vowel in its second quarter."""
    def sample(i):
        hiss = 0.001 * ((i * 7919 + i // 7) % 17 - 8) / 8
        return hiss + (0.3 * math.sin(0.016 * i) * math.sin(0.13 * i) if 24000 <= i < 48000 else 0)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes(b"".join(struct.pack("<h", round(32767 * sample(i))) for i in range(96000)))


def compare(page, found, wanted):
    if found != wanted:
        sys.exit(f"{page} shows {found}, not {wanted}")
    print(page, found)


def main():
    missing = [tool for tool in ("chromium", "clang", "wasm-ld") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: there is no {', '.join(missing)}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        examples = Path(scratch) / "examples"
        for name in ("web", "digits", "streaming"):
            shutil.copytree(ROOT / "examples" / name, examples / name, ignore=shutil.ignore_patterns("build"))
        subprocess.run(["make", "-s", f"RELAXC={BUILD}/bin/relaxc"], cwd=examples / "web", check=True)
        pages = examples / "web/build"
        found = posted_by(pages / "index.html", f"const STROKES = {json.dumps(STROKES)};{DRAW}")
        compare("index.html", found, {**{digit: f"{digit}/10" for digit in STROKES}, "cleared": "nothing yet"})
        recording = Path(scratch) / "voice.wav"
        record(recording)
        microphone = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
                      f"--use-file-for-fake-audio-capture={recording}", "--autoplay-policy=no-user-gesture-required"]
        found = posted_by(pages / "voice.html", LISTEN, microphone)
        compare("voice.html", found, HEARD)
        found = posted_by(pages / "voice.html", LISTEN, ["--deny-permission-prompts"])
        compare("voice.html without a microphone", [word.partition(":")[0] for word in found],
                [HEARD[0], "There is no microphone"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
