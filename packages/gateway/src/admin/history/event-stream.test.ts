import type { WatchReply, WatchRequest } from "@sluice/protocol";
import { expect, it } from "vitest";
import { AdminError } from "../failure.ts";
import {
  AGAIN_MS,
  EventStream,
  FRAME_MS,
  type FrameView,
  LOOK_MS,
  SILENCE_MS,
  SNAPSHOT_MS,
  type StreamPorts,
} from "./event-stream.ts";

/** Queues that answer when the test says so, on a clock of its own. */
class Broker implements StreamPorts {
  nowMs = 0;
  names: string[] = [];
  /** Why the next look is refused, or fails. */
  failure: Error | null = null;
  readonly asked: { readonly queue: string; readonly request: WatchRequest; readonly atMs: number }[] = [];
  readonly #calls = new Map<string, PromiseWithResolvers<WatchReply>>();
  #timers: { readonly atMs: number; readonly ring: () => void }[] = [];

  constructor(...names: string[]) {
    this.names = names;
  }

  get timers(): number {
    return this.#timers.length;
  }

  async queues() {
    if (this.failure !== null) throw this.failure;
    return this.names;
  }

  watch(queue: string, request: WatchRequest): Promise<WatchReply> {
    this.asked.push({ queue, request, atMs: this.nowMs });
    const call = Promise.withResolvers<WatchReply>();
    this.#calls.set(queue, call);
    return call.promise;
  }

  now() {
    return this.nowMs;
  }

  after(ring: () => void, ms: number) {
    const timer = { atMs: this.nowMs + ms, ring };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  async answer(queue: string, changes: Partial<WatchReply> = {}) {
    this.#calls.get(queue)?.resolve(replyOf(changes));
    await settled();
  }

  async fail(queue: string) {
    this.#calls.get(queue)?.reject(new Error("its object has ended"));
    await settled();
  }

  async pass(ms: number) {
    await settled();
    const untilMs = this.nowMs + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.nowMs = next.atMs;
      this.#timers = this.#timers.filter((each) => each !== next);
      next.ring();
      await settled();
    }
    this.nowMs = untilMs;
  }
}

function replyOf(changes: Partial<WatchReply>): WatchReply {
  return {
    state: "s1",
    last: 1,
    events: [],
    isGap: false,
    figures: {
      nowMs: 5,
      ready: 1,
      delayed: 2,
      leased: 3,
      backlogBytes: 4,
      oldestMessageTimestampMs: 0,
      isOn: true,
      totals: { accepted: 7 },
      tookMs: [1],
    },
    ...changes,
  };
}

/** Promises only are awaited in here. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Reads a stream as a client does. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly stream: EventStream;
  hasEnded = false;
  constructor(broker: Broker, ...kinds: ConstructorParameters<typeof EventStream>[1] & object) {
    this.stream = new EventStream(broker, kinds.length === 0 ? undefined : kinds);
    const ended = () => {
      this.hasEnded = true;
    };
    this.#reader = this.stream.body(ended).getReader();
  }
  /** A frame, the text of a comment, or `null` at the end. */
  async next(): Promise<FrameView | string | null> {
    const { done, value } = await this.#reader.read();
    if (done) return null;
    const text = new TextDecoder().decode(value);
    expect(text).toMatch(/\n\n$/);
    return text.startsWith("data: ") ? (JSON.parse(text.slice(6)) as FrameView) : text;
  }
  cancel() {
    return this.#reader.cancel();
  }
}

/** A stream of one queue whose first frame was read. */
async function begun() {
  const broker = new Broker("a");
  const reader = new Reader(broker);
  const first = reader.next();
  await settled();
  await broker.answer("a");
  await first;
  return { broker, reader };
}

it("a stream of events begins with all queues, and asks nothing before it is read", async () => {
  const broker = new Broker("a", "b");
  const reader = new Reader(broker);
  await settled();
  expect(broker.asked).toEqual([]);
  const first = reader.next();
  await settled();
  await broker.answer("a");
  await broker.answer("b");
  expect(await first).toMatchObject({
    isSnapshot: true,
    isGap: false,
    events: [],
    gone: [],
    queues: [
      {
        name: "a",
        messages: { ready: 1, delayed: 2, leased: 3 },
        oldestMessageAt: null,
        totals: { accepted: 7 },
      },
      { name: "b" },
    ],
  });
  expect(broker.timers).toBe(0);
});

