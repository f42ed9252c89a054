/**
 * Errors of the Cloudflare Queues data plane (spec cloudflare-queues 1.9). Production's sentences for most codes are
 * not published, so the sentences are ours and the codes are exact.
 */
export const QUEUE_ERROR_CODES = {
  queueNotFound: 10104,
  unauthorized: 10106,
  batchDelayInvalid: 10202,
  messageMetadataInvalid: 10203,
  messageSizeOutOfBounds: 10204,
  batchSizeOutOfBounds: 10205,
  batchCountOutOfBounds: 10206,
  jsonRequestBodyInvalid: 10207,
  jsonRequestBodyMalformed: 10208,
  queueOverloaded: 10250,
  queueStorageLimitExceeded: 10251,
  unknownInternalError: 15000,
} as const;

/** A refusal with Cloudflare's code and a one-line cause. The edge of each dialect turns it into its wire form. */
export class QueueError extends Error {
  override readonly name: string = "QueueError";
  readonly code: number;
  /** One line, no code in it: what goes into `CF-Queues-Error-Cause`. */
  readonly reason: string;

  constructor(code: number, reason: string) {
    super(`${reason} (${code})`);
    this.code = code;
    this.reason = reason;
  }
}

/**
 * Whether an error of a call to a queue's object means that there is no such queue. RPC keeps only the text of an
 * error.
 */
export function isQueueNotFound(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith(`(${QUEUE_ERROR_CODES.queueNotFound})`);
}
