import { once } from "node:events";
import { Agent, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { CreateTopicCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { expect, it, onTestFinished } from "vitest";
import { startBroker } from "./any-broker.ts";
import { startTlsProxy, type TlsProxy } from "./tls-proxy.ts";

/** Programs with AWS's SDK whose broker is behind a TLS proxy. */

const CREDENTIALS = { accessKeyId: "AKIA", secretAccessKey: "secret" };
const KEYS = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };

/** Makes the options of the SDK without the endpoint. A request in clear fails: it reaches no other address. */
function optionsFor({ agent: httpsAgent }: TlsProxy) {
  const httpAgent = new Agent({
    lookup: (host, _, found) => found(new Error(`"${host}" was called in clear`), []),
  });
  return {
    region: "us-east-1",
    credentials: CREDENTIALS,
    maxAttempts: 1,
    requestHandler: { httpsAgent, httpAgent },
  };
}

async function brokerBehind(proxy: TlsProxy, publicUrl: string, vars: Record<string, string> = {}) {
  const { origin } = await startBroker({ ...KEYS, SLUICE_PUBLIC_URL: publicUrl, ...vars });
  proxy.target = origin;
}

/** Creates a queue, sends to it and receives: by its URL, which it returns. */
async function sentAndReceived(sqs: SQSClient, brokerUrl: string): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: "mail" }));
  expect(QueueUrl).toBe(`${brokerUrl}/__sluice/aws/000000000000/mail`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello" }));
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages?.map(({ Body }) => Body)).toEqual(["hello"]);
  return QueueUrl;
}

it("the SDK sends to queues by their public URLs without an endpoint, and with keys", async () => {
  const proxy = await startTlsProxy();
  const url = `https://queues.example.com:${proxy.port}`;
  await brokerBehind(proxy, url);
  const named = new SQSClient({ endpoint: `${url}/__sluice/aws`, ...optionsFor(proxy) });
  onTestFinished(() => named.destroy());
  await named.send(new CreateQueueCommand({ QueueName: "mail" }));
  const { QueueUrl } = await named.send(new GetQueueUrlCommand({ QueueName: "mail" }));
  expect(QueueUrl).toBe(`${url}/__sluice/aws/000000000000/mail`);
  const bare = new SQSClient(optionsFor(proxy));
  onTestFinished(() => bare.destroy());
  await bare.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello" }));
  const { Messages: [message] = [] } = await bare.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(message?.Body).toBe("hello");
  await bare.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
  expect(proxy.requests).toHaveLength(5);
});

it("a path that the proxy removes is in the URLs of queues, and in the signed request", async () => {
  const proxy = await startTlsProxy("/queues");
  const url = `https://example.com:${proxy.port}/queues`;
  await brokerBehind(proxy, `${url}/`);
  const sqs = new SQSClient({ endpoint: `${url}/__sluice/aws`, ...optionsFor(proxy) });
  onTestFinished(() => sqs.destroy());
  const QueueUrl = await sentAndReceived(sqs, url);
  const { port } = new URL(proxy.target);
  const beside = new SQSClient({
    endpoint: `http://127.0.0.1:${port}/__sluice/aws`,
    region: "us-east-1",
    maxAttempts: 1,
    credentials: CREDENTIALS,
  });
  onTestFinished(() => beside.destroy());
  const direct = await beside.send(new GetQueueUrlCommand({ QueueName: "mail" }));
  expect(direct.QueueUrl).toBe(QueueUrl);
});

it("the headers of a trusted proxy determine the URLs of queues, and the signed request", async () => {
  const proxy = await startTlsProxy("/queues", (host) => ({
    host: "broker.internal",
    "x-forwarded-host": host,
    "x-forwarded-prefix": "/queues",
  }));
  const url = `https://queues.example.com:${proxy.port}/queues`;
  await brokerBehind(proxy, "", { SLUICE_TRUST_PROXY: "true" });
  const sqs = new SQSClient({ endpoint: `${url}/__sluice/aws`, ...optionsFor(proxy) });
  onTestFinished(() => sqs.destroy());
  await sentAndReceived(sqs, url);
});

it("a client cannot determine the URLs of queues of a broker that trusts no proxy", async () => {
  const { origin } = await startBroker({ SLUICE_ENV: "local" });
  // Without the protocol, which Miniflare trusts by itself.
  const forged = { "x-forwarded-host": "evil.example", "x-forwarded-prefix": "/evil" };
  const response = await fetch(`${origin}/__sluice/aws/?Action=CreateQueue&QueueName=mail`, {
    method: "POST",
    headers: forged,
  });
  expect(await response.text()).toContain(`<QueueUrl>${origin}/__sluice/aws/000000000000/mail</QueueUrl>`);
});

it("links in messages of SNS, and the certificate of their signature, are at the public address", async () => {
  const proxy = await startTlsProxy();
  const url = `https://queues.example.com:${proxy.port}`;
  const confirmation = Promise.withResolvers<Record<string, string>>();
  const subscriber = createServer(async (incoming, outgoing) => {
    confirmation.resolve(JSON.parse(await text(incoming)));
    outgoing.end();
  }).listen(0, "127.0.0.1");
  await once(subscriber, "listening");
  onTestFinished(() => {
    subscriber.close();
    subscriber.closeAllConnections();
  });
  await brokerBehind(proxy, url, { SLUICE_PUSH_HOSTS: "127.0.0.1" });
  const sns = new SNSClient({ endpoint: `${url}/__sluice/aws`, ...optionsFor(proxy) });
  onTestFinished(() => sns.destroy());
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: "news" }));
  const { port } = subscriber.address() as AddressInfo;
  const Endpoint = `http://127.0.0.1:${port}/`;
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint }));
  const { SubscribeURL, SigningCertURL } = await confirmation.promise;
  expect(SubscribeURL).toMatch(new RegExp(`^${url}/__sluice/aws/?\\?Action=ConfirmSubscription&`));
  expect(SigningCertURL).toMatch(new RegExp(`^${url}/__sluice/aws/SimpleNotificationService-\\w+\\.pem$`));
});
