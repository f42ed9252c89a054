import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { install } from "./install.ts";
import { commandLineOf, descendants, freePorts, isRunning, type Lab, openLab } from "./lab.ts";
import { HAS_OTHERS, otherWrangler } from "./others.ts";
import { Running } from "./running.ts";

const TSC = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
const NODE_TYPES = fileURLToPath(new URL("../node_modules/@types/node", import.meta.url));
const OPENTELEMETRY = fileURLToPath(new URL("../node_modules/@opentelemetry", import.meta.url));
/** Far more than a sentence, and less than a line of the built code. */
const PRINTED_CHARACTERS_MAX = 1_000;
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Project of a framework, whose server is Node.js, with the Worker that handles its messages. */
const FILES = {
  "package.json": '{ "private": true, "type": "module" }',
  "wrangler.jsonc": JSON.stringify({
    name: "web",
    compatibility_date: "2026-11-01",
    vars: { GREETING: "hello" },
    kv_namespaces: [{ binding: "NOTES", id: "notes" }],
    queues: {
      producers: [
        { binding: "JOBS", queue: "jobs" },
        { binding: "LATER", queue: "jobs", delivery_delay: 3600 },
      ],
      consumers: [{ queue: "pulled", type: "http_pull" }],
    },
    sluice: { queues: { jobs: { message_retention_period: 86400 } } },
  }),
  ".dev.vars": 'SECRET="quiet"\n',
  "server.mjs": `
    import { createServer } from "node:http";
    import { context, trace } from "@opentelemetry/api";
    import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
    import { getPlatformProxy } from "sluice";

    const { env, cf, ctx, caches, dispose } = await getPlatformProxy(JSON.parse(process.argv[2] ?? "{}"));
    const answers = {
      "/env": async () => {
        await env.NOTES.put("note", "kept");
        ctx.waitUntil(Promise.resolve());
        const note = await env.NOTES.get("note");
        return [Object.keys(env).sort(), env.GREETING, env.SECRET, note, typeof cf, typeof caches.default];
      },
      "/send": async (text) => (await env.JOBS.send(text)).metadata.metrics.backlogCount,
      "/traced": (text) => {
        context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
        const [, traceId, spanId] = "TRACEPARENT".split("-");
        const span = trace.setSpanContext(context.active(), { traceId, spanId, traceFlags: 1 });
        return context.with(span, () => env.JOBS.send(text));
      },
      "/map": (text) => env.JOBS.send(new Map([[text, new Date(0)]]), { contentType: "v8" }),
      "/batch": (text) => env.JOBS.sendBatch((function* () { for (const n of [1, 2]) yield { body: { text, n } }; })()),
      "/later": (text) => env.LATER.send(text),
      "/refused": () => Promise.all([
        env.JOBS.send("x".repeat(200_000)),
        env.JOBS.send(() => {}),
        env.JOBS.sendBatch(Array.from({ length: 101 }, () => ({ body: 1 }))),
      ].map((sent) => sent.then(() => "sent", String))),
      "/stream": async (text) => {
        const failures = [];
        const end = Date.now() + Number(text);
        while (Date.now() < end) await env.JOBS.send("streamed").catch((error) => failures.push(String(error)));
        return failures;
      },
      "/metrics": () => env.JOBS.metrics(),
      "/again": async (text) => {
        const other = await getPlatformProxy();
        await other.env.JOBS.send(text);
        await other.dispose();
      },
      "/end": () => dispose(),
    };
    const server = createServer(async (request, response) => {
      const { pathname, search } = new URL(request.url, "http://localhost");
      const { body, status } = await answers[pathname](search.slice(1)).then(
        (body) => ({ body, status: 200 }),
        (error) => ({ body: String(error), status: 500 }),
      );
      response.writeHead(status).end(JSON.stringify(body ?? null));
      if (pathname === "/end") server.close();
    }).listen(0, () => console.log("listens on", server.address().port));
  `.replace("TRACEPARENT", TRACEPARENT),
  // Nitro runs a server like this.
  "thread.mjs": `
    import { Worker } from "node:worker_threads";
    new Worker(new URL("server.mjs", import.meta.url));
  `,
  "guide.mjs": `
import { getPlatformProxy } from "sluice";

const { env, dispose } = await getPlatformProxy();
await env.JOBS.send("hello");
await dispose();
  `,
  "reopen.mjs": `
import { getPlatformProxy } from "sluice";

const first = await getPlatformProxy();
const end = first.dispose();
const second = await getPlatformProxy();
await end;
await second.env.JOBS.send("reopened");
await second.dispose();
  `,
  "post/wrangler.jsonc": JSON.stringify({
    name: "post",
    main: "index.js",
    compatibility_date: "2026-11-01",
    queues: { consumers: [{ queue: "jobs", max_batch_timeout: 0 }] },
  }),
  "post/index.js": `import { traceContextOf } from "sluice/trace";
  export default {
    queue({ messages }) {
      for (const message of messages) {
        const { body } = message;
        console.log("got", body instanceof Map ? [...body.keys()] : body);
        const trace = traceContextOf(message);
        if (trace !== null) console.log(body, "is of", trace.traceparent);
      }
    },
  };`,
};

