import type { QueueCore } from "@sluice/broker/testing";
import { acknowledge, type LeasedRange, lease, retry } from "@sluice/engine";
import { joinPacked } from "@sluice/protocol";
import type { Verdict } from "../ledger/delivery-record.ts";

/** Messages that a puller got. */
export interface Pulled {
  readonly packed: Uint8Array;
  readonly attempts: readonly number[];
  /** The receipt of each message: a range of one. */
  readonly receipts: readonly LeasedRange[];
}

/** Leases messages for a puller, within a turn; answers when the lease is durable. `null` if none is ready. */
export function pull(core: QueueCore, max: number, visibilityMs: number): Promise<Pulled | null> {
  return core.submit(() => {
    const { nowMs } = core;
    const batch = lease(core.queue, { max, expiresMs: nowMs + visibilityMs, kind: "pull" }, nowMs);
    if (batch === null) return null;
    const { leaseId } = batch;
    const parts = batch.slices.map(({ segmentId, from, to }) => core.payloadOf(segmentId).records(from, to));
    return {
      packed: joinPacked(parts).slice(),
      attempts: batch.slices.flatMap(({ from, to, attempts }) => Array<number>(to - from).fill(attempts)),
      receipts: batch.slices.flatMap(({ segmentId, from, to }) =>
        Array.from({ length: to - from }, (_, i) => ({
          leaseId,
          segmentId,
          from: from + i,
          to: from + i + 1,
        })),
      ),
    };
  });
}

/** Settles messages by their receipts, within a turn; answers when it is durable. */
export function settlePulled(
  core: QueueCore,
  settlements: readonly { readonly receipt: LeasedRange; readonly verdict: Verdict }[],
): Promise<void> {
  return core.submit(() => {
    const { queue, nowMs } = core;
    for (const { receipt, verdict } of settlements) {
      if (verdict.kind === "ack") acknowledge(queue, receipt);
      else if (verdict.kind === "retry") {
        const { dead } = retry(queue, receipt, nowMs + verdict.delayMs, nowMs);
        core.deadLetters.add(dead, "its puller gave it back", null);
      }
    }
  });
}
