import type { WorkerQueueConfig } from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import type { MainModule } from "./main-module.ts";

/** One of the user's Workers, as two readers of its configuration see it. Nothing here was written by us. */
export interface UserWorker {
  /** Environment suffix included. */
  readonly name: string;
  /** Absolute path of its configuration file, and of the folder that holds it. */
  readonly file: string;
  readonly directory: string;
  /** Folder of the project, where its secrets are: another one only if a build tool made the configuration. */
  readonly userDirectory: string;
  /**
   * Folder in which a plain `wrangler` runs this Worker; `null` for one that a build tool made along with another,
   * which is named with `--config`.
   */
  readonly wranglerDirectory: string | null;
  readonly main: MainModule;
  /** Queue configuration in the file. */
  readonly queues: WorkerQueueConfig;
  /** Everything, normalised by Wrangler itself for the environment in force. */
  readonly wrangler: Unstable_Config;
}

/** Sends to a queue, so it needs a binding to the broker. */
export function produces(worker: UserWorker): boolean {
  return worker.queues.producers.length > 0;
}

/** Has a `queue()` handler that the broker calls. */
export function consumes(worker: UserWorker): boolean {
  return worker.queues.consumers.some(({ type }) => type === "worker");
}
