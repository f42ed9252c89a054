import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBrokerWorker } from "@sluice/broker-app/testing/broker-worker";
import { type RunWrangler, wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrangler as wranglerAlone } from "./running.ts";

/*
 * Every subcommand of the real `wrangler queues`, with only its API address changed. Loading Wrangler takes a second
 * and a command a tenth of one, so commands share a process, except in the last test.
 */

const ENTRY = `
import { defineBroker } from "@sluice/broker-worker";
const producers = [{ worker: "shop", binding: "ORDERS" }];
const queue = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345600, producers, consumer: null };
const topology = { queues: { orders: queue } };
const { QueueBroker, Directory, handler } = defineBroker({ topology, consumers: { mailer: "CONSUMER" } });
export { Directory, QueueBroker };
export default handler;
`;

let broker: Miniflare;
let api: string;
let folder: string;
let wrangler: RunWrangler;
let dispose: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sluice-wrangler-"));
  const disposeWith = (end: () => Promise<void>) => {
    dispose = end;
  };
  broker = await startBrokerWorker(ENTRY, { SLUICE_ENV: "development" }, { disposeWith });
  api = `${(await broker.ready).origin}/__sluice/client/v4`;
  wrangler = wranglerIn(folder, environment(api));
});

afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true, force: true });
});

/** Variables of a Wrangler that stores its state in the folder. A variable that is `undefined` is not set. */
function environment(apiUrl: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    CI: "1",
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: folder,
    CLOUDFLARE_API_BASE_URL: apiUrl,
    CLOUDFLARE_API_TOKEN: "any-token",
    CLOUDFLARE_ACCOUNT_ID: "any-account",
    ...more,
  };
}

interface Shown {
  readonly queue_id: string;
  readonly modified_on: string;
  readonly settings: object;
  readonly consumers: readonly {
    readonly consumer_id: string;
    readonly type: string;
    readonly settings: object;
  }[];
}

/** Returns a queue as the API shows it; `undefined` if there is none of that name. */
async function shown(name: string): Promise<Shown | undefined> {
  const response = await broker.dispatchFetch(`${api}/accounts/any/queues?name=${name}`);
  const { result } = (await response.json()) as { result: Shown[] };
  return result[0];
}

/** Creates a queue without a run of Wrangler. */
async function create(queue_name: string): Promise<void> {
  const init = { method: "POST", body: JSON.stringify({ queue_name }) };
  expect((await broker.dispatchFetch(`${api}/accounts/any/queues`, init)).status).toBe(200);
}

async function waiting(name: string): Promise<number> {
  const url = `${api}/accounts/any/queues/${(await shown(name))?.queue_id}/metrics`;
  const { result } = (await (await broker.dispatchFetch(url)).json()) as {
    result: { backlog_count: number };
  };
  return result.backlog_count;
}

/** Sends messages without a body, as a producer does; returns how many wait afterwards. */
async function send(queue: string, count: number): Promise<number> {
  const namespace = await broker.getDurableObjectNamespace("SLUICE_QUEUES", "broker");
  const object = namespace.get(namespace.idFromName(queue)) as unknown as {
    send(queue: string, requests: readonly object[]): Promise<{ metrics: { backlogCount: number } }>;
  };
  return (await object.send(queue, [{ packed: new Uint8Array(40 * count) }])).metrics.backlogCount;
}

/** Runs commands one after the other and returns their output; each must end with the exit code. */
async function run(code: number, ...commands: string[]): Promise<string[]> {
  const runs = await Promise.all(commands.map((command) => wrangler(command.split(" "))));
  for (const [i, result] of runs.entries()) expect(result.code, `${commands[i]}\n${result.all}`).toBe(code);
  return runs.map(({ all }) => all);
}

