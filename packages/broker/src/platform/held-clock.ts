import type { HostClock } from "./clock.ts";

/**
 * Difference from the time that has passed, in ms, from which on the system's clock counts as set. Smaller steps
 * forward are followed, since NTP makes them all the time.
 */
export const JUMP_MS = 1_000;
/**
 * Divisor of the passing time by which a clock that is behind or ahead approaches the system's: by a tenth of it.
 * Meanwhile a visibility timeout of 30 s ends after 27.3 s at the earliest, and after 33.3 s at the latest.
 */
export const CATCH_UP = 10;
/** Shortest sleep of a machine that is recognised, in ms: some systems count their sleep in whole seconds. */
const SLEEP_MS_MIN = 2_000;

/** Clocks of a machine. */
export interface Machine {
  /** Reads the time of day, which people and NTP set, in ms since 1970. */
  systemMs(): number;
  /** Reads a monotonic clock, in ms. It may stand still while the machine sleeps. */
  passedMs(): number;
  /** Reads the time that the machine has slept and `passedMs` leaves out, in ms. Seldom called. */
  sleptMs(): number;
}

/** Both clocks at one moment. A contract, since it is stored as JSON and read at the next start. */
export interface HeldMoment {
  /** Time of the system's clock, in ms since 1970. */
  readonly systemMs: number;
  /** Time of the broker's clock at that moment, in ms since 1970. */
  readonly brokerMs: number;
}

/** Is notified when the system's clock was set. @param behindMs by which the broker's clock is behind it since. */
export type JumpListener = (jumpMs: number, behindMs: number) => void;

/**
 * Time of day for the deadlines of messages, checked against a monotonic clock. It never goes back, and its speed
 * differs from that of time by a tenth at most.
 *
 * - together: shows the system's time. Left when that is set by `JUMP_MS` or more.
 * - apart: continues from its own time, and approaches the system's by `CATCH_UP`. Left when both are equal, at once if
 *   the system's clock is set back to its former time.
 *
 * A machine that sleeps does not part them, since that time has passed. While no process runs, the system's clock
 * counts the time, or none if it has gone back.
 */
export class HeldClock implements HostClock {
  readonly #machine: Machine;
  readonly #jumped: JumpListener;
  #systemMs: number;
  #passedMs: number;
  #sleptMs: number;
  /** Time by which it was behind the system's clock at the last reading, in ms; negative if ahead. */
  #behindMs: number;
  #lastMs: number;

  /**
   * @param before the stored moment; `null` for none.
   * @param jumped called within a reading, also by the constructor for a clock that went back before the start.
   */
  constructor(machine: Machine, before: HeldMoment | null = null, jumped: JumpListener = () => {}) {
    this.#machine = machine;
    this.#jumped = jumped;
    this.#systemMs = machine.systemMs();
    this.#passedMs = machine.passedMs();
    this.#sleptMs = machine.sleptMs();
    this.#behindMs = before === null ? 0 : before.systemMs - before.brokerMs;
    const wentMs = before === null ? 0 : this.#systemMs - before.systemMs;
    if (wentMs <= -JUMP_MS) {
      this.#behindMs += wentMs;
      this.#jumped(wentMs, this.behindMs);
    }
    this.#lastMs = Math.max(this.#systemMs - this.behindMs, before?.brokerMs ?? 0);
  }

  now(): number {
    this.#update();
    return this.#lastMs;
  }

  /** Time by which it is behind the system's clock, in ms; negative if ahead. */
  get behindMs(): number {
    return Math.round(this.#behindMs);
  }

  /** Both clocks now, to be stored. */
  get moment(): HeldMoment {
    const brokerMs = this.now();
    return { systemMs: brokerMs + this.behindMs, brokerMs };
  }

  /** Returns the same time, because alarms on Node.js use this clock. */
  alarmMsOf(atMs: number): number {
    return atMs;
  }

  momentOf(alarmMs: number): number {
    return alarmMs;
  }

  #update(): void {
    let seen = this.#read();
    // This process may have been stopped between the readings of the two clocks.
    if (Math.abs(seen.jumpMs) >= JUMP_MS) seen = this.#read();
    const { systemMs, passedMs } = seen;
    const elapsedMs = passedMs - this.#passedMs;
    const jumpMs = Math.abs(seen.jumpMs) < JUMP_MS ? 0 : this.#withoutSleep(seen.jumpMs);
    const nearerMs = Math.min(Math.abs(this.#behindMs), elapsedMs / CATCH_UP);
    this.#behindMs += jumpMs - Math.sign(this.#behindMs) * nearerMs;
    this.#systemMs = systemMs;
    this.#passedMs = passedMs;
    this.#lastMs = Math.max(this.#lastMs, systemMs - this.behindMs);
    if (jumpMs !== 0) this.#jumped(jumpMs, this.behindMs);
  }

  #read(): { readonly systemMs: number; readonly passedMs: number; readonly jumpMs: number } {
    const passedMs = this.#machine.passedMs();
    const systemMs = this.#machine.systemMs();
    return { systemMs, passedMs, jumpMs: systemMs - this.#systemMs - (passedMs - this.#passedMs) };
  }

  /** Returns the part of a jump that remains if the machine has slept; 0 if its sleep explains the jump. */
  #withoutSleep(jumpMs: number): number {
    const sleptMs = this.#machine.sleptMs() - this.#sleptMs;
    if (sleptMs < SLEEP_MS_MIN) return jumpMs;
    this.#sleptMs += sleptMs;
    const leftMs = jumpMs - sleptMs;
    return Math.abs(leftMs) < SLEEP_MS_MIN ? 0 : leftMs;
  }
}
