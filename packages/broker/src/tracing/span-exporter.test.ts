import { describe, expect, it } from "vitest";
import type { Span } from "./otlp.ts";
import {
  EXPORT_AFTER_MS,
  EXPORT_AGAIN_MS_MAX,
  REQUEST_SPANS_MAX,
  SPANS_MAX,
  SpanExporter,
} from "./span-exporter.ts";
import { SpanRoom } from "./span-room.ts";

const URL = "http://collector/v1/traces";
const span = (name: string): Span => ({
  traceId: "1".repeat(32),
  spanId: "2".repeat(16),
  name,
  kind: "producer",
  startMs: 1_700_000_000_000.4,
  endMs: 1_700_000_000_005,
  attributes: { text: "a", number: 3 },
  links: [{ traceId: "3".repeat(32), spanId: "4".repeat(16), flags: 1 }],
});
const spans = (count: number, from = 0) => Array.from({ length: count }, (_, i) => span(`${from + i}`));

/** An exporter on a clock of its own, and what it has posted. */
class Collector {
  readonly posts: { readonly atMs: number; readonly names: readonly string[]; readonly body: string }[] = [];
  readonly lines: string[] = [];
  answer: () => number | Error = () => 200;
  nowMs = 0;
  #timers: { readonly atMs: number; readonly ring: () => void }[] = [];
  room = new SpanRoom();
  readonly exporter = this.another();

