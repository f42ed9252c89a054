import { COMPANY_MIN } from "./pace.ts";

/**
 * How long frames are put off where clients do not notice, in ms. Those of an AWS SDK had nothing to do for 3 to 4 % of the time with
 * it, and for twice as much with `TRIED_PUT_OFF_MS`.
 */
export const PUT_OFF_MS = 2;
/** How long they are put off for trial, in ms. Shorter waits tell nothing: an SDK reads several answers, and then sends as often. */
export const TRIED_PUT_OFF_MS = 4;
/** Frames by which a trial is judged, and those after which it is given up if next to nothing came later. */
export const JUDGED_FRAMES = 8;
export const GIVEN_UP_FRAMES = 2;
/**
 * Frames by which it is judged again and again as long as they are put off. What comes with a start, before the clients are in step,
 * can look like clients that are busy; shorter waits differ more from each other.
 */
export const JUDGED_AGAIN_FRAMES = 32;
/** What comes in the later half of the wait, as a part of what comes in the earlier: where clients do not notice, and next to nothing. */
export const LATE_PART_MIN = 0.55;
export const NEXT_TO_NOTHING = 0.1;
/** How long after the first request a trial begins, in ms, and after one that failed: twice as long each time, up to the latter. */
export const TRIAL_EVERY_MS = 250;
export const TRIAL_EVERY_MS_MAX = 4_000;
/** How long after a trial that succeeded the next one begins, in ms. */
export const TRUST_MS = 1_000;
/**
 * Longer between two requests is a pause, in ms. It changes nothing: clients are what they were, and no time passes until the next
 * trial, which must not go by what comes first. Until clients are in step they look busy.
 */
export const PAUSE_MS = 100;
/** Weight of the latest of what is averaged. */
const LATEST_WEIGHT = 1 / 64;

/** Whether frames are put off: `never` until the next trial, `always` after one that succeeded. */
type Mode = "never" | "trial" | "always";

/**
 * Finds out by trial whether frames can be put off without requests coming more slowly. Clients that are busy themselves go on
 * sending while they are put off, and fewer commits leave them more of the processor. Clients that wait for their answers send at once
 * when they have them, and then no more: in the later half of the wait nothing comes. How many clients there are would tell as
 * well, but not where answers are given as fast as requests come.
 */
export class PutOffTrials {
  #mode: Mode = "never";
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Mean time from one request to the next, in ms: as long as can be until enough have come. */
  #betweenMs = PAUSE_MS;
  /** How long it is until the next trial, in ms, and how long it was after the latest. */
  #untilTrialMs = TRIAL_EVERY_MS;
  #everyMs = TRIAL_EVERY_MS;
  /** When the latest frame was answered first, `null` while it is not, and what has come since. */
  #answeredMs: number | null = null;
  #arrivedMs: number[] = [];
  /** Frames that are judged next, and what came in the halves of the waits behind them. */
  #frames = 0;
  #early = 0;
  #late = 0;

  arrived(nowMs: number): void {
    const betweenMs = nowMs - this.#latestMs;
    this.#latestMs = nowMs;
    if (betweenMs <= PAUSE_MS) {
      this.#untilTrialMs -= betweenMs;
      this.#betweenMs += LATEST_WEIGHT * (betweenMs - this.#betweenMs);
    }
    if (this.#mode !== "never" && this.#answeredMs !== null) this.#arrivedMs.push(nowMs);
  }

  sent(nowMs: number): void {
    const halfMs = ((this.#answeredMs ?? nowMs) + nowMs) / 2;
    for (const atMs of this.#arrivedMs) {
      if (atMs < halfMs) this.#early += 1;
      else this.#late += 1;
    }
    this.#arrivedMs = [];
    this.#answeredMs = null;
    if (this.#mode !== "never") this.#judge();
    if (this.#mode !== "trial" && this.#untilTrialMs <= 0 && this.#hasCompany) this.#begin("trial");
  }

  answered(nowMs: number): void {
    this.#answeredMs ??= nowMs;
  }

  /** How long after the one before it a frame is sent at the earliest, in ms. */
  get putOffMs(): number {
    if (this.#mode === "never" || !this.#hasCompany) return 0;
    return this.#mode === "trial" ? TRIED_PUT_OFF_MS : PUT_OFF_MS;
  }

  /** Whether enough would come along. */
  get #hasCompany(): boolean {
    return TRIED_PUT_OFF_MS / this.#betweenMs >= COMPANY_MIN;
  }

  #judge(): void {
    const isTrial = this.#mode === "trial";
    this.#frames += 1;
    const latePart = this.#late / Math.max(1, this.#early);
    const isHopeless = isTrial && this.#frames > GIVEN_UP_FRAMES && latePart < NEXT_TO_NOTHING;
    const frames = isTrial ? JUDGED_FRAMES : JUDGED_AGAIN_FRAMES;
    if (!this.#hasCompany || isHopeless) this.#fail();
    else if (this.#frames > frames) {
      const company = (COMPANY_MIN * this.putOffMs) / TRIED_PUT_OFF_MS;
      const isShared = this.#early + this.#late >= company * frames;
      if (!isShared || latePart < LATE_PART_MIN) this.#fail();
      else if (isTrial) this.#succeed();
      else this.#begin("always");
    }
  }

  #begin(mode: Mode): void {
    this.#mode = mode;
    this.#frames = 0;
    this.#early = 0;
    this.#late = 0;
  }

  #succeed(): void {
    this.#everyMs = TRIAL_EVERY_MS;
    this.#untilTrialMs = TRUST_MS;
    this.#begin("always");
  }

  #fail(): void {
    this.#mode = "never";
    this.#untilTrialMs = this.#everyMs;
    this.#everyMs = Math.min(2 * this.#everyMs, TRIAL_EVERY_MS_MAX);
  }
}
