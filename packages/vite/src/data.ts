import { resolve } from "node:path";
import { lockData } from "@sluice/local/data/data-lock";
import { refuseLongPath } from "@sluice/local/data/long-path";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "@sluice/local/data/planned-end";
import { guardWorkerd } from "@sluice/local/workerd/guard-workerd";

/** Folder of all data, which may be relative to Vite's root; `false` for data in memory. */
export type PersistState = false | { path: string };

/**
 * Data folders that this process has taken, with how the last broker of each ended. They are kept until the process
 * ends, since Vite reads its configuration again when it restarts its server.
 */
const held = new Map<string, End>();

/**
 * Takes the data folder for the broker of this process, and makes `persistState.path` absolute. To be called before any
 * file is written that a server with the same data may use.
 *
 * @throws DataInUseError if another process has the folder.
 */
export function takeData(persistState: PersistState, root: string): void {
  // When this process is killed, Miniflare does not end its workerd, which would go on with the data.
  guardWorkerd();
  if (persistState === false) return;
  const folder = resolve(root, persistState.path);
  persistState.path = folder;
  if (held.has(folder)) return;
  refuseLongPath(folder);
  lockData(folder, "vite dev");
  held.set(folder, lastEndIn(folder));
  forgetPlannedEnd(folder);
  // Runs before the listener that releases the folder.
  process.prependOnceListener("exit", () => announceEnd(folder, console));
}

/** Returns how the last broker of a taken folder ended. For later brokers of this process it is a planned end. */
export function lastEndOf(folder: string): End {
  const end = held.get(folder) ?? "planned";
  held.set(folder, "planned");
  return end;
}
