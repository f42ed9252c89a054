import { QUEUE_ERROR_CODES, QueueError } from "@sluice/protocol";
import type { Context } from "hono";
import * as z from "zod/mini";
import { bodyText } from "../../http/body-text.ts";
import { parseJson } from "../../http/bounded-json.ts";
import { firstIssue } from "../json-body.ts";

/**
 * Reads the body of a request of the data plane. It is JSON under any content type; no body is an empty object, since a
 * pull need not have one.
 *
 * @throws QueueError 10208 for text that is no JSON, 10207 for a body that does not fit, in the words of the API: what
 *   was expected, what was received, and where (spec cloudflare-queues 5.3, 5.6).
 */
export async function readRequest<T>(c: Context, schema: z.ZodMiniType<T>): Promise<T> {
  const text = await bodyText(c);
  let body: unknown = {};
  try {
    if (text !== "") body = parseJson(text);
  } catch (error) {
    throw new QueueError(
      QUEUE_ERROR_CODES.jsonRequestBodyMalformed,
      `The request body is not JSON: ${error}`,
    );
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new QueueError(QUEUE_ERROR_CODES.jsonRequestBodyInvalid, firstIssue(result.error));
}

/** Makes the options of a schema whose errors have the words of Cloudflare's API. */
export function expecting(kind: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? "Required" : `Expected ${kind}, received ${kindOf(input)}`,
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** A number, also as a string of digits: some clients send that. Ranges are checked where it is used. */
export const looseNumber = z.pipe(
  z.transform((value) => (typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value)),
  z.nullish(z.number(expecting("number"))),
);

/**
 * Reads a whole number that a request names; `undefined` if it names none.
 *
 * @throws QueueError 10207 outside of its range.
 */
export function wholeIn(
  value: number | null | undefined,
  field: string,
  min: number,
  max: number,
): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new QueueError(
    QUEUE_ERROR_CODES.jsonRequestBodyInvalid,
    `Expected a whole number from ${min} to ${max}, received ${value} at "${field}"`,
  );
}
