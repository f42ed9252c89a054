import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { Changes } from "./changes.ts";
import { NOTIFY_AGAIN_MS, NOTIFY_MS_MAX, Notices } from "./notices.ts";
import { createQueue } from "./queues.ts";
import { Registry } from "./registry.ts";

/** Events of the test, in order. */
let events: string[];
/** Lets `after` end. */
let passTime: () => void;
/** Reaches queues, or rejects. */
let reach: (name: string) => Promise<void>;
/** Asks shards, and resolves to whether a map changes. */
let ask: () => Promise<boolean>;
let registry: Registry;
let changes: Changes;

beforeEach(() => {
  events = [];
  reach = async () => {};
  ask = async () => false;
  let ids = 0;
  registry = new Registry([], {
    save() {},
    erase() {},
    now: () => 1_000,
    newId: () => String(++ids).padStart(32, "0"),
  });
  const notices = new Notices(registry, {
    configure: async (name) => {
      events.push(`tell ${name}`);
      await reach(name);
    },
    clear: async () => 0,
    log: () => {},
    transaction: (write) => write(),
    warn: (line) => events.push(line),
  });
  const other = { hasPending: false, notifyAll: async () => true };
  const asks = { dueInMs: null, ask: () => ask() };
  changes = new Changes(
    registry,
    { notices, others: [other], asks },
    {
      transaction: (write) => {
        events.push("store");
        return write();
      },
      wakeAfter: async (ms) => void events.push(ms === null ? "wake no more" : `wake after ${ms}`),
      after: (ms) => {
        expect(ms).toBe(NOTIFY_MS_MAX);
        return new Promise((resolve) => {
          passTime = resolve;
        });
      },
    },
  );
});

const create = (name: string) => changes.change(() => createQueue(registry, { name }));
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a change of a queue", () => {
  it("is stored, with the alarm for a repeated notice, before the queue is notified, and answered after that", async () => {
    const reply = await create("orders");
    expect(reply.ok).toBe(true);
    await settled();
    expect(events).toEqual(["store", `wake after ${NOTIFY_AGAIN_MS}`, "tell orders", "wake no more"]);
  });

  it("is answered after a while if the queue cannot be reached, which is notified again later", async () => {
    reach = () => new Promise(() => {});
    let reply: DirectoryReply | null = null;
    const changing = create("orders").then((answer) => {
      reply = answer;
    });
    await settled();
    expect(reply).toBeNull();
    passTime();
    await changing;
    expect(reply).toMatchObject({ ok: true });
    expect(events).not.toContain("wake no more");
  });

  it("is repeated by the alarm, even if an earlier round of notices and questions ends after it was made", async () => {
    const answered = Promise.withResolvers<boolean>();
    ask = () => answered.promise;
    await create("orders");
    await settled();
    ask = async () => false;
    reach = () => Promise.reject(new Error("away"));
    await create("events");
    answered.resolve(false);
    await settled();
    expect(events).not.toContain("wake no more");
  });

  it("notifies no queue if it is refused", async () => {
    await create("orders");
    await settled();
    events = [];
    expect(await create("orders")).toMatchObject({ ok: false });
    await settled();
    expect(events).toEqual(["store"]);
  });
});

describe("the start of the directory's object", () => {
  it("applies a deployment once, and goes on notifying", async () => {
    reach = () => Promise.reject(new Error("away"));
    changes.start(false, () => createQueue(registry, { name: "orders" }));
    await settled();
    expect(events.at(-1)).toContain('queue "orders" does not know its change yet');
    events = [];
    reach = async () => {};
    changes.start(true, () => {
      throw new Error("applied again");
    });
    await settled();
    expect(events).toEqual([`wake after ${NOTIFY_AGAIN_MS}`, "tell orders", "wake no more"]);
  });

  it("sets no alarm when every queue is notified", async () => {
    changes.start(true, () => {});
    await settled();
    expect(events).toEqual([]);
  });
});

it("a queue that the directory has lost is taken back from the queue's own copy", async () => {
  await create("orders");
  const copy = { ...(registry.queue("orders")?.record as QueueRecord), name: "lost" };
  const opened = changes.opened("lost", copy);
  expect(opened.status).toEqual({ kind: "known", record: copy });
  expect(opened.directoryLoss).toContain("does not know it any more");
  expect(changes.opened("unknown", null)).toMatchObject({ status: { kind: "absent" }, directoryLoss: null });
});
