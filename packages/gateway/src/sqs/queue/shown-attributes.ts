import type { MessageCounts, QueueRecord } from "@sluice/protocol";
import { arnOf, type QueueAddress } from "../../queue-address.ts";
import { refuse, SQS_ERRORS } from "../errors.ts";
import { isAttribute, NUMBER_ATTRIBUTES } from "./attribute-names.ts";
import { sqsOf } from "./dialect.ts";

/** Every attribute of a queue that has a value (spec sqs 5.1). */
export function attributesOf(
  record: QueueRecord,
  address: QueueAddress,
  counts: MessageCounts,
): Record<string, string> {
  const { definition } = record;
  const { receive, fifo } = definition;
  const { attributes } = sqsOf(record);
  const seconds = (ms: number | undefined, standard: number) =>
    String(ms === undefined ? standard : ms / 1_000);
  return {
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.notVisible),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    CreatedTimestamp: String(Math.floor(record.createdOnMs / 1_000)),
    LastModifiedTimestamp: String(Math.floor(record.modifiedOnMs / 1_000)),
    DelaySeconds: String(definition.deliveryDelaySeconds),
    MaximumMessageSize: String(NUMBER_ATTRIBUTES.MaximumMessageSize.standard),
    MessageRetentionPeriod: String(definition.messageRetentionSeconds),
    QueueArn: arnOf(address),
    ReceiveMessageWaitTimeSeconds: seconds(receive?.waitMs, 0),
    SqsManagedSseEnabled: "true",
    VisibilityTimeout: seconds(receive?.visibilityTimeoutMs, NUMBER_ATTRIBUTES.VisibilityTimeout.standard),
    ...(fifo === undefined
      ? {}
      : {
          FifoQueue: "true",
          ContentBasedDeduplication: "false",
          DeduplicationScope: fifo.deduplicationScope,
          FifoThroughputLimit: "perQueue",
        }),
    ...attributes,
  };
}

/** Of a queue's attributes those that were asked for; `All` for all of them. Throws `AwsError` for an unknown name. */
export function selectAttributes(
  attributes: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  const unknown = names.find((name) => !isAttribute(name));
  if (unknown !== undefined) throw refuse(SQS_ERRORS.invalidAttributeName, `Unknown Attribute ${unknown}.`);
  if (names.includes("All")) return { ...attributes };
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)));
}
