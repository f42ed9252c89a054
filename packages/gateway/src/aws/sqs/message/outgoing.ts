import { attributesBytes, encodeAttributes, isFifoId, sha256Hex, utf8Bytes } from "@sluice/aws";
import { encodeExtension, type MessageExtension, type RecordToWrite } from "@sluice/protocol";
import { traceOfMessage } from "../../trace-context.ts";
import type { SqsContext } from "../context.ts";
import { invalidParameter, invalidValue, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput } from "../model.ts";
import { checkMessageAttributes, checkSystemAttributes, TRACE_HEADER } from "./message-attributes.ts";
import { isValidText, utf8BytesAtMost } from "./text.ts";

/** Longest that one message can be delayed, in seconds (spec sqs 2.3). */
export const DELAY_SECONDS_MAX = 900;

/** A message in `SendMessage`, or in an entry of `SendMessageBatch`. */
export type MessageInput = Omit<SqsInput<"SendMessage">, "QueueUrl">;

/** Rules for the messages that a request sends to a queue. */
export interface SendRules {
  readonly isFifo: boolean;
  readonly hasContentBasedDeduplication: boolean;
  readonly messageBytesMax: number;
  readonly isBatch: boolean;
  /** Whether the texts of the request are known to be valid. */
  readonly hasValidTexts: boolean;
}

/** Returns an upper bound of a message's bytes, faster than counting them. */
export function messageBytesAtMost({
  MessageBody: body = "",
  MessageAttributes: attributes,
}: MessageInput): number {
  const bytes = utf8BytesAtMost(body);
  return attributes === undefined ? bytes : bytes + attributesBytes(attributes, utf8BytesAtMost);
}

/** Counts the bytes of a message's size: body and attributes. */
export function messageBytes({
  MessageBody: body = "",
  MessageAttributes: attributes = {},
}: MessageInput): number {
  return utf8Bytes(body) + attributesBytes(attributes);
}

/**
 * Checks that a message names the group and the deduplication id as its kind of queue requires; a failure fails a batch
 * as a whole (spec sqs 4.1).
 */
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
  checkGroupId("MessageGroupId", input.MessageGroupId);
  checkGroupId("MessageDeduplicationId", input.MessageDeduplicationId);
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
  if (!rules.hasValidTexts && !isValidText(body)) {
    throw refuse(
      SQS_ERRORS.invalidMessageContents,
      "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | " +
        "#x10000 to #x10FFFF",
    );
  }
  const { MessageAttributes: attributes, MessageSystemAttributes: system } = input;
  if (attributes !== undefined) checkMessageAttributes(attributes);
  if (system !== undefined) checkSystemAttributes(system);
  if (messageBytesAtMost(input) > rules.messageBytesMax && messageBytes(input) > rules.messageBytesMax) {
    const problem = rules.isBatch ? "cannot be validated" : "are invalid";
    throw invalidParameter(
      `One or more parameters ${problem}. Reason: Message must be shorter than ${rules.messageBytesMax} bytes.`,
    );
  }
}

function checkGroupId(name: string, value: string | undefined): void {
  if (value === undefined || isFifoId(value)) return;
  throw invalidValue(
    value,
    name,
    `${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
}

/** Traces that a request names for all of its messages. */
type RequestTrace = Pick<SqsContext, "traceHeader" | "trace">;

export type RecordOfMessage = RecordToWrite & { readonly messageId: string };

/** Makes the record of a message that was checked. */
export function recordOf(input: MessageInput, rules: SendRules, ofRequest: RequestTrace): RecordOfMessage {
  const { MessageBody: body = "", DelaySeconds } = input;
  // On a FIFO queue a delay of 0 means that of the queue (spec sqs 4.1).
  const delaySeconds = rules.isFifo ? undefined : DelaySeconds;
  const extension = extensionOf(input, rules, ofRequest);
  const messageId = crypto.randomUUID();
  const record = { messageId, id: messageId, contentType: "text", body, delaySeconds } as const;
  return extension === null ? record : { ...record, extension: encodeExtension(extension) };
}

/** Builds the data that SQS keeps of a message besides its body; `null` for none, as most messages have. */
function extensionOf(
  input: MessageInput,
  { isFifo, hasContentBasedDeduplication }: SendRules,
  { traceHeader: headerOfRequest, trace: ofRequest }: RequestTrace,
): MessageExtension | null {
  const {
    MessageBody: body = "",
    MessageGroupId: groupId,
    MessageAttributes = {},
    MessageSystemAttributes,
  } = input;
  const ownHeader = MessageSystemAttributes?.[TRACE_HEADER]?.StringValue;
  const attributes = encodeAttributes({
    attributes: MessageAttributes,
    traceHeader: ownHeader ?? headerOfRequest,
  });
  const named = { attributes: input.MessageAttributes, traceHeader: ownHeader, ofRequest, headerOfRequest };
  const trace = traceOfMessage(named);
  const deduplicationId =
    input.MessageDeduplicationId ?? (isFifo && hasContentBasedDeduplication ? sha256Hex(body) : undefined);
  if (groupId === undefined && deduplicationId === undefined && attributes === undefined && trace === null)
    return null;
  return {
    ...(groupId === undefined ? {} : { groupId }),
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(trace === null ? {} : { trace }),
  };
}
