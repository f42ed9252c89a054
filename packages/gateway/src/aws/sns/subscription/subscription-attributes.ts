import { parseArn } from "@sluice/aws";
import {
  isFifoName,
  type SnsSettings,
  type TopicAttributes,
  type TopicProtocol,
  type TopicRecord,
  type TopicSubscription,
} from "@sluice/protocol";
import {
  effectiveSubscriptionDocument,
  InvalidDeliveryPolicy,
  parseSubscriptionPolicy,
  type SubscriptionDocument,
} from "@sluice/retry";
import { FILTER_POLICY_SCOPES, type FilterPolicyScope, filterPolicyFault } from "@sluice/sns";
import type { Home } from "../../queue-address.ts";
import { invalid } from "../errors.ts";
import { type AttributesPrefix, leniencyOf, topicDocumentOf } from "../topic/topic-attributes.ts";
import { parseRedrivePolicy } from "./redrive-policy.ts";

/** Parameters by which a subscription's attributes are read. */
export interface SubscriptionKind {
  readonly protocol: TopicProtocol;
  readonly endpoint: string;
  readonly home: Home;
  readonly prefix: AttributesPrefix;
  /** Configuration of all topics; of no meaning where no delivery policy is given. */
  readonly settings: SnsSettings;
}

/** All attributes of a subscription after a change, in the form in which they are kept. */
export interface ReadSubscription {
  readonly attributes: TopicAttributes;
  readonly deadLetterQueue: string | null;
}

/** Values of attributes that were never set. An attribute that is set to its default is kept. */
export const SUBSCRIPTION_DEFAULTS: TopicAttributes = { FilterPolicyScope: "MessageAttributes" };

const NAMES = [
  "DeliveryPolicy",
  "FilterPolicy",
  "FilterPolicyScope",
  "RawMessageDelivery",
  "RedrivePolicy",
  "ReplayPolicy",
  "SubscriptionRoleArn",
];

/**
 * Checks changes of a subscription's attributes against all of them together: the scope decides which filter policies
 * are allowed, and raw delivery which content types (spec sns-delivery 9.4, 11.4 P22). An empty value removes an
 * attribute, except `RawMessageDelivery`, which is always true or false.
 *
 * @throws AwsError in SNS's words.
 */
export function readSubscriptionAttributes(
  before: TopicAttributes,
  given: TopicAttributes,
  kind: SubscriptionKind,
): ReadSubscription {
  const { prefix } = kind;
  for (const name of Object.keys(given)) if (!NAMES.includes(name)) throw invalid(`${prefix}AttributeName`);
  if (given.ReplayPolicy) throw invalid(`${prefix}ReplayPolicy: this broker keeps no archive of messages`);
  const all = { ...before, ...given };
  const isRaw = rawIn(all.RawMessageDelivery, prefix);
  const scope = scopeIn(all.FilterPolicyScope, prefix);
  const filter = filterIn(all.FilterPolicy, scope, given, prefix);
  const delivery = deliveryIn(all.DeliveryPolicy, isRaw, "DeliveryPolicy" in given, kind);
  const redrive = all.RedrivePolicy
    ? parseRedrivePolicy(all.RedrivePolicy, kind.home, isFifoName(kind.endpoint), prefix)
    : null;
  const attributes = {
    DeliveryPolicy: delivery,
    FilterPolicy: filter,
    FilterPolicyScope: all.FilterPolicyScope || null,
    RawMessageDelivery: isRaw ? "true" : null,
    RedrivePolicy: redrive === null ? null : (all.RedrivePolicy ?? null),
    SubscriptionRoleArn: all.SubscriptionRoleArn || null,
  };
  const kept = Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== null);
  return { attributes: Object.fromEntries(kept), deadLetterQueue: redrive?.deadLetterQueue ?? null };
}

/** Lists the attributes of a subscription as `GetSubscriptionAttributes` shows them. */
export function shownSubscriptionAttributes(
  { arn, topicArn, protocol, endpoint, status, attributes }: TopicSubscription,
  topic: TopicRecord | null,
): TopicAttributes {
  const owner = parseArn(topicArn)?.account ?? "";
  const { FilterPolicy, FilterPolicyScope, ...others } = attributes;
  const effective =
    protocol === "sqs" ? {} : { EffectiveDeliveryPolicy: effectiveOf(attributes.DeliveryPolicy, topic) };
  return {
    SubscriptionArn: arn,
    TopicArn: topicArn,
    Protocol: protocol,
    Endpoint: endpoint,
    Owner: owner,
    SubscriptionPrincipal: `arn:aws:iam::${owner}:root`,
    PendingConfirmation: String(status.kind === "pending"),
    ConfirmationWasAuthenticated: String(status.kind === "confirmed" && status.wasAuthenticated),
    RawMessageDelivery: "false",
    ...others,
    ...effective,
    // A scope is shown with its policy alone (spec sns-delivery 9.3).
    ...(FilterPolicy === undefined
      ? {}
      : { FilterPolicy, FilterPolicyScope: FilterPolicyScope ?? "MessageAttributes" }),
  };
}

function effectiveOf(text: string | undefined, topic: TopicRecord | null): string {
  const document = text === undefined ? null : (JSON.parse(text) as SubscriptionDocument);
  return effectiveSubscriptionDocument(document, topic === null ? null : topicDocumentOf(topic));
}

function rawIn(value: string | undefined, prefix: AttributesPrefix): boolean {
  if (value === undefined) return false;
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  throw invalid(`${prefix}RawMessageDelivery: Invalid value [${value}]. Must be true or false.`);
}

function scopeIn(value: string | undefined, prefix: AttributesPrefix): FilterPolicyScope {
  if (value === undefined || value === "") return "MessageAttributes";
  const scope = FILTER_POLICY_SCOPES.find((known) => known === value);
  if (scope !== undefined) return scope;
  throw invalid(
    `${prefix}FilterPolicyScope: Invalid value [${value}]. Please use either MessageBody or MessageAttributes`,
  );
}

function filterIn(
  text: string | undefined,
  scope: FilterPolicyScope,
  given: TopicAttributes,
  prefix: AttributesPrefix,
): string | null {
  if (text === undefined || text === "") return null;
  const fault = filterPolicyFault(text, scope);
  if (fault === null) return text;
  // The policy was valid until now, so the scope does not fit.
  const isByScope = given.FilterPolicy === undefined && given.FilterPolicyScope !== undefined;
  throw invalid(`${prefix}${isByScope ? "FilterPolicyScope: " : ""}${fault}`);
}

function deliveryIn(
  text: string | undefined,
  isRaw: boolean,
  isGiven: boolean,
  { protocol, prefix, settings }: SubscriptionKind,
): string | null {
  if (text === undefined || text === "") return null;
  if (protocol === "sqs") {
    throw invalid(`${prefix}DeliveryPolicy: only subscriptions with the protocol http or https have one`);
  }
  // A content type that was set with raw delivery stays when that is switched off; then the default one is sent.
  if (!isGiven) return text;
  try {
    return JSON.stringify(parseSubscriptionPolicy(text, isRaw, leniencyOf(settings)));
  } catch (error) {
    if (error instanceof InvalidDeliveryPolicy) throw invalid(`${prefix}${error.message}`);
    throw error;
  }
}
