import type { QueueCounts, QueueRules } from "../src/index.ts";
import type { LeaseKind } from "../src/segments/segment.ts";

/** A message of the naive queue: no segments, no heaps, no entries, just what is known about it. */
export interface NaiveMessage {
  readonly seq: number;
  readonly size: number;
  readonly acceptedMs: number;
  /** Due time that it was sent with, or that another delay of the queue has given it. */
  firstDueMs: number;
  /** Where the engine has stored it: what is stored together keeps its order when the queue's delay changes. */
  place: { readonly segmentId: number; readonly index: number } | null;
  /** "" for none. */
  readonly group: string;
  firstReceivedMs: number;
  attempts: number;
  dueMs: number;
  lease: NaiveLease | null;
  /** End of the lease: that of its receive, or what it was changed to. */
  until: number;
}

export interface NaiveLease {
  readonly kind: LeaseKind;
  readonly receivedMs: number;
  readonly expiresMs: number;
  /** Messages that were leased, in order; some of them may be settled by now. */
  readonly messages: readonly NaiveMessage[];
}

/**
 * The most naive queue there is: a list of messages, searched from the front. It is what the specification says
 * (cloudflare-queues 3.2 and 4) and nothing else, so whatever the engine does faster must come out the same.
 */
export class NaiveQueue {
  readonly rules: QueueRules;
  /** Messages that are not gone, in order of sending. */
  messages: NaiveMessage[] = [];
  /** Those that are gone too. */
  readonly everSent: NaiveMessage[] = [];
  nextSeq = 0;
  sent = 0;
  readonly gone = { acked: 0, dead: 0, expired: 0 };

  constructor(rules: QueueRules) {
    this.rules = rules;
  }

  send(
    messages: readonly {
      readonly size: number;
      readonly dueMs: number;
      readonly group?: string;
      readonly acceptedMs?: number;
    }[],
    nowMs: number,
  ): NaiveMessage[] {
    this.sent += messages.length;
    const sent = messages.map(({ size, dueMs, group = "", acceptedMs = nowMs }): NaiveMessage => {
      const times = { acceptedMs, firstDueMs: dueMs, dueMs, firstReceivedMs: 0 };
      const state = { attempts: 0, lease: null, until: 0, place: null };
      return { seq: this.nextSeq++, size, group, ...times, ...state };
    });
    this.messages.push(...sent);
    this.everSent.push(...sent);
    return sent;
  }

  /**
   * Moves messages that wait for the queue's own delay to another delay (spec sqs 4.1). Messages that are stored
   * together stay in their order. Answers with the segments in which a message waits so.
   */
  changeDelay(fromMs: number, toMs: number, nowMs: number): number[] {
    const stored = Map.groupBy(this.everSent, ({ place }) => place?.segmentId ?? 0);
    const changed: number[] = [];
    for (const [segmentId, messages] of stored) {
      const isWaiting = ({ firstDueMs, acceptedMs }: NaiveMessage) =>
        firstDueMs > nowMs && firstDueMs === acceptedMs + fromMs;
      if (messages.some(isWaiting)) changed.push(segmentId);
      let leastMs = -Infinity;
      for (const message of messages.sort((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0))) {
        leastMs = Math.max(leastMs, isWaiting(message) ? message.acceptedMs + toMs : message.firstDueMs);
        const wasMadeDue = message.dueMs !== message.firstDueMs;
        message.firstDueMs = leastMs;
        if (message.attempts === 0 && message.lease === null && !wasMadeDue) message.dueMs = leastMs;
      }
    }
    return changed;
  }

  waiting(): NaiveMessage[] {
    return this.messages.filter((message) => message.lease === null);
  }

  due(nowMs: number): NaiveMessage[] {
    return this.waiting()
      .filter((message) => message.dueMs <= nowMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.seq - b.seq);
  }

