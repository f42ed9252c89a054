import type { WorkerQueueConfig } from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import type { MainModule } from "./main-module.ts";

/** One of the user's Workers, as our reader and Wrangler's read its configuration. Nothing in it is generated. */
export interface UserWorker {
  /** Name with the environment suffix. */
  readonly name: string;
  /** Absolute paths of its configuration file and of that file's folder. */
  readonly file: string;
  readonly directory: string;
  /** Folder of the project, with its secrets. It differs from `directory` only for a build tool's output. */
  readonly userDirectory: string;
  /**
   * Folder in which a plain `wrangler` runs this Worker; `null` for one that was built together with another and needs
   * `--config`.
   */
  readonly wranglerDirectory: string | null;
  readonly main: MainModule;
  /** Queue configuration in the file. */
  readonly queues: WorkerQueueConfig;
  /** Whole configuration, normalized by Wrangler for the current environment. */
  readonly wrangler: Unstable_Config;
}

/** Whether a Worker sends to a queue, so that it needs a binding to the broker. */
export function produces(worker: UserWorker): boolean {
  return worker.queues.producers.length > 0;
}

/** Whether a Worker has a `queue()` handler that the broker calls. */
export function consumes(worker: UserWorker): boolean {
  return worker.queues.consumers.some(({ type }) => type === "worker");
}
