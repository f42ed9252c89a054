import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { DirectoryObject } from "../src/rpc/directory-object.ts";
import { REPORT_AFTER_MS } from "../src/store/watermark.ts";
import { brokersOfTest } from "./brokers-of-test.ts";
import type { BrokerHarness } from "./harness.ts";
import { bodiesOf, consumer } from "./messages.ts";

const brokers = brokersOfTest();

type Queues = Parameters<typeof brokers.start>[0]["queues"];

function start(queues: Queues, members = "", sluiceEnv?: null): Promise<BrokerHarness> {
  return brokers.start({ queues, members, ...(sluiceEnv === null && { sluiceEnv }) });
}

function recordIn(reply: DirectoryReply): QueueRecord {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.record;
}

/** The files in which the directory's object is kept. */
async function directoryFiles(): Promise<string[]> {
  const files = await readdir(brokers.folder, { recursive: true });
  const found = files.filter((file) => /Directory\/[0-9a-f]+\.sqlite/.test(file));
  expect(found).not.toEqual([]);
  return found.map((file) => path.join(brokers.folder, file));
}

const one = consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 });
/** Later than a queue's first report. */
const DUE_SECONDS = REPORT_AFTER_MS / 1_000 + 2;
const NOT_FOUND = { ok: false, code: 10104, cause: 'Queue "orders" does not exist.' };

describe("the directory of a broker", () => {
  it("knows the deployed queues, and those that were created, over restarts", async () => {
    const { directory } = await start({ orders: { deliveryDelaySeconds: 5 } });
    const stub = await directory();
    const created = recordIn(await stub.createQueue({ name: "manual" }));
    const before = await stub.list();
    expect(before.map(({ name }) => name)).toEqual(["manual", "orders"]);
    const again = await (await start({ orders: { deliveryDelaySeconds: 5 } })).directory();
    expect(await again.list()).toEqual(before);
    expect(await again.findById(created.queueId)).toEqual(created);
    expect(await again.findByName("nobody")).toBeNull();
  });

  it("applies what the configuration changes, and keeps what was changed since otherwise", async () => {
    const first = await (await start({ orders: { deliveryDelaySeconds: 5 }, late: {} })).directory();
    const { queueId } = (await first.findByName("orders")) as QueueRecord;
    await first.changeQueue(queueId, { settings: { deliveryDelaySeconds: 60 } });
    const same = await start({ orders: { deliveryDelaySeconds: 5 }, late: {} });
    expect((await (await same.directory()).findById(queueId))?.definition.deliveryDelaySeconds).toBe(60);
    const changed = await start({ orders: { deliveryDelaySeconds: 7 }, late: {} });
    expect((await (await changed.directory()).findById(queueId))?.definition.deliveryDelaySeconds).toBe(7);
  });
});

describe("tokens", () => {
  const secret = (sha256: string) => ({ kind: "bearer" as const, sha256 });

  it("are kept over restarts with what they were rotated to, and without those that were revoked", async () => {
    const stub = await (await start({ orders: {} })).directory();
    const shop = {
      name: "shop",
      scopes: ["send" as const],
      queues: ["orders"],
      expiresAtMs: 5,
      ratePerSecond: 6,
    };
    expect(await stub.createToken({ ...shop, secret: secret("old") })).toMatchObject({ ok: true });
    await stub.createToken({ ...shop, name: "gone", secret: secret("gone") });
    expect(await stub.createToken({ ...shop, secret: secret("other") })).toEqual({
      ok: false,
      refusal: "nameTaken",
    });
    await stub.rotateToken("shop", secret("new"), 60_000);
    await stub.deleteToken("gone");
    const again = await (await start({ orders: {} })).directory();
    const kept = await again.listTokens();
    expect(kept).toMatchObject([{ ...shop, secret: secret("new"), previous: { secret: secret("old") } }]);
    const [{ previous, changedAtMs } = { previous: null, changedAtMs: 0 }] = kept;
    expect(previous?.untilMs).toBe(changedAtMs + 60_000);
  });
});

it("keeps the audit log over restarts, with each configuration that was applied", async () => {
  const stub = await (await start({ orders: {} })).directory();
  await stub.noteAudit({ action: "queue.purge", target: "orders", by: "ops", dialect: "admin" });
  await start({ orders: {} });
  const again = await (await start({ orders: {}, mails: {} })).directory();
  expect(await again.readAudit(10, null)).toMatchObject([
    { id: 3, action: "deploy", target: null, dialect: "configuration" },
    { id: 2, action: "queue.purge", target: "orders", by: "ops" },
    { id: 1, action: "deploy" },
  ]);
  expect(await again.readAudit(10, 3)).toHaveLength(2);
});