  /** In order of leaving: due time, then sequence number; on a FIFO queue group by group, what is not blocked. */
  ready(nowMs: number): NaiveMessage[] {
    const due = this.due(nowMs);
    if (this.rules.fifo !== true) return due;
    const heads: NaiveMessage[] = [];
    for (const group of new Set(this.messages.map((message) => message.group))) {
      const [head] = this.messages.filter((message) => message.group === group);
      if (head !== undefined && due.includes(head)) heads.push(head);
    }
    heads.sort((a, b) => a.dueMs - b.dueMs || a.seq - b.seq);
    return heads.flatMap((head) => {
      const group = this.messages.filter((message) => message.group === head.group);
      const blocked = group.findIndex((message) => !due.includes(message));
      return blocked === -1 ? group : group.slice(0, blocked);
    });
  }

  /** Whether a push delivery is due, if a slot is free. */
  batchIsDue(nowMs: number): boolean {
    const ready = this.ready(nowMs);
    const [first] = ready;
    if (first === undefined) return false;
    return (
      this.due(nowMs).length >= this.rules.maxBatchSize || nowMs >= first.dueMs + this.rules.batchTimeoutMs
    );
  }

  lease(max: number, kind: LeaseKind, expiresMs: number, nowMs: number): NaiveLease | null {
    const messages: NaiveMessage[] = [];
    const lease = { kind, receivedMs: nowMs, expiresMs, messages };
    while (messages.length < max) {
      const [first, ...others] = this.ready(nowMs);
      if (first === undefined) break;
      if (this.#isDeadLettered(first, kind)) continue;
      this.#take(lease, first);
      // As much as possible of one group, then the next group (spec sqs 4.2).
      for (const next of this.rules.fifo === true ? others : []) {
        if (next.group !== first.group || messages.length === max) break;
        if (!this.#isDeadLettered(next, kind)) this.#take(lease, next);
      }
    }
    return messages.length === 0 ? null : lease;
  }

  #take(lease: NaiveLease & { messages: NaiveMessage[] }, message: NaiveMessage): void {
    lease.messages.push(message);
    message.attempts += 1;
    message.lease = lease;
    message.until = lease.expiresMs;
    if (lease.kind === "receive") message.firstReceivedMs ||= lease.receivedMs;
  }

  /** A receive buries what was received too often when it comes across it. */
  #isDeadLettered(message: NaiveMessage, kind: LeaseKind): boolean {
    if (kind !== "receive" || message.attempts <= this.rules.maxRetries) return false;
    this.gone.dead += 1;
    this.#remove([message]);
    return true;
  }

  /** A receiver's message becomes visible: in its place, or in a FIFO queue at the end of the line of groups. */
  giveBack(messages: readonly NaiveMessage[], visibleMs: number, nowMs: number): void {
    for (const message of messages) {
      message.lease = null;
      message.dueMs = this.rules.fifo === true ? visibleMs : Math.min(message.firstDueMs, nowMs);
    }
  }

  /** Makes a message due now, even a leased one. Returns whether it was due before. */
  makeDue(message: NaiveMessage, nowMs: number): boolean {
    if (message.lease === null && message.dueMs <= nowMs) return true;
    message.lease = null;
    message.dueMs = nowMs;
    return false;
  }

  /** Whether a receipt of a message that is there counts: any does, on a FIFO queue only the latest one in time. */
  isGood(message: NaiveMessage, lease: NaiveLease, nowMs: number): boolean {
    if (this.rules.fifo !== true) return true;
    return message.lease === lease && message.until > nowMs;
  }

  /** Messages [from, to) of a lease that it still holds. */
  heldBy(lease: NaiveLease, from: number, to: number): NaiveMessage[] {
    return lease.messages.slice(from, to).filter((message) => message.lease === lease);
  }

  acknowledge(messages: readonly NaiveMessage[]): void {
    this.gone.acked += messages.length;
    this.#remove(messages);
  }

