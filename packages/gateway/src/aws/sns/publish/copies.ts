import { encodeAttributes } from "@sluice/aws";
import {
  encodeExtension,
  isEndpointQueue,
  isFifoName,
  type MessageCopy,
  type MessageExtension,
  PackedWriter,
  RECORD_HEADER_BYTES,
  SEQUENCE_NUMBER_DIGITS,
  type TopicRecord,
  type TopicSnapshot,
  type TopicSubscription,
} from "@sluice/protocol";
import {
  buildNotification,
  filterScopeOf,
  matchesFilterPolicy,
  parseFilterPolicy,
  type Signer,
} from "@sluice/sns";
import { traceOfMessage } from "../../trace-context.ts";
import { invalid } from "../errors.ts";
import { signatureVersionOf } from "../signers.ts";
import type { OutgoingMessage } from "./outgoing.ts";

/** Attributes that SQS takes with a message: more make its delivery fail (spec sns-delivery 8.4). */
export const SQS_ATTRIBUTES_MAX = 10;
/** Largest record of a copy: a stored value has 2 MB. Escapes can make an envelope much larger than its message. */
export const COPY_BYTES_MAX = 1_900_000;

/** Placeholder in an envelope, which the topic's object replaces by the sequence number. */
const NUMBER_PLACEHOLDER = "0".repeat(SEQUENCE_NUMBER_DIGITS);

/** Parameters that all copies of a publish share. */
export interface CopyOptions {
  readonly nowMs: number;
  readonly endpoint: string;
  /** `null` on a FIFO topic, whose messages are not signed. */
  readonly signer: Signer | null;
  /** AWS X-Ray's trace header of the request. Queues get it beside the message. */
  readonly traceHeader: string | null;
  /** Trace context of the request, by its `traceparent`. */
  readonly trace: Uint8Array | null;
}

/**
 * Makes the copies of a message for the subscriptions of a topic that are confirmed and whose filter policy lets it
 * through (spec sns-delivery 8, 9.5). Bodies are made here, once: every retry sends the same bytes.
 *
 * @throws AwsError (`InvalidParameter`) for a message that would be too large for a queue.
 */
export async function copiesOf(
  message: OutgoingMessage,
  { topic, subscriptions }: TopicSnapshot,
  options: CopyOptions,
): Promise<MessageCopy[]> {
  const copies = await Promise.all(subscriptions.map((one) => copyOf(message, topic, one, options)));
  return copies.filter((copy) => copy !== null);
}

/**
 * Whether a message fits a subscription's filter policy. A policy that cannot be evaluated keeps the message from no
 * other subscription.
 */
type Filtered =
  | { readonly kind: "match" | "noMatch" }
  | { readonly kind: "unknown"; readonly reason: string };

