import type { Checker } from "./checker.ts";

/** What was acknowledged by the holder of its lease is gone with the next commit, and never delivered again. */
export const ackedIsFinal: Checker = {
  property: "acked is final",

  committed({ ledger }, { changes, ignored, record }) {
    const kept = ignored.find(({ ending }) => ending.kind === "acked");
    if (kept !== undefined) return `message ${kept.message.tag} is still there after its delete`;
    for (const { message, before, ending, after } of changes) {
      if (after.status === "gone") continue;
      if (ending?.kind === "acked") return `message ${message.tag} is still there after its acknowledgement`;
      if (before.status === "gone") return `message ${message.tag} was gone and is back`;
    }
    for (const message of ledger.present()) {
      if (message.view.status !== "leased") continue;
      const delivery = ledger.deliveries.get(message.view.leaseId);
      if (delivery?.verdictFor(message, record.life, record.version)?.kind !== "ack") continue;
      return `message ${message.tag} is still leased after its acknowledgement`;
    }
    return undefined;
  },

  departs(_queue, { messages, isVisible }) {
    // What was received and left visible may have died at the next receive of the same turn.
    const gone = messages.find(
      (message) => message?.view.status === "gone" && !(isVisible && message.departure === "dead"),
    );
    return gone === undefined ? undefined : `message ${gone.tag} is ${gone.departure} and delivered again`;
  },
};
