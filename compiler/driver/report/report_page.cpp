// report_page.cpp: styles and script of the report.
//
// The page must open from a disk without a network in ten years' time, so it is plain HTML, SVG and one script that
// reads the JSON in front of it. Text from the model is only ever set as text, never as markup.
#include "compiler/driver/report/report_page.h"

namespace relaxc::driver {

const char* const kReportPageBegin = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>relaxc report</title>
<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 1200px; padding: 0 1rem; color: #1c2430; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
.quiet { color: #5b6675; } select { font: inherit; }
.box { border: 1px solid #cfd6de; border-radius: 4px; overflow: auto; max-height: 560px; background: #fff; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .6rem; text-align: right; }
th { position: sticky; top: 0; background: #eef1f5; cursor: pointer; user-select: none; }
td:first-child, th:first-child, td.text { text-align: left; } tr:nth-child(even) td { background: #f7f9fb; }
td.text { color: #5b6675; max-width: 380px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#tip { position: fixed; display: none; background: #1c2430; color: #fff; padding: .35rem .6rem; border-radius: 3px;
  font-size: 12px; white-space: pre-line; pointer-events: none; max-width: 420px; z-index: 2; }
.bar { display: inline-block; height: .7em; background: #4a7fb5; margin-right: .4em; }
svg text { font: 10px system-ui, sans-serif; }
</style>
</head>
<body>
<h1 id="title"></h1><div id="about" class="quiet"></div>
<h2>Sizes</h2><div><label>Profile <select id="sizes"></select></label> <span id="arena"></span></div>
<h2>Memory over time</h2>
<div class="quiet">Each rectangle is a tensor in the arena: steps of the program to the right, addresses upwards.</div>
<div class="box" id="memory"></div>
<h2>Kernels</h2><div class="box"><table id="kernels"></table></div>
<h2>Graph as it was read</h2><div class="quiet">Nodes of one colour run in one kernel.</div>
<div class="box" id="before"></div>
<h2>Graph as it runs</h2><div class="box" id="after"></div>
<h2>Passes</h2><div class="box"><table id="passes"></table></div>
<div id="tip"></div>
<script id="data" type="application/json">)page";

const char* const kReportPageEnd = R"page(</script>
<script>
"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const find = id => document.getElementById(id), tip = find("tip");
function make(parent, name, attributes, text) {
  const svg = parent.namespaceURI.endsWith("svg") || name === "svg";
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
function explain(node, text) {
  node.addEventListener("mousemove", event => {
    tip.textContent = text;
    tip.style.display = "block";
    tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 8) + "px";
  });
  node.addEventListener("mouseleave", () => tip.style.display = "none");
}
function amount(value, unit) {
  let k = 0;
  while (value >= 1000 && k < 4) { value /= 1000; ++k; }
  return (k === 0 ? String(Math.round(value * 10) / 10) : value.toPrecision(3)) + " " + ["", "k", "M", "G", "T"][k] + unit;
}
function colour(index, light) { return "hsl(" + (index * 137.5) % 360 + ",55%," + light + "%)"; }

function drawMemory(profile) {
  const box = find("memory");
  box.textContent = "";
  const steps = Math.max(1, profile.steps.length), height = 420, left = 70;
  const top = Math.max(1, profile.arena_bytes, ...profile.memory.map(p => p.offset + p.bytes));
  const step = Math.max(4, Math.min(40, 1080 / steps)), width = left + step * steps + 10;
  const svg = make(box, "svg", {width, height: height + 30, role: "img"});
  for (let i = 0; i <= 4; ++i) {
    const y = 10 + height - height * i / 4;
    make(svg, "line", {x1: left, x2: width, y1: y, y2: y, stroke: "#e1e6ec"});
    make(svg, "text", {x: left - 6, y: y + 3, "text-anchor": "end"}, amount(top * i / 4, "B"));
  }
  profile.memory.forEach((piece, i) => {
    const rect = make(svg, "rect", {
      x: left + piece.first * step, width: (piece.last - piece.first + 1) * step - 0.5, class: "piece",
      y: 10 + height - height * (piece.offset + piece.bytes) / top, height: Math.max(0.5, height * piece.bytes / top),
      fill: colour(i, 68), stroke: colour(i, 42), "stroke-width": 0.5});
    explain(rect, piece.name + (piece.source ? "\n" + piece.source : "") + "\n" + amount(piece.bytes, "B") + " at " +
      piece.offset + "\nsteps " + piece.first + " to " + piece.last + ": " + profile.steps[piece.first]);
  });
}

function fillTable(table, columns, rows) {
  let sorted = -1, down = true;
  function draw() {
    table.textContent = "";
    const head = make(table, "tr", {});
    columns.forEach((column, i) => make(head, "th", {}, column.title).addEventListener("click", () => {
      down = sorted === i ? !down : true;
      sorted = i;
      rows.sort((a, b) => {
        const x = columns[i].value(a), y = columns[i].value(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
      draw();
    }));
    for (const row of rows) {
      const line = make(table, "tr", {});
      for (const column of columns) {
        const value = column.value(row);
        const cell = make(line, "td", column.text ? {class: "text", title: value} : {});
        if (column.bar) make(cell, "span", {class: "bar", style: "width:" + Math.round(value * 120) + "px"});
        cell.appendChild(document.createTextNode(column.show ? column.show(value) : value));
      }
    }
  }
  draw();
}

function drawGraph(box, graph, group) {
  const shown = graph.nodes.length > 4000 ? 4000 : graph.nodes.length;
  if (shown < graph.nodes.length) make(box, "div", {class: "quiet"}, "The first " + shown + " nodes.");
  const before = Array.from({length: shown}, () => []), layers = [], place = [], depth = [];
  for (const [from, to] of graph.edges) if (from < shown && to < shown && from < to) before[to].push(from);
  for (let i = 0; i < shown; ++i) {
    depth[i] = before[i].reduce((most, from) => Math.max(most, depth[from] + 1), 0);
    (layers[depth[i]] = layers[depth[i]] || []).push(i);
  }
  const wide = 170, high = 46;
  let columns = 1;
  for (const layer of layers) {
    const wish = i => before[i].length ? before[i].reduce((sum, from) => sum + place[from], 0) / before[i].length : 0;
    layer.map(i => [wish(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).reduce((next, [at, i]) => {
      place[i] = Math.max(next, Math.round(at));
      columns = Math.max(columns, place[i] + 1);
      return place[i] + 1;
    }, 0);
  }
  const svg = make(box, "svg", {width: columns * wide + 20, height: layers.length * high + 20, role: "img"});
  for (let to = 0; to < shown; ++to)
    for (const from of before[to]) {
      const x1 = 10 + place[from] * wide + 75, y1 = 10 + depth[from] * high + 26;
      const x2 = 10 + place[to] * wide + 75, y2 = 10 + depth[to] * high;
      make(svg, "path", {d: `M${x1},${y1} C${x1},${y1 + 14} ${x2},${y2 - 14} ${x2},${y2}`, fill: "none", stroke: "#8d99a8"});
    }
  for (let i = 0; i < shown; ++i) {
    const node = graph.nodes[i], colourOf = group(node, i);
    const x = 10 + place[i] * wide, y = 10 + depth[i] * high;
    const plain = node.kind === "input" || node.kind === "output";
    const rect = make(svg, "rect", {x, y, width: 150, height: 26, rx: plain ? 13 : 3, class: "node",
      fill: plain || colourOf < 0 ? "#fff" : colour(colourOf, 86), stroke: plain ? "#5b6675" : "#8d99a8"});
    const label = node.label.length > 25 ? node.label.slice(0, 24) + "…" : node.label;
    const text = make(svg, "text", {x: x + 75, y: y + 16, "text-anchor": "middle"}, label);
    for (const part of [rect, text])
      explain(part, node.label + "\n" + node.type + (node.sources.length ? "\n" + node.sources.join("\n") : ""));
  }
}

document.title = report.model + ": relaxc report";
find("title").textContent = report.model;
find("about").textContent = report.producer + ", " + report.target + ", " + amount(report.weight_bytes, "B") + " of weights";
report.profiles.forEach((profile, i) => {
  const symbols = Object.entries(profile.symbols).map(([name, value]) => name + " = " + value).join(", ");
  make(find("sizes"), "option", {value: i}, profile.function + (symbols ? ": " + symbols : ""));
});
function show(profile) {
  find("arena").textContent = profile.steps.length + " steps, arena " + amount(profile.arena_bytes, "B") + ", " +
    profile.ratio.toFixed(3) + " of the largest sum of live bytes";
  drawMemory(profile);
  fillTable(find("kernels"), [
    {title: "kernel", value: k => k.name}, {title: "calls", value: k => k.calls},
    {title: "FLOPs", value: k => k.flops, show: v => amount(v, "")},
    {title: "bytes", value: k => k.bytes, show: v => amount(v, "B")},
    {title: "weights", value: k => k.weight_bytes, show: v => amount(v, "B")},
    {title: "estimated share", value: k => k.share, bar: true, show: v => (100 * v).toFixed(1) + " %"},
    {title: "from", value: k => k.sources.join(", "), text: true}], profile.kernels.slice());
}
find("sizes").addEventListener("change", event => show(report.profiles[event.target.value]));
if (report.profiles.length) {
  const middle = Math.min(report.profiles.length - 1, 2);
  find("sizes").value = middle;
  show(report.profiles[middle]);
}
drawGraph(find("before"), report.before, node => node.group);
drawGraph(find("after"), report.after, (node, i) => i);
fillTable(find("passes"), [{title: "pass", value: p => p.pass},
  {title: "milliseconds", value: p => p.milliseconds, show: v => v.toFixed(2)}], report.passes.slice());
</script>
</body>
</html>
)page";

}  // namespace relaxc::driver
