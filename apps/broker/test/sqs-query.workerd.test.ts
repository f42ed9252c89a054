import { beforeAll, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

let endpoint: string;

beforeAll(async () => {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" });
  endpoint = `${broker.origin}/__sluice/aws`;
  return broker.dispose;
});

/** Sends a request in the Query protocol as a form, to the endpoint or a queue's URL. */
async function post(params: Record<string, string>, url = `${endpoint}/`) {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(params) });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

function element(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
}

async function created(QueueName: string): Promise<string> {
  const { text } = await post({ Action: "CreateQueue", Version: "2012-11-05", QueueName });
  return element(text, "QueueUrl") ?? "";
}

it("the Query protocol creates a queue, sends to it and receives, all with forms", async () => {
  const QueueUrl = await created("forms");
  const sent = await post({
    Action: "SendMessage",
    QueueUrl,
    MessageBody: 'a <b> & "c"\r\n',
    "MessageAttribute.1.Name": "k",
    "MessageAttribute.1.Value.DataType": "String",
    "MessageAttribute.1.Value.StringValue": "x",
  });
  expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "text/xml"]);
  expect(element(sent.text, "MD5OfMessageAttributes")).toBe("a45daa70926828a2f0a1db3418e6feb4");
  const received = await post({
    Action: "ReceiveMessage",
    QueueUrl,
    "AttributeName.1": "ApproximateReceiveCount",
    "MessageAttributeName.1": "All",
  });
  expect(received.text).toContain("<Body>a &lt;b&gt; &amp; &quot;c&quot;&#xD;\n</Body>");
  expect(received.text).toContain(
    "<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute>",
  );
  expect(received.text).toContain(
    "<MessageAttribute><Name>k</Name>" +
      "<Value><DataType>String</DataType><StringValue>x</StringValue></Value></MessageAttribute>",
  );
  const ReceiptHandle = element(received.text, "ReceiptHandle") ?? "";
  const deleted = await post({ Action: "DeleteMessage", QueueUrl, ReceiptHandle });
  expect(deleted.text.replace(/>[0-9a-f-]{36}</, ">UUID<")).toBe(
    '<?xml version="1.0"?>' +
      '<DeleteMessageResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/">' +
      "<ResponseMetadata><RequestId>UUID</RequestId></ResponseMetadata></DeleteMessageResponse>",
  );
  expect((await post({ Action: "ReceiveMessage", QueueUrl })).text).toContain("<ReceiveMessageResult/>");
});

it("the Query protocol accepts a queue's URL as the endpoint, and prefers a QueueUrl", async () => {
  const [one, two] = [await created("one"), await created("two")];
  await post({ Action: "SendMessage", MessageBody: "to one" }, one);
  await post({ Action: "SendMessage", MessageBody: "to two", QueueUrl: two }, one);
  const bodyOf = async (url: string) => element((await post({ Action: "ReceiveMessage" }, url)).text, "Body");
  expect([await bodyOf(one), await bodyOf(two)]).toEqual(["to one", "to two"]);
  const named = await fetch(`${one}?Action=GetQueueUrl&QueueName=two`);
  expect(element(await named.text(), "QueueUrl")).toBe(two);
});

it("the Query protocol reads entries of a batch by their numbers", async () => {
  const QueueUrl = await created("batches");
  const entries = Array.from({ length: 10 }, (_, i) => [
    [`SendMessageBatchRequestEntry.${i + 1}.Id`, `id-${i + 1}`],
    [`SendMessageBatchRequestEntry.${i + 1}.MessageBody`, `body ${i + 1}`],
  ]);
  const { text } = await post({
    Action: "SendMessageBatch",
    QueueUrl,
    ...Object.fromEntries(entries.flat()),
  });
  const ids = [...text.matchAll(/<Id>([^<]*)<\/Id>/g)].map(([, id]) => id);
  expect(ids).toEqual(Array.from({ length: 10 }, (_, i) => `id-${i + 1}`));
});

