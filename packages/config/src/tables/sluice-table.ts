import type { AlertSettings, HttpPushSettings, R2NotificationSettings, SnsSettings } from "@sluice/protocol";
import { parseRetryTable, type RetryPolicy } from "@sluice/retry";
import * as z from "zod";
import { type Place, placeOf, type Report, ROOT } from "../file/report.ts";
import { isTable, type Table } from "../file/table.ts";
import { readAlertsTable, readSilenceKey, SILENCE_KEY } from "./alerts-table.ts";
import { checkShape } from "./check-shape.ts";
import { HISTORY_KEY, readHistoryKey } from "./history-key.ts";
import { checkQueueName, checkRanges, QUEUE_RANGES } from "./limits.ts";
import { readPushTable } from "./push-table.ts";
import { readR2Notifications } from "./r2-notifications.ts";
import { readSnsTable } from "./sns-table.ts";
import { readSqsKeys, SQS_KEYS, type SqsSettings } from "./sqs-keys.ts";

/** Settings that the owner of a queue gives it; absent ones keep their defaults. */
export interface QueueSettings extends SqsSettings {
  /** Delay of a message, in seconds, unless the message, its batch or its binding has one. 0 to 86,400, default 0. */
  readonly deliveryDelaySeconds?: number;
  /** Seconds that a message is kept, counted from its send. 60 to 1,209,600, default 345,600. */
  readonly messageRetentionSeconds?: number;
  /** When messages that failed without a delay are retried. Default: after the consumer's `retry_delay`. */
  readonly retryPolicy?: RetryPolicy;
  /** Most messages delivered in any second, to all consumers together. 1 to 100,000; absent means any number. */
  readonly maxReceivesPerSecond?: number;
  /** How long the history of messages is kept, in seconds. Default: in development without end, else 0. */
  readonly historySeconds?: number;
  /** Whether handlers' lines are kept in the history. Default: in development. */
  readonly logs?: boolean;
  /** Finished messages whose bodies are kept. 0 to 1,000; default: in development 1,000 beside a history, else 0. */
  readonly finishedMessages?: number;
  /** Until when its alerts are silenced, in ms since 1970. Default: never silenced. */
  readonly alertsSilentUntilMs?: number;
  /** Objects that keep the queue. 1 to 100, default 1. */
  readonly shards?: number;
  /** The HTTP endpoint that consumes it. Default: none. */
  readonly push?: HttpPushSettings;
}

/** The message of a schema says what belongs there, as in "should be a number". */
const optionalNumber = z.number("a number").optional();
const queueSchema = z.strictObject(
  {
    delivery_delay: optionalNumber,
    message_retention_period: optionalNumber,
    // `parseRetryTable` checks it: its keys depend on its policy.
    retry: z.custom<Table>(isTable, "an object").optional(),
    max_receives_per_second: optionalNumber,
    // `readPushTable` checks it.
    push: z.unknown().optional(),
    history: HISTORY_KEY,
    logs: z.boolean("true or false").optional(),
    finished: optionalNumber,
    shards: optionalNumber,
    alerts_silent_until: SILENCE_KEY,
    ...SQS_KEYS,
  },
  "an object",
);

const BROKER_NAME_SHAPE = "a Worker's name, alphanumeric and lowercase with dashes only,";
const PROJECT_NAME_SHAPE = "a name of at most 100 letters, digits and @ . / _ -";

/** The whole `[sluice]` table: a key that is not in here is refused. */
const sluiceSchema = z.strictObject(
  {
    // Not a z.record, which silently drops a key called "__proto__".
    queues: z.custom<Table>(isTable, "an object").optional(),
    // `readSnsTable` checks it.
    sns: z.unknown().optional(),
    // `readR2Notifications` checks it.
    r2_notifications: z.unknown().optional(),
    // `readAlertsTable` checks it.
    alerts: z.unknown().optional(),
    broker: z
      .string(BROKER_NAME_SHAPE)
      .regex(/^[a-z0-9_][a-z0-9-_]{0,62}$/, BROKER_NAME_SHAPE)
      .optional(),
    project: z
      .string(PROJECT_NAME_SHAPE)
      .regex(/^[\w@./-]{1,100}$/, PROJECT_NAME_SHAPE)
      .optional(),
  },
  "an object",
);

/** A queue of the `[sluice.queues]` table with its place. */
export interface PlacedQueueSettings {
  readonly queue: string;
  readonly settings: QueueSettings;
  readonly place: Place;
}

/** A name of the broker or the project that a file gives, and its place. */
export interface PlacedName {
  readonly name: string;
  readonly place: Place;
}

