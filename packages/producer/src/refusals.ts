import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  QUEUE_ERROR_CODES,
  type RpcFailure,
} from "@sluice/protocol";
import type { OutgoingMessage } from "./outgoing.ts";

/*
 * Production refuses these at the broker. Here the producer does, before anything is packed: a message that is refused
 * costs no round trip and does not touch the sends that share one with it. The sentences are those that test suites
 * written against `wrangler dev` know (spec cloudflare-queues 1.10); the codes are production's (1.9).
 */

/** Refuses a message that cannot be sent; `undefined` if it can. The lists have one element each; sizes in bytes. */
export function refuseMessage(
  messages: readonly OutgoingMessage[],
  sizes: readonly number[],
): RpcFailure | undefined {
  const [bytes = 0] = sizes;
  if (bytes > MESSAGE_BYTES_MAX) {
    return refusal(
      "messageSizeOutOfBounds",
      `message length of ${bytes} bytes exceeds limit of ${MESSAGE_BYTES_MAX}`,
    );
  }
  return refuseDelay("messageMetadataInvalid", "message delay", messages[0]?.delaySeconds);
}

/** Refuses a batch of too many messages, before they are measured; `undefined` for any other. */
export function refuseCount(count: number): RpcFailure | undefined {
  if (count <= BATCH_MESSAGES_MAX) return undefined;
  return refusal(
    "batchCountOutOfBounds",
    `batch message count of ${count} exceeds limit of ${BATCH_MESSAGES_MAX}`,
  );
}

/** Refuses a batch that cannot be sent; `undefined` if it can. `sizes` are those of its messages, in bytes. */
export function refuseBatch(
  messages: readonly OutgoingMessage[],
  sizes: readonly number[],
  batchDelaySeconds: number | undefined,
): RpcFailure | undefined {
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  if (largest > MESSAGE_BYTES_MAX) {
    return refusal(
      "messageSizeOutOfBounds",
      `message in batch has length ${largest} bytes which exceeds single message size limit of ${MESSAGE_BYTES_MAX}`,
    );
  }
  const total = sizes.reduce((a, b) => a + b, 0);
  if (total > BATCH_BYTES_MAX) {
    return refusal(
      "batchSizeOutOfBounds",
      `batch size of ${total} bytes exceeds limit of ${BATCH_BYTES_MAX}`,
    );
  }
  const wrongBatchDelay = refuseDelay("batchDelayInvalid", "batch delay", batchDelaySeconds);
  if (wrongBatchDelay !== undefined) return wrongBatchDelay;
  for (const { delaySeconds } of messages) {
    const wrongDelay = refuseDelay("messageMetadataInvalid", "message delay", delaySeconds);
    if (wrongDelay !== undefined) return wrongDelay;
  }
  return undefined;
}

function refuseDelay(
  code: keyof typeof QUEUE_ERROR_CODES,
  what: string,
  seconds: number | undefined,
): RpcFailure | undefined {
  if (seconds === undefined || (seconds >= 0 && seconds <= DELAY_SECONDS_MAX)) return undefined;
  return refusal(code, `${what} ${seconds} is invalid: it must be from 0 to ${DELAY_SECONDS_MAX} seconds`);
}

function refusal(code: keyof typeof QUEUE_ERROR_CODES, cause: string): RpcFailure {
  return { ok: false, code: QUEUE_ERROR_CODES[code], cause };
}
