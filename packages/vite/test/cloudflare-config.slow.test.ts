import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ask, type DevServer, ViteProject } from "./vite-project.ts";

/** Limit for a busy machine, in ms. */
const PATIENCE = { timeout: 100_000, interval: 100 };

const CONFIG = `
import { orders } from "./names.ts";
import * as entrypoint from "./src/index.ts" with { type: "cf-worker" };

export default ({ mode }: { mode?: string }) => ({
  worker: {
    name: "shop-" + mode,
    entrypoint,
    compatibilityDate: "2026-09-01",
    exports: { Book: { type: "durable-object", storage: "sqlite" } },
    env: {
      BOOK: { type: "durable-object", worker: "shop-" + mode, exportName: "Book" },
      ORDERS: { type: "queue", name: orders },
      MAILS: { type: "queue", name: "mails" },
    },
    triggers: [{ type: "queue", name: orders, maxBatchTimeout: 0, retryDelay: 0, deadLetterQueue: "lost" }],
  },
});
`;
const VITE_CONFIG = `
import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";
import { defineConfig } from "vite";

const auxiliaryWorkers = [{ configPath: "./post/wrangler.jsonc" }];
export default defineConfig({
  plugins: [cloudflare(sluice({
    auxiliaryWorkers, inspectorPort: false, experimental: { newConfig: true },
    persistState: { path: process.env.STATE ?? ".wrangler/state" },
  }))],
});
`;

let project: ViteProject;
let server: DevServer;
const write = (name: string, text: string) => writeFileSync(join(project.folder, name), text);

beforeAll(async () => {
  project = new ViteProject();
  rmSync(join(project.folder, "wrangler.jsonc"));
  write("cloudflare.config.ts", CONFIG);
  write("names.ts", 'export const orders: string = "orders";\n');
  write("vite.config.mjs", VITE_CONFIG);
  write("wrangler.toml", "[sluice.queues.orders]\nmessage_retention_period = 600\n");
  server = await project.dev();
});
afterAll(async () => {
  await server?.stop();
  project?.remove();
});

const handled = (line: string) =>
  vi.waitFor(async () => expect(await ask(server, "/")).toEqual(expect.arrayContaining([line])), PATIENCE);
const queue = (name: string) => ask(server, `/__sluice/api/queues/${name}`);

it("a Worker with a cloudflare.config.ts sends and handles messages beside one with a Wrangler configuration", async () => {
  await ask(server, "/send?body=new");
  await handled("one new 1");
  await ask(server, "/object?body=object");
  await handled("one object 1");
  await ask(server, "/mail?body=letter");
  await handled("one posted letter 1");
});

it("the configuration is read in Vite's mode, with the [sluice] table beside it and its types", async () => {
  expect(await queue("orders")).toMatchObject({
    consumer: { worker: "shop-development" },
    settings: { messageRetentionSeconds: 600 },
  });
  expect(existsSync(join(project.folder, ".cloudflare/types/index.d.ts"))).toBe(true);
});

it("a server in another mode leaves this one's configuration and queues alone", async () => {
  const other = await project.dev({ STATE: "other" }, "--mode", "other");
  const consumerOf = async (one: DevServer) => await ask(one, "/__sluice/api/queues/orders");
  await vi.waitFor(
    async () => expect(await consumerOf(other)).toMatchObject({ consumer: { worker: "shop-other" } }),
    PATIENCE,
  );
  expect(await consumerOf(server)).toMatchObject({ consumer: { worker: "shop-development" } });
  await other.stop();
  expect(server.printed() + other.printed()).not.toContain("restarted");
});

it("a second server with the same data writes nothing", async () => {
  await expect(project.dev({}, "--mode", "second")).rejects.toThrow(/in use by vite dev \(process \d+\)/);
  expect(existsSync(join(project.folder, ".sluice/vite-config/second"))).toBe(false);
});

it("a change of a module that the configuration imports restarts the server, a mistake in it does not", async () => {
  write("names.ts", 'export const orders: string = "bad name";\n');
  await vi.waitFor(() => expect(server.printed()).toContain("worker.triggers[0].name"), PATIENCE);
  write("names.ts", 'export const orders: string = "others";\n');
  // Until then the old server may answer, with the new queues even, and closes every connection at its end, as Vite does
  // at each restart.
  await vi.waitFor(() => expect(server.printed()).toContain("server restarted"), PATIENCE);
  await vi.waitFor(
    async () => expect(await queue("others")).toMatchObject({ consumer: { worker: "shop-development" } }),
    PATIENCE,
  );
  await ask(server, "/send?body=again");
  await handled("one again 1");
});

it("a configuration that fails after it was read is named, and the user's files of secrets by their own names", async () => {
  const variables = { STATE: "late", CLOUDFLARE_ENV: "staging" };
  for (const name of [".env", ".env.local", ".env.staging"]) write(name, "SECRET=x\n");
  write("cloudflare.config.ts", `Promise.reject(new Error("late boom"));\n${CONFIG}`);
  const late = await project.dev(variables, "--mode", "late");
  await late.stop();
  expect(late.printed()).toContain(
    `${join(project.folder, "cloudflare.config.ts")}:1: warning: it failed after it had been read: late boom`,
  );
  const secrets = /Using secrets defined in .*/g;
  expect([...new Set(late.printed().match(secrets))]).toEqual(
    [".env", ".env.local", ".env.staging"].map((name) => `Using secrets defined in ${name}`),
  );
  // The first server restarted when there were secrets, without an environment.
  await vi.waitFor(
    () => expect(server.printed()).toMatch(/defined in \.env\n.*defined in \.env\.local\n/),
    PATIENCE,
  );
  write(".dev.vars", "SECRET=x\n");
  await vi.waitFor(() => expect(server.printed()).toContain("defined in .dev.vars\n"), PATIENCE);
  expect(server.printed()).not.toContain("defined in .sluice");
});
