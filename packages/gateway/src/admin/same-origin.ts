import type { MiddlewareHandler } from "hono";
import { failure } from "./failure.ts";

/** Methods that change nothing. With every other one a browser tells which origin the page is of. */
const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses to change anything for a page of another origin: any page that a developer opens can make the browser send
 * requests to `localhost`, and would otherwise move the clock of their queues. What is no browser names no origin.
 */
export const refuseOtherOrigins: MiddlewareHandler = async (c, next) => {
  const origin = c.req.header("origin");
  const own = new URL(c.req.url).origin;
  if (READING_METHODS.has(c.req.method) || origin === undefined || origin === own) return next();
  const text = `A page of origin ${origin} may change nothing here; a page of ${own} may.`;
  return c.json(failure("other_origin", text), 403);
};
