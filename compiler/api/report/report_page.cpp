// report_page.cpp: styles and script of the report's page.
//
// The page must work from a disk without a network in ten years, so it is plain HTML, SVG and one script that reads the
// JSON before it. Text from the model is only set as text, never as markup.
#include "compiler/api/report/report_page.h"

namespace relaxc::api {

const char* const kReportPageBegin = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>relaxc report</title>
<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 1500px; padding: 0 1rem; color: #1c2430; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
.quiet { color: #5b6675; } select { font: inherit; }
.box { border: 1px solid #cfd6de; border-radius: 4px; overflow: auto; max-height: 560px; background: #fff; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: #eef1f5; cursor: pointer; user-select: none; }
td:first-child, th:first-child, td.text { text-align: left; } tr:nth-child(even) td { background: #f7f9fb; }
td.text, td:first-child { max-width: 280px; overflow: hidden; text-overflow: ellipsis; } td.text { color: #5b6675; }
#tip { position: fixed; display: none; background: #1c2430; color: #fff; padding: .35rem .6rem; border-radius: 3px;
  font-size: 12px; white-space: pre-line; pointer-events: none; max-width: 420px; z-index: 2; }
.bar { display: inline-block; height: .7em; background: #4a7fb5; margin-right: .4em; }
svg text { font: 10px system-ui, sans-serif; } .piece-name { pointer-events: none; }
.tools { margin: .3rem 0; } .tools button, .tools input { font: inherit; margin-right: .3rem; }
.node, tr { cursor: pointer; } .dim { opacity: .2; } .chosen { stroke: #c2410c; stroke-width: 3; }
tr.chosen td { background: #ffe8d6; }
#details { position: sticky; bottom: 0; display: none; max-height: 40vh; padding: .5rem .8rem; margin-top: 1rem; }
#details pre { font-size: 11px; margin: .4rem 0 0; }
</style>
</head>
<body>
<h1 id="title"></h1><div id="about" class="quiet"></div>
<h2>Sizes</h2><div><label>Profile <select id="sizes"></select></label> <span id="arena"></span></div>
<h2>Memory over time</h2>
<div class="quiet">Each rectangle is a tensor in the arena or a pool: steps of the program to the right, addresses upwards.</div>
<div class="box" id="memory"></div>
<h2>Kernels</h2><div class="box"><table id="kernels"></table></div>
<h2>Graph as it was read</h2>
<div class="quiet"><label>Colours are <select id="colours"><option value="kernel">kernels</option>
<option value="family">families of operators</option></select></label> A click shows the kernel that computes a node.</div>
<div class="tools" id="before-tools"></div><div class="box" id="before"></div>
<h2>Graph as it runs</h2><div class="tools" id="after-tools"></div><div class="box" id="after"></div>
<h2>Passes</h2><div class="box"><table id="passes"></table></div>
<div class="box" id="details"></div><div id="tip"></div>
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
  if (profile.pools.length === 0) return drawOne(box, profile, "", profile.arena_bytes, 420);
  make(box, "div", {class: "quiet"}, "arena, " + amount(profile.arena_bytes, "B"));
  drawOne(box, profile, "", profile.arena_bytes, 240);
  for (const pool of profile.pools) {
    make(box, "div", {class: "quiet"}, "pool " + pool.name + ", " + amount(pool.bytes, "B"));
    drawOne(box, profile, pool.name, pool.bytes, 240);
  }
}
function drawOne(box, profile, pool, bytes, height) {
  const pieces = profile.memory.filter(p => p.pool === pool);
  const steps = Math.max(1, profile.steps.length), left = 70;
  const top = Math.max(1, bytes, ...pieces.map(p => p.offset + p.bytes));
  const step = Math.max(4, Math.min(40, 1080 / steps)), width = left + step * steps + 10;
  const svg = make(box, "svg", {width, height: height + 30, role: "img"});
  for (let i = 0; i <= 4; ++i) {
    const y = 10 + height - height * i / 4;
    make(svg, "line", {x1: left, x2: width, y1: y, y2: y, stroke: "#e1e6ec"});
    make(svg, "text", {x: left - 6, y: y + 3, "text-anchor": "end"}, amount(top * i / 4, "B"));
  }
  pieces.forEach((piece, i) => {
    const rect = make(svg, "rect", {
      x: left + piece.first * step, width: (piece.last - piece.first + 1) * step - 0.5, class: "piece",
      y: 10 + height - height * (piece.offset + piece.bytes) / top, height: Math.max(0.5, height * piece.bytes / top),
      fill: colour(i, 68), stroke: colour(i, 42), "stroke-width": 0.5});
    explain(rect, piece.name + (piece.source ? "\n" + piece.source : "") + "\n" + amount(piece.bytes, "B") + " at " +
      piece.offset + "\nsteps " + piece.first + " to " + piece.last + ": " + profile.steps[piece.first]);
    const room = Math.floor(((piece.last - piece.first + 1) * step - 4) / 6), tall = height * piece.bytes / top;
    if (room >= 2 && tall >= 11)
      make(svg, "text", {x: left + piece.first * step + 3, class: "piece-name",
        y: 10 + height - height * (piece.offset + piece.bytes / 2) / top + 4},
        piece.name.length > room ? piece.name.slice(0, room - 1) + "…" : piece.name);
  });
}

function fillTable(table, columns, rows, chosen) {
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
      if (chosen) {
        line.dataset.name = row.name;
        line.addEventListener("click", () => chosen(row));
      }
      for (const column of columns) {
        const value = column.value(row);
        const cell = make(line, "td", column.text ? {class: "text", title: value} : column.title === "kernel" ? {title: value} : {});
        if (column.bar) make(cell, "span", {class: "bar", style: "width:" + Math.round(value * 120) + "px"});
        cell.appendChild(document.createTextNode(column.show ? column.show(value) : value));
      }
    }
  }
  draw();
}

// The family of an operator, by its name: a colour for each, and what fits none.
const families = [["convolution", /conv/], ["product", /matmul|einsum|dense|linear|gemm|attention/],
  ["norm or softmax", /norm|softmax/], ["pool or reduction", /pool|sum|mean|max$|min$|prod|argm|reduce|topk|cum/],
  ["layout and copies", /reshape|permute|transpose|concat|split|slice|squeeze|expand|broadcast|flatten|pad|tile|gather|scatter|take|stack/],
  ["quantization", /quant|astype|cast/], ["control", /^if|^loop|call/]];
function familyOf(node) {
  const found = families.findIndex(family => family[1].test(node.label.toLowerCase()));
  return node.kind === "input" || node.kind === "output" ? -1 : found < 0 ? families.length : found;
}

// A graph grows by its buttons and by the wheel with Ctrl, and moves with the pointer and by scrolling. The search dims
// nodes without the words, and Enter goes from one that has them to the next.
function navigable(box, tools) {
  let scale = 1, found = [], at = 0;
  const drawings = [...box.querySelectorAll("svg")].map(svg =>
    ({svg, width: +svg.getAttribute("width"), height: +svg.getAttribute("height")}));
  for (const {svg, width, height} of drawings) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  function zoom(to, x = box.clientWidth / 2, y = box.clientHeight / 2) {
    const old = scale;
    scale = Math.min(8, Math.max(0.02, to));
    for (const {svg, width, height} of drawings) {
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    }
    box.scrollLeft = (box.scrollLeft + x) * scale / old - x;
    box.scrollTop = (box.scrollTop + y) * scale / old - y;
  }
  const fit = () => zoom(Math.min(1, (box.clientWidth - 4) / Math.max(1, ...drawings.map(d => d.width))));
  for (const [name, act] of [["−", () => zoom(scale / 1.4)], ["+", () => zoom(scale * 1.4)], ["fit", fit]])
    make(tools, "button", {type: "button", name}, name).addEventListener("click", act);
  box.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const frame = box.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - frame.left, event.clientY - frame.top);
  }, {passive: false});
  let drag = null;
  box.addEventListener("pointerdown", event => drag = {x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop});
  addEventListener("pointerup", () => drag = null);
  box.addEventListener("pointermove", event => {
    if (drag === null) return;
    box.scrollLeft = drag.x - event.clientX;
    box.scrollTop = drag.y - event.clientY;
  });
  const search = make(tools, "input", {type: "search", placeholder: "search"}), count = make(tools, "span", {class: "quiet"});
  const go = () => found.length && found[at % found.length].scrollIntoView({block: "nearest", inline: "nearest"});
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase(), all = [...box.querySelectorAll(".node")];
    found = words ? all.filter(rect => rect.dataset.text.includes(words)) : [];
    for (const rect of all) rect.classList.toggle("dim", words !== "" && !found.includes(rect));
    count.textContent = words ? found.length + " found" : "";
    at = 0;
    go();
  });
  search.addEventListener("keydown", event => {
    if (event.key === "Enter") ++at, go();
  });
}

