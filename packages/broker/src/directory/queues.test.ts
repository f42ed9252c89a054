import { type DirectoryReply, type Jurisdiction, QUEUES_MAX } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { REGISTRY_START_MS, TestRegistry } from "../../test/registry.ts";
import { applyTopology } from "./apply-topology.ts";
import { createWithConsumer, removeConsumer, setConsumer } from "./consumers.ts";
import { changeQueue, createQueue, deleteQueue, ensureQueue, warnOfUnplaced } from "./queues.ts";
import { restoreQueue, statusOf } from "./status.ts";

let registry: TestRegistry;

beforeEach(() => {
  registry = new TestRegistry();
});

function recordIn(reply: DirectoryReply) {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.record;
}

function refusalIn(reply: DirectoryReply) {
  if (reply.ok) throw new Error("not refused");
  return reply.refusal;
}

const create = (name: string) => recordIn(createQueue(registry, { name }));
const deadTo = (deadLetterQueue: string | null) => consumer({ deadLetterQueue });

it("a queue that is created for dead letters is a FIFO queue if its name says so", () => {
  const ensured = (name: string) => recordIn(ensureQueue(registry, name, null)).definition;
  expect(ensured("dead.fifo")).toHaveProperty("fifo", {});
  expect(ensured("dead")).not.toHaveProperty("fifo");
});

it("a change that was made from a record is refused when another client has changed the queue since then", () => {
  const { queueId, revision } = create("orders");
  const change = { basedOn: revision, settings: { deliveryDelaySeconds: 1 } };
  expect(recordIn(changeQueue(registry, queueId, change)).definition.deliveryDelaySeconds).toBe(1);
  expect(refusalIn(changeQueue(registry, queueId, change))).toEqual({ kind: "changedMeanwhile" });
});

describe("a queue that is created", () => {
  it("has an id, production's settings and no consumer", () => {
    expect(create("orders")).toEqual({
      queueId: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: "orders",
      createdOnMs: REGISTRY_START_MS,
      modifiedOnMs: REGISTRY_START_MS,
      revision: REGISTRY_START_MS,
      emptyAsOf: 0,
      definition: {
        deliveryDelaySeconds: 0,
        messageRetentionSeconds: 345_600,
        producers: [],
        consumer: null,
      },
      consumer: null,
      jurisdiction: null,
      dialects: {},
    });
  });

  it("is found by its name and by its id, also after a restart", () => {
    const record = create("orders");
    for (const known of [registry, registry.restarted()]) {
      expect(known.queue("orders")?.record).toEqual(record);
      expect(known.queueById(record.queueId)?.record).toEqual(record);
      expect(known.list()).toEqual([record]);
    }
    expect(registry.queue("constructor")).toBeUndefined();
  });

  // conformance: jurisdiction
  it("keeps its jurisdiction, its settings and what only a dialect understands", () => {
    const queue = {
      name: "orders",
      settings: { deliveryDelaySeconds: 5 },
      jurisdiction: "eu",
      dialects: { sqs: { Policy: "{}" } },
    } as const;
    expect(recordIn(createQueue(registry, queue))).toMatchObject({
      definition: { deliveryDelaySeconds: 5, messageRetentionSeconds: 345_600 },
      jurisdiction: "eu",
      dialects: { sqs: { Policy: "{}" } },
    });
  });

  it("is refused when there is one of that name", () => {
    create("orders");
    expect(refusalIn(createQueue(registry, { name: "orders" }))).toEqual({
      kind: "queueNameTaken",
      name: "orders",
    });
  });

  // conformance: queues-per-account
  it("is refused when there are 10,000", () => {
    for (let i = 1; i < QUEUES_MAX; i++) create(`q${i}`);
    const last = create("last");
    expect(refusalIn(createQueue(registry, { name: "one-more" }))).toEqual({ kind: "tooManyQueues" });
    expect(refusalIn(setConsumer(registry, last.queueId, null, deadTo("dlq")))).toEqual({
      kind: "tooManyQueues",
    });
    deleteQueue(registry, last.queueId);
    create("one-more");
  });
});

