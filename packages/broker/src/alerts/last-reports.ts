import { firstIdOf } from "@sluice/engine";
import { ALERT_KINDS, ALERTS_QUEUE, type AlertFormat } from "@sluice/protocol";
import type { QueueStore } from "../store/store.ts";
import { reportOf, reportRecord } from "./report.ts";
import { ALERTS_NOTE, decodeAlerts } from "./stored-alerts.ts";

/** Parts of a queue's store that its last reports use. */
export type ReportedStore = Pick<QueueStore, "notes" | "outbox" | "readEpoch">;

/**
 * Lists the last reports of a queue that is deleted: those that have not arrived, and the ends of alerts whose
 * beginnings were reported. The same store gives the same ids, so that a repeated transfer is recognised.
 *
 * @throws for a damaged note.
 */
export function lastReports(
  queue: string,
  store: ReportedStore,
  { format, nowMs, newMessageId }: { format: AlertFormat; nowMs: number; newMessageId: () => string },
): { readonly id: number; readonly packed: Uint8Array }[] {
  const waiting = store
    .outbox()
    .filter(({ target, payload }) => target === ALERTS_QUEUE && payload.byteLength > 0)
    .map(({ id, payload }) => ({ id, packed: payload }));
  const ends = endsOf(queue, store, nowMs).map((end) => reportRecord(end, format, newMessageId(), nowMs));
  // The last ids of an epoch are reserved for this (`TurnWrites`), and the next epoch begins behind them.
  const endId = firstIdOf(store.readEpoch() + 1) - ends.length;
  return [...waiting, ...ends.map((packed, i) => ({ id: endId + i, packed }))];
}

function endsOf(queue: string, store: ReportedStore, nowMs: number) {
  const note = [...store.notes()].find(({ key }) => key === ALERTS_NOTE);
  if (note === undefined) return [];
  const { states } = decodeAlerts(note.bytes);
  return ALERT_KINDS.flatMap((kind) => {
    const { told, endedMs = nowMs } = states[kind];
    if (told === null) return [];
    const of = { ...told, text: `${told.text}; the queue was deleted` };
    return [reportOf(queue, kind, { what: "ended", of, endedMs })];
  });
}
