import type { HistoryEvent, HistoryKind, LastDelivery } from "@sluice/protocol";

/** Kinds of events that tell how deliveries ended. */
export const DELIVERY_ENDS: readonly HistoryKind[] = [
  "acked",
  "failed",
  "retried",
  "deadLettered",
  "dropped",
];
/** Most events that are read for how deliveries ended before this epoch. */
export const DELIVERY_ENDS_MAX = 200;

/** Ends of the deliveries to a consumer before this epoch, by the history. */
export interface EarlierDeliveries {
  /** Deliveries since the last one that acknowledged messages and did not fail. */
  readonly withoutSuccess: number;
  /** Whether a handler asked for all messages of the last one again. */
  readonly wasAsked: boolean;
  readonly last: LastDelivery | null;
}

/** End of a delivery that acknowledged nothing. */
interface Failure {
  readonly atMs: number;
  readonly batch: number | null;
  readonly hasFailed: boolean;
}

/**
 * Finds how deliveries to a consumer ended. Pure.
 *
 * @param events of `DELIVERY_ENDS`, newest first.
 */
export function earlierDeliveries(events: readonly HistoryEvent[], consumer: string): EarlierDeliveries {
  let failures: Failure[] = [];
  let last: LastDelivery | null = null;
  // A handler may have acknowledged some of the messages before it failed.
  const failedBatches = new Set(
    events.flatMap(({ kind, batch }) => (kind === "failed" ? (batch ?? []) : [])),
  );
  for (const { kind, atMs, by, batch, delayReason, error, merged } of events) {
    // The broker's own end says nothing of the consumer, and neither do messages that grew too old.
    if (delayReason === "restart" || by !== consumer) continue;
    const endedMs = merged?.untilMs ?? atMs;
    if (kind === "acked") {
      if (batch !== null && failedBatches.has(batch)) continue;
      last ??= { endedMs, failure: null };
      // What is merged with others may have ended after failures with higher numbers.
      failures = failures.filter((failure) => failure.atMs >= endedMs && failure.batch !== (batch ?? -1));
      break;
    }
    last ??= { endedMs, failure: error?.split("\n", 1)[0] ?? null };
    const known = failures.findIndex(
      (failure) =>
        failure.atMs === atMs && (batch === null || failure.batch === null || failure.batch === batch),
    );
    const hasFailed = kind === "failed" || delayReason === "absence" || failures[known]?.hasFailed === true;
    const failure = { atMs, batch: batch ?? failures[known]?.batch ?? null, hasFailed };
    if (known === -1) failures.push(failure);
    else failures[known] = failure;
  }
  return { withoutSuccess: failures.length, wasAsked: failures[0]?.hasFailed === false, last };
}
