import { HISTORY_SECONDS_MAX, HISTORY_SECONDS_MIN } from "@sluice/protocol";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { durationSeconds } from "./duration.ts";

const TEXT = 'a time from "1m" to "14d", as in "90s" or "1h", or "off"';

/** Schema of the key `history` of `[sluice.queues.NAME]`. */
export const HISTORY_KEY = z.union([z.string(), z.literal(false)], TEXT).optional();

/** Reads how long a queue keeps its history, in seconds, 0 for none. Reports any other value on the line of its key. */
export function readHistoryKey(
  value: z.infer<typeof HISTORY_KEY>,
  queuePlace: Place,
  report: Report,
): number | undefined {
  if (value === undefined) return undefined;
  if (value === false || value === "off") return 0;
  const seconds = durationSeconds(value);
  if (seconds >= HISTORY_SECONDS_MIN && seconds <= HISTORY_SECONDS_MAX) return seconds;
  report.fieldError(placeOf(queuePlace, "history"), `should be ${TEXT} but got ${JSON.stringify(value)}.`);
  return undefined;
}
