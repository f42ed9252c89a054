import { ListTopicsCommand, SNSClient } from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";

const PATH = "/__sluice/aws";

/** Starts a broker with these variables, and returns a call of the SDK with credentials: `ok`, or an error's name. */
async function asker(bindings: Record<string, string>) {
  const broker = await startBroker(bindings);
  const endpoint = `${broker.origin}${PATH}`;
  const ask = async (accessKeyId: string, secretAccessKey: string, systemClockOffset = 0) => {
    const credentials = { accessKeyId, secretAccessKey };
    const client = new SQSClient({
      endpoint,
      region: "eu-west-1",
      credentials,
      systemClockOffset,
      maxAttempts: 1,
    });
    try {
      await client.send(new ListQueuesCommand({}));
      return "ok";
    } catch (error) {
      if (!(error instanceof SQSServiceException)) throw error;
      return `${error.$metadata.httpStatusCode} ${error.name}`;
    } finally {
      client.destroy();
    }
  };
  return { ask, endpoint };
}

it("with access keys every request must have a current signature of one", async () => {
  const { ask, endpoint } = await asker({ SLUICE_AWS_ACCESS_KEYS: "AKIA1:one, AKIA2:two:three" });
  expect(await ask("AKIA1", "one")).toBe("ok");
  expect(await ask("AKIA2", "two:three")).toBe("ok");
  expect(await ask("AKIA1", "two")).toBe("403 SignatureDoesNotMatch");
  expect(await ask("AKIA3", "one")).toBe("403 InvalidClientTokenId");
  expect(await ask("AKIA1", "one", 16 * 60_000)).toBe("403 SignatureDoesNotMatch");
  expect(await ask("AKIA1", "one", -16 * 60_000)).toBe("403 SignatureDoesNotMatch");
  const unsigned = await fetch(`${endpoint}/?Action=ListQueues`);
  expect([unsigned.status, await unsigned.text()]).toEqual([
    403,
    expect.stringContaining("<Code>MissingAuthenticationToken</Code>"),
  ]);
});

it("with access keys a topic accepts requests that are signed for SNS", async () => {
  const { endpoint } = await asker({ SLUICE_AWS_ACCESS_KEYS: "AKIA1:one" });
  const credentials = { accessKeyId: "AKIA1", secretAccessKey: "one" };
  const sns = new SNSClient({ endpoint, region: "eu-west-1", credentials, maxAttempts: 1 });
  expect((await sns.send(new ListTopicsCommand({}))).Topics ?? []).toEqual([]);
  sns.destroy();
});

