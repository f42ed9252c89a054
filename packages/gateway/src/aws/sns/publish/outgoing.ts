import { attributesBytes, isFifoId, sha256Hex, utf8Bytes } from "@sluice/aws";
import type { TopicProtocol, TopicRecord } from "@sluice/protocol";
import { parseJson } from "../../../http/bounded-json.ts";
import { invalid } from "../errors.ts";
import type { SnsInput } from "../model.ts";
import { MESSAGE_SIZE_DEFAULT } from "../topic/topic-attributes.ts";
import { checkMessageAttributes, type MessageAttributes } from "./message-attributes.ts";

/** Subjects are shorter than this, in characters of UTF-16 (spec sns-delivery 9.3). */
export const SUBJECT_LENGTH_LIMIT = 100;

/** A message in `Publish`, or in an entry of `PublishBatch`. */
export type MessageInput = Omit<SnsInput<"Publish">, "TopicArn" | "TargetArn" | "PhoneNumber">;

/** A message that was checked. */
export interface OutgoingMessage {
  /** A UUID. */
  readonly messageId: string;
  readonly subject: string | null;
  readonly attributes: MessageAttributes;
  readonly groupId: string | null;
  readonly deduplicationId: string | null;
  /** The text for a protocol: each can have its own. */
  textFor(protocol: TopicProtocol): string;
}

/** Returns the largest message of a topic, in bytes. */
export function messageSizeMax({ attributes }: TopicRecord): number {
  return Number(attributes.MaximumMessageSize ?? MESSAGE_SIZE_DEFAULT);
}

/** Counts the bytes of a message's size: body and attributes. */
export function messageBytes({ Message = "", MessageAttributes: attributes = {} }: MessageInput): number {
  return utf8Bytes(Message) + attributesBytes(attributes);
}

/**
 * Checks one message (spec sns-delivery 9.3, 9.4). Throws `AwsError` in SNS's words.
 *
 * @param attributesPath of its attributes in the request.
 */
export function outgoingMessage(
  input: MessageInput,
  topic: TopicRecord,
  attributesPath: string,
): OutgoingMessage {
  const { Message: text = "", Subject: subject, MessageAttributes: attributes = {} } = input;
  if (subject !== undefined && !isSubject(subject)) throw invalid("Subject");
  if (text === "") throw invalid("Empty message");
  checkMessageAttributes(attributes, attributesPath);
  if (messageBytes(input) > messageSizeMax(topic)) throw invalid("Message too long");
  checkFifo(input, topic);
  for (const name of ["MessageGroupId", "MessageDeduplicationId"] as const) {
    const value = input[name];
    if (value === undefined || isFifoId(value)) continue;
    throw invalid(
      `${name} Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length`,
    );
  }
  const texts = textsIn(input, text);
  return {
    messageId: crypto.randomUUID(),
    subject: subject ?? null,
    attributes,
    groupId: input.MessageGroupId ?? null,
    deduplicationId: input.MessageDeduplicationId ?? (topic.isFifo ? sha256Hex(text) : null),
    textFor: (protocol) => texts[protocol] ?? texts.default,
  };
}

/** Control characters of C0 and C1, and the line and paragraph separators of Unicode. */
const NOT_IN_SUBJECTS = /[\p{Cc}\p{Zl}\p{Zp}]/u;

function isSubject(subject: string): boolean {
  return subject.length >= 1 && subject.length < SUBJECT_LENGTH_LIMIT && !NOT_IN_SUBJECTS.test(subject);
}

function checkFifo(input: MessageInput, { isFifo, attributes }: TopicRecord): void {
  const { MessageGroupId: group, MessageDeduplicationId: deduplication } = input;
  if (!isFifo && deduplication !== undefined) {
    throw invalid(
      "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not " +
        "valid for this topic type",
    );
  }
  if (!isFifo) return;
  if (!group) throw invalid("The MessageGroupId parameter is required for FIFO topics");
  if (deduplication === undefined && attributes.ContentBasedDeduplication !== "true") {
    throw invalid(
      "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
    );
  }
}

/** Throws `AwsError` for a message that is not of its `MessageStructure`. */
export function checkStructure(input: MessageInput): void {
  if (input.Message) textsIn(input, input.Message);
}

type Texts = { readonly default: string } & { readonly [protocol in TopicProtocol]?: string };

/**
 * Reads the texts of a message. With `MessageStructure` it is JSON with a text for each protocol; other values are
 * ignored.
 */
function textsIn({ MessageStructure: structure }: MessageInput, text: string): Texts {
  if (structure === undefined || structure === "") return { default: text };
  if (structure !== "json") throw invalid("MessageStructure");
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw invalid("Message Structure - JSON message body failed to parse");
  }
  const entries = typeof parsed === "object" && parsed !== null ? Object.entries(parsed) : [];
  const texts = Object.fromEntries(entries.filter(([, value]) => typeof value === "string"));
  if (typeof texts.default !== "string") {
    throw invalid("Message Structure - No default entry in JSON message body");
  }
  return texts as Texts;
}
