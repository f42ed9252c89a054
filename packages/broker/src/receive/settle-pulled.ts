import { deleteReceived, type Receipt, retry, type Slice } from "@sluice/engine";
import { DELAY_SECONDS_MAX, type PullSettled, type PullSettlement } from "@sluice/protocol";
import { positionsOfEach } from "../history/journal/event.ts";
import type { DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { unnamedDelayMs, unnamedDelayReason } from "../turn/retry-delay.ts";
import { decodeToken } from "./message-token.ts";
import { checkRange, PULLER } from "./pull.ts";

const NOT_A_LEASE = "This is not a lease id of this queue.";
const GONE = "The message is not in the queue any more.";
const ENDED = "The lease has ended, so the message was not retried.";
const ENDED_IN_ORDER = "The lease has ended, and messages of a group are acknowledged in order.";

/**
 * Within a turn: settles messages that a client has pulled (spec cloudflare-queues 5.5). Acknowledgements come first,
 * then retries, which need the lease that holds the message. `warnings` name the lease ids that settle nothing.
 *
 * @throws RangeError for a delay that the edge should have refused; then nothing is settled.
 */
export function settlePulled(
  context: QueueContext,
  deadLetters: DeadLetters,
  { acks, retries }: PullSettlement,
): PullSettled {
  for (const { delaySeconds = 0 } of retries) checkRange("delaySeconds", delaySeconds, 0, DELAY_SECONDS_MAX);
  // Leases that have ended release their messages now, even if the alarm is late.
  context.passTime();
  const warnings: [leaseId: string, text: string][] = [];
  let ackCount = 0;
  for (const leaseId of acks) {
    const refusal = acknowledge(context, leaseId);
    if (refusal === null) ackCount += 1;
    else warnings.push([leaseId, refusal]);
  }
  const dead: Slice[] = [];
  let retryCount = 0;
  for (const { leaseId, delaySeconds } of retries) {
    const refusal = retryLease(context, leaseId, delaySeconds, dead);
    if (refusal === null) retryCount += 1;
    else warnings.push([leaseId, refusal]);
  }
  deadLetters.add(dead, "its client retried it", PULLER);
  return { ackCount, retryCount, warnings };
}

/** Acknowledges a message. @returns a warning, `null` if it was acknowledged. */
function acknowledge(context: QueueContext, leaseId: string): string | null {
  const { queue, name, nowMs, history, traces, payloadOf } = context;
  const receipt = decodeToken(name, "lease", leaseId);
  if (receipt === null) return NOT_A_LEASE;
  const noteAcked = (slice: Slice) => history.finished.note("acked", slice, { by: PULLER });
  switch (deleteReceived(queue, receipt, nowMs, noteAcked)) {
    case "deleted":
      traces?.used("ack", PULLER, [receipt], payloadOf);
      history.quiet({ kind: "acked", by: PULLER, count: 1, at: positionsOfEach([receipt]) });
      return null;
    case "gone":
      return GONE;
    case "expired":
      return ENDED_IN_ORDER;
  }
}

/** Retries a message, or adds it to `dead` after its last attempt. @returns a warning, `null` if it was settled. */
function retryLease(
  context: QueueContext,
  leaseId: string,
  delaySeconds: number | undefined,
  dead: Slice[],
): string | null {
  const receipt = decodeToken(context.name, "lease", leaseId);
  if (receipt === null) return NOT_A_LEASE;
  const { queue, nowMs } = context;
  const { segmentId, index, leaseId: number } = receipt;
  const entry = queue.segments.get(segmentId)?.entryOf(index) ?? null;
  if (entry === null) return GONE;
  const delayMs =
    delaySeconds === undefined
      ? unnamedDelayMs(context, keyOf(receipt), entry.attempts)
      : 1000 * delaySeconds;
  const range = { segmentId, leaseId: number, from: index, to: index + 1 };
  const outcome = retry(queue, range, nowMs + delayMs, nowMs);
  dead.push(...outcome.dead);
  if (outcome.retried.length + outcome.dead.length > 0)
    context.traces?.used("retry", PULLER, [receipt], context.payloadOf);
  if (outcome.retried.length > 0) {
    const delay = delaySeconds === undefined ? unnamedDelayReason(context) : "handler";
    const event = {
      by: PULLER,
      count: 1,
      at: positionsOfEach([receipt]),
      attempt: entry.attempts,
      batch: number,
    };
    context.history.record({ kind: "retried", ...event, delayMs, delay });
  }
  return outcome.retried.length + outcome.dead.length === 0 ? ENDED : null;
}

/** Makes the key of the jitter, which is the same for all messages of a segment in one pull. */
function keyOf({ segmentId, leaseId }: Receipt): string {
  return `${segmentId} ${leaseId}`;
}
