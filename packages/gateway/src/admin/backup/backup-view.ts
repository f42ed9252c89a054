import type {
  ConsumerDefinition,
  Jurisdiction,
  NewSubscription,
  QueueRecord,
  QueueSettingsChange,
  TopicProtocol,
  TopicRecord,
  TopicSubscription,
} from "@sluice/protocol";

/** Beginning of a backup: all settings of a broker, without secrets, and the queues that hold messages. */
export interface BackupView {
  readonly at: string;
  /** Each after the queues that take its dead letters, so that none names a queue that is not made yet. */
  readonly queues: readonly BackupQueue[];
  readonly topics: readonly BackupTopic[];
  readonly topicSubscriptions: readonly BackupTopicSubscription[];
  readonly subscriptions: readonly BackupSubscription[];
  /**
   * Names of the queues that hold messages, those of endpoints included, in the order to read them in: a message that
   * moves to a dead-letter queue meanwhile is found there if it was not read before.
   */
  readonly holders: readonly string[];
  /** Redrives, which move messages against that order: the latest one of each queue that had one. */
  readonly redrives: readonly BackupRedrive[];
}

export interface BackupRedrive {
  readonly queue: string;
  readonly startedAt: string;
  readonly isRunning: boolean;
}

export interface BackupQueue {
  readonly name: string;
  readonly settings: QueueSettingsChange;
  readonly consumer: ConsumerDefinition | null;
  readonly jurisdiction: Jurisdiction | null;
  readonly dialects: Readonly<Record<string, unknown>>;
}

export type BackupTopic = Pick<TopicRecord, "arn" | "isFifo" | "attributes" | "tags">;

export interface BackupTopicSubscription
  extends Pick<TopicSubscription, "arn" | "topicArn" | "deadLetterQueue" | "attributes"> {
  readonly protocol: TopicProtocol;
  /** Without the name and the password that a URL may have. */
  readonly endpoint: string;
  readonly lacksPassword: boolean;
  /** The queue of an `sqs` subscription; that of an endpoint, by the name under which its messages are exported. */
  readonly target: string;
  /** Whether its endpoint has confirmed the subscription. */
  readonly isConfirmed: boolean;
}

/** Events of a source that go to a queue. */
export interface BackupSubscription extends Omit<NewSubscription, "queueId"> {
  readonly queue: string;
}

export function backupQueue({ name, definition, jurisdiction, dialects }: QueueRecord): BackupQueue {
  const { producers: _, consumer, ...settings } = definition;
  return { name, settings, consumer, jurisdiction, dialects };
}

export function backupTopic({ arn, isFifo, attributes, tags }: TopicRecord): BackupTopic {
  return { arn, isFifo, attributes, tags };
}

export function backupTopicSubscription(subscription: TopicSubscription): BackupTopicSubscription {
  const { arn, topicArn, protocol, deadLetterQueue, attributes, status, target } = subscription;
  const { endpoint, lacksPassword } = withoutPassword(subscription);
  return {
    arn,
    topicArn,
    protocol,
    endpoint,
    lacksPassword,
    target,
    deadLetterQueue,
    attributes,
    isConfirmed: status.kind === "confirmed",
  };
}

function withoutPassword({ protocol, endpoint }: Pick<TopicSubscription, "protocol" | "endpoint">) {
  const url = protocol === "sqs" ? null : URL.parse(endpoint);
  if (url === null || (url.username === "" && url.password === "")) return { endpoint, lacksPassword: false };
  url.username = "";
  url.password = "";
  return { endpoint: url.href, lacksPassword: true };
}
