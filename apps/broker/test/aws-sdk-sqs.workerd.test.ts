import {
  AddPermissionCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  ReceiveMessageCommand,
  RemovePermissionCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from "@aws-sdk/client-sqs";
import { beforeAll, expect, it } from "vitest";
import { clientOf, created, endpoint, receive, refusal, sqs, start } from "./sqs-sdk.ts";

beforeAll(start);

it("queues, with the AWS SDK are created, found, listed and deleted", async () => {
  const url = await created("life");
  expect(url).toBe(`${endpoint}/000000000000/life`);
  expect(await created("life")).toBe(url);
  expect(await sqs.send(new GetQueueUrlCommand({ QueueName: "life" }))).toMatchObject({ QueueUrl: url });
  await created("life-2");
  expect(await sqs.send(new ListQueuesCommand({ QueueNamePrefix: "life" }))).toMatchObject({
    QueueUrls: [url, `${endpoint}/000000000000/life-2`],
  });
  const first = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: "life", MaxResults: 1 }));
  expect(first.QueueUrls).toEqual([url]);
  const second = new ListQueuesCommand({
    QueueNamePrefix: "life",
    MaxResults: 1,
    NextToken: first.NextToken,
  });
  const rest = await sqs.send(second);
  expect([rest.QueueUrls, rest.NextToken]).toEqual([[`${endpoint}/000000000000/life-2`], undefined]);
  const waiting = refusal(receive(url, { WaitTimeSeconds: 20 }));
  await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
  expect(await waiting).toMatchObject({ name: "QueueDoesNotExist", status: 400 });
  expect(await refusal(sqs.send(new GetQueueUrlCommand({ QueueName: "life" })))).toEqual({
    name: "QueueDoesNotExist",
    status: 400,
    message: "The specified queue does not exist.",
    code: "AWS.SimpleQueueService.NonExistentQueue",
  });
});

it("queues, with the AWS SDK have AWS's attributes, ranges and texts", async () => {
  const QueueUrl = await created("attributes", { VisibilityTimeout: "5", DelaySeconds: "0" });
  const all = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  expect((await sqs.send(all)).Attributes).toEqual({
    ApproximateNumberOfMessages: "0",
    ApproximateNumberOfMessagesDelayed: "0",
    ApproximateNumberOfMessagesNotVisible: "0",
    CreatedTimestamp: expect.stringMatching(/^\d{10}$/),
    DelaySeconds: "0",
    LastModifiedTimestamp: expect.stringMatching(/^\d{10}$/),
    MaximumMessageSize: "1048576",
    MessageRetentionPeriod: "345600",
    QueueArn: "arn:aws:sqs:us-east-1:000000000000:attributes",
    ReceiveMessageWaitTimeSeconds: "0",
    SqsManagedSseEnabled: "true",
    VisibilityTimeout: "5",
  });
  const set = (Attributes: Record<string, string>) =>
    sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
  await set({ VisibilityTimeout: "43200", MaximumMessageSize: "1024", ReceiveMessageWaitTimeSeconds: "20" });
  expect((await sqs.send(all)).Attributes).toMatchObject({
    VisibilityTimeout: "43200",
    MaximumMessageSize: "1024",
    ReceiveMessageWaitTimeSeconds: "20",
  });
  expect(await refusal(set({ VisibilityTimeout: "43201" }))).toMatchObject({
    name: "InvalidAttributeValue",
    message: "Invalid value for the parameter VisibilityTimeout.",
  });
  expect(await refusal(set({ Nonsense: "1" }))).toMatchObject({
    name: "InvalidAttributeName",
    message: "Unknown Attribute Nonsense.",
  });
  expect(await refusal(created("attributes", { VisibilityTimeout: "6" }))).toMatchObject({
    name: "QueueNameExists",
    message:
      "A queue already exists with the same name and a different value for attribute VisibilityTimeout",
  });
});

it("queues, with the AWS SDK have tags and permissions", async () => {
  const QueueUrl = await created("tagged");
  await sqs.send(new TagQueueCommand({ QueueUrl, Tags: { team: "a", empty: "" } }));
  await sqs.send(new UntagQueueCommand({ QueueUrl, TagKeys: ["team", "none"] }));
  expect((await sqs.send(new ListQueueTagsCommand({ QueueUrl }))).Tags).toEqual({ empty: "" });
  const grant = { QueueUrl, Label: "one", AWSAccountIds: ["123456789012"], Actions: ["SendMessage"] };
  await sqs.send(new AddPermissionCommand(grant));
  expect(await refusal(sqs.send(new AddPermissionCommand(grant)))).toMatchObject({
    message: "Value one for parameter Label is invalid. Reason: Already exists.",
  });
  const policy = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["Policy"] });
  expect(JSON.parse((await sqs.send(policy)).Attributes?.Policy ?? "{}")).toEqual({
    Version: "2008-10-17",
    Id: "arn:aws:sqs:us-east-1:000000000000:tagged/SQSDefaultPolicy",
    Statement: [
      {
        Sid: "one",
        Effect: "Allow",
        Principal: { AWS: "arn:aws:iam::123456789012:root" },
        Action: "SQS:SendMessage",
        Resource: "arn:aws:sqs:us-east-1:000000000000:tagged",
      },
    ],
  });
  await sqs.send(new RemovePermissionCommand({ QueueUrl, Label: "one" }));
  expect((await sqs.send(policy)).Attributes).toBeUndefined();
});

it("queues, with the AWS SDK of different regions are different queues", async () => {
  const url = await created("regional");
  const elsewhere = clientOf("eu-west-1");
  const { QueueUrl = "" } = await elsewhere.send(new CreateQueueCommand({ QueueName: "regional" }));
  expect(QueueUrl).toBe(`${endpoint}/queue/eu-west-1/000000000000/regional`);
  await elsewhere.send(new SendMessageCommand({ QueueUrl, MessageBody: "there" }));
  expect(await receive(url)).toEqual([]);
  const { Messages = [] } = await elsewhere.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages.map(({ Body }) => Body)).toEqual(["there"]);
  elsewhere.destroy();
});
