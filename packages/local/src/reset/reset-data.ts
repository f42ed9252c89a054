import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { uniqueKeysOf } from "@sluice/broker-worker/unique-keys";
import { lockData, OBJECTS_FOLDER } from "../data/data-lock.ts";
import { loadRecovery } from "../node/load-modules.ts";
import { R2_FOLDER } from "../r2/reports.ts";

/** Data that a broker has in a data folder. */
export interface KeptData {
  /** Names of its queues; empty where they cannot be read. */
  readonly queues: readonly string[];
  readonly bytes: number;
}

interface ResetDataInput {
  /** The data folder. Absolute. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly broker: string;
  /** Called with the data before they are deleted. Nothing is deleted if it rejects. */
  confirm(kept: KeptData): Promise<void>;
  warn(line: string): void;
}

/**
 * Deletes a broker's data in a data folder: queues with their messages, topics, tokens, history and the moved clock.
 * The logs of writes of R2 buckets go, too, since the position up to which they were read is deleted. All other data
 * stay: KV, D1, R2, and Durable Objects of other Workers.
 *
 * @returns whether there was anything to delete.
 * @throws DataInUseError while another process has the folder.
 */
export async function resetData({ folder, broker, confirm, warn }: ResetDataInput): Promise<boolean> {
  const objects = join(folder, OBJECTS_FOLDER);
  const { directory, queues } = uniqueKeysOf(broker);
  const kept = () =>
    [directory, queues].map((name) => join(objects, name)).filter((path) => existsSync(path));
  if (kept().length === 0) return false;
  const free = lockData(folder, "sluice reset");
  try {
    const { queuesKeptIn } = await loadRecovery();
    const names = queuesKeptIn({ folder: objects, worker: broker });
    await confirm({ queues: names, bytes: kept().reduce((sum, path) => sum + bytesIn(path), 0) });
    // The directory first: if this is cut off, the queues are found again. A directory alone would make empty ones.
    for (const path of kept()) rmSync(path, { recursive: true });
    const { endLogs } = await import("../r2/bucket-watch.ts");
    endLogs(join(folder, R2_FOLDER), warn);
    return true;
  } finally {
    free();
  }
}

function bytesIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
