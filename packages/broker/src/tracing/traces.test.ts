import { uuidOf } from "@sluice/aws";
import {
  encodeTrace,
  PackedIndex,
  packMessages,
  parseTraceparent,
  randomFrom,
  traceParentIn,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, definition, pullConsumer, testId } from "../../test/messages.ts";
import { SqsWorld } from "../../test/sqs-world.ts";
import { World } from "../../test/world.ts";
import type { Span } from "./otlp.ts";
import { Traces } from "./traces.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SENDER = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE_ID}-${SENDER}-01`;
const NOT_SAMPLED = `00-${TRACE_ID}-${SENDER}-00`;

/** Has the queues of a world traced, and returns their spans as they are exported. */
function traced<Traced extends World>(
  world: Traced,
  ratio = 0,
): { readonly world: Traced; readonly spans: Span[] } {
  const spans: Span[] = [];
  const random = randomFrom(1);
  world.tracesOf = (queue) =>
    new Traces(queue, {
      ratio,
      nowMs: () => world.nowMs,
      randomHex: (bytes) =>
        Array.from({ length: 2 * bytes }, () => Math.floor(16 * random()).toString(16)).join(""),
      export: (exported) => void spans.push(...exported),
    });
  return { world, spans };
}

/** Messages that were sent with these trace contexts; `null` for none. */
function packed(...traceparents: (string | null)[]): Uint8Array<ArrayBuffer> {
  return packMessages(
    traceparents.map((traceparent, i) => {
      const trace = traceparent === null ? null : encodeTrace(traceparent, "k=v");
      const extension = trace === null ? {} : { extension: { trace } };
      return { id: testId(), contentType: "text", body: new TextEncoder().encode(`${i}`), ...extension };
    }),
  );
}

const workers = (settings: Parameters<typeof consumer>[0] = {}) => ({
  orders: definition({ consumer: consumer({ maxBatchTimeoutSeconds: 0, ...settings }) }),
  dead: definition(),
});

/** Name, kind, span and parent of spans, by short names for span ids in their order. */
function tree(spans: readonly Span[]): string[] {
  const names = new Map([[SENDER, "sender"]]);
  for (const { spanId } of spans) names.set(spanId, `${names.size}`);
  const nameOf = (id: string | undefined) => (id === undefined ? "-" : (names.get(id) ?? "?"));
  return spans.map(
    ({ name, kind, spanId, parentSpanId, links, error }) =>
      `${nameOf(spanId)} ${kind} ${name} < ${nameOf(parentSpanId)}` +
      `${links.length === 0 ? "" : ` (${links.map((link) => nameOf(link.spanId)).join(", ")})`}` +
      `${error === undefined ? "" : `: ${error}`}`,
  );
}

