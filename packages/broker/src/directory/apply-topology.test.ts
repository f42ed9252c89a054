import { ALERTS_QUEUE, type QueueDefinition, type QueueTopology } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { consumer, definition, pullConsumer } from "../../test/messages.ts";
import { TestRegistry } from "../../test/registry.ts";
import { applyTopology } from "./apply-topology.ts";
import { createWithConsumer, removeConsumer, setConsumer } from "./consumers.ts";
import { changeQueue, createQueue, deleteQueue, ensureQueue } from "./queues.ts";

let registry: TestRegistry;
let lines: string[];

beforeEach(() => {
  registry = new TestRegistry();
  lines = [];
});

/** A deployment of these queues, after a restart, a second later. */
function deploy(queues: Record<string, Partial<QueueDefinition>>): void {
  const configured = Object.fromEntries(
    Object.entries(queues).map(([name, changes]) => [name, definition(changes)] as const),
  );
  registry = registry.restarted(configured);
  registry.time.nowMs += 1_000;
  applyTopology(registry, { queues: configured }, (line) => lines.push(line));
}

function record(name: string) {
  const row = registry.queue(name);
  if (row === undefined) throw new Error(`there is no queue ${name}`);
  return row.record;
}

const PULL = pullConsumer({ maxBatchSize: 10 });
const MAILER = consumer({ maxRetries: 2 });