const time = seconds => amount(1e9 * seconds, "ns").replace(" kns", " µs").replace(" Mns", " ms").replace(" Gns", " s");

// Shows what is known of a kernel, and marks it in the table and its nodes in both graphs.
function choose(index, name) {
  for (const one of document.querySelectorAll(".chosen")) one.classList.remove("chosen");
  if (index >= 0)
    for (const rect of document.querySelectorAll(`[data-group="${index}"]`)) rect.classList.add("chosen");
  for (const line of find("kernels").querySelectorAll("tr")) line.classList.toggle("chosen", line.dataset.name === name);
  const kernel = report.profiles.length ? report.profiles[find("sizes").value].kernels.find(k => k.name === name) : undefined;
  const node = report.after.nodes[index], box = find("details");
  box.textContent = "";
  box.style.display = "block";
  make(box, "b", {}, name);
  const sources = kernel ? kernel.sources : node ? node.sources : [];
  make(box, "div", {}, sources.length ? "computes " + sources.join(", ") : "");
  if (!kernel) return;
  make(box, "div", {class: "quiet"}, kernel.calls + " calls, " + amount(kernel.flops, "FLOP") + ", " + amount(kernel.bytes, "B") +
    (kernel.measured_seconds === undefined ? "" : ", measured " + time(kernel.measured_seconds)) +
    ", estimated " + time(kernel.estimated_seconds) + ", " + (100 * kernel.share).toFixed(1) + " % of the estimate");
  make(box, "pre", {}, kernel.schedule);
}
const chooseKernel = kernel => choose(report.after.nodes.findIndex(node => node.label === kernel.name), kernel.name);