/** Content of the `[sluice]` table. */
export interface SluiceTable {
  /** Name of the broker's Worker on an account, and of the project; `null` where the file names none. */
  readonly broker: PlacedName | null;
  readonly project: PlacedName | null;
  readonly queues: readonly PlacedQueueSettings[];
  /** Settings of all topics, with their place; `null` where there is no such table. */
  readonly sns: { readonly settings: SnsSettings; readonly place: Place } | null;
  /** Rules of R2 buckets. */
  readonly r2Notifications: readonly R2NotificationSettings[];
  /** Settings of alerts; `null` where there is no such table. */
  readonly alerts: AlertSettings | null;
}

/**
 * Reads `[sluice]`, the settings that Cloudflare's own tables do not have. No other tool reads it, so nothing in it is
 * ignored: unknown keys are errors, and so is a `sluice` table inside an environment. Queues are known by their names
 * alone, whichever environment uses them.
 */
export function readSluiceTable(root: Table, report: Report): SluiceTable {
  const place = placeOf(ROOT, "sluice");
  if (root.sluice === undefined)
    return { queues: [], sns: null, r2Notifications: [], alerts: null, broker: null, project: null };
  const sluice = checkShape(sluiceSchema, root.sluice, place, report);
  const snsPlace = placeOf(place, "sns");
  return {
    queues: readQueues(sluice?.queues ?? {}, placeOf(place, "queues"), report),
    sns:
      sluice?.sns === undefined
        ? null
        : { settings: readSnsTable(sluice.sns, snsPlace, report), place: snsPlace },
    r2Notifications:
      sluice?.r2_notifications === undefined
        ? []
        : readR2Notifications(sluice.r2_notifications, placeOf(place, "r2_notifications"), report),
    alerts:
      sluice?.alerts === undefined ? null : readAlertsTable(sluice.alerts, placeOf(place, "alerts"), report),
    broker: placedName(sluice?.broker, placeOf(place, "broker")),
    project: placedName(sluice?.project, placeOf(place, "project")),
  };
}

function placedName(name: string | undefined, place: Place): PlacedName | null {
  return name === undefined ? null : { name, place };
}

function readQueues(queues: Table, queuesPlace: Place, report: Report): PlacedQueueSettings[] {
  return Object.entries(queues).flatMap(([queue, value]) => {
    const queuePlace = placeOf(queuesPlace, queue);
    checkQueueName(queue, queuePlace, report);
    const raw = checkShape(queueSchema, value, queuePlace, report);
    if (raw === undefined) return [];
    checkRanges(raw, queuePlace, QUEUE_RANGES, report);
    const retryPolicy = raw.retry === undefined ? null : readRetry(raw.retry, queuePlace, report);
    const push = raw.push === undefined ? null : readPushTable(raw.push, placeOf(queuePlace, "push"), report);
    const historySeconds = readHistoryKey(raw.history, queuePlace, report);
    const alertsSilentUntilMs = readSilenceKey(raw.alerts_silent_until, queuePlace, report);
    const settings = {
      ...settingsOf(raw, retryPolicy, push),
      ...(historySeconds === undefined ? {} : { historySeconds }),
      ...(alertsSilentUntilMs === undefined ? {} : { alertsSilentUntilMs }),
      ...(raw.logs === undefined ? {} : { logs: raw.logs }),
      ...(raw.shards === undefined ? {} : { shards: raw.shards }),
      ...readSqsKeys(queue, raw, queuePlace, report),
    };
    return [{ queue, settings, place: queuePlace }];
  });
}

/** Refuses a `sluice` table that stands where environments keep theirs. */
export function refuseSluiceTableInEnvironment(environment: Table, place: Place, report: Report): void {
  if (place.path.length === 0 || environment.sluice === undefined) return;
  const sluicePlace = placeOf(place, "sluice");
  report.error(
    sluicePlace,
    `"${sluicePlace.field}" has no effect: queues keep their settings in every environment, in the ` +
      "top-level [sluice] table.",
  );
}

/** Reads `[sluice.queues.NAME.retry]`, reporting every issue on the line of its key. */
function readRetry(table: Table, queuePlace: Place, report: Report): RetryPolicy | null {
  const result = parseRetryTable(table);
  if (result.kind === "policy") return result.policy;
  for (const { path, message } of result.issues) {
    report.fieldError(path.reduce(placeOf, placeOf(queuePlace, "retry")), `${message}.`);
  }
  return null;
}

function settingsOf(
  raw: z.infer<typeof queueSchema>,
  retryPolicy: RetryPolicy | null,
  push: HttpPushSettings | null,
): QueueSettings {
  const { delivery_delay: delay, message_retention_period: retention } = raw;
  const { max_receives_per_second: maxReceivesPerSecond, finished: finishedMessages } = raw;
  return {
    ...(delay === undefined ? {} : { deliveryDelaySeconds: delay }),
    ...(retention === undefined ? {} : { messageRetentionSeconds: retention }),
    ...(retryPolicy === null ? {} : { retryPolicy }),
    ...(maxReceivesPerSecond === undefined ? {} : { maxReceivesPerSecond }),
    ...(finishedMessages === undefined ? {} : { finishedMessages }),
    ...(push === null ? {} : { push }),
  };
}