describe("wrangler queues", () => {
  // conformance: api-clients, jurisdiction, wrangler-queues
  it("create, list, info, update, pause-delivery, resume-delivery and delete act on the broker", async () => {
    const [created, info, list] = await run(
      0,
      "queues create full --delivery-delay-secs 5 --message-retention-period-secs 600",
      "queues info orders",
      "queues list",
    );
    expect(created).toContain("Created queue 'full'");
    expect(info).toMatch(/Queue Name: orders\nQueue ID: [0-9a-f]{32}\n/);
    expect(info).toContain("Number of Producers: 1\nProducers: worker:shop\nNumber of Consumers: 0");
    expect(list).toMatch(/│ [0-9a-f]{32} │ orders +│ .*Z │ .*Z │ 1 +│ 0 +│/);
    const before = await shown("full");
    expect(before?.settings).toEqual({
      delivery_delay: 5,
      delivery_paused: false,
      message_retention_period: 600,
    });
    await run(0, "queues create in-eu --jurisdiction eu", "queues update full --delivery-delay-secs 0");
    expect(await shown("in-eu")).toMatchObject({ jurisdiction: "eu" });
    expect((await shown("full"))?.settings).toEqual({ ...before?.settings, delivery_delay: 0 });
    expect(await run(0, "queues pause-delivery full")).toEqual([
      expect.stringContaining("Paused message delivery for queue full."),
    ]);
    expect((await shown("full"))?.settings).toMatchObject({ delivery_paused: true, delivery_delay: 0 });
    expect(await run(0, "queues resume-delivery full")).toEqual([
      expect.stringContaining("Resumed message delivery for queue full."),
    ]);
    expect((await shown("full"))?.settings).toMatchObject({ delivery_paused: false });
    expect(await run(0, "queues delete full", "queues delete in-eu")).toEqual([
      expect.stringContaining("Deleted queue full."),
      expect.stringContaining("Deleted queue in-eu."),
    ]);
    expect(await shown("full")).toBeUndefined();
  });

  // conformance: api-settings-ranges
  it("create and update explain their errors", async () => {
    const [taken, bad, delay, missing] = await run(
      1,
      "queues create orders",
      "queues create Bad_Name",
      "queues create late --delivery-delay-secs 86401",
      "queues info nobody",
    );
    expect(taken).toContain(
      "Queue name 'orders' is already taken. Please use a different name and try again. [code: 11009]",
    );
    expect(bad).toContain(
      "Invalid queue name: invalid queue name: Bad_Name. Must match ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$ [code: 11003]",
    );
    expect(delay).toContain("Must be between 0 and 86400");
    expect(missing).toContain(
      'Queue "nobody" does not exist. To create it, run: wrangler queues create nobody',
    );
  });

  // conformance: wrangler-queues-purge
  it("purge deletes every message", async () => {
    await create("heap");
    expect(await send("heap", 3)).toBe(3);
    const [refused] = await run(1, "queues purge heap");
    expect(refused).toContain("The --force flag is required to purge a Queue in non-interactive mode");
    expect(await run(0, "queues purge heap --force")).toEqual([
      expect.stringContaining("Purged Queue 'heap'"),
    ]);
    expect(await send("heap", 1)).toBe(1);
  });

  // conformance: wrangler-queues-consumer-worker
  it("consumer worker add, list and remove act on the broker", async () => {
    await create("work");
    expect(await send("work", 2)).toBe(2);
    const options =
      "--batch-size 7 --batch-timeout 0 --message-retries 2 --dead-letter-queue work-dead " +
      "--max-concurrency 3 --retry-delay-secs 9";
    const [added] = await run(0, `queues consumer add work mailer ${options}`);
    expect(added).toContain("Added consumer to queue work.");
    expect(await shown("work")).toMatchObject({
      consumers: [
        {
          type: "worker",
          script: "mailer",
          dead_letter_queue: "work-dead",
          settings: {
            batch_size: 7,
            max_retries: 2,
            max_wait_time_ms: 0,
            max_concurrency: 3,
            retry_delay: 9,
          },
        },
      ],
    });
    // Messages that waited are delivered at once, since the broker is bound to that Worker.
    await expect.poll(() => waiting("work")).toBe(0);
    expect(await shown("work-dead")).toBeDefined();
    const [list, json, second, circle, range, nobody] = await Promise.all([
      run(0, "queues consumer list work"),
      run(0, "queues consumer worker list work --json"),
      run(1, "queues consumer worker add work other"),
      run(1, "queues consumer worker add work-dead mailer --dead-letter-queue work"),
      run(1, "queues consumer worker add work-dead mailer --batch-size 101"),
      run(1, "queues consumer worker remove work other"),
    ]);
    expect(list[0]).toMatch(/│ mailer │ work-dead +│ 7 +│ 2 +│ 0 +│ 3 +│ 9 +│/);
    expect(JSON.parse(json[0] ?? "")).toEqual((await shown("work"))?.consumers);
    expect(second[0]).toMatch(
      /Queue 'work' \(UUID '[0-9a-f]{32}'\) already has a consumer\. \[code: 11004\]/,
    );
    expect(circle[0]).toContain(
      "Dead letters would go in a circle: 'work-dead' -> 'work' -> 'work-dead'. [code: 100127]",
    );
    expect(range[0]).toContain('Must be a whole number from 1 to 100 at "batch_size". [code: 100127]');
    expect(nobody[0]).toContain("No worker consumer 'other' exists for queue work");
    const [removed] = await run(0, "queues consumer worker remove work mailer");
    expect(removed).toContain("Removed consumer from queue work.");
    expect((await shown("work"))?.consumers).toEqual([]);
    expect(await send("work", 1)).toBe(1);
  });

  // conformance: wrangler-queues-consumer-http
  it("consumer http add, list and remove act on the broker", async () => {
    await create("pulled");
    const options = "--batch-size 8 --message-retries 4 --visibility-timeout-secs 60 --retry-delay-secs 7";
    await run(0, `queues consumer http add pulled ${options} --dead-letter-queue pulled-dead`);
    expect((await shown("pulled"))?.consumers).toEqual([
      {
        consumer_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        created_on: expect.any(String),
        queue_name: "pulled",
        type: "http_pull",
        dead_letter_queue: "pulled-dead",
        settings: { batch_size: 8, max_retries: 4, visibility_timeout_ms: 60_000, retry_delay: 7 },
      },
    ]);
    const [list, info] = await run(0, "queues consumer http list pulled", "queues info pulled");
    expect(list).toMatch(/│ pulled-dead +│ 8 +│ 4 +│ 60000 +│ 7 +│/);
    expect(info).toContain("Consumers: HTTP Pull Consumer.");
    await run(0, "queues consumer http remove pulled");
    expect((await shown("pulled"))?.consumers).toEqual([]);
    expect(await run(1, "queues consumer http remove pulled")).toEqual([
      expect.stringContaining("No http_pull consumer exists for queue pulled"),
    ]);
  });

  // conformance: wrangler-queues-subscription
  it("subscription create, list, get, update and delete act on the broker", async () => {
    const source = "--source workersBuilds.worker --worker-name shop";
    const [created] = await run(0, `queues subscription create orders ${source} --events build.failed`);
    const [, id = ""] = /with id '([0-9a-f]{32})'/.exec(created ?? "") ?? [];
    expect(created).toContain("Successfully created event subscription 'orders workersBuilds.worker'");
    await run(0, `queues subscription update orders --id ${id} --name builds --enabled false`);
    const [list, got, twice, unknown, elsewhere] = await Promise.all([
      run(0, "queues subscription list orders --json"),
      run(0, `queues subscription get orders --id ${id} --json`),
      run(1, `queues subscription create orders ${source} --events build.started`),
      run(1, "queues subscription create orders --source kv --events bucket.created"),
      run(1, `queues subscription get heap --id ${id}`),
    ]);
    const subscription = {
      id,
      name: "builds",
      enabled: false,
      created_at: expect.any(String),
      modified_at: expect.any(String),
      source: { type: "workersBuilds.worker", worker_name: "shop" },
      destination: { type: "queues.queue", queue_id: (await shown("orders"))?.queue_id },
      events: ["build.failed"],
    };
    expect(JSON.parse(list[0] ?? "")).toEqual([subscription]);
    expect(JSON.parse(got[0] ?? "")).toEqual(subscription);
    expect(twice[0]).toContain("There is a subscription for this source already.");
    expect(unknown[0]).toContain('Unrecognized event types for source "kv": bucket.created.');
    expect(elsewhere[0]).toContain(`Subscription '${id}' does not belong to queue 'heap'.`);
    await run(0, `queues subscription delete orders --id ${id} --force`);
    expect(await run(1, `queues subscription get orders --id ${id}`)).toEqual([
      expect.stringContaining("There is no subscription with this id."),
    ]);
  });
});

