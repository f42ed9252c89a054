import { COMPANY_MIN } from "./pace.ts";

/** How long frames may be put off, in ms. Shorter waits tell nothing: an SDK reads several answers, and then sends as often. */
export const TRIED_PUT_OFF_MS = 4;
/** Frames by which it is judged, and those after which it is given up if next to nothing came later. */
export const JUDGED_FRAMES = 8;
export const GIVEN_UP_FRAMES = 2;
/** What comes in the later half of the wait, as a part of what comes in the earlier: where clients do not notice, and next to nothing. */
export const LATE_PART_MIN = 0.55;
export const NEXT_TO_NOTHING = 0.1;
/** Requests after which it is tried: doubled each time that it fails, up to the latter. */
export const TRIAL_EVERY = 1_024;
export const TRIAL_EVERY_MAX = 65_536;
/** Weight of the latest of what is averaged. */
const LATEST_WEIGHT = 1 / 64;

/**
 * Finds out by trial whether frames can be put off without requests coming more slowly. Clients that are busy themselves go on
 * sending while they are put off, and fewer commits leave them more of the processor. Clients that wait for their answers send at once
 * when they have them, and then no more: in the later half of the wait nothing comes. How many clients there are would tell as
 * well, but not where answers are given as fast as requests come.
 */
export class PutOffTrials {
  #isPuttingOff = false;
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Mean time from one request to the next, in ms. */
  #betweenMs = Number.NaN;
  #untilTrial = TRIAL_EVERY;
  #every = TRIAL_EVERY;
  /** When the latest frame was answered first, `null` while it is not, and what has come since. */
  #answeredMs: number | null = null;
  #arrivedMs: number[] = [];
  /** Frames that were put off, and what came in the halves of the waits behind them. */
  #frames = 0;
  #early = 0;
  #late = 0;

  arrived(nowMs: number): void {
    const betweenMs = nowMs - this.#latestMs;
    this.#latestMs = nowMs;
    this.#betweenMs = Number.isFinite(this.#betweenMs)
      ? this.#betweenMs + LATEST_WEIGHT * (betweenMs - this.#betweenMs)
      : betweenMs;
    this.#untilTrial -= 1;
    if (this.#isPuttingOff && this.#answeredMs !== null) this.#arrivedMs.push(nowMs);
  }

  sent(nowMs: number): void {
    const halfMs = ((this.#answeredMs ?? nowMs) + nowMs) / 2;
    for (const atMs of this.#arrivedMs) {
      if (atMs < halfMs) this.#early += 1;
      else this.#late += 1;
    }
    this.#arrivedMs = [];
    this.#answeredMs = null;
    if (this.#isPuttingOff) this.#judge();
    else if (this.#untilTrial <= 0 && this.#hasCompany) this.#begin();
  }

  answered(nowMs: number): void {
    this.#answeredMs ??= nowMs;
  }

  /** How long after the one before it a frame is sent at the earliest, in ms. */
  get putOffMs(): number {
    return this.#isPuttingOff && this.#hasCompany ? TRIED_PUT_OFF_MS : 0;
  }

  /** Whether enough would come along. */
  get #hasCompany(): boolean {
    return TRIED_PUT_OFF_MS / this.#betweenMs >= COMPANY_MIN;
  }

  #judge(): void {
    this.#frames += 1;
    const latePart = this.#late / Math.max(1, this.#early);
    const isHopeless = this.#frames > GIVEN_UP_FRAMES && latePart < NEXT_TO_NOTHING;
    if (!this.#hasCompany || isHopeless) this.#fail();
    else if (this.#frames > JUDGED_FRAMES) {
      const isShared = this.#early + this.#late >= COMPANY_MIN * JUDGED_FRAMES;
      if (!isShared || latePart < LATE_PART_MIN) this.#fail();
      else {
        this.#every = TRIAL_EVERY;
        this.#begin();
      }
    }
  }

  #begin(): void {
    this.#isPuttingOff = true;
    this.#frames = 0;
    this.#early = 0;
    this.#late = 0;
  }

  #fail(): void {
    this.#isPuttingOff = false;
    this.#every = Math.min(2 * this.#every, TRIAL_EVERY_MAX);
    this.#untilTrial = this.#every;
  }
}
