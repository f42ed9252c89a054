import { decodeAttributes } from "@sluice/aws";
import { PackedIndex } from "@sluice/protocol";
import { entries, SnsClient } from "./sns-client.ts";

export const ARN = "arn:aws:sns:us-east-1:000000000000:news";
export const FIFO_ARN = `${ARN}.fifo`;
export let sns: SnsClient;

/** Before each test. */
export async function startOver(): Promise<void> {
  sns = new SnsClient();
  await sns.createTopic("news");
}

export type Parameters = Readonly<Record<string, string>>;

export const subscribe = (queue: string, attributes: Parameters = {}, TopicArn = ARN) => {
  const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${queue}`;
  const parameters = { TopicArn, Protocol: "sqs", Endpoint, ...entries("Attributes", attributes) };
  return sns.call("Subscribe", parameters, "SubscriptionArn");
};
export const RAW = { RawMessageDelivery: "true" };
export const publish = (Message: string, rest: Parameters = {}) =>
  sns.call("Publish", { TopicArn: ARN, Message, ...rest }, "MessageId");
export const refusal = (rest: Parameters) => sns.refusal("Publish", { TopicArn: ARN, Message: "m", ...rest });
export const invalid = (text: string) => `400 InvalidParameter Invalid parameter: ${text}`;
export const attribute = (i: number, name: string, type: string, value = "v", field = "StringValue") => ({
  [`MessageAttributes.entry.${i}.Name`]: name,
  [`MessageAttributes.entry.${i}.Value.DataType`]: type,
  [`MessageAttributes.entry.${i}.Value.${field}`]: value,
});
export const attributes = (count: number) =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, i) => attribute(i + 1, `a${i}`, "String")),
  ) as Parameters;

/** The first copy for a queue of what was published first. */
export function copyFor(queue: string) {
  const copies = sns.published[0]?.messages[0]?.copies ?? [];
  const copy = copies.find(({ target }) => target === queue);
  if (copy === undefined) throw new Error(`nothing was published to ${queue}`);
  return copy;
}

export function extensionOf(packed: Uint8Array) {
  const { attributes: stored, ...others } = new PackedIndex(packed).extension(0);
  return { ...others, ...decodeAttributes(stored) };
}
