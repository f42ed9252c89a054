import type { Alert, AlertKind, QueueRecord } from "@sluice/protocol";
import { shownAlert } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { timeOf } from "../time.ts";

/** An alert of a queue that is on. */
export interface AlertView {
  readonly alert: AlertKind;
  readonly since: string;
  /** One sentence without the queue's name. */
  readonly text: string;
  /** Whether the webhook is told: not of an alert that has begun while the queue was silenced. */
  readonly reported: boolean;
}

/** Shows alerts to people, without the names of queues that they may not use. */
export function alertViews(rights: Rights, alerts: readonly Alert[]): AlertView[] {
  return alerts.map(({ kind, sinceMs, text, isReported }) => ({
    alert: kind,
    since: timeOf(sinceMs),
    text: shownAlert(rights, text),
    reported: isReported,
  }));
}

/** Returns the time until which the alerts of a queue are silenced; `null` where they are not. */
export function silentUntilOf({ definition }: Pick<QueueRecord, "definition">, nowMs: number): string | null {
  const { alertsSilentUntilMs = 0 } = definition;
  return alertsSilentUntilMs > nowMs ? timeOf(alertsSilentUntilMs) : null;
}
