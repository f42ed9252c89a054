import type { BackupQueue } from "@sluice/gateway/views";
import { isFifoName, RETENTION_SECONDS_DEFAULT, SQS_MESSAGE_BYTES_MAX } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import type { Line } from "../message.ts";
import { secondsText } from "../words.ts";

/** Attributes of a queue, as `GetQueueAttributes` answers. */
export type SqsAttributes = Readonly<Record<string, string>>;

/** Attributes that Sluice has no setting for, and that are copied as they are. */
const COPIED = ["MaximumMessageSize", "DeduplicationScope", "FifoThroughputLimit"];

/** Attributes that are not copied, with the reason. */
const NOT_COPIED: Readonly<Record<string, string>> = {
  Policy: "it names users of AWS. Tokens and access keys say who may use a queue of Sluice.",
  KmsMasterKeyId: "it is a key of AWS.",
  KmsDataKeyReusePeriodSeconds: "it belongs to a key of AWS.",
  RedriveAllowPolicy: "it names queues by their ARNs in AWS.",
};

/** Reads the name of the dead-letter queue in a redrive policy, and the receives before a message goes there. */
export function deadLetterNameIn({ RedrivePolicy = "" }: SqsAttributes) {
  if (RedrivePolicy === "") return null;
  const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(RedrivePolicy) as Record<string, unknown>;
  const name = String(deadLetterTargetArn).split(":").at(-1) ?? "";
  return { name, maxReceiveCount: Number(maxReceiveCount) };
}

/** Returns the name of the dead-letter queue in the redrive policy of a queue of Sluice; `null` for none. */
export function deadLetterNameOf({ settings }: BackupQueue): string | null {
  return settings.receive?.redrive?.deadLetterQueue ?? null;
}

/** Makes the settings of a queue of Sluice from the attributes and tags of a queue of SQS. */
export function queueOf(name: string, attributes: SqsAttributes, tags: SqsAttributes): BackupQueue {
  const dead = deadLetterNameIn(attributes);
  const scope = attributes.DeduplicationScope === "messageGroup" ? "messageGroup" : "queue";
  return {
    name,
    settings: {
      deliveryDelaySeconds: secondsIn(attributes, "DelaySeconds", 0),
      messageRetentionSeconds: secondsIn(attributes, "MessageRetentionPeriod", RETENTION_SECONDS_DEFAULT),
      receive: {
        visibilityTimeoutMs: 1_000 * secondsIn(attributes, "VisibilityTimeout", 30),
        waitMs: 1_000 * secondsIn(attributes, "ReceiveMessageWaitTimeSeconds", 0),
        ...(dead === null
          ? {}
          : { redrive: { deadLetterQueue: dead.name, maxReceiveCount: dead.maxReceiveCount } }),
      },
      ...(isFifoName(name)
        ? {
            fifo: {
              deduplicationScope: scope,
              contentBasedDeduplication: attributes.ContentBasedDeduplication === "true",
            },
          }
        : {}),
    },
    consumer: null,
    jurisdiction: null,
    dialects: { sqs: { attributes: copiedOf(attributes), tags } },
  };
}

/** Formats the settings of a queue of SQS. */
export function linesOf(attributes: SqsAttributes, tags: SqsAttributes): Line[] {
  const dead = deadLetterNameIn(attributes);
  const lines: Line[] = [
    ["delivery delay", secondsText(secondsIn(attributes, "DelaySeconds", 0))],
    ["retention", secondsText(secondsIn(attributes, "MessageRetentionPeriod", RETENTION_SECONDS_DEFAULT))],
    ["visibility", secondsText(secondsIn(attributes, "VisibilityTimeout", 30))],
    ["receive wait", secondsText(secondsIn(attributes, "ReceiveMessageWaitTimeSeconds", 0))],
    [
      "dead letters",
      dead === null ? "none" : `${dead.name}, after ${plural(dead.maxReceiveCount, "receive")}`,
    ],
  ];
  const { MaximumMessageSize: largest = SQS_MESSAGE_BYTES_MAX, FifoQueue } = attributes;
  lines.push(["largest message", `${Number(largest).toLocaleString("en")} bytes`]);
  if (FifoQueue === "true") {
    const { ContentBasedDeduplication, DeduplicationScope, FifoThroughputLimit } = attributes;
    lines.push(
      ["deduplication", ContentBasedDeduplication === "true" ? "by body or id" : "by id"],
      ["its scope", DeduplicationScope === "messageGroup" ? "each group" : "the queue"],
      ["throughput limit", FifoThroughputLimit === "perMessageGroupId" ? "of each group" : "of the queue"],
    );
  }
  const { RedriveAllowPolicy: policy } = copiedOf(attributes);
  if (policy !== undefined)
    lines.push(["redrive from", String(Object(JSON.parse(policy)).redrivePermission)]);
  for (const [key, value] of Object.entries(tags)) lines.push([`tag ${key}`, value]);
  return lines;
}

