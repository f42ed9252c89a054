import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { type HttpEndpoint, startEndpoint } from "@sluice/broker/testing/http-endpoint";
import { definition, endpoint as endpointConsumer, pullConsumer } from "@sluice/broker/testing/messages";
import { openBroker } from "@sluice/broker-worker/open-broker";
import type { QueueDefinition } from "@sluice/protocol";
import { expect, it, onTestFinished, vi } from "vitest";
import { awsOptions } from "./any-broker.ts";
import { objectsFolder } from "./node-broker.ts";

/* The trace context of a message in the dialects that send and receive it, on the broker of plain Node.js. */

const TRACE_ID = "5759e988bd862e3fe1be46a994272793";
const TRACEPARENT = `00-${TRACE_ID}-53995c3f42cd8ad8-01`;
const XRAY = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

/** A broker with HTTP clients, until the end of the test. */
async function startBroker(
  queues: Record<string, QueueDefinition> = {},
  more: Record<string, string> = {},
  folder = objectsFolder(),
) {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const vars = { SLUICE_ENV: "local", ...more };
  const broker = openBroker({ folder, worker: "sluice", topology: { queues }, vars });
  onTestFinished(() => broker.close());
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const headers = Object.entries(request.headers) as [string, string][];
    const init = { method: request.method ?? "", headers };
    const body = init.method === "GET" ? {} : { body: Buffer.concat(chunks) };
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await broker.gateway.fetch(new Request(url, { ...init, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sqs = new SQSClient(awsOptions(`${origin}/__sluice/aws`));
  const sns = new SNSClient(awsOptions(`${origin}/__sluice/aws`));
  const ask = async <Answer>(path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${origin}/__sluice${path}`, { ...sent, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  return { sqs, sns, ask };
}

type Broker = Awaited<ReturnType<typeof startBroker>>;

async function receive({ sqs }: Broker, QueueUrl: string, names: readonly string[]): Promise<Message> {
  const MessageSystemAttributeNames = names as "All"[];
  const asked = { QueueUrl, MessageSystemAttributeNames, MessageAttributeNames: ["All"] };
  const { Messages: [message] = [] } = await sqs.send(
    new ReceiveMessageCommand({ ...asked, VisibilityTimeout: 0, WaitTimeSeconds: 5 }),
  );
  if (message === undefined) throw new Error("there is no message");
  return message;
}

async function startHttp(): Promise<HttpEndpoint> {
  const endpoint = await startEndpoint();
  onTestFinished(() => endpoint.close());
  return endpoint;
}

const endpointOf = ({ port }: HttpEndpoint) =>
  definition({ consumer: endpointConsumer({ url: `http://127.0.0.1:${port}/tasks` }) });

const traceparentAttribute = { traceparent: { DataType: "String", StringValue: TRACEPARENT } };

it("a client of SQS gets the trace of a message if it asks for it, and as AWS has it", async () => {
  const broker = await startBroker();
  const { QueueUrl = "" } = await broker.sqs.send(new CreateQueueCommand({ QueueName: "orders" }));
  await broker.ask("/client/v4/accounts/any/queues?name=orders").then(async (found) => {
    const { result } = found as { result: [{ queue_id: string }] };
    const path = `/client/v4/accounts/any/queues/${result[0].queue_id}/messages`;
    await broker.ask(path, { body: "a", content_type: "text" }, { traceparent: TRACEPARENT });
  });
  const plain = await receive(broker, QueueUrl, []);
  expect([plain.Attributes, plain.MessageAttributes, plain.MD5OfMessageAttributes]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const others = await receive(broker, QueueUrl, ["SentTimestamp"]);
  expect(Object.keys(others.Attributes ?? {})).toEqual(["SentTimestamp"]);
  const asked = await receive(broker, QueueUrl, ["AWSTraceHeader"]);
  expect(asked.Attributes).toEqual({ AWSTraceHeader: XRAY });
  expect(asked.MessageAttributes).toBeUndefined();
  const size = await broker.sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  expect(size.Attributes?.ApproximateNumberOfMessages).toBe("1");
});

it("what a client of SQS sends keeps its attributes, and has the trace that they name", async () => {
  const broker = await startBroker();
  const { QueueUrl = "" } = await broker.sqs.send(new CreateQueueCommand({ QueueName: "orders" }));
  const traceHeader = { AWSTraceHeader: { DataType: "String", StringValue: "Root=1-x" } } as const;
  await broker.sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: "a",
      MessageAttributes: traceparentAttribute,
      MessageSystemAttributes: traceHeader,
    }),
  );
  const message = await receive(broker, QueueUrl, ["All"]);
  expect(message.MessageAttributes).toMatchObject(traceparentAttribute);
  expect(message.Attributes?.AWSTraceHeader).toBe("Root=1-x");
  const story = await broker.ask<{ messages: { trace?: object }[] }>("/api/queues/orders/messages");
  expect(story.messages).toMatchObject([{ trace: { id: TRACE_ID, traceparent: TRACEPARENT } }]);
});

it("an HTTP endpoint gets the trace of a message as headers, and none for a message without one", async () => {
  const endpoint = await startHttp();
  const broker = await startBroker({ orders: endpointOf(endpoint) });
  await broker.ask(
    "/api/queues/orders/messages",
    { body: "a" },
    { traceparent: TRACEPARENT, tracestate: "k=v" },
  );
  await endpoint.until(() => endpoint.posts.length === 1);
  await broker.ask("/api/queues/orders/messages", { body: "b" });
  await endpoint.until(() => endpoint.posts.length === 2);
  expect(endpoint.posts.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
    [TRACEPARENT, "k=v"],
    [undefined, undefined],
  ]);
});

it("what is published to a topic has the trace of its request in queues and at endpoints", async () => {
  const endpoint = await startHttp();
  const broker = await startBroker();
  const { TopicArn = "" } = await broker.sns.send(new CreateTopicCommand({ Name: "news" }));
  const { QueueUrl = "" } = await broker.sqs.send(new CreateQueueCommand({ QueueName: "mail" }));
  const subscribe = (Protocol: string, Endpoint: string, RawMessageDelivery: string) =>
    broker.sns.send(
      new SubscribeCommand({ TopicArn, Protocol, Endpoint, Attributes: { RawMessageDelivery } }),
    );
  await subscribe("sqs", "arn:aws:sqs:us-east-1:000000000000:mail", "false");
  await subscribe("http", `http://127.0.0.1:${endpoint.port}/news`, "true");
  const isConfirmation = ({ headers }: { headers: Record<string, unknown> }) =>
    headers["x-amz-sns-message-type"] === "SubscriptionConfirmation";
  await endpoint.until(() => endpoint.posts.some(isConfirmation));
  const { SubscribeURL } = JSON.parse(endpoint.posts.find(isConfirmation)?.body ?? "{}");
  expect((await fetch(SubscribeURL)).status).toBe(200);
  broker.sns.middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: Record<string, string> }).headers, {
        traceparent: TRACEPARENT,
      });
      return next(args);
    },
    { step: "build" },
  );
  await broker.sns.send(new PublishCommand({ TopicArn, Message: "hello" }));
  const message = await receive(broker, QueueUrl, ["AWSTraceHeader"]);
  expect(message.Attributes).toEqual({ AWSTraceHeader: XRAY });
  await endpoint.until(() => endpoint.posts.some(({ body }) => body === "hello"));
  expect(endpoint.posts.find(({ body }) => body === "hello")?.headers.traceparent).toBe(TRACEPARENT);
});

