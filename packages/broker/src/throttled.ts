import { changeThrottle, nextSlotMs, type Throttle, takeSlot, throttleOf } from "@sluice/retry";
import type { QueueCore } from "./queue-core.ts";

/**
 * Keeps deliveries to `maxReceivesPerSecond` (spec sns-delivery 7). What it remembers is one number, in memory: a life that
 * begins with messages begins with a pause as long as the longest that the one before can have left behind.
 */
export class Throttled {
  readonly #core: QueueCore;
  #perSecond: number | undefined;
  #throttle: Throttle | null = null;
  #nextMs: number;

  /** @param hasDelivered whether an earlier life may have delivered something just now. */
  constructor(core: QueueCore, hasDelivered: boolean) {
    this.#core = core;
    this.#nextMs = hasDelivered ? core.nowMs + PAUSE_MS : 0;
  }

  /** When the next delivery may begin, in ms: now or later. */
  get nextMs(): number {
    const throttle = this.#current();
    const { nowMs } = this.#core;
    return throttle === null ? nowMs : nextSlotMs(throttle, this.#nextMs, nowMs);
  }

  /** Messages that may be delivered now: none before `nextMs`, and no more than a second may have. */
  get room(): number {
    if (this.nextMs > this.#core.nowMs) return 0;
    return this.#perSecond ?? Infinity;
  }

  /** Notes messages that are delivered now, which `room` has allowed: each takes a slot. */
  delivered(messages: number): void {
    const throttle = this.#current();
    if (throttle === null || messages === 0) return;
    this.#nextMs = takeSlot(throttle, this.#nextMs, this.#core.nowMs) + (messages - 1) * throttle.intervalMs;
  }

  /** Goes by what the queue is set to now. */
  #current(): Throttle | null {
    const { ports, name, nowMs } = this.#core;
    const perSecond = ports.definitionOf(name)?.maxReceivesPerSecond;
    if (perSecond === this.#perSecond) return this.#throttle;
    const isChange = this.#perSecond !== undefined;
    this.#perSecond = perSecond;
    this.#throttle = perSecond === undefined ? null : throttleOf(perSecond);
    if (this.#throttle === null) this.#nextMs = 0;
    else if (isChange) this.#nextMs = changeThrottle(this.#throttle, this.#nextMs, nowMs);
    return this.#throttle;
  }
}

/** A batch takes the slots of a second at most. */
const PAUSE_MS = 1_000;
