/** One arrival of a publish at a topic. */
export interface Publication {
  /** On a FIFO topic, what tells duplicates; `null` on another one. */
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
  /** When its message was sent by what its topic offered its queue before it had stored it, in ms; `null` if it never did. */
  offeredMs: number | null;
  /** When it was sent by what arrived at its queue last, before that had it, in ms; `null` if nothing has. */
  sentMs: number | null;
  /** Whether its queue has answered that it is there. */
  isTaken: boolean;
}

/**
 * Whether a topic may hand a copy over that it has not stored: nobody else gets the message, and nothing tells its duplicates.
 * All messages of a request go to the same queues, so it is the only one for its queue.
 */
export function mayBeOffered({ publication }: Copy): boolean {
  return publication.tags.length === 1 && publication.deduplicationId === null;
}

/** For how long a FIFO topic tells duplicates, in ms (spec sns-delivery 9.6). */
export const DEDUPLICATION_MS = 300_000;
