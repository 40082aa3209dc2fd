"""What one can look at: reports as JSON and as a page, graphs for Graphviz.

Usage: report_test.py RELAXC RUNTIME [unittest's own]

The page is opened in headless Chromium where it is installed; that test is skipped, and says so, where it is not."""

import base64
import json
import re
import shutil
import subprocess
import unittest

import program
from program import ProgramTest

MLP = """@R.function
def main(x: R.Tensor(("n", 64), "float32"), a: R.Tensor((64, 32), "float32"), b: R.Tensor((32, 16), "float32")):
    with R.dataflow():
        h = R.nn.relu(R.matmul(x, a))
        g = R.matmul(h, b)
        y = R.nn.softmax(g, axis=-1)
        R.output(y)
    return y
"""
ATTENTION = """@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 192), "float32"), v: R.Tensor((64, 256), "float32"),
         u: R.Tensor((256, 64), "float32"), e: R.Tensor((64,), "float32"), f: R.Tensor((64,), "float32")):
    n = T.int64()
    with R.dataflow():
        a = R.matmul(x, w)
        q = R.permute_dims(R.reshape(R.slice_part(a, [0], [64], axis=1), (n, 4, 16)), [1, 0, 2])
        k = R.permute_dims(R.reshape(R.slice_part(a, [64], [64], axis=1), (n, 4, 16)), [1, 2, 0])
        m = R.permute_dims(R.reshape(R.slice_part(a, [128], [64], axis=1), (n, 4, 16)), [1, 0, 2])
        s = R.nn.softmax(R.matmul(q, k), axis=-1)
        c = R.reshape(R.permute_dims(R.matmul(s, m), [1, 0, 2]), (n, 64))
        h = R.nn.layer_norm(R.add(x, c), e, f, axes=[-1])
        g = R.nn.gelu(R.matmul(h, v))
        y = R.nn.layer_norm(R.add(h, R.matmul(g, u)), e, f, axes=[-1])
        R.output(y)
    return y
"""
NASTY = """@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    with R.dataflow():
        y = R.exp(x)
        R.output(y)
    return y
"""


