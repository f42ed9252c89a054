import { parseArn } from "@sluice/aws";
import {
  type ConsumerDefinition,
  JURISDICTIONS,
  type Jurisdiction,
  type QueueSettingsChange,
  TOPIC_PROTOCOLS,
} from "@sluice/protocol";
import type { Context } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { setChanged } from "../../rights/route-needs.ts";
import { AdminError, queueNotFound } from "../failure.ts";

/** What became of something that a backup has. */
export interface Restored {
  /** `existed`: it was there, and is left as it is. */
  readonly outcome: "created" | "existed";
  /** The queue of a subscription's messages. */
  readonly target?: string;
}

const EXISTED: Restored = { outcome: "existed" };
const CREATED: Restored = { outcome: "created" };

const texts = z.record(z.string(), z.string());
const name = z.string().check(z.minLength(1), z.maxLength(80));
const seconds = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

/** What the broker counts with is checked; of the rest the backup is believed. */
const queueSchema = z.object({
  name,
  settings: z.looseObject({
    deliveryDelaySeconds: seconds(0, 86_400),
    messageRetentionSeconds: seconds(60, 1_209_600),
  }),
  consumer: z.nullable(
    z.object({
      type: z.enum(["worker", "http_pull", "http_push"]),
      worker: z.optional(z.string()),
      settings: z.looseObject({
        maxRetries: seconds(0, 1_000_000),
        retryDelaySeconds: seconds(0, 86_400),
        deadLetterQueue: z.nullable(name),
      }),
    }),
  ),
  jurisdiction: z.nullable(z.enum(JURISDICTIONS)),
  dialects: z.record(z.string(), z.unknown()),
});

const topicSchema = z.object({ arn: z.string(), isFifo: z.boolean(), attributes: texts, tags: texts });

const topicSubscriptionSchema = z.object({
  topicArn: z.string(),
  protocol: z.enum(TOPIC_PROTOCOLS),
  endpoint: z.string(),
  target: z.string(),
  deadLetterQueue: z.nullable(name),
  attributes: texts,
  isConfirmed: z.literal(true),
  wasAuthenticated: z.boolean(),
  authenticateOnUnsubscribe: z.boolean(),
});

const subscriptionSchema = z.object({
  name: z.string(),
  enabled: z.boolean(),
  source: texts,
  queue: name,
  events: z.array(z.string()),
});

/** Creates a queue with its settings and its consumer. */
export async function restoreQueue(c: Context, { account }: QueueDirectory): Promise<Restored> {
  const given = await bodyOf(c, queueSchema);
  setChanged(c, given.name);
  const created = await account.createQueue({
    name: given.name,
    settings: given.settings as QueueSettingsChange,
    ...(given.jurisdiction === null ? {} : { jurisdiction: given.jurisdiction as Jurisdiction }),
    dialects: given.dialects,
  });
  if (!created.ok) {
    if (created.refusal.kind !== "queueNameTaken") throw refused(created.refusal.kind);
    return existed(c);
  }
  if (given.consumer === null) return CREATED;
  const { queueId } = created.record;
  const reply = await account.setConsumer(queueId, null, given.consumer as unknown as ConsumerDefinition);
  if (!reply.ok) throw refused(reply.refusal.kind);
  return CREATED;
}

export async function restoreTopic(c: Context, { topics }: QueueDirectory): Promise<Restored> {
  const given = await bodyOf(c, topicSchema);
  if (parseArn(given.arn)?.service !== "sns") throw invalid("arn must be that of a topic");
  setChanged(c, given.arn);
  const reply = await topics.createTopic(given);
  if (reply.ok) return CREATED;
  if (reply.refusal.kind !== "topicExists") throw refused(reply.refusal.kind);
  return existed(c);
}

/** Subscribes an endpoint, which has confirmed that it wants to be before the backup was made. */
export async function restoreTopicSubscription(c: Context, { topics }: QueueDirectory): Promise<Restored> {
  const { isConfirmed: _, ...given } = await bodyOf(c, topicSubscriptionSchema);
  const { wasAuthenticated, authenticateOnUnsubscribe, protocol, target, topicArn, ...rest } = given;
  if (protocol !== "sqs" && URL.parse(rest.endpoint) === null) throw invalid("endpoint must be a URL");
  setChanged(c, topicArn);
  const token = wasAuthenticated && !authenticateOnUnsubscribe ? null : crypto.randomUUID();
  const reply = await topics.subscribe({
    ...{ topicArn, protocol, token, ...rest },
    target: protocol === "sqs" ? target : null,
  });
  if (!reply.ok) {
    if (reply.refusal.kind !== "subscriptionExists") throw refused(reply.refusal.kind);
    return { ...existed(c), target: reply.refusal.subscription.target };
  }
  if (token !== null) {
    const region = parseArn(topicArn)?.region ?? "";
    const confirmation = { token, region, isAuthenticated: wasAuthenticated, authenticateOnUnsubscribe };
    const confirmed = await topics.confirmSubscription(confirmation);
    if (!confirmed.ok) throw refused(confirmed.refusal.kind);
  }
  return { ...CREATED, target: reply.subscription.target };
}

/** Has events of a source sent to a queue. */
export async function restoreSubscription(c: Context, { account }: QueueDirectory): Promise<Restored> {
  const { queue, ...given } = await bodyOf(c, subscriptionSchema);
  const record = await account.findByName(queue);
  if (record === null) throw queueNotFound(queue);
  setChanged(c, queue);
  const reply = await account.createSubscription({ ...given, queueId: record.queueId });
  if (reply.ok) return CREATED;
  if (reply.refusal.kind !== "sourceSubscribed") throw refused(reply.refusal.kind);
  return existed(c);
}

/** Nothing was changed, so nothing is written down. */
function existed(c: Context): Restored {
  c.set("changed", null);
  return EXISTED;
}

async function bodyOf<Schema extends z.ZodMiniType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const json: unknown = await c.req.json().catch(() => null);
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid([issue?.path.join("."), issue?.message].join(" ").trim());
}

function invalid(problem: string): AdminError {
  return new AdminError(400, "invalid_body", `What is to be restored is not as a backup has it: ${problem}.`);
}

/** Words for what the directory does not do. */
const REFUSALS: Readonly<Record<string, string>> = {
  tooManyQueues: "there are as many queues as there may be",
  tooManyTopics: "there are as many topics as there may be",
  tooManySubscriptions: "the topic has as many subscriptions as it may have",
  tooManyFilterPolicies: "there are as many filter policies as there may be",
  deadLetterCycle: "its dead letters would go in a circle",
  topicNotFound: "its topic is not there",
};

function refused(kind: string): AdminError {
  return new AdminError(409, "refused", `It cannot be restored: ${REFUSALS[kind] ?? kind}.`);
}
