import { COMPANY_MIN } from "./pace.ts";

/** How long frames may be put off, in ms: whole ones, as timers are. */
export const STEPS_MS = [0, 1, 2, 4] as const;
/** Requests whose rate is compared. */
export const TRIAL_REQUESTS = 256;
/** Part of the rate by which two may differ that are alike. */
export const ALIKE_PART = 0.05;
/** Times of so many requests between two trials: doubled by each that fails, up to the latter. */
export const TRIAL_EVERY = 2;
export const TRIAL_EVERY_MAX = 64;
/** A pause between two requests, in ms, after which what was counted says nothing. */
export const PAUSE_MS = 50;

/**
 * Finds out by trial how long frames can be put off without requests coming more slowly: for a while they are put off a step longer,
 * or shorter, and it is kept if the rate is as before, or better. Clients that are busy themselves do not notice, and fewer commits
 * leave them more of the processor; clients that wait for their answers come half as often, at once. How many clients there are
 * cannot be told where answers are given as fast as requests come.
 */
export class PutOffTrials {
  #step = 0;
  /** The step that is tried, `null` while none is. */
  #tried: number | null = null;
  /** Whether the next trial is of a longer time. */
  #isUpNext = true;
  #count = 0;
  #sinceMs = 0;
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Mean time between requests at the present step, in ms. */
  #baseMs = Number.NaN;
  #untilTrial = TRIAL_EVERY;
  #every = TRIAL_EVERY;

  arrived(nowMs: number): void {
    const isPause = !(nowMs - this.#latestMs < PAUSE_MS);
    this.#latestMs = nowMs;
    if (isPause) {
      this.#tried = null;
      this.#baseMs = Number.NaN;
      this.#begin(nowMs);
      return;
    }
    this.#count += 1;
    if (this.#count < TRIAL_REQUESTS) return;
    const betweenMs = (nowMs - this.#sinceMs) / TRIAL_REQUESTS;
    if (this.#tried === null) this.#measured(betweenMs);
    else this.#decide(this.#tried, betweenMs);
    this.#begin(nowMs);
  }

  /** How long after the one before it a frame is sent at the earliest, in ms. 0 where too few would come along. */
  get putOffMs(): number {
    const ms = STEPS_MS[this.#tried ?? this.#step] ?? 0;
    return ms / this.#baseMs >= COMPANY_MIN ? ms : 0;
  }

  #begin(nowMs: number): void {
    this.#count = 0;
    this.#sinceMs = nowMs;
  }

  #measured(betweenMs: number): void {
    this.#baseMs = betweenMs;
    this.#untilTrial -= 1;
    if (this.#untilTrial > 0) return;
    this.#untilTrial = this.#every;
    const next = this.#step + (this.#isUpNext ? 1 : -1);
    if (next in STEPS_MS && (STEPS_MS[next] ?? 0) / betweenMs >= (next === 0 ? 0 : COMPANY_MIN)) {
      this.#tried = next;
    } else this.#isUpNext = !this.#isUpNext;
  }

  #decide(tried: number, betweenMs: number): void {
    const isLonger = tried > this.#step;
    const limitMs = this.#baseMs * (isLonger ? 1 + ALIKE_PART : 1 - ALIKE_PART);
    const isKept = betweenMs <= limitMs;
    this.#tried = null;
    this.#every = isKept ? TRIAL_EVERY : Math.min(2 * this.#every, TRIAL_EVERY_MAX);
    this.#untilTrial = this.#every;
    if (isKept) {
      this.#step = tried;
      this.#baseMs = betweenMs;
    } else this.#isUpNext = !isLonger;
  }
}
