import { failedShardOf, isQueueNotFound } from "@sluice/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Makes the body of an error: the admin API has no other form. */
export function failure(code: string, message: string, details: object = {}) {
  return { error: { code, message, ...details } };
}

/** Error that ends a request of the admin API. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: ContentfulStatusCode;
  readonly code: string;

  /** Further members of the answer's `error`. */
  readonly details: object;

  constructor(status: ContentfulStatusCode, code: string, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/**
 * Answers a request that has failed with an `AdminError`, or because a shard of its queue does not answer. Rethrows any
 * other error.
 */
export function answerFailure(error: Error, c: Context): Response {
  const shard = failedShardOf(error);
  if (shard !== null && !isQueueNotFound(error) && c.get("isSharded")) {
    console.error(`${c.req.method} ${c.req.path} failed at shard ${shard}: ${error.stack ?? error}`);
    const text = `Shard ${shard} of queue "${c.req.param("name")}" does not answer; the broker's log says why.`;
    return c.json(failure("shard_unavailable", text, { shard }), 503);
  }
  if (!(error instanceof AdminError)) throw error;
  return c.json(failure(error.code, error.message, error.details), error.status);
}

export function forbidden(message: string): AdminError {
  return new AdminError(403, "forbidden", message);
}

export function queueNotFound(name: string): AdminError {
  return new AdminError(404, "queue_not_found", `There is no queue "${name}".`);
}
