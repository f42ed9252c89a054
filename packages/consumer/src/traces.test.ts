import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { encodeBody, encodeTrace, keptTraceContext, packMessages } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deliveryOf, idOf } from "../test/deliveries.ts";
import { BatchState } from "./batch-state.ts";
import { type HandlerCall, runDelivery } from "./run-delivery.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

/** A batch of messages that were sent with these trace contexts. */
function packedWith(...traceparents: (string | null)[]): Uint8Array {
  return packMessages(
    traceparents.map((traceparent, i) => {
      const encoded = traceparent === null ? null : encodeTrace(traceparent, "a=1,b=2");
      return {
        id: idOf(i + 1),
        contentType: "json",
        body: encodeBody(i, "json"),
        ...(encoded === null ? {} : { extension: { trace: encoded } }),
      };
    }),
  );
}

function deliver(handler: HandlerCall, packed: Uint8Array, ofBroker?: string) {
  const delivery = { ...deliveryOf([]), packed, ...(ofBroker === undefined ? {} : { trace: ofBroker }) };
  const ctx = { waitUntil: () => {} };
  return runDelivery(delivery, ctx, () => handler, { waitForWaitUntil: true }, new BatchState(() => {}));
}

describe("the trace context of a message", () => {
  it("is kept beside it, and nothing of it is in the message", async () => {
    const seen: unknown[] = [];
    const keys: unknown[] = [];
    await deliver(
      (batch) => {
        for (const message of batch.messages) {
          seen.push(keptTraceContext(message));
          keys.push(Reflect.ownKeys(message));
        }
      },
      packedWith(TRACEPARENT, null),
    );
    expect(seen).toEqual([{ traceparent: TRACEPARENT, tracestate: "a=1,b=2" }, null]);
    expect(keys[0]).toEqual(["attempts", "body", "timestamp", "id"]);
    expect(keys[1]).toEqual(keys[0]);
  });
});

describe("a handler that has OpenTelemetry", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer("test");
  const handler = async () => {
    await Promise.resolve();
    tracer.startSpan("work").end();
  };
  /** The parent of the span that the handler made. */
  const parent = () => {
    const [span] = exporter.getFinishedSpans();
    const { parentSpanContext } = span ?? {};
    return parentSpanContext === undefined ? null : { ...parentSpanContext };
  };

  beforeEach(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterEach(() => {
    context.disable();
    exporter.reset();
  });

  it("goes on with the trace of the only message of its batch", async () => {
    expect(await deliver(handler, packedWith(TRACEPARENT))).toMatchObject({ outcome: "ok" });
    expect(parent()).toMatchObject({ traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1, isRemote: true });
    const state = parent()?.traceState;
    expect(state?.serialize()).toBe("a=1,b=2");
    expect([state?.get("b"), state?.get("c")]).toEqual(["2", undefined]);
    expect(state?.set("b", "3").serialize()).toBe("b=3,a=1");
    expect(state?.unset("a").serialize()).toBe("b=2");
  });

  it("begins a trace of its own for several messages, and for one that has none", async () => {
    await deliver(handler, packedWith(TRACEPARENT, TRACEPARENT));
    expect(parent()).toBeNull();
    exporter.reset();
    await deliver(handler, packedWith(null));
    expect(parent()).toBeNull();
  });

  it("goes on with the broker's span, whatever its messages have", async () => {
    await deliver(
      handler,
      packedWith(TRACEPARENT, null),
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    );
    expect(parent()).toMatchObject({
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
    });
  });

  it("fails as before if it throws at once", async () => {
    const failing = () => {
      throw new Error("no");
    };
    expect(await deliver(failing, packedWith(TRACEPARENT))).toMatchObject({
      outcome: "exception",
      error: "Error: no",
    });
  });
});

describe("a handler without OpenTelemetry", () => {
  it("runs as before", async () => {
    expect(await deliver((batch) => batch.ackAll(), packedWith(TRACEPARENT))).toMatchObject({ ackAll: true });
  });
});
