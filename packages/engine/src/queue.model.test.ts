import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasPushSlot } from "./dispatch.ts";
import {
  acknowledge,
  advance,
  counts,
  createQueue,
  encodeIndex,
  encodeState,
  endPushLeases,
  expireLeases,
  expireRetention,
  type Lease,
  lease,
  nextBatch,
  nextWakeAt,
  pushEnded,
  type Queue,
  type QueueRules,
  release,
  restoreSegment,
  retry,
  type Slice,
  send,
  takeChanges,
} from "./index.ts";

/*
 * The engine against the most naive queue there is: a list of messages, searched from the front. Every command runs on
 * both, and after every command everything that can be observed must be the same.
 */

interface NaiveMessage {
  readonly seq: number;
  readonly size: number;
  readonly acceptedMs: number;
  readonly firstDueMs: number;
  attempts: number;
  dueMs: number;
  lease: { id: number; kind: "push" | "pull"; expiresMs: number } | null;
}

interface NaiveLease {
  readonly leaseId: number;
  readonly seqs: readonly number[];
  readonly batch: Lease;
  readonly push: boolean;
}

/** A stored row: what survives a crash. */
interface Row {
  index: Uint8Array;
  state: Uint8Array | null;
}

class World {
  queue: Queue;
  nowMs = 1_000_000;
  epoch = 1;
  waiting: NaiveMessage[] = [];
  leases: NaiveLease[] = [];
  nextSeq = 0;
  gone = { acked: 0, dead: 0, expired: 0 };
  sent = 0;
  rows = new Map<number, Row>();

  constructor(readonly rules: QueueRules) {
    this.queue = createQueue(rules, this.epoch);
  }

  commit(): void {
    for (const [id, change] of takeChanges(this.queue)) {
      const segment = this.queue.segments.get(id);
      if (change === "gone") {
        expect(segment).toBeUndefined();
        expect(this.rows.delete(id)).toBe(true);
      } else {
        if (segment === undefined) throw new Error(`segment ${id} is ${change} and not there`);
        this.rows.set(id, { index: encodeIndex(segment), state: encodeState(segment) });
      }
    }
  }

  ready(): NaiveMessage[] {
    return this.waiting
      .filter((message) => message.lease === null && message.dueMs <= this.nowMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.seq - b.seq);
  }

  find(seqs: readonly number[]): NaiveMessage[] {
    return seqs.flatMap((seq) => this.waiting.filter((message) => message.seq === seq));
  }

  remove(messages: readonly NaiveMessage[]): void {
    this.waiting = this.waiting.filter((message) => !messages.includes(message));
  }

  seqs(slices: readonly Slice[]): number[] {
    return slices.flatMap((slice) => {
      const segment = this.queue.segments.get(slice.segmentId);
      if (segment === undefined) throw new Error("a slice of a segment that is gone");
      return Array.from({ length: slice.to - slice.from }, (_, i) => segment.seqOf(slice.from + i));
    });
  }

  fail(messages: readonly NaiveMessage[], dueMs: number): void {
    const dead = messages.filter((message) => message.attempts > this.rules.maxRetries);
    this.gone.dead += dead.length;
    this.remove(dead);
    for (const message of messages) {
      message.lease = null;
      message.dueMs = dueMs;
    }
  }

  check(): void {
    advance(this.queue, this.nowMs);
    const live = this.waiting;
    const waiting = live.filter((message) => message.lease === null);
    const leased = live.filter((message) => message.lease !== null);
    expect(counts(this.queue)).toEqual({
      ready: this.ready().length,
      delayed: waiting.length - this.ready().length,
      leased: leased.length,
      waitingBytes: waiting.reduce((sum, message) => sum + message.size, 0),
      oldestWaitingMs:
        waiting.length === 0 ? null : Math.min(...waiting.map((message) => message.acceptedMs)),
    });
    expect(this.sent).toBe(live.length + this.gone.acked + this.gone.dead + this.gone.expired);
    expect(nextWakeAt(this.queue, true)).toBe(this.naiveWake(waiting, leased));
    this.commit();
    expect([...this.rows.keys()]).toEqual([...this.queue.segments.keys()]);
  }

  naiveWake(waiting: readonly NaiveMessage[], leased: readonly NaiveMessage[]): number | null {
    const moments = leased.map((message) => message.lease?.expiresMs ?? 0);
    moments.push(...waiting.map((message) => message.acceptedMs + this.rules.retentionMs));
    if (hasPushSlot(this.queue)) {
      const dues = waiting.map((message) => message.dueMs).sort((a, b) => a - b);
      const full = dues[this.rules.maxBatchSize - 1];
      const first = dues[0];
      if (full !== undefined && full <= this.nowMs) moments.push(first ?? 0);
      else if (full !== undefined) moments.push(full);
      if (first !== undefined) moments.push(first + this.rules.batchTimeoutMs);
    }
    return moments.length === 0 ? null : Math.min(...moments);
  }
}

type Step = (world: World) => void;

const delayMs = fc.constantFrom(0, 0, 0, 1, 500, 1000, 5000);