  giveUp(messages: readonly NaiveMessage[]): void {
    this.gone.dead += messages.length;
    this.#remove(messages);
  }

  /** Answers with the messages that are not dead. */
  fail(messages: readonly NaiveMessage[], dueMs: number): NaiveMessage[] {
    const dead = messages.filter((message) => message.attempts > this.rules.maxRetries);
    this.gone.dead += dead.length;
    this.#remove(dead);
    for (const message of messages) {
      message.lease = null;
      message.dueMs = dueMs;
    }
    return messages.filter((message) => !dead.includes(message));
  }

  release(messages: readonly NaiveMessage[], dueMs: number, nowMs: number): void {
    for (const message of messages) {
      message.lease = null;
      message.attempts -= 1;
      message.dueMs = message.attempts === 0 ? Math.min(message.firstDueMs, nowMs) : dueMs;
    }
  }

  expireLeases(nowMs: number): { retried: NaiveMessage[]; dead: number } {
    const deadBefore = this.gone.dead;
    const expired = this.messages.filter((message) => message.lease !== null && message.until <= nowMs);
    const received = expired.filter((message) => message.lease?.kind === "receive");
    for (const message of received) this.giveBack([message], message.until, nowMs);
    const failed = expired.filter((message) => !received.includes(message));
    const retried = failed.flatMap((message) =>
      this.fail([message], nowMs + (message.lease?.kind === "push" ? this.rules.retryDelayMs : 0)),
    );
    return { retried, dead: this.gone.dead - deadBefore };
  }

  endPushLeases(nowMs: number): void {
    this.fail(
      this.messages.filter((message) => message.lease?.kind === "push"),
      nowMs,
    );
  }

  expireRetention(nowMs: number): number {
    const old = this.messages.filter(
      ({ lease, acceptedMs }) =>
        (lease === null || lease.kind === "receive") && acceptedMs <= nowMs - this.rules.retentionMs,
    );
    this.gone.expired += old.length;
    this.#remove(old);
    return old.length;
  }

  purge(): number {
    const { length } = this.messages;
    this.gone.expired += length;
    this.#remove(this.messages);
    return length;
  }

  remove(message: NaiveMessage): void {
    this.gone.expired += 1;
    this.#remove([message]);
  }

  counts(nowMs: number): QueueCounts {
    const waiting = this.waiting();
    const ready = waiting.filter((message) => message.dueMs <= nowMs).length;
    return {
      ready,
      delayed: waiting.length - ready,
      leased: this.messages.length - waiting.length,
      waitingBytes: waiting.reduce((sum, message) => sum + message.size, 0),
      oldestWaitingMs: waiting.length === 0 ? null : Math.min(...waiting.map((m) => m.acceptedMs)),
    };
  }

  nextWakeAt(nowMs: number, pushing: boolean): number | null {
    const moments = this.messages.flatMap(({ lease, acceptedMs, until }) => {
      const endMs = acceptedMs + this.rules.retentionMs;
      if (lease === null) return [endMs];
      return lease.kind === "receive" ? [until, endMs] : [until];
    });
    const dues = this.waiting()
      .map((message) => message.dueMs)
      .sort((a, b) => a - b);
    // What is due and blocked fills a batch and is not the first of it.
    const first = Math.min(
      this.ready(nowMs)[0]?.dueMs ?? Infinity,
      dues.find((dueMs) => dueMs > nowMs) ?? Infinity,
    );
    if (pushing && dues.length > 0) {
      const full = dues[this.rules.maxBatchSize - 1] ?? Infinity;
      moments.push(full <= nowMs ? first : full, first + this.rules.batchTimeoutMs);
    }
    const wakeMs = Math.min(Infinity, ...moments);
    return Number.isFinite(wakeMs) ? wakeMs : null;
  }

  #remove(messages: readonly NaiveMessage[]): void {
    for (const message of messages) message.lease = null;
    this.messages = this.messages.filter((message) => !messages.includes(message));
  }
}
