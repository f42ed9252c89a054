import { deadLetterQueuesOf, type QueueDefinition } from "@sluice/protocol";

/** Name of a queue, with the settings that say where its dead letters go. */
export interface Ordered {
  readonly name: string;
  readonly definition: Pick<QueueDefinition, "consumer" | "receive">;
}

/**
 * Orders queues so that each comes before those that take its dead letters. Where dead letters go in a circle, which
 * only clients of SQS can set, any queue of the circle comes first.
 */
export function sourcesFirst<Queue extends Ordered>(queues: readonly Queue[]): Queue[] {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const seen = new Set<string>();
  const targetsFirst: Queue[] = [];
  const visit = (name: string) => {
    const queue = byName.get(name);
    if (queue === undefined || seen.has(name)) return;
    seen.add(name);
    for (const target of deadLetterQueuesOf(queue.definition)) visit(target);
    targetsFirst.push(queue);
  };
  for (const { name } of queues) visit(name);
  return targetsFirst.reverse();
}
