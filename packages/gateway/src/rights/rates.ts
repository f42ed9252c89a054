/** Requests that a token may make as of a moment: at most as many as its rate allows in a second. */
interface Bucket {
  left: number;
  atMs: number;
}

/** Counts the requests of tokens that have a rate. Each gateway counts by itself. */
export class Rates {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts a request. Returns 0 if it may be made, else the seconds until the next one may be.
   *
   * @param ratePerSecond 1 or more.
   */
  take(name: string, ratePerSecond: number): number {
    const nowMs = this.#now();
    const bucket = this.#buckets.get(name) ?? { left: ratePerSecond, atMs: nowMs };
    const gained = (Math.max(0, nowMs - bucket.atMs) / 1_000) * ratePerSecond;
    const left = Math.min(ratePerSecond, bucket.left + gained);
    const isAllowed = left >= 1;
    this.#buckets.set(name, { left: isAllowed ? left - 1 : left, atMs: nowMs });
    return isAllowed ? 0 : Math.ceil((1 - left) / ratePerSecond);
  }
}
