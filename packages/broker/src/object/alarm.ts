import type { MovableClock } from "../platform/clock.ts";

/**
 * The one alarm of a queue's object. An alarm that rings early is harmless: it finds nothing to do and sets the next.
 * So `set` writes only a time that is earlier than the present one; each write is a row that Cloudflare bills.
 */
export class Alarm {
  readonly #clock: MovableClock;
  readonly #write: (realMs: number) => void;
  /** When it rings in real time, `null` if it is not set or its time is unknown. */
  #realMs: number | null = null;
  /** How often it was written since this epoch began. */
  timesWritten = 0;
  /**
   * Number of rings that this epoch has caused: an alarm that is replaced before it rings is not counted twice. Counted
   * when it is set, since it may ring in the next epoch.
   */
  rings = 0;

  /** @param write Stores the alarm, at a moment of real time. */
  constructor(clock: MovableClock, write: (realMs: number) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Takes over the alarm that an earlier epoch has set. */
  found(realMs: number | null): void {
    this.#realMs = realMs;
  }

  /** It rang, or the clock was moved: whatever is due next has to be set anew. */
  clear(): void {
    this.#realMs = null;
  }

  /** Whether it is set and rings at a moment of the queue's clock or before. */
  ringsBy(atMs: number): boolean {
    const realMs = this.#clock.realMsOf(atMs);
    return this.#realMs !== null && realMs !== null && this.#realMs <= realMs;
  }

  /** Sets it to a moment of the queue's clock. One that a frozen clock does not reach needs none. */
  set(atMs: number): void {
    const realMs = this.#clock.realMsOf(atMs);
    if (realMs === null) return;
    if (this.#realMs !== null && this.#realMs <= realMs) return;
    if (this.#realMs === null) this.rings += 1;
    this.#realMs = realMs;
    this.timesWritten += 1;
    this.#write(realMs);
  }
}
