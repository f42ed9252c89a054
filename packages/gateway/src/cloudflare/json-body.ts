import type { Context } from "hono";
import * as z from "zod/mini";
import { bodyText } from "../http/body-text.ts";
import { parseJson } from "../http/bounded-json.ts";
import { invalid } from "./api-error.ts";

/**
 * Reads the body of a request, checked against a schema. It is JSON under any content type: Wrangler sends it as
 * `text/plain` (spec cloudflare-queues 6.2).
 *
 * @throws ApiError 10026 with the fault and its place.
 */
export async function readJson<T>(c: Context, schema: z.ZodMiniType<T>): Promise<T> {
  let body: unknown;
  try {
    body = parseJson(await bodyText(c));
  } catch {
    throw invalid("The request body is not valid JSON.");
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw invalid(`Invalid request body: ${firstIssue(result.error)}.`);
}

/** Describes the first fault of a body, with the place: `Required at "queue_name"`. */
export function firstIssue({ issues: [issue] }: z.core.$ZodError): string {
  if (issue === undefined) return "it is not what belongs there";
  const place = issue.path.length === 0 ? "" : ` at "${issue.path.join(".")}"`;
  return `${issue.message}${place}`;
}

/**
 * Makes the schema of a whole number from `min` to `max`, also as a string of digits: clients send both. Anything else,
 * a fraction included, is refused with the range.
 */
export function wholeNumber(min: number, max: number) {
  const text = `Must be a whole number from ${min} to ${max}`;
  return z.pipe(
    z.transform((value) => (typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value)),
    z.int(text).check(z.gte(min, text), z.lte(max, text)),
  );
}

/**
 * Largest request, in bytes: the largest batch of one-byte messages escaped character by character takes 1.6 MB. The
 * limits of a batch are checked when it has been read; this one keeps a request from filling the memory before.
 */
export const REQUEST_BYTES_MAX = 4_000_000;