  /** Makes the exporter of another queue of the isolate. */
  another(): SpanExporter {
    return new SpanExporter({
      room: this.room,
      settings: { url: URL, headers: { authorization: "Bearer a" } },
      post: async (url, headers, body) => {
        expect([url, headers]).toEqual([URL, { authorization: "Bearer a" }]);
        const [{ scopeSpans }] = JSON.parse(body).resourceSpans;
        this.posts.push({
          atMs: this.nowMs,
          names: scopeSpans[0].spans.map(({ name }: { name: string }) => name),
          body,
        });
        const answer = this.answer();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      after: (ring, ms) => void this.#timers.push({ atMs: this.nowMs + ms, ring }),
      warn: (line) => void this.lines.push(line),
    });
  }

  /** Lets time pass, from timer to timer. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > untilMs) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.nowMs = next.atMs;
      next.ring();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.nowMs = untilMs;
  }
}

describe("spans", () => {
  it("go to the collector together, in the JSON of OTLP", async () => {
    const collector = new Collector();
    collector.exporter.add([span("a")]);
    collector.exporter.add([{ ...span("b"), parentSpanId: "5".repeat(16), error: "no" }]);
    await collector.pass(EXPORT_AFTER_MS - 1);
    expect(collector.posts).toEqual([]);
    await collector.pass(1);
    expect(collector.posts.map(({ names }) => names)).toEqual([["a", "b"]]);
    const [{ resource, scopeSpans }] = JSON.parse(collector.posts[0]?.body ?? "").resourceSpans;
    expect(resource.attributes).toEqual([{ key: "service.name", value: { stringValue: "sluice" } }]);
    expect(scopeSpans[0].spans).toEqual([
      {
        traceId: "1".repeat(32),
        spanId: "2".repeat(16),
        name: "a",
        kind: 4,
        startTimeUnixNano: "1700000000000000000",
        endTimeUnixNano: "1700000000005000000",
        attributes: [
          { key: "text", value: { stringValue: "a" } },
          { key: "number", value: { intValue: "3" } },
        ],
        links: [{ traceId: "3".repeat(32), spanId: "4".repeat(16), flags: 1 }],
      },
      expect.objectContaining({ parentSpanId: "5".repeat(16), status: { code: 2, message: "no" } }),
    ]);
    await collector.pass(EXPORT_AGAIN_MS_MAX);
    expect(collector.posts).toHaveLength(1);
    expect(collector.lines).toEqual([]);
  });

  it.each([-1, 0, 1])("of %i more than fit go in as few requests as possible", async (more) => {
    const collector = new Collector();
    collector.exporter.add(spans(REQUEST_SPANS_MAX + more));
    await collector.pass(2 * EXPORT_AFTER_MS);
    expect(collector.posts.map(({ names }) => names.length)).toEqual(
      more > 0 ? [REQUEST_SPANS_MAX, more] : [REQUEST_SPANS_MAX + more],
    );
  });

  it("wait for a collector that is away, and go when it is back", async () => {
    const collector = new Collector();
    collector.answer = () => new Error("connection refused");
    collector.exporter.add(spans(3));
    await collector.pass(7 * EXPORT_AFTER_MS);
    expect(collector.posts.map(({ atMs }) => atMs)).toEqual([1_000, 3_000, 7_000]);
    expect(collector.lines).toEqual([
      `The collector ${URL} takes no spans (Error: connection refused): the last ${SPANS_MAX} spans of each queue wait`,
    ]);
    collector.answer = () => 200;
    await collector.pass(EXPORT_AGAIN_MS_MAX);
    expect(collector.posts.at(-1)?.names).toEqual(["0", "1", "2"]);
    expect(collector.lines).toHaveLength(1);
    collector.exporter.add(spans(1));
    await collector.pass(EXPORT_AFTER_MS);
    expect(collector.posts).toHaveLength(5);
  });

  it("ask a collector that stays away once a minute", async () => {
    const collector = new Collector();
    collector.answer = () => 503;
    collector.exporter.add(spans(1));
    await collector.pass(10 * EXPORT_AGAIN_MS_MAX);
    const [last = 0, before = 0] = collector.posts.map(({ atMs }) => atMs).reverse();
    expect(last - before).toBe(EXPORT_AGAIN_MS_MAX);
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])("beyond the limit by %i lose %i, the oldest, which are counted", async (more, lost) => {
    const collector = new Collector();
    collector.answer = () => 503;
    collector.exporter.add(spans(1));
    await collector.pass(EXPORT_AFTER_MS);
    collector.exporter.add(spans(SPANS_MAX - 1 + more, 1));
    await collector.pass(2 * EXPORT_AFTER_MS);
    const count = `The collector ${URL} takes no spans (it answered 503): 1 span is lost`;
    expect(collector.lines.slice(1)).toEqual(lost === 0 ? [] : [count]);
    collector.answer = () => 200;
    await collector.pass(EXPORT_AGAIN_MS_MAX);
    const taken = collector.posts.slice(2).flatMap(({ names }) => names);
    expect([taken.length, taken[0]]).toEqual([Math.min(SPANS_MAX, SPANS_MAX + more), `${lost}`]);
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])(
    "of several queues beyond the room of their isolate by %i lose %i, and the log says it once",
    async (more, lost) => {
      const collector = new Collector();
      collector.room = new SpanRoom(10);
      collector.answer = () => 503;
      const [a, b, c] = [collector.another(), collector.another(), collector.another()];
      a.add(spans(4));
      b.add(spans(4, 4));
      c.add(spans(2 + more, 8));
      await collector.pass(2 * EXPORT_AGAIN_MS_MAX);
      const what = lost === 0 ? `the last ${SPANS_MAX} spans of each queue wait` : "1 span is lost";
      expect(collector.lines).toEqual([`The collector ${URL} takes no spans (it answered 503): ${what}`]);
      collector.posts.length = 0;
      collector.answer = () => 200;
      await collector.pass(EXPORT_AGAIN_MS_MAX);
      expect(collector.posts.flatMap(({ names }) => names)).toHaveLength(10 + more - lost);
      c.add(spans(10));
      await collector.pass(EXPORT_AFTER_MS);
      expect(collector.posts.at(-1)?.names).toHaveLength(10);
      expect(collector.lines).toHaveLength(1);
    },
  );

  it("that the collector refuses are lost and counted", async () => {
    const collector = new Collector();
    collector.answer = () => 401;
    collector.exporter.add(spans(2));
    await collector.pass(EXPORT_AGAIN_MS_MAX);
    expect(collector.posts).toHaveLength(1);
    expect(collector.lines).toEqual([
      `The collector ${URL} takes no spans (it answered 401): 2 spans are lost`,
    ]);
  });

  it("that come faster than they go are counted too", async () => {
    const collector = new Collector();
    collector.exporter.add(spans(SPANS_MAX + 7));
    await collector.pass(EXPORT_AFTER_MS);
    expect(collector.lines).toEqual([`7 spans are lost for the collector ${URL}: more came than it took`]);
  });
});