it.each([
  ["CreateQueue", "The action CreateQueue is not valid for this endpoint."],
  ["ListQueues", "The action ListQueues is not valid for this endpoint."],
  ["FooBar", "The action FooBar is not valid for this endpoint."],
])("the Query protocol refuses %s at a queue's URL", async (Action, message) => {
  const url = await created("at-queue");
  const { status, text } = await post({ Action, QueueName: "x" }, url);
  expect([status, element(text, "Code"), element(text, "Message"), element(text, "Type")]).toEqual([
    400,
    "InvalidAction",
    message,
    "Sender",
  ]);
});

it("the Query protocol has its own text for a queue that does not exist", async () => {
  const { status, text } = await post({
    Action: "SendMessage",
    QueueUrl: `${endpoint}/000000000000/none`,
    MessageBody: "x",
  });
  expect([status, element(text, "Code"), element(text, "Message")]).toEqual([
    400,
    "AWS.SimpleQueueService.NonExistentQueue",
    "The specified queue does not exist for this wsdl version.",
  ]);
});

it("the Query protocol answers in its own JSON to clients that accept JSON", async () => {
  const url = await created("as-json");
  // The signature is not checked: without one a GET changes nothing.
  const authorization = "AWS4-HMAC-SHA256";
  await post({ Action: "SendMessage", MessageBody: "x" }, url);
  const get = async (query: string, at = url) => {
    const answer = await fetch(`${at}?${query}`, { headers: { accept: "application/json", authorization } });
    expect(answer.headers.get("content-type")).toBe("application/json");
    return (await answer.json()) as Record<string, unknown>;
  };
  const metadata = { ResponseMetadata: { RequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) } };
  expect(await get("Action=ListQueues&QueueNamePrefix=as-json", `${endpoint}/`)).toEqual({
    ListQueuesResponse: { ListQueuesResult: { queueUrls: [url], NextToken: null }, ...metadata },
  });
  expect(await get("Action=GetQueueAttributes&AttributeName.1=VisibilityTimeout")).toEqual({
    GetQueueAttributesResponse: {
      GetQueueAttributesResult: { Attributes: [{ Name: "VisibilityTimeout", Value: "30" }] },
      ...metadata,
    },
  });
  expect(await get("Action=ReceiveMessage")).toMatchObject({
    ReceiveMessageResponse: { ReceiveMessageResult: { messages: [{ Body: "x" }] }, ...metadata },
  });
  expect(await get("Action=ReceiveMessage")).toMatchObject({
    ReceiveMessageResponse: { ReceiveMessageResult: { messages: null } },
  });
  expect(await get("Action=SendMessage")).toMatchObject({
    Error: { Code: "MissingParameter", Message: "The request must contain the parameter MessageBody." },
  });
});

it("the Query protocol answers a request without an action with an element", async () => {
  const answer = await fetch(await created("no-action"), { headers: { accept: "application/json" } });
  expect([answer.status, await answer.text()]).toEqual([404, "<UnknownOperationException/>"]);
});

it.each([
  [
    { Action: "SendMessage", MessageBody: "" },
    "MissingParameter",
    "The request must contain the parameter MessageBody.",
  ],
  [
    { Action: "ReceiveMessage", MaxNumberOfMessages: "11" },
    "InvalidParameterValue",
    "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.",
  ],
  [
    { Action: "ReceiveMessage", WaitTimeSeconds: "-1" },
    "InvalidParameterValue",
    "Value -1 for parameter WaitTimeSeconds is invalid. Reason: Must be &gt;= 0 and &lt;= 20, if provided.",
  ],
  [
    { Action: "ReceiveMessage", MaxNumberOfMessages: "ten" },
    "MalformedInput",
    "&quot;ten&quot; can not be converted to an Integer",
  ],
  [
    { Action: "SetQueueAttributes" },
    "MissingParameter",
    "The request must contain the parameter Attribute.Name.",
  ],
  [{ Action: "DeleteMessage" }, "MissingParameter", "The request must contain the parameter ReceiptHandle."],
])("the Query protocol refuses invalid parameters: %j", async (params, code, message) => {
  const { status, text } = await post(params, await created("refusals"));
  expect([status, element(text, "Code"), element(text, "Message")]).toEqual([400, code, message]);
});
