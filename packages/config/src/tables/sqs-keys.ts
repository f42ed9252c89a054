import { FIFO_SUFFIX, isFifoName, type RedriveSettings } from "@sluice/protocol";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { checkQueueName, checkRanges, REDRIVE_RANGES } from "./limits.ts";

/** Settings of a queue for clients that receive and delete, as those of Amazon SQS. Absent ones have their defaults. */
export interface SqsSettings {
  /** Set where the key `fifo` confirms that the queue is a FIFO queue. Its name says so already: it ends in `.fifo`. */
  readonly fifo?: true;
  /** Whether a message of a FIFO queue that has no deduplication id gets the hash of its body as one. Default false. */
  readonly contentBasedDeduplication?: boolean;
  /** Scope of the deduplication ids of a FIFO queue: the queue or each group. Default `queue`. */
  readonly deduplicationScope?: "queue" | "messageGroup";
  /** Seconds that a received message is invisible. 0 to 43,200, default 30. */
  readonly visibilityTimeoutSeconds?: number;
  /** Seconds that a receive waits for a message. 0 to 20, default 0. */
  readonly receiveWaitTimeSeconds?: number;
  /** Queue for messages that were received too often. Default: they are received for ever. */
  readonly redrive?: RedriveSettings;
}

/** Keys of `[sluice.queues.NAME]`. The message of a schema names the expected value, as in "should be a number". */
export const SQS_KEYS = {
  fifo: z.boolean("true or false").optional(),
  content_based_deduplication: z.boolean("true or false").optional(),
  deduplication_scope: z.enum(["queue", "messageGroup"], '"queue" or "messageGroup"').optional(),
  visibility_timeout: z.number("a number").optional(),
  receive_wait_time: z.number("a number").optional(),
  redrive: z
    .strictObject(
      { dead_letter_queue: z.string("a string"), max_receive_count: z.number("a number") },
      "an object",
    )
    .optional(),
};

type RawSqsKeys = { readonly [Key in keyof typeof SQS_KEYS]?: z.infer<(typeof SQS_KEYS)[Key]> | undefined };

/** Keys that a standard queue cannot have. */
const FIFO_KEYS = ["content_based_deduplication", "deduplication_scope"] as const;

/** Reads the keys for settings of SQS, and reports faults on the line of the key. `checkRanges` checks the numbers. */
export function readSqsKeys(queue: string, raw: RawSqsKeys, place: Place, report: Report): SqsSettings {
  checkFifo(queue, raw, place, report);
  if (raw.redrive !== undefined) checkRedrive(queue, raw.redrive, placeOf(place, "redrive"), report);
  const { content_based_deduplication: byContent, deduplication_scope: scope, redrive } = raw;
  const { visibility_timeout: visibility, receive_wait_time: wait } = raw;
  return {
    ...(raw.fifo === true ? { fifo: true } : {}),
    ...(byContent === undefined ? {} : { contentBasedDeduplication: byContent }),
    ...(scope === undefined ? {} : { deduplicationScope: scope }),
    ...(visibility === undefined ? {} : { visibilityTimeoutSeconds: visibility }),
    ...(wait === undefined ? {} : { receiveWaitTimeSeconds: wait }),
    ...(redrive === undefined
      ? {}
      : {
          redrive: { deadLetterQueue: redrive.dead_letter_queue, maxReceiveCount: redrive.max_receive_count },
        }),
  };
}

function checkFifo(queue: string, raw: RawSqsKeys, place: Place, report: Report): void {
  const isFifo = isFifoName(queue);
  if (raw.fifo !== undefined && raw.fifo !== isFifo) {
    report.fieldError(
      placeOf(place, "fifo"),
      `should be ${isFifo}: a queue is a FIFO queue if its name ends in "${FIFO_SUFFIX}".`,
    );
  }
  if (isFifo) return;
  for (const key of FIFO_KEYS) {
    if (raw[key] === undefined) continue;
    const text = `is for FIFO queues alone, whose names end in "${FIFO_SUFFIX}".`;
    report.fieldError(placeOf(place, key), text);
  }
}

function checkRedrive(
  queue: string,
  redrive: NonNullable<RawSqsKeys["redrive"]>,
  place: Place,
  report: Report,
): void {
  checkRanges(redrive, place, REDRIVE_RANGES, report);
  const target = redrive.dead_letter_queue;
  const targetPlace = placeOf(place, "dead_letter_queue");
  checkQueueName(target, targetPlace, report);
  if (isFifoName(target) === isFifoName(queue)) return;
  const kind = isFifoName(queue) ? "a FIFO queue" : "a standard queue";
  report.error(
    targetPlace,
    `The dead-letter queue of ${kind} should be one too, but "${target}" is not: names of FIFO queues, ` +
      `and only these, end in "${FIFO_SUFFIX}".`,
  );
}
