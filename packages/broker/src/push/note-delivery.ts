import type { RetryOutcome } from "@sluice/engine";
import { type DelayReason, type DeliveryResult, ERROR_TEXT_MAX, PackedIndex } from "@sluice/protocol";
import { attemptsIn, countOf, positionsOf } from "../history/journal/event.ts";
import type { QueueContext } from "../turn/context.ts";
import type { RejectedDelivery, Running } from "./delivery-result.ts";

type NotingContext = Pick<QueueContext, "history">;

/** Within a turn: notes that a batch is delivered. */
export function noteDelivered({ history }: NotingContext, { batch, consumer, delivery }: Running): void {
  if (!history.isOn) return;
  const { slices, count, leaseId } = batch;
  history.quiet({ kind: "delivered", by: consumer.name, count, at: positionsOf(slices) }, () => ({
    ids: new PackedIndex(delivery.packed).ids().join(""),
    batch: leaseId,
    ...attemptsIn(slices),
  }));
}

/**
 * Within a turn: notes what the handler of a delivery printed.
 *
 * @param isAcked whether all messages are acknowledged.
 */
export function notePrinted(
  { history }: NotingContext,
  { batch: { slices, count, leaseId }, consumer, startedMs }: Running,
  result: DeliveryResult | RejectedDelivery,
  isAcked: boolean,
): void {
  if (!history.isOn || "rejected" in result || result.logs === undefined) return;
  const facts = { by: consumer.name, count, at: positionsOf(slices) };
  history.printed(facts, leaseId, { beganMs: startedMs, ...result.logs }, isAcked);
}

/**
 * Within a turn: notes which messages of a batch are acknowledged: others may have been deleted meanwhile. Their bodies
 * may be kept where no history is.
 */
export function noteAcked(
  { history }: NotingContext,
  { batch: { leaseId }, consumer }: Running,
  slices: Running["batch"]["slices"],
  tookMs: number,
): void {
  for (const slice of slices) history.finished.note("acked", slice, { by: consumer.name });
  if (!history.isOn || slices.length === 0) return;
  const at = positionsOf(slices);
  const facts = { kind: "acked", by: consumer.name, count: countOf(slices), at, tookMs } as const;
  history.quiet(facts, () => ({ batch: leaseId }));
}

/** Within a turn: notes that a delivery failed, with its error. */
export function noteFailed(
  { history }: NotingContext,
  { batch, consumer, delivery }: Running,
  result: DeliveryResult | RejectedDelivery,
  tookMs: number,
): void {
  if (!history.isOn) return;
  const { slices, count, leaseId } = batch;
  history.record({
    kind: "failed",
    by: consumer.name,
    count,
    at: positionsOf(slices),
    tookMs,
    batch: leaseId,
    ids: new PackedIndex(delivery.packed).ids().join(""),
    ...attemptsIn(slices),
    error: errorOf(result).slice(0, ERROR_TEXT_MAX),
  });
}

/** Within a turn: notes that an injected fault acts on a delivery. */
export function noteFaulted(
  { history }: NotingContext,
  { batch, consumer, delivery }: Running,
  text: string,
): void {
  if (!history.isOn) return;
  history.record({
    kind: "faulted",
    by: consumer.name,
    count: batch.count,
    at: positionsOf(batch.slices),
    batch: batch.leaseId,
    ids: new PackedIndex(delivery.packed).ids().join(""),
    error: text,
  });
}

/** Within a turn: notes that messages of a batch wait for another delivery. */
export function noteRetried(
  { history }: NotingContext,
  { batch: { leaseId }, consumer }: Running,
  retried: RetryOutcome["retried"],
  delay: { readonly ms: number; readonly reason: DelayReason; readonly ids?: string; readonly why?: string },
): void {
  if (!history.isOn || retried.length === 0) return;
  const { ms, reason, ids, why } = delay;
  history.record({
    kind: "retried",
    by: consumer.name,
    count: countOf(retried),
    at: positionsOf(retried),
    batch: leaseId,
    ...attemptsIn(retried),
    delayMs: ms,
    delay: reason,
    ...(ids === undefined ? {} : { ids }),
    ...(why === undefined ? {} : { error: why }),
  });
}

function errorOf(result: DeliveryResult | RejectedDelivery): string {
  if ("rejected" in result) return result.rejected;
  const { stack, error, outcome } = result;
  return typeof stack === "string" ? stack : typeof error === "string" ? error : outcome;
}