it("a stream of events sends what has changed, four times a second at most", async () => {
  const broker = new Broker("a", "b");
  const reader = new Reader(broker, "failed");
  const first = reader.next();
  await settled();
  await broker.answer("a", { last: 8, state: "s8" });
  await broker.answer("b");
  await first;
  const second = reader.next();
  await broker.pass(FRAME_MS - 1);
  expect(broker.asked).toHaveLength(2);
  await broker.pass(1);
  expect(broker.asked.slice(2)).toMatchObject([
    { queue: "a", atMs: FRAME_MS, request: { after: 8, state: "s8", kinds: ["failed"] } },
    { queue: "b", atMs: FRAME_MS },
  ]);
  await broker.answer("a");
  expect(await second).toMatchObject({ isSnapshot: false, queues: [{ name: "a" }] });
  const third = reader.next();
  await broker.pass(FRAME_MS);
  // The other one is still being asked.
  expect(broker.asked).toHaveLength(5);
  await broker.answer("b");
  expect(await third).toMatchObject({ queues: [{ name: "b" }] });
});

it("a stream of events asks nothing while its reader is slow, and sends it all queues when it has missed something", async () => {
  const broker = new Broker("a", "b");
  const reader = new Reader(broker);
  const first = reader.next();
  await settled();
  await broker.answer("a");
  await broker.answer("b");
  await first;
  await broker.pass(60_000);
  expect(broker.asked).toHaveLength(2);
  expect(broker.timers).toBe(0);
  const second = reader.next();
  await settled();
  await broker.answer("a", { isGap: true });
  expect(await second).toMatchObject({
    isSnapshot: true,
    isGap: true,
    queues: [{ name: "a" }, { name: "b" }],
  });
});

it("a stream of events says that it is there while nothing happens", async () => {
  const { broker, reader } = await begun();
  const second = reader.next();
  await broker.pass(FRAME_MS + SILENCE_MS);
  expect(await second).toMatch(/^: /);
  expect(broker.asked).toHaveLength(2);
});

it("a stream of events watches queues that are created meanwhile, and says which are gone", async () => {
  const { broker, reader } = await begun();
  broker.names = ["b"];
  const second = reader.next();
  await broker.pass(LOOK_MS);
  expect(await second).toMatchObject({ gone: ["a"], queues: [] });
  const third = reader.next();
  await broker.pass(FRAME_MS);
  await broker.answer("b");
  expect(await third).toMatchObject({ gone: [], queues: [{ name: "b" }] });
});

it("a stream of events asks a queue whose object has ended a second later where it was, for its state at once", async () => {
  const broker = new Broker("a");
  const reader = new Reader(broker);
  const first = reader.next();
  await settled();
  await broker.answer("a", { last: 9 });
  await first;
  void reader.next();
  await broker.pass(FRAME_MS);
  await broker.fail("a");
  const asked = broker.asked.length;
  await broker.pass(AGAIN_MS - 1);
  expect(broker.asked).toHaveLength(asked);
  await broker.pass(1);
  expect(broker.asked.at(-1)?.request).toEqual({ after: 9, state: null });
});

it("a stream of events begins without a queue that does not answer", async () => {
  const broker = new Broker("a", "hangs");
  const first = new Reader(broker).next();
  await settled();
  await broker.answer("a");
  await broker.pass(SNAPSHOT_MS);
  expect(await first).toMatchObject({ isSnapshot: true, queues: [{ name: "a" }] });
});

it("a stream of events looks again whether its reader may read on, and at a refusal ends with the reason", async () => {
  const { broker, reader } = await begun();
  broker.failure = new AdminError(401, "unauthorized", 'The token "shop" has expired.');
  const second = reader.next();
  await broker.pass(LOOK_MS - 1);
  // Something has happened at the same moment: it is not told.
  broker.nowMs += 1;
  await broker.answer("a", { last: 2 });
  const data = '{"code":"unauthorized","message":"The token \\"shop\\" has expired."}';
  expect(await second).toBe(`event: end\ndata: ${data}\n\n`);
  expect(reader.hasEnded).toBe(true);
  expect(await reader.next()).toBeNull();
  expect(broker.timers).toBe(0);
});

it("a stream of events gives its slot back when the directory fails", async () => {
  const broker = new Broker("a");
  const reader = new Reader(broker);
  broker.failure = new Error("the directory is not there");
  await expect(reader.next()).rejects.toThrow("the directory is not there");
  expect(reader.hasEnded).toBe(true);
});

it("a stream of events ends with the broker, and with its reader", async () => {
  const reader = new Reader(new Broker("a"));
  const first = reader.next();
  await settled();
  reader.stream.end();
  expect(await first).toBeNull();
  expect(reader.hasEnded).toBe(true);
  const broker = new Broker("a");
  const another = new Reader(broker);
  void another.next();
  await settled();
  await another.cancel();
  expect(another.hasEnded).toBe(true);
  expect(broker.timers).toBe(0);
});