class Report(ProgramTest):
    def report(self, text=MLP, *flags):
        self.write("m.relax", text)
        self.compiles("m.relax", "-o", "m.o", "--report=m.json", *flags)
        return json.loads((self.path / "m.json").read_text())

    def test_kernels_count_their_work(self):
        for profile in self.report()["profiles"]:
            n = profile["symbols"]["n"]
            kernels = {k["name"]: k for k in profile["kernels"]}
            first = next(k for name, k in kernels.items() if "relu" in name)
            second = next(k for name, k in kernels.items() if name.startswith("matmul"))
            # Two operations a product, and the relu; a schedule may pad tiles, never skip work.
            self.assertGreaterEqual(first["flops"], 2 * n * 64 * 32)
            self.assertLess(first["flops"], 2 * (n + 16) * 64 * 32 + 8 * (n + 16) * 32)
            self.assertEqual(second["bytes"], 4 * (n * 32 + 32 * 16 + n * 16))
            self.assertAlmostEqual(sum(k["share"] for k in kernels.values()), 1)

    def test_memory_is_what_the_arena_holds(self):
        report = self.report()
        self.assertEqual([p["symbols"]["n"] for p in report["profiles"]], [1, 16, 128, 512])
        for profile in report["profiles"]:
            self.assertGreater(len(profile["memory"]), 0)
            for piece in profile["memory"]:
                self.assertNotIn(piece["name"], ("", "t"))
                self.assertLessEqual(piece["offset"] + piece["bytes"], profile["arena_bytes"])
                self.assertLessEqual(piece["first"], piece["last"])
            for one in profile["memory"]:
                for other in profile["memory"]:
                    apart = one["last"] < other["first"] or other["last"] < one["first"]
                    below = one["offset"] + one["bytes"] <= other["offset"]
                    over = one["offset"] == other["offset"] and one["bytes"] == other["bytes"] and \
                        (one["last"] == other["first"] or other["last"] == one["first"])  # in place
                    above = other["offset"] + other["bytes"] <= one["offset"]
                    self.assertTrue(one is other or apart or below or above or over, (one, other))
            self.assertGreaterEqual(profile["arena_bytes"], profile["bound_bytes"])

    def test_the_arena_is_near_its_bound(self):
        for profile in self.report(ATTENTION)["profiles"]:
            self.assertLessEqual(profile["ratio"], 1.15, profile["symbols"])
        for n in (1, 48, 200):
            (static,) = self.report(ATTENTION, "--dim", f"n={n}")["profiles"]
            self.assertLessEqual(static["ratio"], 1.05, n)

    def test_sizes_are_those_that_guards_accept(self):
        filtered = """@R.function
def main(x: R.Tensor((1, 4, "n"), "float32"), w: R.Tensor((8, 4, 5), "float32")):
    return R.nn.relu(R.nn.conv1d(x, w))
"""
        self.assertEqual([p["symbols"]["n"] for p in self.report(filtered)["profiles"]], [5, 16, 128, 512])
        twice = """@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    n, m = T.int64(), T.int64()
    R.assert_op(m == n * 2)
    return R.add(R.concat((x, x), axis=0), y)
"""
        for profile in self.report(twice)["profiles"]:
            self.assertEqual(profile["symbols"]["m"], 2 * profile["symbols"]["n"])

    def test_large_offsets_are_computed_once(self):
        # Images whose sides are halved and rounded up: the end of the largest of what is below is a long expression.
        text = """@R.function
def main(x: R.Tensor(("n", 3, "h", "w"), "float32"), a: R.Tensor((8, 3, 3, 3), "float32"),
         b: R.Tensor((12, 8, 3, 3), "float32"), c: R.Tensor((40, 12, 3, 3), "float32")):
    with R.dataflow():
        p = R.nn.relu(R.nn.conv2d(x, a, strides=[2, 1], padding=[1, 1, 1, 1]))
        q = R.nn.relu(R.nn.conv2d(p, b, strides=[1, 2], padding=[1, 1, 1, 1]))
        r = R.nn.conv2d(q, c, strides=[2, 2], padding=[1, 1, 1, 1])
        y = R.add(R.sum(R.add(q, R.exp(q)), axis=[1, 2, 3]), R.sum(R.nn.relu(r), axis=[1, 2, 3]))
        R.output(y)
    return y
"""
        for profile in self.report(text)["profiles"]:
            for piece in profile["memory"]:
                self.assertLessEqual(piece["offset"] + piece["bytes"], profile["arena_bytes"], piece)
            self.assertLessEqual(profile["ratio"], 1.15, profile["symbols"])

    def test_graphs_before_and_after(self):
        report = self.report()
        labels = [node["label"] for node in report["before"]["nodes"]]
        self.assertEqual([l for l in labels if l in ("matmul", "nn.relu", "nn.softmax")],
                         ["matmul", "nn.relu", "matmul", "nn.softmax"])
        after = report["after"]["nodes"]
        fused = next(i for i, node in enumerate(after) if "matmul" in node["label"] and "relu" in node["label"])
        groups = {n["label"]: n["group"] for n in report["before"]["nodes"] if n["kind"] == "op"}
        self.assertEqual(groups["nn.relu"], fused)
        for graph in (report["before"], report["after"]):
            for a, b in graph["edges"]:
                self.assertLess(a, b)
                self.assertLess(b, len(graph["nodes"]))

    def test_the_page_needs_nothing_else(self):
        self.write("m.relax", MLP)
        self.compiles("m.relax", "-o", "m.o", "--report=m.html")
        page = (self.path / "m.html").read_text()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertFalse(re.search(r'(src|href)=|@import|url\(|fetch\(|XMLHttpRequest', page))
        self.assertEqual(page.count("<script"), 2)

    def test_reports_are_repeatable_but_for_times(self):
        first, second = self.report(), self.report()
        first.pop("passes"), second.pop("passes")
        self.assertEqual(first, second)

    def test_refusals(self):
        self.refuses(2, "a report is .html, .json or .onnx", "relu.relax", "-o", "m.o", "--report=m.txt")
        self.refuses(2, "--report is for compiled models", "relu.relax", "-o", "m.relax", "--report=m.json")
        self.refuses(2, "cannot be both the output and the report", "relu.relax", "-o", "m.json", "--emit=obj",
                     "--report=m.json")

    def test_bench_writes_what_it_measured(self):
        self.write("m.relax", MLP)
        bench = ("bench", "m.relax", "--dim", "n=1..100", "--repeat", "5", "-j", "2")
        self.compiles(*bench, "--profile", "--report=m.json")
        (profile,) = json.loads((self.path / "m.json").read_text())["profiles"]
        self.assertEqual((profile["measured"]["runs"], profile["measured"]["threads"]), (5, 2))
        self.assertLessEqual(profile["symbols"]["n"], 100)
        times = [kernel["measured_seconds"] for kernel in profile["kernels"]]
        self.assertTrue(times and all(time > 0 for time in times))
        self.assertLess(sum(times), profile["measured"]["seconds"])
        self.compiles(*bench, "--report=m.json")  # without --profile, kernels are estimated
        self.assertNotIn("measured", json.loads((self.path / "m.json").read_text())["profiles"][0])
        self.refuses(2, "a report is .html, .json or .onnx", *bench, "--profile", "--report=m.txt")

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed: the page is not drawn")
    def test_a_browser_shows_measured_times(self):
        self.write("m.relax", MLP)
        self.compiles("bench", "m.relax", "--profile", "--repeat", "3", "--report=m.html")
        dom = self.drawn("m.html")
        self.assertIn("measured share", dom)
        self.assertRegex(dom, "a run with kernels timed, the mean of 3, threads: 1")

    def drawn(self, page):
        """What a browser makes of a page."""
        return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
                               "--dump-dom", f"file://{self.path}/{page}"], capture_output=True, timeout=120, check=True,
                              env={"HOME": str(self.path), "PATH": "/usr/bin:/bin"}).stdout.decode()

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed: the page is not drawn")
    def test_a_browser_draws_it(self):
        self.write("m.relax", MLP)
        self.compiles("m.relax", "-o", "m.o", "--report=m.html")
        data = json.loads((self.path / "m.html").read_text().split('type="application/json">')[1].split("</script>")[0])
        dom = self.drawn("m.html")
        self.assertEqual(dom.count('class="piece"'), len(data["profiles"][2]["memory"]))
        self.assertEqual(dom.count('class="node"'), len(data["before"]["nodes"]) + len(data["after"]["nodes"]))
        for kernel in data["profiles"][2]["kernels"]:
            self.assertIn(kernel["name"] + "</td>", dom)

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed: the page is not drawn")
    def test_a_browser_zooms_searches_and_explains_a_kernel(self):
        self.write("m.relax", MLP)
        self.compiles("m.relax", "-o", "m.o", "--report=m.html")
        page = (self.path / "m.html").read_text()
        data = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
        kernel = next(one for one in data["profiles"][2]["kernels"] if "matmul" in one["name"])
        index = next(i for i, node in enumerate(data["after"]["nodes"]) if node["label"] == kernel["name"])
        (self.path / "m.html").write_text(page.replace("</body>", """<script>
const width = () => +document.querySelector("#before svg").getAttribute("width"), seen = {width: width()};
find("before-tools").querySelector("[name='+']").click();
seen.wider = width();
document.querySelector("#before .node[data-group='%d']").dispatchEvent(new MouseEvent("click", {bubbles: true}));
seen.details = find("details").textContent;
seen.marked = document.querySelectorAll(".node.chosen").length;
seen.row = document.querySelector("tr.chosen").dataset.name;
const search = find("before-tools").querySelector("input");
search.value = "matmul";
search.dispatchEvent(new Event("input"));
seen.left = document.querySelectorAll("#before .node:not(.dim)").length;
const fills = () => [...document.querySelectorAll("#before .node")].map(node => node.getAttribute("fill")).join();
seen.kernels = fills();
find("colours").value = "family";
find("colours").dispatchEvent(new Event("change"));
seen.families = fills();
seen.names = document.querySelectorAll(".piece-name").length;
document.body.textContent = "";
document.body.dataset.seen = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
</script></body>""" % index))
        seen = json.loads(base64.b64decode(re.search('data-seen="([^"]+)"', self.drawn("m.html")).group(1)))
        self.assertAlmostEqual(seen["wider"], 1.4 * seen["width"])
        for text in (kernel["name"], kernel["sources"][0], kernel["schedule"]):
            self.assertIn(text, seen["details"])
        group = [node for node in data["before"]["nodes"] if node["group"] == index]
        self.assertEqual(seen["marked"], len(group) + 1)
        self.assertEqual(seen["row"], kernel["name"])
        self.assertEqual(seen["left"], sum("matmul" in " ".join([node["label"], node["type"], *node["sources"]]).lower()
                                           for node in data["before"]["nodes"]))
        self.assertNotEqual(seen["kernels"], seen["families"])
        self.assertGreater(seen["names"], 0)


class Dot(ProgramTest):
    def test_the_graph_as_read_and_after_a_pass(self):
        self.write("m.relax", MLP)
        self.compiles("m.relax", "-o", "m.dot")
        read = (self.path / "m.dot").read_text()
        self.assertTrue(read.startswith("digraph"))
        self.assertEqual(read.count('label="matmul"'), 2)
        self.compiles("m.relax", "-o", "k.txt", "--emit=dot", "--stop-after=fuse_ops")
        self.assertIn("relu", (self.path / "k.txt").read_text())
        self.assertEqual((self.path / "k.txt").read_text().count('label="nn.relu"'), 0)
        self.assertFalse((self.path / "m.h").exists())

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed: its parser is not asked")
    def test_graphviz_reads_it(self):
        self.write("m.relax", NASTY)
        self.compiles("m.relax", "-o", "m.dot")
        subprocess.run(["dot", "-Tplain", str(self.path / "m.dot")], check=True, capture_output=True)


if __name__ == "__main__":
    program.main()
