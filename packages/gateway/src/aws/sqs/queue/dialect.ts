import type { QueueRecord } from "@sluice/protocol";
import * as z from "zod/mini";

/** Name under which the directory keeps what only SQS understands of a queue. */
export const DIALECT = "sqs";

/** A contract: it is stored. What is absent has its default. */
export const sqsQueueSchema = z.object({
  /**
   * Attributes that change nothing about the queue here and are shown as they were set, and the policies' own texts.
   */
  attributes: z._default(z.record(z.string(), z.string()), {}),
  tags: z._default(z.record(z.string(), z.string()), {}),
});

/** Part of a queue's record that only SQS understands. */
export type SqsQueue = z.infer<typeof sqsQueueSchema>;

export function sqsOf({ dialects }: QueueRecord): SqsQueue {
  const found = sqsQueueSchema.safeParse(dialects[DIALECT] ?? {});
  return found.success ? found.data : sqsQueueSchema.parse({});
}
