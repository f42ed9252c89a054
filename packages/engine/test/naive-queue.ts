import type { LeaseKind, QueueCounts, QueueRules } from "../src/index.ts";

/** A message of the naive queue: no segments, no heaps, no entries, just what is known about it. */
export interface NaiveMessage {
  readonly seq: number;
  readonly size: number;
  readonly acceptedMs: number;
  /** Due time that it was sent with. */
  readonly firstDueMs: number;
  attempts: number;
  dueMs: number;
  lease: NaiveLease | null;
}

export interface NaiveLease {
  readonly kind: LeaseKind;
  readonly expiresMs: number;
  /** What was leased, in order; some of it may be settled by now. */
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
  nextSeq = 0;
  sent = 0;
  readonly gone = { acked: 0, dead: 0, expired: 0 };

  constructor(rules: QueueRules) {
    this.rules = rules;
  }

  send(messages: readonly { readonly size: number; readonly dueMs: number }[], nowMs: number): void {
    this.sent += messages.length;
    for (const { size, dueMs } of messages) {
      const seq = this.nextSeq++;
      const fresh = { seq, size, acceptedMs: nowMs, firstDueMs: dueMs, attempts: 0, dueMs, lease: null };
      this.messages.push(fresh);
    }
  }

  waiting(): NaiveMessage[] {
    return this.messages.filter((message) => message.lease === null);
  }

  /** In order of leaving: due time, then sequence number. */
  ready(nowMs: number): NaiveMessage[] {
    return this.waiting()
      .filter((message) => message.dueMs <= nowMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.seq - b.seq);
  }

  /** Whether a push delivery is due, if a slot is free. */
  batchIsDue(nowMs: number): boolean {
    const ready = this.ready(nowMs);
    const [first] = ready;
    if (first === undefined) return false;
    return ready.length >= this.rules.maxBatchSize || nowMs >= first.dueMs + this.rules.batchTimeoutMs;
  }

  lease(max: number, kind: LeaseKind, expiresMs: number, nowMs: number): NaiveLease | null {
    const messages = this.ready(nowMs).slice(0, max);
    if (messages.length === 0) return null;
    const lease = { kind, expiresMs, messages };
    for (const message of messages) {
      message.attempts += 1;
      message.lease = lease;
    }
    return lease;
  }

  /** Messages [from, to) of a lease that it still holds. */
  heldBy(lease: NaiveLease, from: number, to: number): NaiveMessage[] {
    return lease.messages.slice(from, to).filter((message) => message.lease === lease);
  }

  acknowledge(messages: readonly NaiveMessage[]): void {
    this.gone.acked += messages.length;
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

  release(messages: readonly NaiveMessage[], dueMs: number): void {
    for (const message of messages) {
      message.lease = null;
      message.attempts -= 1;
      message.dueMs = message.attempts === 0 ? message.firstDueMs : dueMs;
    }
  }

  expireLeases(nowMs: number): { retried: NaiveMessage[]; dead: number } {
    const deadBefore = this.gone.dead;
    const lapsed = this.messages.filter((message) => (message.lease?.expiresMs ?? Infinity) <= nowMs);
    const retried = lapsed.flatMap((message) =>
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
    const old = this.waiting().filter((message) => message.acceptedMs <= nowMs - this.rules.retentionMs);
    this.gone.expired += old.length;
    this.#remove(old);
    return old.length;
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
    const moments = this.messages.map(
      (message) => message.lease?.expiresMs ?? message.acceptedMs + this.rules.retentionMs,
    );
    const dues = this.waiting()
      .map((message) => message.dueMs)
      .sort((a, b) => a - b);
    const [first] = dues;
    if (pushing && first !== undefined) {
      const full = dues[this.rules.maxBatchSize - 1] ?? Infinity;
      moments.push(full <= nowMs ? first : full, first + this.rules.batchTimeoutMs);
    }
    return moments.length === 0 ? null : Math.min(...moments);
  }

  #remove(messages: readonly NaiveMessage[]): void {
    for (const message of messages) message.lease = null;
    this.messages = this.messages.filter((message) => !messages.includes(message));
  }
}
