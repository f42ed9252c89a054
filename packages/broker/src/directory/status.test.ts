import type { QueueRecord } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { REGISTRY_START_MS, TestRegistry } from "../../test/registry.ts";
import { changeQueue, createQueue, deleteQueue } from "./queues.ts";
import { lossShownBy, restoreQueue, statusOf } from "./status.ts";

let registry: TestRegistry;

beforeEach(() => {
  registry = new TestRegistry();
});

function create(name: string): QueueRecord {
  const reply = createQueue(registry, { name });
  if (!reply.ok) throw new Error("refused");
  return reply.record;
}

/** Replaces the directory by one that began again with nothing, later, and creates the queue in it with another id. */
function createAnew(name: string): void {
  registry = new TestRegistry(new Map(), { nowMs: REGISTRY_START_MS + 1_000 });
  // As many ids as were given out before, so that this one is another.
  create("first");
  create(name);
}

describe("a directory that a queue's own copy shows to have lost data", () => {
  it("does not know a queue that it had notified of its record", () => {
    const copy = create("orders");
    registry = new TestRegistry();
    expect(lossShownBy(registry, copy)).toMatch(/does not know it any more/);
    restoreQueue(registry, copy);
    expect(lossShownBy(registry, copy)).toBeNull();
  });

  it("has created it again, as another queue, without having deleted it", () => {
    const copy = create("orders");
    createAnew("orders");
    expect(lossShownBy(registry, copy)).toMatch(/as a new one/);
  });

  it("has forgotten a change that the queue goes by", () => {
    const first = create("orders");
    const changed = changeQueue(registry, first.queueId, { settings: { deliveryDelaySeconds: 5 } });
    if (!changed.ok) throw new Error("refused");
    expect(lossShownBy(registry, changed.record)).toBeNull();
    const older = new TestRegistry();
    older.put({ kind: "queue", record: first, configured: null, told: 0 });
    expect(lossShownBy(older, changed.record)).toMatch(/an older change/);
    restoreQueue(older, changed.record);
    expect(older.queue("orders")).toMatchObject({ record: changed.record, told: changed.record.revision });
    expect(lossShownBy(older, changed.record)).toBeNull();
  });

  it("remembers the configured definition where it takes a change back, and only there", () => {
    const copy = { ...create("orders"), revision: REGISTRY_START_MS + 5 };
    const configured = copy.definition;
    const older = { ...copy, revision: REGISTRY_START_MS };
    registry.put({ kind: "queue", record: older, configured, told: 0 });
    restoreQueue(registry, copy);
    expect(registry.queue("orders")?.configured).toEqual(configured);
    registry = new TestRegistry();
    restoreQueue(registry, copy);
    expect(registry.queue("orders")?.configured).toBeNull();
  });

  it("knows that it was deleted, and not that it was created again since", () => {
    const first = create("orders");
    const deleted = { kind: "deleted", name: "orders", revision: first.revision + 1 } as const;
    const again = { ...first, revision: first.revision + 2, emptyAsOf: deleted.revision };
    registry.put(deleted);
    expect(lossShownBy(registry, first)).toBeNull();
    restoreQueue(registry, first);
    expect(registry.row("orders")).toEqual(deleted);
    expect(lossShownBy(registry, again)).toMatch(/not that it was created again/);
    restoreQueue(registry, again);
    expect(registry.queue("orders")?.record).toEqual(again);
  });

  it("does not give another queue of its name what it was", () => {
    const copy = create("orders");
    createAnew("orders");
    const { queueId } = registry.queue("orders")?.record ?? {};
    restoreQueue(registry, { ...copy, revision: REGISTRY_START_MS + 9_000 });
    expect(registry.queue("orders")?.record.queueId).toBe(queueId);
  });
});

describe("a directory that has lost nothing", () => {
  it("is ahead of a queue that was not notified yet", () => {
    const copy = create("orders");
    changeQueue(registry, copy.queueId, { settings: { deliveryDelaySeconds: 5 } });
    expect(lossShownBy(registry, copy)).toBeNull();
  });

  it("knows that the queue was deleted, and created again since", () => {
    const copy = create("orders");
    registry.time.nowMs += 1_000;
    deleteQueue(registry, copy.queueId);
    expect(lossShownBy(registry, copy)).toBeNull();
    create("orders");
    expect(lossShownBy(registry, copy)).toBeNull();
  });

  it("says as of which revision there is no queue", () => {
    const copy = create("orders");
    deleteQueue(registry, copy.queueId);
    const status = statusOf(registry, "orders");
    expect(status).toEqual({ kind: "absent", asOf: registry.lastRevision });
    expect(registry.lastRevision).toBeGreaterThan(copy.revision);
  });
});
