import { isRepeatable } from "../ledger/named-receives.ts";
import type { Checker } from "./checker.ts";

/**
 * A receive of a FIFO queue that is made again with its attempt id within five minutes gets all of what it got, with the same
 * receipts and a new visibility timeout, as long as nothing has happened to any of it; afterwards it is a receive like any
 * other, and nobody else gets it (spec sqs 4.5).
 */
export const receiveAttempts: Checker = {
  property: "receive attempts",

  committed(_queue, { changes }) {
    for (const { message, ending } of changes) {
      const receive = message.namedReceive;
      if (ending?.kind !== "repeated" || receive === null) continue;
      const { leaseId, endMs } = receive;
      const left = receive.messages.find(
        ({ view }) => view.status !== "leased" || view.leaseId !== leaseId || view.atMs !== endMs,
      );
      if (left !== undefined)
        return `message ${message.tag} is received again without message ${left.tag} of the same receive`;
    }
    return undefined;
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
