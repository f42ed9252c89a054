import {
  isBucketName,
  keyPartProblem,
  R2_EVENT_TYPES,
  type R2EventType,
  type R2NotificationSettings,
  rulesOverlap,
} from "@sluice/protocol";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { checkShape } from "./check-shape.ts";
import { checkQueueName } from "./limits.ts";

const EVENT_TYPES = Object.keys(R2_EVENT_TYPES) as [R2EventType, ...R2EventType[]];
const EVENT_TYPES_TEXT = EVENT_TYPES.map((name) => `"${name}"`).join(" or ");
const BUCKET_TEXT = "a bucket's name of 3 to 63 lowercase letters, digits and hyphens";

/** Schema of a prefix or suffix of keys. */
const keyPart = z
  .string("a string")
  .refine((text) => keyPartProblem(text) === null, {
    error: ({ input }) => `a string, which must ${keyPartProblem(String(input))},`,
  });

const schema = z.array(
  z.strictObject(
    {
      bucket: z.string(BUCKET_TEXT).refine(isBucketName, BUCKET_TEXT),
      queue: z.string("a queue's name"),
      event_types: z
        .array(z.enum(EVENT_TYPES, EVENT_TYPES_TEXT), `a list of ${EVENT_TYPES_TEXT}`)
        .min(1, `a list of ${EVENT_TYPES_TEXT}`),
      prefix: keyPart.optional(),
      suffix: keyPart.optional(),
      description: z.string("a string").optional(),
    },
    "an object",
  ),
  "an array of objects",
);

/**
 * Reads `[[sluice.r2_notifications]]`: rules by which a queue is notified of writes to an R2 bucket. Every fault is
 * reported on the line of its key, and rules that overlap are too.
 */
export function readR2Notifications(value: unknown, place: Place, report: Report): R2NotificationSettings[] {
  const rules = (checkShape(schema, value, place, report) ?? []).map((raw): R2NotificationSettings => {
    const { bucket, queue, event_types: types, prefix = "", suffix = "", description } = raw;
    return {
      bucket,
      queue,
      actions: [...new Set(types)].flatMap((type) => R2_EVENT_TYPES[type]),
      prefix,
      suffix,
      ...(description === undefined ? {} : { description }),
    };
  });
  for (const [i, rule] of rules.entries()) {
    checkQueueName(rule.queue, placeOf(placeOf(place, i), "queue"), report);
    const other = rules.findIndex((each, j) => j < i && isRepeated(each, rule));
    if (other >= 0) report.error(placeOf(place, i), overlapText(rule));
  }
  return rules;
}

/** Whether both rules could notify the same queue of one write. */
export function isRepeated(a: R2NotificationSettings, b: R2NotificationSettings): boolean {
  return a.bucket === b.bucket && a.queue === b.queue && rulesOverlap(a, b);
}

export function overlapText({ bucket, queue }: R2NotificationSettings): string {
  return `Two rules notify queue "${queue}" of the same writes to R2 bucket "${bucket}": they overlap.`;
}
