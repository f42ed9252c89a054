// @module-tag slow
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { install } from "./install.ts";
import { type Lab, openLab } from "./lab.ts";
import { Running } from "./running.ts";

/** Projects with their own harness, each with Workers in one of the forms that Miniflare takes. */
const FILES = {
  "package.json": '{ "private": true, "type": "module" }',
  "src/index.mjs": `import { DurableObject } from "cloudflare:workers";
    import { shout } from "./shout.mjs";

    export class Book extends DurableObject {
      write(line) { this.ctx.storage.kv.put(String(Date.now() + Math.random()), line); }
      lines() { return [...this.ctx.storage.kv.list()].map(([, line]) => line); }
    }
    export default {
      async fetch(request, env) {
        const { pathname, search } = new URL(request.url);
        if (pathname === "/keys") return Response.json(Object.keys(env).sort());
        if (pathname === "/send") await env.ORDERS.send(search.slice(1));
        return Response.json(await env.BOOK.getByName("book").lines());
      },
      async queue(batch, env) {
        for (const { body, attempts } of batch.messages) {
          if (body === "twice" && attempts === 1) throw new Error("once more");
          await env.BOOK.getByName("book").write(shout(body) + " " + attempts);
        }
      },
    };`,
  "src/shout.mjs": "export const shout = (text) => text.toUpperCase();",
  "harness.mjs": `import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
    import { createRequire } from "node:module";
    import { sluiceWorkers } from "sluice";

    const wrangler = createRequire(import.meta.url).resolve("wrangler");
    const { Miniflare, convertV4MiniflareOptions } = createRequire(wrangler)("miniflare");
    const common = { compatibilityDate: "2026-09-01" };
    const shop = {
      ...common,
      durableObjects: { BOOK: { className: "Book", useSQLite: true } },
      queueProducers: { ORDERS: { queueName: "orders" } },
      queueConsumers: { orders: { maxBatchTimeout: 0, retryDelay: 0 } },
    };
    mkdirSync("dist", { recursive: true });
    const read = (path) => readFileSync(path, "utf8");
    const module = (path) => ({ type: "ESModule", path, contents: read(path) });
    const bundle = read("src/index.mjs").replace(/import.*shout.*/, read("src/shout.mjs").replace("export", ""));
    writeFileSync("dist/index.js", bundle);
    const forms = {
      file: { ...shop, modules: true, scriptPath: "dist/index.js" },
      list: { workers: [{ ...shop, name: "shop", modules: [module("src/index.mjs"), module("src/shout.mjs")] }] },
      text: {
        workers: [
          {
            ...common, name: "till", modules: true, queueProducers: ["orders"],
            script: "export default { " +
              "async fetch(request, env) { await env.orders.send('till'); return fetch('http://shop/'); } };",
            outboundService: "shop",
          },
          { ...shop, name: "shop", modules: true, script: bundle },
        ],
      },
    };
    const { workers = [forms[process.argv[2]]] } = forms[process.argv[2]];
    const options = await sluiceWorkers({ workers, cf: false });
    const miniflare = new Miniflare(convertV4MiniflareOptions(options));
    const ask = async (path) => (await miniflare.dispatchFetch("http://localhost" + path)).json();
    await ask("/send?one");
    await ask("/send?twice");
    const expected = process.argv[2] === "text" ? ["TILL 1"] : ["ONE 1", "TWICE 2"];
    for (let lines = []; !expected.every((line) => lines.includes(line)); lines = await ask("/"));
    console.log("handled", expected.join(", "));
    if (process.argv[2] !== "text") console.log("keys", (await ask("/keys")).join());
    const url = await miniflare.unsafeGetDirectURL("sluice");
    const { queues } = await (await fetch(new URL("/__sluice/api/queues", url))).json();
    console.log("queues", queues.map(({ name }) => name).join());
    await miniflare.dispose();
    `,
  "wrangler.jsonc": JSON.stringify({
    name: "shop",
    main: "src/index.mjs",
    compatibility_date: "2026-09-01",
    durable_objects: { bindings: [{ name: "BOOK", class_name: "Book" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Book"] }],
    queues: {
      producers: [{ binding: "ORDERS", queue: "orders" }],
      consumers: [{ queue: "orders", max_batch_timeout: 0, retry_delay: 0 }],
    },
  }),
  "start-worker.mjs": `import { unstable_startWorker } from "wrangler";

    const dev = { registry: ".wrangler/registry", persist: ".wrangler/state", server: { port: 0 }, inspector: false };
    const broker = await unstable_startWorker({ config: ".sluice/sluice/wrangler.json", dev });
    await broker.fetch("http://localhost/__sluice/health");
    const shop = await unstable_startWorker({ config: ".sluice/shop/wrangler.json", dev });
    const ask = async (path) => (await shop.fetch("http://localhost" + path)).json();
    await ask("/send?one");
    for (let lines = []; !lines.includes("ONE 1"); lines = await ask("/"));
    console.log("handled ONE 1");
    await shop.dispose();
    await broker.dispose();
    process.exit();
    `,
};

let lab: Lab;
let bin: string;

beforeAll(() => {
  lab = openLab("staged");
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(lab.folder, name)), { recursive: true });
    writeFileSync(join(lab.folder, name), text);
  }
  bin = install(lab.folder);
});
afterAll(() => lab.remove());

async function run(...args: string[]): Promise<string> {
  const program = new Running(args, lab.folder, { ...lab.env, CLOUDFLARE_CF_FETCH_ENABLED: "false" });
  const code = await program.ended;
  expect(program.output).not.toMatch(/uncaught/i);
  expect(code, program.output).toBe(0);
  return program.output;
}

it.each([
  ["a file", "file"],
  ["a list of modules", "list"],
])("sluiceWorkers adds the broker to a Worker that Miniflare is given as %s", async (_, form) => {
  const printed = await run("harness.mjs", form);
  expect(printed).toContain("handled ONE 1, TWICE 2");
  expect(printed).toContain("keys BOOK,ORDERS\n");
  expect(printed).toContain("queues orders\n");
});

it("sluiceWorkers adds the broker to several Workers, given as text", async () => {
  expect(await run("harness.mjs", "text")).toContain("handled TILL 1");
});

it("unstable_startWorker runs the output of sluice build", async () => {
  await run(bin, "build");
  expect(await run("start-worker.mjs")).toContain("handled ONE 1");
});
