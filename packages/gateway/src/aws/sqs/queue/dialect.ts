import type { QueueRecord } from "@sluice/protocol";
import { z } from "zod";

/** Name under which the directory keeps what only SQS understands of a queue. */
export const DIALECT = "sqs";

/** A contract: it is stored. What is absent has its default. */
const schema = z.object({
  /**
   * Attributes that change nothing about the queue here and are shown as they were set, and the policies' own texts.
   */
  attributes: z.record(z.string(), z.string()).default({}),
  tags: z.record(z.string(), z.string()).default({}),
});

/** What SQS alone knows of a queue. */
export type SqsQueue = z.infer<typeof schema>;

export function sqsOf({ dialects }: QueueRecord): SqsQueue {
  const found = schema.safeParse(dialects[DIALECT] ?? {});
  return found.success ? found.data : schema.parse({});
}
