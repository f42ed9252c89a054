import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ApiError } from "./api-error.ts";

/** Place of a page in a list (spec cloudflare-queues 5.1): clients ask on while `page * per_page < total_count`. */
export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** Answers a success in the form that every client of Cloudflare's API expects. */
export function succeed(c: Context, result: unknown, resultInfo?: ResultInfo): Response {
  const info = resultInfo === undefined ? {} : { result_info: resultInfo };
  return c.json({ success: true, errors: [], messages: [], result, ...info });
}

/** Answers a failure in the form that every client of Cloudflare's API expects. */
export function fail(c: Context, { status, code, message }: Pick<ApiError, "status" | "code" | "message">) {
  // Keeps the SDK from repeating a conflict, which would be the same again (spec cloudflare-queues 6.7).
  if (status === 409) c.header("x-should-retry", "false");
  return c.json(
    { success: false, errors: [{ code, message }], messages: [], result: null },
    status as ContentfulStatusCode,
  );
}
