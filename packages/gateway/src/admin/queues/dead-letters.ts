import type { QueueRecord, TopicSubscription } from "@sluice/protocol";

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
    queues: queues.filter((queue) => deadLetterQueuesOf(queue).includes(name)).map((queue) => queue.name),
    subscriptions: subscriptions
      .filter(({ deadLetterQueue }) => deadLetterQueue === name)
      .map(({ arn }) => arn),
  };
}

/** Lists the dead-letter queues of a queue: its consumer's, and that for clients of SQS. */
function deadLetterQueuesOf({ definition }: QueueRecord): (string | null | undefined)[] {
  return [definition.consumer?.settings.deadLetterQueue, definition.receive?.redrive?.deadLetterQueue];
}
