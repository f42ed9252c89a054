import type { BacklogMetrics, SendReply, SendRequest } from "../send.ts";
import type { QueueDescription } from "./description.ts";
import type { FaultSetting } from "./faults.ts";

/** Methods of a queue's Durable Object that the gateway calls. */
export interface QueueBrokerRpc {
  /**
   * Stores the batches, all or none, and answers after the commit.
   *
   * @param producer name of the sender, for people.
   */
  send(queue: string, requests: readonly SendRequest[], producer?: string): Promise<SendReply>;
  metrics(queue: string): Promise<BacklogMetrics>;
  describe(queue: string): Promise<QueueDescription>;
  /** Deletes every message, leased ones included, and answers with their number. */
  purge(queue: string): Promise<PurgeReply>;
  /**
   * Keeps the queue's worker daemon from beginning requests for 10 s, before a broker is stopped. Answers with the
   * requests that are left: ask again until there are none. A queue without a daemon has none.
   */
  drain(queue: string): Promise<DrainReply>;
  /** Answers with the faults that are injected into the queue's deliveries. */
  faults(queue: string): Promise<FaultSetting>;
  /** Replaces the faults of the queue; development only. */
  setFaults(queue: string, setting: FaultSetting): Promise<void>;
}

export interface DrainReply {
  /** Requests to the application that have not been answered. */
  readonly requests: number;
}

export interface PurgeReply {
  readonly purged: number;
}
