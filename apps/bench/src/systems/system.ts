import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";

/** Where a message is when its send is acknowledged. */
export type AcknowledgedIn =
  /** In the memory of a process: nothing is left of it if the power fails the moment after. */
  | "memory"
  /** Synced to the disk: it is there after that. */
  | "disk";

/** A queueing system under test: what it is, and how it is installed and started. */
export interface System<W extends string = Way> {
  /** Short and without spaces, for the command line and file names. */
  readonly id: string;
  readonly name: string;
  readonly acknowledged: AcknowledgedIn;
  /** Resolution of the clock that the figures are taken with, in ms: 1 in a Worker, 0 for finer than matters. */
  readonly clockMs: number;
  /**
   * How it is used, in a few words: how batches of 100 are sent and messages handled, or protocol and client for a
   * server of SQS.
   */
  readonly how: string;
  /** Installs what is missing. Rejects with the reason when something is missing and cannot be installed. */
  install(options: InstallOptions): Promise<void>;
  /** Rejects with the reason when it cannot run here, and leaves nothing running; the report names the reason. */
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
