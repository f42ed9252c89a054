import { parseJson } from "../../../http/bounded-json.ts";
import { addressOfArn, type QueueAddress } from "../../queue-address.ts";
import { invalidParameter, refuse, SQS_ERRORS } from "../errors.ts";

/** Receives after which a message goes to the dead-letter queue instead (spec sqs 6.1). */
export const MAX_RECEIVE_COUNT_MAX = 1_000;
/** Queues that a `byQueue` policy can name (spec sqs 6.3). */
export const SOURCE_QUEUES_MAX = 10;

/** Content of a `RedrivePolicy`. */
export interface RedrivePolicy {
  readonly deadLetterTarget: QueueAddress;
  readonly maxReceiveCount: number;
}

/** Reads a `RedrivePolicy`; `null` for the empty text, which removes it. Throws `AwsError` (spec sqs 5.2). */
export function parseRedrivePolicy(text: string): RedrivePolicy | null {
  if (text === "") return null;
  const policy = parseObject(text);
  if (policy === null) {
    throw refuse(
      SQS_ERRORS.invalidAttributeValue,
      "Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.",
    );
  }
  for (const field of ["maxReceiveCount", "deadLetterTargetArn"]) {
    if (!Object.hasOwn(policy, field)) {
      throw invalidPolicy(text, `Redrive policy does not contain mandatory attribute: ${field}.`);
    }
  }
  const { maxReceiveCount: count, deadLetterTargetArn: arn } = policy;
  const maxReceiveCount = typeof count === "string" && /^\d+$/.test(count) ? Number(count) : count;
  if (!isWhole(maxReceiveCount, 1, MAX_RECEIVE_COUNT_MAX)) {
    const range = `valid values are from 1 to ${MAX_RECEIVE_COUNT_MAX} both inclusive`;
    throw invalidPolicy(text, `Invalid value for maxReceiveCount: ${shown(count)}, ${range}.`);
  }
  const deadLetterTarget = typeof arn === "string" ? addressOfArn(arn) : null;
  if (deadLetterTarget === null) {
    throw invalidPolicy(text, "Only SQS queues are valid resources for deadLetterTargetArn.");
  }
  return { deadLetterTarget, maxReceiveCount };
}

/** Shows a value in a refusal, but no object: its text may throw, or have no end. */
function shown(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "[...]" : "{...}";
}

export function invalidPolicy(text: string, reason: string) {
  return invalidParameter(`Value ${text} for parameter RedrivePolicy is invalid. Reason: ${reason}`);
}

/** Policy for the queues that may use a queue as their dead-letter queue. */
export type RedriveAllowPolicy =
  | { readonly kind: "allowAll" | "denyAll" }
  | { readonly kind: "byQueue"; readonly sourceQueueArns: readonly string[] };

/** Reads a `RedriveAllowPolicy`; the empty text removes it, which allows all. Throws `AwsError`. */
export function parseRedriveAllowPolicy(text: string): RedriveAllowPolicy {
  if (text === "") return { kind: "allowAll" };
  const policy = parseObject(text);
  const kind = policy?.redrivePermission;
  const arns = policy?.sourceQueueArns;
  if (kind === "byQueue" && isArnList(arns)) return { kind, sourceQueueArns: arns };
  if ((kind === "allowAll" || kind === "denyAll") && arns === undefined) return { kind };
  throw refuse(
    SQS_ERRORS.invalidAttributeValue,
    "Invalid value for the parameter RedriveAllowPolicy. Reason: Amazon SQS can't create the redrive allow " +
      "policy, as it’s in an unsupported format.",
  );
}

function isArnList(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= SOURCE_QUEUES_MAX &&
    value.every((arn) => typeof arn === "string" && addressOfArn(arn) !== null)
  );
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = parseJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
