import { deadLetterQueuesOf, type QueueRecord, type TopicSubscription } from "@sluice/protocol";

/** Sources of the dead letters that a queue takes. */
export interface DeadLetterSources {
  /** Names of queues. */
  readonly queues: readonly string[];
  /** ARNs of subscriptions. */
  readonly subscriptions: readonly string[];
}

export function deadLetterSources(
  name: string,
  queues: readonly QueueRecord[],
  subscriptions: readonly TopicSubscription[],
): DeadLetterSources {
  return {
    queues: queues
      .filter(({ definition }) => deadLetterQueuesOf(definition).includes(name))
      .map((queue) => queue.name),
    subscriptions: subscriptions
      .filter(({ deadLetterQueue }) => deadLetterQueue === name)
      .map(({ arn }) => arn),
  };
}
