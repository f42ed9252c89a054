import { encodeAttributes, sha256Hex } from "@sluice/aws";
import { encodeExtension, type RecordToWrite } from "@sluice/protocol";
import { invalidParameter, invalidValue, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput } from "../model.ts";
import {
  attributesBytes,
  checkMessageAttributes,
  checkSystemAttributes,
  TRACE_HEADER,
} from "./message-attributes.ts";
import { isValidText, utf8Bytes } from "./text.ts";

/** Longest that one message can be delayed, in seconds (spec sqs 2.3). */
export const DELAY_SECONDS_MAX = 900;
/** Letters, digits and punctuation, 1 to 128 of them (spec sqs 4.1). */
const GROUP_ID = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

/** A message as `SendMessage` and the entries of `SendMessageBatch` have it. */
export type MessageInput = Omit<SqsInput<"SendMessage">, "QueueUrl">;

/** What a queue says about the messages that are sent to it. */
export interface SendRules {
  readonly isFifo: boolean;
  readonly hasContentBasedDeduplication: boolean;
  readonly messageBytesMax: number;
  readonly isBatch: boolean;
}

/** What a message has in bytes at most, for less than counting them: three for each unit of UTF-16. */
export function messageBytesAtMost({ MessageBody: body = "", MessageAttributes }: MessageInput): number {
  return MessageAttributes === undefined ? 3 * body.length : Infinity;
}

/** Bytes of a message that count for its size: body and attributes. */
export function messageBytes({
  MessageBody: body = "",
  MessageAttributes: attributes = {},
}: MessageInput): number {
  return utf8Bytes(body) + attributesBytes(attributes);
}

/** What a FIFO queue requires of every message; in a batch it fails as a whole (spec sqs 4.1). */
export function checkFifo(
  input: MessageInput,
  { isFifo, hasContentBasedDeduplication, isBatch }: SendRules,
): void {
  const { MessageGroupId: group, MessageDeduplicationId: deduplication } = input;
  if (isFifo && group === undefined) {
    const missing = missingParameter("MessageGroupId");
    throw isBatch ? invalidParameter(missing.message) : missing;
  }
  if (isFifo && deduplication === undefined && !hasContentBasedDeduplication) {
    throw invalidParameter(
      "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
    );
  }
  if (!isFifo && deduplication !== undefined) {
    throw invalidValue(
      deduplication,
      "MessageDeduplicationId",
      "The request includes a parameter that is not valid for this queue type.",
    );
  }
}

/** Checks one message (spec sqs 2.3, 4.1, 5.3, 5.6). Throws `AwsError`. */
export function checkMessage(input: MessageInput, rules: SendRules): void {
  const { MessageBody: body = "", DelaySeconds: delay } = input;
  if (body === "") throw missingParameter("MessageBody");
  for (const name of ["MessageGroupId", "MessageDeduplicationId"] as const) {
    const value = input[name];
    if (value === undefined || GROUP_ID.test(value)) continue;
    throw invalidValue(
      value,
      name,
      `${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
    );
  }
  if (delay !== undefined && !(delay >= 0 && delay <= DELAY_SECONDS_MAX)) {
    throw invalidValue(delay, "DelaySeconds", `DelaySeconds must be >= 0 and <= ${DELAY_SECONDS_MAX}.`);
  }
  if (rules.isFifo && delay !== undefined && delay > 0) {
    throw invalidValue(
      delay,
      "DelaySeconds",
      "The request include parameter that is not valid for this queue type.",
    );
  }
  if (!isValidText(body)) {
    throw refuse(
      SQS_ERRORS.invalidMessageContents,
      "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | " +
        "#x10000 to #x10FFFF",
    );
  }
  checkMessageAttributes(input.MessageAttributes ?? {});
  checkSystemAttributes(input.MessageSystemAttributes ?? {});
  if (messageBytesAtMost(input) > rules.messageBytesMax && messageBytes(input) > rules.messageBytesMax) {
    const problem = rules.isBatch ? "cannot be validated" : "are invalid";
    throw invalidParameter(
      `One or more parameters ${problem}. Reason: Message must be shorter than ${rules.messageBytesMax} bytes.`,
    );
  }
}

/** The record of a message that was checked. */
export function recordOf(
  input: MessageInput,
  { isFifo, hasContentBasedDeduplication }: SendRules,
  id: Uint8Array,
  traceHeader: string | null,
): RecordToWrite {
  const { MessageBody: body = "", MessageGroupId: groupId, DelaySeconds: delaySeconds } = input;
  const attributes = encodeAttributes({
    attributes: input.MessageAttributes ?? {},
    traceHeader: input.MessageSystemAttributes?.[TRACE_HEADER]?.StringValue ?? traceHeader,
  });
  const deduplicationId =
    input.MessageDeduplicationId ?? (isFifo && hasContentBasedDeduplication ? sha256Hex(body) : undefined);
  const extension = encodeExtension({
    ...(groupId === undefined ? {} : { groupId }),
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...(attributes === undefined ? {} : { attributes }),
  });
  return {
    id,
    contentType: "text",
    body,
    // On a FIFO queue a delay of 0 means that of the queue (spec sqs 4.1).
    delaySeconds: isFifo ? undefined : delaySeconds,
    ...(extension.byteLength === 0 ? {} : { extension }),
  };
}
