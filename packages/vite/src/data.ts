import { resolve } from "node:path";
import { lockData } from "@sluice/local/data/data-lock";
import { refuseLongPath } from "@sluice/local/data/long-path";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "@sluice/local/data/planned-end";

/** Folder of all data, which may be relative to Vite's root; `false` for data in memory. */
export type PersistState = false | { path: string };

/**
 * Data folders of this process, until it ends, with how the last broker of each ended: Vite reads its configuration again
 * when it restarts its server.
 */
const held = new Map<string, End>();

/**
 * Takes the data folder for the broker of this process, and makes its path absolute. Whoever writes a file that a server
 * with the same data may have calls it before.
 *
 * @throws DataInUseError if another process has it.
 */
export function takeData(persistState: PersistState, root: string): void {
  if (persistState === false) return;
  const folder = resolve(root, persistState.path);
  persistState.path = folder;
  if (held.has(folder)) return;
  refuseLongPath(folder);
  lockData(folder, "vite dev");
  held.set(folder, lastEndIn(folder));
  forgetPlannedEnd(folder);
  // Before the listener that frees the folder.
  process.prependOnceListener("exit", () => announceEnd(folder, console));
}

/** Tells, for the next broker, how the last one of a folder ended that was taken. One of this process ends as planned. */
export function lastEndOf(folder: string): End {
  const end = held.get(folder) ?? "planned";
  held.set(folder, "planned");
  return end;
}
