// relax_rt.mjs: loads a .wasm file that relaxc wrote and runs it on typed arrays, in browsers and in Node.
//
//     import { load } from "./relax_rt.mjs";
//     const digits = await load("digits.wasm");
//     const { logits } = digits.run({ image: pixels });        // logits.data, logits.shape
//
// A loader needs only one export, `<name>_model`: the records that it points to are those of relax_rt.h, with the
// layout for wasm32 below. Tables are stepped through by the sizes in the model, as docs/abi.md requires. A run copies
// its inputs into the module's memory after __heap_base, and its outputs from there; nothing is kept between runs.
// Threads and workers are in relax_rt_threads.mjs, which is only imported if they are requested.

const ABI_VERSION = 1;
const DATA_CAPACITY = 33; // RLX_DATA_CAPACITY
const GUESS = 65536; // first capacity, in elements, of an output without a bound
const NO_BOUND = (1n << 63n) - 1n;
const PAGE = 65536;

const SIZES = { u8: 1, u16: 2, u32: 4, i32: 4, i64: 8, u64: 8, pointer: 4 };

/** Returns the offsets of a C struct's fields on wasm32, and its size. */
function layout(fields) {
  const offsets = {};
  let at = 0, align = 1;
  for (const [name, type] of fields) {
    const size = SIZES[type];
    at = Math.ceil(at / size) * size;
    align = Math.max(align, size);
    offsets[name] = { at, type };
    at += size;
  }
  return { offsets, size: Math.ceil(at / align) * align };
}

const fieldsOf = (text) => text.trim().split(/\s+/).map((field) => field.split(":"));
const MODEL = layout(fieldsOf(`abi_version:u32 function_size:u16 spec_size:u16 num_functions:u32 functions:pointer
  name:pointer producer:pointer target:pointer hash:pointer weights_bytes:u64`));
const FUNCTION = layout(fieldsOf(`name:pointer num_inputs:u32 num_outputs:u32 num_symbols:u32 num_nodes:u32 inputs:pointer
  outputs:pointer symbols:pointer nodes:pointer arena_max:u64 stack_max:u64 arena_align:u32 bind:pointer
  output_shape:pointer arena_bytes:pointer run:pointer pools:pointer num_pools:u32`));
const SPEC = layout(fieldsOf(`name:pointer kind:u8 dtype_code:u8 dtype_bits:u8 flags:u8 ndim:i32 dims:pointer quant:pointer
  pair:i32 append_axis:i32 element:pointer`));
const SYMBOL = layout(fieldsOf("name:pointer lower:i64 upper:i64 multiple_of:i64"));
const TENSOR = layout(fieldsOf(`data:pointer device_type:i32 device_id:i32 ndim:i32 dtype_code:u8 dtype_bits:u8
  dtype_lanes:u16 shape:pointer strides:pointer byte_offset:u64`));
const ERROR = layout(fieldsOf("code:i32 tensor:i32 axis:i32 symbol:i32 node:i32 expected:i64 actual:i64"));
const POOL_SPEC = layout(fieldsOf("name:pointer bytes:u64"));
const POOL = layout(fieldsOf("data:pointer bytes:u64"));
const CONTEXT = layout(fieldsOf(`abi_version:u32 struct_size:u32 arena:pointer arena_bytes:u64 weights:pointer
  weights_bytes:u64 error:pointer parallel_for:pointer parallel_user:pointer num_threads:i32 alloc:pointer
  alloc_user:pointer trace:pointer trace_user:pointer poll:pointer poll_user:pointer cpu_features:u64 pools:pointer
  num_pools:u32`));

/** Name of a dtype and the array that holds it, by DLPack's code and bits. float16 is Float16Array where there is one;
 * bits of what JavaScript has no numbers for are in Uint16Array and Uint8Array. */
const DTYPES = {
  "0,8": ["int8", Int8Array], "0,16": ["int16", Int16Array], "0,32": ["int32", Int32Array], "0,64": ["int64", BigInt64Array],
  "1,8": ["uint8", Uint8Array], "1,16": ["uint16", Uint16Array], "1,32": ["uint32", Uint32Array],
  "1,64": ["uint64", BigUint64Array], "2,16": ["float16", globalThis.Float16Array ?? Uint16Array],
  "2,32": ["float32", Float32Array], "2,64": ["float64", Float64Array], "4,16": ["bfloat16", Uint16Array],
  "6,8": ["bool", Uint8Array], "10,8": ["float8_e4m3fn", Uint8Array], "11,8": ["float8_e4m3fnuz", Uint8Array],
  "12,8": ["float8_e5m2", Uint8Array], "13,8": ["float8_e5m2fnuz", Uint8Array], "14,8": ["float8_e8m0fnu", Uint8Array],
};

