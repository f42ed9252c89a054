import { type Arn, parseArn } from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import type {
  AuditRpc,
  QueueBrokerRpc,
  QueueReceiveRpc,
  SnsSettings,
  TopicChange,
  TopicObjectRpc,
  TopicRecord,
  TopicSnapshot,
  TopicsRpc,
} from "@sluice/protocol";
import type { Authority } from "../../rights/authority.ts";
import type { Caller } from "../caller.ts";
import type { Change } from "../change.ts";
import type { Home } from "../queue-address.ts";
import { invalid, refuse, required, SNS_ERRORS, topicNotFound } from "./errors.ts";
import type { TopicCalls } from "./publish/topic-calls.ts";
import type { Signers } from "./signers.ts";

/** Parts of the broker that SNS uses. */
export interface SnsPorts {
  readonly topics: TopicsRpc;
  readonly audit: Pick<AuditRpc, "noteAudit">;
  /** Access keys that the broker keeps. */
  readonly authority: Pick<Authority, "accessKeys" | "take">;
  /** A topic's object. */
  topic(topicObject: string): Pick<TopicObjectRpc, "publish">;
  /** A queue's object: confirmations go through the queue of their subscription. */
  queue(name: string): Pick<QueueReceiveRpc, "work"> & Pick<QueueBrokerRpc, "purge">;
  now(): number;
}

/** One request: its caller, and the parts of the broker that it uses. */
export interface SnsContext {
  readonly ports: SnsPorts;
  readonly home: Home;
  readonly caller: Caller;
  /** Change that the request makes. */
  readonly change: Change;
  /** Whether the request was signed, so that its caller is known. */
  readonly isSigned: boolean;
  /** Address of the endpoint for the client: URLs in messages begin with it. */
  readonly endpoint: string;
  readonly signers: Signers;
  readonly calls: TopicCalls;
  readonly keepAlive: KeepAlive;
  /** `X-Amzn-Trace-Id` of the request. */
  readonly traceHeader: string | null;
  /** Trace context of the request, by its `traceparent`. */
  readonly trace: Uint8Array | null;
}

/** Elements of an ARN, at least. */
const ARN_ELEMENTS_MIN = 6;

/** Reads an ARN of SNS in its words. Throws `AwsError`. */
export function arnIn(text: string, parameter: string): Arn {
  const elements = text.split(":").length;
  if (elements < ARN_ELEMENTS_MIN) {
    throw invalid(`${parameter} Reason: An ARN must have at least 6 elements, not ${elements}`);
  }
  const arn = parseArn(text);
  if (arn === null || arn.service !== "sns") throw invalid(parameter);
  return arn;
}

/** Reads a topic's ARN, which has to be of the caller's region. Throws `AwsError`. */
export function topicArnIn(
  { caller }: SnsContext,
  text: string | undefined,
  parameter = "TopicArn",
): { readonly text: string; readonly arn: Arn } {
  const given = required(text, `${parameter.charAt(0).toLowerCase()}${parameter.slice(1)}`);
  const arn = arnIn(given, parameter);
  if (arn.region !== caller.region) throw invalid(parameter);
  return { text: given, arn };
}

/** Finds the topic that a request names. Throws `AwsError`. */
export async function topicOf(context: SnsContext, topicArn: string | undefined): Promise<TopicSnapshot> {
  const { text } = topicArnIn(context, topicArn);
  const found = await context.ports.topics.findTopic(text);
  if (found === null) throw topicNotFound();
  return found;
}

/** Returns the configuration of all topics; `{}`, without a call, where no delivery policy has to be checked by it. */
export async function settingsFor({ ports }: SnsContext, isPolicyGiven: boolean): Promise<SnsSettings> {
  return isPolicyGiven ? ports.topics.snsSettings() : {};
}

/** Most attempts at a change while other requests change the topic too. */
export const CHANGE_ATTEMPTS_MAX = 20;

/**
 * Changes a topic. `alter` makes the new values of the old ones. If another request changes the topic in between,
 * `alter` is called again, so that neither change is lost. Throws what `find` and `alter` throw.
 */
export async function changeTopic(
  context: SnsContext,
  find: () => Promise<TopicRecord>,
  alter: (topic: TopicRecord) => Omit<TopicChange, "basedOn">,
): Promise<void> {
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
    const topic = await find();
    const change = { ...alter(topic), basedOn: topic.revision };
    const reply = await context.ports.topics.changeTopic(topic.arn, change);
    if (reply.ok) return;
    if (reply.refusal.kind !== "changedMeanwhile") throw topicNotFound();
  }
  throw tooManyChanges();
}

export function tooManyChanges() {
  return refuse(SNS_ERRORS.concurrentAccess, "It is being changed by too many at once. Try again.");
}
