import { type MessagePosition, removeMessage } from "../src/commands/purge.ts";
import {
  acknowledge,
  advance,
  changeDelay,
  changeVisibility,
  counts,
  createQueue,
  deleteReceived,
  endPushLeases,
  expireLeases,
  expireRetention,
  factsOf,
  giveUp,
  type Lease,
  lease,
  makeDue,
  nextBatch,
  nextWakeAt,
  type PushEnd,
  peek,
  purge,
  pushEnded,
  type Queue,
  type QueueRules,
  type Receipt,
  receive,
  release,
  retry,
  send,
  VISIBILITY_TOTAL_MS_MAX,
} from "../src/index.ts";
import { hasPushSlot } from "../src/push/dispatch.ts";
import type { Slice } from "../src/segments/segment.ts";
import { checkInvariants } from "./invariants.ts";
import { type NaiveLease, type NaiveMessage, NaiveQueue } from "./naive-queue.ts";
import { T0 } from "./queues.ts";
import { same } from "./same.ts";
import { countOf, positionsOf, rangesWithin } from "./slices.ts";
import { StoredRows } from "./stored-rows.ts";

/** Settlement of a message by the consumer that holds it. */
export type Verdict = "ack" | "retry" | "retryLater" | "release" | "giveUp";

/** How much later `retryLater` is, and when a released message that was delivered before comes again, in ms. */
const LATER_MS = 2_000;
const RELEASED_MS = 10;
/** How many messages a look at the queue shows. */
const PEEKED = 7;

export interface MessageToSend {
  readonly size: number;
  /** `queue`: that of the queue. */
  readonly delayMs: number | "queue";
  readonly group?: string;
  /** How old it is when it comes, in ms: a dead letter is older than its arrival. */
  readonly ageMs?: number;
}

/** A lease on both sides. Kept after it has ended: settling it then must do nothing. */
interface HeldLease {
  readonly naive: NaiveLease;
  readonly batch: Lease;
  /** Whether the slot of a push delivery is still taken. */
  running: boolean;
}

/** A message of a receive on both sides, and what its receipt says. */
interface HeldReceipt {
  readonly message: NaiveMessage;
  readonly lease: NaiveLease;
  readonly receipt: Receipt;
}

/**
 * The engine and the naive queue, given the same commands. Every command compares what the two answer; `check` compares
 * all that can be observed, what is stored, and the engine's own invariants.
 *
 * Throws `Error` where they differ; not `expect`, because it runs millions of times.
 */
export class Twins {
  queue: Queue;
  readonly naive: NaiveQueue;
  nowMs = T0;
  /** Delay of messages that name none. */
  queueDelayMs = 0;
  readonly leases: HeldLease[] = [];
  readonly receipts: HeldReceipt[] = [];
  readonly #rows = new StoredRows();
  #epoch = 1;

