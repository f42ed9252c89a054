import { changeThrottle, nextSlotMs, type Throttle, takeSlot, throttleOf } from "@sluice/retry";

/**
 * Keeps deliveries to `maxReceivesPerSecond` (spec sns-delivery 7). What it remembers is one number, in memory: a life that
 * begins with messages begins with a pause as long as the longest that the one before can have left behind.
 */
export class Throttled {
  #perSecond: number | undefined;
  #throttle: Throttle | null = null;
  #nextMs: number;

  /** @param pauseFromMs now, if deliveries may just have been made; 0 if there were none. */
  constructor(pauseFromMs: number) {
    this.#nextMs = pauseFromMs === 0 ? 0 : pauseFromMs + PAUSE_MS;
  }

  /** Goes by a limit from now on; `undefined` is none. */
  limit(perSecond: number | undefined, nowMs: number): void {
    if (perSecond === this.#perSecond) return;
    const isChange = this.#perSecond !== undefined;
    this.#perSecond = perSecond;
    this.#throttle = perSecond === undefined ? null : throttleOf(perSecond);
    if (this.#throttle === null) this.#nextMs = 0;
    else if (isChange) this.#nextMs = changeThrottle(this.#throttle, this.#nextMs, nowMs);
  }

  /** When the next delivery may begin, in ms: `nowMs` or later. */
  nextMs(nowMs: number): number {
    return this.#throttle === null ? nowMs : nextSlotMs(this.#throttle, this.#nextMs, nowMs);
  }

  /** Notes messages that are delivered now, which `nextMs` has allowed: each takes a slot. */
  delivered(messages: number, nowMs: number): void {
    if (this.#throttle === null) return;
    this.#nextMs = takeSlot(this.#throttle, this.#nextMs, nowMs) + (messages - 1) * this.#throttle.intervalMs;
  }
}

/** A batch takes the slots of a second at most. */
const PAUSE_MS = 1_000;
