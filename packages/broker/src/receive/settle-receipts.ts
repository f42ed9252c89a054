import { changeVisibility, deleteReceived, release } from "@sluice/engine";
import {
  type DeleteOutcome,
  VISIBILITY_TIMEOUT_MS_MAX,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { positionsOfEach } from "../history/journal/event.ts";
import type { QueueContext } from "../turn/context.ts";
import { decodeReceipt, receivedMsOf } from "./receipt-token.ts";
import { RECEIVER } from "./receivers.ts";

/** Within a turn: deletes the message of a receipt (spec sqs 3.4). */
export function deleteByReceipt(context: QueueContext, receipt: string): DeleteOutcome {
  const { queue, name, nowMs, history, traces } = context;
  const facts = decodeReceipt(name, receipt);
  if (facts === null) return "invalid";
  const outcome = deleteReceived(queue, facts, nowMs, (slice) =>
    history.finished.note("acked", slice, { by: RECEIVER }),
  );
  if (outcome === "deleted") {
    traces?.used("ack", RECEIVER, [facts], context.payloadOf);
    history.quiet({ kind: "acked", by: RECEIVER, count: 1, at: positionsOfEach([facts]) });
  }
  return outcome === "gone" ? "deleted" : outcome;
}

/**
 * Within a turn: makes the message of a receipt visible again, as if it had not been received. @returns 1 if the receipt
 * still held it, else 0.
 */
export function releaseByReceipt({ queue, name, nowMs }: QueueContext, receipt: string): number {
  const facts = decodeReceipt(name, receipt);
  if (facts === null) return 0;
  const { segmentId, index, leaseId } = facts;
  return release(queue, { segmentId, leaseId, from: index, to: index + 1 }, nowMs, nowMs);
}

/** Within a turn: changes the visibility timeout of the message of a receipt (spec sqs 3.3). */
export function changeByReceipt(
  context: QueueContext,
  { receipt, visibilityTimeoutMs }: VisibilityChange,
): VisibilityOutcome {
  if (!(visibilityTimeoutMs >= 0 && visibilityTimeoutMs <= VISIBILITY_TIMEOUT_MS_MAX)) {
    throw new RangeError(`a visibility timeout of ${visibilityTimeoutMs} ms`);
  }
  const { queue, name, nowMs, traces, payloadOf } = context;
  const facts = decodeReceipt(name, receipt);
  if (facts === null) return "invalid";
  const change = { visibleAtMs: nowMs + visibilityTimeoutMs, receivedMs: receivedMsOf(facts) };
  const outcome = changeVisibility(queue, facts, change, nowMs);
  if (outcome === "changed") traces?.used("change_visibility", RECEIVER, [facts], payloadOf);
  return outcome;
}
