/**
 * Revisions at which queues were deleted, by name. They tell queues of one name apart: each is identified by the
 * revision at which the one before it was deleted, 0 for the first. The revision of a record or a shard map says which
 * queue it is of. An object that has not heard of a deletion goes by a record of the deleted queue, and its messages
 * belong to that queue.
 */
export class Deletions {
  readonly #revisions = new Map<string, number[]>();

  /** Adds the deletion of a queue. */
  add(queue: string, revision: number): void {
    this.#revisions.set(queue, [...(this.#revisions.get(queue) ?? []), revision]);
  }

  /** Finds the queue of a record or a map with this revision. */
  asOf(queue: string, revision: number): number {
    return this.#revisions.get(queue)?.findLast((deleted) => deleted < revision) ?? 0;
  }

  /** Finds the queue that exists now, or comes next. */
  latest(queue: string): number {
    return this.#revisions.get(queue)?.at(-1) ?? 0;
  }
}
