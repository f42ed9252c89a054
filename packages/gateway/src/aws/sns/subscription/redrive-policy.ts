import { isFifoName } from "@sluice/protocol";
import { parseJson } from "../../../http/bounded-json.ts";
import { addressOfArn, directoryName, type Home } from "../../queue-address.ts";
import { invalid } from "../errors.ts";
import type { AttributesPrefix } from "../topic/topic-attributes.ts";

/** The queue that takes messages that a subscription cannot deliver, by its name in the directory. */
export interface SubscriptionRedrive {
  readonly deadLetterQueue: string;
}

/**
 * Reads the attribute `RedrivePolicy` of a subscription (spec sns-delivery 6.3). Throws `AwsError` in SNS's words.
 *
 * @param needsFifo Whether the dead-letter queue has to be a FIFO queue.
 */
export function parseRedrivePolicy(
  text: string,
  home: Home,
  needsFifo: boolean,
  prefix: AttributesPrefix,
): SubscriptionRedrive {
  const refusal = (reason: string) => invalid(`${prefix}RedrivePolicy: ${reason}`);
  let policy: unknown;
  try {
    policy = parseJson(text);
  } catch {
    throw refusal("failed to parse JSON.");
  }
  if (typeof policy !== "object" || policy === null || Array.isArray(policy)) {
    throw refusal("failed to parse JSON.");
  }
  const unknown = Object.keys(policy).find((member) => member !== "deadLetterTargetArn");
  if (unknown !== undefined) throw refusal(`invalid JSON. Attribute ${unknown} is unknown.`);
  const { deadLetterTargetArn } = policy as { deadLetterTargetArn?: unknown };
  const address = typeof deadLetterTargetArn === "string" ? addressOfArn(deadLetterTargetArn) : null;
  if (address === null) throw refusal("deadLetterTargetArn is an invalid arn");
  if (needsFifo && !isFifoName(address.name)) {
    throw refusal("must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.");
  }
  return { deadLetterQueue: directoryName(address, home) };
}