describe("a change", () => {
  it("keeps what it does not name, and is later than every other change", () => {
    const { queueId } = create("orders");
    create("other");
    const first = recordIn(changeQueue(registry, queueId, { settings: { deliveryPaused: true } }));
    const second = recordIn(changeQueue(registry, queueId, { settings: { deliveryDelaySeconds: 9 } }));
    expect(second.definition).toMatchObject({ deliveryPaused: true, deliveryDelaySeconds: 9 });
    expect(second.revision).toBeGreaterThan(first.revision);
    const third = recordIn(changeQueue(registry, queueId, { dialects: { sqs: 1, sns: 2 } }));
    expect(recordIn(changeQueue(registry, queueId, { dialects: { sqs: 3 } })).dialects).toEqual({
      sqs: 3,
      sns: 2,
    });
    expect(third.definition).toEqual(second.definition);
  });

  it("is refused for a queue that does not exist", () => {
    const id = "f".repeat(32);
    for (const reply of [
      changeQueue(registry, id, {}),
      deleteQueue(registry, id),
      setConsumer(registry, id, null, deadTo(null)),
      removeConsumer(registry, id, id),
    ]) {
      expect(refusalIn(reply)).toEqual({ kind: "queueNotFound" });
    }
  });
});

describe("a queue that is deleted", () => {
  it("is not found any more, and one of the same name begins empty", () => {
    const before = create("orders");
    expect(recordIn(deleteQueue(registry, before.queueId))).toEqual(before);
    expect(registry.queue("orders")).toBeUndefined();
    expect(registry.queueById(before.queueId)).toBeUndefined();
    expect(registry.size).toBe(0);
    expect(statusOf(registry, "orders")).toMatchObject({ kind: "absent" });
    const after = create("orders");
    expect(after.queueId).not.toBe(before.queueId);
    expect(after.emptyAsOf).toBeGreaterThan(before.revision);
    expect(after.revision).toBeGreaterThan(after.emptyAsOf);
  });

  it("is not brought back by its own copy", () => {
    const copy = create("orders");
    deleteQueue(registry, copy.queueId);
    restoreQueue(registry, copy);
    expect(statusOf(registry, "orders")).toMatchObject({ kind: "absent" });
  });
});

it("takes a queue back from the queue's own copy when its data were lost", () => {
  const copy = create("orders");
  const lost = new TestRegistry();
  restoreQueue(lost, copy);
  expect(statusOf(lost, "orders")).toEqual({ kind: "known", record: copy });
  expect(lost.pending()).toEqual([]);
  expect(lost.nextRevision()).toBeGreaterThan(copy.revision);
});

describe("a queue that is created with a consumer", () => {
  const createTo = (name: string, target: string | null) =>
    createWithConsumer(registry, { name, consumer: deadTo(target) });

  it("has it, and its dead-letter queue is there", () => {
    expect(recordIn(createTo("orders", "dead")).definition.consumer).toEqual(deadTo("dead"));
    expect(registry.list().map(({ name }) => name)).toEqual(["dead", "orders"]);
  });

  it("is not created if its dead letters would go in a circle", () => {
    expect(refusalIn(createTo("a", "a"))).toEqual({ kind: "deadLetterCycle", queues: ["a"] });
    recordIn(createTo("b", "c"));
    const { queueId } = recordIn(createTo("d", "b"));
    recordIn(deleteQueue(registry, registry.queue("b")?.record.queueId ?? ""));
    expect(refusalIn(createTo("b", "d"))).toMatchObject({ kind: "deadLetterCycle" });
    expect(registry.queueById(queueId)).toBeDefined();
    expect(registry.list().map(({ name }) => name)).toEqual(["c", "d"]);
  });

  it("is not created if there is no room for its dead-letter queue", () => {
    for (let i = 1; i < QUEUES_MAX; i++) create(`q${i}`);
    expect(refusalIn(createTo("orders", "dead"))).toEqual({ kind: "tooManyQueues" });
    expect(refusalIn(createTo("q1", "dead"))).toEqual({ kind: "queueNameTaken", name: "q1" });
    recordIn(createTo("orders", "q1"));
  });
});

