/** One arrival of a publish at a topic. */
export interface Publication {
  /** Id by which a FIFO topic recognizes duplicates; `null` on a standard topic. */
  readonly deduplicationId: string | null;
  /** Tags of its copies. */
  readonly tags: readonly number[];
}

/** A published message on its way to one queue: each copy has a tag of its own. */
export interface Copy {
  readonly tag: number;
  /** Name of the queue. */
  readonly target: string;
  readonly publication: Publication;
  /** When the topic took it, in ms; `null` while that is not durable. */
  publishedMs: number | null;
}

/** Time for which a FIFO topic recognizes duplicates, in ms (spec sns-delivery 9.6). */
export const DEDUPLICATION_MS = 300_000;
