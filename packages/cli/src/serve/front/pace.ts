/** Longest that a frame is put off for the sake of those that go along, in ms. */
export const PUT_OFF_MS_MAX = 4;
/** The part of the time between two requests of a client that they may be put off for: what it hardly notices. */
export const PUT_OFF_PART = 1 / 4;
/** Requests that have to be expected meanwhile. */
export const COMPANY_MIN = 3;
/** The part of the clients that may be waiting for answers: where more do, they have nothing else to do meanwhile. */
export const UNDER_WAY_PART_MAX = 1 / 2;
/** Weight of the latest of the times that are averaged. */
const LATEST_WEIGHT = 1 / 128;

/**
 * Tells how long requests may be put off so that others go along. Clients that are busy themselves, as an AWS SDK is for three
 * times as long with a request as its server, have few of their requests under way at a time: each would get a frame, a turn
 * of the broker and a commit of its own, for which they take the processor from each other. Whoever sends one request after the
 * other is never put off, for nobody would come along; nor are clients that do nothing but wait for their answers, whose
 * requests come together anyway.
 */
export class Pace {
  readonly #lastMs = new WeakMap<object, number>();
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Mean time from one request to the next, and to the next of the same client, in ms; `NaN` while there is none. */
  #betweenMs = Number.NaN;
  #cycleMs = Number.NaN;
  /** Mean number of requests that are under way when another one comes. */
  #underWay = Number.NaN;

  /**
   * A request has come.
   *
   * @param client the connection that it came over.
   * @param underWay requests that were not answered by then.
   */
  arrived(client: object, nowMs: number, underWay: number): void {
    this.#underWay = averaged(this.#underWay, underWay);
    this.#betweenMs = averaged(this.#betweenMs, nowMs - this.#latestMs);
    this.#latestMs = nowMs;
    const lastMs = this.#lastMs.get(client);
    if (lastMs !== undefined) this.#cycleMs = averaged(this.#cycleMs, nowMs - lastMs);
    this.#lastMs.set(client, nowMs);
  }

  /** How long after the one before it a frame may be sent at the earliest, in whole ms, as timers are. */
  get putOffMs(): number {
    const partMs = Math.min(PUT_OFF_MS_MAX, PUT_OFF_PART * this.#cycleMs);
    // Of less than a ms a timer makes a whole one: more than that part.
    const ms = partMs < 1 ? 0 : Math.round(partMs);
    const clients = this.#cycleMs / this.#betweenMs;
    if (this.#underWay > UNDER_WAY_PART_MAX * clients) return 0;
    return ms / this.#betweenMs >= COMPANY_MIN ? ms : 0;
  }
}

function averaged(mean: number, latest: number): number {
  if (!Number.isFinite(mean)) return latest;
  return mean + LATEST_WEIGHT * (latest - mean);
}
