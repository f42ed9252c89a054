import type {
  ClockSetting,
  NextMoment,
  QueueBrokerRpc,
  QueueHistoryRpc,
  QueueMessagesRpc,
  QueuePostRpc,
  QueuePullRpc,
  QueueReceiveRpc,
  QueueRecord,
  QueueShardRpc,
  TopicObjectRpc,
} from "@sluice/protocol";
import type { AlarmedObject } from "./directory-object.ts";
import type { Transfer, TransferReply } from "./transfer.ts";

/** Calls of the directory to a queue's object. */
export interface ConfiguredQueueObject extends Pick<QueueShardRpc, "shardState">, Rpc.DurableObjectBranded {
  /** Applies the record, unless a later one is known. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /** Deletes the queue's data, unless the queue was created again after `revision`. */
  clear(queue: string, revision: number): Promise<void>;
  /** Refuses publishers with an older version of a topic. @param version `null` for a deleted topic refuses all. */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
  /** Takes messages of another queue, a topic or a bucket, once each. */
  take(queue: string, transfer: Transfer): Promise<TransferReply>;
}

/** Queue in which nothing is under way. */
export interface SettledQueue extends NextMoment {
  /** Time in ms of the next delivery or transfer; `null` if there is none. */
  readonly workAtMs: number | null;
}

/** Calls to a queue's Durable Object. */
export interface QueueBrokerObject
  extends QueueBrokerRpc,
    QueueHistoryRpc,
    QueueMessagesRpc,
    QueuePostRpc,
    QueuePullRpc,
    QueueReceiveRpc,
    TopicObjectRpc,
    AlarmedObject,
    ConfiguredQueueObject {
  /** Moves the clock of this queue alone forward, in development. */
  advanceClock(queue: string, ms: number): Promise<void>;
  /** Applies the setting of the broker's clock, in development. */
  setClock(queue: string, setting: ClockSetting): Promise<void>;
  /** Applies the setting of a frozen clock, and resolves when nothing is under way, in development. */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
  /** Finds the time of the next event in the queue if no call comes. */
  nextMoment(queue: string): Promise<NextMoment>;
}
