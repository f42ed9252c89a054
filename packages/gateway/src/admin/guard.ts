import type { MiddlewareHandler } from "hono";
import { type Access, isToken } from "../http/access.ts";
import { refusedChange, refusedHost } from "../http/page-origin.ts";
import { failure } from "./failure.ts";

/**
 * Lets requests through that may use the admin API: those that bring a token where there are tokens, and no other
 * site's.
 */
export function guard(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const host = refusedHost(access, c.req.raw);
    if (host !== null) return c.json(failure("host_not_allowed", host), 403);
    const origin = refusedChange(access, c.req.raw);
    if (origin !== null) return c.json(failure("other_origin", origin), 403);
    if (access.kind === "closed") return c.json(failure("no_tokens", access.reason), 403);
    if (access.kind === "tokens") {
      const [, token] = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
      if (token === undefined || !(await isToken(access, token))) {
        const text = "This broker asks for one of its SLUICE_API_TOKENS as Authorization: Bearer.";
        return c.json(failure("unauthorized", text), 401);
      }
    }
    return next();
  };
}
