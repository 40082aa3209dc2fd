"""`relaxc lsp`: diagnostics, hover, definitions, completion and symbols, as an editor asks for them.

Usage: protocol_test.py RELAXC [unittest's own]"""

from client import PRODUCT, URI, ServerTest, at, main, span

DOCUMENT = {"uri": URI}


class Lifecycle(ServerTest):
    def test_initialize_says_what_the_server_can(self):
        server = self.serve()
        found = server.ask("initialize", capabilities={})
        self.assertEqual(found["serverInfo"]["name"], "relaxc")
        self.assertEqual(found["capabilities"]["positionEncoding"], "utf-16")
        self.assertEqual(found["capabilities"]["textDocumentSync"]["change"], 1)
        server.ask("shutdown")
        server.notify("exit")
        self.assertEqual(server.close(), 0)

    def test_requests_before_initialize_and_after_shutdown_are_refused(self):
        server = self.serve()
        self.assertEqual(server.reply("textDocument/hover")["error"]["code"], -32002)
        server.ask("initialize", capabilities={})
        server.ask("shutdown")
        self.assertEqual(server.reply("textDocument/hover")["error"]["code"], -32600)

    def test_an_exit_without_shutdown_and_an_end_of_the_input_give_1(self):
        for leave in (lambda server: server.notify("exit"), lambda server: None):
            server = self.serve()
            server.ask("initialize", capabilities={})
            leave(server)
            self.assertEqual(server.close(), 1)

    def test_unknown_requests_are_refused_and_unknown_notifications_ignored(self):
        server = self.started()
        server.notify("$/setTrace", value="off")
        self.assertEqual(server.reply("workspace/nothing")["error"]["code"], -32601)


class Problems(ServerTest):
    def test_a_correct_program_has_none(self):
        self.assertEqual(self.started().open(PRODUCT), [])

    def test_a_wrong_shape_is_shown_where_it_is_and_goes_when_it_is_corrected(self):
        server = self.started()
        wrong = PRODUCT.replace("(4, 8)", "(5, 8)")
        [one] = server.open(wrong)
        self.assertEqual((one["code"], one["severity"], one["source"]), ("shape_mismatch", 1, "relaxc"))
        self.assertEqual(one["range"]["start"]["line"], at(wrong, "R.matmul")["line"])
        self.assertEqual(server.change(PRODUCT), [])

    def test_a_note_with_a_place_is_related_information_and_a_way_out_part_of_the_message(self):
        server = self.started()
        twice = PRODUCT.replace("def twice", "def main")
        found = server.open(twice)
        [related] = found[0]["relatedInformation"]
        self.assertEqual(related["location"], {"uri": URI, "range": span(twice, "main")})
        found = server.change(PRODUCT.replace("R.nn.relu", "R.nn.rellu"))
        self.assertIn("did you mean R.nn.relu?", found[0]["message"])

    def test_positions_count_utf_16_units(self):
        text = PRODUCT.replace("R.matmul(x, w)", 'R.matmul(x, w2)').replace(
            "            y = ", '            assert True, "\U0001F600é"; y = ')
        found = self.started().open(text)
        self.assertIn(span(text, "w2"), [one["range"] for one in found])

    def test_what_only_passes_find_follows(self):
        server = self.started("--dim", "m=1..4")
        self.assertIn("the program has no such symbol", server.open(PRODUCT)[0]["message"])

    def test_closing_a_text_takes_its_problems_away(self):
        server = self.started()
        self.assertNotEqual(server.open("nonsense("), [])
        server.notify("textDocument/didClose", textDocument=DOCUMENT)
        self.assertEqual(server.problems(), [])

    def test_schedule_files(self):
        server = self.started()
        uri = "file:///nowhere/a.schedules"
        self.assertEqual(server.open("relaxc schedules 1\nkernel relu\n  vectorize i\n", uri), [])
        wrong = "relaxc schedules 1\nkernel relu\n  vectorise i\n"
        [one] = server.open(wrong, uri)
        self.assertEqual(one["range"], span(wrong, "vectorise i"))
        [one] = server.open("relaxc schedule\n", uri)
        self.assertIn("is not a file of schedules", one["message"])

    def test_relay_programs(self):
        server = self.started()
        uri = "file:///nowhere/a.relay"
        text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {\n  nn.rellu(%x)\n}\n'
        self.assertNotEqual(server.open(text, uri), [])
        self.assertEqual(server.open(text.replace("rellu", "relu"), uri), [])


