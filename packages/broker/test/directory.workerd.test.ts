import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { DirectoryObject } from "../src/rpc/directory-object.ts";
import { REPORT_AFTER_MS } from "../src/store/watermark.ts";
import { brokersOfTest } from "./brokers-of-test.ts";
import { Lives, livesOfFile, seenOf } from "./lives.ts";
import { bodiesOf, consumer } from "./messages.ts";

const brokers = brokersOfTest();

type Queues = Parameters<typeof brokers.start>[0]["queues"];

const one = consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 });
const configured: Queues = { slow: { deliveryDelaySeconds: 5 }, gone: {}, shop: {} };
/** Two lives by one configuration, and one by another. */
const lives = new Lives(
  { queues: configured },
  { queues: configured },
  { queues: { ...configured, slow: { deliveryDelaySeconds: 7 }, more: {} } },
);
/** One life of queues that change while they run. */
const life = new Lives({
  queues: {
    paused: { consumer: one },
    changed: {},
    given: {},
    taken: { consumer: one },
    refusing: {},
    held: { consumer: one },
    dying: { consumer: consumer({ ...one.settings, maxRetries: 0, deadLetterQueue: "dead" }) },
    dead: {},
  },
  handler: ({ queue }) => (queue === "held" ? held.promise : queue === "dying" ? RETRY : {}),
});
const RETRY = { retryBatch: { retry: true } } as const;
const held = Promise.withResolvers<object>();
/** Two lives between which the directory's file is damaged, or gone. */
const damaged = new Lives({ queues: {} }, { queues: { fresh: {}, new: {} } });
damaged.between = async (folder) => {
  for (const file of await directoryFiles(folder)) await writeFile(file, "this is no database".repeat(1_000));
};
const lost = new Lives({ queues: {} }, { queues: {} });
lost.between = async (folder) => {
  for (const file of await directoryFiles(folder)) await rm(file);
};
livesOfFile([lives, life, damaged, lost]);

/** The files in which the directory's object is kept. */
async function directoryFiles(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  const found = files.filter((file) => /Directory\/[0-9a-f]+\.sqlite/.test(file));
  expect(found).not.toEqual([]);
  return found.map((file) => path.join(folder, file));
}

function recordIn(reply: DirectoryReply): QueueRecord {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.record;
}

/** Later than a queue's first report, whose timer runs faster here. */
const DUE_SECONDS = 2;
const TIMER_SPEED = REPORT_AFTER_MS / 250;
const notFound = (queue: string) => ({ ok: false, code: 10104, cause: `Queue "${queue}" does not exist.` });
const idOf = async (stub: DirectoryObject, queue: string) =>
  ((await stub.findByName(queue)) as QueueRecord).queueId;

describe("the directory of a broker", () => {
  let created: QueueRecord;
  let before: readonly QueueRecord[];

  it(
    "knows the deployed queues, and those that were created, over restarts",
    lives.last(
      async ({ directory }) => {
        const stub = await directory();
        created = recordIn(await stub.createQueue({ name: "manual" }));
        before = await stub.list();
        expect(before.map(({ name }) => name)).toEqual(["manual", "shop", "slow"]);
      },
      async ({ directory }) => {
        const again = await directory();
        expect(await again.list()).toEqual(before);
        expect(await again.findById(created.queueId)).toEqual(created);
        expect(await again.findByName("nobody")).toBeNull();
      },
    ),
  );

  it(
    "applies what the configuration changes, and keeps what was changed since otherwise",
    lives.of(
      async ({ directory }) => {
        const stub = await directory();
        await stub.changeQueue(await idOf(stub, "slow"), { settings: { deliveryDelaySeconds: 60 } });
      },
      async ({ directory }) => {
        const same = await (await directory()).findByName("slow");
        expect(same?.definition.deliveryDelaySeconds).toBe(60);
      },
      async ({ directory }) => {
        const changed = await (await directory()).findByName("slow");
        expect(changed?.definition.deliveryDelaySeconds).toBe(7);
      },
    ),
  );
});

describe("tokens", () => {
  const secret = (sha256: string) => ({ kind: "bearer" as const, sha256 });
  const shop = {
    name: "shop",
    scopes: ["send" as const],
    queues: ["orders"],
    expiresAtMs: 5,
    ratePerSecond: 6,
  };

  it(
    "are kept over restarts with what they were rotated to, and without those that were revoked",
    lives.of(
      async ({ directory }) => {
        const stub = await directory();
        expect(await stub.createToken({ ...shop, secret: secret("old") })).toMatchObject({ ok: true });
        await stub.createToken({ ...shop, name: "gone", secret: secret("gone") });
        expect(await stub.createToken({ ...shop, secret: secret("other") })).toEqual({
          ok: false,
          refusal: "nameTaken",
        });
        await stub.rotateToken("shop", secret("new"), 60_000);
        await stub.deleteToken("gone");
      },
      async ({ directory }) => {
        const kept = await (await directory()).listTokens();
        expect(kept).toMatchObject([{ ...shop, secret: secret("new"), previous: { secret: secret("old") } }]);
        const [{ previous, changedAtMs } = { previous: null, changedAtMs: 0 }] = kept;
        expect(previous?.untilMs).toBe(changedAtMs + 60_000);
      },
    ),
  );
});