// Layers by longest path in each function, branch and body; what a branch or a loop holds stands inside of its box.
function drawGraph(box, graph, group) {
  const shown = Math.min(graph.nodes.length, 4000), nodes = graph.nodes.slice(0, shown), gap = 20, header = 26;
  if (shown < graph.nodes.length) make(box, "div", {class: "quiet"}, "The first " + shown + " nodes.");
  const holder = node => node.parent < 0 ? node.function : node.parent + " " + node.region;
  const members = new Map(), regions = nodes.map(() => new Set());
  nodes.forEach((node, i) => {
    if (!members.has(holder(node))) members.set(holder(node), []);
    members.get(holder(node)).push(i);
    if (node.parent >= 0) regions[node.parent].add(holder(node));
  });

  // An edge is drawn between the two boxes of one region that hold its ends.
  const before = nodes.map(() => new Set());
  function path(i) {
    const up = [];
    for (; i >= 0; i = nodes[i].parent) up.unshift(i);
    return up;
  }
  for (const [from, to] of graph.edges) {
    if (from >= shown || to >= shown) continue;
    const a = path(from), b = path(to);
    let k = 0;
    while (k < a.length && a[k] === b[k]) ++k;
    if (k === a.length || k === b.length || a[k] > b[k]) continue;
    if (holder(nodes[a[k]]) === holder(nodes[b[k]])) before[b[k]].add(a[k]);
  }

  const place = [];  // x and y within the region, width and height
  function layOut(region) {
    const layers = [], depth = new Map(), size = {width: 0, height: 0};
    for (const i of members.get(region)) {
      place[i] = {width: 150, height: header};
      let inside = 0;
      for (const inner of regions[i]) {
        const part = layOut(inner);
        inside += part.width + gap;
        place[i].height = Math.max(place[i].height, header + part.height + gap);
      }
      place[i].width = Math.max(place[i].width, inside + gap);
      depth.set(i, Math.max(0, ...[...before[i]].map(from => depth.get(from) + 1)));
    }
    const users = new Map();  // the nearest; what needs nothing stands right above it
    for (const [i, at] of depth)
      for (const from of before[i]) users.set(from, Math.min(users.get(from) ?? at, at));
    for (const [i, at] of depth) {
      const layer = before[i].size || nodes[i].kind === "input" || !users.has(i) ? at : users.get(i) - 1;
      (layers[layer] = layers[layer] || []).push(i);
    }
    for (const layer of layers) {
      const middle = from => place[from].x + place[from].width / 2;
      const center = i => before[i].size ? [...before[i]].reduce((sum, from) => sum + middle(from), 0) / before[i].size : 0;
      let next = 0, tallest = 0;
      for (const [at, i] of layer.map(i => [center(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
        place[i].x = Math.max(next, at - place[i].width / 2);
        place[i].y = size.height;
        next = place[i].x + place[i].width + gap;
        tallest = Math.max(tallest, place[i].height);
      }
      size.width = Math.max(size.width, next - gap);
      size.height += tallest + gap;
    }
    size.height -= gap;
    return size;
  }

  function draw(svg, region, left, top) {
    for (const to of members.get(region))
      for (const from of before[to]) {
        const a = place[from], b = place[to];
        const x1 = left + a.x + a.width / 2, y1 = top + a.y + a.height, x2 = left + b.x + b.width / 2, y2 = top + b.y;
        make(svg, "path", {d: `M${x1},${y1} C${x1},${y1 + 14} ${x2},${y2 - 14} ${x2},${y2}`, fill: "none", stroke: "#8d99a8"});
      }
    for (const i of members.get(region)) {
      const node = nodes[i], colourOf = group(node, i), {width, height} = place[i];
      const x = left + place[i].x, y = top + place[i].y;
      const plain = node.kind === "input" || node.kind === "output", holds = regions[i].size > 0;
      const rect = make(svg, "rect", {x, y, width, height, rx: plain ? 13 : 3, class: "node", "data-group": colourOf,
        "data-text": [node.label, node.type, ...node.sources].join(" ").toLowerCase(), stroke: plain ? "#5b6675" : "#8d99a8"});
      const paint = () => {
        const number = find("colours").value === "family" ? familyOf(node) : colourOf;
        rect.setAttribute("fill", plain || holds || number < 0 ? "#fff" : colour(number, 86));
      };
      paint();
      find("colours").addEventListener("change", paint);
      const label = node.label.length > 25 ? node.label.slice(0, 24) + "…" : node.label;
      const text = make(svg, "text", holds ? {x: x + 8, y: y + 16} : {x: x + width / 2, y: y + 16, "text-anchor": "middle"}, label);
      const runs = report.after.nodes[colourOf];
      for (const part of [rect, text])
        if (runs) part.addEventListener("click", () => choose(colourOf, runs.label));
      for (const part of [rect, text])
        explain(part, node.label + "\n" + node.type + (node.sources.length ? "\n" + node.sources.join("\n") : ""));
      let inside = x + gap;
      for (const inner of regions[i]) {
        draw(svg, inner, inside, y + header);
        inside += Math.max(...members.get(inner).map(k => place[k].x + place[k].width)) + gap;
      }
    }
  }

  const functions = new Set(nodes.map(node => node.function));
  for (const name of functions) {
    if (functions.size > 1) make(box, "div", {class: "quiet"}, name);
    const size = layOut(name);
    draw(make(box, "svg", {width: size.width + gap, height: size.height + gap, role: "img"}), name, gap / 2, gap / 2);
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
    profile.ratio.toFixed(3) + " of the largest sum of live bytes" + (profile.measured === undefined ? "" :
    "; " + time(profile.measured.seconds) + " a run with kernels timed, the mean of " + profile.measured.runs + ", threads: " +
    profile.measured.threads);
  drawMemory(profile);
  fillTable(find("kernels"), [
    {title: "kernel", value: k => k.name}, {title: "calls", value: k => k.calls},
    {title: "FLOPs", value: k => k.flops, show: v => amount(v, "")},
    {title: "integer operations", value: k => k.integer_ops, show: v => amount(v, "")},
    {title: "bytes", value: k => k.bytes, show: v => amount(v, "B")},
    {title: "weights", value: k => k.weight_bytes, show: v => amount(v, "B")},
    ...(profile.measured === undefined ? [] : [
      {title: "measured", value: k => k.measured_seconds, show: time},
      {title: "measured share", value: k => k.measured_seconds / profile.measured.seconds, bar: true, show: v => (100 * v).toFixed(1) + " %"}]),
    {title: "estimated share", value: k => k.share, bar: true, show: v => (100 * v).toFixed(1) + " %"},
    {title: "schedule", value: k => k.schedule, text: true},
    {title: "from", value: k => k.sources.join(", "), text: true}], profile.kernels.slice(), chooseKernel);
}
find("sizes").addEventListener("change", event => show(report.profiles[event.target.value]));
if (report.profiles.length) {
  const middle = Math.min(report.profiles.length - 1, 2);
  find("sizes").value = middle;
  show(report.profiles[middle]);
}
drawGraph(find("before"), report.before, node => node.group);
drawGraph(find("after"), report.after, (node, i) => i);
navigable(find("before"), find("before-tools"));
navigable(find("after"), find("after-tools"));
fillTable(find("passes"), [{title: "pass", value: p => p.pass},
  {title: "milliseconds", value: p => p.milliseconds, show: v => v.toFixed(2)}], report.passes.slice());
</script>
</body>
</html>
)page";

}  // namespace relaxc::api
