import {
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  PackedFormatError,
  PackedIndex,
  QUEUE_ERROR_CODES,
  type RpcFailure,
  type SendRequest,
} from "@sluice/protocol";
import type { AcceptedBatch } from "./accepted-batch.ts";

/** Packed batches that may be stored, or why none of them may. */
export type CheckedRequests = { readonly ok: true; readonly batches: readonly AcceptedBatch[] } | RpcFailure;

/**
 * The last check before storing, whatever the edge has checked: the limits of a message hold for every way in. How many
 * messages and bytes one batch may have is the edge's to say, since a request can hold several batches by now. All or
 * none of the requests are acceptable.
 *
 * @param queueDelaySeconds Delay of messages for which neither they nor their batch name one.
 * @param messageBytesMax Largest message, extension included: the dialect's. Default: Cloudflare's.
 * @param by who sends them, as far as known.
 */
export function checkRequests(
  requests: readonly SendRequest[],
  queueDelaySeconds: number,
  messageBytesMax: number = MESSAGE_BYTES_MAX,
  by: string | null = null,
): CheckedRequests {
  const batches: AcceptedBatch[] = [];
  for (const { packed, delaySeconds } of requests) {
    let index: PackedIndex;
    try {
      index = new PackedIndex(packed);
    } catch (error) {
      if (!(error instanceof PackedFormatError)) throw error;
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, `not a packed batch: ${error.message}`);
    }
    const refusal = refusalOf(index, delaySeconds, messageBytesMax);
    if (refusal !== null) return refusal;
    batches.push({
      index,
      delaySeconds: delaySeconds ?? queueDelaySeconds,
      delayReason: delaySeconds === undefined ? "queue" : "send",
      by,
    });
  }
  return { ok: true, batches };
}

function refusalOf(
  index: PackedIndex,
  delaySeconds: number | undefined,
  messageBytesMax: number,
): RpcFailure | null {
  if (index.count === 0)
    return refuse(QUEUE_ERROR_CODES.batchCountOutOfBounds, "a batch needs at least one message");
  if (delaySeconds !== undefined && !isDelay(delaySeconds)) {
    return refuse(QUEUE_ERROR_CODES.batchDelayInvalid, delayText("batch", delaySeconds));
  }
  for (let i = 0; i < index.count; i++) {
    const size = index.contentBytes(i);
    if (size > messageBytesMax) {
      return refuse(
        QUEUE_ERROR_CODES.messageSizeOutOfBounds,
        `message length of ${size} bytes exceeds limit of ${messageBytesMax}`,
      );
    }
    if (index.contentType(i) === undefined) {
      // No consumer could read it, and a batch that holds one message like that fails as a whole.
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, "unknown content type");
    }
    if (!index.hasReadableExtension(i)) {
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, "the attributes of a message cannot be read");
    }
    const own = index.delaySeconds(i);
    if (own !== undefined && !isDelay(own)) {
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, delayText("message", own));
    }
  }
  return null;
}

function isDelay(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= DELAY_SECONDS_MAX;
}

function delayText(what: string, seconds: number): string {
  return `${what} delay of ${seconds} seconds is not within 0 to ${DELAY_SECONDS_MAX}`;
}

function refuse(code: number, cause: string): RpcFailure {
  return { ok: false, code, cause };
}
