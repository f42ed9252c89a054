import {
  ALERT_SILENCE_MS_MAX,
  ALERTS_QUEUE,
  type AlertFormat,
  alertBody,
  alertGroup,
  type LookedAt,
  type MessageEnd,
  type MessageFilter,
  PULL_MESSAGES_MAX,
  packMessages,
  type QueueRecord,
} from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { mayUse } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { type BacklogView, backlogOf } from "../backlog-view.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { inParallel, LISTED_AT_ONCE } from "../in-parallel.ts";
import { queueOf } from "../queue-of.ts";
import { timeOf } from "../time.ts";
import { type AlertView, alertViews, silentUntilOf } from "./alert-view.ts";

/** Alerts of all queues that are on, and how the webhook is told of them. */
export interface AlertsView {
  readonly alerts: readonly ListedAlert[];
  /** `null` for a broker without `[sluice.alerts]`, and for a token for some queues: the webhook is for all. */
  readonly webhook: WebhookView | null;
}

/** An alert that is on, with its queue. */
export interface ListedAlert extends AlertView {
  readonly queue: string;
  /** Whether the webhook has taken its report. */
  readonly reported: boolean;
  /** Why the webhook has not taken its report, at the last attempt; `null` where it has, or no reason is known. */
  readonly failure: string | null;
  readonly silentUntil: string | null;
}

/** Webhook of alerts. */
export interface WebhookView extends Pick<BacklogView, "health"> {
  /** Scheme and host of the URL, whose path may be a secret; `null` where no URL is set. */
  readonly origin: string | null;
  readonly format: AlertFormat;
  /** Why nothing can be sent to it; `null` where nothing is missing. */
  readonly trouble: string | null;
  /** Reports that it has not taken yet. */
  readonly waiting: number;
}

/** Body of a request that silences the alerts of a queue. */
export const SILENCE = z.union([
  z.strictObject({ forSeconds: z.number().check(z.gt(0), z.lte(ALERT_SILENCE_MS_MAX / 1_000)) }),
  z.strictObject({ until: z.iso.datetime({ offset: true }) }),
]);

/** Routes of alerts: which are on, and a test of the webhook. */
export function alertRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const { account } = directory;

  app.get("/", async (c) => {
    const rights = rightsOf(c);
    const [records, reported] = await Promise.all([
      account.list(),
      c.req.query("reported") === "true" ? account.atRest() : [],
    ]);
    // Descriptions at rest are some seconds old. One with alerts is not used: the alerts may be over.
    const quiet = reported.filter(({ description: { alerts = [] } }) => alerts.length === 0);
    const atRest = new Map(quiet.map(({ queueId, description }) => [queueId, description]));
    const shown = records.filter(({ name }) => mayUse(rights, name));
    const described = await inParallel(shown, LISTED_AT_ONCE, async (record) => ({
      record,
      description: atRest.get(record.queueId) ?? (await directory.describe(record.name)),
    }));
    const isOfAll = rights.queues.length === 0;
    const webhook = await webhookOf(directory);
    const anyReported = described.some(({ description }) =>
      description.alerts?.some((alert) => alert.isReported),
    );
    const missed = webhook === null || !anyReported ? new Map() : await missedReports(directory, webhook);
    const lastFailure = webhook?.health?.lastDelivery?.failure ?? null;
    const alerts = described.flatMap(({ record: { name, definition }, description }) => {
      const silentUntil = silentUntilOf({ definition }, description.nowMs);
      return alertViews(rights, description.alerts ?? []).map((alert): ListedAlert => {
        const failure = missed.get(alertGroup(alert.alert, name));
        const isTaken = failure === undefined;
        return {
          queue: name,
          ...alert,
          reported: alert.reported && isTaken,
          failure: isTaken || !isOfAll ? null : (failure ?? lastFailure),
          silentUntil,
        };
      });
    });
    return c.json({ alerts, webhook: isOfAll ? webhook : null } satisfies AlertsView);
  });

  app.post("/test", async (c) => {
    const { alerts } = directory;
    if (alerts === null) throw noAlerts();
    const { nowMs } = await directory.describe(ALERTS_QUEUE);
    const text = "This is a test of the alerts of Sluice.";
    const body = alertBody({ type: "alert.test", text, atMs: nowMs }, alerts.settings.format);
    const id = crypto.randomUUID().replaceAll("-", "");
    const packed = packMessages([
      { id, contentType: "json", body: new TextEncoder().encode(body), extension: { groupId: `test ${id}` } },
    ]);
    const reply = await directory.queue(ALERTS_QUEUE).send(ALERTS_QUEUE, [{ packed }]);
    if (!reply.ok) throw new AdminError(503, "not_stored", reply.cause);
    return c.json({ id });
  });

  return app;
}