describe("a queue that the configuration names", () => {
  it("is created as the configuration says", () => {
    const producers = [{ worker: "shop", binding: "ORDERS" }];
    deploy({ orders: { deliveryDelaySeconds: 5, producers, consumer: MAILER } });
    expect(record("orders")).toMatchObject({
      name: "orders",
      definition: { deliveryDelaySeconds: 5, messageRetentionSeconds: 345_600, producers, consumer: MAILER },
      jurisdiction: null,
    });
    expect(record("orders").queueId).toMatch(/^[0-9a-f]{32}$/);
    expect(record("orders").consumer?.consumerId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("is not touched by a deployment that says nothing new", () => {
    deploy({ orders: { consumer: MAILER } });
    const before = record("orders");
    deploy({ orders: { consumer: MAILER } });
    expect(record("orders")).toEqual(before);
  });

  it("keeps its id when the configuration changes it", () => {
    deploy({ orders: {} });
    const { queueId, createdOnMs, modifiedOnMs, revision } = record("orders");
    deploy({ orders: { deliveryDelaySeconds: 7 } });
    expect(record("orders")).toMatchObject({ queueId, createdOnMs, definition: { deliveryDelaySeconds: 7 } });
    expect(record("orders").modifiedOnMs).toBeGreaterThan(modifiedOnMs);
    expect(record("orders").revision).toBeGreaterThan(revision);
  });

  it("is created again by the next deployment after it was deleted", () => {
    deploy({ orders: {} });
    const { queueId, revision } = record("orders");
    deleteQueue(registry, queueId);
    deploy({ orders: {} });
    expect(record("orders").queueId).not.toBe(queueId);
    expect(record("orders").emptyAsOf).toBeGreaterThan(revision);
  });
});

describe("a queue of the configuration that was deleted and is created again over an API", () => {
  const producers = [{ worker: "shop", binding: "ORDERS" }];
  const ORDERS = { deliveryDelaySeconds: 5, producers, consumer: MAILER };
  const remove = () => deleteQueue(registry, record("orders").queueId);

  it("is as the configuration says, with its consumer", () => {
    deploy({ orders: ORDERS });
    remove();
    expect(registry.deletedOfConfiguration).toEqual(["orders"]);
    createWithConsumer(registry, { name: "orders" });
    expect(registry.deletedOfConfiguration).toEqual([]);
    expect(record("orders")).toMatchObject({
      definition: ORDERS,
      consumer: { consumerId: expect.any(String) },
    });
    const { revision } = record("orders");
    deploy({ orders: ORDERS });
    expect(record("orders").revision).toBe(revision);
    deploy({ orders: { ...ORDERS, deliveryDelaySeconds: 6 } });
    expect(record("orders").definition).toMatchObject({ deliveryDelaySeconds: 6, consumer: MAILER });
  });

  it("has the settings and the consumer that are given", () => {
    deploy({ orders: ORDERS });
    for (const consumer of [PULL, null]) {
      remove();
      createWithConsumer(registry, { name: "orders", settings: { deliveryDelaySeconds: 60 }, consumer });
      expect(record("orders")).toMatchObject({
        definition: { deliveryDelaySeconds: 60, producers, consumer },
        consumer: consumer && { consumerId: expect.any(String) },
      });
    }
    deploy({ orders: ORDERS });
    expect(record("orders").definition.deliveryDelaySeconds).toBe(60);
  });

  it("keeps what the settings that are given do not name, as those of SQS", () => {
    const fifo = { deduplicationScope: "messageGroup" } as const;
    deploy({ "orders.fifo": { fifo, shards: 4, receive: { waitMs: 5_000 } } });
    deleteQueue(registry, record("orders.fifo").queueId);
    const settings = { receive: { visibilityTimeoutMs: 60_000 }, fifo: {} };
    expect(createWithConsumer(registry, { name: "orders.fifo", settings })).toMatchObject({ ok: true });
    expect(record("orders.fifo").definition).toMatchObject({
      fifo,
      shards: 4,
      receive: { waitMs: 5_000, visibilityTimeoutMs: 60_000 },
    });
  });

  it("is as the configuration says where dead letters create it", () => {
    const fifo = { deduplicationScope: "messageGroup" } as const;
    deploy({ "dead.fifo": { fifo, consumer: MAILER } });
    deleteQueue(registry, record("dead.fifo").queueId);
    ensureQueue(registry, "dead.fifo", null);
    expect(record("dead.fifo").definition).toMatchObject({ fifo, consumer: MAILER });
  });
});

it("a queue is shown with whether the configuration names it", () => {
  deploy({ orders: {} });
  createQueue(registry, { name: "other" });
  expect(registry.list().map(({ name, isConfigured }) => [name, isConfigured])).toEqual([
    ["orders", true],
    ["other", undefined],
  ]);
});

// conformance: latest-change-wins
describe("the most recent change applies", () => {
  it("keeps what an API changed while the configuration says the same as before", () => {
    deploy({ orders: { deliveryDelaySeconds: 5 } });
    changeQueue(registry, record("orders").queueId, { settings: { deliveryDelaySeconds: 60 } });
    deploy({ orders: { deliveryDelaySeconds: 5 } });
    expect(record("orders").definition.deliveryDelaySeconds).toBe(60);
  });

  it("lets a configuration that says something new win", () => {
    deploy({ orders: { deliveryDelaySeconds: 5 } });
    changeQueue(registry, record("orders").queueId, { settings: { deliveryDelaySeconds: 60 } });
    deploy({ orders: { deliveryDelaySeconds: 6 } });
    expect(record("orders").definition.deliveryDelaySeconds).toBe(6);
  });

  it("changes only the settings that the configuration changes", () => {
    deploy({ orders: { deliveryDelaySeconds: 5 } });
    const settings = { messageRetentionSeconds: 600, deliveryPaused: true };
    changeQueue(registry, record("orders").queueId, { settings });
    deploy({ orders: { deliveryDelaySeconds: 6 } });
    expect(record("orders").definition).toMatchObject({ deliveryDelaySeconds: 6, ...settings });
  });

  it("takes a setting back that the configuration no longer names", () => {
    deploy({ orders: { deliveryDelaySeconds: 5 } });
    deploy({ orders: {} });
    expect(record("orders").definition.deliveryDelaySeconds).toBe(0);
  });

  it("lets a configuration that says nothing of a queue's settings leave those of an API", () => {
    createQueue(registry, { name: "orders", settings: { deliveryDelaySeconds: 60 } });
    deploy({ orders: { consumer: MAILER } });
    expect(record("orders").definition).toMatchObject({ deliveryDelaySeconds: 60, consumer: MAILER });
  });

  it("applies to settings that only a later release or a dialect knows", () => {
    const named = (extra: object) => ({ orders: extra as Partial<QueueDefinition> });
    deploy(named({ tiers: { number: 1 } }));
    deploy(named({ tiers: { number: 2 } }));
    expect(record("orders").definition).toMatchObject({ tiers: { number: 2 } });
    deploy(named({}));
    expect(record("orders").definition).not.toHaveProperty("tiers");
  });

  it("applies to each of the settings that receivers find by itself", () => {
    deploy({ orders: { receive: { visibilityTimeoutMs: 1_000, waitMs: 1_000 } } });
    const receive = { visibilityTimeoutMs: 9_000, waitMs: 1_000, redrive: null };
    changeQueue(registry, record("orders").queueId, { settings: { receive } });
    deploy({ orders: { receive: { visibilityTimeoutMs: 1_000, waitMs: 2_000 } } });
    expect(record("orders").definition.receive).toEqual({ ...receive, waitMs: 2_000 });
    deploy({ orders: {} });
    expect(record("orders").definition.receive).toEqual({ redrive: null });
  });

  it("leaves a FIFO queue one, with what an API has set, when the configuration begins or ends to name it", () => {
    const fifo = { deduplicationScope: "messageGroup", contentBasedDeduplication: true } as const;
    createQueue(registry, { name: "orders.fifo", settings: { fifo } });
    deploy({ "orders.fifo": { fifo: {} } });
    expect(record("orders.fifo").definition.fifo).toEqual(fifo);
    expect(lines).toEqual([]);
    deploy({ "orders.fifo": { fifo: { deduplicationScope: "queue", contentBasedDeduplication: false } } });
    expect(record("orders.fifo").definition.fifo).toEqual({ ...fifo, contentBasedDeduplication: false });
    expect(lines).toEqual([
      'queue "orders.fifo": its deduplication_scope stays "messageGroup", it is fixed when a queue is created',
    ]);
    deploy({});
    expect(record("orders.fifo").definition.fifo).toEqual({ deduplicationScope: "messageGroup" });
  });

  it("keeps a consumer's settings that an API changed", () => {
    deploy({ orders: { consumer: MAILER } });
    const { queueId, consumer: identity } = record("orders");
    const changed = consumer({ maxRetries: 9 });
    setConsumer(registry, queueId, identity?.consumerId ?? null, changed);
    deploy({ orders: { consumer: MAILER } });
    expect(record("orders")).toMatchObject({ definition: { consumer: changed }, consumer: identity });
  });

  it("keeps a consumer away that an API removed", () => {
    deploy({ orders: { consumer: MAILER } });
    const { queueId, consumer: identity } = record("orders");
    removeConsumer(registry, queueId, identity?.consumerId ?? "");
    deploy({ orders: { consumer: MAILER } });
    expect(record("orders")).toMatchObject({ definition: { consumer: null }, consumer: null });
  });

  it("gives a consumer of a new configuration an id of its own when it is another Worker", () => {
    deploy({ orders: { consumer: MAILER } });
    const first = record("orders").consumer;
    deploy({ orders: { consumer: consumer({ maxRetries: 8 }) } });
    expect(record("orders").consumer).toEqual(first);
    deploy({ orders: { consumer: { ...MAILER, type: "worker", worker: "other" } } });
    expect(record("orders").consumer?.consumerId).not.toBe(first?.consumerId);
  });
});

describe("what disappears from the configuration", () => {
  it("is not deleted: the queue stays without producers", () => {
    deploy({ orders: { producers: [{ worker: "shop", binding: "ORDERS" }] } });
    const { queueId } = record("orders");
    deploy({});
    expect(record("orders")).toMatchObject({ queueId, definition: { producers: [] } });
  });

  it.each([
    ["the queue is still named", { orders: {} }],
    ["nothing names the queue", {}],
  ])("leaves the queue without the Worker that cannot be called any more: %s", (_what, next) => {
    deploy({ orders: { consumer: MAILER } });
    deploy(next);
    expect(record("orders")).toMatchObject({ definition: { consumer: null }, consumer: null });
    expect(lines).toEqual([
      'queue "orders": no configuration names its consumer any more; it is gone, messages wait',
    ]);
  });

  it("does not take a consumer away that was put in its place since", () => {
    deploy({ orders: { consumer: MAILER } });
    const { queueId, consumer: identity } = record("orders");
    removeConsumer(registry, queueId, identity?.consumerId ?? "");
    setConsumer(registry, queueId, null, PULL);
    deploy({ orders: {} });
    expect(record("orders").definition.consumer).toEqual(PULL);
    expect(lines).toEqual([]);
  });

  it("leaves queues alone that no configuration ever named", () => {
    createQueue(registry, { name: "manual", settings: { deliveryDelaySeconds: 60 } });
    const before = record("manual");
    deploy({ orders: {} });
    expect(record("manual")).toEqual(before);
  });
});

it("says when the configuration and an API together send dead letters in a circle", () => {
  deploy({ orders: {}, dead: {} });
  setConsumer(registry, record("dead").queueId, null, {
    ...PULL,
    settings: { ...PULL.settings, deadLetterQueue: "orders" },
  });
  deploy({ orders: { consumer: consumer({ deadLetterQueue: "dead" }) }, dead: {} });
  expect(lines).toContain("dead letters go in a circle: orders -> dead -> orders");
});

it("the queue of alerts is there while alerts are set, follows their webhook, and is in no list", () => {
  const alerts = { url: "https://hooks.example/", format: "webhook", deadLetters: true } as const;
  const apply = (topology: Pick<QueueTopology, "alerts">) => {
    registry = registry.restarted();
    registry.time.nowMs += 1_000;
    applyTopology(registry, { queues: {}, ...topology }, (line) => lines.push(line));
  };
  apply({ alerts });
  expect(record(ALERTS_QUEUE).definition.consumer?.settings).toMatchObject({
    url: alerts.url,
    signingSecret: "SLUICE_ALERTS_SECRET",
  });
  expect([registry.list(), registry.size]).toEqual([[], 0]);
  expect(registry.hidden().map(({ name }) => name)).toEqual([ALERTS_QUEUE]);
  apply({ alerts: { ...alerts, url: "https://other.example/", format: "slack" } });
  expect(record(ALERTS_QUEUE).definition.consumer?.settings).toMatchObject({ url: "https://other.example/" });
  expect(record(ALERTS_QUEUE).definition.consumer?.settings).not.toHaveProperty("signingSecret");
  apply({});
  expect(registry.queue(ALERTS_QUEUE)).toBeUndefined();
  expect(lines).toEqual([]);
});
