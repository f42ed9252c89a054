import type { Checker } from "./checker.ts";

/** A message that waits is deleted when its retention has ended: not earlier, and not later than by the next commit. */
export const retention: Checker = {
  property: "retention",

  committed({ ledger }, { changes, record }) {
    const acceptedUntilMs = record.atMs - record.rules.retentionMs;
    for (const { message, between, after } of changes) {
      if (between.status !== "waiting" || after.status !== "gone") continue;
      // It died, or its worker daemon's own retention ended; conservation has looked whether it may.
      const isDaemons = record.definition.consumer !== null && message.firstReceivedMs > 0;
      if (message.departure === "dead" || message.departure === "moved" || isDaemons) continue;
      if (message.acceptedMs > acceptedUntilMs) {
        return `message ${message.tag} is deleted ${message.acceptedMs - acceptedUntilMs} ms before its retention ends`;
      }
    }
    for (const { tag, view, acceptedMs } of ledger.present()) {
      const canExpire = view.status === "waiting" || (view.status === "leased" && view.kind === "receive");
      if (canExpire && acceptedMs <= acceptedUntilMs) {
        return `message ${tag} is kept ${acceptedUntilMs - acceptedMs} ms after its retention`;
      }
    }
    return undefined;
  },
};
