import { formatArn, parseArn, partitionOf } from "@sluice/aws";
import { isFifoName, type TopicAttributes, type TopicRecord } from "@sluice/protocol";
import { changeTopic, type SnsContext, settingsFor, topicArnIn, topicOf } from "../context.ts";
import { invalid, refuse, required, SNS_ERRORS } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";
import { snsPageOf } from "../paging.ts";
import { checkTagCount, tagsIn } from "./tags.ts";
import { readTopicAttribute, shownTopicAttributes, TOPIC_DEFAULTS } from "./topic-attributes.ts";

/** Longest name of a topic, `.fifo` included (spec sns-delivery 9.3). */
export const TOPIC_NAME_LENGTH_MAX = 256;
const TOPIC_NAME = /^[A-Za-z0-9_-]+(\.fifo)?$/;

/** Creates a topic, or answers with the existing one if the request asks for nothing else. */
export async function createTopic(
  context: SnsContext,
  { Name, Attributes: given = {}, Tags: tagList = [], DataProtectionPolicy }: SnsInput<"CreateTopic">,
): Promise<SnsOutput<"CreateTopic">> {
  const name = required(Name, "name");
  const isFifo = given.FifoTopic?.toLowerCase() === "true";
  if (name.length > TOPIC_NAME_LENGTH_MAX || !TOPIC_NAME.test(name) || isFifo !== isFifoName(name)) {
    throw invalid("Topic Name");
  }
  if (DataProtectionPolicy) throw invalid("DataProtectionPolicy: this broker has none");
  const { region, account } = context.caller;
  const partition = partitionOf(region);
  const arn = formatArn({ partition, service: "sns", region, account, resource: name });
  const tags = tagsIn(tagList);
  checkTagCount(tags);
  const asked: Record<string, string | null> = {};
  const settings = await settingsFor(context, "DeliveryPolicy" in given);
  for (const [attribute, value] of Object.entries(given)) {
    if (attribute === "FifoTopic") continue;
    asked[attribute] = readTopicAttribute(attribute, value, isFifo, "Attributes Reason: ", settings);
  }
  const attributes = Object.fromEntries(
    Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  const reply = await context.ports.topics.createTopic({ arn, isFifo, attributes, tags });
  if (!reply.ok && reply.refusal.kind === "topicExists") {
    refuseDifference(reply.refusal.topic, asked, tags);
    context.change.markUnchanged();
  } else if (!reply.ok) {
    throw refuse(SNS_ERRORS.topicLimitExceeded, "Topic limit exceeded");
  }
  return { TopicArn: arn };
}

/** Deletes a topic with its subscriptions; one that does not exist is no error. */
export async function deleteTopic(context: SnsContext, { TopicArn }: SnsInput<"DeleteTopic">): Promise<void> {
  await context.ports.topics.deleteTopic(topicArnIn(context, TopicArn).text);
}

export async function getTopicAttributes(
  context: SnsContext,
  { TopicArn }: SnsInput<"GetTopicAttributes">,
): Promise<SnsOutput<"GetTopicAttributes">> {
  return { Attributes: shownTopicAttributes(await topicOf(context, TopicArn)) };
}

export async function setTopicAttributes(
  context: SnsContext,
  { TopicArn, AttributeName, AttributeValue: value = "" }: SnsInput<"SetTopicAttributes">,
): Promise<void> {
  const name = required(AttributeName, "attributeName");
  const settings = await settingsFor(context, name === "DeliveryPolicy");
  await changeTopic(
    context,
    async () => (await topicOf(context, TopicArn)).topic,
    ({ attributes: before, isFifo }) => {
      const { [name]: _before, ...others } = before;
      const kept = readTopicAttribute(name, value, isFifo, "", settings);
      return { attributes: kept === null ? others : { ...others, [name]: kept } };
    },
  );
}

/** Lists the topics of the caller's account and region. */
export async function listTopics(
  context: SnsContext,
  { NextToken }: SnsInput<"ListTopics">,
): Promise<SnsOutput<"ListTopics">> {
  const { caller, ports } = context;
  const own = (await ports.topics.listTopics()).filter(({ arn }) => {
    const { region, account } = parseArn(arn) ?? {};
    return region === caller.region && account === caller.account;
  });
  const { page, next } = snsPageOf(own, NextToken);
  return { Topics: page.map(({ arn }) => ({ TopicArn: arn })), ...next };
}

/**
 * Refuses attributes and tags that differ from those of an existing topic. One that the request leaves out does not
 * differ, and an attribute that is not set has its default.
 */
function refuseDifference(
  existing: TopicRecord,
  asked: Readonly<Record<string, string | null>>,
  tags: TopicAttributes,
): void {
  for (const [name, value] of Object.entries(asked)) {
    const fallback = TOPIC_DEFAULTS[name] ?? null;
    if ((existing.attributes[name] ?? fallback) === (value ?? fallback)) continue;
    throw invalid("Attributes Reason: Topic already exists with different attributes");
  }
  for (const [key, value] of Object.entries(tags)) {
    if (Object.hasOwn(existing.tags, key) && existing.tags[key] === value) continue;
    throw invalid("Tags Reason: Topic already exists with different tags");
  }
}