it(
  "keeps the audit log over restarts, with each configuration that was applied",
  lives.of(
    async ({ directory }) => {
      const stub = await directory();
      await stub.noteAudit({ action: "queue.purge", target: "orders", by: "ops", dialect: "admin" });
    },
    async () => {},
    async ({ directory }) => {
      const again = await directory();
      expect(await again.readAudit(10, null)).toMatchObject([
        { id: 3, action: "deploy", target: null, dialect: "configuration" },
        { id: 2, action: "queue.purge", target: "orders", by: "ops" },
        { id: 1, action: "deploy" },
      ]);
      expect(await again.readAudit(10, 3)).toHaveLength(2);
    },
  ),
);

describe("a queue that runs", () => {
  it(
    "delivers nothing from the moment it is paused, and its backlog from the moment it is resumed",
    life.of(async ({ directory, send, queue, seen, until }) => {
      const stub = await directory();
      const queueId = await idOf(stub, "paused");
      const own = () => seenOf(seen, "paused");
      await send("paused", ["before"]);
      await until(() => own().length === 1);
      await stub.changeQueue(queueId, { settings: { deliveryPaused: true } });
      await send("paused", ["a"]);
      await send("paused", ["b"]);
      const object = await queue("paused");
      await object.advanceClock("paused", 3_600_000);
      expect(await object.describe("paused")).toMatchObject({ ready: 2, leased: 0 });
      expect(own()).toHaveLength(1);
      await stub.changeQueue(queueId, { settings: { deliveryPaused: false } });
      await until(() => own().length === 3);
      expect(bodiesOf(own())).toEqual([["before"], ["a"], ["b"]]);
    }),
  );

  it(
    "goes by a change at once",
    life.of(async ({ directory, send, queue }) => {
      const stub = await directory();
      await send("changed", ["now"]);
      await stub.changeQueue(await idOf(stub, "changed"), { settings: { deliveryDelaySeconds: 3_600 } });
      await send("changed", ["later"]);
      expect(await (await queue("changed")).describe("changed")).toMatchObject({ ready: 1, delayed: 1 });
    }),
  );

  it(
    "delivers what waited to a consumer that it is given",
    life.of(async ({ directory, send, until, seen }) => {
      const stub = await directory();
      await send("given", ["a"]);
      recordIn(await stub.setConsumer(await idOf(stub, "given"), null, one));
      await until(() => seenOf(seen, "given").length === 1);
      expect(bodiesOf(seenOf(seen, "given"))).toEqual([["a"]]);
    }),
  );

  it(
    "keeps its messages when its consumer is taken away, and says when nobody can call the next one",
    life.of(async ({ directory, send, queue, until, lines, seen }) => {
      const stub = await directory();
      const { queueId, consumer: identity } = (await stub.findByName("taken")) as QueueRecord;
      recordIn(await stub.removeConsumer(queueId, identity?.consumerId ?? ""));
      await send("taken", ["a"]);
      recordIn(await stub.setConsumer(queueId, null, { ...one, type: "worker", worker: "elsewhere" }));
      await until(() =>
        lines.includes(
          'Queue "taken": its consumer "elsewhere" is not a Worker that this broker was started with; messages wait',
        ),
      );
      expect(await (await queue("taken")).describe("taken")).toMatchObject({ ready: 1 });
      expect(seenOf(seen, "taken")).toEqual([]);
    }),
  );
});

