import { changeThrottle, nextSlotMs, type Throttle as Slots, takeSlot, throttleOf } from "@sluice/retry";
import type { QueueContext } from "./context.ts";

/** Number of messages that were delivered at one moment. */
interface Delivered {
  readonly atMs: number;
  readonly messages: number;
}

/**
 * Limits deliveries to `maxReceivesPerSecond` (spec sns-delivery 7). Single messages are spaced evenly, and a batch has
 * no more messages than the second that ends with it has left. The state is in memory alone, so an epoch that begins
 * with messages first pauses for the longest time that the one before may have left.
 */
export class Throttle {
  readonly #context: Pick<QueueContext, "nowMs" | "definition">;
  readonly #lent: () => number;
  /** Whether this shard has none of the queue's messages per second now. */
  #isStopped = false;
  #perSecond: number | undefined;
  #slots: Slots | null = null;
  #nextMs: number;
  /** Time in ms until which deliveries of an earlier epoch count, whose number is unknown; 0 without one. */
  readonly #earlierUntilMs: number;
  /** Deliveries of the last second, oldest first. */
  #latest: Delivered[] = [];

  /**
   * @param hasDelivered whether an earlier epoch may have delivered something just now.
   * @param lent messages per second that a shard may deliver of its queue's. Default: all of them.
   */
  constructor(
    context: Pick<QueueContext, "nowMs" | "definition">,
    hasDelivered: boolean,
    lent = () => Number.POSITIVE_INFINITY,
  ) {
    this.#context = context;
    this.#lent = lent;
    this.#earlierUntilMs = hasDelivered ? context.nowMs + SECOND_MS : 0;
    this.#nextMs = this.#earlierUntilMs;
  }

  /** Time in ms at which the next delivery may begin: now or later. */
  get nextMs(): number {
    const slots = this.#current();
    const { nowMs } = this.#context;
    if (slots === null) return nowMs;
    if (this.#isStopped) return nowMs + STOPPED_MS;
    return Math.max(nextSlotMs(slots, this.#nextMs, nowMs), this.#roomFromMs());
  }

  /** Whether the queue has a throttle. */
  get isOn(): boolean {
    return this.#context.definition?.maxReceivesPerSecond !== undefined;
  }

  /** Number of messages that may be delivered now; none before `nextMs`. */
  get room(): number {
    if (this.nextMs > this.#context.nowMs) return 0;
    return this.#perSecond === undefined ? Infinity : this.#perSecond - this.#inSecond();
  }

  /** Takes a slot for each message that is delivered now, within `room`. */
  delivered(messages: number): void {
    const slots = this.#current();
    if (slots === null || messages === 0) return;
    const { nowMs } = this.#context;
    this.#nextMs = takeSlot(slots, this.#nextMs, nowMs) + (messages - 1) * slots.intervalMs;
    this.#latest = this.#latest.filter(({ atMs }) => atMs > nowMs - SECOND_MS);
    this.#latest.push({ atMs: nowMs, messages });
  }

  /** Messages that may have been delivered within the last second; `Infinity` while those of an earlier epoch count. */
  get inSecond(): number {
    if (!this.isOn) return 0;
    return this.#context.nowMs < this.#earlierUntilMs ? Number.POSITIVE_INFINITY : this.#inSecond();
  }

  #inSecond(): number {
    const sinceMs = this.#context.nowMs - SECOND_MS;
    return this.#latest.reduce((sum, { atMs, messages }) => sum + (atMs > sinceMs ? messages : 0), 0);
  }

  /** Computes the time in ms from which on the second that ends with it has room for another message. */
  #roomFromMs(): number {
    let room = (this.#perSecond ?? Infinity) - this.#inSecond();
    const sinceMs = this.#context.nowMs - SECOND_MS;
    for (const { atMs, messages } of this.#latest) {
      if (room > 0) break;
      if (atMs <= sinceMs) continue;
      room += messages;
      if (room > 0) return atMs + SECOND_MS;
    }
    return 0;
  }

  /** Takes over a change of the queue's setting. @returns the slots, `null` without a throttle. */
  #current(): Slots | null {
    const { definition, nowMs } = this.#context;
    const limit = definition?.maxReceivesPerSecond;
    const perSecond = limit === undefined ? undefined : Math.min(limit, this.#lent());
    this.#isStopped = perSecond === 0;
    if (this.#isStopped) return this.#slots ?? NO_SLOTS;
    if (perSecond === this.#perSecond) return this.#slots;
    const isChange = this.#perSecond !== undefined;
    this.#perSecond = perSecond;
    this.#slots = perSecond === undefined ? null : throttleOf(perSecond);
    if (this.#slots === null) this.#nextMs = 0;
    else if (isChange) this.#nextMs = changeThrottle(this.#slots, this.#nextMs, nowMs);
    return this.#slots;
  }
}

/** Time after which a shard without messages per second looks again, in ms. It is woken earlier if it gets some. */
const STOPPED_MS = 5_000;
/** Slots of a shard that never had a part. */
const NO_SLOTS: Slots = throttleOf(1);
/** Time in ms whose slots a batch takes at most. */
const SECOND_MS = 1_000;
