import { encodeAttributes } from "@sluice/aws";
import {
  type LookRequest,
  type MessageFilter,
  makeUnreadable,
  PREVIEW_BYTES_MAX,
  PULL_MESSAGES_MAX,
  parseFilter,
} from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { LOOK_MS_MAX, look, WHOLE_BYTES_MAX } from "./look.ts";
import { Messages } from "./messages.ts";

function filterOf(text: string): MessageFilter {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.filter;
}

/** Looks with a clock that stands: on a busy machine a look may take longer than it may. */
function lookAt(world: World, request: Partial<LookRequest> = {}, queue = "orders") {
  return new Messages(world.core(queue), null, () => 0).look({ max: PULL_MESSAGES_MAX, ...request });
}

const bodyOf = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body);

function bodies(world: World, filter: string, queue = "orders"): string[] {
  return lookAt(world, { filter: filterOf(filter) }, queue).messages.map(bodyOf);
}

describe("a look at the messages of a queue", () => {
  it("shows those of every state as they stand, and leases, counts and writes nothing", async () => {
    const world = new World({ orders: { consumer: pullConsumer() } });
    await world.send("orders", ["held", "waits"]);
    await world.send("orders", ["later"], { delaySeconds: 60 });
    await world.core("orders").pull({ max: 1 });
    const rows = world.store("orders").rowsWritten;
    const before = world.core("orders").describe();
    const facts = { contentType: "text", sentMs: WORLD_START_MS, keptUntilMs: WORLD_START_MS + 345_600_000 };
    const none = { group: null, attributes: null, from: null };
    for (let i = 0; i < 2; i++) {
      const { messages, ...found } = lookAt(world);
      expect(messages.map(bodyOf)).toEqual(["held", "waits", "later"]);
      expect(messages).toMatchObject([
        {
          ...facts,
          ...none,
          state: "leased",
          attempts: 1,
          atMs: WORLD_START_MS + 30_000,
          why: { reason: "leased" },
        },
        {
          ...facts,
          ...none,
          state: "ready",
          attempts: 0,
          atMs: WORLD_START_MS,
          why: { reason: "awaitsPull" },
        },
        { ...facts, ...none, state: "delayed", attempts: 0, atMs: WORLD_START_MS + 60_000 },
      ]);
      expect(found).toEqual({ matched: 3, cursor: null, searched: 3, of: 3, nowMs: WORLD_START_MS });
    }
    expect(world.store("orders").rowsWritten).toBe(rows);
    expect(world.core("orders").queue.changes.size).toBe(0);
    const { rowsRead: _, ...described } = world.core("orders").describe();
    expect(before).toMatchObject(described);
  });

  it("goes on where the last one has ended, until everything was shown once", async () => {
    const world = new World({ orders: { consumer: pullConsumer() } });
    for (const part of ["a", "b", "c"]) await world.send("orders", [`${part}1`, `${part}2`, `${part}3`]);
    await world.core("orders").pull({ max: 4 });
    const shown: string[] = [];
    const searched: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = lookAt(world, { max: 2, ...(cursor ? { cursor } : {}) });
      shown.push(...page.messages.map(bodyOf));
      searched.push(page.searched);
      cursor = page.cursor;
    } while (cursor !== null);
    expect(shown).toEqual(["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]);
    expect(searched).toEqual([2, 4, 6, 8, 9]);
  });

  it.each([-1, 0, 1])(
    "has another page only if there is a further message: of %i more than fit",
    async (more) => {
      const world = new World({ orders: {} });
      for (let i = 0; i < 3 + more; i++) await world.send("orders", ["m"]);
      const page = lookAt(world, { max: 3 });
      expect([page.messages.length, page.cursor === null]).toEqual([Math.min(3, 3 + more), more <= 0]);
      expect(page.searched === page.of).toBe(more <= 0);
    },
  );

  it("shows the beginning of a body, or all of it", async () => {
    const world = new World({ orders: {} });
    const body = "x".repeat(PREVIEW_BYTES_MAX + 1);
    await world.send("orders", [body]);
    expect(lookAt(world).messages).toMatchObject([{ bodyBytes: PREVIEW_BYTES_MAX + 1 }]);
    expect(lookAt(world).messages.map(bodyOf)).toEqual([body.slice(1)]);
    expect(lookAt(world, { isWhole: true }).messages.map(bodyOf)).toEqual([body]);
  });

  it("ends when it shows as many bytes of whole bodies as an answer may have", async () => {
    const world = new World({ orders: {} });
    const body = "x".repeat(100_000);
    for (let i = 0; i < 90; i++) await world.send("orders", [body]);
    const first = lookAt(world, { isWhole: true });
    expect(first.messages).toHaveLength(WHOLE_BYTES_MAX / 100_000 + 1);
    const rest = lookAt(world, { isWhole: true, cursor: first.cursor ?? "" });
    expect(rest).toMatchObject({ cursor: null, searched: 90 });
    expect(rest.messages).toHaveLength(90 - first.messages.length);
    expect(lookAt(world).messages).toHaveLength(90);
  });

  it("finds messages by their ids and by their refs", async () => {
    const world = new World({ orders: {}, others: {} });
    await world.send("orders", ["a", "b", "c"]);
    await world.send("others", ["other"]);
    const [a, b, c] = lookAt(world).messages;
    const [other] = lookAt(world, {}, "others").messages;
    if (!(a && b && c && other)) throw new Error("four were sent");
    const only = (...names: string[]) => lookAt(world, { only: names }).messages.map(bodyOf);
    expect(only(b.id)).toEqual(["b"]);
    expect(only(b.id.replace(/^(.{8})/, "$1-").toUpperCase())).toEqual(["b"]);
    expect(only(c.ref, a.ref)).toEqual(["a", "c"]);
    expect(only(c.ref, a.id)).toEqual(["a", "c"]);
    expect(only(other.ref, other.id, "nonsense")).toEqual([]);
    expect(only()).toEqual([]);
    const first = lookAt(world, { only: [a.ref, c.ref], max: 1 });
    expect(first.messages.map(bodyOf)).toEqual(["a"]);
    const next = lookAt(world, { only: [a.ref, c.ref], max: 1, cursor: first.cursor ?? "" });
    expect(next.messages.map(bodyOf)).toEqual(["c"]);
  });

  it("finds a single id at once where the history has seen it, and else by a search", async () => {
    const world = new World({ orders: { consumer: pullConsumer(), historySeconds: 60 } });
    for (let i = 0; i < 10; i++) await world.send("orders", [`a${i}`, `b${i}`]);
    const { messages } = lookAt(world);
    const last = messages.at(-1);
    if (last === undefined) throw new Error("twenty were sent");
    for (const only of [last.id, last.id.toUpperCase()]) {
      const found = lookAt(world, { only: [only] });
      expect(found).toMatchObject({ messages: [{ ref: last.ref }], matched: 1, searched: 1, cursor: null });
    }
    await world.core("orders").deleteByRefs([last.ref]);
    expect(lookAt(world, { only: [last.id] })).toMatchObject({ messages: [], searched: 19 });
    await world.pass(61_000);
    const [first] = messages;
    expect(lookAt(world, { only: [first?.id ?? ""] }).messages).toMatchObject([{ ref: first?.ref }]);
  });

  it("counts all that fit, beyond those that it shows", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["a", "x", "a", "a"]);
    const filter = filterOf("a");
    expect(lookAt(world, { max: 1, filter, countsAll: true })).toMatchObject({
      messages: [{ bodyBytes: 1 }],
      matched: 3,
      cursor: null,
      searched: 4,
    });
    expect(lookAt(world, { max: 0, filter, countsAll: true })).toMatchObject({ messages: [], matched: 3 });
  });

  it("leaves out what cannot be read", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["lost", "kept"]);
    const core = world.core("orders");
    const [segmentId] = core.queue.segments.keys();
    const payload = core.payloadOf(segmentId ?? 0);
    makeUnreadable(payload.packed, 0, payload.offsets[1] ?? 0);
    expect(lookAt(world).messages.map(bodyOf)).toEqual(["kept"]);
    const store = world.store("orders");
    store.commit(() => store.deleteSegment(segmentId ?? 0, false));
    core.cache.delete(segmentId ?? 0);
    expect(lookAt(world)).toMatchObject({ messages: [], searched: 2, cursor: null });
  });

  it.each([-1, PULL_MESSAGES_MAX + 1, 1.5])("a look at %d messages is out of range", (max) => {
    expect(() => lookAt(new World({ orders: {} }), { max })).toThrow(RangeError);
  });

  it("takes no cursor but its own", () => {
    expect(() => lookAt(new World({ orders: {} }), { cursor: "1-2" })).toThrow(RangeError);
  });

  it("ends when its time is over, and says how far it came", async () => {
    const world = new World({ orders: {} });
    const core = world.core("orders");
    for (let i = 0; i < 20; i++) await world.send("orders", Array<string>(100).fill("m"));
    let ms = 0;
    const ports = {
      context: core,
      reasons: { of: () => ({ reason: "dueNow", text: "", untilMs: null, by: null }) } as never,
      payloadOf: (id: number) => core.payloadOf(id),
      elapsedMs: () => {
        ms += LOOK_MS_MAX / 3;
        return ms;
      },
    };
    const counted: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = look(ports, {
        max: 0,
        countsAll: true,
        filter: filterOf("m"),
        ...(cursor ? { cursor } : {}),
      });
      counted.push(page.matched);
      cursor = page.cursor;
    } while (cursor !== null);
    expect(counted.length).toBeGreaterThan(2);
    expect(Math.max(...counted)).toBeLessThanOrEqual(768);
    expect(counted.reduce((sum, count) => sum + count)).toBe(2_000);
  });
});

