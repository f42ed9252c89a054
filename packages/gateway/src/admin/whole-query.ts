import type { Context } from "hono";
import { AdminError } from "./failure.ts";

/** Reads a whole number from the query of a request; `undefined` where it is absent. Throws 400 outside the range. */
export function wholeQuery(c: Context, name: string, min: number, max: number): number | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new AdminError(
    400,
    "invalid_query",
    `The query parameter "${name}" must be a whole number ${range}.`,
  );
}
