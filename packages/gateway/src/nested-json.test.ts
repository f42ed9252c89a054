import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { directoryOf, OPEN, ORDERS, recordOf } from "../test/directory.ts";
import { sns, startOver } from "../test/sns-publisher.ts";
import { SqsClient } from "../test/sqs-client.ts";
import { SNS_ACTIONS } from "./aws/sns/model.ts";
import { SQS_MODEL } from "./aws/sqs/model.ts";
import { JSON_DEPTH_MAX } from "./http/bounded-json.ts";
import { createBindingApp, createGateway } from "./index.ts";

/** JSON that is nested deeper than a stack goes is refused in the words of its dialect, wherever it is sent. */

const ORIGIN = "http://localhost:8787";
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const DEEP = nested(30_000);
const OBJECTS = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
/** Members that some route or action has. */
const MEMBERS = [
  ...["body", "messages", "attributes", "contentType", "filter", "ids", "to", "faults", "name", "scopes"],
  ...["queues", "queue_name", "settings", "type", "acks", "destination", "events", "source", "consumer"],
];
const BODIES = [DEEP, OBJECTS, ...MEMBERS.map((name) => `{"${name}":${DEEP}}`)].concat(
  `{"body":${OBJECTS}}`,
  `{"messages":[{"body":${DEEP}}]}`,
  `{"messages":[{"body":${OBJECTS},"content_type":"json"}]}`,
);

const log = vi.spyOn(console, "error");
/** Returns the failures that were logged, but for those whose reason is that no queue here does anything. */
const failures = () => log.mock.calls.flat().filter((text) => !/no test (calls|asks)/.test(String(text)));
beforeEach(() => void log.mockReset().mockImplementation(() => {}));
afterEach(() => expect(failures()).toEqual([]));

const gateway = createGateway(directoryOf(), OPEN);
const { queueId } = recordOf("orders", ORDERS);
const ROUTES = gateway.routes
  .filter(({ method }) => ["POST", "PUT", "PATCH"].includes(method))
  .map(({ method, path }) => `${method} ${path.replace(":name", "orders").replace(":queue_id", queueId)}`);

const send = (route: string, body: string) => {
  const [method = "", path = ""] = route.split(" ");
  return gateway.request(`${ORIGIN}${path.replaceAll(/:[a-z_]+/g, "any")}`, { method, body });
};

it.each([...new Set(ROUTES)])("JSON that is nested too deep makes nothing fail: %s", async (route) => {
  for (const body of BODIES) await (await send(route, body)).body?.cancel();
});

const cloudflare = `POST /__sluice/client/v4/accounts/any/queues/${queueId}/messages`;

it.each([
  ["POST /__sluice/api/queues/orders/messages", { error: { code: "invalid_body" } }, '{"body":%}'],
  ["POST /__sluice/api/queues/orders/messages/batch", { error: { code: "invalid_body" } }, '{"messages":%}'],
  [cloudflare, { success: false, errors: [{ code: 10208 }] }, '{"body":%}'],
  [`${cloudflare}/batch`, { success: false, errors: [{ code: 10208 }] }, '{"messages":[{"body":%}]}'],
  ["POST /__sluice/client/v4/accounts/any/queues", { success: false, errors: [{ code: 10026 }] }, "%"],
])(
  "JSON that is nested too deep is answered with 400 in the words of its API: %s",
  async (route, error, body) => {
    for (const deep of [DEEP, OBJECTS, nested(JSON_DEPTH_MAX + 1)]) {
      const answer = await send(route, body.replace("%", deep));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject(error);
    }
  },
);

it.each([
  [JSON_DEPTH_MAX - 1, false],
  [JSON_DEPTH_MAX, false],
  [JSON_DEPTH_MAX + 1, true],
])("JSON that is nested too deep is what has %i levels: %s", async (levels, isRefused) => {
  // The object around it is a level, too.
  const answer = await send(cloudflare, `{"body":${nested(levels - 1)}}`);
  expect(answer.status === 400).toBe(isRefused);
  expect((await answer.text()).includes(`nested deeper than ${JSON_DEPTH_MAX} levels`)).toBe(isRefused);
});

it("JSON that is nested too deep is no batch of the binding of workerd", async () => {
  const broker = directoryOf().queue("orders");
  for (const body of [DEEP, OBJECTS, `{"messages":${DEEP}}`, `{"messages":[{"body":${DEEP}}]}`]) {
    const request = new Request("https://fake-host/batch", { method: "POST", body });
    const answer = await createBindingApp().fetch(request, { queue: "orders", broker });
    expect(answer.status).toBe(400);
  }
});

it.each(Object.entries(SQS_MODEL.actions))(
  "JSON that is nested too deep makes no action of SQS fail: %s",
  async (action, { input }) => {
    const sqs = new SqsClient();
    const QueueUrl = await sqs.create("orders");
    const texts = [DEEP, OBJECTS];
    const attributes = ["Policy", "RedrivePolicy", "RedriveAllowPolicy"];
    const inputs = texts.flatMap((deep) => [
      ...Object.keys(input.members).map((name) => ({ QueueUrl, [name]: JSON.parse(deep) as unknown })),
      ...attributes.map((name) => ({ QueueUrl, QueueName: "q", Attributes: { [name]: deep } })),
      ...attributes.map((name) => ({
        QueueUrl,
        Attributes: { [name]: `{"Statement":${deep},"a":${deep}}` },
      })),
    ]);
    const head = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
    for (const one of [...texts, ...inputs.map(textOf)]) {
      await sqs.request(`${ORIGIN}/`, { method: "POST", headers: head, body: one });
    }
  },
);

it("JSON that is nested too deep is no policy of a queue, which permissions are added to", async () => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("orders");
  const Attributes = { Policy: `{"Statement":[${OBJECTS}]}` };
  expect(await sqs.refusal("SetQueueAttributes", { QueueUrl, Attributes })).toMatchObject({ status: 400 });
  const permission = { Label: "a", AWSAccountIds: ["000000000001"], Actions: ["SendMessage"] };
  await sqs.call("AddPermission", { QueueUrl, ...permission });
});

it.each(Object.keys(SNS_ACTIONS))(
  "JSON that is nested too deep makes no action of SNS fail: %s",
  async (action) => {
    await startOver();
    const arns = { TopicArn: "arn:aws:sns:us-east-1:000000000000:news", Name: "news" };
    const own = {
      Protocol: "http",
      Endpoint: "http://localhost:9/",
      Message: DEEP,
      MessageStructure: "json",
    };
    for (const deep of [
      DEEP,
      OBJECTS,
      `{"Statement":${DEEP},"default":${DEEP},"a":${OBJECTS},"http":${DEEP}}`,
    ]) {
      for (const name of ["DeliveryPolicy", "FilterPolicy", "Policy", "RedrivePolicy"]) {
        const named = { AttributeName: name, AttributeValue: deep };
        const entry = { "Attributes.entry.1.key": name, "Attributes.entry.1.value": deep };
        const { status } = await sns.post(action, { ...arns, ...own, ...named, ...entry, Message: deep });
        expect(status).toBeLessThan(500);
      }
    }
  },
);

/** An input as text: `JSON.stringify` itself goes no deeper than its stack. */
function textOf(input: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(input).map(([name, value]) => {
    const isDeep = typeof value === "object" && (Array.isArray(value) || "a" in (value as object));
    return `"${name}":${isDeep ? (Array.isArray(value) ? DEEP : OBJECTS) : JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}`;
}
