import type { SnsSettings } from "@sluice/protocol";
import { z } from "zod";
import { checkShape } from "./check-shape.ts";
import { type ConfigDiagnostic, errorAt, formatPlace } from "./diagnostics.ts";
import { checkRanges, SNS_RANGES } from "./limits.ts";
import type { Place, Report } from "./report.ts";
import type { WorkerQueueConfig } from "./worker-config.ts";

/** Rules for answers by their names in a configuration. */
const CLIENT_ERRORS = { dead_letter: "deadLetter", retry: "retry", delivered: "delivered" } as const;

const snsSchema = z.strictObject(
  {
    message_life: z.number("a number").optional(),
    client_errors: z
      .enum(["dead_letter", "retry", "delivered"], '"dead_letter", "retry" or "delivered"')
      .optional(),
  },
  "an object",
);

const SPELLINGS = [
  ["messageLifeSeconds", "message_life"],
  ["clientErrors", "client_errors"],
] as const satisfies readonly (readonly [keyof SnsSettings, string])[];

/** Reads `[sluice.sns]`: what Amazon SNS lets nobody set. Everything that is wrong is reported on the line of its key. */
export function readSnsTable(value: unknown, place: Place, report: Report): SnsSettings {
  const raw = checkShape(snsSchema, value, place, report);
  if (raw === undefined) return {};
  checkRanges(raw, place, SNS_RANGES, report);
  const { message_life: life, client_errors: clientErrors } = raw;
  return {
    ...(life === undefined ? {} : { messageLifeSeconds: life }),
    ...(clientErrors === undefined ? {} : { clientErrors: CLIENT_ERRORS[clientErrors] }),
  };
}

/**
 * The `[sluice.sns]` tables of all files as one; `undefined` where nobody says anything. What two files set differently is
 * reported with both places.
 */
export function mergeSnsSettings(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): SnsSettings | undefined {
  let merged: SnsSettings = {};
  const places = new Map<keyof SnsSettings, string>();
  for (const { file, lines, sns = {} } of workers) {
    const place = formatPlace(file, lines?.sns);
    for (const [key, spelling] of SPELLINGS) {
      const [first, second] = [merged[key], sns[key]];
      if (second === undefined) continue;
      if (first === undefined) places.set(key, place);
      else if (first !== second) {
        const text = `"sluice.sns.${spelling}" has two values: ${first} (${places.get(key)}) and ${second} (${place})`;
        diagnostics.push(errorAt(file, lines?.sns, text));
      }
    }
    merged = { ...sns, ...merged };
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}
