import type { RpcFailure, SendRequest } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { statusOfQueueError } from "../../account/queue-error-status.ts";
import { AdminError } from "../failure.ts";

/** Name of the producer, for the history. */
const PRODUCER = "admin API";

/**
 * Stores messages, all or none.
 *
 * @param hasLarge whether a message is larger than Cloudflare's limit: then all are stored by the call that SQS uses.
 * @throws AdminError with the queue's reason where it takes none.
 */
export async function storeMessages(
  directory: QueueDirectory,
  name: string,
  request: SendRequest,
  hasLarge: boolean,
): Promise<void> {
  const refused = await sendMessages(directory, name, request, hasLarge);
  if (refused !== null) throw new AdminError(statusOfQueueError(refused.code), "refused", refused.cause);
}

/** Sends the messages. Returns the queue's reason where it takes none. */
async function sendMessages(
  directory: QueueDirectory,
  name: string,
  request: SendRequest,
  hasLarge: boolean,
): Promise<RpcFailure | null> {
  const queue = directory.queue(name);
  if (!hasLarge) {
    const reply = await queue.send(name, [request], PRODUCER);
    return reply.ok ? null : reply;
  }
  const reply = await queue.work(name, { enqueue: request });
  if (!reply.ok) return reply;
  const { enqueued } = reply;
  return enqueued === undefined || enqueued.ok === true || enqueued.ok === "outdated" ? null : enqueued;
}
