/**
 * Queues of one name that came one after the other, each with the revision at which the one before was deleted, 0 for
 * the first. Records and maps have revisions too, so each of them is one queue's. An object that was not told yet that
 * its queue was deleted goes by the record of that one, and what it holds or takes in is that one's.
 */
export class Deletions {
  readonly #revisions = new Map<string, number[]>();

  /** A queue was deleted. */
  add(queue: string, revision: number): void {
    this.#revisions.set(queue, [...(this.#revisions.get(queue) ?? []), revision]);
  }

  /** Finds the queue that a record or a map of a revision is of. */
  asOf(queue: string, revision: number): number {
    return this.#revisions.get(queue)?.findLast((deleted) => deleted < revision) ?? 0;
  }

  /** The queue that there is now, or will be next. */
  latest(queue: string): number {
    return this.#revisions.get(queue)?.at(-1) ?? 0;
  }
}
