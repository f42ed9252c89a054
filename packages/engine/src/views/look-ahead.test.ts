import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { queueOf, queueWith, sendMany, T0 } from "../../test/queues.ts";
import { countOf } from "../../test/slices.ts";
import { Twins } from "../../test/twins.ts";
import {
  lease,
  messageRanges,
  nextBatch,
  nextDeliveries,
  nextReceives,
  type Queue,
  type QueueRules,
  rangeAt,
  receive,
  type Slice,
  send,
} from "../index.ts";
import { PUSH_BYTES_MAX } from "../push/dispatch.ts";

type Step = (twins: Twins) => void;

const group = fc.constantFrom("a", "a", "b", "c");

const sendStep = (isGrouped: boolean): fc.Arbitrary<Step> =>
  fc
    .array(
      fc.record({
        size: fc.constantFrom(0, 10, 2_000),
        delayMs: fc.constantFrom(0, 0, 0, 500, 1_000),
        ...(isGrouped ? { group } : {}),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map((messages) => (twins) => twins.send(messages));

const steps = (isGrouped: boolean): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 5, arbitrary: sendStep(isGrouped) },
    {
      weight: 3,
      arbitrary: fc
        .record({ max: fc.integer({ min: 1, max: 9 }), forMs: fc.constantFrom(0, 1, 700, 3_000) })
        .map(
          ({ max, forMs }): Step =>
            (twins) =>
              twins.receive(max, forMs),
        ),
    },
    { weight: 3, arbitrary: fc.constant<Step>((twins) => twins.push()) },
    {
      weight: 4,
      arbitrary: fc
        .record({
          which: fc.nat(9),
          to: fc.nat(9),
          how: fc.constantFrom("ack" as const, "retry" as const, "retryLater" as const, "release" as const),
        })
        .map(
          ({ which, to, how }): Step =>
            (twins) => {
              const held = twins.leases.at(-1 - (which % Math.max(1, twins.leases.length)));
              if (held === undefined) return;
              twins.settle(held, 0, to, how);
              twins.end(held, how === "ack" ? "ok" : "failed");
            },
        ),
    },
    {
      weight: 2,
      arbitrary: fc.nat(30).map(
        (which): Step =>
          (twins) =>
            twins.remove(which),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.nat(30).map(
        (which): Step =>
          (twins) =>
            twins.makeDue(which),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(1, 400, 2_000).map(
        (ms): Step =>
          (twins) => {
            twins.nowMs += ms;
          },
      ),
    },
    { weight: 2, arbitrary: fc.constant<Step>((twins) => twins.expireLeases()) },
    { weight: 1, arbitrary: fc.constant<Step>((twins) => twins.restart()) },
  );

const rules = (fifo: boolean): fc.Arbitrary<QueueRules> =>
  fc.record({
    maxBatchSize: fc.integer({ min: 1, max: 8 }),
    batchTimeoutMs: fc.constantFrom(0, 1_000),
    maxRetries: fc.constantFrom(0, 1, Infinity),
    maxConcurrency: fc.constantFrom(1, 3),
    scalesConcurrency: fc.boolean(),
    retryDelayMs: fc.constantFrom(0, 1_500),
    retentionMs: fc.constant(1e9),
    pushLeaseMs: fc.constantFrom(2_500, 900_000),
    ...(fifo ? { fifo: fc.constant(true) } : {}),
  });

const KINDS = [
  ["a standard queue", false, false],
  ["a standard queue with groups", false, true],
  ["a FIFO queue", true, true],
] as const;

/** Every message that is there, and whether a look ahead has it. */
function foreseen(queue: Queue, has: (segmentId: number, index: number) => boolean): string[] {
  return [...messageRanges(queue)].flatMap(({ segmentId, from, to }) =>
    Array.from({ length: to - from }, (_, i) => from + i)
      .filter((index) => has(segmentId, index))
      .map((index) => `${segmentId}/${index}`),
  );
}

function placesOf(slices: readonly Slice[]): string[] {
  return slices.flatMap(({ segmentId, from, to }) =>
    Array.from({ length: to - from }, (_, i) => `${segmentId}/${from + i}`),
  );
}

describe.each(KINDS)("a look ahead at %s", (_what, isFifo, isGrouped) => {
  const world = fc.record({
    queueRules: rules(isFifo),
    program: fc.array(steps(isGrouped), { minLength: 1, maxLength: 30, size: "max" }),
  });
  const twinsOf = ({ queueRules, program }: { queueRules: QueueRules; program: readonly Step[] }) => {
    const twins = new Twins(queueRules);
    for (const step of program) step(twins);
    twins.commit();
    return twins;
  };

  it("has exactly the messages that push deliveries lease, and changes nothing", () => {
    const allowance = fc.record({
      messagesMax: fc.constantFrom(0, 1, 3, Infinity),
      batchesMax: fc.constantFrom(1, Infinity),
    });
    fc.assert(
      fc.property(world, allowance, (input, allowed) => {
        const { queue, nowMs } = twinsOf(input);
        const ahead = nextDeliveries(queue, allowed, nowMs);
        const expected = foreseen(queue, ahead.has);
        expect(expected).toHaveLength(ahead.count);
        expect(queue.changes.size).toBe(0);
        checkInvariants(queue);
        const leased: string[] = [];
        for (let batches = 0; batches < allowed.batchesMax && allowed.messagesMax > 0; batches++) {
          const batch = nextBatch(queue, nowMs, allowed.messagesMax);
          if (batch === null) break;
          leased.push(...placesOf(batch.slices));
        }
        expect(leased.sort()).toEqual(expected.sort());
      }),
      { numRuns: 1_000 },
    );
  });

  it("has exactly the messages that receives lease", () => {
    const asked = fc.record({ max: fc.nat(12), atOnceMax: fc.constantFrom(1, 3, 10) });
    fc.assert(
      fc.property(world, asked, (input, { max, atOnceMax }) => {
        const { queue, nowMs } = twinsOf(input);
        const ahead = nextReceives(queue, max, atOnceMax, nowMs);
        const expected = foreseen(queue, ahead.has);
        const leased: string[] = [];
        while (leased.length < max) {
          const request = { max: Math.min(atOnceMax, max - leased.length), visibleAtMs: nowMs + 1_000 };
          const { lease: received } = receive(queue, request, nowMs);
          if (received === null) break;
          leased.push(...placesOf(received.slices));
        }
        expect(leased.sort()).toEqual(expected.sort());
      }),
      { numRuns: 1_000 },
    );
  });
});

it("a look ahead at noisy groups and large messages (spec sqs 8) has the messages that are leased, whichever group becomes noisy and whatever batch is full on the way", () => {
  const amounts = fc.record({
    noisy: fc.integer({ min: 0, max: 90 }),
    quiet: fc.integer({ min: 0, max: 40 }),
    held: fc.integer({ min: 0, max: 80 }),
    later: fc.boolean(),
    sizes: fc.array(fc.constantFrom(1, 1, 1, 1, 3_000_000, 13_000_000), { minLength: 7, maxLength: 7 }),
    maxBatchSize: fc.constantFrom(7, 30, 100),
    maxConcurrency: fc.constantFrom(1, 3),
  });
  fc.assert(
    fc.property(amounts, ({ noisy, quiet, held, later, sizes, maxBatchSize, maxConcurrency }) => {
      const queue = queueWith({ maxBatchSize, maxConcurrency, scalesConcurrency: false, batchTimeoutMs: 0 });
      const sendGroup = (id: string, count: number, nowMs: number) => {
        if (count === 0) return;
        const groups = Array<string>(count).fill(id);
        send(queue, { sizes: groups.map((_, i) => sizes[i % 7] ?? 1), dueMs: nowMs, groups }, nowMs);
      };
      sendGroup("noisy", noisy, T0);
      if (held > 0) lease(queue, { max: held, expiresMs: T0 + 1e9, kind: "pull" }, T0);
      sendMany(queue, 5, T0 + 1);
      sendGroup("quiet", quiet, T0 + 1);
      sendGroup("noisy", 10, T0 + 2);
      const nowMs = later ? T0 + 400_000 : T0 + 3;
      const ahead = nextDeliveries(queue, { messagesMax: Infinity, batchesMax: Infinity }, nowMs);
      const expected = foreseen(queue, ahead.has);
      const leased: string[] = [];
      for (let batch = nextBatch(queue, nowMs); batch !== null; batch = nextBatch(queue, nowMs)) {
        leased.push(...placesOf(batch.slices));
      }
      expect(leased.sort()).toEqual(expected.sort());
    }),
    { numRuns: 500 },
  );
});

describe("what a look ahead stops at", () => {
  const all = { messagesMax: Infinity, batchesMax: Infinity };
  const rulesOf = { maxBatchSize: 2, batchTimeoutMs: 100, maxConcurrency: 1 };

  it("is that nothing is ready, a batch that is not due, the slots, the bytes, or a limit", () => {
    const queue = queueWith(rulesOf);
    expect(nextDeliveries(queue, all, T0)).toMatchObject({
      count: 0,
      stop: "nothingReady",
      batchDueMs: null,
    });
    sendMany(queue, 1);
    expect(nextDeliveries(queue, all, T0)).toMatchObject({ count: 0, stop: "batch", batchDueMs: T0 + 100 });
    expect(nextDeliveries(queue, all, T0 + 100)).toMatchObject({ count: 1, stop: "slots" });
    sendMany(queue, 2);
    expect(nextDeliveries(queue, { ...all, messagesMax: 0 }, T0)).toMatchObject({ count: 0, stop: "limit" });
    expect(nextDeliveries(queue, { ...all, batchesMax: 0 }, T0)).toMatchObject({ count: 0, stop: "limit" });
    expect(nextDeliveries(queue, { messagesMax: 1, batchesMax: 1 }, T0).count).toBe(1);
    const large = queueWith({ ...rulesOf, maxConcurrency: null });
    large.push.target = 10;
    send(large, { sizes: Array<number>(8).fill(6_000_000), dueMs: T0 }, T0);
    expect(nextDeliveries(large, all, T0)).toMatchObject({ count: 4, stop: "bytes" });
  });
});

it("messageRanges are all messages with their state, from any place on", () => {
  const queue = queueWith();
  const first = sendMany(queue, 4);
  queue.tails.length = 0;
  const second = sendMany(queue, 2, T0, T0 + 50);
  lease(queue, { max: 2, expiresMs: T0 + 9, kind: "pull" }, T0);
  const waits = { attempts: 0, leaseKind: null };
  const rest = [
    { segmentId: first, from: 2, to: 4, state: "ready", atMs: T0, ...waits },
    { segmentId: second, from: 0, to: 2, state: "delayed", atMs: T0 + 50, ...waits },
  ];
  const held = { state: "leased", attempts: 1, atMs: T0 + 9, leaseKind: "pull" };
  expect([...messageRanges(queue)]).toEqual([{ segmentId: first, from: 0, to: 2, ...held }, ...rest]);
  expect([...messageRanges(queue, { segmentId: first, index: 1 })]).toEqual(rest);
  expect([...messageRanges(queue, { segmentId: first, index: 2 })]).toEqual([
    { ...rest[0], from: 3 },
    rest[1],
  ]);
  expect([...messageRanges(queue, { segmentId: second, index: 5 })]).toEqual([]);
  expect(rangeAt(queue, { segmentId: first, index: 1 })).toEqual({
    segmentId: first,
    from: 1,
    to: 2,
    ...held,
  });
  expect(rangeAt(queue, { segmentId: first, index: 4 })).toBeNull();
  expect(rangeAt(queue, { segmentId: 7, index: 0 })).toBeNull();
});

it("messageRanges count every message once, in whatever state", () => {
  const program = fc.array(steps(true), { minLength: 1, maxLength: 30, size: "max" });
  fc.assert(
    fc.property(rules(true), program, (queueRules, all) => {
      const twins = new Twins(queueRules);
      for (const step of all) step(twins);
      const found = [...messageRanges(twins.queue)];
      const { readyCount, delayedCount, leasedCount } = twins.queue;
      const of = (state: string) => countOf(found.filter((range) => range.state === state));
      expect([of("ready"), of("delayed"), of("leased")]).toEqual([readyCount, delayedCount, leasedCount]);
    }),
    { numRuns: 300 },
  );
});

it("a look ahead says why it ends", () => {
  const queue = queueOf(3, {
    maxBatchSize: 2,
    batchTimeoutMs: 100,
    maxConcurrency: 9,
    scalesConcurrency: false,
  });
  const all = { messagesMax: Infinity, batchesMax: Infinity };
  expect(nextReceives(queue, 2, 10, T0)).toMatchObject({ count: 2, stop: "limit" });
  expect(nextReceives(queue, 4, 10, T0)).toMatchObject({ count: 3, stop: "nothingReady" });
  expect(nextDeliveries(queue, { ...all, batchesMax: 1 }, T0)).toMatchObject({ count: 2, stop: "limit" });
  expect(nextDeliveries(queue, all, T0)).toMatchObject({ count: 2, stop: "batch", batchDueMs: T0 + 100 });
  expect(nextDeliveries(queue, all, T0 + 100)).toMatchObject({ count: 3, stop: "nothingReady" });
});

it.each([
  [PUSH_BYTES_MAX - 1, 1],
  [PUSH_BYTES_MAX, 0],
  [PUSH_BYTES_MAX + 1, 0],
])("a look ahead with %i bytes in flight takes %i messages more", (inFlightBytes, count) => {
  const queue = queueOf(1, { maxConcurrency: 9, batchTimeoutMs: 0 });
  queue.push.inFlightBytes = inFlightBytes;
  expect(nextDeliveries(queue, { messagesMax: 10, batchesMax: 10 }, T0)).toMatchObject({
    count,
    stop: "bytes",
  });
});
