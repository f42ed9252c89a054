import { setTimeout as sleep } from "node:timers/promises";
import type { AlertsView, WebhookView } from "@sluice/gateway/views";
import { type Cell, table } from "@sluice/local/report/table";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { plural, printable } from "@sluice/protocol/words";
import { queueNamed, queuePath } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";

const COLUMNS = ["queue", "alert", "since", "what", "told"];
const NO_WEBHOOK = "This broker has no alerts: [sluice.alerts] in a configuration sets them.";
const NO_WEBHOOK_SEEN =
  "No alert is on: this broker has none, as [sluice.alerts] in a configuration sets them, or the token is for some queues.";
/** Longest wait of a test for the webhook's answer, in ms. */
const ANSWER_MS_MAX = 20_000;
/** Time between two looks for that answer, in ms. */
const LOOK_EVERY_MS = 200;
/** Default length of a silence, in ms. */
const SILENCE_MS = 3_600_000;

/** Options of `sluice alerts silence`. */
export interface SilenceOptions {
  /** Length in ms. */
  readonly for?: number;
  readonly until?: string;
  readonly off?: boolean;
}

/** `sluice alerts list`: lists the alerts that are on, and says whether the webhook accepts reports. */
export async function listAlerts(on: OnBroker): Promise<number> {
  const view = await on.client.admin<AlertsView>({ path: "/alerts" });
  const { alerts, webhook } = view;
  if (on.json) answer(on, view, { words: "" });
  else {
    if (alerts.length > 0) on.printer.print(table(COLUMNS, alerts.map(rowOf), on.printer));
    else on.printer.warn(webhook === null ? NO_WEBHOOK_SEEN : "No alert is on.");
    const trouble = webhook === null ? null : troubleOf(webhook);
    if (trouble !== null) on.printer.warn(trouble);
  }
  return 0;
}

/** `sluice alerts test`: sends the webhook a test. Throws `CliError` where it does not accept it within 20 s. */
export async function testAlerts(on: OnBroker): Promise<number> {
  const before = (await webhookOf(on))?.health?.lastDelivery?.endedAt ?? null;
  const sent = await on.client.admin<{ id: string }>({ method: "POST", path: "/alerts/test" });
  const until = Date.now() + ANSWER_MS_MAX;
  for (;;) {
    const webhook = await webhookOf(on);
    if (webhook === null) throw new CliError(NO_WEBHOOK, EXIT_FAILED);
    const last = webhook.health?.lastDelivery ?? null;
    const isAnswered = last !== null && last.endedAt !== before;
    const to = webhook.origin ?? "the webhook";
    if (isAnswered && last.failure === null) {
      answer(on, sent, { words: `${to} has taken the test.` });
      return 0;
    }
    if (isAnswered || Date.now() > until) {
      const why = last?.failure ?? "it has not answered yet";
      const what = `${to} has not taken the test: ${printable(why)}. It is tried again.`;
      throw new CliError(what, EXIT_FAILED);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** `sluice alerts silence`: silences the alerts of a queue until a time, or ends that. */
export async function silence(on: OnBroker, queue: string, options: SilenceOptions): Promise<number> {
  const { until, off = false } = options;
  if ([options.for, until, options.off].filter((option) => option !== undefined).length > 1) {
    throw new CliError("Name one of --for, --until and --off.", EXIT_USAGE);
  }
  const path = queuePath(queue, "/silence");
  if (off) {
    const ended = await on.client.admin({ method: "DELETE", path });
    answer(on, ended, { words: `The webhook is told of the alerts of ${queue} again.` });
    return 0;
  }
  if (until !== undefined) {
    const { now } = await queueNamed(on.client, queue);
    if (Date.parse(until) <= Date.parse(now))
      throw new CliError(`That time is over: the clock of the queues says ${now}.`, EXIT_USAGE);
  }
  const body = until === undefined ? { forSeconds: (options.for ?? SILENCE_MS) / 1_000 } : { until };
  const begun = await on.client.admin<{ silentUntil: string }>({ method: "PUT", path, body });
  answer(on, begun, {
    words: `The webhook is told of nothing that begins or ends in ${queue} until ${begun.silentUntil}.`,
  });
  return 0;
}

/** Reads the state of the webhook, without calling the queues for their alerts. */
async function webhookOf({ client }: OnBroker): Promise<WebhookView | null> {
  return (await client.admin<AlertsView>({ path: "/alerts?reported=true" })).webhook;
}

function rowOf(listed: AlertsView["alerts"][number]): Cell[] {
  const { queue, alert, since, text, reported, failure = null, silentUntil } = listed;
  const reportedText = [
    reported ? "yes" : "no",
    ...(failure === null ? [] : [printable(failure)]),
    ...(silentUntil === null ? [] : [`silent until ${silentUntil}`]),
  ];
  return [queue, { text: alert, colour: "red" }, since, printable(text), reportedText.join(", ")];
}

/** Says why the webhook does not get reports; `null` where it does. */
function troubleOf({ trouble, waiting, health, origin }: WebhookView): string | null {
  const to = origin ?? "a webhook without a URL";
  // A broker of an older release has no `trouble`.
  if (typeof trouble === "string") return `Nothing is sent to ${to}: ${printable(trouble)}.`;
  if (waiting === 0) return null;
  const why = health?.lastDelivery?.failure ?? null;
  return `${plural(waiting, "report")} to ${to} not taken yet${why === null ? "" : `: ${printable(why)}`}`;
}
