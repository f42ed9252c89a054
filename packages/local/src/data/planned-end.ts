import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "@sluice/objects/folders";
import type { Printer } from "../report/printer.ts";
import { isLost } from "./data-lock.ts";

/**
 * File of a data folder that exists if the broker on it was ended on purpose. A contract between versions of the
 * command, which read only whether it exists.
 */
export const PLANNED_END_FILE = "sluice-planned-end";

/** How a process that ran a broker ended, as the next broker gets it in `SLUICE_LAST_END`. */
export type End = "planned" | "unplanned";

/**
 * Records that the broker of a data folder is about to be ended on purpose: deliveries that this cuts off do not count
 * as attempts. To be called before the end, so that it holds also if the process is killed while it stops. Writes
 * nothing in a folder that was lost: another process's broker may run there.
 */
export function announceEnd(folder: string, printer: Pick<Printer, "warn">): void {
  if (isLost(folder)) return;
  try {
    writeFileSync(join(folder, PLANNED_END_FILE), `${new Date().toISOString()}\n`, { mode: 0o600 });
    syncFolder(folder);
  } catch (error) {
    printer.warn(
      `That this is no crash cannot be written down, so deliveries that it cuts off count as attempts: ${error}`,
    );
  }
}

/** Returns how the last broker of a data folder ended. */
export function lastEndIn(folder: string): End {
  return existsSync(join(folder, PLANNED_END_FILE)) ? "planned" : "unplanned";
}

/** Deletes the record when a broker starts on the data folder again; to be called after all that can fail. */
export function forgetPlannedEnd(folder: string): void {
  if (lastEndIn(folder) === "unplanned") return;
  rmSync(join(folder, PLANNED_END_FILE), { force: true });
  // Otherwise the file could be back after a power cut, which is no planned end.
  syncFolder(folder);
}
