import { BILLED_BYTES, QUEUES_PER_MILLION_OPERATIONS, SQS_PER_MILLION_REQUESTS } from "./prices.ts";

/** Messages that went through a queue. */
export interface Sent {
  readonly messages: number;
  readonly messageBytes: number;
  /** How many times `BILLED_BYTES` were begun: at least once a message. */
  readonly messageChunks: number;
  /** Deliveries of messages, each retry counted again. */
  readonly deliveries: number;
}

/**
 * Computes the price of the messages on Cloudflare Queues, in USD and with nothing included: each is written, read and
 * deleted, and every retry reads it again. A dead letter is written once more, as a message of its dead-letter queue.
 */
export function queuesUsd(sent: Sent): number {
  const operations = 2 * sent.messageChunks + readsOf(sent) * chunksPerMessage(sent);
  return (operations / 1e6) * QUEUES_PER_MILLION_OPERATIONS;
}

/**
 * Computes the price of the messages on Amazon SQS, in USD and with nothing included: requests to send, to receive
 * (again with every retry) and to delete. A request is billed for every 64 KB of it. Requests that receive nothing are
 * billed too, and are left out here.
 *
 * @param perRequest messages that each request carries, 1 to `SQS_BATCH_MAX`.
 */
export function sqsUsd(sent: Sent, kind: "standard" | "fifo", perRequest: number): number {
  if (sent.messages === 0) return 0;
  const carrying =
    perRequest === 1
      ? chunksPerMessage(sent)
      : Math.max(1, Math.ceil((sent.messageBytes / sent.messages) * (perRequest / BILLED_BYTES))) /
        perRequest;
  const requests = (sent.messages + readsOf(sent)) * carrying + sent.messages / perRequest;
  return (requests / 1e6) * SQS_PER_MILLION_REQUESTS[kind];
}

/** Counts reads: at least one a message, since messages that wait will be read. */
function readsOf({ messages, deliveries }: Sent): number {
  return Math.max(messages, deliveries);
}

function chunksPerMessage({ messages, messageChunks }: Sent): number {
  return messages === 0 ? 0 : messageChunks / messages;
}
