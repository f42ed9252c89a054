import { HISTORY_KINDS } from "@sluice/protocol";
import * as z from "zod/mini";
import { AUDIT_PAGE_MAX } from "../access/audit-routes.ts";
import { NEW_TOKEN, ROTATION } from "../access/token-routes.ts";
import { SILENCE } from "../alerts/alert-routes.ts";
import { onceBody, pastBody } from "../backup/restore-messages.ts";
import {
  queueSchema,
  subscriptionSchema,
  topicSchema,
  topicSubscriptionSchema,
} from "../backup/restore-schemas.ts";
import { CLOCK_CHANGE } from "../development/clock-routes.ts";
import { FAULT_SETTING } from "../development/fault-routes.ts";
import { batchBody } from "../messages/batch-route.ts";
import { bulkBody } from "../messages/bulk-routes.ts";
import { leaseBody, settleBody } from "../messages/lease-routes.ts";
import { resendBody, sendBody } from "../messages/read-body.ts";
import { CLOCK_REPORT, DISK_REPORT, R2_REPORT } from "../process-routes.ts";
import { SHARDS } from "../queues/queue-routes.ts";
import { redriveBody } from "../queues/redrive.ts";
import { messageAnswers } from "./message-answers.ts";
import { numbers, time } from "./parts.ts";
import { brokerAnswers, queueAnswers } from "./queue-answers.ts";

/** Schemas of the input and the answer of a route. */
export interface Operation {
  /** Names of `queryParameters`. Default: none. */
  readonly query?: readonly string[];
  /** Default: no body. */
  readonly body?: z.ZodMiniType;
  /** Schema of the answer, or the media type of one that is no JSON. */
  readonly answer: z.ZodMiniType | { readonly mediaType: string };
}

/** Parameters of queries, by their names. */
export function queryParameters(): Readonly<Record<string, z.ZodMiniType>> {
  return {
    max: z.int().check(z.gte(1), z.lte(AUDIT_PAGE_MAX), z.describe("Most entries of the answer.")),
    cursor: z.string().check(z.describe("Goes on where the answer that had it has ended.")),
    filter: z.string().check(z.describe('Terms, as in docs/admin-api.md: "state:delayed error:timeout".')),
    whole: z.boolean().check(z.describe("Whether bodies are whole.")),
    kind: z.string().check(z.describe(`Kinds of events, with commas between: ${HISTORY_KINDS.join(", ")}.`)),
    window: z.enum(["5m", "1h", "24h"]),
    q: z.string().check(z.describe("What to look for: a filter, a text, an id, a name.")),
    in: z.enum(["all", "names"]),
    queue: z.string().check(z.describe("Name of a queue.")),
    page: z.int().check(z.gte(1)),
    reported: z.boolean().check(z.describe("Whether sleeping queues are shown as they last reported.")),
  };
}

/** Operations of the admin API. */
export interface Operations {
  /** By method and path, as `ADMIN_NEEDS` has them. */
  readonly routes: Readonly<Record<string, Operation>>;
  /** Parts of answers that have names of their own. */
  readonly named: Readonly<Record<string, z.ZodMiniType>>;
}

