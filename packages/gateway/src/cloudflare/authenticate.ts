import type { AuditRpc } from "@sluice/protocol";
import type { Context, MiddlewareHandler } from "hono";
import { refusedHost, refusedOrigin } from "../http/page-origin.ts";
import type { Authority } from "../rights/authority.ts";
import { needRefusal } from "../rights/rights.ts";
import { auditRoute, needOf } from "../rights/route-needs.ts";
import { API_CODES, ApiError } from "./api-error.ts";
import { CLOUDFLARE_NEEDS } from "./needs.ts";

/**
 * Lets requests through that may use the API. Where tokens are set, one of them has to come as `Authorization: Bearer`,
 * or as the key of the older `X-Auth-Key`; 401 without one, 403 with another one or without the right scope, all with
 * code 10000 (spec cloudflare-queues 5.6). Notes changes in the audit log.
 *
 * @param prefix path above the routes of `CLOUDFLARE_NEEDS`.
 */
export function authenticate(authority: Authority, audit: AuditRpc, prefix: string): MiddlewareHandler {
  const { access } = authority;
  return async (c, next) => {
    const refused = refusedHost(access, c.req.raw) ?? refusedOrigin(access, c.req.raw);
    if (refused !== null) throw forbidden(refused);
    const admission = await authority.admit(credentialOf(c));
    switch (admission.kind) {
      case "closed":
        throw forbidden(admission.reason);
      case "noToken":
        throw new ApiError(401, API_CODES.authentication, AUTHENTICATION_ERROR);
      case "unknown":
        throw forbidden(AUTHENTICATION_ERROR);
      case "throttled":
        c.header("retry-after", `${admission.afterSeconds}`);
        throw new ApiError(
          429,
          API_CODES.throttled,
          "Please wait and consider throttling your request speed",
        );
    }
    const need = needOf(c, prefix, CLOUDFLARE_NEEDS);
    const lacking = need === null ? null : needRefusal(admission.rights, need);
    if (lacking !== null) throw forbidden(lacking);
    c.set("rights", admission.rights);
    await next();
    await auditRoute(c, need, audit, "cloudflare");
  };
}

const AUTHENTICATION_ERROR = "Authentication error";

/** Makes the error for a caller that may not make the request. */
export function forbidden(message: string): ApiError {
  return new ApiError(403, API_CODES.authentication, message);
}

function credentialOf(c: Context): string | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  return bearer ?? c.req.header("x-auth-key") ?? null;
}
