import {
  type Alert,
  type ConsumerHealth,
  type Fault,
  type FiguresReply,
  type MoveTask,
  type QueueDescription,
  type QueueUsage,
  TOOK_MS_CLASSES,
} from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { queueOf } from "../../test/stub-shards.ts";
import { mergedErrors } from "./errors.ts";
import { mergedFigures } from "./figures.ts";
import { mergedMove } from "./moves.ts";

function described(changes: Partial<QueueDescription> = {}): QueueDescription {
  return {
    queue: "orders#1",
    nowMs: 100,
    awakeSinceMs: 10,
    ready: 1,
    delayed: 2,
    leased: 3,
    backlogBytes: 4,
    oldestMessageTimestampMs: 0,
    rowsWritten: 5,
    rowsRead: 6,
    damage: [],
    consumer: null,
    lastMove: null,
    ...changes,
  };
}

const health = (changes: Partial<ConsumerHealth>): ConsumerHealth => ({
  isPresent: true,
  inFlight: 1,
  consecutiveFailures: 0,
  lastDelivery: null,
  next: null,
  ...changes,
});

const usage = (month: string, requests: number): QueueUsage => ({
  month,
  sinceMs: requests,
  rowsWritten: 1,
  rowsRead: 1,
  requests,
  awakeMs: 1,
  messages: 1,
  messageBytes: 1,
  messageChunks: 1,
  deliveries: 1,
});

const describeOf = (...parts: readonly (QueueDescription | Error)[]) =>
  queueOf(
    ...parts.map((part) => ({
      describe: () => {
        if (part instanceof Error) throw part;
        return part;
      },
    })),
  ).describe("orders");

const MOVE = { taskId: "t", target: "orders", failure: null, ratePerSecond: 2, startedMs: 5 } as const;
const fault = (times: number) => ({ kind: "crash", times }) as unknown as Fault;
const alert = (kind: string) => ({ kind }) as unknown as Alert;

/** Every member of a description: what two shards say, and what their queue says. */
const MEMBERS: {
  readonly [Name in keyof Required<QueueDescription>]: readonly (QueueDescription[Name] | undefined)[];
} = {
  queue: ["orders", "orders#1", "orders"],
  nowMs: [100, 110, 110],
  awakeSinceMs: [10, 20, 20],
  ready: [1, 2, 3],
  delayed: [1, 2, 3],
  leased: [1, 2, 3],
  backlogBytes: [1, 2, 3],
  oldestMessageTimestampMs: [50, 40, 40],
  rates: [
    { in: 1, out: 2, dead: 3 },
    { in: 1, out: 1, dead: 1 },
    { in: 2, out: 3, dead: 4 },
  ],
  rowsWritten: [1, 2, 3],
  rowsRead: [1, 2, 3],
  usage: [
    usage("2026-11", 7),
    usage("2026-11", 5),
    {
      ...{ month: "2026-11", sinceMs: 5, requests: 12, rowsWritten: 2, rowsRead: 2, awakeMs: 2 },
      ...{ messages: 2, messageBytes: 2, messageChunks: 2, deliveries: 2 },
    },
  ],
  finishedMax: [1_000, 1_000, 1_000],
  damage: [[], [], []],
  consumer: [health({ inFlight: 1 }), health({ inFlight: 2 }), health({ inFlight: 3 })],
  lastMove: [
    { ...MOVE, status: "completed", moved: 1, toMove: 1 },
    { ...MOVE, status: "running", moved: 2, toMove: 5 },
    { ...MOVE, status: "running", moved: 3, toMove: 6, ratePerSecond: 4 },
  ],
  faults: [[fault(2)], [fault(3)], [fault(3)]],
  alerts: [[alert("a")], [alert("a"), alert("b")], [alert("a"), alert("b")]],
};