const sendStep: fc.Arbitrary<[string, Step]> = fc
  .array(fc.record({ size: fc.integer({ min: 0, max: 6000 }), delay: delayMs }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((messages) => [
    `send ${JSON.stringify(messages)}`,
    (world) => {
      const dues = messages.map((message) => world.nowMs + message.delay);
      const uniform = dues.every((due) => due === dues[0]);
      const placement = send(
        world.queue,
        { sizes: messages.map((message) => message.size), dueMs: uniform ? (dues[0] ?? 0) : dues },
        world.nowMs,
      );
      const segment = world.queue.segments.get(placement.segmentId);
      messages.forEach((_, i) => {
        const position = placement.order?.[i] ?? i;
        expect(segment?.sizes[placement.from + i]).toBe(messages[position]?.size);
        expect(segment?.seqOf(placement.from + i)).toBe(world.nextSeq + position);
      });
      messages.forEach((message, i) => {
        world.waiting.push({
          seq: world.nextSeq++,
          size: message.size,
          acceptedMs: world.nowMs,
          attempts: 0,
          firstDueMs: dues[i] ?? 0,
          dueMs: dues[i] ?? 0,
          lease: null,
        });
      });
      world.sent += messages.length;
    },
  ]);

function noteLease(world: World, batch: Lease | null, expected: NaiveMessage[], push: boolean): void {
  if (batch === null) {
    expect(expected).toEqual([]);
    return;
  }
  expect(world.seqs(batch.slices)).toEqual(expected.map((message) => message.seq));
  expect(batch.count).toBe(expected.length);
  expect(batch.bytes).toBe(expected.reduce((sum, message) => sum + message.size, 0));
  for (const message of expected) {
    message.attempts += 1;
    message.lease = { id: batch.leaseId, kind: push ? "push" : "pull", expiresMs: batch.expiresMs };
  }
  const attempts = batch.slices.flatMap((slice) => Array(slice.to - slice.from).fill(slice.attempts));
  expect(attempts).toEqual(expected.map((message) => message.attempts));
  world.leases.push({
    leaseId: batch.leaseId,
    seqs: expected.map((message) => message.seq),
    batch,
    push,
  });
}

const pullStep: fc.Arbitrary<[string, Step]> = fc
  .record({ max: fc.integer({ min: 1, max: 12 }), forMs: fc.constantFrom(1, 700, 3000) })
  .map(({ max, forMs }) => [
    `pull ${max} for ${forMs} ms`,
    (world) => {
      const expected = world.ready().slice(0, max);
      const batch = lease(world.queue, { max, expiresMs: world.nowMs + forMs, kind: "pull" }, world.nowMs);
      noteLease(world, batch, expected, false);
    },
  ]);

const pushStep: fc.Arbitrary<[string, Step]> = fc.constant([
  "push",
  (world) => {
    const ready = world.ready();
    const due =
      hasPushSlot(world.queue) &&
      ready.length > 0 &&
      (ready.length >= world.rules.maxBatchSize ||
        world.nowMs >= (ready[0]?.dueMs ?? 0) + world.rules.batchTimeoutMs);
    const expected = due ? ready.slice(0, world.rules.maxBatchSize) : [];
    noteLease(world, nextBatch(world.queue, world.nowMs), expected, true);
  },
]);

/** What a consumer does with one message of a lease. */
const verdict = fc.constantFrom("ack", "retry", "retryLater", "release", "nothing");

const settleStep: fc.Arbitrary<[string, Step]> = fc
  .record({ which: fc.nat(20), verdicts: fc.array(verdict, { minLength: 1, maxLength: 8 }) })
  .map(({ which, verdicts }) => [
    `settle lease ${which} ${verdicts.join()}`,
    (world) => {
      const held = world.leases[which % Math.max(1, world.leases.length)];
      if (held === undefined) return;
      let position = 0;
      for (const slice of held.batch.slices) {
        for (let i = slice.from; i < slice.to; i++) {
          const range = { leaseId: held.leaseId, segmentId: slice.segmentId, from: i, to: i + 1 };
          settleOne(
            world,
            held,
            held.seqs[position] ?? -1,
            range,
            verdicts[position % verdicts.length] ?? "ack",
          );
          position += 1;
        }
      }
      if (held.push) pushEnded(world.queue, held.batch, verdicts.includes("retry") ? "failed" : "ok");
      world.leases = world.leases.filter((other) => other !== held || verdicts.includes("nothing"));
      if (held.push && verdicts.includes("nothing")) {
        world.leases = world.leases.map((other) => (other === held ? { ...other, push: false } : other));
      }
    },
  ]);

function settleOne(
  world: World,
  held: NaiveLease,
  seq: number,
  range: { leaseId: number; segmentId: number; from: number; to: number },
  what: string,
): void {
  const messages = world.find([seq]).filter((message) => message.lease?.id === held.leaseId);
  if (what === "ack") {
    expect(acknowledge(world.queue, range)).toBe(messages.length);
    world.remove(messages);
    world.gone.acked += messages.length;
  } else if (what === "release") {
    release(world.queue, range, world.nowMs + 10, world.nowMs);
    for (const message of messages) {
      message.attempts -= 1;
      message.dueMs = message.attempts === 0 ? message.firstDueMs : world.nowMs + 10;
      message.lease = null;
    }
  } else if (what !== "nothing") {
    const dueMs = world.nowMs + (what === "retryLater" ? 2000 : 0);
    const outcome = retry(world.queue, range, dueMs, world.nowMs);
    expect(outcome.dead.length + outcome.retried.length).toBe(messages.length);
    world.fail(messages, dueMs);
  }
}

/** A whole stretch of a lease at once, over messages that may have been settled one by one before. */
const ackRangeStep: fc.Arbitrary<[string, Step]> = fc.nat(20).map((which) => [
  `ack all of lease ${which}`,
  (world) => {
    const held = world.leases[which % Math.max(1, world.leases.length)];
    if (held === undefined) return;
    let acked = 0;
    for (const slice of held.batch.slices)
      acked += acknowledge(world.queue, { ...slice, leaseId: held.leaseId });
    const messages = world.find(held.seqs).filter((message) => message.lease?.id === held.leaseId);
    expect(acked).toBe(messages.length);
    world.remove(messages);
    world.gone.acked += acked;
    if (held.push) pushEnded(world.queue, held.batch, "ok");
    world.leases = world.leases.filter((other) => other !== held);
  },
]);

const timeStep: fc.Arbitrary<[string, Step]> = fc.constantFrom(1, 300, 1000, 4000, 20_000).map((ms) => [
  `${ms} ms pass`,
  (world) => {
    world.nowMs += ms;
  },
]);

const expireLeasesStep: fc.Arbitrary<[string, Step]> = fc.constant([
  "leases expire",
  (world) => {
    const lapsed = world.waiting.filter((message) => (message.lease?.expiresMs ?? Infinity) <= world.nowMs);
    const outcome = expireLeases(world.queue, world.nowMs);
    const touched = [...outcome.dead, ...outcome.retried].reduce(
      (sum, slice) => sum + slice.to - slice.from,
      0,
    );
    expect(touched).toBe(lapsed.length);
    for (const message of lapsed) {
      world.fail([message], world.nowMs + (message.lease?.kind === "push" ? world.rules.retryDelayMs : 0));
    }
  },
]);

const retentionStep: fc.Arbitrary<[string, Step]> = fc.constant([
  "retention",
  (world) => {
    const old = world.waiting.filter(
      (message) => message.lease === null && message.acceptedMs <= world.nowMs - world.rules.retentionMs,
    );
    expect(expireRetention(world.queue, world.nowMs)).toBe(old.length);
    world.remove(old);
    world.gone.expired += old.length;
  },
]);

const restartStep: fc.Arbitrary<[string, Step]> = fc.constant([
  "restart",
  (world) => {
    world.commit();
    world.epoch += 1;
    world.queue = createQueue(world.rules, world.epoch);
    for (const [id, row] of [...world.rows].sort(([a], [b]) => a - b)) {
      restoreSegment(world.queue, id, row.index, row.state, world.nowMs);
    }
    endPushLeases(world.queue, world.nowMs);
    world.fail(
      world.waiting.filter((message) => message.lease?.kind === "push"),
      world.nowMs,
    );
    // The naive list numbers on from its last message, the engine from the last one that is left: order is what counts.
    world.nextSeq = world.queue.nextSeq;
    world.leases = world.leases.filter((held) => !held.push);
  },
]);

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: sendStep },
    { weight: 4, arbitrary: pullStep },
    { weight: 4, arbitrary: pushStep },
    { weight: 5, arbitrary: settleStep },
    { weight: 2, arbitrary: ackRangeStep },
    { weight: 4, arbitrary: timeStep },
    { weight: 2, arbitrary: expireLeasesStep },
    { weight: 1, arbitrary: retentionStep },
    { weight: 1, arbitrary: restartStep },
  ),
  { minLength: 1, maxLength: 40 },
);

/** The same steps with a name that fast-check prints. */
const programs = steps.map((program) =>
  program.map(([name, run]) => ({ run, [fc.toStringMethod]: () => name })),
);

const rules: fc.Arbitrary<QueueRules> = fc.record({
  maxBatchSize: fc.integer({ min: 1, max: 8 }),
  batchTimeoutMs: fc.constantFrom(0, 1000, 5000),
  maxRetries: fc.integer({ min: 0, max: 3 }),
  maxConcurrency: fc.constantFrom(null, 1, 3),
  retryDelayMs: fc.constantFrom(0, 1500),
  retentionMs: fc.constantFrom(15_000, 1e9),
  pushLeaseMs: fc.constantFrom(900_000, 2500),
});

describe("the engine does what a plain list of messages does", () => {
  it("in every observable respect, after every command, across restarts", () => {
    fc.assert(
      fc.property(rules, programs, (queueRules, program) => {
        const world = new World(queueRules);
        for (const step of program) {
          step.run(world);
          world.check();
        }
      }),
      { numRuns: Number(process.env.SLUICE_MODEL_RUNS ?? 1500) },
    );
  });
});
