import { describe, expect, it } from "vitest";
import { NUMBER_ATTRIBUTES } from "./attribute-names.ts";
import {
  checkEncryption,
  checkThroughput,
  POLICY_BYTES_MAX,
  readAttributes,
  STATEMENTS_MAX,
} from "./attributes.ts";
import { MAX_RECEIVE_COUNT_MAX, parseRedriveAllowPolicy, SOURCE_QUEUES_MAX } from "./redrive-policy.ts";

const ARN = "arn:aws:sqs:us-east-1:000000000000:dead";
const standard = (attributes: Record<string, string>) => readAttributes(attributes, false);
const fifo = (attributes: Record<string, string>) => readAttributes(attributes, true);

describe("a number", () => {
  const cases = Object.entries(NUMBER_ATTRIBUTES).flatMap(([name, { min, max }]) => [
    [name, min - 1, false] as const,
    [name, min, true] as const,
    [name, max, true] as const,
    [name, max + 1, false] as const,
  ]);

  it.each(cases)("%s of %s is taken: %s", (name, value, isTaken) => {
    const read = () => standard({ [name]: String(value) });
    if (isTaken) expect(read().numbers).toEqual({ [name]: value });
    else expect(read).toThrow(`Invalid value for the parameter ${name}.`);
  });

  it.each(["", " 5", "1.5", "five", "true", "1e2", "99999999999"])("is not %j", (value) => {
    expect(() => standard({ VisibilityTimeout: value })).toThrow(
      expect.objectContaining({ kind: expect.objectContaining({ code: "InvalidAttributeValue" }) }),
    );
  });
});

describe("an attribute", () => {
  it.each(["Nonsense", "QueueArn", "ApproximateNumberOfMessages", "All", "constructor", ""])(
    "%j cannot be set",
    (name) => {
      expect(() => standard({ [name]: "1" })).toThrow(`Unknown Attribute ${name}.`);
    },
  );

  it.each([
    ["FifoQueue", "Unknown Attribute FifoQueue."],
    ["ContentBasedDeduplication", "Unknown Attribute ContentBasedDeduplication."],
    ["DeduplicationScope", "You can specify the DeduplicationScope only when FifoQueue is set to true."],
    ["FifoThroughputLimit", "You can specify the FifoThroughputLimit only when FifoQueue is set to true."],
  ])("%s belongs to FIFO queues", (name, text) => {
    expect(() => standard({ [name]: "false" })).toThrow(text);
  });

  it("an attribute of truth may be written in any case, and is shown in small letters", () => {
    expect(fifo({ ContentBasedDeduplication: "True" }).texts).toEqual({ ContentBasedDeduplication: "true" });
    expect(() => fifo({ ContentBasedDeduplication: "yes" })).toThrow("Invalid value for the parameter");
  });

  it("FifoQueue cannot be taken back", () => {
    expect(fifo({ FifoQueue: "true" }).texts).toEqual({});
    expect(() => fifo({ FifoQueue: "false" })).toThrow(
      "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.",
    );
  });

  it("FifoThroughputLimit needs the scope that goes with it", () => {
    const perGroup = { FifoThroughputLimit: "perMessageGroupId" };
    expect(() => checkThroughput(perGroup)).toThrow("the DeduplicationScope must be messageGroup.");
    expect(() => checkThroughput({ ...perGroup, DeduplicationScope: "messageGroup" })).not.toThrow();
  });

  it("an attribute of encryption is one kind at a time", () => {
    expect(standard({ KmsMasterKeyId: "alias/k" }).texts).toEqual({
      KmsMasterKeyId: "alias/k",
      SqsManagedSseEnabled: "false",
    });
    expect(() => checkEncryption({ KmsMasterKeyId: "alias/k", SqsManagedSseEnabled: "true" })).toThrow(
      "at one time",
    );
    expect(() => checkEncryption({ KmsMasterKeyId: "alias/k", SqsManagedSseEnabled: "false" })).not.toThrow();
    expect(standard({ KmsMasterKeyId: "" }).texts).toEqual({ KmsMasterKeyId: null });
  });

  it("Policy is a JSON object of 8,192 bytes at most, and the empty text takes it away", () => {
    const policy = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
    expect(standard({ Policy: policy(POLICY_BYTES_MAX) }).texts.Policy).toHaveLength(POLICY_BYTES_MAX);
    expect(standard({ Policy: "" }).texts).toEqual({ Policy: null });
    for (const text of [policy(POLICY_BYTES_MAX + 1), "[]", "text", "null"]) {
      expect(() => standard({ Policy: text })).toThrow("Invalid value for the parameter Policy.");
    }
  });

  it.each([-1, 0, 1])("Policy has 20 statements at most: %+d", (more) => {
    const Policy = JSON.stringify({ Statement: Array(STATEMENTS_MAX + more).fill({}) });
    if (more <= 0) expect(standard({ Policy }).texts).toEqual({ Policy });
    else
      expect(() => standard({ Policy })).toThrow(
        "21 statements were found in the submitted policy, max allowed is 20",
      );
  });
});

