import type { ConsumerHealth, QueueDescription, QueueRecord } from "@sluice/protocol";
import { expect, it } from "vitest";
import { type DescribedQueue, idleSnapshotOf } from "./idle-snapshot.ts";

const RECORD = { queueId: "a1", name: "orders" } as QueueRecord;
const HEALTH: ConsumerHealth = {
  isPresent: true,
  inFlight: 0,
  consecutiveFailures: 0,
  lastDelivery: null,
  next: null,
};
const DESCRIPTION: QueueDescription = {
  queue: "orders",
  nowMs: 0,
  awakeSinceMs: 0,
  ready: 0,
  delayed: 0,
  leased: 0,
  backlogBytes: 0,
  oldestMessageTimestampMs: 0,
  rowsWritten: 0,
  rowsRead: 0,
  damage: [],
  consumer: null,
  lastMove: null,
};

function snapshot(changes: Partial<QueueDescription>, others: Partial<DescribedQueue> = {}) {
  return idleSnapshotOf({
    record: RECORD,
    hasMore: false,
    description: { ...DESCRIPTION, ...changes },
    ...others,
  });
}

it.each<[string, Partial<QueueDescription>]>([
  ["an empty one", {}],
  ["one whose messages wait for a client that pulls", { ready: 3 }],
  ["one whose consumer has nothing to do", { consumer: HEALTH }],
  ["one whose consumer failed last", { consumer: { ...HEALTH, isPresent: false, consecutiveFailures: 2 } }],
])("a queue is idle: %s", (_, changes) => {
  expect(snapshot(changes)).toEqual({ queueId: "a1", description: { ...DESCRIPTION, ...changes } });
});

it.each<[string, Partial<QueueDescription>, Partial<DescribedQueue>]>([
  ["a delayed message becomes due", { delayed: 1 }, {}],
  ["a lease ends", { leased: 1 }, {}],
  ["a delivery is under way", { consumer: { ...HEALTH, inFlight: 1 } }, {}],
  ["a delivery comes next", { consumer: { ...HEALTH, next: { waitsFor: "due", atMs: 1 } } }, {}],
  ["messages leave for another queue", {}, { hasMore: true }],
  ["the directory does not know it", {}, { record: null }],
])("a queue is not idle: %s", (_, changes, others) => {
  expect(snapshot(changes, others)).toBeNull();
});