describe("a consumer", () => {
  it("gets an id, and is there once", () => {
    const { queueId } = create("orders");
    const { consumer: identity, definition } = recordIn(setConsumer(registry, queueId, null, deadTo(null)));
    expect(identity?.consumerId).toMatch(/^[0-9a-f]{32}$/);
    expect(definition.consumer).toEqual(deadTo(null));
    const second = setConsumer(registry, queueId, null, deadTo(null));
    expect(refusalIn(second)).toEqual({ kind: "consumerExists", name: "orders", queueId });
  });

  it("is replaced under its id, and created under an id that names none", () => {
    const { queueId } = create("orders");
    const id = "c".repeat(32);
    expect(recordIn(setConsumer(registry, queueId, id, deadTo(null))).consumer?.consumerId).toBe(id);
    const changed = recordIn(setConsumer(registry, queueId, id, consumer({ maxRetries: 7 })));
    expect(changed).toMatchObject({ consumer: { consumerId: id } });
    expect(changed.definition.consumer?.settings.maxRetries).toBe(7);
    const other = setConsumer(registry, queueId, "d".repeat(32), deadTo(null));
    expect(refusalIn(other)).toMatchObject({ kind: "consumerExists" });
  });

  it("is removed by its id", () => {
    const { queueId } = create("orders");
    const { consumer: identity } = recordIn(setConsumer(registry, queueId, null, deadTo(null)));
    expect(refusalIn(removeConsumer(registry, queueId, "d".repeat(32)))).toEqual({
      kind: "consumerNotFound",
    });
    const removed = recordIn(removeConsumer(registry, queueId, identity?.consumerId ?? ""));
    expect(removed).toMatchObject({ consumer: null, definition: { consumer: null } });
    expect(refusalIn(removeConsumer(registry, queueId, identity?.consumerId ?? ""))).toEqual({
      kind: "consumerNotFound",
    });
  });

  it("creates the dead-letter queue that it names, where the messages may lie", () => {
    const { queueId } = recordIn(createQueue(registry, { name: "orders", jurisdiction: "eu" }));
    setConsumer(registry, queueId, null, deadTo("dead"));
    expect(registry.queue("dead")?.record).toMatchObject({ jurisdiction: "eu" });
    expect(recordIn(ensureQueue(registry, "dead", null))).toEqual(registry.queue("dead")?.record);
  });

  it("cannot send dead letters in a circle", () => {
    const ids = ["a", "b", "c"].map((name) => create(name).queueId);
    const [a = "", b = "", c = ""] = ids;
    expect(refusalIn(setConsumer(registry, a, null, deadTo("a")))).toEqual({
      kind: "deadLetterCycle",
      queues: ["a"],
    });
    recordIn(setConsumer(registry, a, null, deadTo("b")));
    recordIn(setConsumer(registry, b, null, deadTo("c")));
    expect(refusalIn(setConsumer(registry, c, null, deadTo("a")))).toEqual({
      kind: "deadLetterCycle",
      queues: ["c", "a", "b"],
    });
    recordIn(setConsumer(registry, c, null, deadTo("d")));
  });
});