const STATUSES = {
  1: "NULL_POINTER", 2: "TENSOR_COUNT", 3: "DEVICE", 4: "DTYPE", 5: "RANK", 6: "STATIC_DIM", 7: "SYMBOL_EQUALITY",
  8: "DERIVED_DIM", 9: "DIM_BOUNDS", 10: "STRIDES", 11: "ALIGNMENT", 12: "CAPACITY", 13: "OVERLAP", 14: "ARENA_SIZE",
  15: "ARENA_ALIGNMENT", 16: "WEIGHTS_SIZE", 17: "WEIGHTS_HASH", 18: "WEIGHTS_ALIGNMENT", 19: "ABI_MISMATCH",
  20: "SIZE_OVERFLOW", 21: "BROADCAST", 22: "NEEDS_DATA", 23: "CPU_FEATURES", 24: "POOL_SIZE", 25: "POOL_ALIGNMENT",
  32: "INDEX_RANGE", 33: "DATA_CAPACITY", 34: "ASSERTION", 35: "EXTERNAL_FAILED", 36: "RECURSION_DEPTH",
  37: "NO_ALLOCATOR", 38: "OUT_OF_MEMORY", 39: "POLLED", 40: "DATA_BOUND", 41: "OBJECT_KIND", 42: "SELFTEST",
  43: "NODE_LIMIT",
};

/** A call that failed: `status` is the status's name, `record` the fields of the model's error record. */
export class RelaxError extends Error {
  constructor(message, status, record) {
    super(message);
    this.name = "RelaxError";
    this.status = status;
    this.record = record;
  }
}

/** The module's memory: reads and writes fields of records by name, and allocates for a run after the heap's base. */
class Memory {
  constructor(exports, memory) {
    this.memory = memory;
    this.base = exports.__heap_base.value;
    this.top = this.base;
  }

  view() {
    return new DataView(this.memory.buffer);
  }

  release() {
    this.top = this.base;
  }

  /** Allocates zeroed bytes and returns their address. An alignment of 64 suffices for all models by default. */
  take(bytes, align = 64) {
    const at = Math.ceil(this.top / align) * align;
    const end = at + Math.max(Number(bytes), 1);
    if (end > 2 ** 32) throw new RangeError(`the model needs ${bytes} bytes more than a WebAssembly memory has`);
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    new Uint8Array(this.memory.buffer, at, end - at).fill(0);
    this.top = end;
    return at;
  }

  /** Allocates bytes that outlive runs, and returns their address. Only before the first run. */
  keep(bytes) {
    this.release();
    const at = this.take(bytes);
    this.base = this.top;
    return at;
  }

  get(record, base, name) {
    const { at, type } = record.offsets[name];
    const view = this.view(), place = base + at;
    switch (type) {
      case "u8": return view.getUint8(place);
      case "u16": return view.getUint16(place, true);
      case "i32": return view.getInt32(place, true);
      case "i64": return view.getBigInt64(place, true);
      case "u64": return view.getBigUint64(place, true);
      default: return view.getUint32(place, true);
    }
  }

  set(record, base, values) {
    const view = this.view();
    for (const [name, value] of Object.entries(values)) {
      const { at, type } = record.offsets[name];
      const place = base + at;
      if (type === "u8") view.setUint8(place, value);
      else if (type === "u16") view.setUint16(place, value, true);
      else if (SIZES[type] === 8) view.setBigInt64(place, BigInt.asIntN(64, BigInt(value)), true);
      else view.setInt32(place, value, true);
    }
  }

  text(at) {
    if (at === 0) return "";
    const bytes = new Uint8Array(this.memory.buffer, at);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.slice(0, bytes.indexOf(0)));
  }

  bytes(at, count) {
    return new Uint8Array(this.memory.buffer, at, count);
  }

  /** Returns a copy, in a buffer that is not shared. */
  copy(at, count) {
    return this.bytes(at, count).slice().buffer;
  }

  longs(at, count) {
    return Array.from(new BigInt64Array(this.memory.buffer.slice(at, at + 8 * count)));
  }

  setLongs(at, values) {
    const view = this.view();
    values.forEach((value, i) => view.setBigInt64(at + 8 * i, BigInt(value), true));
  }
}

