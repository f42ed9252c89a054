import { context, createTraceState, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { decodeTrace, PackedIndex, TRACE_OPTION } from "@sluice/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { createProducer, type FakeBroker } from "../test/fake-broker.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/** Trace contexts of the messages that a broker got, in order. */
function tracesOf({ calls }: FakeBroker) {
  return calls
    .flatMap(({ requests }) => requests)
    .flatMap(({ packed }) => {
      const index = new PackedIndex(packed);
      return Array.from({ length: index.count }, (_, i) => decodeTrace(index.extension(i).trace));
    });
}

function withTrace<Options extends object>(given: unknown, options?: Options): Options {
  return { ...options, [TRACE_OPTION]: given } as unknown as Options;
}

describe("a message is sent with the trace context", () => {
  it("that its options name", async () => {
    const { producer, broker } = createProducer();
    await producer.send("a", withTrace(TRACEPARENT, { delaySeconds: 5 }));
    await producer.send("b", withTrace({ traceparent: OTHER, tracestate: "a=1" }));
    await producer.send("c");
    expect(tracesOf(broker)).toEqual([
      { traceparent: TRACEPARENT },
      { traceparent: OTHER, tracestate: "a=1" },
      null,
    ]);
    expect(broker.messages.map(({ body }) => new TextDecoder().decode(body))).toEqual(['"a"', '"b"', '"c"']);
    expect(broker.messages[0]?.delaySeconds).toBe(5);
  });

  it("of its batch, unless it names its own", async () => {
    const { producer, broker } = createProducer();
    await producer.sendBatch([{ body: "a" }, withTrace(OTHER, { body: "b" })], withTrace(TRACEPARENT));
    expect(tracesOf(broker)).toEqual([{ traceparent: TRACEPARENT }, { traceparent: OTHER }]);
  });

  it.each([null, undefined, "", "none", TRACEPARENT.toUpperCase()])("which %j is not", async (given) => {
    const { producer, broker } = createProducer();
    await producer.send("a", withTrace(given));
    expect(tracesOf(broker)).toEqual([null]);
  });

  it.each([5, {}, { traceparent: 5 }])("whose traceparent must be a string: %j", async (given) => {
    const { producer } = createProducer();
    await expect(producer.send("a", withTrace(given))).rejects.toThrow(TypeError);
  });
});

describe("a message that is sent within a span of OpenTelemetry", () => {
  const tracer = new BasicTracerProvider().getTracer("test");

  afterEach(() => {
    context.disable();
  });

  it("has its context, with its state, and none outside of it", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { producer, broker } = createProducer();
    const span = tracer.startSpan("shop");
    const { traceId, spanId } = span.spanContext();
    await context.with(trace.setSpan(context.active(), span), async () => {
      await producer.send("a");
      await producer.sendBatch([{ body: "b" }, { body: "c" }]);
      await producer.send("d", withTrace(OTHER));
    });
    const traceState = createTraceState("a=1,b=2");
    const stated = { traceId, spanId, traceFlags: 0, traceState };
    await context.with(trace.setSpanContext(context.active(), stated), () => producer.send("e"));
    await producer.send("f");
    const traceparent = `00-${traceId}-${spanId}-01`;
    expect(tracesOf(broker)).toEqual([
      { traceparent },
      { traceparent },
      { traceparent },
      { traceparent: OTHER },
      { traceparent: `00-${traceId}-${spanId}-00`, tracestate: "a=1,b=2" },
      null,
    ]);
  });

  it("keeps its own context in a call that it shares with others", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { producer, broker } = createProducer();
    const sends = ["a", "b"].map((body) => {
      const span = tracer.startSpan(body);
      const sent = context.with(trace.setSpan(context.active(), span), () => producer.send(body));
      return { span, sent };
    });
    await Promise.all(sends.map(({ sent }) => sent));
    expect(broker.calls).toHaveLength(1);
    expect(tracesOf(broker).map((sent) => sent?.traceparent.slice(3, 35))).toEqual(
      sends.map(({ span }) => span.spanContext().traceId),
    );
  });
});
