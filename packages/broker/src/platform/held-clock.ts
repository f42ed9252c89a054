import type { HostClock } from "./clock.ts";

/**
 * The system's clock has been set if it differs by so much from what has passed since it was looked at last, in ms.
 * Smaller steps are followed, as long as they do not lead back: NTP makes them without end.
 */
export const JUMP_MS = 1_000;
/**
 * Part of the time that passes by which a clock that was left behind, or ahead, comes nearer to the system's: 1 / 10.
 * A visibility timeout of 30 s is over after 27.3 s at the earliest meanwhile, and after 33.3 s at the latest.
 */
export const CATCH_UP = 10;
/** Shortest sleep of a machine that is told from a jump, in ms: some systems tell their age in whole seconds. */
const SLEEP_MS_MIN = 2_000;

/** The clocks of a machine. */
export interface Machine {
  /** The time of day, which people and NTP set, in ms since 1970. */
  systemMs(): number;
  /** Time that has passed since some moment, in ms. Nobody sets it, and it may stand still while the machine sleeps. */
  passedMs(): number;
  /** Time that the machine has slept since some moment, as far as `passedMs` leaves it out, in ms. Seldom asked for. */
  sleptMs(): number;
}

/** A contract: this is stored, as JSON, and read at the next start. */
export interface HeldMoment {
  /** Time of the system's clock, in ms since 1970. */
  readonly systemMs: number;
  /** Time of the broker's clock at that moment, in ms since 1970. */
  readonly brokerMs: number;
}

/** Told when the system's clock was set: by how much, in ms, and how far the broker's is behind it since. */
export type JumpListener = (jumpMs: number, behindMs: number) => void;

/**
 * The time of day, held against a clock that nobody sets: deadlines of messages go by it. It never goes back, and it
 * never passes quicker or slower than time does by more than a tenth.
 *
 * - together: it says what the system's clock says. Left when that is set by `JUMP_MS` or more.
 * - apart: it goes on from where it was, and comes nearer by `CATCH_UP`. Left when both say the same. A clock that is
 *   set back to what it was leads there at once.
 *
 * A machine that sleeps does not part them: that time has passed. Time in which no process runs goes by the system's
 * clock, unless that has gone back: then none has passed.
 */
export class HeldClock implements HostClock {
  readonly #machine: Machine;
  readonly #jumped: JumpListener;
  #systemMs: number;
  #passedMs: number;
  #sleptMs: number;
  /** How far it is behind the system's clock at the last look, in ms; less than 0 where it is ahead. */
  #behindMs: number;
  #lastMs: number;

  /**
   * @param before what was stored last; `null` where nothing was.
   * @param jumped called within a look, also by the constructor for a clock that went back before the start.
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
    this.#look();
    return this.#lastMs;
  }

  /** How far it is behind the system's clock, in ms; less than 0 where it is ahead. */
  get behindMs(): number {
    return Math.round(this.#behindMs);
  }

  /** Both clocks as they are, to be stored. */
  get moment(): HeldMoment {
    const brokerMs = this.now();
    return { systemMs: brokerMs + this.behindMs, brokerMs };
  }

  /** Objects on Node.js go by this clock, with their alarms. */
  alarmMsOf(atMs: number): number {
    return atMs;
  }

  momentOf(alarmMs: number): number {
    return alarmMs;
  }

  #look(): void {
    let seen = this.#read();
    // This process may have been stopped between two readings.
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