/** Reads a tensor of an entry point: name, dtype, shape (open dims have names; dims that the data decides are null). */
function readSpec(memory, at, symbols) {
  const field = (name) => memory.get(SPEC, at, name);
  const [dtype, array] = DTYPES[`${field("dtype_code")},${field("dtype_bits")}`] ?? [];
  if (!array || field("kind") > 2) throw new TypeError(`'${memory.text(field("name"))}' is of a kind that this loader does not know`);
  const shape = memory.longs(field("dims"), field("ndim")).map((dim) =>
    dim >= 0n ? Number(dim) : dim === -NO_BOUND - 1n ? null : symbols[Number(-1n - dim)] || null);
  return { name: memory.text(field("name")), dtype, shape, array, pair: field("pair"), appendAxis: field("append_axis"),
           code: field("dtype_code"), bits: field("dtype_bits") };
}

const described = (spec) => `${spec.name}: ${spec.dtype} [${spec.shape.map((dim) => dim ?? "?").join(", ")}]`;
const elements = (shape) => shape.reduce((product, dim) => product * dim, 1);

/** Returns the shape of an input without one: that of the model, of which at most one dim may be open. */
function shapeFor(spec, length) {
  const open = spec.shape.filter((dim) => typeof dim !== "number").length;
  const known = elements(spec.shape.filter((dim) => typeof dim === "number"));
  if (open > 1 || (open === 1 && known === 0))
    throw new TypeError(`give input '${spec.name}' as { data, shape }: it has ${open} open dims`);
  if (open === 0 ? known !== length : length % known !== 0)
    throw new TypeError(`input ${described(spec)} cannot have ${length} elements`);
  return spec.shape.map((dim) => (typeof dim === "number" ? dim : length / known));
}

/** An entry point of a model. */
class Entry {
  constructor(model, at) {
    this.model = model;
    this.memory = model.memory;
    this.at = at;
    const field = (name) => this.memory.get(FUNCTION, at, name);
    this.name = this.memory.text(field("name"));
    this.symbols = Array.from({ length: field("num_symbols") }, (_, i) =>
      this.memory.text(this.memory.get(SYMBOL, field("symbols") + i * SYMBOL.size, "name")));
    const specs = (from, count) =>
      Array.from({ length: count }, (_, i) => readSpec(this.memory, from + i * model.specSize, this.symbols));
    this.inputs = specs(field("inputs"), field("num_inputs"));
    this.outputs = specs(field("outputs"), field("num_outputs"));
    const call = (name) => model.table.get(field(name));
    this.calls = { bind: call("bind"), outputShape: call("output_shape"), arenaBytes: call("arena_bytes"), run: call("run") };
    this.arenaAlign = Math.max(field("arena_align"), 16);
    this.pools = Array.from({ length: field("num_pools") }, (_, i) =>
      this.memory.get(POOL_SPEC, field("pools") + i * POOL_SPEC.size, "bytes"));
  }

  title() {
    return `${this.model.name}.${this.name}`;
  }

  /** Runs the entry on `{ name: array or { data, shape } }`; returns `{ name: { data, shape, dtype } }`. */
  run(given) {
    this.memory.release();
    const tensors = this.inputs.map((spec) => this.checked(spec, given));
    const unknown = Object.keys(given).filter((name) => !this.inputs.some((spec) => spec.name === name));
    if (unknown.length) throw new TypeError(`there is no input '${unknown[0]}'; there are: ${this.inputs.map(described).join("; ")}`);
    const error = this.memory.take(ERROR.size), context = this.memory.take(CONTEXT.size);
    this.memory.set(ERROR, error, { tensor: -1, axis: -1, symbol: -1, node: -1 });
    this.memory.set(CONTEXT, context, { abi_version: ABI_VERSION, struct_size: CONTEXT.size, error, alloc: this.model.alloc,
      parallel_for: this.model.pool?.parallelFor ?? 0, num_threads: this.model.threads });
    const inputs = this.place(this.inputs, tensors);
    const symbols = this.memory.take(8 * this.symbols.length);
    this.check(this.calls.bind(context, inputs, tensors.length, symbols, error), error);
    this.lend(context, symbols, error);
    return this.finish(context, inputs, symbols, error);
  }

