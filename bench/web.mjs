// web.mjs: how long binaries of WebAssembly take for one model, in this engine.
//
//     relaxc net.onnx --target wasm32-simd,wasm32-relaxed -o net.mjs
//     node bench/web.mjs net.wasm net.wasm32-relaxed.wasm [--dim n=4]
//
// The binaries take turns. Each turn runs one for a tenth of a second and counts the processor's time; the least of a
// binary's turns is its time, and the quotients are of those. Inputs are random: open dims are 1 without --dim, integers 0.
import { load } from "../runtime-lite/javascript/relax_rt.mjs";

const TURNS = 15, TURN_US = 1e5;

const dims = {}, files = [];
for (let i = 2; i < process.argv.length; ++i) {
  if (process.argv[i] !== "--dim") files.push(process.argv[i]);
  else {
    const [name, size] = process.argv[++i].split("=");
    dims[name] = Number(size);
  }
}

/** An input of the model, the same for each binary. */
function inputOf({ shape, dtype }) {
  const sizes = shape.map((dim) => (typeof dim === "number" ? dim : dims[dim] ?? 1));
  const count = sizes.reduce((a, b) => a * b, 1);
  const value = (i) => (dtype.startsWith("float") ? ((i * 7919) % 1000) / 500 - 1 : dtype.endsWith("64") ? 0n : 0);
  return { data: Array.from({ length: count }, (_, i) => value(i)), shape: sizes };
}

/** Microseconds of the processor for one of the runs that fit into a turn. */
function turn(model, inputs) {
  const begin = process.cpuUsage(), end = performance.now() + TURN_US / 1000;
  let runs = 0;
  do {
    model.run(inputs);
    ++runs;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / runs;
}

const models = [];
for (const file of files) {
  const model = await load(file);
  const inputs = Object.fromEntries(model.inputs.map((spec) => [spec.name, inputOf(spec)]));
  for (const spec of model.inputs) {
    const Elements = model.functions.main.inputs.find(({ name }) => name === spec.name).array;
    inputs[spec.name].data = Elements.from(inputs[spec.name].data);
  }
  models.push({ file, model, inputs, least: Infinity });
  turn(model, inputs); // the engine optimizes code that runs
}
for (let i = 0; i < TURNS; ++i)
  for (const one of models) one.least = Math.min(one.least, turn(one.model, one.inputs));
console.log(`V8 ${process.versions.v8}, one thread`);
for (const { file, least } of models) console.log(`${file}: ${least.toFixed(1)} us, ${(models[0].least / least).toFixed(2)} times as fast as the first`);
