import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";

/** Place of a message when its send is acknowledged: what is left of it if the power fails the moment after. */
export type Acknowledged =
  /** In the memory of a process: nothing. */
  | "memory"
  /** Synced to the disk: everything. */
  | "commit";

/** A queue under test, and what is done with it. */
export interface System<W extends string = Way> {
  /** One word, for the command line and file names. */
  readonly id: string;
  readonly name: string;
  readonly acknowledged: Acknowledged;
  /** Resolution of the clock that times it, in ms: 1 in a Worker, 0 for finer than matters. */
  readonly clockMs: number;
  /** How batches of 100 are sent and how messages are handled, in a few words. */
  readonly how: string;
  /** Makes sure that everything it needs is installed. Rejects with the reason when it is not and cannot be. */
  install(options: InstallOptions): Promise<void>;
  /** Rejects with the reason when it cannot run here; the report names it. */
  start(): Promise<RunningSystem<W>>;
}

export interface InstallOptions {
  /** `false` uses only what is already there. */
  readonly mayInstall: boolean;
}

/** A system that has been started. */
export interface RunningSystem<W extends string = Way> {
  /** Processes whose CPU time is counted: its servers, and its clients where they are processes of their own. */
  readonly pids: readonly number[];
  /** Prepares a run. Its time is not measured. */
  prepare?(way: W, messages: number): Promise<void>;
  run(way: W, messages: number): Promise<Measured>;
  stop(): Promise<void>;
}
