import { CATCH_UP, HeldClock, JUMP_MS, type Machine } from "@sluice/broker/held-clock";
import type { ClockBug } from "./planted-bug.ts";
import type { VirtualLoop } from "./virtual-loop.ts";

/** Share by which the queues' time may be quicker or slower than the time that passes. */
const PACE = 1 / CATCH_UP;

/**
 * The time of day in a history: the machine's clock, which may be set, and the time that queues go by. It checks that
 * the queues' time passes as the loop's does.
 */
export class TimeOfDay {
  readonly #loop: VirtualLoop;
  readonly #bug: ClockBug | null;
  readonly #machine: Machine;
  #setMs = 0;
  #held: HeldClock;
  /** Queues' time at the last `read`, in ms. */
  #lastMs = 0;
  /** First violation of the pace, in words; `null` without one. */
  fault: string | null = null;
  /** Smallest lead of the queues' time over the quickest pace allowed, in ms. */
  #leastMs = Infinity;
  /** Largest lead of the queues' time over the slowest pace allowed, in ms. */
  #mostMs = -Infinity;

  constructor(loop: VirtualLoop, bug: ClockBug | null) {
    this.#loop = loop;
    this.#bug = bug;
    this.#machine = {
      systemMs: () => loop.nowMs + this.#setMs,
      passedMs: () => loop.nowMs,
      sleptMs: () => 0,
    };
    this.#held = new HeldClock(this.#machine);
  }

  /** The time that queues go by, in ms since 1970. */
  get nowMs(): number {
    return this.#bug === "followsTheSystem" ? this.#machine.systemMs() : this.#held.now();
  }

  /** The time by the machine's clock, in ms since 1970. */
  get systemMs(): number {
    return this.#machine.systemMs();
  }

  /** Time of the loop that passes until the queues' time is `atMs`, or somewhat more, in ms. */
  waitMs(atMs: number): number {
    const waitMs = atMs - this.nowMs;
    return waitMs > 0 && this.#held.behindMs < 0 ? Math.ceil(waitMs / (1 - PACE)) : waitMs;
  }

  /** Changes the machine's clock by `byMs`. */
  set(byMs: number): void {
    this.#setMs += byMs;
  }

  /** Ends the process and begins another one, in no time. */
  restart(): void {
    const { moment } = this.#held;
    this.#held = new HeldClock(this.#machine, this.#bug === "forgetsWhereItStood" ? null : moment);
  }

  /** Reads the queues' time, and checks its pace. */
  read(): number {
    const { nowMs } = this;
    const passedMs = this.#loop.nowMs;
    const quick = nowMs - passedMs * (1 + PACE);
    const slow = nowMs - passedMs * (1 - PACE);
    if (quick > this.#leastMs + JUMP_MS) {
      this.fault ??= `time passes ${Math.round(quick - this.#leastMs)} ms too quickly: what waits ends early`;
    } else if (slow < this.#mostMs - JUMP_MS) {
      this.fault ??= `time passes ${Math.round(this.#mostMs - slow)} ms too slowly: what waits ends late`;
    } else if (nowMs < this.#lastMs) {
      this.fault ??= `time goes back by ${this.#lastMs - nowMs} ms`;
    }
    this.#leastMs = Math.min(this.#leastMs, quick);
    this.#mostMs = Math.max(this.#mostMs, slow);
    this.#lastMs = nowMs;
    return nowMs;
  }
}
