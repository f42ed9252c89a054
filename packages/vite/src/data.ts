import { lockData } from "@sluice/local/data/data-lock";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "@sluice/local/data/planned-end";

/** Data folders that this process has, until it ends: Vite reads its configuration anew when it restarts its server. */
const held = new Set<string>();

/**
 * Takes a data folder for the broker of this process.
 *
 * @returns how the broker that had it before ended.
 * @throws DataInUseError if another process has it.
 */
export function takeData(folder: string): End {
  if (held.has(folder)) return "planned";
  lockData(folder, "vite dev");
  held.add(folder);
  const end = lastEndIn(folder);
  forgetPlannedEnd(folder);
  // Ahead of what gives the folder free.
  process.prependOnceListener("exit", () => announceEnd(folder, console));
  return end;
}
