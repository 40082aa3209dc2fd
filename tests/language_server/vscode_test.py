"""The extension for VS Code: its files name each other, and its grammars give words the scopes that they should have.

The grammars are run by a tokenizer of a few lines, which knows what they use: `match` with captures, `begin` and `end`
with patterns inside, and `include` of the repository. Python's `re` has the part of Oniguruma's syntax that they use.

Usage: vscode_test.py EXTENSION [unittest's own]"""

import json
import re
import sys
import unittest
from pathlib import Path

EXTENSION = Path(sys.argv[1])


def load(name):
    return json.loads((EXTENSION / name).read_text())


class Grammar:
    def __init__(self, name):
        self.grammar = load(name)

    def rules(self, patterns):
        for pattern in patterns:
            if "include" in pattern:
                pattern = self.grammar["repository"][pattern["include"][1:]]
            if "patterns" in pattern and "begin" not in pattern:
                yield from self.rules(pattern["patterns"])
            else:
                yield pattern

    def tokens(self, text):
        """Pairs of a text and its innermost scope, for all that has one."""
        out, within = [], None
        for line in text.splitlines():
            at = 0
            while at <= len(line):
                patterns = within["patterns"] if within else self.grammar["patterns"]
                found = []
                for rule in self.rules(patterns):
                    match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
                    if match and match.group():
                        found.append((match.start(), len(found), match, rule))
                end = within and re.compile(within["end"]).search(line, at)
                if end:
                    found.append((end.start(), -1, end, None))
                if not found:
                    break
                _, _, match, rule = min(found, key=lambda one: one[:2])
                if rule is None:
                    out.append((line[begun:match.end()], within["name"]))
                    within = None
                elif "begin" in rule:
                    within, begun = rule, match.start()
                elif "captures" in rule:
                    groups = [(match.group(int(i)), one["name"]) for i, one in rule["captures"].items()]
                    out += [(word, name) for word, name in groups if word]
                else:
                    out.append((match.group(), rule["name"]))
                if match.end() == at and rule is None:
                    break
                at = match.end()
            if within:
                begun = 0
        return out


class Extension(unittest.TestCase):
    def test_the_manifest_names_files_that_are_there(self):
        manifest = load("package.json")
        for field in ("name", "version", "publisher", "engines", "main", "contributes"):
            self.assertIn(field, manifest)
        self.assertRegex(manifest["version"], r"^\d+\.\d+\.\d+$")
        contributes = manifest["contributes"]
        files = [manifest["main"], *(one["configuration"] for one in contributes["languages"]),
                 *(one["path"] for one in contributes["grammars"])]
        for name in files:
            self.assertTrue((EXTENSION / name).is_file(), name)
        ids = {one["id"] for one in contributes["languages"]}
        self.assertEqual({one["language"] for one in contributes["grammars"]}, ids)
        for one in contributes["grammars"]:
            self.assertEqual(load(one["path"])["scopeName"], one["scopeName"])

    def test_the_client_reads_settings_that_the_manifest_declares(self):
        declared = load("package.json")["contributes"]["configuration"]["properties"]
        used = set(re.findall(r'settings\.get\("(\w+)"\)', (EXTENSION / "src/extension.js").read_text()))
        self.assertEqual({"relaxc." + name for name in used}, set(declared))
        for name, setting in declared.items():
            self.assertIn(setting["type"], ("string", "array", "boolean"), name)
            self.assertIn("default", setting, name)

    def test_the_client_only_requires_its_dependencies(self):
        required = re.findall(r'require\("([^"]+)"\)', (EXTENSION / "src/extension.js").read_text())
        self.assertEqual(required, ["vscode", "vscode-languageclient/node"])
        self.assertEqual(list(load("package.json")["dependencies"]), ["vscode-languageclient"])

    def test_every_rule_of_a_grammar_is_used_and_compiles(self):
        for name in ("relax", "relaxc-schedules"):
            grammar = load(f"syntaxes/{name}.tmLanguage.json")
            text = json.dumps(grammar)
            for rule in grammar.get("repository", {}):
                self.assertIn(f'"#{rule}"', text)
            for pattern in re.findall(r'"(?:match|begin|end)": ("(?:[^"\\]|\\.)*")', text):
                re.compile(json.loads(pattern))


class Scopes(unittest.TestCase):
    def scope(self, grammar, text):
        tokens = Grammar(f"syntaxes/{grammar}.tmLanguage.json").tokens(text)
        return [(word.strip(), name.rsplit(".", 1)[0]) for word, name in tokens]

    def test_a_program(self):
        found = self.scope("relax", '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):  # a "word"\n'
                                    "    y = R.nn.relu(x)\n    return y\n")
        for one in (("@R.function", "entity.name.function.decorator"), ("def", "storage.type"),
                    ("main", "entity.name.function"), ("R", "support.class"), (".nn.relu", "support.function"),
                    ('"n"', "string.quoted.double"), ("4", "constant.numeric"), ("return", "keyword.control"),
                    ('# a "word"', "comment.line.number-sign")):
            self.assertIn(one, found)

    def test_words_that_only_contain_keywords_are_none(self):
        self.assertEqual(self.scope("relax", "format_in x1 Trues\n"), [])

    def test_a_string_of_several_lines(self):
        found = self.scope("relax", 'a = """def f\nreturn"""\nb = None\n')
        self.assertNotIn(("return", "keyword.control"), found)
        self.assertIn(("None", "constant.language"), found)

    def test_a_schedule_file(self):
        found = self.scope("relaxc-schedules", 'relaxc schedules 1\ntarget x86_64\nkernel relu 8d0e\n'
                                               '  split i#2 8 masked\n  choose "tile: 4x3"  # mine\n')
        for one in (("relaxc schedules 1", "keyword.control"), ("kernel", "storage.type"),
                    ("relu", "entity.name.function"),
                    ("8d0e", "constant.numeric"), ("split", "support.function"), ("8", "constant.numeric"),
                    ('"tile: 4x3"', "string.quoted.double"), ("# mine", "comment.line.number-sign")):
            self.assertIn(one, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