describe("the spans of a message", () => {
  it("follow it through retries, a dead letter and a redrive, in one trace", async () => {
    const { world, spans } = traced(new World(workers({ maxRetries: 2, deadLetterQueue: "dead" })));
    const contexts: (string | undefined)[] = [];
    let isFixed = false;
    const { deliver } = world;
    world.deliver = (delivery) => {
      contexts.push(delivery.trace);
      return deliver(delivery);
    };
    world.handler = () => (isFixed ? {} : { outcome: "exception", error: "Error: no" });
    await world.core("orders").send([{ packed: packed(SAMPLED) }], "shop");
    await world.pass(60_000);
    isFixed = true;
    await world.core("dead").moves.begin({ taskId: "task", target: null, ratePerSecond: null });
    await world.pass(60_000);
    expect(tree(spans)).toEqual([
      "1 producer send orders < sender",
      "2 consumer process orders < 1 (1): Error: no",
      "3 consumer process orders < 1 (1): Error: no",
      "4 consumer process orders < 1 (1): Error: no",
      "5 producer send dead < 1",
      "6 producer send orders < 5",
      "7 consumer process orders < 6 (6)",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
    const processed = spans.filter(({ kind }) => kind === "consumer");
    expect(contexts.map((context) => parseTraceparent(context ?? "")?.spanId)).toEqual(
      processed.map(({ spanId }) => spanId),
    );
    expect(processed.map(({ attributes }) => attributes["sluice.attempt"])).toEqual([1, 2, 3, 1]);
    expect(spans[4]?.attributes).toMatchObject({ "sluice.from": "orders" });
  });

  it("have the attributes of OpenTelemetry's conventions", async () => {
    const { world, spans } = traced(new World(workers()));
    const bytes = packed(SAMPLED);
    const id = new PackedIndex(bytes).id(0);
    world.handler = async () => {
      world.nowMs += 250;
      return {};
    };
    await world.core("orders").send([{ packed: bytes }], "shop");
    await world.pass(0);
    const shared = {
      "messaging.system": "cloudflare_queues",
      "messaging.destination.name": "orders",
      "messaging.message.id": id,
      "cloudflare.queue.name": "orders",
    };
    expect(spans.map(({ attributes }) => attributes)).toEqual([
      {
        ...shared,
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "sluice.producer": "shop",
      },
      {
        ...shared,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "cloudflare.queue.batch_size": 1,
        "sluice.consumer": "consumer",
        "sluice.attempt": 1,
        "sluice.acked": 1,
      },
    ]);
    const [, process] = spans;
    expect((process?.endMs ?? 0) - (process?.startMs ?? 0)).toBe(250);
  });

  it("are one for messages that were sent together, and one for a batch of several traces with a link for each", async () => {
    const { world, spans } = traced(new World(workers()));
    const other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await world.core("orders").send([{ packed: packed(SAMPLED, SAMPLED, null) }, { packed: packed(other) }]);
    await world.pass(0);
    const [together, alone, process] = spans;
    expect(spans).toHaveLength(3);
    expect(together?.attributes).toMatchObject({ "messaging.batch.message_count": 2 });
    expect(together?.attributes).not.toHaveProperty("messaging.message.id");
    expect(process).toMatchObject({
      links: [{ spanId: together?.spanId }, { spanId: together?.spanId }, { spanId: alone?.spanId }],
      attributes: { "messaging.batch.message_count": 4 },
    });
    expect(process).not.toHaveProperty("parentSpanId");
    expect([TRACE_ID, other.slice(3, 35)]).not.toContain(process?.traceId);
  });

  it("are none where its sender has not sampled it, whatever the ratio", async () => {
    const { world, spans } = traced(new World(workers()), 1);
    await world.core("orders").send([{ packed: packed(NOT_SAMPLED) }]);
    await world.pass(0);
    expect(spans).toEqual([]);
  });

  it.each([
    [0, 0],
    [0.25, 250],
    [1, 1_000],
  ])("begin a trace for the ratio %d of the messages without one", async (ratio, expected) => {
    const { world, spans } = traced(new World({ orders: definition() }), ratio);
    const none = Array.from({ length: 100 }, () => null);
    for (let i = 0; i < 10; i++) await world.core("orders").send([{ packed: packed(...none) }]);
    await world.pass(0);
    expect(spans.length).toBeGreaterThanOrEqual(0.9 * expected);
    expect(spans.length).toBeLessThanOrEqual(1.1 * expected);
    expect(spans.every(({ parentSpanId }) => parentSpanId === undefined)).toBe(true);
  });

  it("begin a trace without any other change of the message", async () => {
    const { world, spans } = traced(new SqsWorld({ orders: {} }), 1);
    await world.enqueue(
      "orders",
      { body: "a", attributes: new Uint8Array([7]), delaySeconds: 5 },
      { body: "b" },
    );
    expect(await world.bodies("orders")).toEqual(["b"]);
    await world.pass(5_000);
    const [seen] = await world.receive("orders");
    expect(seen).toMatchObject({ body: "a", extension: { attributes: new Uint8Array([7]) } });
    const context = traceParentIn(seen?.extension.trace);
    expect(
      spans.find(({ attributes }) => attributes["messaging.message.id"] === uuidOf(seen?.id ?? "")),
    ).toMatchObject({ traceId: context?.traceId, spanId: context?.spanId });
    expect(world.core("orders").metrics().backlogBytes).toBe(0);
  });

  it("are none of a delivery that has run nowhere", async () => {
    const { world, spans } = traced(new World(workers()));
    world.running = false;
    await world.core("orders").send([{ packed: packed(SAMPLED) }]);
    await world.pass(100);
    expect(tree(spans)).toEqual(["1 producer send orders < sender"]);
    world.running = true;
    await world.pass(60_000);
    expect(tree(spans).slice(1)).toEqual(["2 consumer process orders < 1 (1)"]);
  });

  it("are exported when its commit is durable, and not before", async () => {
    const { world, spans } = traced(new World(workers()));
    const sent = world.core("orders").send([{ packed: packed(SAMPLED) }]);
    expect(spans).toEqual([]);
    await sent;
    expect(tree(spans)).toContain("1 producer send orders < sender");
  });
});

it("the history names the trace of each message that has one, also when it is gone", async () => {
  const world = new World(workers());
  world.keepsHistory = true;
  const bytes = packed(NOT_SAMPLED, null);
  await world.core("orders").send([{ packed: bytes }]);
  await world.pass(10_000);
  world.crash("orders");
  const [first, second] = new PackedIndex(bytes).ids().map((id) => world.core("orders").history.story(id));
  expect(first?.events.map(({ kind }) => kind)).toEqual(["accepted", "delivered", "acked"]);
  expect([first?.traceId, second?.traceId]).toEqual([TRACE_ID, undefined]);
});

it("a record that cannot be read keeps nobody from settling its message", () => {
  const exported: Span[] = [];
  const ports = { ratio: 1, nowMs: () => 0, randomHex: () => "1".repeat(16) };
  const traces = new Traces("orders", { ...ports, export: (spans) => void exported.push(...spans) });
  const payload = new PackedIndex(packed(SAMPLED));
  const payloadOf = (segmentId: number) => {
    if (segmentId === 1) throw new Error("it is damaged");
    return payload;
  };
  traces.used("ack", "SQS", [{ segmentId: 1, index: 0 }], payloadOf);
  traces.used("ack", "SQS", [{ segmentId: 2, index: 0 }], payloadOf);
  traces.durable();
  expect(exported.map(({ name }) => name)).toEqual(["ack orders"]);
});

describe("a client", () => {
  it("of SQS has spans for what it receives, changes the visibility of and deletes", async () => {
    const { world, spans } = traced(new SqsWorld({ orders: {} }));
    const trace = encodeTrace(SAMPLED) ?? new Uint8Array();
    await world.enqueue("orders", { body: "a", trace }, { body: "b" });
    const received = await world.receive("orders");
    for (const message of received) await world.setVisibility("orders", message, 60_000);
    await world.delete("orders", ...received);
    for (const message of received) expect(await world.setVisibility("orders", message, 0)).toBe("gone");
    await world.quiet();
    expect(tree(spans)).toEqual([
      "1 producer send orders < sender",
      "2 client receive orders < 1 (1)",
      "3 client change_visibility orders < 1 (1)",
      "4 client ack orders < 1 (1)",
    ]);
    expect(spans.map(({ attributes }) => attributes["messaging.operation.type"])).toEqual([
      "send",
      "receive",
      "settle",
      "settle",
    ]);
    expect(new Set(spans.map(({ attributes }) => attributes["messaging.system"]))).toEqual(
      new Set(["aws_sqs"]),
    );
    // As the client was answered it.
    expect(spans[0]?.attributes["messaging.message.id"]).toMatch(
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    );
  });

  it("that pulls has spans for what it pulls, acknowledges and retries", async () => {
    const { world, spans } = traced(
      new World({
        orders: definition({ consumer: { type: "http_pull", settings: pullConsumer().settings } }),
      }),
    );
    await world.core("orders").send([{ packed: packed(SAMPLED) }]);
    const pulled = async () => {
      const reply = await world.core("orders").pull({});
      return reply.ok ? reply.batch.leaseIds : [];
    };
    const [first = ""] = await pulled();
    await world.core("orders").settleLeases({ acks: [], retries: [{ leaseId: first }] });
    await world.core("orders").settleLeases({ acks: await pulled(), retries: [] });
    expect(tree(spans).map((line) => line.slice(2))).toEqual([
      "producer send orders < sender",
      "client receive orders < 1 (1)",
      "client retry orders < 1 (1)",
      "client receive orders < 1 (1)",
      "client ack orders < 1 (1)",
    ]);
  });
});
