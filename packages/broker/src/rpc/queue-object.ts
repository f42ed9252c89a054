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
  TopicObjectRpc,
} from "@sluice/protocol";
import type { AlarmedObject } from "./directory-object.ts";
import type { Transfer, TransferReply } from "./transfer.ts";

/** Calls of the directory to a queue's object. */
export interface ConfiguredQueueObject extends Rpc.DurableObjectBranded {
  /** Goes by the record from now on, unless a later one is known. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /** Drops everything, unless the queue was created again after `revision`. */
  clear(queue: string, revision: number): Promise<void>;
  /**
   * A topic has changed: who goes by an older version is refused from now on. Everybody is by `null`, for a topic that
   * was deleted.
   */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
}

/** A queue in which nothing is under way. */
export interface SettledQueue extends NextMoment {
  /** When something is delivered or transferred next, in ms; `null` if nothing will be. */
  readonly workAtMs: number | null;
}

/** A queue's Durable Object as its callers see it. */
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
  take(queue: string, transfer: Transfer): Promise<TransferReply>;
  /** Development only: moves the clock of this queue alone forward. */
  advanceClock(queue: string, ms: number): Promise<void>;
  /** Development only: has it go by the clock of the broker. */
  setClock(queue: string, setting: ClockSetting): Promise<void>;
  /**
   * Development only: has it go by a clock that stands, and resolves when nothing is under way any more.
   */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
  /** Finds the next moment at which something happens in the queue if no call comes. */
  nextMoment(queue: string): Promise<NextMoment>;
}
