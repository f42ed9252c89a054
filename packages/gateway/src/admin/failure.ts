import type { ContentfulStatusCode } from "hono/utils/http-status";

/** The admin API's only form of an error. */
export function failure(code: string, message: string) {
  return { error: { code, message } };
}

/** Ends a request of the admin API. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: ContentfulStatusCode;
  readonly code: string;

  constructor(status: ContentfulStatusCode, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function queueNotFound(name: string): AdminError {
  return new AdminError(404, "queue_not_found", `There is no queue "${name}".`);
}
