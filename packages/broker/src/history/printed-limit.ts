import type { PrintedLogs } from "@sluice/protocol";
import { ROW_TEXT_FULL } from "./journal/journal.ts";

/** Most units of what handlers print that are kept of a second: they fill as many rows as other events may. */
export const LOG_UNITS_PER_SECOND_MAX = 10 * ROW_TEXT_FULL;
/** Units of a line in a row beside its text. */
const LOG_LINE_UNITS = 50;

/** Limit of what handlers print in a second. Logs beyond it have the number of their lines instead of them. */
export class PrintedLimit {
  /** Second of the latest logs, and their units in it. */
  #second = -1;
  #units = 0;

  /** Counts logs, and returns what is kept of them. */
  apply(logs: PrintedLogs, nowMs: number): PrintedLogs {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) this.#units = 0;
    this.#second = second;
    const { lines, leftOut = 0 } = logs;
    const units = lines.reduce((sum, { text }) => sum + text.length + LOG_LINE_UNITS, 0);
    if (this.#units + units > LOG_UNITS_PER_SECOND_MAX) {
      return { ...logs, lines: [], leftOut: leftOut + lines.length };
    }
    this.#units += units;
    return logs;
  }
}
