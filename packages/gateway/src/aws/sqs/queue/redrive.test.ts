import { beforeEach, describe, expect, it } from "vitest";
import { arnOf, SqsClient } from "../../../../test/sqs-client.ts";

let sqs: SqsClient;

beforeEach(() => {
  sqs = new SqsClient();
});

const policyTo = (queue: string, maxReceiveCount: number | string = 3) =>
  JSON.stringify({ deadLetterTargetArn: queue.startsWith("arn:") ? queue : arnOf(queue), maxReceiveCount });
const invalid = (policy: string, reason: string) => ({
  status: 400,
  code: "InvalidParameterValue",
  message: `Value ${policy} for parameter RedrivePolicy is invalid. Reason: ${reason}`,
});

describe("a RedrivePolicy names a dead-letter queue that", () => {
  const refusal = (policy: string, QueueName = "q") =>
    sqs.refusal("CreateQueue", {
      QueueName,
      Attributes: { RedrivePolicy: policy, ...(QueueName.endsWith(".fifo") ? { FifoQueue: "true" } : {}) },
    });

  it("exists, in this account and region", async () => {
    await sqs.create("dead");
    for (const arn of [arnOf("nowhere"), arnOf("dead").replace("us-east-1", "eu-west-1")]) {
      const policy = policyTo(arn);
      expect(await refusal(policy)).toEqual(invalid(policy, "Dead letter target does not exist."));
    }
    const elsewhere = policyTo(arnOf("dead").replace("000000000000", "111122223333"));
    expect(await refusal(elsewhere)).toEqual(
      invalid(elsewhere, "Dead-letter target owner should be same as the source."),
    );
  });

  it("is of the same type", async () => {
    await sqs.create("dead");
    await sqs.create("dead.fifo", { FifoQueue: "true" });
    const reason = "Dead-letter queue must be same type of queue as the source.";
    expect(await refusal(policyTo("dead.fifo"))).toEqual(invalid(policyTo("dead.fifo"), reason));
    expect(await refusal(policyTo("dead"), "q.fifo")).toEqual(invalid(policyTo("dead"), reason));
    await sqs.create("q.fifo", { FifoQueue: "true", RedrivePolicy: policyTo("dead.fifo") });
  });

  it.each([
    ["nothing", {}, true],
    ["allowAll", { redrivePermission: "allowAll" }, true],
    ["denyAll", { redrivePermission: "denyAll" }, false],
    ["byQueue with it", { redrivePermission: "byQueue", sourceQueueArns: [arnOf("q")] }, true],
    ["byQueue without it", { redrivePermission: "byQueue", sourceQueueArns: [arnOf("other")] }, false],
  ])("lets it, by its RedriveAllowPolicy: %s", async (_what, allow, isAllowed) => {
    const policy = Object.keys(allow).length === 0 ? "" : JSON.stringify(allow);
    await sqs.create("dead", { RedriveAllowPolicy: policy });
    const asked = policyTo("dead");
    if (isAllowed) expect(await sqs.create("q", { RedrivePolicy: asked })).toContain("/q");
    else {
      const reason = "Queue does not have permission to use the target as a dead-letter queue.";
      expect(await refusal(asked)).toEqual(invalid(asked, reason));
      const QueueUrl = await sqs.create("q");
      const Attributes = { RedrivePolicy: asked };
      expect(await sqs.refusal("SetQueueAttributes", { QueueUrl, Attributes })).toEqual(
        invalid(asked, reason),
      );
      const url = String((await sqs.call("GetQueueUrl", { QueueName: "dead" })).QueueUrl);
      await sqs.call("SetQueueAttributes", { QueueUrl: url, Attributes: { RedriveAllowPolicy: "" } });
      await sqs.call("SetQueueAttributes", { QueueUrl, Attributes });
    }
  });
});

describe("a RedrivePolicy", () => {
  it("is shown as it was set, with a number or a text for the count, and taken away by an empty one", async () => {
    await sqs.create("dead");
    for (const count of [3, "3"]) {
      const RedrivePolicy = policyTo("dead", count);
      const QueueUrl = await sqs.create(`q${typeof count}`, { RedrivePolicy });
      expect((await sqs.attributes(QueueUrl)).RedrivePolicy).toBe(RedrivePolicy);
      await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { RedrivePolicy: "" } });
      expect(await sqs.attributes(QueueUrl)).not.toHaveProperty("RedrivePolicy");
    }
  });

  it("stays when another attribute is set", async () => {
    await sqs.create("dead");
    const QueueUrl = await sqs.create("q", { RedrivePolicy: policyTo("dead") });
    await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { VisibilityTimeout: "1" } });
    expect(await sqs.attributes(QueueUrl)).toMatchObject({
      RedrivePolicy: policyTo("dead"),
      VisibilityTimeout: "1",
    });
  });
});
