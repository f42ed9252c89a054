import { AwsError } from "@sluice/aws";
import {
  type MessageCopy,
  PUBLISH_BYTES_MAX,
  type PublishedMessage,
  type PublishOutcome,
  type PublishRequest,
  QUEUE_ERROR_CODES,
  type TopicRecord,
  type TopicSnapshot,
  topicObjectName,
} from "@sluice/protocol";
import { CHANGE_ATTEMPTS_MAX, type SnsContext, tooManyChanges, topicArnIn } from "../context.ts";
import { invalid, refuse, SNS_ERRORS, topicNotFound } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";
import { checkEntries } from "./batch.ts";
import { copiesOf } from "./copies.ts";
import {
  checkStructure,
  messageBytes,
  messageSizeMax,
  type OutgoingMessage,
  outgoingMessage,
} from "./outgoing.ts";

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
  const [outcome] = await publishTo(context, arn, (topic) => [
    outgoingMessage(message, topic, "messageAttributes"),
  ]);
  return resultOf(outcome);
}

/** Publishes several messages, all or none: a fault of one of them is an error of the request. */
export async function publishBatch(
  context: SnsContext,
  { TopicArn, PublishBatchRequestEntries }: SnsInput<"PublishBatch">,
): Promise<SnsOutput<"PublishBatch">> {
  const entries = checkEntries(PublishBatchRequestEntries);
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  const outcomes = await publishTo(context, TopicArn, (topic) => {
    if (bytes > messageSizeMax(topic)) {
      throw refuse(
        SNS_ERRORS.batchRequestTooLong,
        "The length of all the messages put together is more than the limit.",
      );
    }
    return entries.map((entry, i) => {
      const path = `publishBatchRequestEntries.${i + 1}.member.messageAttributes`;
      // An entry has this checked first, a single message last.
      checkStructure(entry);
      return outgoingMessage(entry, topic, path);
    });
  });
  const Successful = entries.map(({ Id }, i) => ({ Id, ...resultOf(outcomes[i]) }));
  return { Successful, Failed: [] };
}

/**
 * Sends each message to its subscribers, and returns when all copies are durable. Uses the cached topic if there is
 * one. If that turns out to be out of date, it begins anew: only the present topic can refuse a request.
 *
 * @param outgoing checks the messages by the topic. Throws `AwsError`.
 */
async function publishTo(
  context: SnsContext,
  topicArn: string | undefined,
  outgoing: (topic: TopicRecord) => readonly OutgoingMessage[],
): Promise<PublishOutcome[]> {
  const { text } = topicArnIn(context, topicArn);
  const { calls, keepAlive } = context;
  const cached = calls.known.find(text);
  if (cached !== undefined) {
    const outcomes = await publishByCached(context, cached, outgoing);
    if (outcomes !== "outdated") return outcomes;
    calls.known.forget(text);
  }
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
    const snapshot = await calls.find(text, keepAlive);
    if (snapshot === null) throw topicNotFound();
    const copies = await withCopies(context, snapshot, outgoing(snapshot.topic));
    const outcomes = await send(context, snapshot, copies);
    if (outcomes !== "outdated") return outcomes;
  }
  throw tooManyChanges();
}

/** Publishes by a topic that may be out of date. `outdated`: nothing was published. */
async function publishByCached(
  context: SnsContext,
  snapshot: TopicSnapshot,
  outgoing: (topic: TopicRecord) => readonly OutgoingMessage[],
): Promise<PublishOutcome[] | "outdated"> {
  let messages: PublishedMessage[];
  try {
    messages = await withCopies(context, snapshot, outgoing(snapshot.topic));
  } catch (error) {
    if (error instanceof AwsError) return "outdated";
    throw error;
  }
  // Without copies there would be no call to the topic's object, which alone can say that the topic is out of date.
  const hasCopies = messages.some(({ copies }) => copies.length > 0);
  return hasCopies || snapshot.topic.isFifo ? send(context, snapshot, messages) : "outdated";
}

/** Makes the copies of the messages for each subscriber. */
async function withCopies(
  { ports, endpoint, signers, traceHeader, trace }: SnsContext,
  snapshot: TopicSnapshot,
  messages: readonly OutgoingMessage[],
): Promise<PublishedMessage[]> {
  const { topic } = snapshot;
  const nowMs = ports.now();
  const signer = topic.isFifo ? null : await signers.signer(ports.topics, nowMs);
  const published: PublishedMessage[] = [];
  for (const message of messages) {
    published.push({
      messageId: message.messageId.replaceAll("-", ""),
      deduplicationId: message.deduplicationId,
      groupId: message.groupId,
      copies: await copiesOf(message, snapshot, { nowMs, endpoint, signer, traceHeader, trace }),
    });
  }
  return published;
}

/** Sends the copies to the topic's object. `outdated`: the topic has changed since they were made. */
function send(
  context: SnsContext,
  snapshot: TopicSnapshot,
  messages: readonly PublishedMessage[],
): Promise<PublishOutcome[] | "outdated"> {
  return snapshot.topic.isFifo
    ? inOneCall(context, snapshot, messages)
    : inCalls(context, snapshot, messages);
}

/** Publishes in one call: a FIFO topic gives order and numbers in one commit. */
async function inOneCall(
  context: SnsContext,
  { topic, version }: TopicSnapshot,
  messages: readonly PublishedMessage[],
): Promise<PublishOutcome[] | "outdated"> {
  if (bytesOf(messages.flatMap(({ copies }) => copies)) > PUBLISH_BYTES_MAX)
    throw invalid("Message too long");
  const isPerGroup = topic.attributes.FifoThroughputScope === "MessageGroup";
  return call(context, topic, {
    messages,
    version,
    deduplicationScope: isPerGroup ? "messageGroup" : "topic",
  });
}

/**
 * Publishes to a standard topic. With many subscribers a large message takes several calls, so that each fits into one
 * commit. If one fails the whole request fails, and publishing again gives some subscribers a second copy. Only the
 * first call names the version of the topic; the others follow it.
 */
async function inCalls(
  context: SnsContext,
  { topic, version }: TopicSnapshot,
  messages: readonly PublishedMessage[],
): Promise<PublishOutcome[] | "outdated"> {
  let asOf: { readonly version?: number } = { version };
  const send = async (messages: readonly PublishedMessage[]) => {
    const outcomes = await call(context, topic, { messages, ...asOf, deduplicationScope: null });
    asOf = {};
    return outcomes;
  };
  let part: PublishedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    let copies: MessageCopy[] = [];
    for (const copy of message.copies) {
      if (bytes + copy.packed.byteLength > PUBLISH_BYTES_MAX) {
        if ((await send([...part, { ...message, copies }])) === "outdated") return "outdated";
        [part, copies, bytes] = [[], [], 0];
      }
      copies.push(copy);
      bytes += copy.packed.byteLength;
    }
    part.push({ ...message, copies });
  }
  // Without copies there is nothing to store.
  if (bytes > 0 && (await send(part)) === "outdated") return "outdated";
  return messages.map(({ messageId }) => ({ messageId, sequenceNumber: null, duplicate: false }));
}

async function call(
  { calls, keepAlive }: SnsContext,
  { topicId }: TopicRecord,
  request: PublishRequest,
): Promise<PublishOutcome[] | "outdated"> {
  const reply = await calls.publish(topicObjectName(topicId), request, keepAlive);
  if (reply.ok === "outdated") return "outdated";
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
