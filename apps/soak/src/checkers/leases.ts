import { type CommitRecord, wasLeased } from "../ledger/change.ts";
import { isRepeatable, VISIBILITY_TOTAL_MS_MAX } from "../ledger/named-receives.ts";
import { VISIBILITIES_MS } from "../scenario/visibilities.ts";
import type { Checker } from "./checker.ts";

/**
 * A message has at most one live lease. It ends with a settlement that names it, when its time is up, or, of a push,
 * with the process that made the delivery. No lease id is used twice, no lease is delivered twice.
 */
export const oneLiveLease: Checker = {
  property: "one live lease",

  changed(_queue, change, { leaseIdMaxBefore, record }) {
    const { message, before, ending, between, after } = change;
    if (before.status === "leased" && ending === null) {
      return `lease ${before.leaseId} of message ${message.tag} ended although nothing has ended it`;
    }
    if (after.status === "leased" && between.status === "leased" && after.atMs !== between.atMs) {
      return `message ${message.tag} is leased for ${after.atMs - between.atMs} ms more than it should be`;
    }
    if (after.status !== "leased" || !wasLeased(change)) return undefined;
    if (after.leaseId <= leaseIdMaxBefore) return `lease id ${after.leaseId} is used again`;
    const lastsMs = after.atMs - record.atMs;
    if (after.kind === "push" && lastsMs !== record.rules.pushLeaseMs) {
      return `a push lease of message ${message.tag} lasts ${lastsMs} ms`;
    }
    return after.kind === "receive" && !visibilitiesOf(record).includes(lastsMs)
      ? `message ${message.tag} is invisible for ${lastsMs} ms`
      : undefined;
  },

  committed({ ledger }, { ignored, record }) {
    const kept = ignored.find(({ ending }) => ending.kind !== "acked");
    if (kept !== undefined) return `message ${kept.message.tag} keeps its visibility timeout`;
    for (const message of ledger.present()) {
      const { view, tag } = message;
      if (view.status !== "leased") continue;
      const verdict = ledger.deliveries.get(view.leaseId)?.verdictFor(message, record.epoch, record.version);
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

/** Visibility timeouts that a receive of the commit can have asked for, in ms. `departs` checks which one it was. */
function visibilitiesOf({ definition: { consumer } }: CommitRecord): readonly number[] {
  const daemon = consumer?.type === "http_push" ? consumer.settings.daemon : undefined;
  return daemon === undefined ? VISIBILITIES_MS : [1_000 * daemon.visibilityTimeoutSeconds];
}

/**
 * A receive of a FIFO queue that is made again with its attempt id within five minutes gets the same messages, with the
 * same receipts and a new visibility timeout, as long as nothing has happened to any of them; afterwards it is a
 * receive like any other. No other receive gets the messages (spec sqs 4.5).
 */
export const receiveAttempts: Checker = {
  property: "receive attempts",

  changed(_queue, { message, ending }) {
    const receive = message.namedReceive;
    if (ending?.kind !== "repeated" || receive === null) return undefined;
    const { leaseId, endMs } = receive;
    const left = receive.messages.find(
      ({ view }) => view.status !== "leased" || view.leaseId !== leaseId || view.atMs !== endMs,
    );
    return left && `message ${message.tag} is received again without message ${left.tag} of the same receive`;
  },

  received({ ledger, world }, { attemptId, leaseId, tags, receipts, before }) {
    const receive = leaseId === null ? null : ledger.namedReceives.ofLease(leaseId);
    if (receive !== null && receive.receipts !== null) {
      const what = `lease ${leaseId} is received again`;
      if (!receive.names.has(attemptId)) return `${what} by "${attemptId}", which it was not received by`;
      const got = new Set(receive.messages.map(({ tag }) => tag));
      if (tags.length !== got.size || !tags.every((tag) => got.has(tag)))
        return `${what} with other messages`;
      if (receipts.join() !== receive.receipts.join()) return `${what} with other receipts`;
    }
    const isOther = before !== null && before !== receive && ledger.namedReceives.named(attemptId) === before;
    if (!isOther || !isRepeatable(before, world.nowMs)) return undefined;
    const got = leaseId === null ? "nothing" : `lease ${leaseId}`;
    return `"${attemptId}" gets ${got} although nothing has happened to lease ${before.leaseId}, which it got before`;
  },
};
