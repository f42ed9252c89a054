/** Queue that alerts wait in for their webhook. No queue of any dialect can have the name, and none lists it. */
export const ALERTS_QUEUE = "alerts/webhook";
/** Variable of the broker with the key that alerts are signed with. */
export const ALERTS_SECRET = "SLUICE_ALERTS_SECRET";
/** Variable of the broker with the URL of the webhook, in the place of that of the configuration. */
export const ALERTS_URL = "SLUICE_ALERTS_URL";

/**
 * Kinds of alerts, by the keys that set them. A contract: queues store them.
 *
 * - `dead_letters`: a dead-letter queue got a message while it was empty.
 * - `oldest_message`: the oldest message that waits passed an age.
 * - `failures`: more than a share of the last deliveries failed.
 * - `stalled`: messages are due and none is delivered.
 */
export const ALERT_KINDS = ["dead_letters", "oldest_message", "failures", "stalled"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Names the FIFO group of the reports of an alert: its end does not overtake its beginning. */
export function alertGroup(kind: AlertKind, queue: string): string {
  return `${kind} ${queue}`;
}

/** Formats of the webhook: Standard Webhooks, or an incoming webhook of Slack. */
export const ALERT_FORMATS = ["webhook", "slack"] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

/** Deliveries that `failures` is a share of: 1 to 1,000, default 20. */
export const ALERT_DELIVERIES_MIN = 1;
export const ALERT_DELIVERIES_MAX = 1_000;
export const ALERT_DELIVERIES_DEFAULT = 20;
/** Share of failed deliveries: 0 to less than 1, default 0.5. */
export const ALERT_SHARE_DEFAULT = 0.5;
/** Times after which alerts begin, in seconds: a minute to 14 days. */
export const ALERT_SECONDS_MIN = 60;
export const ALERT_SECONDS_MAX = 1_209_600;
/** Time in which nothing is delivered before `stalled` begins, in seconds. */
export const ALERT_STALLED_SECONDS_DEFAULT = 300;
/** Length of the key that alerts are signed with, in bytes, as Standard Webhooks has it. */
export const ALERTS_KEY_BYTES_MIN = 24;
export const ALERTS_KEY_BYTES_MAX = 64;
/** Longest silence of a queue, in ms: 30 days. */
export const ALERT_SILENCE_MS_MAX = 2_592_000_000;

/** Settings of alerts: the table `[sluice.alerts]`. An alert whose setting is absent is off. */
export interface AlertSettings {
  /** URL of the webhook; absent where the variable `SLUICE_ALERTS_URL` alone has it. */
  readonly url?: string;
  readonly format: AlertFormat;
  readonly deadLetters: boolean;
  /** Age of the oldest message that waits, in seconds. */
  readonly oldestMessageSeconds?: number;
  /** Share of failed deliveries, of so many. */
  readonly failures?: { readonly share: number; readonly deliveries: number };
  /** Time in which nothing is delivered, in seconds. */
  readonly stalledSeconds?: number;
}

/** An alert of a queue that is on. */
export interface Alert {
  readonly kind: AlertKind;
  /** In ms since 1970. */
  readonly sinceMs: number;
  /** One sentence without the queue's name. */
  readonly text: string;
  /** Whether it was reported to the webhook: not while the queue's alerts are silenced. */
  readonly isReported: boolean;
}

/**
 * Makes the reason of `dead_letters`.
 *
 * @param source queue that the message came from; `null` for a subscription.
 */
export function deadLettersText(source: string | null): string {
  return `the first dead letter has come, from ${source === null ? "a subscription" : `queue "${source}"`}`;
}

/** Replaces the queue that a reason of `dead_letters` names, also within a longer text. */
export function withDeadLetterSource(text: string, replaced: (source: string) => string): string {
  return text.replace(
    /(the first dead letter has come, from )queue "([^"]*)"/,
    (_, before: string, source: string) => `${before}${replaced(source)}`,
  );
}

/**
 * Checks `SLUICE_ALERTS_SECRET`.
 *
 * @throws RangeError for what is no key of Standard Webhooks.
 */
export function checkAlertsSecret(text: string): void {
  const [, base64 = ""] =
    /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? [];
  const { length } = atob(base64);
  if (length >= ALERTS_KEY_BYTES_MIN && length <= ALERTS_KEY_BYTES_MAX) return;
  throw new RangeError(
    `${ALERTS_SECRET} must be whsec_ and a key of ${ALERTS_KEY_BYTES_MIN} to ${ALERTS_KEY_BYTES_MAX} bytes in ` +
      "base64, such as whsec_$(openssl rand -base64 24)",
  );
}
