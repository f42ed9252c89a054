import type { R2Rule } from "../r2/notifications.ts";
import type { AlertSettings } from "./alerts.ts";
import type { RetryPolicySettings } from "./retry-policy.ts";

/**
 * The topology: which queues exist, their settings and their consumers. `@sluice/config` reads it out of the users'
 * configuration files, the broker is deployed with it. A contract: the directory stores it. Only optional members may
 * be added; a member keeps its name, unit and default.
 */

/** How a Worker consumes a queue: the keys of `[[queues.consumers]]` with production's defaults filled in. */
export interface ConsumerSettings {
  /** Most messages in one `queue()` call. 1 to 100, default 10. */
  readonly maxBatchSize: number;
  /** Longest that a ready message waits for a batch to fill, in seconds. 0 to 60, default 5. */
  readonly maxBatchTimeoutSeconds: number;
  /** Deliveries after the first one before a message is dead. 0 to 100, default 3. */
  readonly maxRetries: number;
  /** Most `queue()` calls at a time, 1 to 250; `null` lets the broker scale. */
  readonly maxConcurrency: number | null;
  /** Seconds before a retry that names no delay of its own. 0 to 86,400, default 0. */
  readonly retryDelaySeconds: number;
  /** Policy that sets the delay of such a retry in the place of `retryDelaySeconds`. Default: none. */
  readonly retryPolicy?: RetryPolicySettings;
  /** Queue that takes messages which are out of retries; `null` deletes them. */
  readonly deadLetterQueue: string | null;
}

/** A Worker whose `queue()` handler the broker calls. */
export interface WorkerConsumerDefinition {
  readonly type: "worker";
  /** Name of the consuming Worker, environment suffix included. */
  readonly worker: string;
  readonly settings: ConsumerSettings;
}

/** Settings of a queue for clients that pull over HTTP (spec cloudflare-queues 5, 6.3). */
export interface PullConsumerSettings {
  /** Most messages of a pull that names no number. 1 to 100, default 5. */
  readonly maxBatchSize: number;
  /** Deliveries after the first one before a message is dead. 0 to 100, default 3. */
  readonly maxRetries: number;
  /** Seconds before a retry that names no delay of its own. 0 to 86,400, default 0. */
  readonly retryDelaySeconds: number;
  /** Policy that sets the delay of such a retry in the place of `retryDelaySeconds`. Default: none. */
  readonly retryPolicy?: RetryPolicySettings;
  /** How long a pulled message is leased when the pull does not say, in ms. 0 to 43,200,000, default 30,000. */
  readonly visibilityTimeoutMs: number;
  /** Queue that takes messages which are out of retries; `null` deletes them. */
  readonly deadLetterQueue: string | null;
}

/** Clients that pull messages over HTTP; the broker calls no consumer. */
export interface PullConsumerDefinition {
  readonly type: "http_pull";
  readonly settings: PullConsumerSettings;
}

/**
 * How a request to an HTTP endpoint is made and what its answer means.
 *
 * - `sluice`: ours; 2xx is done, `Retry-After` is honoured (spec sqsd 10, "generic mode").
 * - `sqsd`: the worker daemon of Elastic Beanstalk (spec sqsd).
 * - `sns`: a notification of Amazon SNS (spec sns-delivery 6).
 */
export const HTTP_PUSH_FORMATS = ["sluice", "sqsd", "sns"] as const;
export type HttpPushFormat = (typeof HTTP_PUSH_FORMATS)[number];

/** How messages are posted to an HTTP endpoint, one request each (spec sqsd 2, 10.1). */
export interface HttpPushSettings {
  /** `http:` or `https:`, without credentials in it. */
  readonly url: string;
  readonly format: HttpPushFormat;
  /** `Content-Type` of every request; `null` lets the format choose it by the message. */
  readonly contentType: string | null;
  /**
   * Further headers of every request. A value `$NAME` is the broker's environment variable NAME: secrets stay out of
   * here.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Credentials that answer a 401 which asks for Basic or Digest authentication, by one more request; for `sns` alone.
   */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Environment variable of the broker with the key that requests are signed with; absent does not sign. */
  readonly signingSecret?: string;
  /** Most requests at a time. 1 to 100, default 50. */
  readonly maxConcurrency: number;
  /** How long a connection may take, in seconds. 1 to 60, default 5. */
  readonly connectTimeoutSeconds: number;
  /** How long an answer may take, in seconds. 1 to 840, default 60; of `sqsd` 1 to 36,000, default 299. */
  readonly responseTimeoutSeconds: number;
  /** Rule for answers of the endpoint that Amazon SNS does not retry; for `sns` alone. Default `deadLetter`. */
  readonly clientErrors?: ClientErrorRule;
  /** Path that has to answer 200 before the endpoint gets messages (again); `null` asks for a connection only. */
  readonly readinessPath: string | null;
  /** Deliveries after the first one before a message is dead. 0 to 100, default 3; of `sns` the policy's. */
  readonly maxRetries: number;
  /** Seconds before a retry that names no delay of its own. 0 to 86,400, default 0. */
  readonly retryDelaySeconds: number;
  /** Policy that sets the delay of such a retry in the place of `retryDelaySeconds`. Default: none. */
  readonly retryPolicy?: RetryPolicySettings;
  /** Queue that takes messages which are out of retries; `null` deletes them. */
  readonly deadLetterQueue: string | null;
  /** Settings that only the worker daemon has; for `sqsd` alone. */
  readonly daemon?: WorkerDaemonSettings;
}

