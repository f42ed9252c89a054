import { type PublishedMessage, packMessages, type TopicObjectRpc } from "@sluice/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BrokerHarness, folderOfTest, startBroker } from "./harness.ts";
import { consumer, testId } from "./messages.ts";

const TOPIC = "topic/1";
const FIFO_QUEUE = { deduplicationScope: "queue" } as const;
const each = consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 });
const queues = { mail: { consumer: each }, audit: { consumer: each, fifo: FIFO_QUEUE } };

let persistDir: string;
let broker: BrokerHarness;

beforeEach(() => {
  persistDir = folderOfTest();
});

afterEach(async () => {
  await broker.stop();
});

function message(text: string): PublishedMessage {
  const copies = ["mail", "audit"].map((target) => {
    const body = new TextEncoder().encode(text);
    const extension = { groupId: "g", deduplicationId: text };
    const packed = packMessages([{ id: testId(), contentType: "text", body, extension }]);
    return { target, packed, sequenceNumberAt: null };
  });
  return { messageId: testId(), deduplicationId: text, groupId: "g", copies };
}

async function publish(texts: readonly string[]) {
  const topic = (await broker.queue(TOPIC)) as unknown as TopicObjectRpc;
  const messages = texts.map(message);
  const reply = await topic.publish(TOPIC, { messages, deduplicationScope: "topic" });
  if (reply.ok !== true) throw new Error(JSON.stringify(reply));
  return reply.messages;
}

const bodies = (queue: string) =>
  broker.seen
    .filter((batch) => batch.queue === queue)
    .flatMap(({ messages }) => messages.map(({ body }) => body));

it.each([
  ["before any queue has its messages", "take() { return new Promise(() => {}); }"],
  [
    "when the queues have them and the topic does not know",
    "async take(queue, transfer) { await super.take(queue, transfer); return new Promise(() => {}); }",
  ],
])(
  "kill -9 after a publish was answered %s: each queue gets every message once, in order, and the topic still tells duplicates",
  async (_when, take) => {
    broker = await startBroker({ queues, persistDir, members: take, handler: () => new Promise(() => {}) });
    const answered = await publish(["a", "b", "c"]);
    await broker.kill();
    await broker.stop();
    broker = await startBroker({ queues, persistDir });
    const [again, last] = await publish(["b", "last"]);
    expect(again).toEqual({ ...answered[1], duplicate: true });
    expect((last?.sequenceNumber ?? "") > (answered[2]?.sequenceNumber ?? "")).toBe(true);
    expect(last?.duplicate).toBe(false);
    await broker.until(() => ["mail", "audit"].every((queue) => bodies(queue).includes("last")));
    expect(bodies("audit")).toEqual(["a", "b", "c", "last"]);
    expect(bodies("mail").sort()).toEqual(["a", "b", "c", "last"]);
  },
);
