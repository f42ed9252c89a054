import { parseRetryTable, type RetryPolicy } from "@sluice/retry";
import { z } from "zod";
import { checkQueueName, checkRanges, QUEUE_RANGES } from "./limits.ts";
import { type Place, placeOf, type Report, ROOT } from "./report.ts";
import { isTable, type Table } from "./table.ts";

/** What a queue is set to by its owner; what is absent keeps its default. */
export interface QueueSettings {
  /** Seconds that a message waits when nothing nearer to it names a delay. 0 to 86,400, default 0. */
  readonly deliveryDelaySeconds?: number;
  /** Seconds that a message is kept, counted from its send. 60 to 1,209,600, default 345,600. */
  readonly messageRetentionSeconds?: number;
  /** When its messages are retried that failed and were given no delay. Default: after the consumer's `retry_delay`. */
  readonly retryPolicy?: RetryPolicy;
}

/** The message of a schema says what belongs there, as in "should be a number". */
const optionalNumber = z.number("a number").optional();
const queueSchema = z.strictObject(
  {
    delivery_delay: optionalNumber,
    message_retention_period: optionalNumber,
    // What it holds depends on its policy: `parseRetryTable` checks it.
    retry: z.custom<Table>(isTable, "an object").optional(),
  },
  "an object",
);

/** The whole `[sluice]` table: a key that is not in here is refused. */
const sluiceSchema = z.strictObject(
  {
    // Not a z.record: that drops a key called "__proto__" in silence.
    queues: z.custom<Table>(isTable, "an object").optional(),
  },
  "an object",
);

/** A queue of the `[sluice.queues]` table with its place. */
export interface PlacedQueueSettings {
  readonly queue: string;
  readonly settings: QueueSettings;
  readonly place: Place;
}

/**
 * Reads `[sluice]`, which says what Cloudflare's own tables cannot. It is nobody's but ours, so nothing in it passes in
 * silence: unknown keys are errors, and so is a `sluice` table inside an environment. Queues are known by their names
 * alone, whichever environment uses them.
 */
export function readSluiceTable(root: Table, report: Report): PlacedQueueSettings[] {
  const place = placeOf(ROOT, "sluice");
  if (root.sluice === undefined) return [];
  const sluice = check(sluiceSchema, root.sluice, place, report);
  const queuesPlace = placeOf(place, "queues");
  return Object.entries(sluice?.queues ?? {}).flatMap(([queue, value]) => {
    const queuePlace = placeOf(queuesPlace, queue);
    checkQueueName(queue, queuePlace, report);
    const raw = check(queueSchema, value, queuePlace, report);
    if (raw === undefined) return [];
    checkRanges(raw, queuePlace, QUEUE_RANGES, report);
    const retryPolicy = raw.retry === undefined ? null : readRetry(raw.retry, queuePlace, report);
    return [{ queue, settings: settingsOf(raw, retryPolicy), place: queuePlace }];
  });
}

/** Refuses a `sluice` table that stands where environments keep theirs. */
export function refuseSluiceTableOf(environment: Table, place: Place, report: Report): void {
  if (place.path.length === 0 || environment.sluice === undefined) return;
  const sluicePlace = placeOf(place, "sluice");
  report.error(
    sluicePlace,
    `"${sluicePlace.field}" has no effect: queues keep their settings in every environment, in the top-level [sluice] table.`,
  );
}

/** Reads `[sluice.queues.NAME.retry]`, reporting every issue on the line of its key. */
function readRetry(table: Table, queuePlace: Place, report: Report): RetryPolicy | null {
  const result = parseRetryTable(table);
  if (result.kind === "policy") return result.policy;
  for (const { path, message } of result.issues) {
    const place = path.reduce(placeOf, placeOf(queuePlace, "retry"));
    report.error(place, `The field "${place.field}" ${message}.`);
  }
  return null;
}

function settingsOf(raw: z.infer<typeof queueSchema>, retryPolicy: RetryPolicy | null): QueueSettings {
  const { delivery_delay: delay, message_retention_period: retention } = raw;
  return {
    ...(delay === undefined ? {} : { deliveryDelaySeconds: delay }),
    ...(retention === undefined ? {} : { messageRetentionSeconds: retention }),
    ...(retryPolicy === null ? {} : { retryPolicy }),
  };
}

/** Parses a value, reporting every issue on the line of the key that it is about. */
function check<T>(schema: z.ZodType<T>, value: unknown, place: Place, report: Report): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const issuePlace = issue.path.reduce<Place>((at, key) => placeOf(at, String(key)), place);
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        report.error(placeOf(issuePlace, key), `Unknown key "${key}" in "${issuePlace.field}".`);
      }
    } else {
      const found = valueAt(value, issue.path);
      report.error(
        issuePlace,
        `The field "${issuePlace.field}" should be ${issue.message} but got ${found}.`,
      );
    }
  }
  return undefined;
}

/** The value that an issue is about, for its message. JSON has no word for `nan` and `inf`, which TOML allows. */
function valueAt(root: unknown, path: readonly PropertyKey[]): string {
  const value = path.reduce<unknown>((at, key) => (isTable(at) ? at[String(key)] : undefined), root);
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