describe("a RedrivePolicy", () => {
  const policy = (value: unknown) => standard({ RedrivePolicy: JSON.stringify(value) });

  it("names a queue and a number of receives, which may be a text", () => {
    const deadLetterTarget = { region: "us-east-1", account: "000000000000", name: "dead" };
    for (const maxReceiveCount of [1, MAX_RECEIVE_COUNT_MAX]) {
      expect(policy({ deadLetterTargetArn: ARN, maxReceiveCount }).redrive).toEqual({
        deadLetterTarget,
        maxReceiveCount,
      });
      expect(policy({ deadLetterTargetArn: ARN, maxReceiveCount: `${maxReceiveCount}` }).redrive).toEqual({
        deadLetterTarget,
        maxReceiveCount,
      });
    }
    expect(standard({ RedrivePolicy: "" }).redrive).toBeNull();
  });

  it.each([
    [
      { deadLetterTargetArn: ARN, maxReceiveCount: 0 },
      "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000",
    ],
    [{ deadLetterTargetArn: ARN, maxReceiveCount: 1_001 }, "Invalid value for maxReceiveCount: 1001"],
    [{ deadLetterTargetArn: ARN, maxReceiveCount: "x" }, "Invalid value for maxReceiveCount: x"],
    [{ deadLetterTargetArn: ARN }, "does not contain mandatory attribute: maxReceiveCount."],
    [{ maxReceiveCount: 1 }, "does not contain mandatory attribute: deadLetterTargetArn."],
    [{ deadLetterTargetArn: "dead", maxReceiveCount: 1 }, "Only SQS queues are valid resources"],
    [[], "Redrive policy is not a valid JSON map."],
  ])("%j is refused", (value, text) => {
    expect(() => policy(value)).toThrow(text);
  });
});

describe("a RedriveAllowPolicy", () => {
  const arns = (count: number) => Array.from({ length: count }, () => ARN);

  it.each([
    [{ redrivePermission: "allowAll" }, true],
    [{ redrivePermission: "denyAll" }, true],
    [{ redrivePermission: "byQueue", sourceQueueArns: arns(1) }, true],
    [{ redrivePermission: "byQueue", sourceQueueArns: arns(SOURCE_QUEUES_MAX) }, true],
    [{ redrivePermission: "byQueue", sourceQueueArns: arns(SOURCE_QUEUES_MAX + 1) }, false],
    [{ redrivePermission: "byQueue", sourceQueueArns: [] }, false],
    [{ redrivePermission: "byQueue" }, false],
    [{ redrivePermission: "allowAll", sourceQueueArns: arns(1) }, false],
    [{ redrivePermission: "nobody" }, false],
    ["text", false],
  ])("%j is taken: %s", (value, isTaken) => {
    const read = () => parseRedriveAllowPolicy(JSON.stringify(value));
    if (isTaken)
      expect(read()).toMatchObject({ kind: (value as { redrivePermission: string }).redrivePermission });
    else expect(read).toThrow("it’s in an unsupported format.");
  });
});
