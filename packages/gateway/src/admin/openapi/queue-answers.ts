import {
  ALERT_FORMATS,
  ALERT_KINDS,
  type DamageKind,
  JURISDICTIONS,
  type MoveFailure,
  type MoveStatus,
  type NextDelivery,
  SCOPES,
} from "@sluice/protocol";
import { consumerSchema, jurisdictionSchema } from "@sluice/protocol/schema";
import * as z from "zod/mini";
import type {
  AlertsView,
  AlertView,
  AuditPage,
  BacklogView,
  ClockView,
  MoveView,
  NewTokenView,
  QueueView,
  ShardsView,
  TopicDetail,
  TopicView,
} from "../views.ts";
import type { messageAnswers } from "./message-answers.ts";
import { numbers, ofOthers, oneOf, time } from "./parts.ts";

const kindOfQueue = () => oneOf<QueueView["kind"]>({ standard: true, fifo: true });

/** Makes the schemas of answers about queues and topics. */
export function queueAnswers({ fault }: Pick<ReturnType<typeof messageAnswers>, "fault">) {
  const damage = z.object({
    kind: oneOf<DamageKind>({
      rolledBack: true,
      messagesLost: true,
      messagesAgain: true,
      structure: true,
      unreadable: true,
    }),
    foundAt: time(),
    messagesLost: z.nullable(z.number()),
    text: z.string(),
  });
  const health = z.object({
    present: z.boolean(),
    inFlight: z.number(),
    consecutiveFailures: z.number(),
    lastDelivery: z.nullable(
      z.object({
        endedAt: time(),
        failure: z.nullable(ofOthers()),
        acked: z.nullable(z.number()),
        messages: z.nullable(z.number()),
      }),
    ),
    next: z.nullable(
      z.object({
        waitsFor: oneOf<NextDelivery["waitsFor"]>({ return: true, slot: true, due: true }),
        at: time(),
      }),
    ),
  });
  const backlog = z.object({
    now: time(),
    awakeSince: time(),
    messages: numbers("ready", "delayed", "leased"),
    backlogBytes: z.number(),
    oldestMessageAt: z.nullable(time()),
    health: z.nullable(health),
    damage: z.array(damage),
  }) satisfies z.ZodMiniType<BacklogView>;
  const alert = z.object({
    alert: z.enum(ALERT_KINDS),
    since: time(),
    text: ofOthers(),
    reported: z.boolean(),
  }) satisfies z.ZodMiniType<AlertView>;
  const alerts = z.object({
    alerts: z.array(
      z.extend(alert, {
        queue: z.string(),
        failure: z.nullable(ofOthers()),
        silentUntil: z.nullable(time()),
      }),
    ),
    webhook: z.nullable(
      z.object({
        origin: z.nullable(z.string()),
        format: z.enum(ALERT_FORMATS),
        trouble: z.nullable(z.string()),
        waiting: z.number(),
        health: z.nullable(health),
      }),
    ),
  }) satisfies z.ZodMiniType<AlertsView>;
  const move = z.object({
    status: oneOf<MoveStatus>({ running: true, completed: true, cancelled: true, failed: true }),
    moved: z.number(),
    toMove: z.number(),
    stayed: z.number(),
    failure: z.nullable(
      oneOf<MoveFailure>({ targetNotFound: true, sourceUnknown: true, notAllowed: true, tookTooLong: true }),
    ),
    to: z.nullable(z.string()),
    startedAt: time(),
  }) satisfies z.ZodMiniType<MoveView>;
  const queue = z.extend(backlog, {
    name: z.string(),
    id: z.string(),
    kind: kindOfQueue(),
    jurisdiction: jurisdictionSchema,
    place: z.nullable(z.enum(JURISDICTIONS)),
    settings: z.object({
      deliveryDelaySeconds: z.number(),
      messageRetentionSeconds: z.number(),
      deliveryPaused: z.boolean(),
      maxReceivesPerSecond: z.nullable(z.number()),
      visibilityTimeoutSeconds: z.number(),
      receiveWaitSeconds: z.number(),
      finishedMessages: z.number(),
      shards: z.number(),
      alertsSilentUntil: z.nullable(time()),
    }),
    isConfigured: z.boolean(),
    producers: z.array(z.object({ worker: z.string(), binding: z.string() })),
    consumer: z.nullable(consumerSchema),
    redrive: z.nullable(z.object({ deadLetterQueue: z.string(), maxReceiveCount: z.number() })),
    topics: z.array(z.string()),
    buckets: z.array(z.string()),
    deadLettersOf: z.object({ queues: z.array(z.string()), subscriptions: z.array(z.string()) }),
    lastMove: z.nullable(move),
    faults: z.array(fault),
    alerts: z.array(alert),
    rates: z.nullable(numbers("in", "out", "dead")),
    storage: numbers("rowsWritten", "rowsRead"),
    usage: z.nullable(
      z.extend(
        numbers(
          "sinceMs",
          "rowsWritten",
          "rowsRead",
          "requests",
          "awakeMs",
          "messages",
          "messageBytes",
          "messageChunks",
          "deliveries",
        ),
        { month: z.string() },
      ),
    ),
  }) satisfies z.ZodMiniType<Omit<QueueView, "consumer">>;
  const shards = z.object({
    wanted: z.number(),
    shards: z.array(
      z.object({
        shard: z.number(),
        state: z.enum(["open", "draining"]),
        failure: z.nullable(ofOthers()),
        messages: z.nullable(numbers("ready", "delayed", "leased")),
        backlogBytes: z.nullable(z.number()),
        oldestMessageAt: z.nullable(time()),
        rates: z.nullable(numbers("in", "out", "dead")),
        keepsGroups: z.boolean(),
        now: z.nullable(time()),
      }),
    ),
  }) satisfies z.ZodMiniType<ShardsView>;
  const topic = z.object({
    arn: z.string(),
    name: z.string(),
    kind: kindOfQueue(),
    createdAt: time(),
    subscriptions: numbers("confirmed", "pending"),
    endpoints: z.nullable(numbers("waiting", "failing")),
  }) satisfies z.ZodMiniType<TopicView>;
  const subscription = z.object({
    arn: z.string(),
    protocol: z.string(),
    endpoint: z.string(),
    status: z.enum(["pending", "confirmed"]),
    createdAt: time(),
    rawDelivery: z.boolean(),
    filterPolicy: z.nullable(
      z.object({ scope: z.string(), policy: z.string(), fault: z.nullable(z.string()) }),
    ),
    deadLetterQueue: z.nullable(z.string()),
    delivery: z.nullable(z.object({ maxRetries: z.number(), maxReceivesPerSecond: z.nullable(z.number()) })),
    queue: z.nullable(z.string()),
    backlog: z.nullable(backlog),
  });
  const topicDetail = z.extend(z.omit(topic, { endpoints: true }), {
    now: time(),
    awakeSince: time(),
    attributes: z.record(z.string(), z.string()),
    published: z.number(),
    duplicates: z.number(),
    handOvers: z.array(
      z.object({ queue: z.string(), messages: z.number(), nextAttemptAt: z.nullable(time()) }),
    ),
    damage: z.array(damage),
    subscriptionList: z.array(subscription),
    page: z.number(),
    pages: z.number(),
  }) satisfies z.ZodMiniType<TopicDetail>;
  return {
    alerts,
    silence: z.object({ silentUntil: z.nullable(time()) }),
    queue,
    shards,
    queues: z.object({ queues: z.array(queue), deployed: z.string() }),
    move: z.object({ move }),
    topics: z.object({ topics: z.array(topic) }),
    topicDetail,
  };
}

