import { isEndpointQueueName, isQueueName, packMessages } from "@sluice/protocol";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { statusOfQueueError } from "../../account/queue-error-status.ts";
import { AdminError } from "../failure.ts";
import { DEDUPLICATION_ID } from "../messages/backup-message.ts";
import { incomingBatch, invalidBy } from "../messages/batch-route.ts";

/** Most deliveries of a message that are kept: SQS lets messages be received for ever. */
const ATTEMPTS_MAX = 1_000_000;

/** Fields of a backup's message besides those that any message of a batch has. */
export const pastBody = z.object({
  id: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  sentAt: z.string().check(z.refine((text) => Date.parse(text) > 0, "must be a time from 1970 on")),
  attempts: z.int().check(z.gte(0), z.lte(ATTEMPTS_MAX)),
  from: z.optional(
    z
      .string()
      .check(z.refine((name) => isEndpointQueueName(name) || isQueueName(name), "must be a queue's name")),
  ),
  /** Deduplication id of a message of an SQS FIFO queue. It is stored, but finds no duplicates here. */
  deduplicationId: z.optional(z.string().check(z.regex(DEDUPLICATION_ID))),
});

/** Most ids that a request can have the queue forget. */
export const FORGET_MAX = 1_000;

/** Fields of a request besides its messages. */
export const onceBody = z.object({
  once: z.optional(z.boolean()),
  forget: z.optional(z.array(z.string()).check(z.maxLength(FORGET_MAX))),
});

/** Outcome of storing messages of a backup. */
interface RestoredMessages {
  readonly restored: number;
  /** Ids of messages that an earlier request has stored. Absent without `once` in the request. */
  readonly duplicates?: readonly string[];
}

/**
 * Stores messages under the ids that they had, with the time of their send, their attempts and the rest of their delay;
 * all of them or none. Their retention begins anew. With `once` in the request, those that the queue remembers are left
 * out.
 */
export async function restoreMessages(
  directory: QueueDirectory,
  queue: string,
  text: string,
): Promise<RestoredMessages> {
  const incoming = incomingBatch(text, false);
  const { messages, ...others } = JSON.parse(text) as { messages: readonly unknown[] };
  const read = onceBody.safeParse(others);
  if (!read.success) throw new AdminError(400, "invalid_body", ONCE_TEXT);
  const { once = false, forget = [] } = read.data;
  const pasts = messages.map(pastOf);
  const packed = packMessages(
    incoming.map(({ contentType, body, delaySeconds = 0, extension }, i) => {
      const { from, deduplicationId, ...past } = pasts[i] as Past; // as many as messages
      const whole = {
        ...extension,
        ...(from === undefined ? {} : { deadLetterOf: from }),
        ...(deduplicationId === undefined ? {} : { deduplicationId }),
      };
      return { ...past, contentType, body, delaySeconds, extension: whole };
    }),
  );
  const attempts = pasts.map((past) => past.attempts);
  const reply = await directory
    .queue(queue)
    .work(queue, { enqueue: { packed, attempts, inTurn: true, ...(once ? { once: { forget } } : {}) } });
  const failure = !reply.ok ? reply : reply.enqueued?.ok === false ? reply.enqueued : null;
  if (failure !== null) throw new AdminError(statusOfQueueError(failure.code), "refused", failure.cause);
  if (!once) return { restored: messages.length };
  const stored = reply.ok && reply.enqueued?.ok === true ? (reply.enqueued.messages ?? []) : [];
  const duplicates = stored.filter(({ duplicate }) => duplicate).map(({ messageId }) => messageId);
  return { restored: messages.length - duplicates.length, duplicates };
}

const ONCE_TEXT = `"once" must be true or false, and "forget" a list of ${FORGET_MAX} ids at most.`;

interface Past {
  readonly id: string;
  readonly timestampMs: number;
  readonly attempts: number;
  readonly from: string | undefined;
  readonly deduplicationId: string | undefined;
}

function pastOf(message: unknown, index: number): Past {
  const read = pastBody.safeParse(message);
  if (read.success) {
    const { id, sentAt, attempts, from, deduplicationId } = read.data;
    return { id, timestampMs: Date.parse(sentAt), attempts, from, deduplicationId };
  }
  const [issue] = read.error.issues;
  throw invalidBy(issue as z.core.$ZodIssue, index); // one at least, since it was not read
}
