import type { SnsSettings } from "@sluice/protocol";
import * as z from "zod";
import type { Place, Report } from "../file/report.ts";
import { checkShape } from "./check-shape.ts";
import { checkRanges, SNS_RANGES } from "./limits.ts";

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

/** Reads `[sluice.sns]`: settings that Amazon SNS does not offer. Every fault is reported on the line of its key. */
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