describe("a description", () => {
  it.each(Object.entries(MEMBERS))("has %s: %j", async (name, [of0, of1, ofQueue]) => {
    const found = await describeOf(described({ [name]: of0 }), described({ [name]: of1 }));
    expect(found[name as keyof QueueDescription]).toEqual(ofQueue);
  });

  it("has sums, the oldest message of all, and the time since which all count", async () => {
    const parts = [
      described({ awakeSinceMs: 20, oldestMessageTimestampMs: 50, rates: { in: 1, out: 2, dead: 3 } }),
      described({
        nowMs: 110,
        oldestMessageTimestampMs: 40,
        rates: { in: 1, out: 1, dead: 1 },
        finishedMax: 9,
      }),
      described({ finishedMax: 9 }),
    ];
    expect(await describeOf(...parts)).toEqual({
      finishedMax: 9,
      queue: "orders",
      nowMs: 110,
      awakeSinceMs: 20,
      ready: 3,
      delayed: 6,
      leased: 9,
      backlogBytes: 12,
      oldestMessageTimestampMs: 40,
      rowsWritten: 15,
      rowsRead: 18,
      rates: { in: 2, out: 3, dead: 4 },
      damage: [],
      consumer: null,
      lastMove: null,
    });
  });

  it("adds the usage of the latest month alone", async () => {
    const { usage: found } = await describeOf(
      described({ usage: usage("2026-10", 100) }),
      described({ usage: usage("2026-11", 7) }),
      described({ usage: usage("2026-11", 5) }),
    );
    expect(found).toMatchObject({ month: "2026-11", requests: 12, sinceMs: 5, deliveries: 2 });
  });

  it("has no failures in a row where the latest delivery of all shards went well", async () => {
    const { consumer } = await describeOf(
      described({ consumer: health({ lastDelivery: { endedMs: 9, failure: null } }) }),
      described({
        consumer: health({ lastDelivery: { endedMs: 5, failure: "boom" }, consecutiveFailures: 7 }),
      }),
    );
    expect(consumer).toMatchObject({ consecutiveFailures: 0, lastDelivery: { endedMs: 9, failure: null } });
  });

  it("has the health of the worst: a consumer that one misses, and the failures in a row of the latest delivery", async () => {
    const failed = { endedMs: 9, failure: "boom" };
    const { consumer } = await describeOf(
      described({
        consumer: health({ lastDelivery: { endedMs: 5, failure: null }, consecutiveFailures: 2 }),
      }),
      described({ consumer: health({ isPresent: false, lastDelivery: failed, consecutiveFailures: 7 }) }),
      described({ consumer: health({ next: { waitsFor: "due", atMs: 30 } }) }),
      described({ consumer: health({ next: { waitsFor: "return", atMs: 20 } }) }),
    );
    expect(consumer).toEqual({
      isPresent: false,
      inFlight: 4,
      consecutiveFailures: 7,
      lastDelivery: failed,
      next: { waitsFor: "return", atMs: 20 },
    });
  });

  it("names the shard of damage, and counts one that does not answer as damage", async () => {
    const damage = { kind: "structure", foundAtMs: 3, messagesLost: null, text: "a page is torn" } as const;
    const found = await describeOf(described(), described({ damage: [damage] }), new Error("away"));
    expect(found.damage).toEqual([
      { ...damage, text: "in shard 1: a page is torn" },
      {
        kind: "unreadable",
        foundAtMs: 1_000,
        messagesLost: null,
        text: "shard 2 does not answer, and its messages are counted nowhere: Error: away",
      },
    ]);
    expect(found.ready).toBe(2);
    await expect(describeOf(new Error("away"), new Error("too"))).rejects.toThrow("away");
  });
});

const part = (changes: Partial<MoveTask>): MoveTask => ({
  taskId: "t",
  target: "orders",
  ratePerSecond: null,
  status: "completed",
  startedMs: 5,
  moved: 1,
  toMove: 2,
  failure: null,
  ...changes,
});

it.each([
  [["completed", "running", "failed"], "running"],
  [["completed", "failed", "cancelled"], "failed"],
  [["completed", "cancelled"], "cancelled"],
  [["completed", "completed"], "completed"],
] as const)("a task of which parts are %j is %s", (statuses, status) => {
  const parts = statuses.map((one, i) =>
    part({ status: one, startedMs: 9 - i, ...(one === "failed" ? { failure: "tookTooLong" } : {}) }),
  );
  expect(mergedMove(parts)).toMatchObject({
    status,
    moved: parts.length,
    toMove: 2 * parts.length,
    startedMs: 10 - parts.length,
    failure: statuses.some((one) => one === "failed") ? "tookTooLong" : null,
  });
});

const noTook = () => TOOK_MS_CLASSES.map(() => 0);

function figures(startsMs: readonly number[], changes: Partial<FiguresReply> = {}): FiguresReply {
  return {
    isOn: true,
    nowMs: 100,
    stepMs: 60_000,
    sinceMs: 7,
    startsMs,
    counts: { accepted: startsMs.map(() => 1) },
    held: startsMs.map(() => 2),
    ageMs: startsMs.map(() => null),
    p50Ms: startsMs.map(() => 3),
    p99Ms: startsMs.map(() => 4),
    took: { tookMs: noTook(), p50Ms: null, p99Ms: null, longestMs: null },
    marks: [],
    ...changes,
  };
}

it("figures are added column by column, also where a shard has other columns", () => {
  const a = figures([0, 60_000], { ageMs: [null, 5], marks: [{ kind: "paused", atMs: 10, byMs: null }] });
  const b = figures([60_000, 120_000], {
    sinceMs: null,
    ageMs: [9, null],
    p99Ms: [8, 1],
    held: [null, null],
    counts: { acked: [1, 2] },
    marks: [
      { kind: "paused", atMs: 12, byMs: null },
      { kind: "resumed", atMs: 90, byMs: null },
    ],
  });
  expect(mergedFigures("1h", [a, b])).toMatchObject({
    sinceMs: 7,
    startsMs: [0, 60_000, 120_000],
    counts: { accepted: [1, 1, 0], acked: [0, 1, 2] },
    held: [2, 2, null],
    ageMs: [null, 9, null],
    p99Ms: [4, 8, 1],
    marks: [
      { kind: "paused", atMs: 10 },
      { kind: "resumed", atMs: 90 },
    ],
  });
});

it("counts of errors are added by their texts, and what a list has no room for is counted as others", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          groups: fc.array(fc.record({ error: fc.constantFrom(..."abcdefghijklmn"), count: fc.nat(50) }), {
            maxLength: 10,
          }),
          others: fc.nat(9),
          none: fc.nat(9),
        }),
      ),
      (parts) => {
        const { groups, others, none } = mergedErrors(parts);
        const sum = (counts: readonly { readonly count: number }[]) =>
          counts.reduce((total, { count }) => total + count, 0);
        const all = parts.reduce((total, one) => total + sum(one.groups) + one.others, 0);
        expect(sum(groups) + others).toBe(all);
        expect(none).toBe(parts.reduce((total, one) => total + one.none, 0));
        expect(groups.length).toBeLessThanOrEqual(10);
        const counts = groups.map(({ count }) => count);
        expect(counts).toEqual(counts.toSorted((a, b) => b - a));
      },
    ),
  );
});
