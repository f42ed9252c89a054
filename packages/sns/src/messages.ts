import { type AttributeValue, toBase64 } from "@sluice/aws";
import { type Envelope, type EnvelopeAttribute, envelopeText, type SignatureVersion } from "./envelope.ts";
import type { Signer } from "./signer.ts";

/** Signer of messages, and the address at which their receivers reach the broker. */
export interface Signing {
  readonly signer: Signer;
  readonly version: SignatureVersion;
  /** URL of the SNS endpoint, without a slash at its end: `http://localhost:8787/__sluice/aws`. */
  readonly endpoint: string;
}

/** A published message as one subscription gets it. */
export interface NotificationInput {
  /** A UUID. */
  readonly messageId: string;
  readonly topicArn: string;
  readonly subscriptionArn: string;
  /** When it was published, in ms since 1970. */
  readonly publishedMs: number;
  readonly message: string;
  readonly subject: string | null;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** FIFO topics only: digits. */
  readonly sequenceNumber: string | null;
}

/**
 * Makes the body of a notification without raw delivery (spec sns-delivery 8.2): once, when the message is published,
 * so that every attempt sends the same bytes.
 *
 * @param signing `null` on a FIFO topic, whose messages SNS does not sign; then `endpoint` has to be given.
 */
export async function buildNotification(
  input: NotificationInput,
  signing: Signing | { readonly signer: null; readonly endpoint: string },
): Promise<string> {
  const unsubscribe = { Action: "Unsubscribe", SubscriptionArn: input.subscriptionArn };
  const attributes = Object.entries(input.attributes).map(
    ([name, value]) => [name, shownAttribute(value)] as const,
  );
  const envelope: Envelope = {
    Type: "Notification",
    MessageId: input.messageId,
    ...(input.sequenceNumber === null ? {} : { SequenceNumber: input.sequenceNumber }),
    TopicArn: input.topicArn,
    ...(input.subject === null ? {} : { Subject: input.subject }),
    Message: input.message,
    Timestamp: new Date(input.publishedMs).toISOString(),
    UnsubscribeURL: actionUrl(signing.endpoint, unsubscribe),
    MessageAttributes: Object.fromEntries(attributes),
  };
  return envelopeText(signing.signer === null ? envelope : await signed(envelope, signing));
}

/** Data of a confirmation, which asks an endpoint whether it wants to be subscribed, or says that it no longer is. */
export interface ConfirmationInput {
  readonly type: "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  /** A UUID. */
  readonly messageId: string;
  readonly topicArn: string;
  /** Needed for `UnsubscribeConfirmation`, which names it. */
  readonly subscriptionArn: string;
  /** Token that subscribes the endpoint, or subscribes it again. */
  readonly token: string;
  /** When it is made, in ms since 1970. */
  readonly nowMs: number;
}

/** Makes the body of a confirmation: never raw, always signed (spec sns-delivery 8.2, 8.4). */
export async function buildConfirmation(input: ConfirmationInput, signing: Signing): Promise<string> {
  const { type, messageId, topicArn, subscriptionArn, token, nowMs } = input;
  const confirm = { Action: "ConfirmSubscription", TopicArn: topicArn, Token: token };
  const message =
    type === "SubscriptionConfirmation"
      ? `You have chosen to subscribe to the topic ${topicArn}.\nTo confirm the subscription, visit the ` +
        "SubscribeURL included in this message."
      : `You have chosen to deactivate subscription ${subscriptionArn}.\nTo cancel this operation and ` +
        "restore the subscription, visit the SubscribeURL included in this message.";
  const envelope: Envelope = {
    Type: type,
    MessageId: messageId,
    Token: token,
    TopicArn: topicArn,
    Message: message,
    SubscribeURL: actionUrl(signing.endpoint, confirm),
    Timestamp: new Date(nowMs).toISOString(),
  };
  return envelopeText(await signed(envelope, signing));
}

async function signed(envelope: Envelope, { signer, version, endpoint }: Signing): Promise<Envelope> {
  return {
    ...envelope,
    SignatureVersion: version,
    Signature: await signer.sign(envelope, version),
    SigningCertURL: certificateUrl(endpoint, signer.certificateFileName),
  };
}

/** Makes the URL of a certificate, below the endpoint. */
export function certificateUrl(endpoint: string, fileName: string): string {
  return `${endpoint}/${fileName}`;
}

/** Makes a URL of an action that needs no signature, for links. ARNs and tokens need no escapes. */
function actionUrl(endpoint: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return `${endpoint}/?${query.join("&")}`;
}

function shownAttribute({ DataType = "", StringValue, BinaryValue }: AttributeValue): EnvelopeAttribute {
  return { Type: DataType, Value: BinaryValue === undefined ? (StringValue ?? "") : toBase64(BinaryValue) };
}
