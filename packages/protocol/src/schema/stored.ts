import * as z from "zod/mini";
import { R2_ACTIONS } from "../r2/notifications.ts";
import { SCOPES } from "../rpc/directory/tokens.ts";
import { TOPIC_PROTOCOLS } from "../rpc/directory/topics.ts";
import { shardMapSchema, unreadable, unreadableDefinition, unreadableRecord } from "./queue.ts";

/*
 * Shapes of the rows that the directory stores. A contract: rows of every earlier release have to fit. Members may be
 * added if they are optional. All rows are read at start. One that code would fail on counts as damaged: it would end
 * the broker for all queues.
 */

/** Check that describes for people why a row cannot be read; `null` if it can. */
export type Unreadable = (row: unknown) => string | null;

const texts = z.record(z.string(), z.string());
const token = z.strictObject({ text: z.string(), expiresMs: z.number() });

const topic = z.strictObject({
  topicId: z.string(),
  arn: z.string(),
  createdOnMs: z.number(),
  revision: z.number(),
  isFifo: z.boolean(),
  attributes: texts,
  tags: texts,
  endedSubscriptions: z.number(),
});

const topicSubscription = z.strictObject({
  subscriptionId: z.string(),
  arn: z.string(),
  topicArn: z.string(),
  createdOnMs: z.number(),
  revision: z.number(),
  protocol: z.enum(TOPIC_PROTOCOLS),
  endpoint: z.string(),
  target: z.string(),
  deadLetterQueue: z.nullable(z.string()),
  status: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("pending"), token }),
    z.strictObject({
      kind: z.literal("confirmed"),
      wasAuthenticated: z.boolean(),
      authenticateOnUnsubscribe: z.boolean(),
      token: z.nullable(token),
    }),
    z.strictObject({ kind: z.literal("ended"), token }),
  ]),
  attributes: texts,
});

const signingIdentity = z.strictObject({ privateKeyPkcs8: z.string(), certificatePem: z.string() });

const secret = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("bearer"), sha256: z.string() }),
  z.strictObject({ kind: z.literal("aws"), accessKeyId: z.string(), secretAccessKey: z.string() }),
]);
const tokenRecord = z.strictObject({
  name: z.string(),
  secret,
  scopes: z.array(z.enum(SCOPES)),
  queues: z.array(z.string()),
  expiresAtMs: z.nullable(z.number()),
  ratePerSecond: z.nullable(z.number()),
  previous: z.nullable(z.strictObject({ secret, untilMs: z.number() })),
  createdAtMs: z.number(),
  changedAtMs: z.number(),
});

const subscription = z.strictObject({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  source: texts,
  queueId: z.string(),
  events: z.array(z.string()),
  createdAtMs: z.number(),
  modifiedAtMs: z.number(),
});

const r2Bucket = z.strictObject({
  bucket: z.string(),
  takenTo: z.number(),
  rules: z.array(
    z.strictObject({
      ruleId: z.string(),
      queueId: z.string(),
      createdAtMs: z.number(),
      isConfigured: z.optional(z.literal(true)),
      actions: z.array(z.enum(R2_ACTIONS)),
      prefix: z.string(),
      suffix: z.string(),
      description: z.optional(z.string()),
    }),
  ),
});

const auditEntry = z.strictObject({
  action: z.string(),
  target: z.nullable(z.string()),
  by: z.string(),
  dialect: z.string(),
});

const queueRow = z.strictObject({
  kind: z.literal("queue"),
  record: z.unknown(),
  configured: z.unknown(),
  told: z.number(),
  shownShards: z.nullish(shardMapSchema),
});
const deletedRow = z.strictObject({
  kind: z.literal("deleted"),
  name: z.string(),
  revision: z.number(),
  isEmptied: z.optional(z.literal(true)),
});
const directoryRow = z.discriminatedUnion("kind", [queueRow, deletedRow]);

/** Checks of whether a row of the directory can be read, by the kind of the row. */
export const UNREADABLE_ROWS = {
  queue: (row) => {
    const wrong = unreadable(directoryRow, row);
    if (wrong !== null) return wrong;
    const { kind, record, configured } = row as z.infer<typeof queueRow>;
    if (kind !== "queue") return null;
    return unreadableRecord(record) ?? (configured === null ? null : unreadableDefinition(configured));
  },
  topic: (row) => unreadable(topic, row) ?? policyProblem(row as z.infer<typeof topic>),
  topicSubscription: (row) => {
    const wrong = unreadable(topicSubscription, row);
    if (wrong !== null) return wrong;
    const subscription = row as z.infer<typeof topicSubscription>;
    const { protocol, endpoint } = subscription;
    if (protocol !== "sqs" && !URL.canParse(endpoint)) return "endpoint: is no URL";
    return policyProblem(subscription);
  },
  signingIdentity: (row) => unreadable(signingIdentity, row),
  token: (row) => unreadable(tokenRecord, row),
  subscription: (row) => unreadable(subscription, row),
  r2Bucket: (row) => unreadable(r2Bucket, row),
  auditEntry: (row) => unreadable(auditEntry, row),
} as const satisfies Readonly<Record<string, Unreadable>>;

/** Describes why the delivery policy that an endpoint's queue is made from cannot be read; `null` if it can. */
function policyProblem({
  attributes,
}: {
  readonly attributes: Readonly<Record<string, string>>;
}): string | null {
  const { DeliveryPolicy: policy } = attributes;
  if (policy === undefined) return null;
  try {
    const document: unknown = JSON.parse(policy);
    if (typeof document === "object" && document !== null) return null;
  } catch {
    // It is refused below.
  }
  return "attributes.DeliveryPolicy: is no object of JSON";
}
