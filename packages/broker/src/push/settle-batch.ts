import { acknowledge, giveUp, type LeasedRange, pushEnded, retry, type Slice } from "@sluice/engine";
import {
  acknowledgesAll,
  DELAY_SECONDS_MAX,
  type DeliveryResult,
  PackedIndex,
  type Settlement,
  settle,
} from "@sluice/protocol";
import { countOf } from "../history/journal/event.ts";
import type { DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { unnamedDelayMs, unnamedDelayReason } from "../turn/retry-delay.ts";
import type { RejectedDelivery, Running } from "./delivery-result.ts";
import { noteAcked, noteFailed, notePrinted, noteRetried } from "./note-delivery.ts";
import { failureReason, retryReasons } from "./retry-reasons.ts";

/** Verdict on a message; the delay of a retry is `null` if neither handler nor batch has named one. */
type Verdict = Settlement<null>;

/** Whether a result acknowledges every message of its batch. */
export function isAcknowledged(result: DeliveryResult | RejectedDelivery): boolean {
  return !("rejected" in result) && acknowledgesAll(result);
}

/** Settles batches by the results of their deliveries. */
export class BatchSettler {
  readonly #context: QueueContext;
  readonly #deadLetters: DeadLetters;

  constructor(context: QueueContext, deadLetters: DeadLetters) {
    this.#context = context;
    this.#deadLetters = deadLetters;
  }

  /**
   * Within a turn: settles every message of a batch by its result (spec cloudflare-queues 2.4).
   *
   * @param tookMs Duration of the delivery.
   * @returns how many are acknowledged.
   */
  settle(running: Running, result: DeliveryResult | RejectedDelivery, tookMs: number): number {
    const { queue, log, name, history } = this.#context;
    const { batch } = running;
    const isOk = !("rejected" in result) && result.outcome === "ok";
    if (history.isOn) history.ended(tookMs);
    notePrinted(this.#context, running, result, isAcknowledged(result));
    if (!isOk) noteFailed(this.#context, running, result, tookMs);
    const acked = this.#settleMessages(running, result, tookMs);
    pushEnded(queue, batch, isOk ? "ok" : "failed");
    log.handled(name, acked, batch.count, tookMs);
    return acked;
  }

  /** Settles the messages. @returns how many are acknowledged. */
  #settleMessages(running: Running, result: DeliveryResult | RejectedDelivery, tookMs: number): number {
    if ("rejected" in result) {
      this.#rejectAll(running, result);
      return 0;
    }
    if (!isAcknowledged(result)) return this.#settleEach(running, result, tookMs);
    const { slices, leaseId } = running.batch;
    const done: Slice[] = [];
    for (const slice of slices) acknowledge(this.#context.queue, { ...slice, leaseId }, done);
    noteAcked(this.#context, running, done, tookMs);
    return countOf(done);
  }

  /** Dead-letters all messages, however many attempts are left. */
  #rejectAll({ batch, consumer }: Running, { rejected }: RejectedDelivery): void {
    const { slices, leaseId } = batch;
    const dead = slices.flatMap((slice) => giveUp(this.#context.queue, { ...slice, leaseId }));
    this.#deadLetters.add(dead, rejected, consumer.name);
  }

  #settleEach(running: Running, result: DeliveryResult, tookMs: number): number {
    const { batch, delivery, consumer } = running;
    const { queue, log, name, nowMs } = this.#context;
    const messages = new PackedIndex(delivery.packed);
    const ids = Array.from({ length: messages.count }, (_, i) => messages.id(i));
    const verdicts = settle(result, ids, null);
    const failure = failureReason(result);
    const reasonOf = retryReasons(result, ids.length);
    const dead = new Map<string, Slice[]>();
    const done: Slice[] = [];
    let position = 0;
    for (const slice of batch.slices) {
      const first = position;
      for (let from = slice.from; from < slice.to; ) {
        const verdict = verdictAt(verdicts, first + from - slice.from);
        const reasonAt = (i: number) =>
          verdict.kind === "ack" ? "" : reasonOf(ids[first + i - slice.from] ?? "");
        const reason = reasonAt(from);
        const isAlike = (i: number) =>
          sameVerdict(verdict, verdictAt(verdicts, first + i - slice.from)) && reasonAt(i) === reason;
        let to = from + 1;
        while (to < slice.to && isAlike(to)) to += 1;
        const range: LeasedRange = { leaseId: batch.leaseId, segmentId: slice.segmentId, from, to };
        if (verdict.kind === "ack") {
          acknowledge(queue, range, done);
        } else {
          const delayMs =
            verdict.delaySeconds === null
              ? unnamedDelayMs(this.#context, `${ids[first + from - slice.from]}`, slice.attempts)
              : 1000 * verdict.delaySeconds;
          const sentMs = messages.timestampMs(first + from - slice.from);
          if (this.#deadLetters.addOutlived(range, sentMs, delayMs, reason, consumer.name)) {
            from = to;
            continue;
          }
          const outcome = retry(queue, range, nowMs + delayMs, nowMs);
          dead.set(reason, [...(dead.get(reason) ?? []), ...outcome.dead]);
          noteRetried(this.#context, running, outcome.retried, {
            ms: delayMs,
            reason: verdict.delaySeconds === null ? unnamedDelayReason(this.#context) : "handler",
            // Some may have been deleted meanwhile, or delivered again.
            ids: outcome.retried
              .flatMap((one) => ids.slice(first + one.from - slice.from, first + one.to - slice.from))
              .join(""),
            // The failure of the batch has been noted.
            ...(reason === failure ? {} : { why: reason }),
          });
          if (verdict.clampedFromSeconds !== undefined) {
            log.warn(
              `Queue "${name}": a retry delay of ${verdict.clampedFromSeconds} s is not within 0 to ` +
                `${DELAY_SECONDS_MAX}, ${verdict.delaySeconds} s is used`,
            );
          }
          for (const retried of outcome.retried) {
            for (let i = retried.from; i < retried.to; i++) {
              const id = ids[first + i - slice.from];
              const line = () =>
                `Retrying message "${id}" on queue "${name}" ${inSeconds(delayMs / 1000)} ` +
                `(attempt ${slice.attempts} of ${queue.rules.maxRetries + 1}): ${reason}`;
              log.message(name, "retried", reason, line);
            }
          }
        }
        from = to;
      }
      position += slice.to - slice.from;
    }
    noteAcked(this.#context, running, done, tookMs);
    for (const [reason, slices] of dead) this.#deadLetters.add(slices, reason, consumer.name);
    return countOf(done);
  }
}

function verdictAt(verdicts: readonly Verdict[], position: number): Verdict {
  const verdict = verdicts[position];
  if (verdict === undefined) throw new RangeError(`message ${position} of a batch of ${verdicts.length}`);
  return verdict;
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  if (a.kind === "ack" || b.kind === "ack") return a.kind === b.kind;
  return a.delaySeconds === b.delaySeconds;
}

function inSeconds(delaySeconds: number): string {
  return delaySeconds === 0 ? "now" : `in ${delaySeconds} s`;
}
