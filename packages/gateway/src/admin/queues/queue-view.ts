import type { Fault, Jurisdiction, MoveTask, QueueRates } from "@sluice/protocol";
import {
  type QueueDefinition,
  type QueueDescription,
  type QueueRecord,
  type QueueUsage,
  type R2Bucket,
  type RedriveSettings,
  type TopicSubscription,
  VISIBILITY_TIMEOUT_MS_DEFAULT,
} from "@sluice/protocol";
import { shownMove } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { type AlertView, alertViews, silentUntilOf } from "../alerts/alert-view.ts";
import { type BacklogView, backlogOf } from "../backlog-view.ts";
import { timeOf } from "../time.ts";
import { type DeadLetterSources, deadLetterSources } from "./dead-letters.ts";

/** One queue as the admin API shows it. */
export interface QueueView extends BacklogView {
  readonly name: string;
  /** 32 hexadecimal digits: what the Cloudflare API calls the queue. */
  readonly id: string;
  readonly kind: "standard" | "fifo";
  readonly jurisdiction: Jurisdiction | null;
  /** Jurisdiction that its object was made in; `null` for one that may be anywhere. */
  readonly place: Jurisdiction | null;
  readonly settings: {
    readonly deliveryDelaySeconds: number;
    readonly messageRetentionSeconds: number;
    readonly deliveryPaused: boolean;
    /** Messages that are delivered in any second at most; `null` for any number. */
    readonly maxReceivesPerSecond: number | null;
    /** Defaults for receives of SQS: how long a message is invisible, and how long they wait for one. */
    readonly visibilityTimeoutSeconds: number;
    readonly receiveWaitSeconds: number;
    /** Most finished messages that it keeps, deleted ones among them; 0 for none. */
    readonly finishedMessages: number;
    /** Objects that are to keep the queue; 1 for a queue without shards. */
    readonly shards: number;
    /** Until when the webhook is not told of its alerts; `null` where it is. */
    readonly alertsSilentUntil: string | null;
  };
  /** Whether the configuration names it. A queue that is deleted then stays deleted until it is created again. */
  readonly isConfigured: boolean;
  readonly producers: QueueDefinition["producers"];
  readonly consumer: QueueDefinition["consumer"];
  /** Queue for messages that clients of SQS have received too often; `null` where they may be received for ever. */
  readonly redrive: RedriveSettings | null;
  /** ARNs of the topics that send to it. */
  readonly topics: readonly string[];
  /** R2 buckets whose writes it is notified of. */
  readonly buckets: readonly string[];
  readonly deadLettersOf: DeadLetterSources;
  /** The latest task that moves messages out of it. */
  readonly lastMove: MoveView | null;
  /** Faults that are made in its deliveries: development only. */
  readonly faults: readonly Fault[];
  /** Alerts that are on. */
  readonly alerts: readonly AlertView[];
  /** Messages a second in the last five seconds; `null` without a history, and while it sleeps. */
  readonly rates: QueueRates | null;
  /** Rows that the queue's object wrote and read since it started: what Cloudflare bills. */
  readonly storage: { readonly rowsWritten: number; readonly rowsRead: number };
  /** Usage of the queue this month, as far as Cloudflare bills it; `null` where nothing of it can be read. */
  readonly usage: QueueUsage | null;
}

/** Queues and subscriptions that the view of a queue refers to, and the rights of its reader to see them. */
export interface Surroundings {
  readonly rights: Rights;
  readonly queues: readonly QueueRecord[];
  readonly subscriptions: readonly TopicSubscription[];
  readonly buckets: readonly R2Bucket[];
}

export function viewOf(
  { queueId, name, definition, jurisdiction, place, isConfigured }: QueueRecord,
  description: QueueDescription,
  { rights, queues, subscriptions, buckets }: Surroundings,
): QueueView {
  const topics = subscriptions.filter(({ target }) => target === name).map(({ topicArn }) => topicArn);
  return {
    name,
    id: queueId,
    kind: definition.fifo === undefined ? "standard" : "fifo",
    jurisdiction,
    place: place ?? null,
    ...backlogOf(description),
    settings: {
      deliveryDelaySeconds: definition.deliveryDelaySeconds,
      messageRetentionSeconds: definition.messageRetentionSeconds,
      deliveryPaused: definition.deliveryPaused ?? false,
      maxReceivesPerSecond: definition.maxReceivesPerSecond ?? null,
      visibilityTimeoutSeconds:
        (definition.receive?.visibilityTimeoutMs ?? VISIBILITY_TIMEOUT_MS_DEFAULT) / 1_000,
      receiveWaitSeconds: (definition.receive?.waitMs ?? 0) / 1_000,
      finishedMessages: description.finishedMax ?? 0,
      shards: definition.shards ?? 1,
      alertsSilentUntil: silentUntilOf({ definition }, description.nowMs),
    },
    isConfigured: isConfigured ?? false,
    producers: definition.producers,
    consumer: definition.consumer,
    redrive: definition.receive?.redrive ?? null,
    topics,
    buckets: buckets
      .filter(({ rules }) => rules.some((rule) => rule.queueId === queueId))
      .map(({ bucket }) => bucket),
    deadLettersOf: deadLetterSources(name, queues, subscriptions),
    lastMove: description.lastMove === null ? null : moveView(shownMove(rights, description.lastMove)),
    faults: description.faults ?? [],
    alerts: alertViews(rights, description.alerts ?? []),
    rates: description.rates ?? null,
    storage: { rowsWritten: description.rowsWritten, rowsRead: description.rowsRead },
    usage: description.usage ?? null,
  };
}

/** A task that moves messages out of a queue, as the admin API shows it. */
export interface MoveView extends Pick<MoveTask, "status" | "moved" | "toMove" | "failure"> {
  /** Messages that have stayed because the task's caller may not send to the queues that they came from. */
  readonly stayed: number;
  /** The queue that takes the messages; `null` gives each back to the queue that it was dead-lettered from. */
  readonly to: string | null;
  readonly startedAt: string;
}

export function moveView(task: MoveTask): MoveView {
  const { status, moved, toMove, stayed = 0, failure, target, startedMs } = task;
  return { status, to: target, moved, toMove, stayed, failure, startedAt: timeOf(startedMs) };
}
