import { RETENTION_SECONDS_DEFAULT, SQS_MESSAGE_BYTES_MAX } from "@sluice/protocol";

/** Whole numbers that a queue can be set to, with their ranges and defaults (spec sqs 5.1). */
export const NUMBER_ATTRIBUTES = {
  VisibilityTimeout: { min: 0, max: 43_200, standard: 30 },
  DelaySeconds: { min: 0, max: 900, standard: 0 },
  MaximumMessageSize: { min: 1_024, max: SQS_MESSAGE_BYTES_MAX, standard: SQS_MESSAGE_BYTES_MAX },
  MessageRetentionPeriod: { min: 60, max: 1_209_600, standard: RETENTION_SECONDS_DEFAULT },
  ReceiveMessageWaitTimeSeconds: { min: 0, max: 20, standard: 0 },
  KmsDataKeyReusePeriodSeconds: { min: 60, max: 86_400, standard: 300 },
} as const;
export type NumberAttribute = keyof typeof NUMBER_ATTRIBUTES;

export function isNumberAttribute(name: string): name is NumberAttribute {
  return Object.hasOwn(NUMBER_ATTRIBUTES, name);
}

/** Attributes that a FIFO queue can have and a standard one cannot. */
export const FIFO_ATTRIBUTES = [
  "FifoQueue",
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "FifoThroughputLimit",
];

/** Attributes that can be set on any queue. */
const SETTABLE = [
  ...Object.keys(NUMBER_ATTRIBUTES),
  "RedrivePolicy",
  "RedriveAllowPolicy",
  "Policy",
  "KmsMasterKeyId",
  "SqsManagedSseEnabled",
];

/** Attributes that are only read. */
const READ_ONLY = [
  "CreatedTimestamp",
  "LastModifiedTimestamp",
  "QueueArn",
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
];

export function isSettable(name: string): boolean {
  return SETTABLE.includes(name) || FIFO_ATTRIBUTES.includes(name);
}

/** Whether `GetQueueAttributes` knows the name. */
export function isAttribute(name: string): boolean {
  return name === "All" || isSettable(name) || READ_ONLY.includes(name);
}
