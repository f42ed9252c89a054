import { AwsError } from "@sluice/aws";
import {
  type ConsumerDefinition,
  isEndpointQueue,
  type Jurisdiction,
  type NewTopic,
  type NewTopicSubscription,
  type QueueSettingsChange,
  type TopicSubscription,
  variablesOf,
} from "@sluice/protocol";
import { issueText } from "@sluice/protocol/schema";
import type { Context } from "hono";
import type * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { eventsProblem, readSource } from "../../account/subscription-sources.ts";
import type { SeenRequest } from "../../http/public-address.ts";
import { setChanged } from "../../rights/route-needs.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { queueSchema, subscriptionSchema, topicSchema, topicSubscriptionSchema } from "./restore-schemas.ts";

/** Outcome of restoring one part of a backup. */
export interface Restored {
  /** `existed`: it was there, and stays as it is. */
  readonly outcome: "created" | "existed";
  /** The queue of a subscription's messages; `null` for an unconfirmed endpoint, which takes none. */
  readonly target?: string | null;
  /** Why variables of a queue's HTTP endpoint have no value, so that its messages wait. Absent: all have one. */
  readonly variableRefusals?: readonly string[];
}

/** Functions that restore by the rules of a dialect. All throw `AwsError` for a thing that cannot exist. */
export interface DialectRestoring {
  /** Checks the part of a backup's queue that only SQS knows, and returns it. */
  sqs(dialect: unknown, queue: string): unknown;
  /** Answers with whether the topic was created. */
  topic(request: SeenRequest, topic: NewTopic): Promise<boolean>;
  subscription(
    request: SeenRequest,
    subscription: Omit<NewTopicSubscription, "token">,
  ): Promise<{ readonly isNew: boolean; readonly subscription: TopicSubscription }>;
}

const EXISTED: Restored = { outcome: "existed" };
const CREATED: Restored = { outcome: "created" };

/** Creates a queue with its settings and its consumer: whole, or not at all. */
export async function restoreQueue(
  c: Context,
  { account, variableRefusal }: QueueDirectory,
  restoring: DialectRestoring,
): Promise<Restored> {
  const given = await bodyOf(c, queueSchema);
  const { name, settings, consumer, jurisdiction } = given;
  setChanged(c, name);
  const { sqs, ...unknown } = given.dialects;
  const [dialect] = Object.keys(unknown);
  if (dialect !== undefined) throw invalid(`dialects.${dialect}: there is no such dialect`);
  const dialects = sqs === undefined ? {} : { sqs: await byRules(async () => restoring.sqs(sqs, name)) };
  const created = await account.createQueue({
    name,
    settings: settings as QueueSettingsChange,
    consumer: consumer as ConsumerDefinition | null,
    ...(jurisdiction === null ? {} : { jurisdiction: jurisdiction as Jurisdiction }),
    dialects,
  });
  if (!created.ok) {
    if (created.refusal.kind !== "queueNameTaken") throw refused(created.refusal.kind);
    return existed(c);
  }
  const { consumer: made } = created.record.definition;
  if (made?.type !== "http_push") return CREATED;
  const { url } = made.settings;
  const variableRefusals = variablesOf(made.settings).flatMap((one) => variableRefusal(one, url) ?? []);
  return variableRefusals.length === 0 ? CREATED : { ...CREATED, variableRefusals };
}

export async function restoreTopic(c: Context, restoring: DialectRestoring): Promise<Restored> {
  const given = await bodyOf(c, topicSchema);
  setChanged(c, given.arn);
  const isNew = await byRules(() => restoring.topic(seenOf(c), given));
  return isNew ? CREATED : existed(c);
}

/** Subscribes an endpoint. An HTTP endpoint is asked to confirm, even if the backup says that it has. */
export async function restoreTopicSubscription(c: Context, restoring: DialectRestoring): Promise<Restored> {
  const given = await bodyOf(c, topicSubscriptionSchema);
  const { topicArn, protocol, endpoint, target, deadLetterQueue, attributes } = given;
  setChanged(c, topicArn);
  const { isNew, subscription } = await byRules(() =>
    restoring.subscription(seenOf(c), {
      topicArn,
      protocol,
      endpoint,
      deadLetterQueue,
      attributes,
      target: protocol === "sqs" ? target : null,
    }),
  );
  return { ...(isNew ? CREATED : existed(c)), target: restorableTarget(subscription) };
}

function seenOf({ req }: Context): SeenRequest {
  return { url: new URL(req.url), headers: req.raw.headers };
}

/** Returns the queue that takes messages of a subscription; `null` for an unconfirmed endpoint. */
export function restorableTarget({ target, status }: TopicSubscription): string | null {
  return isEndpointQueue(target) && status.kind !== "confirmed" ? null : target;
}

/** Has events of a source sent to a queue. */
export async function restoreSubscription(c: Context, { account }: QueueDirectory): Promise<Restored> {
  const { queue, ...given } = await bodyOf(c, subscriptionSchema);
  const { source, problem } = readSource(given.source);
  if (source === null) throw invalid(`source: ${problem}`);
  const wrongEvents = eventsProblem(source.type, given.events);
  if (wrongEvents !== null) throw invalid(`events: ${wrongEvents}`);
  const record = await account.findByName(queue);
  if (record === null) throw queueNotFound(queue);
  setChanged(c, queue);
  const reply = await account.createSubscription({ ...given, source, queueId: record.queueId });
  if (reply.ok) return CREATED;
  if (reply.refusal.kind !== "sourceSubscribed") throw refused(reply.refusal.kind);
  return existed(c);
}

/** Answers for a part that existed. Nothing was changed, so the audit log gets no entry. */
function existed(c: Context): Restored {
  c.set("changed", null);
  return EXISTED;
}

/** Turns an `AwsError` of a dialect into an `AdminError`. */
async function byRules<Result>(restore: () => Promise<Result>): Promise<Result> {
  try {
    return await restore();
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const { status } = error.kind;
    if (status === 400) throw invalid(error.message);
    throw new AdminError(409, "refused", `It cannot be restored: ${error.message}`);
  }
}

async function bodyOf<Schema extends z.ZodMiniType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const json: unknown = await c.req.json().catch(() => null);
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(issue === undefined ? "it cannot be read" : issueText(issue));
}

function invalid(problem: string): AdminError {
  const text = `What is to be restored is not as a backup has it: ${problem.replace(/\.$/, "")}.`;
  return new AdminError(400, "invalid_body", text);
}

/** Words for refusals of the directory. */
const REFUSALS: Readonly<Record<string, string>> = {
  tooManyQueues: "there are as many queues as there may be",
  deadLetterCycle: "its dead letters would go in a circle",
  otherJurisdiction: "its dead letters would leave its jurisdiction",
  shardsRefused: "it can have only one shard",
};

function refused(kind: string): AdminError {
  return new AdminError(409, "refused", `It cannot be restored: ${REFUSALS[kind] ?? kind}.`);
}
