import { QUEUE_ERROR_CODES } from "@sluice/protocol";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Status by code, where it is not 400 (spec cloudflare-queues 1.9). */
const STATUS: Readonly<Record<number, ContentfulStatusCode>> = {
  [QUEUE_ERROR_CODES.queueNotFound]: 404,
  [QUEUE_ERROR_CODES.unauthorized]: 403,
  [QUEUE_ERROR_CODES.messageSizeOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.batchSizeOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.batchCountOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.queueOverloaded]: 429,
  [QUEUE_ERROR_CODES.queueStorageLimitExceeded]: 429,
  [QUEUE_ERROR_CODES.unknownInternalError]: 500,
};

/** Returns the HTTP status of an error of the data plane, for the binding, the REST API and the admin API. */
export function statusOfQueueError(code: number): ContentfulStatusCode {
  return STATUS[code] ?? 400;
}
