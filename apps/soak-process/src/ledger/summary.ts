import type { DuplicateCause } from "./findings.ts";
import type { Ledger } from "./ledger.ts";
import { isOpen, type Message } from "./message.ts";

/** The books, closed. */
export interface Summary {
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Sends that no answer came back from, and how many of their messages were stored all the same. */
  readonly unanswered: number;
  readonly unansweredButStored: number;
  /** Acknowledged messages that no handler has settled. Must be none. */
  readonly lost: number;
  readonly deadLettered: number;
  readonly duplicates: Readonly<Record<DuplicateCause, number>>;
  readonly oldestLostAckMs: number;
  readonly violations: number;
  readonly violationTexts: readonly string[];
}

/** Call when everything has been delivered: whatever is open then is lost. */
export function summarise({ messages, findings }: Ledger): Summary {
  const count = (counts: (message: Message) => boolean) => messages.filter(counts).length;
  const unanswered = messages.filter(({ outcome }) => outcome === "unknown");
  return {
    sent: messages.length,
    acknowledged: count(({ outcome }) => outcome === "acknowledged"),
    refused: count(({ outcome }) => outcome === "refused"),
    unanswered: unanswered.length,
    unansweredButStored: unanswered.filter(({ own, dead }) => own !== null || dead !== null).length,
    lost: lostOf(messages).length,
    deadLettered: count(({ dead }) => dead !== null),
    duplicates: { ...findings.duplicates },
    oldestLostAckMs: findings.oldestLostAckMs,
    violations: findings.violations,
    violationTexts: findings.violationTexts,
  };
}

/** Messages that were acknowledged and never came, or never to an end. */
export function lostOf(messages: readonly Message[]): Message[] {
  return messages.filter(isOpen);
}
