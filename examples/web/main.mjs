// main.mjs: draws on a canvas, and asks the network of examples/digits after every stroke which digit that is.
//
// The network was trained on pictures of 8x8 pixels with values from 0 to 16, each the number of inked pixels in a square
// of 4x4. The page does the same: it scales what was drawn to 32x32 and counts.
import { load } from "./digits.mjs";

const paper = document.querySelector("#paper");
const pen = paper.getContext("2d", { willReadFrequently: true });
const SMALL = 32, SQUARE = 4, SIDE = SMALL / SQUARE;

/** The part of the paper that has ink, as a square with a small margin; null where there is none. */
function inked() {
  const { width, height } = paper;
  const pixels = pen.getImageData(0, 0, width, height).data;
  let left = width, right = -1, top = height, bottom = -1;
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      if (pixels[4 * (y * width + x) + 3] === 0) continue;
      left = Math.min(left, x), right = Math.max(right, x), top = Math.min(top, y), bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return null;
  const side = Math.max(right - left, bottom - top) + 1;
  return { x: (left + right + 1 - side) / 2, y: (top + bottom + 1 - side) / 2, side };
}

/** The drawing as the network saw its own: 64 numbers from 0 to 16. */
function picture() {
  const box = inked(), image = new Float32Array(SIDE * SIDE);
  if (!box) return null;
  const small = document.createElement("canvas");
  small.width = small.height = SMALL;
  const context = small.getContext("2d");
  context.drawImage(paper, box.x, box.y, box.side, box.side, 0, 0, SMALL, SMALL);
  const pixels = context.getImageData(0, 0, SMALL, SMALL).data;
  for (let y = 0; y < SMALL; ++y)
    for (let x = 0; x < SMALL; ++x)
      if (pixels[4 * (y * SMALL + x) + 3] > 127) image[Math.floor(y / SQUARE) * SIDE + Math.floor(x / SQUARE)] += 1;
  return image;
}

function softmax(logits) {
  const most = Math.max(...logits), powers = Array.from(logits, (value) => Math.exp(value - most));
  const sum = powers.reduce((total, value) => total + value);
  return powers.map((value) => value / sum);
}

function show(scores) {
  const best = scores ? scores.indexOf(Math.max(...scores)) : null;
  document.querySelector("#answer").textContent = best ?? "nothing yet";
  document.querySelector("#scores").innerHTML =
    (scores ?? []).map((score, digit) => `<span>${digit}</span><meter value="${score.toFixed(4)}"></meter>`).join("");
}

/** Calls `changed` after each stroke. */
function draw(changed) {
  pen.lineWidth = 32;
  pen.lineCap = pen.lineJoin = "round";
  let last = null;
  const place = ({ offsetX, offsetY }) => [(offsetX * paper.width) / paper.clientWidth, (offsetY * paper.height) / paper.clientHeight];
  paper.addEventListener("pointerdown", (event) => (last = place(event)));
  paper.addEventListener("pointermove", (event) => {
    if (!last) return;
    const next = place(event);
    pen.beginPath();
    pen.moveTo(...last);
    pen.lineTo(...next);
    pen.stroke();
    last = next;
  });
  for (const end of ["pointerup", "pointerleave"])
    paper.addEventListener(end, () => {
      if (last) changed();
      last = null;
    });
  document.querySelector("#clear").addEventListener("click", () => {
    pen.clearRect(0, 0, paper.width, paper.height);
    changed();
  });
}

const digits = await load();
draw(() => {
  const image = picture();
  show(image && softmax(digits.run({ image }).logits.data));
});
document.body.dataset.ready = "true";
