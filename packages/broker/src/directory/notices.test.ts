import { beforeEach, expect, it } from "vitest";
import { TestRegistry } from "../../test/registry.ts";
import { Notices } from "./notices.ts";
import { changeQueue, createQueue, deleteQueue } from "./queues.ts";
import { DELETIONS_KEPT_MAX } from "./registry.ts";
import { deletedRow } from "./shards.ts";
import { restoreQueue } from "./status.ts";

/** Queues' objects, and how each call to them ends: at once, unless the test holds it back. */
class Objects {
  readonly calls: string[] = [];
  readonly lines: string[] = [];
  readonly said: string[] = [];
  /** Messages that objects drop. */
  readonly held = new Map<string, number>();
  answer: () => Promise<void> = async () => {};
  running = 0;
  mostRunning = 0;

  notices(registry: TestRegistry): Notices {
    const call = async (text: string) => {
      this.calls.push(text);
      this.running += 1;
      this.mostRunning = Math.max(this.mostRunning, this.running);
      await this.answer().finally(() => {
        this.running -= 1;
      });
    };
    return new Notices(registry, {
      configure: (queue, record) => call(`${queue} waits ${record.definition.deliveryDelaySeconds} s`),
      clear: async ({ name }) => {
        await call(`${name} is empty`);
        return this.held.get(name) ?? 0;
      },
      transaction: (write) => write(),
      log: (line) => this.said.push(line),
      warn: (line) => this.lines.push(line),
    });
  }
}

let registry: TestRegistry;
let objects: Objects;
let notices: Notices;

beforeEach(() => {
  registry = new TestRegistry();
  objects = new Objects();
  notices = objects.notices(registry);
});

function create(name: string): string {
  const reply = createQueue(registry, { name });
  if (!reply.ok) throw new Error(reply.refusal.kind);
  return reply.record.queueId;
}

it("notices notify a queue once of its record, and again of its change", async () => {
  const id = create("orders");
  expect(await notices.notifyAll()).toBe(true);
  expect(await notices.notifyAll()).toBe(true);
  changeQueue(registry, id, { settings: { deliveryDelaySeconds: 5 } });
  await notices.notify("orders");
  expect(objects.calls).toEqual(["orders waits 0 s", "orders waits 5 s"]);
  expect(registry.restarted().pending()).toEqual([]);
});

it("notices are sent again, also after a restart, when they did not arrive", async () => {
  create("orders");
  objects.answer = () => Promise.reject(new Error("no such object"));
  expect(await notices.notifyAll()).toBe(false);
  expect(objects.lines).toEqual([
    'queue "orders" does not know its change yet, and is notified again: Error: no such object',
  ]);
  objects.answer = async () => {};
  const again = registry.restarted();
  expect(await objects.notices(again).notifyAll()).toBe(true);
  expect(objects.calls.length).toBe(2);
});

it("notices notify of a change that is made while they are sent", async () => {
  const id = create("orders");
  const first = Promise.withResolvers<void>();
  objects.answer = () => first.promise;
  const notifying = notices.notifyAll();
  changeQueue(registry, id, { settings: { deliveryDelaySeconds: 5 } });
  const second = notices.notify("orders");
  first.resolve();
  await Promise.all([notifying, second]);
  expect(objects.calls).toEqual(["orders waits 0 s", "orders waits 5 s"]);
  expect(registry.pending()).toEqual([]);
});

it("notices empty a deleted queue's object, and are not sent again when it is empty", async () => {
  const id = create("orders");
  await notices.notifyAll();
  deleteQueue(registry, id);
  objects.answer = () => Promise.reject(new Error("no such object"));
  expect(await notices.notifyAll()).toBe(false);
  expect(registry.row("orders")).toMatchObject({ kind: "deleted" });
  objects.answer = async () => {};
  expect(await notices.notifyAll()).toBe(true);
  expect(objects.calls.slice(1)).toEqual(["orders is empty", "orders is empty"]);
  expect(registry.restarted().pending()).toEqual([]);
});

it("notices let no queue be taken back that was deleted, from what its object had asked before", async () => {
  const id = create("orders");
  const copy = registry.queue("orders")?.record;
  if (copy === undefined) throw new Error("there is no queue");
  deleteQueue(registry, id);
  await notices.notifyAll();
  restoreQueue(registry, copy);
  expect(registry.queue("orders")).toBeUndefined();
  create("orders");
  expect(registry.queue("orders")?.record.emptyAsOf).toBeGreaterThanOrEqual(copy.revision);
});

it("notices forget the oldest of many deletions", async () => {
  for (let i = 0; i <= DELETIONS_KEPT_MAX; i++) {
    deleteQueue(registry, create(`queue-${i}`));
    await notices.notifyAll();
  }
  const isKept = [0, 1, DELETIONS_KEPT_MAX].map((i) => registry.row(`queue-${i}`) !== undefined);
  expect(isKept).toEqual([false, true, true]);
  expect(registry.rows.size).toBe(DELETIONS_KEPT_MAX);
});

it("notices do not forget a queue that is created again while the old one is being emptied", async () => {
  const id = create("orders");
  await notices.notifyAll();
  deleteQueue(registry, id);
  const emptied = Promise.withResolvers<void>();
  objects.answer = () => emptied.promise;
  const notifying = notices.notifyAll();
  const again = create("orders");
  emptied.resolve();
  expect(await notifying).toBe(true);
  expect(objects.calls).toEqual(["orders waits 0 s", "orders is empty", "orders waits 0 s"]);
  expect(registry.queueById(again)?.told).toBe(registry.lastRevision);
});

it("notices notify 20 queues at a time", async () => {
  for (let i = 0; i < 50; i++) create(`q${i}`);
  objects.answer = () => new Promise((resolve) => setImmediate(resolve));
  await notices.notifyAll();
  expect(objects.calls.length).toBe(50);
  expect(objects.mostRunning).toBe(20);
});

it("notices say of a deleted queue how many messages all its shards held, in one line", async () => {
  const reply = createQueue(registry, { name: "orders", settings: { shards: 3 } });
  if (!reply.ok) throw new Error(reply.refusal.kind);
  await notices.notifyAll();
  for (const [name, messages] of [
    ["orders", 4],
    ["orders#1", 0],
    ["orders#2", 11],
  ] as const)
    objects.held.set(name, messages);
  deleteQueue(registry, reply.record.queueId);
  await notices.notifyAll();
  expect(objects.said).toEqual(['Queue "orders" is deleted, with 15 messages']);
});

it("notices say of a shard that goes alone what it held", async () => {
  const reply = createQueue(registry, { name: "orders", settings: { shards: 2 } });
  if (!reply.ok) throw new Error(reply.refusal.kind);
  await notices.notifyAll();
  objects.held.set("orders#1", 1);
  const shard = registry.queue("orders#1");
  if (shard === undefined) throw new Error("there is no shard");
  registry.put(deletedRow(registry, shard.record));
  await notices.notify("orders#1");
  expect(objects.said).toEqual(['Shard 1 of queue "orders" is gone, with 1 message']);
});
