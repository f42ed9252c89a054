import type { MessageCounts, QueueRecord } from "@sluice/protocol";
import { addressOf, arnOf, directoryName, type Home, type QueueAddress } from "../../queue-address.ts";
import { refuse, SQS_ERRORS } from "../errors.ts";
import { isAttribute, NUMBER_ATTRIBUTES } from "./attribute-names.ts";
import { sqsOf } from "./dialect.ts";
import { parseRedrivePolicy } from "./redrive-policy.ts";

/** Lists every attribute of a queue that has a value, set by any dialect (spec sqs 5.1). */
export function attributesOf(
  record: QueueRecord,
  address: QueueAddress,
  counts: MessageCounts,
  home: Home,
): Record<string, string> {
  const { definition } = record;
  const { receive, fifo } = definition;
  const { RedrivePolicy: policy, ...attributes } = sqsOf(record).attributes;
  const redrive = redriveTextOf(record, policy, home);
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
          ContentBasedDeduplication: String(fifo.contentBasedDeduplication ?? false),
          DeduplicationScope: fifo.deduplicationScope ?? "queue",
          FifoThroughputLimit: "perQueue",
        }),
    ...attributes,
    ...(redrive === null ? {} : { RedrivePolicy: redrive }),
  };
}

/**
 * Returns the redrive policy of a queue: the text that was set over SQS, unless another dialect has changed the policy
 * since; `null` if it has none.
 */
function redriveTextOf({ definition }: QueueRecord, text: string | undefined, home: Home): string | null {
  const redrive = definition.receive?.redrive;
  if (!redrive) return null;
  const asSet = text === undefined ? null : parseRedrivePolicy(text);
  const isSame =
    asSet !== null &&
    directoryName(asSet.deadLetterTarget, home) === redrive.deadLetterQueue &&
    asSet.maxReceiveCount === redrive.maxReceiveCount;
  if (isSame && text !== undefined) return text;
  const deadLetterTargetArn = arnOf(addressOf(redrive.deadLetterQueue, home));
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount: redrive.maxReceiveCount });
}

/**
 * Selects the attributes of a queue that were asked for; `All` for all of them. Throws `AwsError` for an unknown name.
 */
export function selectAttributes(
  attributes: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  const unknown = names.find((name) => !isAttribute(name));
  if (unknown !== undefined) throw refuse(SQS_ERRORS.invalidAttributeName, `Unknown Attribute ${unknown}.`);
  if (names.includes("All")) return { ...attributes };
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)));
}
