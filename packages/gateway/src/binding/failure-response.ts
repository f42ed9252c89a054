import { QUEUE_ERROR_CODES } from "@sluice/protocol";

/** HTTP status by code, where it is not 400 (spec cloudflare-queues 1.9). */
const STATUS: Readonly<Record<number, number>> = {
  [QUEUE_ERROR_CODES.queueNotFound]: 404,
  [QUEUE_ERROR_CODES.unauthorized]: 403,
  [QUEUE_ERROR_CODES.messageSizeOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.batchSizeOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.batchCountOutOfBounds]: 413,
  [QUEUE_ERROR_CODES.queueOverloaded]: 429,
  [QUEUE_ERROR_CODES.queueStorageLimitExceeded]: 429,
  [QUEUE_ERROR_CODES.unknownInternalError]: 500,
};

/** A failure as the binding reads it: code and cause in headers, and the cause as status text for older Workers. */
export function failureResponse({
  code,
  cause,
}: {
  readonly code: number;
  readonly cause: string;
}): Response {
  const line = oneLine(cause);
  const status = STATUS[code] ?? 400;
  const headers = { "CF-Queues-Error-Code": `${code}`, "CF-Queues-Error-Cause": line };
  return new Response(`${line}\n`, { status, statusText: line, headers });
}

/** A status text or header with a line break or beyond ASCII makes the Response constructor throw. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[^\x20-\x7e]/g, "?");
}