/** Options of the worker daemon that no other format has (spec sqsd 2). */
export interface WorkerDaemonSettings {
  /** `VisibilityTimeout`: how long a received message is invisible, in seconds. 0 to 43,200, default 300. */
  readonly visibilityTimeoutSeconds: number;
  /** `ErrorVisibilityTimeout`: the same after a failure, 0 to 43,200; `null` leaves it as it is. Default `null`. */
  readonly errorVisibilityTimeoutSeconds: number | null;
  /**
   * `RetentionPeriod`: how long after its first receive a message is still posted, in seconds. 60 to 1,209,600, default
   * 345,600.
   */
  readonly retentionSeconds: number;
  /** Periodic tasks of its `cron.yaml`. Default: none. */
  readonly periodicTasks?: readonly PeriodicTaskSettings[];
  /** Which of their runs are made (spec sqsd 8.6). Default: those that AWS makes. */
  readonly taskRuns?: TaskRunSettings;
  /**
   * Whether attributes `beanstalk.sqsd.*` make any message a periodic task, as on AWS: a client that may send can then
   * have any path of the application called. Default false: only the daemon's own messages are periodic tasks.
   */
  readonly trustsTaskAttributes?: boolean;
}

/** Which runs of periodic tasks are made; what is absent is as on AWS. */
export interface TaskRunSettings {
  /** Which runs that were missed are made up for: the last one (default), each, or none. */
  readonly catchUp?: "one" | "all" | "none";
  /** How long after its time a run is still made, in seconds. 1 to 604,800, default 300; of no meaning to `none`. */
  readonly catchUpSeconds?: number;
  /** Whether a run is made while the message of an earlier run of the task is still in the queue. Default `allow`. */
  readonly overlap?: "allow" | "skip";
}

/** A periodic task (spec sqsd 8). */
export interface PeriodicTaskSettings {
  /** Unique among those of a queue. */
  readonly name: string;
  /** Path of the application that is posted to. */
  readonly url: string;
  /** Cron expression, in UTC: its first five fields count. */
  readonly schedule: string;
  /** How a day of the month beside a day of the week counts: one of them (default), or both, as on AWS. */
  readonly days?: "or" | "and";
}

/** An HTTP endpoint that the broker posts messages to. */
export interface HttpPushConsumerDefinition {
  readonly type: "http_push";
  readonly settings: HttpPushSettings;
}

/** Receivers of Cloudflare's notifications, of which each message makes one. There is at least one receiver. */
export interface NotificationSettings {
  /** Addresses. */
  readonly email: readonly string[];
  /** Ids of PagerDuty's services and of webhooks in Cloudflare Notifications. */
  readonly pagerduty: readonly string[];
  readonly webhooks: readonly string[];
  /** Deliveries after the first one before a message is dead: `NOTIFICATION_RETRIES`. */
  readonly maxRetries: number;
  /** Seconds before a retry: `NOTIFICATION_RETRY_DELAY_SECONDS`. */
  readonly retryDelaySeconds: number;
  /** Policy that sets the delay of a retry in the place of `retryDelaySeconds`. Default: none. */
  readonly retryPolicy?: RetryPolicySettings;
  /** Most notifications at a time; `null` lets the broker scale. */
  readonly maxConcurrency: number | null;
  /** Queue that takes messages which are out of retries; `null` deletes them. */
  readonly deadLetterQueue: string | null;
}

/** Notifications to people about messages. A broker in development shows them, and sends none. */
export interface NotificationConsumerDefinition {
  readonly type: "notification";
  readonly settings: NotificationSettings;
}

/** The one active consumer of a queue. */
export type ConsumerDefinition =
  | WorkerConsumerDefinition
  | PullConsumerDefinition
  | HttpPushConsumerDefinition
  | NotificationConsumerDefinition;

/** Names who is notified, for people: `email ann@shop.example, webhook 1f2e`. */
export function notifiedText({ email, pagerduty, webhooks }: NotificationSettings): string {
  const all = [
    ...email.map((address) => `email ${address}`),
    ...pagerduty.map((id) => `PagerDuty ${id}`),
    ...webhooks.map((id) => `webhook ${id}`),
  ];
  return all.join(", ");
}

/** Name of the Worker that batches go to; `null` where they go to none. */
export function workerOf(consumer: ConsumerDefinition | null | undefined): string | null {
  return consumer?.type === "worker" ? consumer.worker : null;
}

/** A binding that sends to a queue. */
export interface ProducerDefinition {
  readonly worker: string;
  readonly binding: string;
}

