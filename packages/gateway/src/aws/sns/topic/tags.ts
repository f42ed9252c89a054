import {
  isReservedTagKey,
  LOST_TAG_KEY,
  TAG_KEY_LENGTH_MAX,
  TAG_VALUE_LENGTH_MAX,
  TAGS_MAX,
} from "@sluice/aws";
import type { TopicRecord } from "@sluice/protocol";
import { changeTopic, type SnsContext, topicArnIn } from "../context.ts";
import { invalid, refuse, required, SNS_ERRORS } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";

type Tags = Readonly<Record<string, string>>;
type TagList = NonNullable<SnsInput<"TagResource">["Tags"]>;

/** Reads tags of a request. Throws `AwsError` for keys and values that no tag can have, or a key that comes twice. */
export function tagsIn(list: TagList): Tags {
  const tags: Record<string, string> = {};
  for (const { Key: key = "", Value: value = "" } of list) {
    if (key.length < 1 || key.length > TAG_KEY_LENGTH_MAX) {
      throw invalid(`Tags Reason: Tag keys must be between 1 and ${TAG_KEY_LENGTH_MAX} characters in length`);
    }
    if (isReservedTagKey(key)) {
      throw invalid("Tags Reason: aws: prefixed tag key names are not allowed for external use.");
    }
    if (key === LOST_TAG_KEY) throw invalid(`Tags Reason: A tag cannot have the key ${LOST_TAG_KEY}.`);
    if (value.length > TAG_VALUE_LENGTH_MAX) {
      throw invalid(`Tags Reason: Tag values can be at most ${TAG_VALUE_LENGTH_MAX} characters in length`);
    }
    if (Object.hasOwn(tags, key)) throw invalid("Duplicated keys are not allowed.");
    tags[key] = value;
  }
  return tags;
}

/** Throws `AwsError` (`TagLimitExceeded`). */
export function checkTagCount(tags: Tags): void {
  if (Object.keys(tags).length <= TAGS_MAX) return;
  throw refuse(SNS_ERRORS.tagLimitExceeded, `Could not complete request: tag quota of per resource exceeded`);
}

export async function tagResource(
  context: SnsContext,
  { ResourceArn, Tags: list = [] }: SnsInput<"TagResource">,
): Promise<object> {
  const given = tagsIn(list);
  await changeTopic(
    context,
    () => taggedTopic(context, ResourceArn),
    ({ tags: before }) => {
      const tags = { ...before, ...given };
      checkTagCount(tags);
      return { tags };
    },
  );
  return {};
}

export async function untagResource(
  context: SnsContext,
  { ResourceArn, TagKeys = [] }: SnsInput<"UntagResource">,
): Promise<object> {
  await changeTopic(
    context,
    () => taggedTopic(context, ResourceArn),
    ({ tags }) => ({
      tags: Object.fromEntries(Object.entries(tags).filter(([key]) => !TagKeys.includes(key))),
    }),
  );
  return {};
}

export async function listTagsForResource(
  context: SnsContext,
  { ResourceArn }: SnsInput<"ListTagsForResource">,
): Promise<SnsOutput<"ListTagsForResource">> {
  const { tags } = await taggedTopic(context, ResourceArn);
  return { Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) };
}

async function taggedTopic(context: SnsContext, resourceArn: string | undefined): Promise<TopicRecord> {
  const { text } = topicArnIn(context, required(resourceArn, "resourceArn"), "ResourceArn");
  const found = await context.ports.topics.findTopic(text);
  if (found === null) throw refuse(SNS_ERRORS.resourceNotFound, "Resource does not exist");
  return found.topic;
}
