import {
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  PackedFormatError,
  PackedIndex,
  QUEUE_ERROR_CODES,
  type RpcFailure,
  type SendRequest,
  TRACE_BYTES_MAX,
} from "@sluice/protocol";
import type { AcceptedBatch } from "./accepted-batch.ts";

/** Batches that may be stored, or the reason for refusing all of them. */
export type CheckedRequests = { readonly ok: true; readonly batches: readonly AcceptedBatch[] } | RpcFailure;

/**
 * Checks requests before they are stored, all or none, so that the limits of a message hold for every way in. The
 * limits of a batch are checked by the edge alone, since a request can hold several batches.
 *
 * @param queueDelaySeconds Delay of messages that have none of their own or of their batch.
 * @param messageBytesMax Largest message, extension included: the dialect's. Default: Cloudflare's.
 * @param by their producer, if known.
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
    const refusal = batchRefusal(index, delaySeconds, messageBytesMax);
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

/** Returns why a batch cannot be stored; `null` if it can. */
function batchRefusal(
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
    let size = index.contentBytes(i);
    if (index.hasExtension(i)) {
      const refusal = extensionRefusal(index, i);
      if (refusal !== null) return refusal;
      size = index.countedBytes(i);
    }
    if (size > messageBytesMax) {
      return refuse(
        QUEUE_ERROR_CODES.messageSizeOutOfBounds,
        `message length of ${size} bytes exceeds limit of ${messageBytesMax}`,
      );
    }
    if (index.contentType(i) === undefined) {
      // No consumer could read it, and a delivery with one such message fails as a whole.
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, "unknown content type");
    }
    const own = index.delaySeconds(i);
    if (own !== undefined && !isDelay(own)) {
      return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, delayText("message", own));
    }
  }
  return null;
}

function extensionRefusal(index: PackedIndex, i: number): RpcFailure | null {
  if (!index.hasReadableExtension(i))
    return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, "the attributes of a message cannot be read");
  // It is no part of the size, so it has a limit of its own.
  if ((index.extension(i).trace?.byteLength ?? 0) > TRACE_BYTES_MAX)
    return refuse(QUEUE_ERROR_CODES.messageMetadataInvalid, "the trace context of a message is too long");
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
