import type { AlertFormat, AlertKind } from "./alerts.ts";

/** Report to a webhook: an alert has begun or ended, or a test. Times in ms since 1970. */
export type AlertReport =
  | {
      readonly type: "alert.begun";
      readonly queue: string;
      readonly kind: AlertKind;
      readonly text: string;
      readonly sinceMs: number;
    }
  | {
      readonly type: "alert.ended";
      readonly queue: string;
      readonly kind: AlertKind;
      /** That of its beginning. */
      readonly text: string;
      readonly sinceMs: number;
      readonly endedMs: number;
    }
  | { readonly type: "alert.test"; readonly text: string; readonly atMs: number };

/** Makes the body of a report: a payload of Standard Webhooks (`type`, `timestamp`, `data`), or a text for Slack. */
export function alertBody(report: AlertReport, format: AlertFormat): string {
  return JSON.stringify(format === "slack" ? { text: slackText(report) } : payloadOf(report));
}

function payloadOf(report: AlertReport) {
  switch (report.type) {
    case "alert.test":
      return { type: report.type, timestamp: timeOf(report.atMs), data: { text: report.text } };
    case "alert.begun":
    case "alert.ended": {
      const { type, queue, kind, text, sinceMs } = report;
      const data = { queue, alert: kind, text, since: timeOf(sinceMs) };
      return type === "alert.begun"
        ? { type, timestamp: data.since, data }
        : { type, timestamp: timeOf(report.endedMs), data: { ...data, ended: timeOf(report.endedMs) } };
    }
  }
}

function slackText(report: AlertReport): string {
  switch (report.type) {
    case "alert.test":
      return `:bell: ${escaped(report.text)}`;
    case "alert.begun":
      return `:red_circle: *${escaped(report.queue)}*: ${escaped(report.text)}`;
    case "alert.ended": {
      const { queue, kind, text, sinceMs } = report;
      const what = `${kind.replace("_", " ")} since ${timeOf(sinceMs)} has ended, which was: ${text}`;
      return `:large_green_circle: *${escaped(queue)}*: ${escaped(what)}`;
    }
  }
}

/** Escapes the three characters that control Slack's markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
