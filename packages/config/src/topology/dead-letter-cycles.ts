/**
 * Finds every cycle of dead-letter queues, each once, as its queues in order. A queue has at most one dead-letter
 * queue, so a walk from each queue finds them all.
 */
export function deadLetterCycles(
  queues: Iterable<string>,
  deadLetterQueueOf: (queue: string) => string | undefined,
): string[][] {
  const cycles: string[][] = [];
  const visited = new Set<string>();
  for (const start of queues) {
    const walk: string[] = [];
    let queue: string | undefined = start;
    while (queue !== undefined && !visited.has(queue)) {
      visited.add(queue);
      walk.push(queue);
      queue = deadLetterQueueOf(queue);
    }
    const entry = queue === undefined ? -1 : walk.indexOf(queue);
    if (entry !== -1) cycles.push(walk.slice(entry));
  }
  return cycles;
}
