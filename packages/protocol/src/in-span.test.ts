import { describe, expect, it } from "vitest";
import { inSpan, type SpanTracing } from "./in-span.ts";

/** Tracing that records what it is asked for. Like the runtime's, its methods need their object. */
class Recorder implements SpanTracing {
  readonly spans: unknown[] = [];
  readonly #isTraced: boolean;

  constructor(isTraced: boolean) {
    this.#isTraced = isTraced;
  }

  getActiveSpan() {
    return { isTraced: this.#isTraced };
  }

  enterSpan<T>(name: string, callback: (span: { setAttribute(key: string, value: unknown): void }) => T): T {
    const attributes: Record<string, unknown> = {};
    this.spans.push({ name, attributes });
    return callback({ setAttribute: (key, value) => Object.assign(attributes, { [key]: value }) });
  }
}

describe("inSpan", () => {
  it("makes a call of a traced request in a span with its attributes", () => {
    const tracing = new Recorder(true);
    expect(inSpan(tracing, "queue", { name: "orders", size: 3 }, () => "done")).toBe("done");
    expect(tracing.spans).toEqual([{ name: "queue", attributes: { name: "orders", size: 3 } }]);
  });

  it("makes a call of a request that is not traced without one", () => {
    const tracing = new Recorder(false);
    expect(inSpan(tracing, "queue", {}, () => "done")).toBe("done");
    expect(tracing.spans).toEqual([]);
  });

  it.each([
    ["no tracing", undefined],
    ["no spans", {}],
    ["spans, and does not say whether a request is traced", { enterSpan: () => expect.unreachable() }],
    ["a request without a span", { getActiveSpan: () => undefined, enterSpan: () => expect.unreachable() }],
  ])("makes a call in a runtime that has %s", (_, tracing) => {
    expect(inSpan(tracing, "queue", {}, () => "done")).toBe("done");
  });
});
