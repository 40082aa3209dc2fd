// relax_rt_worker.mjs: the script of the workers that relax_rt_threads.mjs starts. The first message decides what a
// worker is: a thread of a model (`tasks`), or the place where a model runs (`load`), which answers all later messages.

import { load } from "./relax_rt.mjs";
import { serveTasks } from "./relax_rt_threads.mjs";

let model = null;
const streams = new Map();

const described = (entry) => ({
  name: entry.name,
  inputs: entry.inputs.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
  outputs: entry.outputs.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
});

async function answered(message) {
  if ("load" in message) {
    model = await load(message.load, message.options);
    return { name: model.name, hash: model.hash, threads: model.threads, functions: Object.values(model.functions).map(described) };
  }
  if ("run" in message) return model.functions[message.run].run(message.given);
  if ("stream" in message) {
    streams.set(message.id, model.functions[message.stream].stream(message.dims));
    return message.id;
  }
  if ("step" in message) return streams.get(message.step).run(message.given);
  if ("end" in message) streams.delete(message.end);
  else streams.get(message.reset).reset();
  return undefined;
}

async function heard(message, post) {
  if (message.tasks) {
    const serve = serveTasks(message.tasks);
    post({ ready: true });
    setTimeout(serve, 0); // the message must be sent before the thread sleeps
    return;
  }
  const { id } = message;
  try {
    const value = await answered(message);
    const kept = "step" in message ? new Set(Object.values(streams.get(message.step).states).map(({ data }) => data.buffer)) : new Set();
    const buffers = Object.values(("run" in message || "step" in message) && value).map(({ data }) => data.buffer);
    post({ id, value }, buffers.filter((buffer) => !kept.has(buffer))); // buffers of states stay here and are copied
  } catch ({ name, message: text, status, record }) {
    post({ id, error: { name, message: text, status, record } }, []);
  }
}

// A page's worker must listen before its script ends, or messages are lost; Node keeps them.
if (typeof WorkerGlobalScope !== "undefined")
  globalThis.onmessage = ({ data }) => heard(data, (answer, transfer) => globalThis.postMessage(answer, transfer ?? []));
else
  import("node:worker_threads").then(({ parentPort }) =>
    parentPort.on("message", (data) => heard(data, (answer, transfer) => parentPort.postMessage(answer, transfer))));
