"""`relaxc lsp` on messages that no editor sends: it answers with an error and goes on, within a bound of memory.

Usage: hostile_test.py RELAXC [unittest's own]"""

import json
import os
import random
import resource
import unittest

from client import PRODUCT, URI, ServerTest, frame, main


class Hostile(ServerTest):
    def setUp(self):
        self.server = self.started()

    def survives(self, raw, code=-32700):
        self.server.send(raw)
        message = self.server.read()
        self.assertEqual(message["error"]["code"], code, raw[:80])
        self.assertIsNone(message["id"])
        self.assertEqual(self.server.reply("x/y")["error"]["code"], -32601)

    def test_bytes_that_are_not_json_or_not_utf_8(self):
        for body in (b"", b"{", b"nonsense", b'{"method": "\xff"}', b'"\\ud800"', b"\x00" * 100):
            self.survives(frame(body))

    def test_json_that_is_no_message(self):
        for body in (b"[]", b"1", b"null", b"{}", b'{"method": 1}', b'{"id": 1}', b'[{"method": "exit"}]'):
            self.survives(frame(body), -32600)

    def test_headers_without_a_length(self):
        for head in (b"\r\n", b"Content-Type: x\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: ten\r\n\r\n",
                     b"Content-Length:\r\n\r\n", b"x" * 100_000 + b"\r\n\r\n", b"\xff\xfe\r\n\r\n"):
            self.survives(head)

    def test_header_fields_of_any_case_and_order(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 77, "method": "x/y"}).encode()
        self.server.send(b"Content-Type: a; charset=utf-8\r\ncontent-length:   %d\r\n\r\n" % len(body) + body)
        self.assertEqual(self.server.read()["id"], 77)

    def test_a_long_message_is_read_past(self):
        length = (32 << 20) + 1
        self.server.send(b"Content-Length: %d\r\n\r\n" % length)
        for _ in range(33):
            self.server.send(b" " * min(1 << 20, length))
            length -= min(1 << 20, length)
        self.assertIn("at most", self.server.read()["error"]["message"])
        self.assertEqual(self.server.reply("x/y")["error"]["code"], -32601)

    def test_deep_nesting(self):
        self.survives(frame(b"[" * 1_000_000 + b"]" * 1_000_000))
        self.survives(frame(b'{"a":' * 100_000 + b"1" + b"}" * 100_000))

    def test_parameters_of_other_types(self):
        for params in (None, [], 1, {}, {"textDocument": 1}, {"textDocument": {"uri": 5}},
                       {"textDocument": {"uri": "x"}}, {"textDocument": {"uri": URI}, "position": {"line": "a"}}):
            for method in ("hover", "definition", "completion", "documentSymbol"):
                self.server.send(frame({"id": 5, "method": f"textDocument/{method}", "params": params}))
                message = self.server.read()
                while "id" not in message:  # the log says which notifications were ignored
                    message = self.server.read()
                self.assertEqual(message["error"]["code"], -32602)
            for method in ("didOpen", "didChange", "didClose"):
                self.server.send(frame({"method": f"textDocument/{method}", "params": params}))
        self.assertEqual(self.server.reply("x/y")["error"]["code"], -32601)

    def test_changes_without_a_text(self):
        document = {"uri": URI, "version": None}
        for changes in ([], {}, None, [{}], [1], [{"text": 5}], [{"range": {}, "text": "x"}]):
            self.server.send(frame({"method": "textDocument/didChange",
                                    "params": {"textDocument": document, "contentChanges": changes}}))
        self.server.send(frame({"method": "textDocument/didChange",
                                "params": {"textDocument": document, "contentChanges": [{"text": "x = "}]}}))
        self.assertEqual(self.server.reply("x/y")["error"]["code"], -32601)
        published = [message for message in self.server.seen if message["method"].endswith("publishDiagnostics")]
        self.assertEqual(len(published), 1)  # of the text without a version

    def test_texts_of_any_bytes(self):
        draw = random.Random(7)
        for _ in range(40):
            begin = draw.randrange(len(PRODUCT))
            text = PRODUCT[:begin] + "".join(draw.choices('()[]"\n #\U0001F600é\0@RT.,=x', k=8)) + PRODUCT[begin + 5:]
            self.assertIsNotNone(self.server.open(text))
            for _ in range(5):
                position = {"line": draw.randrange(30), "character": draw.randrange(120)}
                for method in ("hover", "definition", "completion"):
                    self.server.ask(f"textDocument/{method}", textDocument={"uri": URI}, position=position)

    def test_weights_and_paths_that_are_not_there(self):
        text = 'metadata = relaxc.load_params("../../etc/passwd")\n' + PRODUCT
        self.assertNotEqual(self.server.open(text), [])
        self.assertIsNotNone(self.server.open(PRODUCT, "untitled:a%00%ff"))


class Memory(ServerTest):
    @unittest.skipIf(os.environ.get("RELAXC_SANITIZED") == "1", "a sanitizer takes more memory than the limit leaves")
    def test_an_absurd_length_takes_no_memory(self):
        limit = 700 << 20
        server = self.started(limit=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        server.send(b"Content-Length: 99999999999999999999999\r\n\r\n")
        for _ in range(50):
            server.send(b"x" * (1 << 20))
        self.assertEqual(server.close(), 1)  # the input ended inside of the message


if __name__ == "__main__":
    main()
