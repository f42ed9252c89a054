import {
  type ContentType,
  type DeliveryReply,
  type DeliveryResult,
  deliveryReply,
  encodeBody,
  packMessages,
  type QueueConsumerRpc,
} from "@sluice/protocol";
import { OBSERVATIONS } from "./observations.ts";
import type { Trial } from "./program-arbitrary.ts";

/** Delivers the same batches by workerd's own dispatch and by ours, and answers with what both report. */

interface NativeConsumer {
  queue(name: string, messages: readonly object[], metadata: object): Promise<DeliveryResult>;
}

type Bindings = Readonly<Record<string, NativeConsumer & QueueConsumerRpc & Fetcher>>;

const TIMESTAMP_MS = 1_700_000_000_000;
const METRICS = { backlogCount: 3, backlogBytes: 40 };

interface TestMessage {
  readonly id: string;
  readonly attempts: number;
  readonly body: unknown;
  readonly contentType: ContentType;
}

/** Delivers messages by workerd's own dispatch, and returns the runtime's report in the form of our reply. */
async function deliverNatively(
  consumer: NativeConsumer,
  queue: string,
  messages: readonly TestMessage[],
): Promise<DeliveryReply> {
  const result = await consumer.queue(
    queue,
    messages.map(({ id, attempts, body }) => ({ id, timestamp: TIMESTAMP_MS, attempts, body })),
    { metrics: { ...METRICS, oldestMessageTimestamp: TIMESTAMP_MS } },
  );
  return deliveryReply(result);
}

function deliverOurs(consumer: QueueConsumerRpc, queue: string, messages: readonly TestMessage[]) {
  return consumer.deliver({
    id: `1 ${queue}`,
    queue,
    packed: packMessages(
      messages.map(({ id, body, contentType }) => ({
        id,
        timestampMs: TIMESTAMP_MS,
        contentType,
        body: encodeBody(body, contentType),
      })),
    ),
    attempts: messages.map(({ attempts }) => attempts),
    metrics: { ...METRICS, oldestMessageTimestampMs: TIMESTAMP_MS },
  });
}

async function runTrials(native: NativeConsumer, ours: QueueConsumerRpc, trials: readonly Trial[]) {
  const results: unknown[] = [];
  for (const [i, { program, ids }] of trials.entries()) {
    const queue = JSON.stringify(program);
    const messages = ids.map((id) => ({ id, attempts: 1, body: "body", contentType: "text" as const }));
    // On the stream of the runtime's own warnings, to tell whose they are.
    console.warn(`@@ ${i} native`);
    const byNative = await deliverNatively(native, queue, messages);
    console.warn(`@@ ${i} ours`);
    const byOurs = await deliverOurs(ours, queue, messages);
    console.warn(`@@ ${i} end`);
    results.push([byNative, byOurs]);
  }
  return results;
}

const MESSAGES: readonly TestMessage[] = [
  { id: "1".repeat(32), attempts: 1, body: { a: [1] }, contentType: "json" },
  { id: "2".repeat(32), attempts: 65_535, body: new Uint8Array([1, 2]), contentType: "bytes" },
  { id: "3".repeat(32), attempts: 2, body: "text", contentType: "text" },
  { id: "4".repeat(32), attempts: 2, body: new Map([[1, new Date(0)]]), contentType: "v8" },
];

/** Lets the handler print its batch, between marks on the same stream. */
async function print(native: NativeConsumer, ours: QueueConsumerRpc) {
  console.log("@@ native");
  await deliverNatively(native, "observe print", MESSAGES);
  console.log("@@ ours");
  await deliverOurs(ours, "observe print", MESSAGES);
  console.log("@@ end");
}

async function compareObservations(native: NativeConsumer, ours: QueueConsumerRpc, worker: Fetcher) {
  const observed: Record<string, unknown> = {};
  for (const name of Object.keys(OBSERVATIONS)) {
    const looks: unknown[] = [];
    for (const deliver of [
      () => deliverNatively(native, `observe ${name}`, MESSAGES),
      () => deliverOurs(ours, `observe ${name}`, MESSAGES),
    ]) {
      looks.push([withoutError(await deliver()), await (await worker.fetch("http://worker/")).json()]);
    }
    observed[name] = looks;
  }
  return observed;
}

/** The first line of an error is ours alone. */
function withoutError(reply: DeliveryReply): unknown {
  if (reply === "acknowledged") return reply;
  const { error: _, ...reported } = reply;
  return reported;
}

export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    const url = new URL(request.url);
    const consumer = url.searchParams.get("consumer");
    const native = env[`NATIVE_${consumer}`];
    const ours = env[`OURS_${consumer}`];
    const worker = env.NATIVE_OBJECT;
    if (!native || !ours || !worker) throw new Error(`no consumer "${consumer}"`);
    if (url.pathname === "/observations") {
      return Response.json(await compareObservations(native, ours, worker));
    }
    if (url.pathname === "/print") {
      await print(native, ours);
      return new Response();
    }
    return Response.json(await runTrials(native, ours, await request.json()));
  },
};
