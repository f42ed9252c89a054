import { createRequire } from "node:module";
import path from "node:path";

/** What is used of plainjob. Its calls are synchronous. */
export interface PlainjobQueue {
  add(type: string, data: unknown): unknown;
  addMany(type: string, data: readonly unknown[]): unknown;
  close(): void;
}

export interface Plainjob {
  defineQueue(options: object): PlainjobQueue;
  defineWorker(
    type: string,
    handle: (job: { data: string }) => void | Promise<void>,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> };
  better(database: unknown): { pragma(text: string): void };
}

export const JOB_TYPE = "bench";
/** Folder of a peer's state -> its database. */
const DATABASE = "jobs.db";

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error };

/** Opens the queue in `folder`. `isSynced` makes every commit wait for the disk, which plainjob itself turns off. */
export function openPlainjob(packages: string, folder: string, isSynced: boolean) {
  const require = createRequire(path.join(packages, "package.json"));
  const Database = require("better-sqlite3") as new (file: string) => unknown;
  const library = require("plainjob") as Plainjob;
  const connection = library.better(new Database(path.join(folder, DATABASE)));
  const queue = library.defineQueue({ connection, logger: SILENT });
  if (isSynced) connection.pragma("synchronous = FULL");
  return { library, queue, logger: SILENT };
}
