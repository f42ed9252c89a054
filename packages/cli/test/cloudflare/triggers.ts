import { type Context, Hono } from "hono";
import { type Account, Refused } from "./account.ts";

/** A custom domain with the Worker that answers at it. */
interface Domain {
  readonly id: string;
  readonly hostname: string;
  service: string;
}

/** Settings of a Worker outside of its versions, which Wrangler sets after an upload. */
interface Around {
  schedules: readonly string[];
  routes: readonly string[];
  settings: Readonly<Record<string, unknown>>;
}

/** Schedules, routes, domains and settings of the Workers of an account. */
export class Triggers {
  readonly domains: Domain[] = [];
  readonly #around = new Map<string, Around>();

  of(worker: string): Around {
    const around = this.#around.get(worker) ?? { schedules: [], routes: [], settings: {} };
    this.#around.set(worker, around);
    return around;
  }

  clear(): void {
    this.domains.length = 0;
    this.#around.clear();
  }

  /** Returns the state of an account without times and ids, for comparing deployments. */
  stateOf(account: Account) {
    const workers = [...account.scripts].map(([name, { subdomain, secrets, classes, migrationTag }]) => {
      const { annotations, bindings, modules } = account.live(name);
      const around = this.of(name);
      return [
        name,
        { annotations, bindings, modules, subdomain, classes, migrationTag, secrets, around },
      ] as const;
    });
    return {
      workers: new Map(workers),
      domains: this.domains.map(({ hostname, service }) => `${hostname} ${service}`),
    };
  }
}

/** Serves the calls by which Wrangler sets and reads triggers and settings, below an account's path. */
export function triggerRoutes(triggers: Triggers, account: Account): Hono {
  const app = new Hono();
  const nameOf = (c: Context) => c.req.param("name") ?? "";
  const of = (c: Context) => {
    account.find(nameOf(c));
    return triggers.of(nameOf(c));
  };
  const scripts = "/workers/scripts/:name";
  app.put(`${scripts}/schedules`, async (c) => {
    const crons = await c.req.json<{ cron: string }[]>();
    of(c).schedules = crons.map(({ cron }) => cron);
    return c.json(success({ schedules: crons }));
  });
  app.get(`${scripts}/schedules`, (c) =>
    c.json(success({ schedules: of(c).schedules.map((cron) => ({ cron })) })),
  );
  app.put(`${scripts}/routes`, async (c) => {
    const routes = await c.req.json<{ pattern: string }[]>();
    of(c).routes = routes.map(({ pattern }) => pattern);
    return c.json(success(of(c).routes));
  });
  app.patch(`${scripts}/script-settings`, async (c) => {
    const around = of(c);
    around.settings = { ...around.settings, ...(await c.req.json<Record<string, unknown>>()) };
    return c.json(success(around.settings));
  });
  // An upload that is deployed sets these settings; a version alone does not.
  app.put(scripts, async (c, next) => {
    await next();
    if (!c.res.ok) return;
    const { metadata } = await c.req.parseBody({ all: true });
    const text = metadata instanceof File ? await metadata.text() : String(metadata);
    const { observability = { enabled: false }, logpush, tail_consumers } = JSON.parse(text);
    const { tags = [] } = of(c).settings;
    of(c).settings = JSON.parse(JSON.stringify({ observability, logpush, tail_consumers, tags }));
  });
  app.post(`${scripts}/domains/changeset`, async (c) => {
    const wanted = await c.req.json<{ hostname: string }[]>();
    const found = wanted.map(({ hostname }) => triggers.domains.find((one) => one.hostname === hostname));
    return c.json(
      success({
        added: wanted.filter((_, i) => found[i] === undefined),
        removed: [],
        updated: found.flatMap((domain) =>
          domain === undefined ? [] : { ...domain, modified: domain.service !== nameOf(c) },
        ),
        conflicting: [],
      }),
    );
  });
  app.put(`${scripts}/domains/records`, async (c) => {
    const { origins, override_existing_origin: overrides } = await c.req.json<{
      origins: { hostname: string }[];
      override_existing_origin: boolean;
    }>();
    for (const { hostname } of origins) {
      const domain = triggers.domains.find((one) => one.hostname === hostname);
      if (domain === undefined) triggers.domains.push({ id: hostname, hostname, service: nameOf(c) });
      else if (domain.service === nameOf(c) || overrides) domain.service = nameOf(c);
      else throw new Refused(409, 100_116, `${hostname} is a domain of ${domain.service}.`);
    }
    return c.json(success([]));
  });
  app.get("/workers/domains/records", (c) =>
    c.json(success(triggers.domains.filter(({ service }) => service === c.req.query("service")))),
  );
  app.get("/workers/domains/records/:id", (c) => {
    const domain = triggers.domains.find(({ id }) => id === c.req.param("id"));
    return c.json(success(domain ?? null));
  });
  app.get("/workers/domains", (c) => {
    const { hostname, service } = c.req.query();
    const found = triggers.domains.filter(
      (one) =>
        (hostname === undefined || one.hostname === hostname) &&
        (service === undefined || one.service === service),
    );
    return c.json(success(found));
  });
  dashboardRoutes(app, triggers, account);
  return app;
}

/** Serves the calls by which Wrangler looks for edits in the dashboard before an upload. */
function dashboardRoutes(app: Hono, triggers: Triggers, account: Account): void {
  const environment = "/workers/services/:name/environments/:environment";
  app.get(`${environment}/routes`, (c) =>
    c.json(
      success(
        triggers.of(c.req.param("name")).routes.map((pattern) => ({ pattern, zone_name: "shop.example" })),
      ),
    ),
  );
  app.get(`${environment}/bindings`, (c) => c.json(success(account.live(c.req.param("name")).bindings)));
  app.get(`${environment}/subdomain`, (c) =>
    c.json(success({ enabled: account.find(c.req.param("name")).subdomain, previews_enabled: false })),
  );
  app.get(environment, (c) =>
    c.json(
      success({
        script: {
          compatibility_date: "2026-11-01",
          compatibility_flags: [],
          tags: [],
          migration_tag: account.find(c.req.param("name")).migrationTag,
        },
      }),
    ),
  );
}

function success(result: unknown) {
  return { success: true, errors: [], messages: [], result };
}
