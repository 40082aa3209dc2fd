/** Types of relax_rt.mjs, which loads a .wasm file that relaxc wrote. */

export type Elements =
  | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array
  | Float32Array | Float64Array;

export interface Tensor {
  data: Elements;
  shape: number[];
  /** As relaxc names it: "float32". */
  dtype: string;
}

/** Elements, compact and row-major. Without a shape the model's is taken, in which one dim at most may be open. */
export type Input = Elements | ArrayLike<number> | { data: Elements | ArrayLike<number>; shape: number[] };

/** An input or output: open dims have names, those that data decide are null. */
export interface TensorSpec {
  name: string;
  dtype: string;
  shape: (number | string | null)[];
}

/** A call that a guard refused. */
export class RelaxError extends Error {
  /** The name of an rlx_status without RLX_: "STATIC_DIM". */
  status: string;
  /** The fields of rlx_error. */
  record: Record<string, number | bigint>;
}

export class Stream {
  /** The states of the next call by name. */
  states: Record<string, { data: Elements; shape: number[] }>;
  /** Makes all states zero. */
  reset(): void;
  /** Takes the inputs that are not states. */
  run(inputs: Record<string, Input>): Record<string, Tensor>;
}

/** A function of a model. */
export interface Entry {
  readonly name: string;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  run(inputs: Record<string, Input>): Record<string, Tensor>;
  stream(dims?: Record<string, number>): Stream;
}

export class Model {
  readonly name: string;
  /** Of what the model was made of: input, flags, compiler. */
  readonly hash: string;
  readonly functions: Record<string, Entry>;
  /** How many threads run parallel loops. */
  readonly threads: number;
  /** Ends the threads; later calls run on the caller's alone. */
  close(): void;
  /** Of the function main, as the calls below. */
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  run(inputs: Record<string, Input>): Record<string, Tensor>;
  /** Calls that hand states on; `dims` has sizes of dims of states that are open. */
  stream(dims?: Record<string, number>): Stream;
}

/** A URL (in Node also a path), a Response, the bytes of the file or a WebAssembly.Module. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

export interface LoadOptions {
  /** How many threads run parallel loops, 1 unless said: of models compiled with --target wasm32-threads. A page that is
   * not isolated from other origins (https://developer.mozilla.org/docs/Web/API/Window/crossOriginIsolated) gets 1. */
  threads?: number;
  /** What the shared memory of such a model may grow to, 2 GiB unless said. */
  maximumBytes?: number;
}

/** Loads a model. */
export function load(source: Source, options?: LoadOptions): Promise<Model>;

// What declarations of one model (relaxc --emit=js) are made of.

/** Numbers where JavaScript has a Float16Array, else their bits. */
export type Float16Elements = Uint16Array | (ArrayLike<number> & ArrayBufferView);

export interface ShapedInputOf<Array, Number, Shape extends readonly number[]> {
  data: Array | ArrayLike<Number>;
  shape: Readonly<Shape>;
}

/** An input whose shape the number of its elements gives. */
export type InputOf<Array, Number, Shape extends readonly number[]> =
  | Array | ArrayLike<Number> | ShapedInputOf<Array, Number, Shape>;

export interface TensorOf<Array, Shape> {
  data: Array;
  shape: Shape;
  dtype: string;
}

export interface EntryOf<Inputs, Outputs> {
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  run(inputs: Inputs): Outputs;
}

export interface StreamOf<Inputs, Outputs, States extends keyof Inputs> {
  /** The states of the next call by name. */
  states: { [Name in States]: { data: Elements; shape: number[] } };
  /** Makes all states zero. */
  reset(): void;
  /** Takes the inputs that are not states. */
  run(inputs: Omit<Inputs, States>): Outputs;
}

export interface StreamingEntryOf<Inputs, Outputs, States extends keyof Inputs, Dims extends unknown[]>
  extends EntryOf<Inputs, Outputs> {
  /** Calls that hand states on, with the sizes of those dims of states that are open. */
  stream(...dims: Dims): StreamOf<Inputs, Outputs, States>;
}