/** Picks the attributes that are copied as they are. */
function copiedOf(attributes: SqsAttributes): Record<string, string> {
  const { RedriveAllowPolicy: policy = "" } = attributes;
  const keys = policy.includes("sourceQueueArns") ? COPIED : [...COPIED, "RedriveAllowPolicy"];
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => keys.includes(key)));
}

/** Makes the sentences about settings that are not copied. */
export function notCopiedOf(attributes: SqsAttributes): string[] {
  const copied = copiedOf(attributes);
  const found = Object.entries(NOT_COPIED).filter(([key]) => attributes[key] && copied[key] === undefined);
  return [
    "Receive counts: each message begins anew.",
    "Delays: a delayed message comes when it is due in SQS.",
    ...found.map(([key, why]) => `${key}: ${why}`),
  ];
}

function secondsIn(attributes: SqsAttributes, key: string, standard: number): number {
  return Number(attributes[key] ?? standard);
}

/** Longest delay of a queue of SQS, in seconds. */
const DELAY_SECONDS_MAX = 900;

/**
 * Makes the attributes with which a queue of SQS is created.
 *
 * @param deadLetterArn ARN of the dead-letter queue, or its name; `null` where there is none.
 */
export function sqsAttributesOf(
  { name, settings, dialects }: BackupQueue,
  deadLetterArn: string | null,
): Record<string, string> {
  const {
    deliveryDelaySeconds = 0,
    messageRetentionSeconds = RETENTION_SECONDS_DEFAULT,
    receive,
    fifo,
  } = settings;
  const { attributes = {} } = Object(dialects.sqs) as { attributes?: SqsAttributes };
  const count = receive?.redrive?.maxReceiveCount;
  return {
    DelaySeconds: `${Math.min(DELAY_SECONDS_MAX, deliveryDelaySeconds)}`,
    MessageRetentionPeriod: `${messageRetentionSeconds}`,
    VisibilityTimeout: `${(receive?.visibilityTimeoutMs ?? 30_000) / 1_000}`,
    ReceiveMessageWaitTimeSeconds: `${(receive?.waitMs ?? 0) / 1_000}`,
    ...(isFifoName(name)
      ? { FifoQueue: "true", ContentBasedDeduplication: `${fifo?.contentBasedDeduplication ?? false}` }
      : {}),
    ...copiedOf(attributes),
    ...(deadLetterArn === null
      ? {}
      : { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetterArn, maxReceiveCount: count }) }),
  };
}

export function tagsOf({ dialects }: BackupQueue): Record<string, string> {
  return { ...(Object(dialects.sqs) as { tags?: SqsAttributes }).tags };
}

/** Makes the sentences about settings that a queue of SQS is not created with. */
export function notCreatedOf({ settings }: BackupQueue, deadLetterArn: string | null): string[] {
  const { deliveryDelaySeconds = 0, receive } = settings;
  const dead = receive?.redrive?.deadLetterQueue;
  return [
    ...(deliveryDelaySeconds > DELAY_SECONDS_MAX
      ? [`The delivery delay of ${deliveryDelaySeconds} s: SQS has ${DELAY_SECONDS_MAX} s at most.`]
      : []),
    ...(dead === undefined || deadLetterArn !== null
      ? []
      : [`Its dead-letter queue: SQS has no ${dead}. Move that one first: sluice eject ${dead} --to sqs.`]),
  ];
}
