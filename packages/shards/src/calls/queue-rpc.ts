import type {
  QueueBrokerRpc,
  QueueHistoryRpc,
  QueueMessagesRpc,
  QueuePostRpc,
  QueuePullRpc,
  QueueReceiveRpc,
} from "@sluice/protocol";

/**
 * Methods of a queue that a caller may call: of its object, and of all its shards together. Those for its clock are of
 * each object, by its own name.
 */
export interface QueueRpc
  extends QueueBrokerRpc,
    QueueHistoryRpc,
    QueueMessagesRpc,
    QueuePostRpc,
    QueuePullRpc,
    QueueReceiveRpc {}

export type Method = keyof QueueRpc;

/** Arguments of a method behind the queue's name. */
export type Arguments<Of extends Method> =
  Parameters<QueueRpc[Of]> extends [string, ...infer Rest] ? Rest : never;

export type Answer<Of extends Method> = Awaited<ReturnType<QueueRpc[Of]>>;