/** Makes the operations of all routes. */
export function operations(): Operations {
  const messages = messageAnswers();
  const queues = queueAnswers(messages);
  const broker = brokerAnswers();
  const backup = backupOperations();
  const { faults } = messages;
  const sent = z.object({ queue: z.string(), id: z.string() });
  const progress = { cursor: z.nullable(z.string()), searched: z.number(), of: z.number() };
  const QUEUE = "/api/queues/:name";
  const named = {
    Message: messages.message,
    WholeMessage: messages.wholeMessage,
    Event: messages.event,
    Story: messages.story,
    QueueWhy: messages.queueWhy,
    DryRun: messages.dryRun,
    Queue: queues.queue,
    Move: queues.move.shape.move,
    TopicDetail: queues.topicDetail,
    Clock: broker.clock,
    Faults: faults,
    Failure: z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) }),
  };
  const routes: Operations["routes"] = {
    "GET /api": {
      answer: z.object({
        endpoints: z.array(
          z.object({
            method: z.string(),
            path: z.string(),
            body: z.exactOptional(z.string()),
            answers: z.string(),
          }),
        ),
      }),
    },
    "GET /api/openapi.json": { answer: z.record(z.string(), z.unknown()) },
    "GET /api/queues": { query: ["reported"], answer: queues.queues },
    [`GET ${QUEUE}`]: { answer: queues.queue },
    [`GET ${QUEUE}/shards`]: { answer: queues.shards },
    [`PUT ${QUEUE}/shards`]: { body: SHARDS, answer: queues.queue },
    [`GET ${QUEUE}/messages`]: { query: ["max", "filter", "cursor", "whole"], answer: messages.messages },
    [`POST ${QUEUE}/messages`]: { body: sendBody, answer: sent },
    [`POST ${QUEUE}/messages/batch`]: {
      body: batchBody,
      answer: z.object({ sent: z.number(), ids: z.array(z.string()) }),
    },
    [`GET ${QUEUE}/messages/:id`]: { answer: messages.wholeMessage },
    [`DELETE ${QUEUE}/messages/:id`]: { answer: z.object({ id: z.string(), deleted: z.boolean() }) },
    [`POST ${QUEUE}/messages/:id/retry`]: { answer: z.object({ id: z.string(), wasDue: z.boolean() }) },
    [`POST ${QUEUE}/messages/:id/resend`]: { body: resendBody, answer: sent },
    [`GET ${QUEUE}/messages/:id/story`]: { answer: messages.story },
    [`POST ${QUEUE}/messages/retry`]: {
      body: bulkBody,
      answer: z.union([z.object({ due: z.number(), ...progress }), messages.dryRun]),
    },
    [`POST ${QUEUE}/messages/delete`]: {
      body: bulkBody,
      answer: z.union([z.object({ deleted: z.number(), ...progress }), messages.dryRun]),
    },
    [`POST ${QUEUE}/messages/lease`]: { body: leaseBody, answer: backup.leased },
    [`POST ${QUEUE}/messages/settle`]: { body: settleBody, answer: numbers("deleted", "released") },
    [`GET ${QUEUE}/errors`]: { query: ["filter"], answer: messages.errors },
    [`GET ${QUEUE}/why`]: { answer: messages.queueWhy },
    [`GET ${QUEUE}/history`]: { query: ["max", "kind", "cursor"], answer: messages.history },
    [`GET ${QUEUE}/figures`]: { query: ["window"], answer: messages.figures },
    [`POST ${QUEUE}/pause`]: { answer: queues.queue },
    [`POST ${QUEUE}/resume`]: { answer: queues.queue },
    [`POST ${QUEUE}/purge`]: { answer: numbers("purged") },
    [`POST ${QUEUE}/redrive`]: { body: redriveBody, answer: z.union([queues.move, messages.dryRun]) },
    [`POST ${QUEUE}/redrive/cancel`]: { answer: queues.move },
    [`POST ${QUEUE}/drain`]: { answer: numbers("requests") },
    [`GET ${QUEUE}/faults`]: { answer: faults },
    [`PUT ${QUEUE}/faults`]: { body: FAULT_SETTING, answer: faults },
    [`DELETE ${QUEUE}/faults`]: { answer: faults },
    [`PUT ${QUEUE}/silence`]: { body: SILENCE, answer: queues.silence },
    [`DELETE ${QUEUE}/silence`]: { answer: queues.silence },
    "GET /api/alerts": { query: ["reported"], answer: queues.alerts },
    "POST /api/alerts/test": { answer: z.object({ id: z.string() }) },
    "GET /api/search": { query: ["q", "in"], answer: messages.search },
    "GET /api/events": { query: ["queue", "kind"], answer: { mediaType: "text/event-stream" } },
    "GET /api/topics": { answer: queues.topics },
    "GET /api/topics/:arn": { query: ["page"], answer: queues.topicDetail },
    "GET /api/clock": { answer: broker.clock },
    "POST /api/clock": { body: CLOCK_CHANGE, answer: broker.clock },
    "POST /api/stop": { answer: z.object({ isStopped: z.boolean() }) },
    "POST /api/disk": { body: DISK_REPORT, answer: DISK_REPORT },
    "POST /api/system-clock": { body: CLOCK_REPORT, answer: CLOCK_REPORT },
    "GET /api/r2": { answer: broker.buckets },
    "POST /api/r2": { body: R2_REPORT, answer: numbers("takenTo") },
    "GET /api/event-samples": { answer: broker.eventSamples },
    "GET /api/audit": { query: ["max", "cursor"], answer: broker.audit },
    "GET /api/tokens": { answer: broker.tokens },
    "POST /api/tokens": { body: NEW_TOKEN, answer: broker.newToken },
    "DELETE /api/tokens/:name": { answer: z.object({ name: z.string(), revoked: z.boolean() }) },
    "POST /api/tokens/:name/rotate": { body: ROTATION, answer: broker.newToken },
    ...backup.routes,
    "GET /metrics": { answer: { mediaType: "text/plain" } },
  };
  return { routes, named };
}

