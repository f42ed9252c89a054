import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { entries, SnsClient, textsIn } from "../../../test/sns-client.ts";
import { SNS_ACTIONS } from "./model.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:q";

/** Values that are right for some parameter, nearly right, and wrong for all. */
const VALUES = [
  ...[
    "",
    "x",
    "true",
    "-1",
    "1e9",
    "news",
    "news.fifo",
    "sqs",
    "http",
    "https",
    "json",
    "\u0000",
    "😀",
    "\ud800",
  ],
  ...[
    ARN,
    `${ARN}.fifo`,
    `${ARN}:5f1c3c1e-8f6e-4c3c-9a5d-1f3a5b7c9d0e`,
    "a:b:c:d:e:f",
    QUEUE_ARN,
    `${QUEUE_ARN}.fifo`,
  ],
  ...["http://localhost:9/", "http://%zz:%@localhost/", "https://[::1]:9", "http://", "0".repeat(288)],
  ...[
    "{",
    "[]",
    "null",
    '"x"',
    '{"http":null}',
    '{"healthyRetryPolicy":{"numRetries":1e99}}',
    '{"a":[{"$or":[]}]}',
  ],
  ...['{"default":"x","sqs":1}', '{"$or":[{"a":[1]},{"b":[]}]}', '{"a":{"b":{"c":[{"numeric":["=",1]}]}}}'],
  ...['{"deadLetterTargetArn":1}', `{"deadLetterTargetArn":"${QUEUE_ARN}"}`, "YWZ0ZXI6eA==", "x".repeat(300)],
];
const ATTRIBUTES = [
  ...["DeliveryPolicy", "FilterPolicy", "FilterPolicyScope", "RawMessageDelivery", "RedrivePolicy", "Policy"],
  ...[
    "FifoTopic",
    "ContentBasedDeduplication",
    "MaximumMessageSize",
    "SignatureVersion",
    "__proto__",
    "constructor",
  ],
];
const KEYS = [
  ...[
    "Name",
    "TopicArn",
    "SubscriptionArn",
    "ResourceArn",
    "TargetArn",
    "Protocol",
    "Endpoint",
    "Token",
    "NextToken",
  ],
  ...[
    "Message",
    "Subject",
    "MessageStructure",
    "MessageGroupId",
    "MessageDeduplicationId",
    "Label",
    "AttributeValue",
  ],
  ...[
    "Tags.member.1.Key",
    "TagKeys.member.1",
    "AWSAccountId.member.1",
    "ActionName.member.1",
    "ReturnSubscriptionArn",
  ],
  ...["MessageAttributes.entry.1.Name", "MessageAttributes.entry.1.Value.DataType"],
  ...["MessageAttributes.entry.1.Value.StringValue", "MessageAttributes.entry.1.Value.BinaryValue"],
  ...[
    "PublishBatchRequestEntries.member.1.Id",
    "PublishBatchRequestEntries.member.1.Message",
    "AttributeName",
  ],
];

const value = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...VALUES) }, fc.string());
const call = fc.record({
  action: fc.constantFrom(...Object.keys(SNS_ACTIONS)),
  parameters: fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 8 }),
  attributes: fc.dictionary(fc.constantFrom(...ATTRIBUTES), value, { maxKeys: 3 }),
  name: fc.option(fc.constantFrom(...ATTRIBUTES)),
});

it("is never answered with an error of ours, nor with anything but XML, whatever it is asked", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const sns = new SnsClient();
  await sns.createTopic("news");
  await fc.assert(
    fc.asyncProperty(call, async ({ action, parameters, attributes, name }) => {
      const { status, xml } = await sns.post(action, {
        ...parameters,
        ...entries("Attributes", attributes),
        ...(name === null ? {} : { AttributeName: name }),
      });
      expect(log.mock.calls).toEqual([]);
      expect([200, 400, 403, 404]).toContain(status);
      expect(textsIn(xml, "RequestId")).toHaveLength(1);
      expect(textsIn(xml, "Code")).toHaveLength(status === 200 ? 0 : 1);
    }),
    { numRuns: 3_000 },
  );
  log.mockRestore();
  // The broker still works for other requests.
  expect(await sns.createTopic("afterwards")).toContain(":afterwards");
});