  constructor(rules: QueueRules) {
    this.queue = createQueue(rules, this.#epoch);
    this.naive = new NaiveQueue(rules);
    this.naive.nextSeq = this.queue.nextSeq;
  }

  send(messages: readonly MessageToSend[]): void {
    const sent = messages.map(({ delayMs, ageMs = 0, ...message }) => ({
      ...message,
      dueMs: this.nowMs + (delayMs === "queue" ? this.queueDelayMs : delayMs),
      acceptedMs: this.nowMs - ageMs,
    }));
    const dues = sent.map((message) => message.dueMs);
    const uniform = dues.every((due) => due === dues[0]) ? dues[0] : undefined;
    const firstSeq = this.naive.nextSeq;
    const known = this.naive.send(sent, this.nowMs);
    const sizes = sent.map((message) => message.size);
    const named = sent.map((message) => message.group ?? null);
    const groups = named.every((group) => group === null) ? {} : { groups: named };
    const ages = messages.some(({ ageMs }) => ageMs !== undefined)
      ? { acceptedMs: sent.map(({ acceptedMs }) => acceptedMs) }
      : {};
    const placement = send(this.queue, { sizes, dueMs: uniform ?? dues, ...groups, ...ages }, this.nowMs);
    const segment = this.queue.segments.get(placement.segmentId);
    sent.forEach((_, i) => {
      const position = placement.order?.[i] ?? i;
      const message = known[position] as NaiveMessage; // `order` is one of all that was sent
      message.place = { segmentId: placement.segmentId, index: placement.from + i };
      same(segment?.sizes[placement.from + i], sent[position]?.size, "size of a placed message");
      same(segment?.dueOf(placement.from + i), sent[position]?.dueMs, "due time of a placed message");
      same(segment?.seqOf(placement.from + i), firstSeq + position, "sequence number of a placed message");
      const group = segment?.groups?.[placement.from + i]?.id;
      const expected = this.queue.isFifo || groups.groups !== undefined;
      same(group, expected ? (sent[position]?.group ?? "") : undefined, "group of a placed message");
    });
  }

  pull(max: number, forMs: number): void {
    const expiresMs = this.nowMs + forMs;
    const expected = this.naive.lease(max, "pull", expiresMs, this.nowMs);
    const batch = lease(this.queue, { max, expiresMs, kind: "pull" }, this.nowMs);
    this.#note(batch, expected, false);
    if (batch === null || expected === null) return;
    const positions = positionsOf(batch);
    expected.messages.forEach((message, i) => {
      const receipt = positions[i] as Receipt; // `#note` has compared the counts
      this.receipts.push({ message, lease: expected, receipt });
    });
  }

  receive(max: number, forMs: number): void {
    const visibleAtMs = this.nowMs + forMs;
    const deadBefore = this.naive.gone.dead;
    const expected = this.naive.lease(max, "receive", visibleAtMs, this.nowMs);
    const { lease: batch, dead } = receive(this.queue, { max, visibleAtMs }, this.nowMs);
    same(countOf(dead), this.naive.gone.dead - deadBefore, "dead at a receive");
    this.#note(batch, expected, false);
    if (batch === null || expected === null) return;
    const positions = positionsOf(batch);
    expected.messages.forEach((message, i) => {
      const receipt = positions[i] as Receipt; // `#note` has compared the counts
      const facts = factsOf(this.queue, receipt);
      same(facts?.receives, message.attempts, "receives");
      same(facts?.firstReceivedMs, message.firstReceivedMs, "the first receive");
      same(facts?.seq, message.seq, "sequence number of a received message");
      this.receipts.push({ message, lease: expected, receipt });
    });
    if (forMs <= 0) this.naive.giveBack(expected.messages, this.nowMs, this.nowMs);
  }

  deleteReceived({ message, lease: held, receipt }: HeldReceipt): void {
    const { naive, nowMs } = this;
    const isThere = naive.messages.includes(message);
    const isGood = isThere && naive.isGood(message, held, nowMs);
    const expected = !isThere ? "gone" : isGood ? "deleted" : "expired";
    same(deleteReceived(this.queue, receipt, nowMs), expected, "a delete");
    if (isGood) naive.acknowledge([message]);
  }

  changeVisibility({ message, lease: held, receipt }: HeldReceipt, forMs: number): void {
    const { naive, nowMs } = this;
    const { receivedMs } = held;
    const visibleAtMs = nowMs + forMs;
    const isThere = naive.messages.includes(message);
    const isGood = isThere && naive.isGood(message, held, nowMs);
    const isOver = forMs > 0 && visibleAtMs > receivedMs + VISIBILITY_TOTAL_MS_MAX;
    const expected = !isThere ? "gone" : !isGood ? "expired" : isOver ? "overTotal" : "changed";
    const actual = changeVisibility(this.queue, receipt, { visibleAtMs, receivedMs }, nowMs);
    same(actual, expected, "a change of visibility");
    if (actual !== "changed") return;
    if (forMs <= 0) {
      naive.giveBack([message], nowMs, nowMs);
    } else {
      message.lease = held;
      message.until = visibleAtMs;
    }
  }

  push(): void {
    const { maxBatchSize, pushLeaseMs } = this.naive.rules;
    const due = hasPushSlot(this.queue) && this.naive.batchIsDue(this.nowMs);
    const expiresMs = this.nowMs + pushLeaseMs;
    const expected = due ? this.naive.lease(maxBatchSize, "push", expiresMs, this.nowMs) : null;
    this.#note(nextBatch(this.queue, this.nowMs), expected, true);
  }

  /** Settles messages [from, to) of a lease, counted in the order in which they were delivered. */
  settle(held: HeldLease, from: number, to: number, verdict: Verdict): void {
    const { naive, queue, nowMs } = this;
    const mine = naive.heldBy(held.naive, from, to);
    const ranges = rangesWithin(held.batch, from, to);
    if (verdict === "ack") {
      const acked = ranges.reduce((sum, range) => sum + acknowledge(queue, range), 0);
      same(acked, mine.length, "acknowledged");
      naive.acknowledge(mine);
    } else if (verdict === "giveUp") {
      same(countOf(ranges.flatMap((range) => giveUp(queue, range))), mine.length, "given up");
      naive.giveUp(mine);
    } else if (verdict === "release") {
      for (const range of ranges) release(queue, range, nowMs + RELEASED_MS, nowMs);
      naive.release(mine, nowMs + RELEASED_MS, nowMs);
    } else {
      const dueMs = nowMs + (verdict === "retry" ? 0 : LATER_MS);
      const outcomes = ranges.map((range) => retry(queue, range, dueMs, nowMs));
      const deadBefore = naive.gone.dead;
      this.#sameMessages(
        outcomes.flatMap((outcome) => outcome.retried),
        naive.fail(mine, dueMs),
      );
      same(countOf(outcomes.flatMap((outcome) => outcome.dead)), naive.gone.dead - deadBefore, "dead");
    }
  }

