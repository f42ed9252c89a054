import type {
  QueueBrokerRpc,
  QueueClockRpc,
  QueueHistoryRpc,
  QueueMessagesRpc,
  QueuePartsRpc,
  QueuePostRpc,
  QueuePullRpc,
  QueueReceiveRpc,
  QueueRecord,
  QueueShardRpc,
  TopicObjectRpc,
} from "@sluice/protocol";
import type { AlarmedObject } from "./directory-object.ts";
import type { Transfer, TransferReply } from "./transfer.ts";

export type { SettledQueue } from "@sluice/protocol";

/** Calls of the directory to a queue's object. */
export interface ConfiguredQueueObject extends Pick<QueueShardRpc, "shardState">, Rpc.DurableObjectBranded {
  /** Applies the record, unless a later one is known. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /**
   * Deletes the queue's data, unless the queue was created again after `revision`.
   *
   * @returns how many messages were deleted; `undefined` from a broker of an earlier release.
   */
  clear(queue: string, revision: number): Promise<number | undefined>;
  /** Refuses publishers with an older version of a topic. @param version `null` for a deleted topic refuses all. */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
  /** Takes messages of another queue, a topic or a bucket, once each. */
  take(queue: string, transfer: Transfer): Promise<TransferReply>;
}

/** Calls to a queue's Durable Object. */
export interface QueueBrokerObject
  extends QueueBrokerRpc,
    QueueClockRpc,
    QueueHistoryRpc,
    QueueMessagesRpc,
    QueuePartsRpc,
    QueuePostRpc,
    QueuePullRpc,
    QueueReceiveRpc,
    TopicObjectRpc,
    AlarmedObject,
    ConfiguredQueueObject {}
