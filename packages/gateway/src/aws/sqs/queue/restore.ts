import { isFifoName } from "@sluice/protocol";
import { invalidParameter } from "../errors.ts";
import { readAttributes } from "./attributes.ts";
import { type SqsQueue, sqsQueueSchema } from "./dialect.ts";
import { checkTags } from "./tags.ts";

/**
 * Checks the part of a queue in a backup that only SQS understands.
 *
 * @param name of the queue: FIFO queues have attributes of their own.
 * @throws AwsError for values that SQS would not have stored.
 */
export function restoredSqs(value: unknown, name: string): SqsQueue {
  const found = sqsQueueSchema.safeParse(value);
  if (!found.success) throw invalidParameter("Attributes and tags are texts by their names.");
  const { attributes, tags } = found.data;
  readAttributes(attributes, isFifoName(name));
  checkTags(name, tags);
  return found.data;
}