  /** Makes a stream; `dims` has the sizes of open dims of states. */
  stream(dims = {}) {
    return new Stream(this, dims);
  }

  checked(spec, given) {
    const value = given[spec.name];
    if (value === undefined)
      throw new TypeError(`nothing is given for input '${spec.name}'; there are: ${this.inputs.map(described).join("; ")}`);
    const data = value.data ?? value;
    const array = ArrayBuffer.isView(data) ? data : spec.array.from(data);
    if (!(array instanceof spec.array) && !(spec.dtype === "float16" && array instanceof Uint16Array))
      throw new TypeError(`input '${spec.name}' is ${spec.dtype} in a ${spec.array.name}, found a ${array.constructor.name}`);
    const shape = Array.from(value.shape ?? shapeFor(spec, array.length));
    if (elements(shape) !== array.length)
      throw new TypeError(`input '${spec.name}' has ${array.length} elements, its shape [${shape.join(", ")}] has ${elements(shape)}`);
    return { data: array, shape };
  }

  /** Writes records of tensors, and their data if there is any; returns the address of the records. */
  place(specs, tensors) {
    const records = this.memory.take(TENSOR.size * specs.length);
    specs.forEach((spec, i) => {
      const { data, shape } = tensors[i];
      const bytes = elements(shape) * spec.array.BYTES_PER_ELEMENT;
      const at = this.memory.take(bytes), dims = this.memory.take(8 * shape.length);
      if (data) new Uint8Array(this.memory.memory.buffer, at, bytes).set(new Uint8Array(data.buffer, data.byteOffset, bytes));
      this.memory.setLongs(dims, shape);
      this.memory.set(TENSOR, records + i * TENSOR.size, { data: at, device_type: 1, ndim: shape.length,
        dtype_code: spec.code, dtype_bits: spec.bits, dtype_lanes: 1, shape: dims });
    });
    return records;
  }

  /** Allocates the arena and the pools, and sets them in the context. */
  lend(context, symbols, error) {
    const size = this.memory.take(8);
    this.check(this.calls.arenaBytes(symbols, size), error);
    const bytes = this.memory.view().getBigUint64(size, true);
    const pools = this.memory.take(POOL.size * this.pools.length);
    this.pools.forEach((pool, i) =>
      this.memory.set(POOL, pools + i * POOL.size, { data: this.memory.take(pool, this.arenaAlign), bytes: pool }));
    this.memory.set(CONTEXT, context, { arena: this.memory.take(bytes, this.arenaAlign), arena_bytes: bytes, pools,
      num_pools: this.pools.length });
  }

  finish(context, inputs, symbols, error) {
    const capacities = this.outputs.map((spec, i) => this.outputShape(symbols, i, spec, error));
    for (;;) {
      const before = this.memory.top;
      const outputs = this.place(this.outputs, capacities.map((shape) => ({ shape })));
      const status = this.calls.run(context, inputs, this.inputs.length, outputs, this.outputs.length);
      if (status !== DATA_CAPACITY || !this.grow(capacities, error)) {
        this.check(status, error);
        return this.results(outputs);
      }
      this.memory.top = before;
    }
  }

  outputShape(symbols, index, spec, error) {
    const dims = this.memory.take(8 * spec.shape.length);
    this.check(this.calls.outputShape(symbols, index, dims), error);
    const shape = this.memory.longs(dims, spec.shape.length);
    return shape.includes(NO_BOUND) ? [GUESS, ...shape.slice(1).map(() => 1)] : shape.map(Number);
  }

  /** If an output was too small for what the data gave, gives it what the run asked for; returns whether. */
  grow(capacities, error) {
    const record = this.record(error), index = record.tensor - this.inputs.length;
    if (!(index in capacities) || record.expected <= record.actual || record.expected > 2n ** 32n) return false;
    capacities[index] = [Number(record.expected), ...capacities[index].slice(1).map(() => 1)];
    return true;
  }

  results(outputs) {
    return Object.fromEntries(this.outputs.map((spec, i) => {
      const record = outputs + i * TENSOR.size;
      const shape = this.memory.longs(this.memory.get(TENSOR, record, "shape"), spec.shape.length).map(Number);
      const at = this.memory.get(TENSOR, record, "data"), bytes = elements(shape) * spec.array.BYTES_PER_ELEMENT;
      return [spec.name, { data: new spec.array(this.memory.copy(at, bytes)), shape, dtype: spec.dtype }];
    }));
  }

