"""An editor's side of the language server protocol, for tests."""

import json
import os
import select
import subprocess
import sys
import time
import unittest

RELAXC = sys.argv[1]
URI = "file:///nowhere/net.relax"

PRODUCT = '''@I.ir_module
class Net:
    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("y"):
                v = T.axis.spatial(4, i)
                y[v] = x[v] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        n = T.int64()
        with R.dataflow():
            x = R.nn.relu(x)
            y = R.matmul(x, w)
            z = R.reshape(y, (n, 8))
            R.output(z)
        return z

    @R.function
    def twice(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Net
        b = R.call_tir(cls.double, (a,), out_sinfo=R.Tensor((4,), "float32"))
        return b
'''


def frame(body):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Server:
    def __init__(self, *flags, limit=None):
        self.process = subprocess.Popen([RELAXC, "lsp", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=limit)
        self.pending = b""
        self.next_id = 0
        self.seen = []

    def send(self, raw):
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.send(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def read(self, seconds=60):
        """The next message, or None if there is none within that time."""
        end = time.monotonic() + seconds
        while True:
            head, blank, rest = self.pending.partition(b"\r\n\r\n")
            if blank:
                length = int(head.split(b":")[1])
                if len(rest) >= length:
                    self.pending = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                raise EOFError(self.process.stderr.read().decode(errors="replace"))
            self.pending += piece

    def reply(self, method, **params):
        """The whole response to a request; notifications before it are kept in `seen`."""
        self.next_id += 1
        self.send(frame({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))
        while True:
            message = self.read()
            if message is None:
                raise TimeoutError(method)
            if message.get("id") == self.next_id:
                return message
            self.seen.append(message)

    def ask(self, method, **params):
        reply = self.reply(method, **params)
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["result"]

    def open(self, text, uri=URI, version=1):
        self.notify("textDocument/didOpen",
                    textDocument={"uri": uri, "languageId": "relax", "version": version, "text": text})
        return self.problems(uri)

    def change(self, text, uri=URI, version=2):
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": version},
                    contentChanges=[{"text": text}])
        return self.problems(uri)

    def problems(self, uri=URI, seconds=60):
        """The next diagnostics that are published for a text."""
        while True:
            message = self.read(seconds)
            if message is None:
                return None
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]
            self.seen.append(message)

    def kill(self):
        self.process.kill()
        self.close()

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode


def at(text, what, which=0, into=0):
    """The position of an occurrence of `what`, in UTF-16 units, `into` of them further."""
    byte = -1
    for _ in range(which + 1):
        byte = text.index(what, byte + 1)
    before = text[:byte]
    column = before[before.rfind("\n") + 1:]
    return {"line": before.count("\n"), "character": len(column.encode("utf-16-le")) // 2 + into}


def span(text, what, which=0):
    return {"start": at(text, what, which), "end": at(text, what, which, len(what.encode("utf-16-le")) // 2)}


class ServerTest(unittest.TestCase):
    def serve(self, *flags, **keywords):
        server = Server(*flags, **keywords)
        self.addCleanup(server.kill)
        return server

    def started(self, *flags, **keywords):
        server = self.serve(*flags, **keywords)
        server.ask("initialize", processId=None, rootUri=None, capabilities={})
        server.notify("initialized")
        return server


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