/** Operations of a backup, and the answer with leased messages, which are shown as a backup has them. */
function backupOperations(): {
  readonly routes: Readonly<Record<string, Operation>>;
  readonly leased: z.ZodMiniType;
} {
  const restored = z.object({
    outcome: z.enum(["created", "existed"]),
    target: z.exactOptional(z.nullable(z.string())),
    variableRefusals: z.exactOptional(z.array(z.string())),
  });
  const subscribed = z.extend(topicSubscriptionSchema, {
    arn: z.string(),
    lacksPassword: z.boolean(),
    isConfirmed: z.boolean(),
  });
  const message = z.object({
    ...pastBody.shape,
    sentAt: time(),
    delaySeconds: z.number(),
    contentType: z.string(),
    text: z.exactOptional(z.string()),
    base64: z.exactOptional(z.string()),
    group: z.exactOptional(z.string()),
    attributes: z.exactOptional(z.record(z.string(), z.object({ type: z.string(), value: z.string() }))),
  });
  const held = batchBody.shape.messages._zod.def.element;
  const leased = z.object({ messages: z.array(z.extend(message, { receipt: z.string() })) });
  const routes: Readonly<Record<string, Operation>> = {
    "GET /api/backup": {
      answer: z.object({
        at: time(),
        queues: z.array(queueSchema),
        topics: z.array(topicSchema),
        topicSubscriptions: z.array(subscribed),
        subscriptions: z.array(subscriptionSchema),
        holders: z.array(z.string()),
        redrives: z.array(z.object({ queue: z.string(), startedAt: time(), isRunning: z.boolean() })),
      }),
    },
    "GET /api/backup/messages": {
      query: ["queue", "cursor"],
      answer: z.object({
        messages: z.array(message),
        cursor: z.nullable(z.string()),
        ...numbers("searched", "of").shape,
      }),
    },
    "POST /api/backup/queues": { body: queueSchema, answer: restored },
    "POST /api/backup/topics": { body: topicSchema, answer: restored },
    "POST /api/backup/topic-subscriptions": { body: topicSubscriptionSchema, answer: restored },
    "POST /api/backup/subscriptions": { body: subscriptionSchema, answer: restored },
    "POST /api/backup/messages": {
      query: ["queue"],
      body: z.object({ messages: z.array(z.intersection(held, pastBody)), ...onceBody.shape }),
      answer: z.extend(numbers("restored"), { duplicates: z.exactOptional(z.array(z.string())) }),
    },
  };
  return { routes, leased };
}