  record(error) {
    return Object.fromEntries(Object.keys(ERROR.offsets).map((name) => [name, this.memory.get(ERROR, error, name)]));
  }

  check(status, error) {
    if (status === 0) return;
    const record = this.record(error), name = STATUSES[status] ?? `STATUS_${status}`;
    const filled = record.code === status, tensors = [...this.inputs, ...this.outputs];
    const spec = filled && tensors[record.tensor];
    const place = spec ? `${record.tensor < this.inputs.length ? "input" : "output"} '${spec.name}'` : this.title();
    const axis = filled && record.axis >= 0 ? `, dim ${record.axis}` : "";
    const values = filled ? `: found ${record.actual}, expected ${record.expected}` : "";
    throw new RelaxError(`${this.title()}: ${name} at ${place}${axis}${values}`, name, record);
  }
}

/** Calls that pass states on: outputs that become inputs of the next call. */
export class Stream {
  constructor(entry, dims) {
    this.entry = entry;
    this.dims = dims;
    if (!entry.inputs.some((spec) => spec.pair >= 0)) throw new TypeError(`${entry.title()} has no states`);
    this.reset();
  }

  /** Sets all states to zero. */
  reset() {
    this.states = {};
    for (const spec of this.entry.inputs.filter((one) => one.pair >= 0)) {
      const shape = spec.shape.map((dim, axis) => (axis === spec.appendAxis ? 0 : typeof dim === "number" ? dim : this.dims[dim]));
      if (shape.includes(undefined)) throw new TypeError(`the size of a dim of state ${described(spec)} is open: stream({ name: size })`);
      this.states[spec.name] = { data: new spec.array(elements(shape)), shape };
    }
  }

  run(given) {
    const results = this.entry.run({ ...given, ...this.states });
    for (const spec of this.entry.inputs.filter((one) => one.pair >= 0))
      this.states[spec.name] = results[this.entry.outputs[spec.pair].name];
    return results;
  }
}

/** A loaded model. `run`, `inputs` and `outputs` are those of the function main. */
export class Model {
  constructor(instance, memory = instance.exports.memory) {
    const { exports } = instance;
    const name = Object.keys(exports).find((key) => key.endsWith("_model") && exports[key] instanceof WebAssembly.Global);
    if (!name) throw new TypeError("this module has no descriptor of a model; relaxc -o model.wasm writes one");
    this.memory = new Memory(exports, memory);
    this.table = exports.__indirect_function_table;
    const at = exports[name].value, field = (key) => this.memory.get(MODEL, at, key);
    if (field("abi_version") !== ABI_VERSION)
      throw new TypeError(`the model has ABI version ${field("abi_version")}, this loader knows ${ABI_VERSION}`);
    if (field("weights_bytes") !== 0n) throw new TypeError("the model's weights are a file of their own; compile it without --weights");
    this.name = this.memory.text(field("name"));
    this.hash = Array.from(this.memory.bytes(field("hash"), 32), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.specSize = field("spec_size");
    this.alloc = this.table.grow(1, tableFunction("ijji", (_, bytes, align) => this.allocated(bytes, align)));
    this.pool = null;
    this.functions = {};
    for (let i = 0; i < field("num_functions"); ++i) {
      const entry = new Entry(this, field("functions") + i * field("function_size"));
      this.functions[entry.name] = entry;
    }
  }

  /** The number of threads that run parallel loops. */
  get threads() {
    return this.pool?.threads ?? 1;
  }

  /** The bytes of stack that a call needs; null if the model does not know. */
  get stackBytes() {
    const needs = Object.values(this.functions).map((entry) => this.memory.get(FUNCTION, entry.at, "stack_max"));
    return needs.some((bytes) => bytes >= 2n ** 32n) ? null : Number(needs.reduce((a, b) => (a > b ? a : b), 0n)) + PAGE;
  }

  /** rlx_context.alloc; returns 0 if there is no memory. */
  allocated(bytes, align) {
    try {
      return this.memory.take(bytes, Math.max(Number(align), 1));
    } catch {
      return 0;
    }
  }

  /** Ends the threads of the model; later calls run only on the caller's thread. */
  close() {
    this.pool?.close();
    this.pool = null;
  }

  get inputs() {
    return this.functions.main.inputs.map(({ name, dtype, shape }) => ({ name, dtype, shape }));
  }

  get outputs() {
    return this.functions.main.outputs.map(({ name, dtype, shape }) => ({ name, dtype, shape }));
  }

  run(given) {
    return this.functions.main.run(given);
  }

  /** Makes a stream; `dims` has the sizes of open dims of states. */
  stream(dims = {}) {
    return this.functions.main.stream(dims);
  }
}

/** Makes a function of JavaScript callable through a table. Tables only accept functions of modules, so this compiles a
 * module that imports the function and exports it. `signature` has a letter for each parameter and one for the result:
 * i for i32, j for i64. */
export function tableFunction(signature, called) {
  const types = Array.from(signature, (letter) => (letter === "j" ? 0x7e : 0x7f)), parameters = types.length - 1;
  const bytes = new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // magic, version
    1, 5 + parameters, 1, 0x60, parameters, ...types.slice(0, -1), 1, types[parameters], // type 0
    2, 7, 1, 1, 0x61, 1, 0x61, 0, 0, // import "a" "a" of type 0
    7, 5, 1, 1, 0x61, 0, 0, // export it as "a"
  ]);
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { a: { a: called } }).exports.a;
}