/** Limit for three Wranglers one after the other on a busy machine, in ms. */
describe("getPlatformProxy of the packed package", { timeout: 300_000 }, () => {
  let lab: Lab;
  let bin: string;
  const running: Running[] = [];

  const start = (args: readonly string[]) => {
    const process = new Running(args, lab.folder, { ...lab.env, CLOUDFLARE_CF_FETCH_ENABLED: "false" });
    running.push(process);
    return process;
  };
  /** A program that has opened a proxy, with its address. */
  const serve = async (options: object = {}) => {
    const server = start(["server.mjs", JSON.stringify(options)]);
    const printed = await server.printed(/listens on \d+/);
    const port = /listens on (\d+)/.exec(printed)?.[1];
    const ask = async (path: string): Promise<unknown> => {
      const response = await fetch(`http://localhost:${port}${path}`);
      const body: unknown = await response.json();
      if (!response.ok) throw new Error(`${body}\n${server.output}`);
      return body;
    };
    const backlog = async () => ((await ask("/metrics")) as { backlogCount: number }).backlogCount;
    return { server, ask, backlog };
  };
  const dev = async (...args: string[]) => {
    const { options } = await freePorts();
    const session = start([bin, "dev", "post", ...options, ...args]);
    await session.printed(/admin +http/);
    return session;
  };
  const shared = ["--persist-to", ".wrangler/state"];

  beforeAll(() => {
    lab = openLab("staged");
    mkdirSync(join(lab.folder, "post"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(lab.folder, name), text);
    bin = install(lab.folder);
    symlinkSync(OPENTELEMETRY, join(lab.folder, "node_modules/@opentelemetry"));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((process) => process.stop()));
  });
  afterAll(() => lab.remove());

  it("returns Wrangler's environment, with queues that refuse invalid messages", async () => {
    const { ask, backlog, server } = await serve();
    const keys = ["GREETING", "JOBS", "LATER", "NOTES", "SECRET"];
    expect(await ask("/env")).toEqual([keys, "hello", "quiet", "kept", "object", "object"]);
    expect(await ask("/refused")).toEqual([
      "Error: message length of 200002 bytes exceeds limit of 128000 (10204)",
      'TypeError: Content Type "json" requires a value of type JSON, but received: function',
      "Error: batch message count of 101 exceeds limit of 100 (10206)",
    ]);
    await ask("/send?one");
    await ask("/batch?two");
    await ask("/later?three");
    // Two proxies of one process share one broker.
    await ask("/again?four");
    expect(await backlog()).toBe(5);
    await ask("/end");
    expect(await server.ended).toBe(0);
    expect(server.output).not.toMatch(/warn/i);
    expect(readdirSync(join(lab.folder, ".wrangler/state/v3/do"))).toContain("sluice-QueueBroker");

    expect(await start(["guide.mjs"]).ended).toBe(0);
    // A proxy is opened while another one of its process is being disposed of.
    expect(await start(["reopen.mjs"]).ended).toBe(0);

    // The messages stay for the next process: `sluice dev` handles them.
    const post = await dev(...shared);
    await post.printed(/got one/);
    await post.printed(/got \{ text: 'two', n: 2 \}/);
    await post.printed(/got four/);
    await post.printed(/got hello/);
    await post.printed(/got reopened/);
    expect(post.output).not.toContain("three");
  });

  it("sends to a running sluice dev, takes over its broker when it ends, and hands it back", {
    tags: "slow",
  }, async () => {
    const first = await dev(...shared);
    const { ask, backlog, server } = await serve();
    // The session reads the queues of this Worker's file, for which its broker starts anew.
    await expect.poll(() => ask("/map?joined").catch(() => null)).not.toBeNull();
    await first.printed(/got \[ 'joined' \]/);

    await first.stop();
    await expect.poll(() => ask("/send?alone").catch(() => null)).not.toBeNull();
    expect(await backlog()).toBeGreaterThan(0);

    // The consumers change with each start and end of a session.
    const stream = ask("/stream?8000");
    const second = await dev(...shared);
    expect(await stream).toEqual([]);
    expect(second.output).toMatch(
      /The broker of this data folder runs in a program with getPlatformProxy \(process \d+\)/,
    );
    await second.printed(/got alone/);
    await ask("/send?across");
    await second.printed(/got across/);

    await ask("/end");
    expect(await server.ended).toBe(0);
    await second.printed(/The broker runs here now, with all messages/);
  });

  it("finds the broker of a sluice dev with its queue, in any data folder", { tags: "slow" }, async () => {
    const post = await dev();
    const { ask } = await serve();
    await expect.poll(() => ask("/send?found").catch(() => null)).not.toBeNull();
    await post.printed(/got found/);
    // The span is that of the program, outside of workerd.
    await ask("/traced?request");
    await post.printed(new RegExp(`request is of ${TRACEPARENT}`));
    expect(readdirSync(join(lab.folder, "post/.wrangler/state/v3/do"))).toContain("sluice-QueueBroker");
  });

  it("refuses sends once another broker may have the data, and does not end the program", {
    tags: "slow",
  }, async () => {
    const { ask, server } = await serve();
    await ask("/send?kept");
    rmSync(join(lab.folder, ".wrangler/state/sluice-lock.sqlite"));
    await server.printed(/Sluice: .+sluice-lock\.sqlite was deleted or replaced/);
    await expect(ask("/send?late")).rejects.toThrow("the broker has been ended");
    await ask("/again?anew");
    await ask("/end");
    expect(await server.ended).toBe(0);
  });

  it("stores nothing with persist: false", { tags: "slow" }, async () => {
    const { ask, backlog } = await serve({ persist: false });
    expect(await backlog()).toBe(0);
    await ask("/send?gone");
    expect(await backlog()).toBe(1);
    await ask("/end");
    const { backlog: next } = await serve({ persist: false });
    expect(await next()).toBe(0);
  });

  it.each(["server.mjs", "thread.mjs"])(
    "leaves no workerd behind when %s is killed",
    { tags: "slow" },
    async (program) => {
      const server = start([program]);
      await server.printed(/listens on \d+/);
      const workerds = descendants(server.pid).filter((pid) => commandLineOf(pid).includes("--control-fd="));
      expect(workerds.length).toBeGreaterThan(1);
      await server.stop("SIGKILL");
      await expect.poll(() => workerds.filter(isRunning)).toEqual([]);
    },
  );

  it("has the types of Wrangler's function", () => {
    mkdirSync(join(lab.folder, "node_modules/@types"), { recursive: true });
    symlinkSync(NODE_TYPES, join(lab.folder, "node_modules/@types/node"));
    writeFileSync(
      join(lab.folder, "use.ts"),
      `import { getPlatformProxy } from "sluice";
      interface Env { readonly JOBS: { send(body: string): Promise<unknown> } }
      const { env, dispose } = await getPlatformProxy<Env>({ configPath: "./wrangler.jsonc", persist: true });
      await env.JOBS.send("typed");
      // @ts-expect-error
      await env.JOBS.send(7);
      await dispose();
      `,
    );
    const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
    execFileSync(process.execPath, [TSC, "--ignoreConfig", ...options, "--types", "node", "use.ts"], {
      cwd: lab.folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
  });

  it("explains that another kind of process has the messages, and that Wrangler is too old", {
    tags: "slow",
  }, async () => {
    const serve = start([bin, "serve", "--port", "0"]);
    await serve.printed(/data {4}/);
    const refused = start(["guide.mjs"]);
    expect(await refused.ended).toBe(1);
    expect(refused.output).toMatch(
      /in use by sluice serve \(process \d+\)\. End that first, or choose another folder with persist\./,
    );
    // A line of Node.js's own, and its version: no code and no stack of ours.
    expect(refused.output.length).toBeLessThan(PRINTED_CHARACTERS_MAX);
    expect(refused.output).not.toMatch(/\n {4}at /);
    await serve.stop();

    if (!HAS_OTHERS) return;
    const modules = join(lab.folder, "node_modules");
    rmSync(join(modules, "wrangler"));
    symlinkSync(otherWrangler("4.60.0"), join(modules, "wrangler"));
    const old = start(["guide.mjs"]);
    expect(await old.ended).toBe(1);
    expect(old.output).toMatch(
      /getPlatformProxy needs Wrangler 4\.84\.0 or newer, and \S+ is 4\.60\.0\. Install another/,
    );
  });
});