it.each([
  ["short", 100, 16],
  ["long", 128_000, 2],
])("a look at %s bodies of %i bytes looks at the clock every %i of them", async (_what, bytes, every) => {
  const world = new World({ orders: {} });
  for (let i = 0; i < 2; i++) {
    await world.send(
      "orders",
      Array.from({ length: every / 2 }, () => `{"x":"${"x".repeat(bytes - 8)}"}`),
    );
  }
  const core = world.core("orders");
  let looks = 0;
  const ports = {
    context: core,
    reasons: null as never,
    payloadOf: (id: number) => core.payloadOf(id),
    elapsedMs: () => ++looks,
  };
  look(ports, { max: 0, countsAll: true, filter: filterOf("x") });
  // The first one is at its beginning.
  expect(looks).toBe(2);
});

describe("a filter", () => {
  it.each([
    ["state:ready", ["Fresh Lamp", "dead lamp"]],
    ["state:delayed", ["late"]],
    ["state:leased", ["held"]],
    ["lamp", ["Fresh Lamp", "dead lamp"]],
    ['body:"FRESH l"', ["Fresh Lamp"]],
    ["lamp from:source", ["dead lamp"]],
    ["from:other", []],
    ["group:g", ["late"]],
    ["attempts:0", ["Fresh Lamp", "dead lamp", "late"]],
    ["attempts:>=1", ["held"]],
    ["age:>=10s", ["held", "late"]],
    ["age:<10s state:ready", ["Fresh Lamp", "dead lamp"]],
    ["attr.kind:order", ["Fresh Lamp"]],
    ["attr.kind:orde", []],
    ["attr.toString:x", []],
    ["", ["held", "Fresh Lamp", "dead lamp", "late"]],
  ])("the filter %j matches %j", async (filter, expected) => {
    const world = new SqsWorld({ orders: {} });
    const attributes = encodeAttributes({
      attributes: { kind: { DataType: "String", StringValue: "order" } },
      traceHeader: null,
    });
    await world.enqueue("orders", "held");
    await world.receive("orders", { visibilityTimeoutMs: 60_000 });
    await world.enqueue("orders", { body: "late", delaySeconds: 60, groupId: "g" });
    world.nowMs += 10_000;
    await world.enqueue("orders", { body: "Fresh Lamp", ...(attributes && { attributes }) });
    await world.enqueue("orders", { body: "dead lamp", deadLetterOf: "source" });
    expect(bodies(world, filter)).toEqual(expected);
  });

  it("a filter of a field finds it in any segment, beside other terms", async () => {
    const world = new World({ orders: {} });
    const bodyOfOrder = (id: number) =>
      JSON.stringify({ order: { id, item: id % 2 === 0 ? "lamp" : "vase" } });
    for (let id = 0; id < 30; id += 3) await world.send("orders", [id, id + 1, id + 2].map(bodyOfOrder));
    expect(bodies(world, "order.id:17")).toEqual([bodyOfOrder(17)]);
    expect(bodies(world, '"id": 17')).toEqual([bodyOfOrder(17)]);
    expect(bodies(world, "id:3 item:vase")).toEqual([]);
    expect(bodies(world, "item:lamp")).toHaveLength(15);
    expect(bodies(world, "item:lamp lamp order.id:4")).toEqual([bodyOfOrder(4)]);
    expect(lookAt(world, { filter: filterOf("nowhere") })).toMatchObject({ searched: 30, cursor: null });
  });

  it("a filter of an id matches ids that begin with it", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["a", "b"]);
    const { messages } = lookAt(world);
    for (const { id, body } of messages) {
      expect(bodies(world, `id:${id}`)).toEqual([bodyOf({ body })]);
      expect(bodies(world, `id:${id.slice(0, 1)}`)).toContain(bodyOf({ body }));
      expect(bodies(world, `id:${id.slice(0, 8)}`)).toHaveLength(2);
    }
  });

  it("a filter of an id matches bodies whose own field id it is, and no field further in", async () => {
    const world = new World({ orders: {} });
    const own = ['{"id":1000}', '{"id":"Order-7","n":1}', '{"ID":"1000"}'];
    const others = [
      '{"order":{"id":1000}}',
      '[{"id":1000}]',
      '{"id":10001}',
      '{"Message":"{\\"id\\":1000}"}',
    ];
    for (const body of [...own, ...others]) await world.send("orders", [body]);
    const { messages } = lookAt(world);
    expect(messages.filter(({ id }) => /^(?:1000|12345678)/.test(id))).toEqual([]);
    expect(bodies(world, "id:1000")).toEqual([own[0], own[2]]);
    expect(bodies(world, 'id:"1000"')).toEqual([own[2]]);
    expect(bodies(world, "id:order-7")).toEqual([own[1]]);
    expect(bodies(world, "id:order-8")).toEqual([]);
    expect(bodies(world, "id:-")).toEqual([]);
    expect(bodies(world, "id:1000 state:leased")).toEqual([]);
  });

  it("a filter finds the same in pages as at once, whatever happens to the messages in between", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 });
    const terms = fc.subarray(["state:ready", "attempts:<2", "m1", "age:<1h"]);
    await fc.assert(
      fc.asyncProperty(sizes, terms, fc.integer({ min: 1, max: 9 }), async (batches, filter, max) => {
        const world = new World({
          orders: { consumer: consumer({ maxBatchSize: 5, maxBatchTimeoutSeconds: 0 }) },
        });
        world.handler = () => new Promise(() => {});
        let n = 0;
        for (const size of batches) {
          await world.send(
            "orders",
            Array.from({ length: size }, () => `m${n++}`),
          );
        }
        const wanted = filterOf(filter.join(" "));
        const isCounted = { max: PULL_MESSAGES_MAX, countsAll: true, filter: wanted };
        const { matched } = lookAt(world, isCounted);
        let found = 0;
        let cursor: string | null | undefined;
        do {
          const page = lookAt(world, { max, filter: wanted, ...(cursor ? { cursor } : {}) });
          found += page.messages.length;
          cursor = page.cursor;
        } while (cursor !== null);
        expect(found).toBe(matched);
      }),
      { numRuns: 100 },
    );
  });
});