it("a key that the broker stores has its scopes and queues, until it is revoked", async () => {
  const broker = await startBroker({ SLUICE_API_TOKENS: "first" });
  const admin = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${broker.origin}/__sluice/api/tokens${path}`, {
      method,
      headers: { authorization: "Bearer first" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { secret: string; token: { accessKeyId: string } };
  };
  const clientOf = ({ secret, token }: { secret: string; token: { accessKeyId: string } }) =>
    new SQSClient({
      endpoint: `${broker.origin}${PATH}`,
      region: "us-east-1",
      maxAttempts: 1,
      credentials: { accessKeyId: token.accessKeyId, secretAccessKey: secret },
    });
  const root = clientOf(await admin("POST", "", { name: "root", scopes: ["admin"], aws: true }));
  const urls = [];
  for (const QueueName of ["orders", "mails"]) {
    urls.push((await root.send(new CreateQueueCommand({ QueueName }))).QueueUrl);
  }
  const made = await admin("POST", "", { name: "shop", scopes: ["send"], queues: ["orders"], aws: true });
  const shop = clientOf(made);
  const send = (client: SQSClient, QueueUrl: string | undefined) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody: "1" }));
  expect(await send(shop, urls[0])).toHaveProperty("MessageId");
  await expect(send(shop, urls[1])).rejects.toMatchObject({
    name: "AccessDenied",
    message:
      "User: arn:aws:iam::000000000000:user/shop is not authorized to perform: sqs:sendmessage on resource: " +
      "arn:aws:sqs:us-east-1:000000000000:mails because no identity-based policy allows the sqs:sendmessage action",
  });
  await expect(shop.send(new ListQueuesCommand({}))).rejects.toMatchObject({ name: "AccessDenied" });
  const rotated = clientOf(await admin("POST", "/shop/rotate"));
  expect(await send(shop, urls[0])).toHaveProperty("MessageId");
  expect(await send(rotated, urls[0])).toHaveProperty("MessageId");
  await admin("DELETE", "/shop");
  for (const client of [shop, rotated]) {
    await expect(send(client, urls[0])).rejects.toMatchObject({ name: "InvalidClientTokenId" });
  }
  for (const client of [root, shop, rotated]) client.destroy();
});

it("a signed request with a changed target is refused", async () => {
  const { endpoint } = await asker({ SLUICE_AWS_ACCESS_KEYS: "AKIA1:one" });
  const sqs = new SQSClient({
    endpoint,
    region: "eu-west-1",
    maxAttempts: 1,
    credentials: { accessKeyId: "AKIA1", secretAccessKey: "one" },
  });
  sqs.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers["x-amz-target"] = "AmazonSQS.ListQueues";
      headers["x-amz-security-token"] = "another";
      return next(args);
    },
    { step: "finalizeRequest", priority: "low" },
  );
  await expect(sqs.send(new ListQueuesCommand({}))).rejects.toMatchObject({
    name: "SignatureDoesNotMatch",
    message: expect.stringContaining("'x-amz-security-token' must be a 'SignedHeader'"),
  });
  sqs.destroy();
});

it("a deployed broker without access keys refuses every request, and names the setting", async () => {
  const { ask, endpoint } = await asker({});
  expect(await ask("AKIA1", "one")).toBe("403 AccessDenied");
  expect(await (await fetch(`${endpoint}/?Action=ListQueues`)).text()).toContain("SLUICE_AWS_ACCESS_KEYS");
});

it.each([
  [{ SLUICE_AWS_ACCESS_KEYS: "AKIA1" }, "SLUICE_AWS_ACCESS_KEYS must be KEY:SECRET"],
  [{ SLUICE_AWS_ACCOUNT_ID: "42", SLUICE_ENV: "local" }, "SLUICE_AWS_ACCOUNT_ID must have twelve digits"],
  [{ SLUICE_PUBLIC_URL: "queues", SLUICE_ENV: "local" }, "SLUICE_PUBLIC_URL must be an absolute URL"],
  [{ SLUICE_TRUST_PROXY: "1", SLUICE_ENV: "local" }, "SLUICE_TRUST_PROXY must be true or false"],
])("a broker with %j refuses every request, and says what is wrong", async (bindings, reason) => {
  const { ask, endpoint } = await asker(bindings);
  expect(await ask("AKIA1", "one")).toBe("403 AccessDenied");
  expect(await (await fetch(`${endpoint}/?Action=ListQueues`)).text()).toContain(
    `<Message>This broker's AWS endpoint is closed: ${reason}`,
  );
});

it("an open broker answers every client except pages of other sites", async () => {
  const { ask, endpoint } = await asker({ SLUICE_ENV: "development" });
  expect(await ask("anybody", "anything")).toBe("ok");
  const statusOf = async (action: string, headers: Record<string, string>) =>
    (await fetch(`${endpoint}/?Action=${action}&QueueName=orders`, { headers })).status;
  expect(await statusOf("ListQueues", {})).toBe(200);
  expect(await statusOf("ListQueues", { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await statusOf("CreateQueue", {})).toBe(403);
  expect(await statusOf("CreateQueue", { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await statusOf("CreateQueue", { "sec-fetch-site": "same-origin" })).toBe(200);
  const form = { method: "POST", body: new URLSearchParams({ Action: "ListQueues" }) };
  expect(
    (await fetch(`${endpoint}/`, { ...form, headers: { origin: "https://other.example" } })).status,
  ).toBe(403);
  expect((await fetch(`${endpoint}/`, form)).status).toBe(200);
});
