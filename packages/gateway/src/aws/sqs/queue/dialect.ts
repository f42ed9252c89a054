import type { QueueRecord } from "@sluice/protocol";
import * as z from "zod/mini";

/** Name under which the directory keeps the part of a queue that only SQS understands. */
export const DIALECT = "sqs";

/** Keeps the key where an earlier version has stored both kinds of encryption. */
function withOneEncryption(attributes: Record<string, string>): Record<string, string> {
  return attributes.KmsMasterKeyId === undefined
    ? attributes
    : { ...attributes, SqsManagedSseEnabled: "false" };
}

/** Part of a stored queue that SQS keeps. A contract: it is stored. Only members with a default may be added. */
export const sqsQueueSchema = z.object({
  /**
   * Attributes that change nothing about the queue here and are shown as they were set, and the policies' own texts.
   */
  attributes: z.pipe(z._default(z.record(z.string(), z.string()), {}), z.transform(withOneEncryption)),
  tags: z._default(z.record(z.string(), z.string()), {}),
});

/** Part of a queue's record that only SQS understands. */
export type SqsQueue = z.infer<typeof sqsQueueSchema>;

export function sqsOf({ dialects }: QueueRecord): SqsQueue {
  const found = sqsQueueSchema.safeParse(dialects[DIALECT] ?? {});
  return found.success ? found.data : sqsQueueSchema.parse({});
}