  /** Gives the slot of a push delivery back; does nothing for a lease without one. */
  end(held: HeldLease, how: PushEnd): void {
    if (!held.running) return;
    held.running = false;
    pushEnded(this.queue, held.batch, how);
  }

  expireLeases(): void {
    const outcome = expireLeases(this.queue, this.nowMs);
    const expected = this.naive.expireLeases(this.nowMs);
    // The engine ends them in order of expiry, which cannot be observed afterwards.
    same(this.#seqsOf(outcome.retried).sort().join(), expected.retried.map(seqOf).sort().join(), "expired");
    same(countOf(outcome.dead), expected.dead, "dead with their lease");
  }

  expireRetention(): void {
    const expected = this.naive.expireRetention(this.nowMs);
    same(expireRetention(this.queue, this.nowMs), expected, "expired");
  }

  /** Another delay of the queue, for what waits because of the one before too. Its indexes are written anew. */
  changeDelay(toMs: number): void {
    const { naive, queue, nowMs, queueDelayMs } = this;
    this.queueDelayMs = toMs;
    const expected = naive.changeDelay(queueDelayMs, toMs, nowMs).filter((id) => queue.segments.has(id));
    const changed = changeDelay(queue, queueDelayMs, toMs, nowMs);
    same(changed.join(), expected.sort((a, b) => a - b).join(), "segments with another due time");
    this.commit();
    this.#rows.writeIndexes(queue, changed);
  }

  purge(): void {
    same(purge(this.queue), this.naive.purge(), "purged");
  }

  /** Deletes one message, whatever state it is in, and once more. */
  remove(which: number): void {
    const message = this.naive.messages[which % Math.max(1, this.naive.messages.length)];
    if (message === undefined) return;
    const position = this.#positionOf(message);
    this.naive.remove(message);
    same(removeMessage(this.queue, position), true, "a message that is there is deleted");
    same(removeMessage(this.queue, position), false, "a message that is gone is deleted");
  }

  /** Makes one message due, whatever state it is in, and once more. */
  makeDue(which: number): void {
    const message = this.naive.messages[which % Math.max(1, this.naive.messages.length)];
    if (message === undefined) return;
    const position = this.#positionOf(message);
    const expected = this.naive.makeDue(message, this.nowMs) ? "wasDue" : "due";
    same(makeDue(this.queue, position, this.nowMs), expected, "a message is made due");
    same(makeDue(this.queue, position, this.nowMs), "wasDue", "a message is made due again");
  }

  /** Forgets everything but the stored rows and starts again from them. */
  restart(): void {
    this.commit();
    this.queue = createQueue(this.naive.rules, ++this.#epoch);
    this.#rows.restore(this.queue, this.nowMs);
    checkInvariants(this.queue);
    this.#rows.check(this.queue);
    endPushLeases(this.queue, this.nowMs);
    this.naive.endPushLeases(this.nowMs);
    for (const held of this.leases) held.running = false;
    // The naive list numbers on from its last message, the engine from the last one that is left: order is what counts.
    this.naive.nextSeq = this.queue.nextSeq;
  }

  commit(): void {
    this.#rows.commit(this.queue);
  }

  check(): void {
    advance(this.queue, this.nowMs);
    checkInvariants(this.queue);
    const { naive, nowMs } = this;
    const actual = counts(this.queue);
    const expected = naive.counts(nowMs);
    same(actual.ready, expected.ready, "ready");
    same(actual.delayed, expected.delayed, "delayed");
    same(actual.leased, expected.leased, "leased");
    same(actual.waitingBytes, expected.waitingBytes, "bytes that wait");
    same(actual.oldestWaitingMs, expected.oldestWaitingMs, "the oldest message that waits");
    const { acked, dead, expired } = naive.gone;
    same(naive.messages.length + acked + dead + expired, naive.sent, "messages that were sent");
    const pushing = hasPushSlot(this.queue);
    same(nextWakeAt(this.queue, true), naive.nextWakeAt(nowMs, pushing), "next wake while pushing");
    same(nextWakeAt(this.queue, false), naive.nextWakeAt(nowMs, false), "next wake while not pushing");
    this.#checkPeek();
    this.commit();
    this.#rows.check(this.queue);
  }

  /** A look at the queue shows what waits, in order. Messages of groups leave in an order of their own. */
  #checkPeek(): void {
    const slices = peek(this.queue, PEEKED);
    const waiting = this.naive.waiting();
    if (this.queue.order !== null) {
      same(countOf(slices), Math.min(PEEKED, waiting.length), "messages that are seen");
      return;
    }
    const first = waiting.sort((a, b) => a.dueMs - b.dueMs || a.seq - b.seq).slice(0, PEEKED);
    this.#sameMessages(slices, first);
    sameNumbers(attemptsOf(slices), first.map(attemptsOfMessage), "attempts that are seen");
  }

  #positionOf({ seq }: NaiveMessage): MessagePosition {
    for (const segment of this.queue.segments.values()) {
      for (let index = 0; index < segment.count; index++) {
        if (segment.seqOf(index) === seq) return { segmentId: segment.id, index };
      }
    }
    throw new Error(`message ${seq} is in no segment`);
  }

