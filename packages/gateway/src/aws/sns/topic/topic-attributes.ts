import { parseArn } from "@sluice/aws";
import type { SnsSettings, TopicAttributes, TopicRecord, TopicSnapshot } from "@sluice/protocol";
import {
  effectiveTopicDocument,
  InvalidDeliveryPolicy,
  parseTopicPolicy,
  type RetryLeniency,
  type TopicDocument,
} from "@sluice/retry";
import { formatPolicy, parsePolicy } from "../../policy.ts";
import { invalid } from "../errors.ts";
import { defaultPolicy } from "./policy.ts";

/** Range and default of `MaximumMessageSize`, in bytes (spec sns-delivery 9.3). */
export const MESSAGE_SIZE_MIN = 1_024;
export const MESSAGE_SIZE_MAX = 1_048_576;
export const MESSAGE_SIZE_DEFAULT = 262_144;
/** Values of attributes that were never set. An attribute that is set to its default is kept. */
export const TOPIC_DEFAULTS: TopicAttributes = {
  FifoThroughputScope: "Topic",
  SignatureVersion: "1",
  TracingConfig: "PassThrough",
  MaximumMessageSize: String(MESSAGE_SIZE_DEFAULT),
};
/** Longest `DisplayName`, in characters. */
export const DISPLAY_NAME_LENGTH_MAX = 100;

/** Beginning of a refusal's reason, which depends on the action (spec sns-delivery 2.5). */
export type AttributesPrefix = "" | "Attributes Reason: ";

const FEEDBACK =
  /^(Application|Firehose|HTTP|Lambda|SQS)((Success|Failure)FeedbackRoleArn|SuccessFeedbackSampleRate)$/;

/**
 * Checks an attribute of a topic and answers with it in the form in which it is kept; `null` for one that is removed.
 * Throws `AwsError` in SNS's words.
 *
 * @param settings of all topics: a delivery policy is checked by them.
 */
export function readTopicAttribute(
  name: string,
  value: string,
  isFifo: boolean,
  prefix: AttributesPrefix,
  settings: SnsSettings,
): string | null {
  const refusal = (text: string) => invalid(`${prefix}${text}`);
  const oneOf = (allowed: readonly string[], given = value) => {
    if (allowed.includes(given)) return given;
    throw refusal(`${name}: Invalid value [${value}]. Must be ${allowed.join(" or ")}.`);
  };
  const fifoOnly = () => {
    if (!isFifo) throw refusal(`${name}: only FIFO topics have it`);
  };
  switch (name) {
    case "DeliveryPolicy":
      return deliveryPolicyIn(value, prefix, settings);
    case "Policy":
      if (value !== "" && parsePolicy(value) === null) throw refusal("Policy: failed to parse JSON.");
      return value === "" ? null : value;
    case "DisplayName":
      if (value.length > DISPLAY_NAME_LENGTH_MAX) {
        throw refusal(`DisplayName: must be at most ${DISPLAY_NAME_LENGTH_MAX} characters long`);
      }
      return value === "" ? null : value;
    case "ContentBasedDeduplication":
      fifoOnly();
      return oneOf(["true", "false"], value.toLowerCase()) === "true" ? "true" : null;
    case "FifoThroughputScope":
      fifoOnly();
      return oneOf(["Topic", "MessageGroup"]);
    case "SignatureVersion":
      return oneOf(["1", "2"]);
    case "TracingConfig":
      return oneOf(["PassThrough", "Active"]);
    case "KmsMasterKeyId":
      return value === "" ? null : value;
    case "MaximumMessageSize":
      return wholeNumberIn(value, MESSAGE_SIZE_MIN, MESSAGE_SIZE_MAX, (text) => refusal(`${name}: ${text}`));
    case "ArchivePolicy":
      throw refusal("ArchivePolicy: this broker keeps no archive of messages");
    default:
      if (!FEEDBACK.test(name)) throw refusal("AttributeName");
      if (!name.endsWith("SampleRate")) return value === "" ? null : value;
      return wholeNumberIn(value, 0, 100, (text) => refusal(`${name}: ${text}`));
  }
}

/** Lists the attributes of a topic as `GetTopicAttributes` shows them. */
export function shownTopicAttributes({ topic, subscriptions }: TopicSnapshot): TopicAttributes {
  const count = (kind: string) => subscriptions.filter(({ status }) => status.kind === kind).length;
  return {
    TopicArn: topic.arn,
    Owner: parseArn(topic.arn)?.account ?? "",
    Policy: formatPolicy(defaultPolicy(topic.arn)),
    DisplayName: "",
    SubscriptionsConfirmed: String(count("confirmed")),
    SubscriptionsPending: String(count("pending")),
    SubscriptionsDeleted: String(topic.endedSubscriptions),
    EffectiveDeliveryPolicy: effectiveTopicDocument(topicDocumentOf(topic)),
    ...(topic.isFifo ? { FifoTopic: "true", ContentBasedDeduplication: "false" } : {}),
    ...topic.attributes,
  };
}

/** Reads the delivery policy of a topic, which was checked before it was stored. */
export function topicDocumentOf({ attributes }: TopicRecord): TopicDocument | null {
  const text = attributes.DeliveryPolicy;
  return text === undefined ? null : (JSON.parse(text) as TopicDocument);
}

function deliveryPolicyIn(text: string, prefix: AttributesPrefix, settings: SnsSettings): string | null {
  try {
    const document = parseTopicPolicy(text, leniencyOf(settings));
    return document === null ? null : JSON.stringify(document);
  } catch (error) {
    if (error instanceof InvalidDeliveryPolicy) throw invalid(`${prefix}${error.message}`);
    throw error;
  }
}

function wholeNumberIn(value: string, min: number, max: number, refusal: (text: string) => Error): string {
  if (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) return String(Number(value));
  throw refusal(`Invalid value [${value}]. Must be from ${min} to ${max}.`);
}

/**
 * Returns the leniency for delivery policies if messages are set to live longer than on AWS: then retries may take as
 * long.
 */
export function leniencyOf({ messageLifeSeconds }: SnsSettings): RetryLeniency {
  return messageLifeSeconds === undefined ? {} : { totalSecondsMax: messageLifeSeconds };
}
