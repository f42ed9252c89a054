import { wasLeased } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/**
 * Every delivery counts as one attempt, except one that no consumer ran; a message that fails on attempt
 * `max_retries + 1` is dead. A consumer is told the attempt number that is stored.
 */
export const attempts: Checker = {
  property: "attempts",

  changed({ settings: { laxest } }, change, { record }) {
    const { message, before, ending, between, after } = change;
    if (before.status === "gone" || after.status === "gone") return undefined;
    if (between.status === "gone") {
      return ending?.kind === "failed" || ending?.kind === "dead"
        ? `message ${message.tag} goes on although its ${before.attempts} attempts were all that it has`
        : undefined;
    }
    const expected = between.attempts + (wasLeased(change) ? 1 : 0);
    const more = after.attempts - expected;
    if (more < 0 || more > record.visibleReceivesMax) {
      return `message ${message.tag} is on attempt ${after.attempts}, it should be ${expected}`;
    }
    // Settings may have changed since: a message can be past the new limit when they take effect.
    return after.attempts > laxest.maxRetries + 1
      ? `message ${message.tag} is on attempt ${after.attempts} with at most ${laxest.maxRetries} retries`
      : undefined;
  },

  departs(_queue, { messages, attempts: told, isVisible }) {
    for (const [i, message] of messages.entries()) {
      const count = told[i] ?? 0;
      if (isVisible && message !== undefined) {
        const most = message.view.status === "gone" ? Infinity : message.view.attempts;
        const isNew = count > 0 && count <= most && !message.countsTold.has(count);
        if (!isNew) return `receive ${count} of message ${message.tag} is told, of ${message.attempts}`;
        message.countsTold.add(count);
        continue;
      }
      if (message?.view.status !== "leased" || message.view.attempts === told[i]) continue;
      return `the consumer of message ${message.tag} is told attempt ${told[i]}, it is ${message.view.attempts}`;
    }
    return undefined;
  },
};
