import type { Ledger } from "../ledger/ledger.ts";
import type { Checker } from "./checker.ts";

/** A queue says "stored" to a producer, and "taken" to another queue, only of messages that a crash cannot take away. */
export const acknowledgedSurvives: Checker = {
  property: "acknowledged survives",

  acknowledged({ ledger }, { firstTag, count }) {
    const tags = Array.from({ length: count }, (_, i) => firstTag + i);
    return missing(ledger, tags, "is answered as stored and is not durable");
  },

  taken(queue, { tags }) {
    const kept = tags.filter((tag) => !queue.canHaveBeenOver(tag) && !queue.ledger.passedOn.has(tag));
    return missing(queue.ledger, kept, "is answered as taken and is not durable");
  },
};

function missing(ledger: Ledger, tags: readonly number[], what: string): string | undefined {
  const tag = tags.find((tag) => !ledger.messages.has(tag));
  return tag === undefined ? undefined : `message ${tag} ${what}`;
}
