import { utf8Bytes } from "@sluice/aws";
import type { QueueRecord, QueueSettingsChange } from "@sluice/protocol";
import { parsePolicy } from "../../policy.ts";
import { refuse, SQS_ERRORS } from "../errors.ts";
import { isValidText } from "../message/text.ts";
import {
  FIFO_ATTRIBUTES,
  isNumberAttribute,
  isSettable,
  NUMBER_ATTRIBUTES,
  type NumberAttribute,
} from "./attribute-names.ts";
import { parseRedriveAllowPolicy, parseRedrivePolicy, type RedrivePolicy } from "./redrive-policy.ts";

/** Attributes as a request gives them. */
export type Attributes = Readonly<Record<string, string>>;

/** Longest value of an attribute, in bytes: the limit of `Policy` (spec sqs 2.2). */
export const POLICY_BYTES_MAX = 8_192;
/** Most statements in a policy (spec sqs 2.2). */
export const STATEMENTS_MAX = 20;
/** Longest `KmsMasterKeyId`, in bytes: the limit of AWS KMS. */
const KEY_ID_BYTES_MAX = 2_048;

/** Checked attributes. `settingsOf` takes the queue's own settings from them; the others are stored as texts. */
export interface ReadAttributes {
  readonly numbers: Partial<Record<NumberAttribute, number>>;
  /** `undefined`: not named; `null`: removed. */
  readonly redrive: RedrivePolicy | null | undefined;
  /** Values of all other attributes, booleans in small letters; `null` removes one. */
  readonly texts: Readonly<Record<string, string | null>>;
}

/**
 * Reads the attributes of `CreateQueue` or `SetQueueAttributes`, each by itself (spec sqs 5.1, 5.2). Throws `AwsError`
 * with AWS's texts. `checkThroughput` and `checkEncryption` check them together with those that the queue has already.
 *
 * @param isFifo whether the queue is, or becomes, a FIFO queue.
 */
export function readAttributes(given: Attributes, isFifo: boolean): ReadAttributes {
  const numbers: Partial<Record<NumberAttribute, number>> = {};
  const texts: Record<string, string | null> = {};
  let redrive: RedrivePolicy | null | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!isSettable(name)) throw refuse(SQS_ERRORS.invalidAttributeName, `Unknown Attribute ${name}.`);
    if (FIFO_ATTRIBUTES.includes(name) && !isFifo) throw onlyForFifo(name);
    if (!isStorable(name, value)) throw invalidValueOf(name);
    if (isNumberAttribute(name)) {
      numbers[name] = readNumber(name, value);
      continue;
    }
    switch (name) {
      case "FifoQueue":
        // The name of the queue says what it is.
        if (readBoolean(name, value) !== "true") {
          throw invalidValueOf(name, "Modifying queue type is not supported.");
        }
        break;
      case "ContentBasedDeduplication":
      case "SqsManagedSseEnabled":
        texts[name] = readBoolean(name, value);
        break;
      case "DeduplicationScope":
        texts[name] = oneOf(name, value, ["queue", "messageGroup"]);
        break;
      case "FifoThroughputLimit":
        texts[name] = oneOf(name, value, ["perQueue", "perMessageGroupId"]);
        break;
      case "RedrivePolicy":
        redrive = parseRedrivePolicy(value);
        texts[name] = redrive === null ? null : value;
        break;
      case "RedriveAllowPolicy":
        parseRedriveAllowPolicy(value);
        texts[name] = value === "" ? null : value;
        break;
      case "Policy":
        texts[name] = readPolicy(value);
        break;
      default:
        texts[name] = value === "" ? null : value;
    }
  }
  if (texts.KmsMasterKeyId && texts.SqsManagedSseEnabled === undefined) texts.SqsManagedSseEnabled = "false";
  return { numbers, redrive, texts };
}

type Texts = Readonly<Record<string, string | null | undefined>>;

/** Checks that a FIFO queue with a throughput limit of each group deduplicates in each group (spec sqs 4.6). */
export function checkThroughput(texts: Texts): void {
  if (texts.FifoThroughputLimit === "perMessageGroupId" && texts.DeduplicationScope !== "messageGroup") {
    throw invalidValueOf(
      "FifoThroughputLimit",
      "To set FifoThroughputLimit to perMessageGroupId, the DeduplicationScope must be messageGroup.",
    );
  }
}