describe("a queue that is deleted", () => {
  it(
    // conformance: deleted-queue
    "refuses sends, and begins empty when it is created again",
    life.of(async ({ directory, send, queue }) => {
      const stub = await directory();
      await send("refusing", ["a", "b"]);
      recordIn(await stub.deleteQueue(await idOf(stub, "refusing")));
      expect(Date.now() - Number(await stub.lastDeletion("refusing"))).toBeLessThan(60_000);
      expect(await stub.lastDeletion("nobody")).toBeNull();
      expect(await send("refusing", ["c"])).toEqual(notFound("refusing"));
      recordIn(await stub.createQueue({ name: "refusing" }));
      const object = await queue("refusing");
      expect(await object.describe("refusing")).toMatchObject({ ready: 0, damage: [] });
      expect(await send("refusing", ["d"])).toMatchObject({ ok: true, metrics: { backlogCount: 1 } });
    }),
  );

  it(
    "stays deleted over a restart with the same configuration, and is created again by another one",
    lives.of(
      async ({ directory, send }) => {
        const stub = await directory();
        await send("gone", ["a"]);
        await stub.deleteQueue(await idOf(stub, "gone"));
      },
      async ({ send, lines }) => {
        expect(await send("gone", ["b"])).toEqual(notFound("gone"));
        const told = lines.filter((line) => line.includes('queue "gone" is deleted, though'));
        expect(told).toEqual([expect.stringContaining('"sluice queues create gone" brings it back')]);
      },
      async ({ send, queue }) => {
        expect(await send("gone", ["c"])).toMatchObject({ ok: true, metrics: { backlogCount: 1 } });
        expect((await (await queue("gone")).describe("gone")).damage).toEqual([]);
      },
    ),
  );

  it(
    "ends the deliveries that run: what they answer reaches nobody",
    life.of(async ({ directory, send, queue, until, seen, lines }) => {
      const stub = await directory();
      await send("held", ["a"]);
      await until(() => seenOf(seen, "held").length === 1);
      recordIn(await stub.deleteQueue(await idOf(stub, "held")));
      held.resolve(RETRY);
      recordIn(await stub.createQueue({ name: "held" }));
      expect(await (await queue("held")).describe("held")).toMatchObject({ ready: 0, leased: 0 });
      expect(lines.filter((line) => line.includes("could not be settled"))).toEqual([]);
    }),
  );

  it(
    "is created again by dead letters that come for it",
    life.of(async ({ directory, send, queue }) => {
      const stub = await directory();
      recordIn(await stub.deleteQueue(await idOf(stub, "dead")));
      await send("dying", ["a"]);
      const dead = await queue("dead");
      await expect.poll(async () => (await dead.describe("dead")).ready).toBe(1);
      expect(await stub.findByName("dead")).not.toBeNull();
    }),
  );
});

it("queues that have come to rest are told by the directory, until somebody calls them; deployed over a restart too", async () => {
  const queues: Queues = { orders: { consumer: one }, pulled: {}, later: {}, unused: {} };
  const harness = await brokers.start({ queues, timerSpeed: TIMER_SPEED });
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

  const again = await brokers.start({ queues });
  const directory = await again.directory();
  // The process that ended had all of them in it: one may have done something since its report.
  expect(await ready(directory)).toEqual([]);
  const deployed = await brokers.start({ queues, sluiceEnv: null });
  // An alarm that was left of the delivery may have woken "orders" by now.
  const others = async () => (await ready(await deployed.directory())).filter(([name]) => name !== "orders");
  expect(await others()).toEqual(all.filter(([name]) => name !== "orders"));
  await deployed.send("pulled", ["e"]);
  expect((await others()).map(([name]) => name)).toEqual(["later", "unused"]);
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
  let created: QueueRecord;

  it(
    "keeps no queue from going on: each goes by what it last knew",
    damaged.of(
      async ({ directory, send }) => {
        const stub = await directory();
        const { queueId } = recordIn(await stub.createQueue({ name: "manual" }));
        await stub.changeQueue(queueId, { settings: { deliveryDelaySeconds: 3_600 } });
        await send("manual", ["a"]);
      },
      async ({ send, queue }) => {
        expect(await send("manual", ["b"])).toMatchObject({ ok: true });
        expect(await (await queue("manual")).describe("manual")).toMatchObject({ delayed: 2 });
        expect(await send("new", ["c"])).toMatchObject({ ok: true });
      },
    ),
  );

  it(
    "keeps queues waiting that only it knows, and says so once for all of them, in a line without a stack",
    damaged.of(
      async ({ directory }) => void (await (await directory()).list()),
      async ({ send, lines }) => {
        const sent = await Promise.all(["a", "b", "c", "d", "fresh"].map((queue) => send(queue, ["x"])));
        expect(sent.map(({ ok }) => ok)).toEqual([false, false, false, false, true]);
        const about = (text: string) =>
          lines.filter((line) => line.includes(text) && !/^Queue "(manual|new)"/.test(line));
        await expect
          .poll(() => about("cannot be opened yet").join("\n"))
          .toMatch(
            /^Queue "\w": it cannot be .*\nQueue "\w" and 2 more queues: it cannot be .*, and other reasons$/,
          );
        expect([about("UnreadableQueueError"), about("a loss of data")]).toEqual([[], []]);
      },
    ),
  );

  it(
    "takes back from a queue what it has lost",
    lost.of(
      async ({ directory, send }) => {
        created = recordIn(await (await directory()).createQueue({ name: "manual" }));
        await send("manual", ["a"]);
      },
      async ({ directory, send, lines }) => {
        expect(await send("manual", ["b"])).toMatchObject({ ok: true, metrics: { backlogCount: 2 } });
        expect(await (await directory()).findByName("manual")).toEqual(created);
        expect(lines).toContainEqual(
          expect.stringMatching(/^Queue "manual": the directory has lost data: it does not know it any more/),
        );
      },
    ),
  );
});