/** How a FIFO queue recognises duplicates (spec sqs 4.3). */
export interface FifoSettings {
  /**
   * Whether a deduplication id holds for the whole queue or for each group; fixed when the queue is created. Default
   * `queue`.
   */
  readonly deduplicationScope?: "queue" | "messageGroup";
  /** Whether the hash of its body is the deduplication id of an SQS message that names none. Default false. */
  readonly contentBasedDeduplication?: boolean;
}

/** Settings of a queue for clients that receive and delete (spec sqs 5.1). */
export interface ReceiveSettings {
  /** How long a received message is invisible when the receive does not say, in ms. 0 to 43,200,000, default 30,000. */
  readonly visibilityTimeoutMs?: number;
  /** How long a receive waits for a message when it does not say, in ms. 0 to 20,000, default 0. */
  readonly waitMs?: number;
  /** Queue for messages that were received too often; `null` or absent lets them be received for ever. */
  readonly redrive?: RedriveSettings | null;
}

export interface RedriveSettings {
  readonly deadLetterQueue: string;
  /** Receives of a message before the next one moves it instead (spec sqs 6.1). 1 to 1,000. */
  readonly maxReceiveCount: number;
}

/** One queue with its settings. */
export interface QueueDefinition {
  /** Seconds that a message waits when neither it, its batch nor its binding names a delay. Default 0. */
  readonly deliveryDelaySeconds: number;
  /** Seconds that a message is kept, counted from its send. Default 345,600. */
  readonly messageRetentionSeconds: number;
  readonly producers: readonly ProducerDefinition[];
  readonly consumer: ConsumerDefinition | null;
  /** Most messages that are delivered in any second, to whatever consumer; absent means any number. */
  readonly maxReceivesPerSecond?: number;
  /** Whether delivery waits, by push and by pull, while sends go on. Default false. */
  readonly deliveryPaused?: boolean;
  /**
   * Strict order within message groups, and deduplication; absent on a standard queue. Fixed when a queue is created.
   */
  readonly fifo?: FifoSettings;
  /** How long the history of messages is kept, in seconds; 0 keeps none. Default: in development without end. */
  readonly historySeconds?: number;
  /**
   * Whether consumers report what their handlers print: for the history, and for the reasons of retries. Default: in
   * development, where there is a history.
   */
  readonly logs?: boolean;
  /**
   * How many of the messages that were finished last keep their bodies, 0 to 1,000. Default: in development 1,000 while
   * there is a history, else 0.
   */
  readonly finishedMessages?: number;
  /** Settings for clients with visibility timeouts; absent means the defaults of each setting. */
  readonly receive?: ReceiveSettings;
  /** Until when its alerts are not reported, in ms since 1970. Default 0. */
  readonly alertsSilentUntilMs?: number;
  /** Objects that keep the queue, 1 to `SHARDS_MAX`. Default 1. */
  readonly shards?: number;
}

/** Lists the names of a queue's dead-letter queues: its consumer's, and that for clients of SQS. */
export function deadLetterQueuesOf({
  consumer,
  receive,
}: Pick<QueueDefinition, "consumer" | "receive">): string[] {
  const names = [consumer?.settings.deadLetterQueue, receive?.redrive?.deadLetterQueue];
  return names.filter((name) => name != null);
}

/**
 * Meaning of an answer of a topic's endpoint that is neither 2xx nor a reason for Amazon SNS to try again: 300 to 499,
 * but for 429 (spec sns-delivery 6.2).
 *
 * - `deadLetter`: no other attempt is made.
 * - `retry`: another one is, by the policy.
 * - `delivered`: the endpoint has had the message.
 */
export type ClientErrorRule = "deadLetter" | "retry" | "delivered";

/** Settings for all topics that Amazon SNS does not let its users change; an absent one is as there. */
export interface SnsSettings {
  /**
   * How long after it was published a message is still tried at an HTTP endpoint, in seconds (spec sns-delivery 7). The
   * delays of a delivery policy may add up to as much. 60 to 1,209,600, default 3,600.
   */
  readonly messageLifeSeconds?: number;
  /** Default `deadLetter`. */
  readonly clientErrors?: ClientErrorRule;
}

/** Rule of a configuration: a queue is notified of writes to an R2 bucket. */
export interface R2NotificationSettings extends R2Rule {
  readonly bucket: string;
  /** Name of the queue. */
  readonly queue: string;
}

/** Settings that the broker starts with: queues by name, SNS, and the notifications of R2 buckets. */
export interface QueueTopology {
  readonly queues: Readonly<Record<string, QueueDefinition>>;
  /** Rules of R2 buckets. Default: none. */
  readonly r2Notifications?: readonly R2NotificationSettings[];
  /** Default: no alerts. */
  readonly alerts?: AlertSettings;
  /** Default: everything as Amazon SNS has it. */
  readonly sns?: SnsSettings;
}

/** Writes JSON that is the same for the same value, whatever order its keys were written in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