class Names(ServerTest):
    def setUp(self):
        self.server = self.started()
        self.server.open(PRODUCT)

    def hover(self, what, which=0, text=PRODUCT):
        found = self.server.ask("textDocument/hover", textDocument=DOCUMENT, position=at(text, what, which))
        return found and found["contents"]["value"]

    def definition(self, what, which=0, into=0):
        found = self.server.ask("textDocument/definition", textDocument=DOCUMENT,
                                position=at(PRODUCT, what, which, into))
        return found and found["range"]

    def test_hover_shows_the_type_of_a_variable(self):
        self.assertIn('y: R.Tensor((n, 8), dtype="float32")', self.hover("y = R.matmul"))
        self.assertIn('z: R.Tensor((n, 8), dtype="float32")', self.hover("z)"))
        self.assertIn('n: R.Prim("int64")', self.hover("n, 8)"))
        self.assertIn('x: T.Buffer((4,), "float32")', self.hover("x[v]"))
        self.assertIn("v: T.int64", self.hover("v = T.axis"))

    def test_hover_shows_operators_and_functions(self):
        shown = self.hover("relu(")
        self.assertIn("R.nn.relu(x)", shown)
        self.assertIn("def double(x: T.Buffer", self.hover("double, (a,)"))

    def test_hover_on_nothing_is_null(self):
        for nothing in ("0" "1", "    @R", "-> R.Tensor"):
            if nothing in PRODUCT:
                self.assertIsNone(self.hover(nothing), nothing)
        self.assertIsNone(self.server.ask("textDocument/hover", textDocument=DOCUMENT,
                                          position={"line": 10**9, "character": 10**12}))

    def test_a_use_means_the_latest_definition_before_it(self):
        self.assertEqual(self.definition("R.nn.relu(x)", into=10), span(PRODUCT, 'x: R.Tensor(("n"') | {
            "end": at(PRODUCT, 'x: R.Tensor(("n"', into=1)})
        self.assertEqual(self.definition("R.matmul(x", into=9),
                         {"start": at(PRODUCT, "x = R.nn"), "end": at(PRODUCT, "x = R.nn", into=1)})
        self.assertEqual(self.definition("x[v]")["start"], at(PRODUCT, "x: T.Buffer"))

    def test_functions_and_symbols_have_definitions(self):
        self.assertEqual(self.definition("double, (a,)"), span(PRODUCT, "double"))
        self.assertEqual(self.definition("Net", 1), span(PRODUCT, "Net"))
        self.assertEqual(self.definition("n, 8)")["start"], at(PRODUCT, "n = T.int64"))

    def test_names_are_known_in_a_text_with_errors(self):
        broken = PRODUCT.replace("z = R.reshape(y, (n, 8))", "z = R.reshape(y, (n, 8)")
        self.assertNotEqual(self.server.change(broken), [])
        found = self.server.ask("textDocument/definition", textDocument=DOCUMENT, position=at(broken, "x, w)"))
        self.assertEqual(found["range"]["start"], at(broken, "x = R.nn"))
        self.assertIn('b: R.Tensor((4,), dtype="float32")', self.hover("b\n", text=broken))

    def test_completion_of_operators_and_names(self):
        text = PRODUCT.replace("R.nn.relu(x)", "R.nn.re")
        self.server.change(text)
        found = self.server.ask("textDocument/completion", textDocument=DOCUMENT, position=at(text, "R.nn.re", into=7))
        labels = [one["label"] for one in found]
        self.assertIn("R.nn.relu", labels)
        self.assertTrue(all(label.startswith("R.nn.re") for label in labels), labels)
        self.assertEqual(found[0]["textEdit"]["range"], span(text, "R.nn.re"))
        found = self.server.ask("textDocument/completion", textDocument=DOCUMENT, position=at(text, "y, (n"))
        self.assertLessEqual({"x", "w", "y", "n", "main", "double"}, {one["label"] for one in found})
        self.assertNotIn("b", {one["label"] for one in found})

    def test_symbols_of_the_text(self):
        [module] = self.server.ask("textDocument/documentSymbol", textDocument=DOCUMENT)
        self.assertEqual(module["name"], "Net")
        self.assertEqual([one["name"] for one in module["children"]], ["double", "main", "twice"])
        self.assertEqual(module["children"][1]["selectionRange"], span(PRODUCT, "main"))


if __name__ == "__main__":
    main()