// conformance: wrangler-queues-subscription
it("subscription create takes the sources and events of production", async () => {
  const create = "queues subscription create orders --source";
  await run(
    0,
    `${create} browserRun --events crawl.started,crawl.updated,crawl.finished`,
    `${create} artifacts --events repo.created,repo.imported`,
    `${create} email.sending --zone-id z1 --domain shop.example --events message.bounced`,
  );
  const [refused] = await run(1, `${create} browserRun --events crawl.paused`);
  expect(refused).toContain('Unrecognized event types for source "browserRun": crawl.paused.');
});

describe("wrangler with the broker's API", () => {
  // conformance: wrangler-deploy
  it("deploys consumers with triggers deploy, and says at deploy that it cannot upload Workers", async () => {
    const project = path.join(folder, "project");
    await mkdir(project);
    await writeFile(path.join(project, "index.js"), "export default { async queue() {} };");
    await writeFile(
      path.join(project, "wrangler.toml"),
      [
        'name = "mailer"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\nworkers_dev = false',
        '[[queues.producers]]\nbinding = "ORDERS"\nqueue = "orders"',
        '[[queues.consumers]]\nqueue = "orders"\nmax_batch_size = 3\ndead_letter_queue = "orders-dead"',
      ].join("\n"),
    );
    const there = wranglerIn(project, environment(api));
    const first = await there(["triggers", "deploy"]);
    expect(first.code, first.all).toBe(0);
    expect(first.all).toContain("Consumer for orders");
    const [consumer] = (await shown("orders"))?.consumers ?? [];
    expect(consumer).toMatchObject({ script: "mailer", settings: { batch_size: 3 } });
    expect(await shown("orders-dead")).toBeDefined();
    const [again, dryRun, deploy] = await Promise.all([
      there(["triggers", "deploy"]),
      there(["deploy", "--dry-run"]),
      there(["deploy"]),
    ]);
    expect(again.code, again.all).toBe(0);
    expect((await shown("orders"))?.consumers).toMatchObject([{ consumer_id: consumer?.consumer_id }]);
    expect(dryRun.code, dryRun.all).toBe(0);
    expect(deploy.code).toBe(1);
    expect(deploy.all).toContain("this broker keeps queues, Workers cannot be uploaded to it");
    expect(deploy.all).toContain("[code: 7003]");
  });

  // conformance: api-identity
  it("finds the account by itself, and needs the token of a broker that has one", {
    tags: "slow",
  }, async () => {
    const alone = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
      const running = wranglerAlone(args, folder, env);
      return { code: await running.ended, output: running.output };
    };
    const [who, list] = await Promise.all([
      alone(["whoami"], environment(api)),
      alone(["queues", "list"], environment(api, { CLOUDFLARE_ACCOUNT_ID: undefined })),
    ]);
    expect(who.output).toMatch(/│ Sluice +│ [0-9a-f]{32} │/);
    expect(list.output).toContain("│ orders");
    const guarded = await startBrokerWorker(ENTRY, { SLUICE_API_TOKENS: "secret" });
    const guardedApi = `${(await guarded.ready).origin}/__sluice/client/v4`;
    const [wrong, right] = await Promise.all([
      alone(["queues", "list"], environment(guardedApi)),
      alone(["queues", "list"], environment(guardedApi, { CLOUDFLARE_API_TOKEN: "secret" })),
    ]);
    expect(wrong.code).toBe(1);
    expect(wrong.output).toContain("Authentication error [code: 10000]");
    expect(right.output).toContain("│ orders");
  });
});
