import type { AuditRpc } from "@sluice/protocol";
import type { MiddlewareHandler } from "hono";
import { refusedHost, refusedOrigin } from "../../http/page-origin.ts";
import type { Admission, Authority } from "../../rights/authority.ts";
import { type Need, needRefusal, type Rights } from "../../rights/rights.ts";
import { auditRoute, needOf } from "../../rights/route-needs.ts";
import { AdminError, failure, forbidden } from "../failure.ts";
import { ADMIN_NEEDS } from "./needs.ts";

/** Returns the rights of an admitted caller. Throws `AdminError` for one that is not admitted, or lacks the need. */
function rightsIn(admission: Admission, need: Need | null): Rights {
  switch (admission.kind) {
    case "closed":
      throw new AdminError(403, "no_tokens", admission.reason);
    case "noToken":
    case "unknown":
      throw new AdminError(401, "unauthorized", admission.reason);
    case "throttled":
      throw new AdminError(
        429,
        "rate_limited",
        "This token has made more requests than it may make in a second.",
      );
  }
  const refused = need === null ? null : needRefusal(admission.rights, need);
  if (refused !== null) throw forbidden(refused);
  return admission.rights;
}

/**
 * Lets requests through that may use the admin API: with a token of the right scope where there are tokens, and from no
 * other site. Notes their changes in the audit log. Throws `AdminError`.
 *
 * @param prefix path above the routes of `ADMIN_NEEDS`.
 */
export function guard(authority: Authority, audit: AuditRpc, prefix: string): MiddlewareHandler {
  const { access } = authority;
  return async (c, next) => {
    const host = refusedHost(access, c.req.raw);
    if (host !== null) return c.json(failure("host_not_allowed", host), 403);
    const origin = refusedOrigin(access, c.req.raw);
    if (origin !== null) return c.json(failure("other_origin", origin), 403);
    const [, token = null] = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
    const need = needOf(c, prefix, ADMIN_NEEDS);
    const admission = await authority.admit(token);
    if (admission.kind === "throttled") c.header("retry-after", `${admission.afterSeconds}`);
    c.set("rights", rightsIn(admission, need));
    c.set("admitAgain", async () => rightsIn(await authority.admitAgain(token), need));
    await next();
    await auditRoute(c, need, audit, "admin");
  };
}
