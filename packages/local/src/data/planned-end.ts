import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "@sluice/objects/folders";
import type { Printer } from "../report/printer.ts";
import { isLost } from "./data-lock.ts";

/**
 * File of a data folder that is there if the broker on it was ended on purpose. A contract between versions of the
 * command: that it is there is all that they read.
 */
export const PLANNED_END_FILE = "sluice-planned-end";

/** How a process that runs a broker ended, as the broker is told at its next start (`SLUICE_LAST_END`). */
export type End = "planned" | "unplanned";

/**
 * Announces that the broker of a data folder is about to be ended on purpose: deliveries that this cuts off count as no
 * attempt. Before the end, so that a process which is killed while it stops has said so. Of a folder that was lost to
 * another process nothing is announced: that one's end is not known.
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

/** How the last broker of a data folder ended. */
export function lastEndIn(folder: string): End {
  return existsSync(join(folder, PLANNED_END_FILE)) ? "planned" : "unplanned";
}

/** A broker runs on the data folder again: call when it starts, and not before all that can fail has been done. */
export function forgetPlannedEnd(folder: string): void {
  if (lastEndIn(folder) === "unplanned") return;
  rmSync(join(folder, PLANNED_END_FILE), { force: true });
  // Else it is there again after a power cut, which is no planned end.
  syncFolder(folder);
}