/** Checks that a queue has one kind of encryption (spec sqs 5.2). It is shown, and encrypts nothing. */
export function checkEncryption(texts: Texts): void {
  if (texts.KmsMasterKeyId && texts.SqsManagedSseEnabled === "true") {
    throw refuse(
      SQS_ERRORS.invalidAttributeName,
      "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.",
    );
  }
}

/**
 * Returns the changes that attributes make to the queue itself. The scope of deduplication is fixed when a queue is
 * created, and a later one is only shown.
 *
 * @param before the queue; `null` for a new one.
 * @param deadLetterQueue its name in the directory; `null` for none.
 */
export function settingsOf(
  { numbers, redrive, texts }: ReadAttributes,
  before: QueueRecord | null,
  deadLetterQueue: string | null,
): QueueSettingsChange {
  const receive = { ...before?.definition.receive };
  const { ContentBasedDeduplication: byContent } = texts;
  const fifo = before?.definition.fifo;
  if (numbers.VisibilityTimeout !== undefined)
    receive.visibilityTimeoutMs = 1_000 * numbers.VisibilityTimeout;
  if (numbers.ReceiveMessageWaitTimeSeconds !== undefined) {
    receive.waitMs = 1_000 * numbers.ReceiveMessageWaitTimeSeconds;
  }
  if (redrive === null) receive.redrive = null;
  else if (redrive !== undefined && deadLetterQueue !== null) {
    receive.redrive = { deadLetterQueue, maxReceiveCount: redrive.maxReceiveCount };
  }
  return {
    ...(numbers.DelaySeconds === undefined ? {} : { deliveryDelaySeconds: numbers.DelaySeconds }),
    ...(numbers.MessageRetentionPeriod === undefined
      ? {}
      : { messageRetentionSeconds: numbers.MessageRetentionPeriod }),
    ...(fifo === undefined || byContent === undefined
      ? {}
      : { fifo: { ...fifo, contentBasedDeduplication: byContent === "true" } }),
    receive,
  };
}

/** Returns whether a value is short enough, and has only characters that both JSON and XML can carry. */
function isStorable(name: string, value: string): boolean {
  const bytesMax = name === "KmsMasterKeyId" ? KEY_ID_BYTES_MAX : POLICY_BYTES_MAX;
  return utf8Bytes(value) <= bytesMax && isValidText(value);
}

function readNumber(name: NumberAttribute, value: string): number {
  const { min, max } = NUMBER_ATTRIBUTES[name];
  const number = /^-?\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw invalidValueOf(name);
  return number;
}

function readBoolean(name: string, value: string): string {
  const lower = value.toLowerCase();
  if (lower !== "true" && lower !== "false") throw invalidValueOf(name);
  return lower;
}

function oneOf(name: string, value: string, values: readonly string[]): string {
  if (!values.includes(value)) throw invalidValueOf(name);
  return value;
}

function readPolicy(value: string): string | null {
  if (value === "") return null;
  const policy = parsePolicy(value);
  if (policy === null) throw invalidPolicyValue();
  const { length } = policy.statements;
  if (length > STATEMENTS_MAX) {
    throw refuse(
      SQS_ERRORS.overLimit,
      `${length} statements were found in the submitted policy, max allowed is ${STATEMENTS_MAX}`,
    );
  }
  return value;
}

function onlyForFifo(name: string) {
  const text =
    name === "FifoQueue" || name === "ContentBasedDeduplication"
      ? `Unknown Attribute ${name}.`
      : `You can specify the ${name} only when FifoQueue is set to true.`;
  return refuse(SQS_ERRORS.invalidAttributeName, text);
}

export function invalidPolicyValue() {
  return invalidValueOf("Policy");
}

function invalidValueOf(name: string, reason?: string) {
  const text = `Invalid value for the parameter ${name}.`;
  return refuse(SQS_ERRORS.invalidAttributeValue, reason === undefined ? text : `${text} Reason: ${reason}`);
}