function applyFilter({ protocol, attributes }: TopicSubscription, message: OutgoingMessage): Filtered {
  const { FilterPolicy: text, FilterPolicyScope } = attributes;
  if (text === undefined) return { kind: "match" };
  const scope = filterScopeOf(FilterPolicyScope);
  const looked = { attributes: message.attributes, body: message.textFor(protocol) };
  try {
    const isMatch = matchesFilterPolicy(parseFilterPolicy(text, scope), scope, looked);
    return { kind: isMatch ? "match" : "noMatch" };
  } catch (error) {
    return { kind: "unknown", reason: `its filter policy cannot be evaluated (${messageOf(error)})` };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function copyOf(
  message: OutgoingMessage,
  topic: TopicRecord,
  subscription: TopicSubscription,
  options: CopyOptions,
): Promise<MessageCopy | null> {
  if (subscription.status.kind !== "confirmed") return null;
  const isRaw = subscription.attributes.RawMessageDelivery === "true";
  const target = targetOf(message, subscription, isRaw);
  if (target === null) return null;
  const body = isRaw
    ? message.textFor(subscription.protocol)
    : await envelopeOf(message, topic, subscription, options);
  const extension = encodeExtension(extensionOf(message, topic, subscription, isRaw, options));
  const writer = new PackedWriter();
  writer.append({
    // A message in a queue gets an id of its own; an HTTP endpoint gets the id of the published message.
    id: bytesOfUuid(isEndpointQueue(target) ? message.messageId : crypto.randomUUID()),
    contentType: "text",
    body,
    ...(extension.byteLength === 0 ? {} : { extension }),
  });
  const packed = writer.slice(0, writer.byteLength);
  if (packed.byteLength > COPY_BYTES_MAX) throw invalid("Message too long");
  const hasNumber = topic.isFifo && !isRaw;
  // The first members of an envelope are not the publisher's, so the first such text is the right one.
  const numberAt = hasNumber ? body.indexOf(NUMBER_PLACEHOLDER, body.indexOf('"SequenceNumber"')) : -1;
  return {
    target,
    packed,
    sequenceNumberAt: numberAt < 0 ? null : RECORD_HEADER_BYTES + extension.byteLength + numberAt,
  };
}

/**
 * Chooses the queue of a copy; `null` for a message that does not fit the filter policy. A message that a queue cannot
 * take, or whose policy cannot be evaluated, goes to the dead-letter queue, or is logged and dropped.
 */
function targetOf(message: OutgoingMessage, subscription: TopicSubscription, isRaw: boolean): string | null {
  const { protocol, target, deadLetterQueue, arn } = subscription;
  const filtered = applyFilter(subscription, message);
  if (filtered.kind === "noMatch") return null;
  const count = Object.keys(message.attributes).length;
  const hasTooMany = protocol === "sqs" && isRaw && count > SQS_ATTRIBUTES_MAX;
  const tooMany = hasTooMany ? `it has ${count} attributes, and SQS takes ${SQS_ATTRIBUTES_MAX}` : null;
  const reason = filtered.kind === "unknown" ? filtered.reason : tooMany;
  if (reason === null) return target;
  const destination =
    deadLetterQueue === null ? "is dropped" : `goes to the dead-letter queue "${deadLetterQueue}"`;
  console.warn(`SNS: message "${message.messageId}" for "${arn}" ${destination}: ${reason}`);
  return deadLetterQueue;
}

function envelopeOf(
  { messageId, subject, attributes, textFor }: OutgoingMessage,
  topic: TopicRecord,
  { arn, protocol }: TopicSubscription,
  { nowMs, endpoint, signer }: CopyOptions,
): Promise<string> {
  const notification = {
    messageId,
    topicArn: topic.arn,
    subscriptionArn: arn,
    publishedMs: nowMs,
    message: textFor(protocol),
    subject,
    attributes,
    sequenceNumber: topic.isFifo ? NUMBER_PLACEHOLDER : null,
  };
  const signing =
    signer === null ? { signer, endpoint } : { signer, endpoint, version: signatureVersionOf(topic) };
  return buildNotification(notification, signing);
}

/**
 * Builds the data that travels beside the body: group and deduplication id, raw attributes, the trace, and the values
 * that become headers (spec sns-delivery 8.4, 8.6).
 */
function extensionOf(
  { groupId, deduplicationId, attributes }: OutgoingMessage,
  topic: TopicRecord,
  { arn, protocol, endpoint }: TopicSubscription,
  isRaw: boolean,
  { traceHeader, trace: ofRequest }: CopyOptions,
): MessageExtension {
  const isFifoQueue = isFifoName(endpoint);
  const hasGroup = groupId !== null && protocol === "sqs" && (isFifoQueue || !topic.isFifo);
  const notification = { type: "Notification", topicArn: topic.arn, subscriptionArn: arn, isRaw } as const;
  const trace = traceOfMessage({ attributes, ofRequest, headerOfRequest: traceHeader });
  const stored = encodeAttributes({
    attributes: isRaw ? attributes : {},
    ...(protocol === "sqs" ? { traceHeader } : { traceHeader: null, notification }),
  });
  return {
    ...(hasGroup ? { groupId } : {}),
    ...(isFifoQueue && deduplicationId !== null ? { deduplicationId } : {}),
    ...(stored === undefined ? {} : { attributes: stored }),
    ...(trace === null ? {} : { trace }),
  };
}

function bytesOfUuid(uuid: string): Uint8Array {
  return Uint8Array.from(uuid.replaceAll("-", "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
