/** State of a rollout: its two versions, and the shares of the new one. */
export interface Rollout {
  readonly from: VersionName;
  readonly to: VersionName;
  /** Share of the broker's objects that run `to`, 0 to 1. */
  readonly brokerShare: number;
  /** Share of the queues whose consumer is `to`. */
  readonly consumerShare: number;
}

export type VersionName = "old" | "new";

/** Path at which the broker takes a `Rollout` by POST. The answer is the number of objects that were reset. */
export const ROLLOUT_PATH = "/__rollout";
