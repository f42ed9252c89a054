/** One arrival of a send at a queue. A request that the network doubled arrives twice, and each counts for itself. */
export interface Transmission {
  readonly queue: number;
  readonly firstTag: number;
  readonly count: number;
  /** Delay that each of its messages has to have, in seconds. */
  readonly delaySeconds: readonly number[];
}