it("a client that pulls or peeks gets the trace of a message in its metadata, and none where there is none", async () => {
  const broker = await startBroker({ orders: definition({ consumer: pullConsumer() }) });
  const queues = "/client/v4/accounts/any/queues";
  const { result } = await broker.ask<{ result: { queue_id: string }[] }>(`${queues}?name=orders`);
  const path = `${queues}/${result[0]?.queue_id}/messages`;
  const state = { traceparent: TRACEPARENT, tracestate: "shop=1" };
  await broker.ask(path, { body: { order: 1 } }, state);
  await broker.ask(path, { body: { order: 2 } });
  const json = { "CF-Content-Type": "json" };
  for (const action of ["peek", "pull"]) {
    const answer = await broker.ask<{ result: { messages: { metadata: object }[] } }>(`${path}/${action}`, {
      batch_size: 2,
    });
    expect(answer.result.messages.map(({ metadata }) => metadata)).toEqual([{ ...json, ...state }, json]);
  }
});

it("a message keeps its trace when it is exported and imported, sent again, and told about", async () => {
  const vars = { SLUICE_TRACE_URL: "https://traces.example/{traceId}" };
  const broker = await startBroker({ orders: definition(), others: definition() }, vars);
  const path = "/api/queues/orders/messages";
  const { id } = await broker.ask<{ id: string }>(path, { body: "a" }, { traceparent: TRACEPARENT });
  interface Shown {
    readonly messages: { readonly trace?: { readonly traceparent: string } }[];
  }
  const exported = await broker.ask<Shown>(`${path}?whole=true`);
  await broker.ask("/api/queues/others/messages/batch", exported);
  await broker.ask(`${path}/${id}/resend`, { to: "others" });
  const { messages } = await broker.ask<Shown>("/api/queues/others/messages");
  expect(messages.map(({ trace }) => trace?.traceparent)).toEqual([TRACEPARENT, TRACEPARENT]);
  const trace = { id: TRACE_ID, traceparent: TRACEPARENT, url: `https://traces.example/${TRACE_ID}` };
  expect(await broker.ask(`${path}/${id}`)).toMatchObject({ trace });
  const { traceparent: _, ...link } = trace;
  expect(await broker.ask(`${path}/${id}/story`)).toMatchObject({ trace: link });
  await expect(
    broker.ask("/api/queues/others/messages/batch", {
      messages: [{ text: "1", trace: { traceparent: "x" } }],
    }),
  ).rejects.toThrow("must be a traceparent of W3C");
});

