import {
  isReservedTagKey,
  LOST_TAG_KEY,
  TAG_KEY_LENGTH_MAX,
  TAG_VALUE_LENGTH_MAX,
  TAGS_MAX,
} from "@sluice/aws";
import { changeQueue, queueOf, type SqsContext } from "../context.ts";
import { invalidParameter, missingParameter } from "../errors.ts";
import { isValidText } from "../message/text.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { DIALECT, type SqsQueue, sqsOf } from "./dialect.ts";

export function checkTags(queue: string, tags: Readonly<Record<string, string>>): void {
  if (Object.keys(tags).length > TAGS_MAX) throw invalidParameter(`Too many tags added for queue ${queue}.`);
  for (const [key, value] of Object.entries(tags)) {
    checkKey(key);
    if (isReservedTagKey(key)) {
      throw invalidParameter("aws: prefixed tag key names are not allowed for external use.");
    }
    if (key === LOST_TAG_KEY) throw invalidParameter(`A tag cannot have the key ${LOST_TAG_KEY}.`);
    if (value.length > TAG_VALUE_LENGTH_MAX) {
      throw invalidParameter(
        `Tag values must be between 0 and ${TAG_VALUE_LENGTH_MAX} characters in length.`,
      );
    }
    if (!isValidText(key) || !isValidText(value)) {
      throw invalidParameter("Tags can only have characters that a message can have.");
    }
  }
}

export async function tagQueue(
  context: SqsContext,
  { QueueUrl, Tags = {} }: SqsInput<"TagQueue">,
): Promise<void> {
  if (Object.keys(Tags).length === 0) throw missingParameter("Tags");
  await change(context, QueueUrl, (tags, queue) => {
    const all = { ...tags, ...Tags };
    checkTags(queue, all);
    return all;
  });
}

export async function untagQueue(
  context: SqsContext,
  { QueueUrl, TagKeys = [] }: SqsInput<"UntagQueue">,
): Promise<void> {
  if (TagKeys.length === 0) checkKey("");
  for (const key of TagKeys) checkKey(key);
  await change(context, QueueUrl, (tags) =>
    Object.fromEntries(Object.entries(tags).filter(([key]) => !TagKeys.includes(key))),
  );
}

export async function listQueueTags(
  context: SqsContext,
  { QueueUrl }: SqsInput<"ListQueueTags">,
): Promise<SqsOutput<"ListQueueTags">> {
  const { record } = await queueOf(context, QueueUrl);
  return { Tags: sqsOf(record).tags };
}

async function change(
  context: SqsContext,
  url: string | undefined,
  alter: (tags: Readonly<Record<string, string>>, queue: string) => Record<string, string>,
): Promise<void> {
  await changeQueue(context, url, ({ record, address }) => {
    const sqs = sqsOf(record);
    const changed: SqsQueue = { ...sqs, tags: alter(sqs.tags, address.name) };
    return { dialects: { [DIALECT]: changed } };
  });
}

function checkKey(key: string): void {
  if (key.length >= 1 && key.length <= TAG_KEY_LENGTH_MAX) return;
  throw invalidParameter(`Tag keys must be between 1 and ${TAG_KEY_LENGTH_MAX} characters in length.`);
}
