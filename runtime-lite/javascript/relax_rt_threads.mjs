// relax_rt_threads.mjs: runs a model's parallel loops on several threads, or a whole model in a worker of its own.
//
// relax_rt.mjs imports this file only if a page asks for threads. A module compiled with --target wasm32-threads has a
// shared memory; each thread is a worker (relax_rt_worker.mjs) with its own instance of the module on that memory and
// its own stack. The threads communicate by a few integers in a SharedArrayBuffer, defined below.

import { RelaxError, moduleOf, tableFunction } from "./relax_rt.mjs";

// The control block, 32-bit integers. NEXT is the next task to claim, and CLOSED or more if no loop is running. A
// worker adds itself to INSIDE before it claims a task, and the caller ends a loop only when INSIDE is 0: so the fields
// of a loop never change while a worker runs a task of it.
const GENERATION = 0, NEXT = 1, TASKS = 2, TASK = 3, ARGUMENT = 4, INSIDE = 5, STATUS = 6, TRAPPED = 7, FIELDS = 8;
const CLOSED = 2 ** 30;
const SPINS = 20000; // about 50 us of polling before a thread sleeps: waking one takes longer than most kernels
const UNKNOWN_STACK = 2 ** 20; // bytes of stack if the model does not know what it needs

const inNode = typeof process === "object" && Boolean(process.versions?.node);

