import { lockData } from "@sluice/local/data/data-lock";
import { refuseLongPath } from "@sluice/local/data/long-path";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "@sluice/local/data/planned-end";

/** Data folders of this process, until it ends: Vite reads its configuration again when it restarts its server. */
const held = new Set<string>();

/**
 * Takes a data folder for the broker of this process.
 *
 * @returns how the last broker of the folder ended.
 * @throws DataInUseError if another process has it.
 */
export function takeData(folder: string): End {
  if (held.has(folder)) return "planned";
  refuseLongPath(folder);
  lockData(folder, "vite dev");
  held.add(folder);
  const end = lastEndIn(folder);
  forgetPlannedEnd(folder);
  // Before the listener that frees the folder.
  process.prependOnceListener("exit", () => announceEnd(folder, console));
  return end;
}
