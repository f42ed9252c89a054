import type { QueueDescription } from "./description.ts";
import type { FaultSetting } from "./faults.ts";
import type { BacklogMetrics, SendReply, SendRequest } from "./send.ts";

/** Methods of a queue's Durable Object that the gateway calls. */
export interface QueueBrokerRpc {
  /**
   * Stores the batches, all or none, and answers after the commit.
   *
   * @param producer who sends, for people.
   */
  send(queue: string, requests: readonly SendRequest[], producer?: string): Promise<SendReply>;
  metrics(queue: string): Promise<BacklogMetrics>;
  describe(queue: string): Promise<QueueDescription>;
  /** Deletes every message, leased ones included, and answers how many there were. */
  purge(queue: string): Promise<PurgeReply>;
  /**
   * For who stops a broker: the queue's worker daemon begins no request for 10 s from now on. Ask again until none is
   * left. A queue without one has none.
   */
  drain(queue: string): Promise<DrainReply>;
  /** Answers with the faults that are injected into its deliveries. */
  faults(queue: string): Promise<FaultSetting>;
  /** Replaces that; development only. */
  setFaults(queue: string, setting: FaultSetting): Promise<void>;
}

export interface DrainReply {
  /** Requests to the application that have not been answered. */
  readonly requests: number;
}

export interface PurgeReply {
  readonly purged: number;
}
