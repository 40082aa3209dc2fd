/** Types of relax_rt_threads.mjs: a model in a worker of its own, so that its runs do not block the page. */

import type { LoadOptions, Model, Source } from "./relax_rt.mjs";

/** A stream of a model in a worker: its calls return promises, and its states stay in the worker. */
export interface WorkerStream<Given extends unknown[], Results> {
  run(...given: Given): Promise<Results>;
  /** Makes all states zero. */
  reset(): Promise<void>;
  /** Deletes the states; the stream cannot be used afterwards. */
  close(): Promise<void>;
}

type RunInWorker<Entry> = Entry extends { run(...given: infer Given): infer Results }
  ? { run(...given: Given): Promise<Results> } : unknown;
type StreamInWorker<Entry> = Entry extends { stream(...dims: infer Dims): { run(...given: infer Given): infer Results } }
  ? { stream(...dims: Dims): Promise<WorkerStream<Given, Results>> } : unknown;

/** An entry point whose calls return promises. */
export type EntryInWorker<Entry> = Omit<Entry, "run" | "stream" | "functions" | "close"> & RunInWorker<Entry> & StreamInWorker<Entry>;

/** A model of one type, as relaxc --emit=js declares it, in a worker. */
export type InWorker<Model extends { functions: object }> = EntryInWorker<Model> & {
  readonly functions: { readonly [Name in keyof Model["functions"]]: EntryInWorker<Model["functions"][Name]> };
  /** Ends the worker and its threads; pending calls are rejected. */
  close(): void;
};

/** A model of any type. */
export type WorkerModel = InWorker<Model>;

/** Loads a model in a worker. Calls run one after another; their errors are those of relax_rt.mjs. */
export function loadInWorker(source: Source, options?: LoadOptions): Promise<WorkerModel>;
