import {
  type AlertFormat,
  type AlertKind,
  type AlertReport,
  alertBody,
  alertGroup,
  packMessages,
} from "@sluice/protocol";
import type { AlertChange } from "./alert-state.ts";

/** Report of an alert of a queue. */
export type QueueReport = Exclude<AlertReport, { readonly type: "alert.test" }>;

/** Makes the report that an alert has begun or ended. */
export function reportOf(queue: string, kind: AlertKind, change: AlertChange): QueueReport {
  const alert = { queue, kind, text: change.of.text, sinceMs: change.of.sinceMs };
  return change.what === "begun"
    ? { type: "alert.begun", ...alert }
    : { type: "alert.ended", ...alert, endedMs: change.endedMs };
}

/** Packs a report for the queue that alerts wait in, where those of one alert go in order. */
export function reportRecord(
  report: QueueReport,
  format: AlertFormat | undefined,
  id: string,
  nowMs: number,
): Uint8Array {
  return packMessages([
    {
      id,
      contentType: "json",
      timestampMs: nowMs,
      body: new TextEncoder().encode(alertBody(report, format ?? "webhook")),
      extension: { groupId: alertGroup(report.kind, report.queue) },
    },
  ]);
}
