import type { Context, MiddlewareHandler } from "hono";
import { type Access, isToken } from "../http/access.ts";
import { refusedChange, refusedHost } from "../http/page-origin.ts";
import { API_CODES, ApiError } from "./api-error.ts";

/**
 * Lets requests through that may use the API. Where tokens are set, one of them has to come as `Authorization: Bearer`,
 * or as the key of the older `X-Auth-Key`; 401 without one, 403 with another one, both with code 10000 (spec
 * cloudflare-queues 5.6).
 */
export function authenticate(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const refused = refusedHost(access, c.req.raw) ?? refusedChange(access, c.req.raw);
    if (refused !== null) throw new ApiError(403, API_CODES.authentication, refused);
    if (access.kind === "closed") throw new ApiError(403, API_CODES.authentication, access.reason);
    if (access.kind === "tokens") {
      const token = credentialOf(c);
      if (token === null) throw new ApiError(401, API_CODES.authentication, "Authentication error");
      if (!(await isToken(access, token))) {
        throw new ApiError(403, API_CODES.authentication, "Authentication error");
      }
    }
    return next();
  };
}

function credentialOf(c: Context): string | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  return bearer ?? c.req.header("x-auth-key") ?? null;
}