/** Routes by which the alerts of a queue are silenced until a time, and reported again. */
export function silenceRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const { account } = directory;

  const silence = async ({ name, queueId }: QueueRecord, alertsSilentUntilMs: number) => {
    const reply = await account.changeQueue(queueId, { settings: { alertsSilentUntilMs } });
    // A setting is only refused if the queue is gone by now.
    if (!reply.ok) throw queueNotFound(name);
  };

  app.put("/:name/silence", async (c) => {
    const record = await queueOf(c, directory);
    const request = SILENCE.safeParse(await c.req.json().catch(() => null)).data;
    const { nowMs } = await directory.describe(record.name);
    const untilMs =
      request === undefined
        ? 0
        : "until" in request
          ? Date.parse(request.until)
          : nowMs + 1_000 * request.forSeconds;
    if (untilMs <= nowMs || untilMs > nowMs + ALERT_SILENCE_MS_MAX) {
      const text =
        "A silence ends at a time from now on, at most 30 days away: the body must be " +
        '{"forSeconds": N} or {"until": "2026-12-24T18:00:00Z"}.';
      throw new AdminError(400, "invalid_body", text);
    }
    await silence(record, untilMs);
    return c.json({ silentUntil: timeOf(untilMs) });
  });

  app.delete("/:name/silence", async (c) => {
    await silence(await queueOf(c, directory), 0);
    return c.json({ silentUntil: null });
  });

  return app;
}

async function webhookOf(directory: QueueDirectory): Promise<WebhookView | null> {
  const { alerts } = directory;
  if (alerts === null) return null;
  const { messages, health } = backlogOf(await directory.describe(ALERTS_QUEUE));
  return {
    origin: URL.parse(alerts.url ?? "")?.origin ?? null,
    format: alerts.settings.format,
    trouble: alerts.trouble,
    waiting: messages.ready + messages.delayed + messages.leased,
    health,
  };
}

/**
 * Finds the reports that the webhook has not taken: those that wait, and those given up that are the last of their alert.
 *
 * @returns why the webhook has not taken the report, by the group of its alert; `null` where no reason is known.
 */
async function missedReports(
  directory: QueueDirectory,
  { waiting }: WebhookView,
): Promise<ReadonlyMap<string | null, string | null>> {
  const lastEnds = new Map<string | null, MessageEnd>();
  // The newest comes first.
  for await (const { group, end } of reports(directory, [{ field: "state", state: "finished" }]))
    if (end !== undefined && !lastEnds.has(group)) lastEnds.set(group, end);
  const missed = new Map<string | null, string | null>();
  for (const [group, { kind, error }] of lastEnds)
    if (kind !== "acked") missed.set(group, `${error ?? "nobody took it in time"}; the report is given up`);
  if (waiting === 0) return missed;
  const why = new Map<string | null, string | null>();
  for await (const { group, lastError = null } of reports(directory, []))
    why.set(group, why.get(group) ?? lastError);
  return new Map([...missed, ...why]);
}

/** Yields the reports in the queue of alerts that fit a filter. */
async function* reports(directory: QueueDirectory, filter: MessageFilter): AsyncGenerator<LookedAt> {
  let cursor: string | undefined;
  do {
    const request = { max: PULL_MESSAGES_MAX, filter, ...(cursor === undefined ? {} : { cursor }) };
    const found = await directory.queue(ALERTS_QUEUE).look(ALERTS_QUEUE, request);
    yield* found.messages;
    cursor = found.cursor ?? undefined;
  } while (cursor !== undefined);
}

function noAlerts(): AdminError {
  return new AdminError(
    409,
    "no_alerts",
    "This broker has no alerts: its configuration has no [sluice.alerts].",
  );
}
