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

/** Elements, compact and row-major. Without a shape the model's is taken, of which one dim at most may be open. */
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
  /** Takes the inputs that are no states. */
  run(inputs: Record<string, Input>): Record<string, Tensor>;
}

export class Model {
  readonly name: string;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  run(inputs: Record<string, Input>): Record<string, Tensor>;
  /** Calls that hand states on; `dims` has sizes of dims of states that are open. */
  stream(dims?: Record<string, number>): Stream;
}

/** Loads a model from a URL (in Node also a path), a Response, the bytes of the file or a WebAssembly.Module. */
export function load(source: string | URL | Response | BufferSource | WebAssembly.Module): Promise<Model>;
