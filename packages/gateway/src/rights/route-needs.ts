import type { AuditDialect, AuditRpc } from "@sluice/protocol";
import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import { noteChange } from "../account/audit-log.ts";
import { type Need, queueRefusal, type Rights } from "./rights.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** Rights of the request's caller, once that is known. */
    rights: Rights;
    /** Target of a request's change, for the audit log; `null` if it changes nothing. */
    changed: string | null;
    /** Whether several objects keep the queue that the path names. */
    isSharded?: boolean;
    /** Identifies the caller once more, for a request that may outlast its token. Throws the refusal. */
    admitAgain: () => Promise<Rights>;
  }
}

/** Needs of each route, by its method and its path below the dialect's own: `GET /queues/:name`. */
export type RouteNeeds = Readonly<Record<string, Need>>;

/** Need of a route that is in no table: a test sees to it that there is none. */
const UNLISTED: Need = { scope: "admin", queues: "every" };

/** Returns the need of a request by its route; `null` if no route answers it. */
export function needOf(c: Context, prefix: string, needs: RouteNeeds): Need | null {
  const routes = matchedRoutes(c).filter(({ method }) => method !== "ALL");
  const [first] = routes;
  if (first === undefined) return null;
  return needs[`${first.method} ${first.path.slice(prefix.length)}`] ?? UNLISTED;
}

/** Returns the rights of a request's caller. */
export function rightsOf(c: Context): Rights {
  const rights = c.get("rights");
  if (rights === undefined) throw new Error("a route answers before its caller was identified");
  return rights;
}

/** Notes the target of a request's change, for the audit log. The first one counts. */
export function setChanged(c: Context, target: string): void {
  if (c.get("changed") === undefined) c.set("changed", target);
}

/** Notes a change that a route has made in the audit log. */
export async function auditRoute(
  c: Context,
  need: Need | null,
  audit: AuditRpc,
  dialect: AuditDialect,
): Promise<void> {
  const target = c.get("changed");
  if (need?.audit === undefined || !c.res.ok || target === null) return;
  await noteChange(audit, { action: need.audit, target: target ?? null, by: rightsOf(c).by, dialect });
}

/**
 * Why a request may not use a queue; `null` if it may.
 *
 * @param called the queue as the request names it. Default: its name.
 */
export function refusedQueue(c: Context, name: string, called?: string): string | null {
  setChanged(c, name);
  return queueRefusal(rightsOf(c), name, called);
}
