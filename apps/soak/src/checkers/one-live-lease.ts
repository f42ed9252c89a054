import { VISIBILITIES_MS } from "../actors/receiver.ts";
import { type CommitRecord, wasLeased } from "../ledger/change.ts";
import { VISIBILITY_TOTAL_MS_MAX } from "../ledger/named-receives.ts";
import type { Checker } from "./checker.ts";

/**
 * A message has one live lease at most, and only who holds it decides: it ends with a settlement that names it, with its
 * time, or with the process that carried a push out. No lease id is used twice, no lease is delivered twice.
 */
export const oneLiveLease: Checker = {
  property: "one live lease",

  committed({ ledger }, { changes, ignored, leaseIdMaxBefore, record }) {
    const kept = ignored.find(({ ending }) => ending.kind !== "acked");
    if (kept !== undefined) return `message ${kept.message.tag} keeps its visibility timeout`;
    for (const change of changes) {
      const { message, before, ending, between, after } = change;
      if (before.status === "leased" && ending === null) {
        return `lease ${before.leaseId} of message ${message.tag} ended although nothing has ended it`;
      }
      if (after.status === "leased" && between.status === "leased" && after.atMs !== between.atMs) {
        return `message ${message.tag} is leased for ${after.atMs - between.atMs} ms more than it should be`;
      }
      if (after.status !== "leased" || !wasLeased(change)) continue;
      if (after.leaseId <= leaseIdMaxBefore) return `lease id ${after.leaseId} is used again`;
      const lastsMs = after.atMs - record.atMs;
      if (after.kind === "push" && lastsMs !== record.rules.pushLeaseMs) {
        return `a push lease of message ${message.tag} lasts ${lastsMs} ms`;
      }
      if (after.kind === "receive" && !visibilitiesOf(record).includes(lastsMs)) {
        return `message ${message.tag} is invisible for ${lastsMs} ms`;
      }
    }
    for (const message of ledger.present()) {
      const { view, tag } = message;
      if (view.status !== "leased") continue;
      const verdict = ledger.deliveries.get(view.leaseId)?.verdictFor(message, record.life, record.version);
      if (verdict != null) return `message ${tag} is still leased after its holder's ${verdict.kind}`;
    }
    return undefined;
  },

  departs({ name }, { leaseId, tags, messages, earlier, isVisible, visibilityMs }) {
    if (earlier !== undefined) return `lease ${leaseId} of "${name}" is delivered a second time`;
    if (new Set(tags).size !== tags.length) return `a message is twice in the batch of lease ${leaseId}`;
    for (const message of messages) {
      if (message === undefined || isVisible) continue;
      const { view, tag, leasedAtMs } = message;
      if (view.status !== "leased") return `message ${tag} is delivered and its lease is not durable`;
      if (view.leaseId !== leaseId) return `message ${tag} is leased by ${view.leaseId}, not by ${leaseId}`;
      const lastsMs = view.atMs - leasedAtMs;
      // No receipt holds a message for longer than its limit, however often it was received by its attempt id.
      const mostMs = (message.namedReceive?.firstMs ?? leasedAtMs) + VISIBILITY_TOTAL_MS_MAX - leasedAtMs;
      if (visibilityMs !== null && Math.min(visibilityMs, mostMs) !== lastsMs) {
        return `message ${tag} is invisible for ${lastsMs} ms, it was received for ${visibilityMs}`;
      }
    }
    return undefined;
  },
};

/** The visibility timeouts that a receive of the commit can have asked for, in ms. Which one it was is looked at when it leaves. */
function visibilitiesOf({ definition: { consumer } }: CommitRecord): readonly number[] {
  const daemon = consumer?.type === "http_push" ? consumer.settings.daemon : undefined;
  return daemon === undefined ? VISIBILITIES_MS : [1_000 * daemon.visibilityTimeoutSeconds];
}
