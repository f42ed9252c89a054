import { DELIVERY_BYTES_MAX, lease, type Receipt, type Slice } from "@sluice/engine";
import {
  PackedIndex,
  PULL_MESSAGES_MAX,
  type PulledBatch,
  type PullReply,
  type PullRequest,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { attemptsIn, positionsOf } from "../history/journal/event.ts";
import type { QueueContext } from "../turn/context.ts";
import { metricsOf } from "../turn/figures.ts";
import { readLease } from "../turn/lease-records.ts";
import type { Throttle } from "../turn/throttle.ts";
import { encodeToken } from "./message-token.ts";

/** Name of a client that pulls, in the history. */
export const PULLER = "HTTP pull";

/**
 * Within a turn: leases messages for a client (spec cloudflare-queues 5.2, 5.5). The reply must wait for the commit, so
 * that the messages are still leased after a crash.
 *
 * @throws RangeError for values that the edge should have refused.
 */
export function pull(context: QueueContext, throttle: Throttle, request: PullRequest): PullReply {
  const { definition } = context;
  if (definition?.consumer?.type !== "http_pull") return { ok: false, reason: "notPullConsumer" };
  if (definition.deliveryPaused === true) return { ok: false, reason: "deliveryPaused" };
  const { maxBatchSize, visibilityTimeoutMs } = definition.consumer.settings;
  const max = request.max ?? maxBatchSize;
  const forMs = request.visibilityTimeoutMs ?? visibilityTimeoutMs;
  checkRange("max", max, 1, PULL_MESSAGES_MAX);
  checkRange("visibilityTimeoutMs", forMs, 0, VISIBILITY_TIMEOUT_MS_MAX);
  // Leases that have ended release their messages now, even if the alarm is late.
  context.passTime();
  const batch = takeBatch(context, Math.min(max, throttle.room), forMs);
  throttle.delivered(batch.leaseIds.length);
  return { ok: true, batch };
}

/** Leases messages that can be read. Others are reported as lost, and further ones take their places. */
function takeBatch(context: QueueContext, max: number, forMs: number): PulledBatch {
  const { name, queue, nowMs, history } = context;
  for (;;) {
    const request = { max, expiresMs: nowMs + forMs, kind: "pull" as const, bytesMax: DELIVERY_BYTES_MAX };
    const leased = lease(queue, request, nowMs);
    if (leased === null) {
      return { packed: new Uint8Array(), attempts: [], leaseIds: [], metrics: metricsOf(queue) };
    }
    const records = readLease(context, leased);
    if (records === null) continue;
    const { slices, count } = records.batch;
    history.quiet({ kind: "delivered", by: PULLER, count, at: positionsOf(slices) }, () => ({
      ids: new PackedIndex(records.packed).ids().join(""),
      batch: leased.leaseId,
      ...attemptsIn(slices),
    }));
    const receipts = slices.flatMap((slice) => positionsIn(slice, leased.leaseId));
    context.traces?.used("receive", PULLER, receipts, context.payloadOf);
    return {
      packed: records.packed,
      attempts: slices.flatMap(({ from, to, attempts }) => Array<number>(to - from).fill(attempts)),
      leaseIds: receipts.map((receipt) => encodeToken(name, "lease", receipt)),
      metrics: metricsOf(queue),
    };
  }
}

/** Lists the position of each message of a slice. @param leaseId 0 for none. */
export function positionsIn({ segmentId, from, to }: Slice, leaseId: number): Receipt[] {
  return Array.from({ length: to - from }, (_, i) => ({ segmentId, index: from + i, leaseId }));
}

/** Refuses a number out of range. The edge has refused it before, in its dialect's words. */
export function checkRange(what: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${what} of ${value} is not a whole number from ${min} to ${max}`);
}