/** Starts relax_rt_worker.mjs, returns `{ post, terminate, keep }`. `heard` gets its messages, `failed` an error. */
async function startWorker(heard, failed) {
  if (inNode) {
    const { Worker: NodeWorker } = await import("node:worker_threads");
    const worker = new NodeWorker(new URL("./relax_rt_worker.mjs", import.meta.url));
    worker.on("message", heard);
    worker.on("error", failed);
    return { post: (data) => worker.postMessage(data), terminate: () => worker.terminate(),
             keep: (on) => (on ? worker.ref() : worker.unref()) };
  }
  const worker = new Worker(new URL("./relax_rt_worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = (event) => failed(new Error(event.message ?? "relax_rt_worker.mjs cannot be loaded"));
  return { post: (data) => worker.postMessage(data), terminate: () => worker.terminate(), keep: () => {} };
}

/** Claims and runs tasks of the current loop, by the instance with this `table`, until none is left. */
function takeTasks(control, table) {
  for (;;) {
    const index = Atomics.add(control, NEXT, 1);
    if (index >= Atomics.load(control, TASKS)) return;
    const status = table.get(Atomics.load(control, TASK))(Atomics.load(control, ARGUMENT), index);
    if (status !== 0) Atomics.compareExchange(control, STATUS, 0, status);
  }
}

/** Returns whether this thread may sleep: the main thread of a page may not, and must poll. */
function maySleep(control) {
  try {
    Atomics.wait(control, GENERATION, -1, 0); // the values always differ, so this returns at once
    return true;
  } catch {
    return false;
  }
}

/** Returns a function that runs in a worker of a pool and never ends: it waits for loops and runs tasks of them. */
export function serveTasks({ module, memory, stack, control }) {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.__stack_pointer.value = stack;
  const table = exports.__indirect_function_table;
  return function serve() {
    for (let seen = 0; ;) {
      for (let spins = 0; Atomics.load(control, GENERATION) === seen; ++spins)
        if (spins >= SPINS) Atomics.wait(control, GENERATION, seen);
      seen = Atomics.load(control, GENERATION);
      Atomics.add(control, INSIDE, 1);
      try {
        takeTasks(control, table);
      } catch {
        Atomics.store(control, TRAPPED, 1);
      }
      if (Atomics.sub(control, INSIDE, 1) === 1) Atomics.notify(control, INSIDE);
    }
  };
}

/** The threads of one model, including the caller of a loop. */
class Pool {
  constructor(model, workers, control) {
    this.workers = workers;
    this.control = control;
    this.table = model.table;
    this.sleeps = maySleep(control);
    this.parallelFor = model.table.grow(1, tableFunction("iiiii", (_, tasks, task, argument) => this.run(tasks, task, argument)));
  }

  get threads() {
    return this.workers.length + 1;
  }

  run(tasks, task, argument) {
    const { control } = this;
    for (const [field, value] of [[STATUS, 0], [TASKS, tasks], [TASK, task], [ARGUMENT, argument], [NEXT, 0]])
      Atomics.store(control, field, value);
    Atomics.add(control, GENERATION, 1);
    Atomics.notify(control, GENERATION);
    try {
      takeTasks(control, this.table);
    } finally {
      this.end();
    }
    if (Atomics.load(control, TRAPPED)) throw new WebAssembly.RuntimeError("a thread of the model was ended by a trap");
    return Atomics.load(control, STATUS);
  }

  end() {
    Atomics.store(this.control, NEXT, CLOSED);
    for (let spins = 0, inside; (inside = Atomics.load(this.control, INSIDE)) !== 0; ++spins)
      if (this.sleeps && spins >= SPINS) Atomics.wait(this.control, INSIDE, inside);
  }

  close() {
    for (const worker of this.workers) worker.terminate();
    this.workers = [];
  }
}

/** Starts `threads - 1` workers on the memory of `model`, each with a stack of its own, and returns their Pool. */
export async function startPool(model, module, threads) {
  const control = new Int32Array(new SharedArrayBuffer(4 * FIELDS));
  control[NEXT] = CLOSED;
  const stackBytes = model.stackBytes ?? UNKNOWN_STACK;
  const starting = Array.from({ length: threads - 1 }, () => new Promise((ready, failed) => {
    const stack = model.memory.keep(stackBytes) + stackBytes;
    const worker = startWorker(() => ready(worker), failed);
    worker.then(({ post }) => post({ tasks: { module, memory: model.memory.memory, stack, control } }), failed);
  }));
  const workers = await Promise.all(starting);
  for (const worker of workers) worker.keep(false); // a program may end while they wait
  return new Pool(model, workers, control);
}

// Models in workers.

const ERRORS = { TypeError, RangeError, RelaxError };

function revived({ name, message, status, record }) {
  const Kind = ERRORS[name] ?? Error;
  return new Kind(message, status, record);
}

/** The calls to a worker: each is a message, and a promise for its answer. */
class Calls {
  constructor() {
    this.waiting = new Map();
    this.last = 0;
  }

  async start() {
    this.worker = await startWorker((answer) => this.answered(answer), (error) => this.failed(error));
    return this;
  }

  call(what) {
    if (this.closed) return Promise.reject(this.closed);
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.keep(true);
      this.worker.post({ ...what, id });
    });
  }

  answered({ id, error, value }) {
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.worker.keep(false);
    if (error) reject(revived(error));
    else resolve(value);
  }

  failed(error) {
    this.closed = error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  close() {
    this.worker.terminate();
    this.failed(new Error("the worker of this model is closed"));
  }
}

/** An entry point of a model in a worker: its calls are those of relax_rt.mjs but return promises. */
class WorkerEntry {
  constructor(calls, { name, inputs, outputs }) {
    Object.assign(this, { name, inputs, outputs });
    this.run = (given) => calls.call({ run: name, given });
    this.stream = async (dims = {}) => {
      const stream = await calls.call({ stream: name, dims });
      return { run: (given) => calls.call({ step: stream, given }), reset: () => calls.call({ reset: stream }),
               close: () => calls.call({ end: stream }) };
    };
  }
}

/** Loads a model in a worker of its own, so that its runs do not block the page; see relax_rt_threads.d.mts. */
export async function loadInWorker(source, options = {}) {
  const module = await moduleOf(source);
  const calls = await new Calls().start();
  try {
    const { name, hash, threads, functions } = await calls.call({ load: module, options });
    const entries = Object.fromEntries(functions.map((one) => [one.name, new WorkerEntry(calls, one)]));
    const { inputs, outputs, run, stream } = entries.main ?? {};
    return { name, hash, threads, functions: entries, inputs, outputs, run, stream, close: () => calls.close() };
  } catch (error) {
    calls.close();
    throw error;
  }
}
