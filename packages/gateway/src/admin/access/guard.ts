import type { AuditRpc } from "@sluice/protocol";
import type { MiddlewareHandler } from "hono";
import { refusedChange, refusedHost } from "../../http/page-origin.ts";
import type { Authority } from "../../rights/authority.ts";
import { refusalOf } from "../../rights/rights.ts";
import { auditRoute, needOf } from "../../rights/route-needs.ts";
import { failure } from "../failure.ts";
import { ADMIN_NEEDS } from "./needs.ts";

/**
 * Lets requests through that may use the admin API: those that bring a token with the right scope where there are
 * tokens, and no other site's. Writes down what they change.
 *
 * @param prefix path that the routes of `ADMIN_NEEDS` are below.
 */
export function guard(authority: Authority, audit: AuditRpc, prefix: string): MiddlewareHandler {
  const { access } = authority;
  return async (c, next) => {
    const host = refusedHost(access, c.req.raw);
    if (host !== null) return c.json(failure("host_not_allowed", host), 403);
    const origin = refusedChange(access, c.req.raw);
    if (origin !== null) return c.json(failure("other_origin", origin), 403);
    const [, token = null] = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
    const admission = await authority.admit(token);
    switch (admission.kind) {
      case "closed":
        return c.json(failure("no_tokens", admission.reason), 403);
      case "noToken":
      case "unknown":
        return c.json(failure("unauthorized", admission.reason), 401);
      case "throttled": {
        const text = "This token has made more requests than it may make in a second.";
        return c.json(failure("rate_limited", text), 429, { "retry-after": `${admission.afterSeconds}` });
      }
    }
    const need = needOf(c, prefix, ADMIN_NEEDS);
    const refused = need === null ? null : refusalOf(admission.rights, need);
    if (refused !== null) return c.json(failure("forbidden", refused), 403);
    c.set("rights", admission.rights);
    await next();
    await auditRoute(c, need, audit, "admin");
  };
}