it("a message keeps its trace in a backup, with its tracestate", async () => {
  const broker = await startBroker({ orders: definition(), others: definition() });
  const headers = { traceparent: TRACEPARENT, tracestate: "k=v" };
  await broker.ask("/api/queues/orders/messages", { body: "a" }, headers);
  const saved = await broker.ask<object>("/api/backup/messages?queue=orders");
  await broker.ask("/api/backup/messages?queue=others", saved);
  expect(await broker.ask("/api/queues/others/messages")).toMatchObject({
    messages: [{ trace: { id: TRACE_ID, ...headers } }],
  });
});

it("a broker on Node.js exports its spans, and goes on while the collector is away", async () => {
  const { promise: body, resolve } = Promise.withResolvers<string>();
  const collector = createServer(async (request, response) => {
    resolve(`${request.headers["x-team"]} ${Buffer.concat(await request.toArray())}`);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => void collector.close());
  const { port } = collector.address() as AddressInfo;
  const vars = { SLUICE_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, SLUICE_OTLP_HEADERS: "x-team=shop" };
  const broker = await startBroker({ orders: definition() }, vars);
  await broker.ask("/api/queues/orders/messages", { body: "a" }, { traceparent: TRACEPARENT });
  const [team, ...json] = (await body).split(" ");
  expect(team).toBe("shop");
  const [{ scopeSpans }] = JSON.parse(json.join(" ")).resourceSpans;
  expect(scopeSpans[0].spans).toMatchObject([
    { traceId: TRACE_ID, parentSpanId: TRACEPARENT.slice(36, 52), name: "send orders", kind: 4 },
  ]);

  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const away = { SLUICE_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  const other = await startBroker({ orders: definition() }, away);
  await other.ask("/api/queues/orders/messages", { body: "a" });
  await expect
    .poll(() => warn.mock.calls.join(), { timeout: 10_000 })
    .toContain("The collector http://127.0.0.1:9/v1/traces takes no spans");
  expect(await other.ask("/api/queues/orders/messages")).toMatchObject({ messages: [{ text: "a" }] });
});
