/** Type of a message of SNS, in its member `Type` and in the header `x-amz-sns-message-type`. */
export type MessageType = "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";

/** An attribute as SNS shows it. */
export interface EnvelopeAttribute {
  readonly Type: string;
  /** `Binary` in base64. */
  readonly Value: string;
}

/** The members of a message (spec sns-delivery 8.2). Those that are absent are left out. */
export interface Envelope {
  readonly Type: MessageType;
  /** A UUID. */
  readonly MessageId: string;
  readonly SequenceNumber?: string;
  readonly Token?: string;
  readonly TopicArn: string;
  readonly Subject?: string;
  readonly Message: string;
  readonly SubscribeURL?: string;
  /** ISO 8601 with milliseconds. */
  readonly Timestamp: string;
  readonly SignatureVersion?: SignatureVersion;
  readonly Signature?: string;
  readonly SigningCertURL?: string;
  readonly UnsubscribeURL?: string;
  readonly MessageAttributes?: Readonly<Record<string, EnvelopeAttribute>>;
}

export type SignatureVersion = "1" | "2";

/** The order in which SNS writes the members. */
const ORDER = [
  "Type",
  "MessageId",
  "SequenceNumber",
  "Token",
  "TopicArn",
  "Subject",
  "Message",
  "SubscribeURL",
  "Timestamp",
  "SignatureVersion",
  "Signature",
  "SigningCertURL",
  "UnsubscribeURL",
] as const satisfies readonly (keyof Envelope)[];

/** Writes a message as JSON in the layout of SNS. */
export function envelopeText(envelope: Envelope): string {
  const lines: string[] = [];
  for (const name of ORDER) {
    const value = envelope[name];
    if (value !== undefined) lines.push(`  "${name}" : ${JSON.stringify(value)}`);
  }
  const attributes = Object.entries(envelope.MessageAttributes ?? {});
  if (attributes.length > 0) {
    const shown = attributes.map(
      ([name, { Type, Value }]) => `    ${JSON.stringify(name)} : ${JSON.stringify({ Type, Value })}`,
    );
    lines.push(`  "MessageAttributes" : {\n${shown.join(",\n")}\n  }`);
  }
  return `{\n${lines.join(",\n")}\n}`;
}

/** Signed members of each type of message, in order (spec sns-delivery 8.3). */
const SIGNED_NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"] as const;
const SIGNED_CONFIRMATION = [
  "Message",
  "MessageId",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
] as const;

/** Writes the text that is signed: name and value of each member that is present, a line each. */
export function stringToSign(envelope: Envelope): string {
  const names = envelope.Type === "Notification" ? SIGNED_NOTIFICATION : SIGNED_CONFIRMATION;
  return names.map((name) => (envelope[name] === undefined ? "" : `${name}\n${envelope[name]}\n`)).join("");
}
