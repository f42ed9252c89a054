import { expect, it } from "vitest";
import { protocolOf } from "./bare-protocols.ts";
import { textsOf } from "./query-client.ts";

const JSON_HEAD = "POST / HTTP/1.1\r\nhost: a\r\nX-Amz-Target: AmazonSQS.SendMessageBatch";
const QUERY_HEAD = "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-www-form-urlencoded";
const ENTRIES = [
  { Id: "0", MessageBody: 'a&"<b>' },
  { Id: "1", MessageBody: "ä" },
];

it("reads the same of both protocols", () => {
  const form = new URLSearchParams({ Action: "SendMessageBatch" });
  for (const [i, entry] of ENTRIES.entries()) {
    for (const [name, value] of Object.entries(entry))
      form.set(`SendMessageBatchRequestEntry.${i + 1}.${name}`, value);
  }
  for (const [head, body] of [
    [JSON_HEAD, JSON.stringify({ Entries: ENTRIES })],
    [QUERY_HEAD, form.toString()],
  ] as const) {
    const { action, input } = protocolOf(head).read(head, body);
    expect({ action, entries: input.Entries }).toEqual({ action: "SendMessageBatch", entries: ENTRIES });
  }
});

it("reads how long a receive waits, and no time as none", () => {
  const waitOf = (form: string) => protocolOf(QUERY_HEAD).read(QUERY_HEAD, form).input.WaitTimeSeconds;
  expect(waitOf("Action=ReceiveMessage&WaitTimeSeconds=1")).toBe(1);
  expect(waitOf("Action=ReceiveMessage")).toBe(0);
});

it("writes what the clients read", () => {
  const output = { Messages: ENTRIES.map(({ MessageBody }) => ({ ReceiptHandle: "r", Body: MessageBody })) };
  expect(JSON.parse(protocolOf(JSON_HEAD).write("ReceiveMessage", output))).toEqual(output);
  const xml = protocolOf(QUERY_HEAD).write("ReceiveMessage", output);
  expect(textsOf(xml, "Body")).toEqual(ENTRIES.map(({ MessageBody }) => MessageBody));
  expect(xml).toContain("<Message><ReceiptHandle>r</ReceiptHandle>");
  const sent = protocolOf(QUERY_HEAD).write("SendMessageBatch", { Successful: [{ Id: "0" }, { Id: "1" }] });
  expect(textsOf(sent, "Id")).toEqual(["0", "1"]);
  expect(protocolOf(QUERY_HEAD).write("CreateQueue", { QueueUrl: "http://a/b" })).toBe(
    "<CreateQueueResponse><CreateQueueResult><QueueUrl>http://a/b</QueueUrl></CreateQueueResult></CreateQueueResponse>",
  );
});