describe("a queue that runs", () => {
  it("delivers nothing from the moment it is paused, and its backlog from the moment it is resumed", async () => {
    const { directory, send, queue, seen, until } = await start({ orders: { consumer: one } });
    const stub = await directory();
    const { queueId } = (await stub.findByName("orders")) as QueueRecord;
    await send("orders", ["before"]);
    await until(() => seen.length === 1);
    await stub.changeQueue(queueId, { settings: { deliveryPaused: true } });
    await send("orders", ["a"]);
    await send("orders", ["b"]);
    const object = await queue("orders");
    await object.advanceClock("orders", 3_600_000);
    expect(await object.describe("orders")).toMatchObject({ ready: 2, leased: 0 });
    expect(seen).toHaveLength(1);
    await stub.changeQueue(queueId, { settings: { deliveryPaused: false } });
    await until(() => seen.length === 3);
    expect(bodiesOf(seen)).toEqual([["before"], ["a"], ["b"]]);
  });

  it("goes by a change at once", async () => {
    const { directory, send, queue } = await start({ orders: {} });
    const stub = await directory();
    await send("orders", ["now"]);
    const { queueId } = (await stub.findByName("orders")) as QueueRecord;
    await stub.changeQueue(queueId, { settings: { deliveryDelaySeconds: 3_600 } });
    await send("orders", ["later"]);
    expect(await (await queue("orders")).describe("orders")).toMatchObject({ ready: 1, delayed: 1 });
  });

  it("delivers what waited to a consumer that it is given", async () => {
    const harness = await start({ orders: {} });
    const stub = await harness.directory();
    await harness.send("orders", ["a"]);
    const { queueId } = (await stub.findByName("orders")) as QueueRecord;
    recordIn(await stub.setConsumer(queueId, null, one));
    await harness.until((seen) => seen.length === 1);
    expect(bodiesOf(harness.seen)).toEqual([["a"]]);
  });

  it("keeps its messages when its consumer is taken away, and says when nobody can call the next one", async () => {
    const harness = await start({ orders: { consumer: one } });
    const stub = await harness.directory();
    const { queueId, consumer: identity } = (await stub.findByName("orders")) as QueueRecord;
    recordIn(await stub.removeConsumer(queueId, identity?.consumerId ?? ""));
    await harness.send("orders", ["a"]);
    recordIn(await stub.setConsumer(queueId, null, { ...one, type: "worker", worker: "elsewhere" }));
    await harness.until(() =>
      harness.lines.includes(
        'Queue "orders": its consumer "elsewhere" is not a Worker that this broker was started with; messages wait',
      ),
    );
    expect(await (await harness.queue("orders")).describe("orders")).toMatchObject({ ready: 1 });
    expect(harness.seen).toEqual([]);
  });
});

describe("a queue that is deleted", () => {
  // conformance: deleted-queue
  it("refuses sends, and begins empty when it is created again", async () => {
    const { directory, send, queue } = await start({ orders: {} });
    const stub = await directory();
    await send("orders", ["a", "b"]);
    const { queueId } = (await stub.findByName("orders")) as QueueRecord;
    recordIn(await stub.deleteQueue(queueId));
    expect(Date.now() - Number(await stub.lastDeletion("orders"))).toBeLessThan(60_000);
    expect(await stub.lastDeletion("nobody")).toBeNull();
    expect(await send("orders", ["c"])).toEqual(NOT_FOUND);
    recordIn(await stub.createQueue({ name: "orders" }));
    expect(await (await queue("orders")).describe("orders")).toMatchObject({ ready: 0, damage: [] });
    expect(await send("orders", ["d"])).toMatchObject({ ok: true, metrics: { backlogCount: 1 } });
  });

  it("stays deleted over a restart with the same configuration, and is created again by another one", async () => {
    const queues: Queues = { orders: {} };
    const { directory, send } = await start(queues);
    await send("orders", ["a"]);
    const { queueId } = (await (await directory()).findByName("orders")) as QueueRecord;
    await (await directory()).deleteQueue(queueId);
    expect(await (await start(queues)).send("orders", ["b"])).toEqual(NOT_FOUND);
    const again = await start({ ...queues, more: {} });
    expect(await again.send("orders", ["c"])).toMatchObject({ ok: true, metrics: { backlogCount: 1 } });
    expect((await (await again.queue("orders")).describe("orders")).damage).toEqual([]);
  });

  it("ends the deliveries that run: what they answer reaches nobody", async () => {
    const harness = await start({ orders: { consumer: one } });
    const held = Promise.withResolvers<object>();
    harness.handler = () => held.promise;
    const stub = await harness.directory();
    await harness.send("orders", ["a"]);
    await harness.until((seen) => seen.length === 1);
    const { queueId } = (await stub.findByName("orders")) as QueueRecord;
    recordIn(await stub.deleteQueue(queueId));
    held.resolve({ retryBatch: { retry: true } });
    recordIn(await stub.createQueue({ name: "orders" }));
    expect(await (await harness.queue("orders")).describe("orders")).toMatchObject({ ready: 0, leased: 0 });
    expect(harness.lines.filter((line) => line.includes("could not be settled"))).toEqual([]);
  });

  it("is created again by dead letters that come for it", async () => {
    const harness = await start({
      orders: { consumer: consumer({ ...one.settings, maxRetries: 0, deadLetterQueue: "dead" }) },
      dead: {},
    });
    harness.handler = () => ({ retryBatch: { retry: true } });
    const stub = await harness.directory();
    recordIn(await stub.deleteQueue(((await stub.findByName("dead")) as QueueRecord).queueId));
    await harness.send("orders", ["a"]);
    const dead = await harness.queue("dead");
    await expect.poll(async () => (await dead.describe("dead")).ready).toBe(1);
    expect(await stub.findByName("dead")).not.toBeNull();
  });
});

