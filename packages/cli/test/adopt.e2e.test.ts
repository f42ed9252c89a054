import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { encodeBody } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { ACCOUNT, BridgeLab, LEASE, sqsSettings, upTo } from "./bridge-lab.ts";

const bridge = new BridgeLab();
const { lab, other } = bridge;

describe("sluice adopt --from cloudflare", () => {
  it("copies settings and consumer, moves bodies byte for byte with ids and send times, and puts the Worker back", async () => {
    const { name, id } = await bridge.cloudflareQueue(0);
    const before = await bridge.consumersOf(id);
    const v8 = Buffer.from(encodeBody(new Map([["when", new Date(0)]]), "v8")).toString("base64");
    const bodies = [
      { contentType: "json", text: '{"n": 12345678901234567890,  "spaces": true}' },
      { contentType: "text", text: "two\nlines ü" },
      { contentType: "bytes", base64: "AP8=" },
      { contentType: "v8", base64: v8 },
    ];
    await other.run(["import", name], { input: bodies.map((body) => `${JSON.stringify(body)}\n`).join("") });
    const { messages: sent } = await other.json<MessagePage>(["messages", "peek", name]);

    const { code, out, err } = await bridge.run([
      "adopt",
      name,
      "--from",
      "cloudflare",
      "--detach-consumer",
      "--yes",
      ...LEASE,
    ]);
    expect([code, err]).toEqual([
      0,
      `Moved 4 messages of ${name} from Cloudflare.\nThe old queue has 0 messages now.\n`,
    ]);
    expect(out).toContain('take the consumer "mailer" away');
    expect(out).toContain(
      `queues consumer add ${name} mailer --batch-size 7 --batch-timeout 3 --message-retries 2 --max-concurrency 4 ` +
        "--retry-delay-secs 9 --dead-letter-queue mails-dead\n",
    );
    expect(out).toContain("Adopt its dead-letter queue mails-dead first");
    const content = ({
      id,
      sentAt,
      contentType,
      text,
      base64 = null,
      attempts,
    }: (typeof sent)[number] & { base64?: string | null }) => ({
      id,
      sentAt,
      contentType,
      text,
      base64,
      attempts,
    });
    expect((await bridge.held(name)).map(content).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
      sent.map(content).toSorted((a, b) => a.id.localeCompare(b.id)),
    );
    expect(await bridge.consumersOf(id)).toEqual(before);
    const queue = await lab.json<{ settings: object; consumer: object }>(["queues", "info", name]);
    expect(queue).toMatchObject({
      settings: { deliveryDelaySeconds: 0, messageRetentionSeconds: 7_200 },
      consumer: {
        type: "worker",
        worker: "mailer",
        settings: {
          maxBatchSize: 7,
          maxBatchTimeoutSeconds: 3,
          maxRetries: 2,
          maxConcurrency: 4,
          retryDelaySeconds: 9,
          deadLetterQueue: "mails-dead",
        },
      },
    });
  });

  it("says what a Worker as the consumer means, and does nothing", async () => {
    const { name, id } = await bridge.cloudflareQueue(1);
    const { code, err } = await bridge.run(["adopt", name, "--from", "cloudflare", "--yes"]);
    expect(code).toBe(1);
    expect(err).toContain(
      'The Worker "mailer" consumes the old queue, and a queue of Cloudflare has one consumer.',
    );
    expect(await bridge.consumersOf(id)).toMatchObject([{ type: "worker" }]);
    expect(await lab.words(4, ["queues", "info", name])).toContain("There is no queue");
  });

  it.each([
    ["none", {}, 4, `The account ${ACCOUNT} of Cloudflare has no queue "none".`],
    ["none", { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" }, 1, "Cloudflare does not answer GET /queues"],
  ])("says in one sentence what is wrong about %s with %j", async (name, env, code, text) => {
    const said = await lab.run(["adopt", name, "--from", "cloudflare", "--url", bridge.url], {
      env: { ...bridge.cloudflareEnv, ...env },
    });
    expect([said.code, said.out]).toEqual([code, ""]);
    expect(said.err).toContain(text);
  });
});

it("the plan says what happens to a queue of Cloudflare without a consumer", async () => {
  const name = bridge.newName();
  await bridge.cloudflare("", { queue_name: name });
  const { out } = await bridge.run(["adopt", name, "--from", "cloudflare", "--dry-run"]);
  expect(out).toContain(
    "let the old queue be pulled from: it has no consumer, and has none again at the end\n",
  );
});

describe("sluice adopt --from sqs", () => {
  it("says to adopt the dead-letter queue first, until that is here", { tags: "slow" }, async () => {
    const [{ name: dead, QueueUrl }, jobs] = [await bridge.sqsQueue(0), bridge.newName()];
    const { QueueArn: deadLetterTargetArn } =
      (await bridge.sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] })))
        .Attributes ?? {};
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    await bridge.sqs.send(new CreateQueueCommand({ QueueName: jobs, Attributes: { RedrivePolicy } }));
    const plan = async () => (await bridge.run(["adopt", jobs, "--from", "sqs", "--dry-run"])).out;
    expect(await plan()).toContain(`Adopt its dead-letter queue ${dead} first`);
    expect(await plan()).toContain(`${dead}, after 1 receive\n`);
    await bridge.run(["adopt", dead, "--from", "sqs", "--yes", ...LEASE]);
    expect(await plan()).not.toContain("Adopt its dead-letter queue");
  });

  it("copies attributes and tags, and moves what belongs to each message, in the order of its group", async () => {
    const name = bridge.newName(".fifo");
    const Attributes = {
      FifoQueue: "true",
      DelaySeconds: "0",
      VisibilityTimeout: "45",
      MessageRetentionPeriod: "7200",
      ReceiveMessageWaitTimeSeconds: "1",
      MaximumMessageSize: "2048",
      ContentBasedDeduplication: "true",
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
      RedriveAllowPolicy: '{"redrivePermission":"denyAll"}',
    };
    const create = new CreateQueueCommand({ QueueName: name, Attributes, tags: { team: "a" } });
    const { QueueUrl } = await bridge.sqs.send(create);
    const all = upTo(30).map((n) => ({
      QueueUrl,
      MessageBody: `${n}`,
      MessageGroupId: `g${n % 2}`,
      MessageDeduplicationId: `d${Math.floor(n / 2)}`,
      MessageAttributes: {
        n: { DataType: "Number", StringValue: `${n}` },
        raw: { DataType: "Binary.x", BinaryValue: new Uint8Array([0, 255]) },
      },
    }));
    for (const message of all) await bridge.sqs.send(new SendMessageCommand(message));

    const { code, err } = await bridge.run(["adopt", name, "--from", "sqs", "--yes", ...LEASE]);
    expect([code, err]).toEqual([
      0,
      `Moved 30 messages of ${name} from SQS.\nThe old queue has 0 messages now.\n`,
    ]);
    const here = bridge.sqsHere;
    expect(await sqsSettings(here, name)).toEqual(await sqsSettings(bridge.sqs, name));
    const QueueUrlHere = (await here.send(new GetQueueUrlCommand({ QueueName: name }))).QueueUrl;
    const receive = new ReceiveMessageCommand({
      QueueUrl: QueueUrlHere,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    const seen: number[] = [];
    for (const _ of upTo(2)) {
      const { Messages = [] } = await here.send(receive);
      for (const { Body, Attributes, MessageAttributes } of Messages) {
        const n = Number(Body);
        seen.push(n);
        expect(Attributes).toMatchObject({
          MessageGroupId: `g${n % 2}`,
          MessageDeduplicationId: `d${Math.floor(n / 2)}`,
        });
        expect(MessageAttributes).toMatchObject({
          n: { DataType: "Number", StringValue: Body },
          raw: { DataType: "Binary.x", BinaryValue: new Uint8Array([0, 255]) },
        });
      }
    }
    // Each receive gets the first ten of groups that nobody has.
    for (const group of [0, 1]) {
      const own = seen.filter((n) => n % 2 === group);
      expect(own).toEqual(
        upTo(30)
          .filter((n) => n % 2 === group)
          .slice(0, own.length),
      );
    }
    expect(seen.length).toBeGreaterThanOrEqual(10);
  });

  it("shows a plan, asks, and refuses where nobody can answer", async () => {
    const { name } = await bridge.sqsQueue(2);
    const args = ["adopt", name, "--from", "sqs"];
    const dry = await bridge.run([...args, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, err: "", asked: "" });
    expect(dry.out).toContain("2 messages");
    expect(JSON.parse((await bridge.run([...args, "--dry-run", "--json"])).out)).toMatchObject({
      backlog: { waiting: 2, inFlight: 0, delayed: 0 },
      refusal: null,
    });
    expect((await bridge.run(args)).code).toBe(5);
    expect(await bridge.run(args, "no")).toMatchObject({
      code: 5,
      asked: expect.stringContaining("Do it? [y/N]"),
    });
    expect(await lab.words(4, ["queues", "info", name])).toContain("There is no queue");
  });

  it("leaves the settings of a queue that exists, and says what differs", { tags: "slow" }, async () => {
    const { name } = await bridge.sqsQueue(1, { VisibilityTimeout: "77" });
    await lab.run(["queues", "create", name, "--message-retention-period-secs", "600"]);
    const { code, out } = await bridge.run(["adopt", name, "--from", "sqs", "--yes", ...LEASE]);
    expect(code).toBe(0);
    expect(out).toContain("  retention: 600 s (10 min), not 345600 s (4 d)\n");
    expect(out).toContain("  visibility: 30 s, not 77 s (1 min)\n\n");
    expect(await lab.json(["queues", "info", name])).toMatchObject({
      settings: { messageRetentionSeconds: 600 },
    });
    expect(await bridge.held(name)).toHaveLength(1);
  });
});

