import type {
  QueueBrokerRpc,
  QueueHistoryRpc,
  QueueMessagesRpc,
  QueuePostRpc,
  QueuePullRpc,
  QueueReceiveRpc,
} from "@sluice/protocol";

/**
 * Methods of a queue, whether one object keeps it or several. Methods for the clock are not among them: each object is
 * called for its clock by its own name.
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
