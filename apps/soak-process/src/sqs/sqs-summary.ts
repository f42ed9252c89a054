import type { SqsBooks } from "./sqs-books.ts";
import { isOwed } from "./sqs-message.ts";

/** The books of clients of SQS, closed. */
export interface SqsSummary {
  readonly sent: number;
  readonly acknowledged: number;
  /** Acknowledged messages that never came, or never to an end. Must be none. */
  readonly lost: number;
  /** Calls that were refused. */
  readonly refused: number;
  /** Sends that nobody answered, and how many of their messages were stored all the same. */
  readonly unanswered: number;
  readonly unansweredButStored: number;
  readonly resent: number;
  readonly received: number;
  readonly deleted: number;
  readonly again: SqsBooks["again"];
  readonly late: number;
  readonly violations: number;
  readonly violationTexts: readonly string[];
}

/** Call when everything has been received: what is owed then is lost. */
export function summarise(books: SqsBooks): SqsSummary {
  const { messages, refused, resent, received, late, violations, violationTexts } = books;
  const unanswered = messages.filter(({ outcome }) => outcome === "unknown");
  return {
    ...{ sent: messages.length, refused, resent, received, late, violations, violationTexts },
    acknowledged: messages.length - unanswered.length,
    lost: messages.filter(isOwed).length,
    unanswered: unanswered.length,
    unansweredButStored: unanswered.filter((message) => message.received !== null).length,
    deleted: messages.filter(({ deletion }) => deletion === "done").length,
    again: { ...books.again },
  };
}
