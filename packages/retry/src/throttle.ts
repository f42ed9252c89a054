/**
 * SNS's `maxReceivesPerSecond` (spec sns-delivery 7), which sets when the next delivery may start. The caller remembers
 * one number for it, `nextMs`: the moment of the slot after the one taken last, in ms; 0 before the first delivery.
 *
 * Time spent waiting for a slot is no retry: the caller moves the due time and leaves the retry number alone.
 */
export interface Throttle {
  /** Time between two slots, in ms. */
  readonly intervalMs: number;
  /** How much earlier than evenly spaced a delivery may start, in ms. */
  readonly toleranceMs: number;
}

/**
 * Slots lie on this fraction of a ms. Both it and a moment of this century fit into one double, so adding never rounds
 * and years of slots do not drift over the limit; the interval is rounded up to it, never down.
 */
const TICKS_PER_MS = 2048;

/**
 * Makes a throttle.
 *
 * @param maxReceivesPerSecond at least 1.
 * @param burst deliveries that may start together after a pause. 1, the default, is strict: never more than
 *   `maxReceivesPerSecond` in any second. A burst of B allows B - 1 more than that.
 * @throws RangeError when one of them is no positive integer.
 */
export function throttleOf(maxReceivesPerSecond: number, burst = 1): Throttle {
  for (const count of [maxReceivesPerSecond, burst]) {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`${count} is no positive integer`);
  }
  const intervalMs = Math.ceil((1000 * TICKS_PER_MS) / maxReceivesPerSecond) / TICKS_PER_MS;
  return { intervalMs, toleranceMs: (burst - 1) * intervalMs };
}

/** When the next delivery may start, in whole ms: `nowMs` or later. */
export function nextSlotMs(throttle: Throttle, nextMs: number, nowMs: number): number {
  return Math.max(nowMs, Math.ceil(nextMs - throttle.toleranceMs));
}

/**
 * Takes the slot of a delivery that starts now, and returns the number to remember.
 *
 * @param nowMs whole ms.
 * @throws RangeError when there is no slot yet.
 */
export function takeSlot(throttle: Throttle, nextMs: number, nowMs: number): number {
  const slotMs = nextSlotMs(throttle, nextMs, nowMs);
  if (slotMs > nowMs) throw new RangeError(`the next slot is ${slotMs - nowMs} ms away`);
  // A delivery is up to 1 ms after its slot, as the clock has whole ms: slots that began anew there would turn 700 a
  // second into 500.
  const startMs = nowMs - nextMs < 1 ? nextMs : nowMs;
  return startMs + throttle.intervalMs;
}

/** Returns the number to remember when the limit changes: no delivery waits longer than one new interval. */
export function changeThrottle(throttle: Throttle, nextMs: number, nowMs: number): number {
  return Math.min(nextMs, nowMs + throttle.intervalMs);
}
