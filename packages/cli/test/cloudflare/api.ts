import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { Account, type Deployment, type Metadata, Refused, type Script, type Version } from "./account.ts";
import { Triggers, triggerRoutes } from "./triggers.ts";

export const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
/** A second account that the same token opens. */
export const SECOND_ACCOUNT_ID = "fedcba9876543210fedcba9876543210";
export const ACCOUNT_TOKEN = "an-api-token";

/** A call of Wrangler's, such as `PUT scripts/web`. */
export type Call = `${string} ${string}`;

/** Stand-in for Cloudflare's API over HTTP, as far as Wrangler deploys by it. */
export interface Cloudflare extends AsyncDisposable {
  readonly account: Account;
  /** Schedules, routes, domains and settings. */
  readonly triggers: Triggers;
  /** Accounts by id: the first and the second. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** Calls that change something, in order, without the account's path and the query. */
  readonly changes: Call[];
  /** Calls that the API has no answer for. A test should find none. */
  readonly unknown: Call[];
  /** Whether a call is refused with 400. Default: none is. */
  refuses: (call: Call) => boolean;
  /** Whether a call is done, but answered with 400. Default: none is. */
  loses: (call: Call) => boolean;
  /** Resolves before a call is done and answered; where it rejects, the call is refused with 400. Default: at once. */
  holds: (call: Call) => Promise<void> | undefined;
  /** Empties the account. */
  clear(): void;
  /** Environment for Wrangler. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the stand-in on a free port. */
export async function startCloudflare(): Promise<Cloudflare> {
  const account = new Account();
  const triggers = new Triggers();
  const accounts = new Map([
    [ACCOUNT_ID, account],
    [SECOND_ACCOUNT_ID, new Account()],
  ]);
  const state: Pick<Cloudflare, "refuses" | "loses" | "holds"> = {
    refuses: () => false,
    loses: () => false,
    holds: () => undefined,
  };
  const changes: Call[] = [];
  const unknown: Call[] = [];
  const app = new Hono();
  app.use(async (c, next) => {
    // Files of assets come with the token of their upload session.
    const isSession = c.req.path.endsWith("/workers/assets/upload");
    if (!isSession && c.req.header("authorization") !== `Bearer ${ACCOUNT_TOKEN}`) {
      return c.json(failure(10_000, "Authentication error"), 403);
    }
    const call: Call = `${c.req.method} ${pathOf(c)}`;
    if (c.req.method !== "GET") changes.push(call);
    const isHeld = await Promise.resolve(state.holds(call)).then(
      () => true,
      () => false,
    );
    if (!isHeld || state.refuses(call)) return c.json(UNKNOWN_ERROR, 400);
    await next();
    if (state.loses(call)) c.res = c.json(UNKNOWN_ERROR, 400);
  });
  app.onError((error, c) => {
    if (error instanceof Refused) return c.json(failure(error.code, error.message), error.status);
    throw error;
  });
  app.notFound((c) => {
    unknown.push(`${c.req.method} ${pathOf(c)}`);
    return c.json(failure(7_003, "Could not route the request."), 404);
  });
  app.get("/accounts", (c) =>
    c.json(success([...accounts.keys()].map((id, i) => ({ id, name: `account ${i + 1}` })))),
  );
  for (const [id, its] of accounts) {
    app.route(`/accounts/${id}`, triggerRoutes(its === account ? triggers : new Triggers(), its));
    app.route(`/accounts/${id}`, accountRoutes(its));
  }
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    account,
    triggers,
    accounts,
    changes,
    unknown,
    clear: () => {
      account.scripts.clear();
      triggers.clear();
    },
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`,
      CLOUDFLARE_API_TOKEN: ACCOUNT_TOKEN,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
    },
    [Symbol.asyncDispose]: () => close(server),
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function accountRoutes(account: Account): Hono {
  const app = new Hono();
  app.get("/workers/services/:name", (c) => {
    const script = account.scripts.get(c.req.param("name"));
    if (script === undefined) throw new Refused(404, 10_090, "This service does not exist.");
    return c.json(success({ default_environment: { environment: "production", script: scriptOf(script) } }));
  });
  app.delete("/workers/services/:name", (c) => {
    account.remove(c.req.param("name"), c.req.query("force") === "true");
    return c.json(success(null));
  });
  app.get("/workers/subdomain", (c) => c.json(success({ subdomain: "shop" })));
  app.get("/workers/workers/:name", (c) => {
    const { subdomain } = account.find(c.req.param("name"));
    return c.json(success({ subdomain: { enabled: subdomain, previews_enabled: subdomain } }));
  });
  app.get("/workers/durable_objects/namespaces", (c) => c.json(success([])));
  app.get("/workers/tails/by-consumer/:name", (c) => c.json(success([])));
  app.get("/storage/kv/namespaces", (c) => c.json(success([])));
  // Older Wranglers ask for it and find the last migration there.
  app.get("/workers/scripts", (c) =>
    c.json(success([...account.scripts].map(([id, script]) => ({ ...scriptOf(script), id })))),
  );
  app.post("/workers/assets/upload", (c) => c.json(success({ jwt: "uploaded" }), 201));
  app.route("/workers/scripts/:name", scriptRoutes(account));
  return app;
}

function scriptRoutes(account: Account): Hono {
  const app = new Hono();
  const nameOf = (c: Context) => c.req.param("name") ?? "";
  app.get("/secrets", (c) => {
    const names = [...account.find(nameOf(c)).secrets.keys()];
    return c.json(success(names.map((name) => ({ name, type: "secret_text" }))));
  });
  app.put("/secrets", async (c) => {
    const { name, text } = await c.req.json();
    account.putSecret(nameOf(c), name, text);
    return c.json(success({ name, type: "secret_text" }));
  });
  app.get("/settings", (c) => c.json(success({ bindings: account.live(nameOf(c)).bindings })));
  app.get("/references", (c) => {
    const bound = account.boundTo(nameOf(c)).map((service) => ({ service, environment: "production" }));
    return c.json(success({ services: { incoming: bound, outgoing: [] }, durable_objects: [] }));
  });
  app.get("/deployments", (c) =>
    c.json(success({ deployments: account.find(nameOf(c)).deployments.slice(0, 10).map(deploymentOf) })),
  );
  app.post("/deployments", async (c) => {
    const { versions, annotations } = await c.req.json();
    const force = c.req.query("force") === "true";
    return c.json(success(deploymentOf(account.deployAgain(nameOf(c), versions, annotations ?? {}, force))));
  });
  app.get("/versions", (c) => {
    const items = account.find(nameOf(c)).versions.map(versionOf).reverse();
    return c.json(success({ items: items.slice(0, c.req.query("deployable") === "true" ? 100 : 10) }));
  });
  app.get("/versions/:id", (c) => {
    const version = account.find(nameOf(c)).versions.find(({ id }) => id === c.req.param("id"));
    if (version === undefined) throw new Refused(404, 10_007, "This version does not exist.");
    return c.json(success(versionOf(version)));
  });
  app.post("/versions", async (c) => {
    const { id } = await upload(account, c);
    return c.json(success({ id, resources: { script: { etag: id } } }));
  });
  app.put("/", async (c) => {
    const version = await upload(account, c);
    account.deploy(nameOf(c), [{ version_id: version.id, percentage: 100 }], version.annotations);
    return c.json(
      success({
        id: nameOf(c),
        etag: version.id,
        deployment_id: version.id.replaceAll("-", ""),
        startup_time_ms: 3,
      }),
    );
  });
  app.post("/assets-upload-session", async (c) => {
    const { manifest } = await c.req.json<{ manifest: Record<string, { hash: string }> }>();
    return c.json(success({ jwt: "session", buckets: [Object.values(manifest).map(({ hash }) => hash)] }));
  });
  app.patch("/settings", (c) => c.json(success({})));
  app.get("/subdomain", (c) => c.json(success({ enabled: account.find(nameOf(c)).subdomain })));
  app.post("/subdomain", async (c) => {
    const { enabled } = await c.req.json();
    account.find(nameOf(c)).subdomain = enabled;
    return c.json(success({ enabled, previews_enabled: enabled }));
  });
  return app;
}

async function upload(account: Account, c: Context): Promise<Version> {
  const form = await c.req.parseBody({ all: true });
  const modules: Record<string, string> = {};
  for (const [name, part] of Object.entries(form)) {
    if (part instanceof File && part.type.startsWith("application/javascript"))
      modules[name] = await part.text();
  }
  const { metadata } = form;
  const text = metadata instanceof File ? await metadata.text() : String(metadata);
  return account.upload(c.req.param("name") ?? "", JSON.parse(text) as Metadata, modules);
}

function scriptOf({ migrationTag, lastDeployedFrom }: Script) {
  return {
    id: "script",
    tag: "tag",
    tags: [],
    last_deployed_from: lastDeployedFrom,
    ...(migrationTag === null ? {} : { migration_tag: migrationTag }),
  };
}

function versionOf({ id, number, createdOn, annotations, bindings }: Version) {
  return {
    id,
    number,
    annotations,
    metadata: { created_on: createdOn, author_email: "a@example.com", source: "wrangler" },
    resources: {
      bindings,
      script: { etag: id, handlers: ["fetch"] },
      script_runtime: { usage_model: "standard" },
    },
  };
}

function deploymentOf({ id, createdOn, annotations, versions }: Deployment) {
  return {
    id,
    annotations,
    versions,
    created_on: createdOn,
    author_email: "a@example.com",
    source: "wrangler",
    strategy: "percentage",
  };
}

function pathOf(c: Context): string {
  return c.req.path.replace(/^\/accounts\/[0-9a-f]{32}\/workers\//, "");
}

function success(result: unknown) {
  return { success: true, errors: [], messages: [], result };
}

const UNKNOWN_ERROR = failure(10_013, "An unknown error has occurred.");

function failure(code: number, message: string) {
  return { success: false, errors: [{ code, message }], messages: [], result: null };
}