describe("sluice eject", () => {
  it("leaves what the other system cannot take, says why, and gives it back at once", async () => {
    const name = bridge.newName();
    await lab.run(["queues", "create", name]);
    const lines = [
      { body: "kept" },
      { contentType: "bytes", base64: "AP8=" },
      { body: "x", attributes: { a: { type: "String", value: "1" } } },
      { contentType: "json", text: '"a string"' },
      { body: { late: true }, delaySeconds: 600 },
    ];
    await lab.run(["import", name], { input: lines.map((line) => `${JSON.stringify(line)}\n`).join("") });
    const { code, err } = await bridge.run(["eject", name, "--to", "cloudflare", "--yes", ...LEASE]);
    expect(code).toBe(1);
    expect(err).toContain(`Moved 1 message of ${name} to Cloudflare.`);
    expect(err).toContain("Left 1 message, because Cloudflare keeps neither attributes nor groups.");
    expect(err).toContain("Left 1 message, because Cloudflare's API takes text and JSON alone.");
    expect(err).toMatch(/Left 1 message, because Cloudflare refuses POST .* \[code: 10207\]/);
    expect(err).toContain(`Queue ${name} of Sluice has 3 messages, 1 delayed now.`);
  });

  it("counts no delivery of a message that stays: one that may be received once is there afterwards", async () => {
    const [dead, name] = [bridge.newName(), bridge.newName()];
    const create = async (QueueName: string, Attributes: Record<string, string>) => {
      const { QueueUrl } = await bridge.sqsHere.send(new CreateQueueCommand({ QueueName, Attributes }));
      const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
      return (await bridge.sqsHere.send(get)).Attributes?.QueueArn;
    };
    const deadLetterTargetArn = await create(dead, {});
    await create(name, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }) });
    await lab.run(["import", name], { input: '{"contentType": "bytes", "base64": "AP8="}\n' });
    expect((await bridge.run(["eject", name, "--to", "cloudflare", "--yes", ...LEASE])).code).toBe(1);
    expect(await bridge.held(name)).toMatchObject([{ attempts: 0 }]);
    expect(await bridge.held(dead)).toEqual([]);
  });

  it("refuses a FIFO queue for Cloudflare, and names of different kinds", async () => {
    const name = bridge.newName(".fifo");
    await bridge.sqsHere.send(new CreateQueueCommand({ QueueName: name, Attributes: { FifoQueue: "true" } }));
    const said = await bridge.run(["eject", name, "--to", "cloudflare", "--yes"]);
    expect([said.code, said.err]).toEqual([1, expect.stringContaining("Cloudflare has none")]);
    expect((await bridge.run(["eject", name, "--to", "sqs", "--as", "plain"])).code).toBe(2);
  });
});
