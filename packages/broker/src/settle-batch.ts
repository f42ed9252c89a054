import { acknowledge, giveUp, type LeasedRange, pushEnded, retry, type Slice } from "@sluice/engine";
import {
  acknowledgesAll,
  DELAY_SECONDS_MAX,
  type DeliveryResult,
  PackedIndex,
  type Settlement,
  settle,
} from "@sluice/protocol";
import { buryDead, firstLines } from "./dead-letter.ts";
import type { RejectedDelivery } from "./delivery-result.ts";
import { endOutlived } from "./endpoint/notification-life.ts";
import type { QueueCore } from "./queue-core.ts";
import { unnamedDelayMs } from "./retry-delay.ts";
import type { Running } from "./running.ts";

/** The delay of a retry is `null` where neither handler nor batch has named one. */
type Verdict = Settlement<null>;

/** Whether every message of a batch is acknowledged by what became of its delivery. */
export function isAcknowledged(result: DeliveryResult | RejectedDelivery): boolean {
  return !("rejected" in result) && acknowledgesAll(result);
}

/**
 * Within a turn: settles every message of a batch by what its handler did (spec cloudflare-queues 2.4).
 *
 * @param tookMs How long the delivery took.
 */
export function settleBatch(
  core: QueueCore,
  running: Running,
  result: DeliveryResult | RejectedDelivery,
  tookMs: number,
): void {
  const { batch } = running;
  if ("rejected" in result) {
    buryAll(core, running, result, tookMs);
    return;
  }
  const acked = isAcknowledged(result) ? acknowledgeAll(core, running) : settleEach(core, running, result);
  pushEnded(core.queue, batch, result.outcome === "ok" ? "ok" : "failed");
  core.ports.log.handled(core.name, acked, batch.count, tookMs);
}

/** However many attempts are left. */
function buryAll(core: QueueCore, { batch }: Running, { rejected }: RejectedDelivery, tookMs: number): void {
  buryDead(
    core,
    batch.slices.flatMap((slice) => giveUp(core.queue, { ...slice, leaseId: batch.leaseId })),
    rejected,
  );
  pushEnded(core.queue, batch, "failed");
  core.ports.log.handled(core.name, 0, batch.count, tookMs);
}

function acknowledgeAll(core: QueueCore, { batch }: Running): number {
  let acked = 0;
  for (const slice of batch.slices) acked += acknowledge(core.queue, { ...slice, leaseId: batch.leaseId });
  return acked;
}

function settleEach(core: QueueCore, { batch, delivery }: Running, result: DeliveryResult): number {
  const messages = new PackedIndex(delivery.packed);
  const ids = Array.from({ length: messages.count }, (_, i) => messages.id(i));
  const verdicts = settle(result, ids, null);
  const reason = reasonOf(result);
  const lines: string[] = [];
  const dead: Slice[] = [];
  let acked = 0;
  let position = 0;
  for (const slice of batch.slices) {
    const first = position;
    for (let from = slice.from; from < slice.to; ) {
      const verdict = verdictAt(verdicts, first + from - slice.from);
      let to = from + 1;
      while (to < slice.to && sameVerdict(verdict, verdictAt(verdicts, first + to - slice.from))) to += 1;
      const range: LeasedRange = { leaseId: batch.leaseId, segmentId: slice.segmentId, from, to };
      if (verdict.kind === "ack") {
        acked += acknowledge(core.queue, range);
      } else {
        const delayMs =
          verdict.delaySeconds === null
            ? unnamedDelayMs(core, `${ids[first + from - slice.from]}`, slice.attempts)
            : 1000 * verdict.delaySeconds;
        const sentMs = messages.timestampMs(first + from - slice.from);
        if (endOutlived(core, range, sentMs, delayMs, reason)) {
          from = to;
          continue;
        }
        const outcome = retry(core.queue, range, core.nowMs + delayMs, core.nowMs);
        dead.push(...outcome.dead);
        if (verdict.clampedFromSeconds !== undefined) {
          core.ports.log.warn(
            `Queue "${core.name}": a retry delay of ${verdict.clampedFromSeconds} s is not within 0 to ` +
              `${DELAY_SECONDS_MAX}, ${verdict.delaySeconds} s is used`,
          );
        }
        for (const retried of outcome.retried) {
          for (let i = retried.from; i < retried.to; i++) {
            const id = ids[first + i - slice.from];
            lines.push(
              `Retrying message "${id}" on queue "${core.name}" ${inSeconds(delayMs / 1000)} ` +
                `(attempt ${slice.attempts} of ${core.queue.rules.maxRetries + 1}): ${reason}`,
            );
          }
        }
      }
      from = to;
    }
    position += slice.to - slice.from;
  }
  for (const line of firstLines(lines)) core.ports.log.info(line);
  buryDead(core, dead, reason);
  return acked;
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

function reasonOf(result: DeliveryResult): string {
  if (result.outcome === "ok") return "its handler asked for it";
  return result.error ?? `its handler ended with "${result.outcome}"`;
}

function inSeconds(delaySeconds: number): string {
  return delaySeconds === 0 ? "now" : `in ${delaySeconds} s`;
}
