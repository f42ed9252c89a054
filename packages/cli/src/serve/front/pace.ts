/** Longest that a frame is put off for the sake of those that go along, in ms. */
export const PUT_OFF_MS_MAX = 4;
/** The part of the time between two requests of a client that they may be put off for: what it hardly notices. */
export const PUT_OFF_PART = 1 / 4;
/** Requests that have to be expected meanwhile. */
export const COMPANY_MIN = 3;
/** The part of that time from which on clients do little but wait for answers: they are put off for nothing, and return at once. */
export const WAIT_PART_MAX = 1 / 2;
/** Longest that a frame waits for those to come again who were answered together, in ms. */
export const REGATHER_MS_MAX = 4;
/** The part of the clients that a frame waits for a moment for. */
export const COMPANY_SHARE = 1 / 2;
/** Requests that have to be expected in that moment. */
export const GATHER_MIN = 2;
/** Weight of the latest of what is averaged. */
const LATEST_WEIGHT = 1 / 128;
/** Requests that clients are counted in. Those of the stretch before count as well. */
export const STRETCH = 512;

/**
 * Tells how long requests may wait so that others go along. Clients that are busy themselves, as an AWS SDK is for three times as
 * long with a request as its server, have few of their requests under way at a time: each would get a frame, a turn of the broker
 * and a commit of its own, for which they take the processor from each other. So they are put off. Clients that do nothing but wait
 * for their answers are not: they come again at once, and are waited for when several were answered together. Whoever sends one
 * request after the other never waits, for nobody would come along.
 *
 * There are as many clients as requests that were under way at a time: now and then all of them wait for an answer, also of
 * those that seldom do. Connections tell less, of which a client may have many that take turns.
 */
export class Pace {
  #latestMs = Number.NEGATIVE_INFINITY;
  /** The most requests that were under way, in this stretch of so many requests and in the one before. */
  #most = 0;
  #mostBefore = 0;
  #requests = 0;
  /** Mean time from one request to the next, in ms; `NaN` while there is none. */
  #betweenMs = Number.NaN;
  /** Mean time until the answer, in ms, of which no more counts than until a client's next request. */
  #waitMs = Number.NaN;

  /**
   * A request has come.
   *
   * @param underWay requests that are not answered yet, with this one.
   */
  arrived(nowMs: number, underWay: number): void {
    this.#requests += 1;
    if (this.#requests > STRETCH) {
      this.#mostBefore = this.#most;
      this.#most = 0;
      this.#requests = 1;
    }
    this.#most = Math.max(this.#most, underWay);
    this.#betweenMs = averaged(this.#betweenMs, nowMs - this.#latestMs);
    this.#latestMs = nowMs;
  }

  /** A frame was sent. */
  sent(_nowMs: number): void {}

  /** A request was answered after so many ms. */
  answered(tookMs: number, _nowMs: number): void {
    this.#waitMs = averaged(this.#waitMs, Math.min(tookMs, this.#cycleMs));
  }

  /** How long after the one before it a frame may be sent at the earliest, in whole ms, as timers are. */
  get putOffMs(): number {
    if (this.#returnAtOnce) return 0;
    const cycleMs = this.#cycleMs;
    const partMs = Math.min(PUT_OFF_MS_MAX, PUT_OFF_PART * cycleMs);
    // Of less than a ms a timer makes a whole one: more than that part.
    const ms = partMs < 1 ? 0 : Math.round(partMs);
    return ms / this.#betweenMs >= COMPANY_MIN ? ms : 0;
  }

  /**
   * How long a frame may wait for those to come again who were answered together, in whole ms: as long as clients usually take
   * from one request to the next. 0 where that is not at once.
   */
  get regatherMs(): number {
    return this.#returnAtOnce ? Math.min(REGATHER_MS_MAX, Math.ceil(this.#cycleMs)) : 0;
  }

  /**
   * How many requests a frame may wait for if it waits no longer than so many ms: half of the clients, where they come again at
   * once. 0 where too few would come in that time.
   */
  companyWithin(ms: number): number {
    if (!this.#returnAtOnce || !(ms / this.#betweenMs >= GATHER_MIN)) return 0;
    return COMPANY_SHARE * this.#clients;
  }

  /** Whether clients send the next request as soon as they are answered: most of the time they wait for answers. */
  get #returnAtOnce(): boolean {
    return this.#waitMs > WAIT_PART_MAX * this.#cycleMs;
  }

  /** Mean time from one request of a client to its next. */
  get #cycleMs(): number {
    return this.#clients * this.#betweenMs;
  }

  get #clients(): number {
    return Math.max(this.#most, this.#mostBefore);
  }
}

function averaged(mean: number, latest: number): number {
  if (!Number.isFinite(mean)) return latest;
  return mean + LATEST_WEIGHT * (latest - mean);
}