/** Bodies of functions that an engine accepts only if it has a feature. Each makes three vectors (i8x16.splat of 0) and
 * ends in an instruction of the feature. */
const VECTORS = [0x41, 0, 0xfd, 0x0f, 0x41, 0, 0xfd, 0x0f, 0x41, 0, 0xfd, 0x0f];
const FEATURES = {
  "simd128": [...VECTORS, 0xfd, 0x52], // v128.bitselect
  "relaxed-simd": [...VECTORS, 0xfd, 0x85, 0x02], // f32x4.relaxed_madd
};

function supports(feature) {
  const body = FEATURES[feature], size = body.length;
  return WebAssembly.validate(new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // magic, version
    1, 5, 1, 0x60, 0, 1, 0x7b, // type 0: no parameters, a vector
    3, 2, 1, 0, // a function of type 0
    10, size + 4, 1, size + 2, 0, ...body, 0x0b, // its body, without locals
  ]));
}

/** Returns the first of the versions of a model whose features (`needs`) the engine has; the last one if there is none. */
export function best(versions) {
  return versions.find(({ needs }) => needs.every(supports)) ?? versions[versions.length - 1];
}

/** Loads a model from a URL, a Response, the bytes of the file or a WebAssembly.Module; see relax_rt.d.mts. */
export async function load(source, { threads = 1, maximumBytes = 2 ** 31 } = {}) {
  const module = await moduleOf(source);
  const shared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
  if (!shared && threads > 1) throw new TypeError("the model is not made for threads; compile it with --target wasm32-threads");
  if (!shared) return new Model(await WebAssembly.instantiate(module, {}));
  const { instance, memory } = await onSharedMemory(module, maximumBytes);
  const model = new Model(instance, memory);
  if (threads > 1 && globalThis.crossOriginIsolated !== false) {
    const { startPool } = await import("./relax_rt_threads.mjs");
    model.pool = await startPool(model, module, threads);
  }
  return model;
}

/** Instantiates a module with a shared memory. Modules do not tell their initial size, so sizes are tried. */
async function onSharedMemory(module, maximumBytes) {
  const maximum = Math.floor(maximumBytes / PAGE);
  for (let initial = Math.min(16, maximum); ; initial = Math.min(2 * initial, maximum)) {
    const memory = new WebAssembly.Memory({ initial, maximum, shared: true });
    try {
      return { memory, instance: await WebAssembly.instantiate(module, { env: { memory } }) };
    } catch (error) {
      if (!(error instanceof WebAssembly.LinkError) || initial === maximum) throw error;
    }
  }
}

/** Returns the module for a source that `load` accepts. */
export async function moduleOf(source) {
  if (typeof source === "string" || source instanceof URL) return fetched(source);
  if (typeof Response !== "undefined" && source instanceof Response) return compiled(source);
  return source instanceof WebAssembly.Module ? source : WebAssembly.compile(source);
}

async function fetched(url) {
  if (typeof process === "object" && process.versions?.node && !/^https?:/.test(String(url))) {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  return compiled(await fetch(url));
}

async function compiled(response) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
