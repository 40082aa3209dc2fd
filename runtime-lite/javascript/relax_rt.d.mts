/** Types of relax_rt.mjs, which loads a .wasm file that relaxc wrote. */

export type Elements =
  | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array
  | Float32Array | Float64Array;

export interface Tensor {
  data: Elements;
  shape: number[];
  /** A dtype by relaxc's name, such as "float32". */
  dtype: string;
}

/** Compact row-major elements. Without a shape, the model's shape is used, of which at most one dim may be open. */
export type Input = Elements | ArrayLike<number> | { data: Elements | ArrayLike<number>; shape: number[] };

/** An input or output. In the shape, open dims have names; dims that the data decides are null. */
export interface TensorSpec {
  name: string;
  dtype: string;
  shape: (number | string | null)[];
}

/** A call that failed with a status of the model. */
export class RelaxError extends Error {
  /** The name of an rlx_status without RLX_, such as "STATIC_DIM". */
  status: string;
  /** The fields of rlx_error. */
  record: Record<string, number | bigint>;
}

export class Stream {
  /** The states for the next call, by name. */
  states: Record<string, { data: Elements; shape: number[] }>;
  /** Sets all states to zero. */
  reset(): void;
  /** Runs the model on the inputs that are not states. */
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
  /** A hash of input, flags and compiler, in hexadecimal. */
  readonly hash: string;
  readonly functions: Record<string, Entry>;
  /** The number of threads that run parallel loops. */
  readonly threads: number;
  /** Ends the threads; later calls run only on the caller's thread. */
  close(): void;
  /** These are those of the function main, like `run` and `stream` below. */
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  run(inputs: Record<string, Input>): Record<string, Tensor>;
  /** Makes a stream: calls that pass states on. `dims` has the sizes of open dims of states. */
  stream(dims?: Record<string, number>): Stream;
}

/** A URL (in Node also a path), a Response, the bytes of the file or a WebAssembly.Module. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

export interface LoadOptions {
  /** How many threads run parallel loops, 1 unless said: of models compiled with --target wasm32-threads. A page that is
   * not isolated from other origins (https://developer.mozilla.org/docs/Web/API/Window/crossOriginIsolated) gets 1. */
  threads?: number;
  /** Maximum size of the shared memory of such a model, by default 2 GiB. */
  maximumBytes?: number;
}

/** Loads a model. Rejects with a TypeError if the file is not a model that this loader knows. */
export function load(source: Source, options?: LoadOptions): Promise<Model>;

/** Returns the first of the versions whose features of WebAssembly the engine has; the last one if there is none. */
export function best<Version extends { needs: readonly ("simd128" | "relaxed-simd")[] }>(versions: readonly Version[]): Version;

// The declarations of one model (relaxc --emit=js) use the following types.

/** Numbers if JavaScript has Float16Array, else their bits. */
export type Float16Elements = Uint16Array | (ArrayLike<number> & ArrayBufferView);

export interface ShapedInputOf<Array, Number, Shape extends readonly number[]> {
  data: Array | ArrayLike<Number>;
  shape: Readonly<Shape>;
}

/** An input whose shape follows from the number of its elements. */
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
  /** The states for the next call, by name. */
  states: { [Name in States]: { data: Elements; shape: number[] } };
  /** Sets all states to zero. */
  reset(): void;
  /** Runs the model on the inputs that are not states. */
  run(inputs: Omit<Inputs, States>): Outputs;
}

export interface StreamingEntryOf<Inputs, Outputs, States extends keyof Inputs, Dims extends unknown[]>
  extends EntryOf<Inputs, Outputs> {
  /** Makes a stream: calls that pass states on. `dims` are the sizes of open dims of states. */
  stream(...dims: Dims): StreamOf<Inputs, Outputs, States>;
}
