import type { QueueRecord } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { REGISTRY_START_MS, TestRegistry } from "../../test/registry.ts";
import { changeQueue, createQueue, deleteQueue } from "./queues.ts";
import { lossShownBy, restoreQueue, standingOf } from "./standing.ts";

let registry: TestRegistry;

beforeEach(() => {
  registry = new TestRegistry();
});

function create(name: string): QueueRecord {
  const reply = createQueue(registry, { name });
  if (!reply.ok) throw new Error("refused");
  return reply.record;
}

/** What the queue of that name is in a directory that began again with nothing, later. */
function createAnew(name: string): void {
  registry = new TestRegistry(new Map(), { nowMs: REGISTRY_START_MS + 1_000 });
  // As many ids as were given out before, so that this one is another.
  create("first");
  create(name);
}

describe("a directory that a queue's own copy shows to have lost data", () => {
  it("does not know a queue that it had told what it is", () => {
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
  });
});

describe("a directory that has lost nothing", () => {
  it("is ahead of a queue that was not told yet", () => {
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
    const standing = standingOf(registry, "orders");
    expect(standing).toEqual({ kind: "absent", asOf: registry.lastRevision });
    expect(registry.lastRevision).toBeGreaterThan(copy.revision);
  });
});
