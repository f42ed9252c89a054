import { QUEUE_ERROR_CODES, type RpcFailure } from "@sluice/protocol";

/** The method whose promise rejects. */
export type ProducerMethod = "send" | "sendBatch" | "metrics";

/** The broker did not answer: production's wording of an internal error (spec cloudflare-queues 1.8). */
export const NO_ANSWER: RpcFailure = {
  ok: false,
  code: QUEUE_ERROR_CODES.unknownInternalError,
  cause: "Unknown Internal Error",
};

/** The broker's Durable Object has more to do than it can (spec cloudflare-queues 1.9). */
export const OVERLOADED: RpcFailure = {
  ok: false,
  code: QUEUE_ERROR_CODES.queueOverloaded,
  cause: "Queue is overloaded. Please back off.",
};

/** There is no such queue, or there is none any more. */
export function notFound(queue: string): RpcFailure {
  return { ok: false, code: QUEUE_ERROR_CODES.queueNotFound, cause: `Queue "${queue}" does not exist.` };
}

/** The disk or the database behind the queue is full (spec cloudflare-queues 1.9). */
export const STORAGE_FULL: RpcFailure = {
  ok: false,
  code: QUEUE_ERROR_CODES.queueStorageLimitExceeded,
  cause: "Queue storage limit exceeded: its disk or its database is full.",
};

/**
 * Makes the error that a failure rejects with. With `queue_expose_error_codes` its message is `<cause> (<code>)`.
 * Without, `send` and `sendBatch` show what was the HTTP status text, and `metrics` still shows the code (spec
 * cloudflare-queues 1.8).
 */
export function failureError(method: ProducerMethod, failure: RpcFailure, exposeErrorCodes: boolean): Error {
  if (exposeErrorCodes || method === "metrics") return new Error(`${failure.cause} (${failure.code})`);
  const statusText = failure === NO_ANSWER ? "Internal Server Error" : failure.cause;
  return new Error(`Queue ${method} failed: ${statusText}`);
}
