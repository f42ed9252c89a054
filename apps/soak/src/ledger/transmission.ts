/** One arrival of a send at a queue. A request that the network doubled arrives twice, and each counts for itself. */
export interface Transmission {
  readonly queue: number;
  readonly firstTag: number;
  readonly count: number;
  /** Expected delay of each message, in seconds. */
  readonly delaySeconds: readonly number[];
}