  #note(batch: Lease | null, naive: NaiveLease | null, running: boolean): void {
    same(batch === null, naive === null, "nothing was leased");
    if (batch === null || naive === null) return;
    const { messages } = naive;
    this.#sameMessages(batch.slices, messages);
    same(batch.count, messages.length, "count of a lease");
    same(
      batch.bytes,
      messages.reduce((sum, message) => sum + message.size, 0),
      "bytes of a lease",
    );
    same(batch.expiresMs, naive.expiresMs, "expiry of a lease");
    sameNumbers(attemptsOf(batch.slices), messages.map(attemptsOfMessage), "attempts");
    this.leases.push({ naive, batch, running });
  }

  #sameMessages(slices: readonly Slice[], expected: readonly NaiveMessage[]): void {
    sameNumbers(this.#seqsOf(slices), expected.map(seqOf), "messages");
  }

  #seqsOf(slices: readonly Slice[]): number[] {
    const seqs: number[] = [];
    for (const { segmentId, from, to } of slices) {
      const segment = this.queue.segments.get(segmentId);
      if (segment === undefined) throw new Error(`a slice of segment ${segmentId}, which is gone`);
      for (let i = from; i < to; i++) seqs.push(segment.seqOf(i));
    }
    return seqs;
  }
}

function seqOf(message: NaiveMessage): number {
  return message.seq;
}

function attemptsOfMessage(message: NaiveMessage): number {
  return message.attempts;
}

/** The attempts of each message of the slices. */
function attemptsOf(slices: readonly Slice[]): number[] {
  const attempts: number[] = [];
  for (const { from, to, attempts: each } of slices) for (let i = from; i < to; i++) attempts.push(each);
  return attempts;
}

function sameNumbers(actual: readonly number[], expected: readonly number[], what: string): void {
  let isSame = actual.length === expected.length;
  for (let i = 0; i < actual.length && isSame; i++) isSame = actual[i] === expected[i];
  if (!isSame) same(actual.join(), expected.join(), what);
}
