import {
  type MessageCopy,
  PUBLISH_BYTES_MAX,
  type PublishedMessage,
  type PublishOutcome,
  QUEUE_ERROR_CODES,
  type TopicRecord,
  type TopicSnapshot,
  topicObjectName,
} from "@sluice/protocol";
import { type SnsContext, topicArnIn } from "../context.ts";
import { invalid, refuse, SNS_ERRORS, topicNotFound } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";
import { checkEntries } from "./batch.ts";
import { copiesOf } from "./copies.ts";
import { messageBytes, messageSizeMax, type OutgoingMessage, outgoingMessage } from "./outgoing.ts";

export async function publish(
  context: SnsContext,
  input: SnsInput<"Publish">,
): Promise<SnsOutput<"Publish">> {
  const { TopicArn, TargetArn, PhoneNumber, ...message } = input;
  if (PhoneNumber !== undefined) {
    throw invalid("PhoneNumber Reason: this broker delivers over http, https and sqs");
  }
  const arn = TopicArn ?? TargetArn;
  if (arn === undefined) throw invalid("TopicArn or TargetArn Reason: no value for required parameter");
  const snapshot = await publishedTo(context, arn);
  const outgoing = outgoingMessage(message, snapshot.topic, "messageAttributes");
  const [outcome] = await fanOut(context, snapshot, [outgoing]);
  return resultOf(outcome);
}

/** Publishes several messages, all or none: what is wrong with one of them is an error of the request. */
export async function publishBatch(
  context: SnsContext,
  { TopicArn, PublishBatchRequestEntries }: SnsInput<"PublishBatch">,
): Promise<SnsOutput<"PublishBatch">> {
  const entries = checkEntries(PublishBatchRequestEntries);
  const snapshot = await publishedTo(context, TopicArn);
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  if (bytes > messageSizeMax(snapshot.topic)) {
    throw refuse(
      SNS_ERRORS.batchRequestTooLong,
      "The length of all the messages put together is more than the limit.",
    );
  }
  const outgoing = entries.map((entry, i) => {
    const path = `publishBatchRequestEntries.${i + 1}.member.messageAttributes`;
    return outgoingMessage(entry, snapshot.topic, path);
  });
  const outcomes = await fanOut(context, snapshot, outgoing);
  const Successful = entries.map(({ Id }, i) => ({ Id, ...resultOf(outcomes[i]) }));
  return { Successful, Failed: [] };
}

/** The topic that a request publishes to. Throws `AwsError`. */
async function publishedTo(context: SnsContext, topicArn: string | undefined): Promise<TopicSnapshot> {
  const { text } = topicArnIn(context, topicArn);
  const found = await context.calls.find(text, context.keepAlive);
  if (found === null) throw topicNotFound();
  return found;
}

/** Has each message on its way to whoever gets it; answers when all of it is durable. */
async function fanOut(
  context: SnsContext,
  snapshot: TopicSnapshot,
  messages: readonly OutgoingMessage[],
): Promise<PublishOutcome[]> {
  const { ports, endpoint, signers } = context;
  const { topic } = snapshot;
  const nowMs = ports.now();
  const signer = topic.isFifo ? null : await signers.signer(ports.topics, nowMs);
  const published: PublishedMessage[] = [];
  for (const message of messages) {
    published.push({
      messageId: message.messageId.replaceAll("-", ""),
      deduplicationId: message.deduplicationId,
      groupId: message.groupId,
      copies: await copiesOf(message, snapshot, { nowMs, endpoint, signer }),
    });
  }
  return topic.isFifo ? inOneCall(context, topic, published) : inCalls(context, topic, published);
}

/** Order and numbers of a FIFO topic are given in one commit. */
async function inOneCall(
  context: SnsContext,
  topic: TopicRecord,
  messages: readonly PublishedMessage[],
): Promise<PublishOutcome[]> {
  if (bytesOf(messages.flatMap(({ copies }) => copies)) > PUBLISH_BYTES_MAX)
    throw invalid("Message too long");
  const isPerGroup = topic.attributes.FifoThroughputScope === "MessageGroup";
  return call(context, topic, messages, isPerGroup ? "messageGroup" : "topic");
}

/**
 * A standard topic with many subscribers takes a large message in several calls, so that each fits into one commit. One that
 * fails makes the whole request fail: who publishes again gives some subscribers a second copy.
 */
async function inCalls(
  context: SnsContext,
  topic: TopicRecord,
  messages: readonly PublishedMessage[],
): Promise<PublishOutcome[]> {
  let part: PublishedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    let copies: MessageCopy[] = [];
    for (const copy of message.copies) {
      if (bytes + copy.packed.byteLength > PUBLISH_BYTES_MAX) {
        await call(context, topic, [...part, { ...message, copies }], null);
        [part, copies, bytes] = [[], [], 0];
      }
      copies.push(copy);
      bytes += copy.packed.byteLength;
    }
    part.push({ ...message, copies });
  }
  // Nobody gets any of it: nothing has to be kept.
  if (bytes > 0) await call(context, topic, part, null);
  return messages.map(({ messageId }) => ({ messageId, sequenceNumber: null, duplicate: false }));
}

async function call(
  { calls, keepAlive }: SnsContext,
  { topicId }: TopicRecord,
  messages: readonly PublishedMessage[],
  deduplicationScope: "topic" | "messageGroup" | null,
): Promise<PublishOutcome[]> {
  const object = topicObjectName(topicId);
  const reply = await calls.publish(object, { messages, deduplicationScope }, keepAlive);
  if (reply.ok) return [...reply.messages];
  if (reply.code !== QUEUE_ERROR_CODES.queueOverloaded) throw new Error(`${reply.cause} (${reply.code})`);
  throw refuse(SNS_ERRORS.throttled, "Rate exceeded");
}

function bytesOf(copies: readonly MessageCopy[]): number {
  return copies.reduce((sum, { packed }) => sum + packed.byteLength, 0);
}

function resultOf(outcome: PublishOutcome | undefined): {
  readonly MessageId: string;
  readonly SequenceNumber?: string;
} {
  if (outcome === undefined) throw new Error("the topic answered with too few messages");
  const { messageId, sequenceNumber } = outcome;
  const MessageId = messageId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { MessageId, ...(sequenceNumber === null ? {} : { SequenceNumber: sequenceNumber }) };
}