describe("on a platform with jurisdictions", () => {
  beforeEach(() => {
    registry = new TestRegistry(new Map(), undefined, true);
  });

  const createIn = (name: string, jurisdiction: Jurisdiction) =>
    recordIn(createQueue(registry, { name, jurisdiction }));

  it("a queue has its place in its jurisdiction, and one without has none", () => {
    expect(createIn("orders", "eu")).toMatchObject({ jurisdiction: "eu", place: "eu" });
    expect(create("plain")).not.toHaveProperty("place");
  });

  it("a deleted queue keeps its place until its object is empty, and none is created elsewhere", () => {
    const { queueId } = createIn("orders", "eu");
    deleteQueue(registry, queueId);
    expect(registry.pending()).toMatchObject([{ kind: "deleted", name: "orders", place: "eu" }]);
    for (const other of [{}, { jurisdiction: "us" }] as const) {
      expect(refusalIn(createQueue(registry, { name: "orders", ...other }))).toEqual({
        kind: "changedMeanwhile",
      });
    }
    const [row] = registry.pending();
    if (row?.kind === "deleted") registry.emptied(row);
    expect(createIn("orders", "us")).toMatchObject({ place: "us" });
  });

  it("a queue that dead letters of another jurisdiction go to is not created", () => {
    const { queueId } = createIn("orders", "eu");
    recordIn(setConsumer(registry, queueId, null, deadTo("dead")));
    deleteQueue(registry, registry.queue("dead")?.record.queueId ?? "");
    for (const row of registry.pending()) if (row.kind === "deleted") registry.emptied(row);
    const refusal = { kind: "otherJurisdiction", queue: "orders", deadLetterQueue: "dead" };
    expect(refusalIn(createQueue(registry, { name: "dead" }))).toEqual(refusal);
    createIn("dead", "eu");
  });

  it("dead letters for clients of SQS stay in the jurisdiction", () => {
    const settings = (deadLetterQueue: string) => ({
      receive: { redrive: { deadLetterQueue, maxReceiveCount: 1 } },
    });
    const refusal = { kind: "otherJurisdiction", queue: "orders", deadLetterQueue: "plain" };
    create("plain");
    createIn("dead", "eu");
    const createTo = (deadLetterQueue: string) =>
      createQueue(registry, { name: "orders", jurisdiction: "eu", settings: settings(deadLetterQueue) });
    expect(refusalIn(createTo("plain"))).toEqual(refusal);
    expect(registry.queue("orders")).toBeUndefined();
    const { queueId } = recordIn(createTo("dead"));
    const change = (deadLetterQueue: string) =>
      changeQueue(registry, queueId, { settings: settings(deadLetterQueue) });
    expect(refusalIn(change("plain"))).toEqual(refusal);
    recordIn(change("dead"));
  });

  it("the dead-letter queue that a configuration names is created in the jurisdiction of its queue", () => {
    createIn("orders", "eu");
    const unset = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null };
    const queues = {
      last: unset,
      dead: { ...unset, consumer: deadTo("last") },
      orders: { ...unset, consumer: deadTo("dead") },
      plain: unset,
    };
    const lines: string[] = [];
    applyTopology(registry, { queues }, (line) => lines.push(line));
    const placeOf = (name: string) => registry.queue(name)?.record.place;
    expect(Object.keys(queues).map(placeOf)).toEqual(["eu", "eu", "eu", undefined]);
    expect(lines).toEqual([]);
  });

  it("a configuration by which dead letters would leave their jurisdiction is warned of", () => {
    createIn("orders", "eu");
    create("plain");
    const unset = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null };
    const lines: string[] = [];
    const queues = { orders: { ...unset, consumer: deadTo("plain") }, plain: unset };
    applyTopology(registry, { queues }, (line) => lines.push(line));
    expect(lines).toEqual([expect.stringContaining('dead letters of queue "orders" wait in it')]);
  });

  it("a queue from before is said to be anywhere", () => {
    const before = new TestRegistry();
    createQueue(before, { name: "old", jurisdiction: "eu" });
    createQueue(before, { name: "plain" });
    registry = new TestRegistry(before.rows, undefined, true);
    createIn("new", "eu");
    const lines: string[] = [];
    warnOfUnplaced(registry, (line) => lines.push(line));
    expect(lines).toEqual([expect.stringContaining('queue "old" was created before jurisdictions held')]);
  });
});
