import type { Scope, TokenRecord } from "@sluice/protocol";
import type { Hono } from "hono";
import { expect, it, vi } from "vitest";
import { directoryOf, ORDERS, recordOf } from "../../test/directory.ts";
import { memoryTokens } from "../../test/in-memory.ts";
import { Waits } from "../account/waits.ts";
import { ADMIN_NEEDS } from "../admin/access/needs.ts";
import { mcpRoutes } from "../admin/mcp/mcp-routes.ts";
import { metricsRoutes } from "../admin/metrics/routes.ts";
import { adminRoutes } from "../admin/routes.ts";
import { CLOUDFLARE_NEEDS } from "../cloudflare/needs.ts";
import { cloudflareRoutes } from "../cloudflare/routes.ts";
import type { Access } from "../http/access.ts";
import { createGateway } from "../index.ts";
import { Authority } from "./authority.ts";
import { sha256Of } from "./digest.ts";
import type { Need } from "./rights.ts";
import type { RouteNeeds } from "./route-needs.ts";

const access: Access = { kind: "tokens", tokens: ["first"] };
const directory = directoryOf();
const authority = new Authority(access, memoryTokens(), () => Date.now());

const unused = async () => Promise.reject(new Error("nothing is restored here"));
const NOTHING_RESTORED = { sqs: unused, topic: unused, subscription: unused };

/** Every route that answers something, as the tables call it, with what it needs. */
function routesOf(app: Hono, mount: string, needs: RouteNeeds): [string, Need | undefined][] {
  const names = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${`${mount}${path}`.replace(/(?<=.)\/$/, "")}`);
  return [...new Set(names)].map((name) => [name, needs[name]]);
}

const ADMIN_ROUTES = [
  ...routesOf(adminRoutes(directory, authority, new Waits(), NOTHING_RESTORED), "/api", ADMIN_NEEDS),
  ...routesOf(metricsRoutes(directory, authority), "/metrics", ADMIN_NEEDS),
  ...routesOf(
    mcpRoutes({ directory, authority, fetchApi: () => Promise.reject(new Error("no test asks")) }),
    "/mcp",
    ADMIN_NEEDS,
  ),
];
const CLOUDFLARE_ROUTES = routesOf(cloudflareRoutes(directory, authority), "", CLOUDFLARE_NEEDS);
const ALL_ROUTES = [
  ...ADMIN_ROUTES.map(([route, need]) => ["/__sluice", route, need] as const),
  ...CLOUDFLARE_ROUTES.map(([route, need]) => ["/__sluice/client/v4", route, need] as const),
];

/** A queue that a limited token may not use. */
const { queueId } = recordOf("orders", ORDERS);
/** Queries of routes that answer nothing without one. */
const QUERIES: Readonly<Record<string, string>> = { "GET /api/search": "?q=lamp" };
const PARAMETERS: Readonly<Record<string, string>> = {
  ":name": "orders",
  ":queue_id": queueId,
  ":consumer_id": "c".repeat(32),
};
/** Bodies of routes that name their queue there. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /accounts/:account_id/queues": { queue_name: "orders" },
  "PUT /api/queues/:name/faults": { faults: [] },
  "POST /mcp": { jsonrpc: "2.0", id: 1, method: "ping" },
};

/** Requests a route with a kept token, and returns the answer. */
async function ask(
  [prefix, route]: readonly [string, string],
  { scopes, queues = [] }: { readonly scopes: readonly Scope[]; readonly queues?: readonly string[] },
): Promise<number> {
  const tokens = memoryTokens();
  const token: Omit<TokenRecord, "previous" | "createdAtMs" | "changedAtMs"> = {
    name: "kept",
    scopes,
    queues,
    expiresAtMs: null,
    ratePerSecond: null,
    secret: { kind: "bearer", sha256: await sha256Of("secret") },
  };
  await tokens.createToken(token);
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern.replaceAll(/:[a-z_]+/g, (name) => PARAMETERS[name] ?? "any");
  const gateway = createGateway({ ...directory, tokens }, access);
  const body = method === "GET" ? {} : { body: JSON.stringify(BODIES[route] ?? {}) };
  const headers = { authorization: "Bearer secret" };
  const url = `http://localhost${prefix}${path}${QUERIES[route] ?? ""}`;
  const response = await gateway.request(url, { method, headers, ...body });
  await response.body?.cancel();
  return response.status;
}

const OTHERS: Readonly<Record<string, readonly Scope[]>> = {
  read: ["send", "consume"],
  send: ["read", "consume"],
  consume: ["read", "send"],
  admin: ["read", "send", "consume"],
};

it("every route has its need in a table, and no table has a route that there is not", () => {
  const unlisted = ALL_ROUTES.filter(([, , need]) => need === undefined);
  expect(unlisted).toEqual([]);
  const names = (routes: readonly (readonly [string, unknown])[]) => routes.map(([name]) => name).sort();
  expect(names(ADMIN_ROUTES)).toEqual(Object.keys(ADMIN_NEEDS).sort());
  expect(names(CLOUDFLARE_ROUTES)).toEqual(Object.keys(CLOUDFLARE_NEEDS).sort());
});

it.each(ALL_ROUTES)(
  "every route %s %s refuses a token that has every other scope",
  async (prefix, route, need) => {
    const { scope = "any" } = need ?? {};
    if (scope === "any") expect(await ask([prefix, route], { scopes: ["send"] })).toBeLessThan(300);
    else expect(await ask([prefix, route], { scopes: OTHERS[scope] ?? [] })).toBe(403);
  },
);

it.each(ALL_ROUTES)("every route %s %s lets in the scope that it needs", async (prefix, route, need) => {
  if (need === undefined || need.scope === "any") return;
  // No test here lets a queue do anything.
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  expect([401, 403]).not.toContain(await ask([prefix, route], { scopes: [need.scope] }));
  log.mockRestore();
});

it.each(ALL_ROUTES)("every route %s %s keeps to the queues of a token", async (prefix, route, need) => {
  const status = await ask([prefix, route], { scopes: ["admin"], queues: ["dead", "mail*"] });
  const isRefused = need?.queues === "one" || need?.queues === "every";
  if (isRefused) expect(status).toBe(403);
  else expect(status).toBeLessThan(300);
});
