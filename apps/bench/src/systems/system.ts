import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";

/** Place of a message when its send is acknowledged. */
export type AcknowledgedIn =
  /** In the memory of a process: a power cut loses it. */
  | "memory"
  /** Synced to the disk: it survives a power cut. */
  | "disk";

/** A queueing system under test. */
export interface System<W extends string = Way> {
  /** Short and without spaces, for the command line and file names. */
  readonly id: string;
  readonly name: string;
  readonly acknowledged: AcknowledgedIn;
  /** Resolution of the clock of the figures, in ms: 1 in a Worker, 0 if it is finer than the figures. */
  readonly clockMs: number;
  /**
   * How it is used, in a few words for the tables: how batches of 100 are sent and messages handled; for a server of
   * SQS, protocol and client.
   */
  readonly how: string;
  /** Installs missing programs and packages. Rejects with the reason if that is impossible. */
  install(options: InstallOptions): Promise<void>;
  /** Starts it. If it cannot run here, rejects with the reason for the report, and leaves nothing running. */
  start(): Promise<RunningSystem<W>>;
}

export interface InstallOptions {
  /** Whether missing programs and packages may be installed. */
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