/** Makes the schemas of answers about the broker: its clock, its tokens, what was changed. */
export function brokerAnswers() {
  const clock = z.object({
    now: time(),
    aheadMs: z.number(),
    isFrozen: z.boolean(),
    advancedMs: z.exactOptional(z.number()),
    next: z.exactOptional(z.nullable(z.object({ queue: z.string(), at: time() }))),
  }) satisfies z.ZodMiniType<ClockView>;
  const token = z.object({
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    queues: z.array(z.string()),
    expiresAt: z.nullable(time()),
    ratePerSecond: z.nullable(z.number()),
    createdAt: time(),
    changedAt: time(),
    oldSecretUntil: z.nullable(time()),
    accessKeyId: z.nullable(z.string()),
  });
  return {
    clock,
    buckets: z.object({ buckets: z.array(z.object({ bucket: z.string(), takenTo: z.number() })) }),
    eventSamples: z.object({
      samples: z.array(z.object({ name: z.string(), body: z.record(z.string(), z.unknown()) })),
    }),
    tokens: z.object({ tokens: z.array(token) }),
    newToken: z.object({ token, secret: z.string() }) satisfies z.ZodMiniType<NewTokenView>,
    audit: z.object({
      entries: z.array(
        z.object({
          at: time(),
          action: z.string(),
          target: z.nullable(z.string()),
          by: z.string(),
          dialect: oneOf<AuditPage["entries"][number]["dialect"]>({
            admin: true,
            cloudflare: true,
            sqs: true,
            sns: true,
            configuration: true,
          }),
        }),
      ),
      cursor: z.nullable(z.string()),
    }) satisfies z.ZodMiniType<AuditPage>,
  };
}
