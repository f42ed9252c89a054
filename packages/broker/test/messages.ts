import {
  type BacklogMetrics,
  type ConsumerSettings,
  type ContentType,
  type Delivery,
  type HttpPushConsumerDefinition,
  type HttpPushSettings,
  type PullConsumerDefinition,
  type PullConsumerSettings,
  packMessages,
  type QueueDefinition,
  type QueueRecord,
  unpackMessages,
  type WorkerConsumerDefinition,
} from "@sluice/protocol";

/** A batch as a test's consumer sees it. */
export interface SeenBatch {
  readonly queue: string;
  readonly messages: readonly SeenMessage[];
  readonly metrics: BacklogMetrics;
}

export interface SeenMessage {
  readonly id: string;
  readonly body: string;
  readonly attempts: number;
  readonly timestampMs: number;
}

export interface SendOptions {
  readonly delaySeconds?: number;
  readonly ownDelays?: readonly (number | undefined)[];
  readonly contentType?: ContentType;
  /** Group ids of the messages, in order. */
  readonly groups?: readonly string[];
}

let nextId = 0;

/** A message id that is unique in this process. */
export function testId(): string {
  nextId += 1;
  return nextId.toString(16).padStart(32, "0");
}

/** Texts as a producer packs them, each with an id of its own. */
export function packTexts(bodies: readonly string[], options: SendOptions = {}): Uint8Array<ArrayBuffer> {
  return packMessages(
    bodies.map((body, i) => {
      const delaySeconds = options.ownDelays?.[i];
      return {
        id: testId(),
        contentType: options.contentType ?? "text",
        body: new TextEncoder().encode(body),
        ...(delaySeconds === undefined ? {} : { delaySeconds }),
        ...extensionOf(options.groups?.[i]),
      };
    }),
  );
}

/** A message of a group has a deduplication id, here its group's and a number. */
function extensionOf(groupId: string | undefined) {
  return groupId === undefined ? {} : { extension: { groupId, deduplicationId: `${groupId} ${nextId}` } };
}

/** Unpacks a delivery. */
export function seenOf(delivery: Delivery): SeenBatch {
  const { attempts } = delivery;
  return {
    queue: delivery.queue,
    metrics: delivery.metrics,
    messages: unpackMessages(delivery.packed).map((message, i) => ({
      id: message.id,
      body: new TextDecoder().decode(message.body),
      attempts: typeof attempts === "number" ? attempts : (attempts[i] ?? 0),
      timestampMs: message.timestampMs,
    })),
  };
}

/** Bodies of batches, batch by batch. */
export function bodiesOf(batches: readonly SeenBatch[]): string[][] {
  return batches.map((batch) => batch.messages.map((message) => message.body));
}

/** An HTTP endpoint that consumes a queue, with the defaults and what a test changes. */
export function endpoint(settings: Partial<HttpPushSettings> = {}): HttpPushConsumerDefinition {
  return {
    type: "http_push",
    settings: {
      url: "https://shop.example/tasks",
      format: "sluice",
      contentType: null,
      maxConcurrency: 50,
      connectTimeoutSeconds: 5,
      responseTimeoutSeconds: 60,
      readinessPath: null,
      maxRetries: 3,
      retryDelaySeconds: 0,
      deadLetterQueue: null,
      ...settings,
    },
  };
}

/** A consumer definition with production's defaults and what a test changes. */
export function consumer(settings: Partial<ConsumerSettings> = {}): WorkerConsumerDefinition {
  return {
    type: "worker",
    worker: "consumer",
    settings: {
      maxBatchSize: 10,
      maxBatchTimeoutSeconds: 5,
      maxRetries: 3,
      maxConcurrency: null,
      retryDelaySeconds: 0,
      deadLetterQueue: null,
      ...settings,
    },
  };
}

/** The same for clients that pull. */
export function pullConsumer(settings: Partial<PullConsumerSettings> = {}): PullConsumerDefinition {
  return {
    type: "http_pull",
    settings: {
      maxBatchSize: 5,
      maxRetries: 3,
      retryDelaySeconds: 0,
      visibilityTimeoutMs: 30_000,
      deadLetterQueue: null,
      ...settings,
    },
  };
}

/** A queue definition with production's defaults and what a test changes. */
export function definition(changes: Partial<QueueDefinition> = {}): QueueDefinition {
  return {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: 345_600,
    producers: [],
    consumer: null,
    ...changes,
  };
}

/** The record that a directory keeps of a queue "orders" without a consumer. */
export function recordOf(revision: number, emptyAsOf = 0): QueueRecord {
  return {
    queueId: "1",
    name: "orders",
    createdOnMs: 0,
    modifiedOnMs: 0,
    revision,
    emptyAsOf,
    definition: definition({}),
    consumer: null,
    jurisdiction: null,
    dialects: {},
  };
}