it("queues that have come to rest are told by the directory, until somebody calls them; deployed over a restart too", async () => {
  const queues: Queues = { orders: { consumer: one }, pulled: {}, later: {}, unused: {} };
  const harness = await start(queues);
  const stub = await harness.directory();
  await harness.send("orders", ["a"]);
  await harness.send("pulled", ["b", "c"]);
  // Its report is made before it is due, and nothing is committed when it is.
  await harness.send("later", ["d"], { delaySeconds: DUE_SECONDS });
  await harness.until((seen) => seen.length === 1);
  const ready = async (directory: DirectoryObject) =>
    (await directory.atRest()).map(({ description }) => [description.queue, description.ready]).sort();
  const expected = [
    ["orders", 0],
    ["pulled", 2],
  ];
  await expect.poll(() => ready(stub)).toEqual(expected);
  // Who looks at the others has them report that they are at rest, once.
  const later = await harness.queue("later");
  await expect.poll(async () => (await later.describe("later")).ready).toBe(1);
  await (await harness.queue("unused")).describe("unused");
  const all = [["later", 1], ...expected, ["unused", 0]];
  await expect.poll(() => ready(stub)).toEqual(all);

  const again = await start(queues);
  const directory = await again.directory();
  // The process that ended had all of them in it: one may have done something since its report.
  expect(await ready(directory)).toEqual([]);
  const deployed = await start(queues, "", null);
  expect(await ready(await deployed.directory())).toEqual(all);
  await deployed.send("pulled", ["e"]);
  expect((await ready(await deployed.directory())).map(([name]) => name)).toEqual([
    "later",
    "orders",
    "unused",
  ]);
});

it("where rows are billed the directory tells of a queue that was asked, until its next commit, and never falsely", async () => {
  const broker = await brokers.start({ queues: { pulled: {} }, sluiceEnv: null });
  const stub = await broker.directory();
  const queue = await broker.queue("pulled");
  const ready = async () => (await stub.atRest()).map(({ description }) => description.ready);
  await broker.send("pulled", ["a"]);
  expect(await ready()).toEqual([]);
  expect((await queue.describe("pulled")).ready).toBe(1);
  await expect.poll(ready).toEqual([1]);
  await broker.send("pulled", ["b"]);
  // The report of that commit is on its way, and has no figures that could grow old.
  await expect.poll(ready).toEqual([]);
  expect((await queue.describe("pulled")).ready).toBe(2);
  await expect.poll(ready).toEqual([2]);
});

describe("a directory that fails", () => {
  it("keeps no queue from going on: each goes by what it last knew", async () => {
    const first = await start({ orders: {} });
    const stub = await first.directory();
    const created = recordIn(await stub.createQueue({ name: "manual" }));
    await stub.changeQueue(created.queueId, { settings: { deliveryDelaySeconds: 3_600 } });
    await first.send("manual", ["a"]);
    await brokers.stop();
    for (const file of await directoryFiles()) await writeFile(file, "this is no database".repeat(1_000));
    const again = await start({ orders: {}, fresh: {} });
    expect(await again.send("manual", ["b"])).toMatchObject({ ok: true });
    expect(await (await again.queue("manual")).describe("manual")).toMatchObject({ delayed: 2 });
    expect(await again.send("fresh", ["c"])).toMatchObject({ ok: true });
  });

  it("keeps queues waiting that only it knows, and says so once for all of them, in a line without a stack", async () => {
    await (await (await start({})).directory()).list();
    await brokers.stop();
    for (const file of await directoryFiles()) await writeFile(file, "this is no database".repeat(1_000));
    const { send, lines } = await start({ fresh: {} });
    const sent = await Promise.all(["a", "b", "c", "d", "fresh"].map((queue) => send(queue, ["x"])));
    expect(sent.map(({ ok }) => ok)).toEqual([false, false, false, false, true]);
    const about = (text: string) => lines.filter((line) => line.includes(text));
    await expect
      .poll(() => about("cannot be opened yet").join("\n"))
      .toMatch(
        /^Queue "\w": it cannot be .*\nQueue "\w" and 2 more queues: it cannot be .*, and other reasons$/,
      );
    expect([about("UnreadableQueueError"), about("a loss of data")]).toEqual([[], []]);
  });

  it("takes back from a queue what it has lost", async () => {
    const first = await start({});
    const created = recordIn(await (await first.directory()).createQueue({ name: "manual" }));
    await first.send("manual", ["a"]);
    await brokers.stop();
    for (const file of await directoryFiles()) await rm(file);
    const again = await start({});
    expect(await again.send("manual", ["b"])).toMatchObject({ ok: true, metrics: { backlogCount: 2 } });
    expect(await (await again.directory()).findByName("manual")).toEqual(created);
    expect(again.lines).toContainEqual(
      expect.stringMatching(/^Queue "manual": the directory has lost data: it does not know it any more/),
    );
  });
});
