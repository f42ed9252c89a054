import { type Arn, parseArn } from "@sluice/aws";
import type { TopicAttributes, TopicRecord, TopicSubscription } from "@sluice/protocol";
import {
  arnIn,
  CHANGE_ATTEMPTS_MAX,
  type SnsContext,
  settingsFor,
  tooManyChanges,
  topicOf,
} from "../context.ts";
import { invalid, refuse, required, SNS_ERRORS, subscriptionNotFound, topicNotFound } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";
import { snsPageOf } from "../paging.ts";
import { newToken, sendConfirmation } from "./confirmations.ts";
import { endpointIn } from "./endpoint.ts";
import {
  readSubscriptionAttributes,
  SUBSCRIPTION_DEFAULTS,
  shownSubscriptionAttributes,
} from "./subscription-attributes.ts";

/** Text in place of the ARN of a subscription that is not confirmed: in the answer to `Subscribe`, and in lists. */
export const PENDING_ANSWER = "pending confirmation";
export const PENDING_LISTED = "PendingConfirmation";

/**
 * Subscribes an endpoint, or answers with its subscription if the request asks for nothing else (spec sns-delivery
 * 8.5).
 */
export async function subscribe(
  context: SnsContext,
  input: SnsInput<"Subscribe">,
): Promise<SnsOutput<"Subscribe">> {
  const { ports, home } = context;
  const { topic } = await topicOf(context, input.TopicArn);
  const protocolText = required(input.Protocol, "protocol");
  const { protocol, endpoint, queue } = endpointIn(protocolText, input.Endpoint, topic.isFifo, home);
  const given = input.Attributes ?? {};
  const read = readSubscriptionAttributes({}, given, {
    protocol,
    endpoint,
    home,
    prefix: "Attributes Reason: ",
    settings: await settingsFor(context, "DeliveryPolicy" in given),
  });
  const token = queue === null ? newToken() : null;
  const { arn: topicArn } = topic;
  const reply = await ports.topics.subscribe({
    topicArn,
    protocol,
    endpoint,
    token,
    target: queue,
    attributes: read.attributes,
    deadLetterQueue: read.deadLetterQueue,
  });
  let subscription: TopicSubscription;
  if (reply.ok) subscription = reply.subscription;
  else if (reply.refusal.kind === "subscriptionExists") {
    ({ subscription } = reply.refusal);
    refuseDifference(subscription, given, read.attributes);
    context.change.markUnchanged();
    if (token !== null && subscription.status.kind === "pending") {
      await ports.topics.renewToken(subscription.arn, token);
    }
  } else throw subscribeRefusal(reply.refusal.kind);
  if (subscription.status.kind !== "pending") return { SubscriptionArn: subscription.arn };
  if (token !== null) await sendConfirmation(context, "SubscriptionConfirmation", topic, subscription, token);
  return { SubscriptionArn: input.ReturnSubscriptionArn === true ? subscription.arn : PENDING_ANSWER };
}

export async function getSubscriptionAttributes(
  context: SnsContext,
  { SubscriptionArn }: SnsInput<"GetSubscriptionAttributes">,
): Promise<SnsOutput<"GetSubscriptionAttributes">> {
  const subscription = await subscriptionOf(context, SubscriptionArn);
  const found = await context.ports.topics.findTopic(subscription.topicArn);
  return { Attributes: shownSubscriptionAttributes(subscription, found?.topic ?? null) };
}

export async function setSubscriptionAttributes(
  context: SnsContext,
  { SubscriptionArn, AttributeName, AttributeValue = "" }: SnsInput<"SetSubscriptionAttributes">,
): Promise<void> {
  const name = required(AttributeName, "attributeName");
  const settings = await settingsFor(context, name === "DeliveryPolicy");
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
    const { arn, revision, attributes, protocol, endpoint } = await subscriptionOf(context, SubscriptionArn);
    const kind = { protocol, endpoint, home: context.home, prefix: "", settings } as const;
    const read = readSubscriptionAttributes(attributes, { [name]: AttributeValue }, kind);
    const reply = await context.ports.topics.changeTopicSubscription(arn, { ...read, basedOn: revision });
    if (reply.ok) return;
    if (reply.refusal.kind !== "changedMeanwhile") throw subscribeRefusal(reply.refusal.kind);
  }
  throw tooManyChanges();
}

export async function listSubscriptions(
  context: SnsContext,
  { NextToken }: SnsInput<"ListSubscriptions">,
): Promise<SnsOutput<"ListSubscriptions">> {
  const { caller, ports } = context;
  const own = (await ports.topics.listTopicSubscriptions()).filter(({ topicArn }) => {
    const { region, account } = parseArn(topicArn) ?? ({} as Partial<Arn>);
    return region === caller.region && account === caller.account;
  });
  return listed(own, NextToken);
}

export async function listSubscriptionsByTopic(
  context: SnsContext,
  { TopicArn, NextToken }: SnsInput<"ListSubscriptionsByTopic">,
): Promise<SnsOutput<"ListSubscriptionsByTopic">> {
  const { subscriptions } = await topicOf(context, TopicArn);
  return listed(subscriptions, NextToken);
}

/** Finds the subscription that a request names. Throws `AwsError`. */
export async function subscriptionOf(
  context: SnsContext,
  subscriptionArn: string | undefined,
): Promise<TopicSubscription> {
  const arn = required(subscriptionArn, "subscriptionArn");
  arnIn(arn, "SubscriptionArn");
  const found = await context.ports.topics.findTopicSubscription(arn);
  if (found === null) throw subscriptionNotFound();
  return found;
}

/** Finds the topic of a subscription. Throws `AwsError`. */
export async function topicOfSubscription(
  { ports }: SnsContext,
  { topicArn }: TopicSubscription,
): Promise<TopicRecord> {
  const found = await ports.topics.findTopic(topicArn);
  if (found === null) throw topicNotFound();
  return found.topic;
}

function listed(subscriptions: readonly TopicSubscription[], token: string | undefined) {
  const { page, next } = snsPageOf(subscriptions, token);
  const Subscriptions = page.map(({ arn, topicArn, protocol, endpoint, status }) => ({
    SubscriptionArn: status.kind === "pending" ? PENDING_LISTED : arn,
    Owner: parseArn(topicArn)?.account ?? "",
    Protocol: protocol,
    Endpoint: endpoint,
    TopicArn: topicArn,
  }));
  return { Subscriptions, ...next };
}

/**
 * Refuses attributes that differ from those of an existing subscription. One that the request leaves out does not
 * differ, and one that is not set has its default.
 */
function refuseDifference(existing: TopicSubscription, given: TopicAttributes, asked: TopicAttributes): void {
  for (const name of Object.keys(given)) {
    const fallback = SUBSCRIPTION_DEFAULTS[name];
    if ((existing.attributes[name] ?? fallback) === (asked[name] ?? fallback)) continue;
    throw invalid("Attributes Reason: Subscription already exists with different attributes");
  }
}

export function subscribeRefusal(kind: string): Error {
  if (kind === "tooManySubscriptions") {
    return refuse(SNS_ERRORS.subscriptionLimitExceeded, "Subscription limit exceeded");
  }
  if (kind === "tooManyFilterPolicies") {
    return refuse(SNS_ERRORS.filterPolicyLimitExceeded, "Filter policy limit exceeded");
  }
  if (kind === "queueHasJurisdiction") {
    return invalid("The queue has a jurisdiction, which a topic would keep messages for outside of it");
  }
  return kind === "topicNotFound" ? topicNotFound() : subscriptionNotFound();
}
