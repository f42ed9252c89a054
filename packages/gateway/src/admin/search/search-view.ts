import type { EventView } from "../history/history-view.ts";
import type { MessageView } from "../messages/message-view.ts";

/** Findings of a search over all queues that the caller may read. */
export interface SearchView {
  /** Names that have the text in them, `SHOWN_MAX` at most. */
  readonly queues: readonly string[];
  /** ARNs of topics with the text in their names, `SHOWN_MAX` at most. None for a token for some queues. */
  readonly topics: readonly string[];
  /** Messages by queue. */
  readonly messages: readonly FoundView[];
  /** Messages that were in a queue, and whose ids begin with the text. */
  readonly gone: readonly GoneView[];
  /** Queues that were not searched to their end. */
  readonly unfinished: readonly UnfinishedView[];
}

/** Messages of a queue that fit the filter. */
export interface FoundView {
  readonly queue: string;
  /** Filter that lists all of them. */
  readonly filter: string;
  /** The first of them, `SHOWN_MAX` at most. */
  readonly messages: readonly MessageView[];
  /** Messages that fit, as far as they were counted. */
  readonly count: number;
  /** Whether all were counted. */
  readonly isWhole: boolean;
}

/** A message that was in a queue. */
export interface GoneView {
  readonly queue: string;
  readonly id: string;
  /** The last event of it in that queue. */
  readonly last: EventView;
}

export interface UnfinishedView {
  readonly queue: string;
  readonly searched: number;
  /** Messages of the queue; `null` where that is not known. */
  readonly of: number | null;
}
