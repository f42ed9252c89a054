import type { SendReply } from "@sluice/protocol";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createProducer, type FakeBroker, NO_BACKLOG } from "../test/fake-broker.ts";
import type { QueueProducer } from "./queue-producer.ts";
import { CALL_BYTES_FULL } from "./send-batcher.ts";

const STORED: SendReply = { ok: true, metrics: NO_BACKLOG };

let producer: QueueProducer;
let broker: FakeBroker;
let first: PromiseWithResolvers<SendReply>;

/** Another turn of the event loop, as another request has. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Sends from requests of their own, all while the call of a first one is under way, and then answers that. */
async function sendDuringCall(
  ...sends: (() => Promise<unknown>)[]
): Promise<PromiseSettledResult<unknown>[]> {
  // However busy the machine is: all of it is one moment.
  vi.useFakeTimers({ toFake: ["Date"] });
  const before = producer.send("first");
  await turn();
  const after: Promise<unknown>[] = [];
  for (const send of sends) {
    after.push(send());
    await turn();
  }
  vi.useRealTimers();
  const outcomes = Promise.allSettled(after);
  first.resolve(STORED);
  await before;
  return outcomes;
}

const send = (body: unknown, options?: QueueSendOptions) => () => producer.send(body, options);
const reasons = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.message : "sent"));

beforeEach(() => {
  first = Promise.withResolvers();
  ({ producer, broker } = createProducer({ keepAlive: () => {}, deliveryDelaySeconds: 3 }));
  broker.answer = () => (broker.calls.length === 1 ? first.promise : STORED);
});

afterEach(() => {
  vi.useRealTimers();
});

it("sends of different requests go together with the next call while one is under way", async () => {
  expect(reasons(await sendDuringCall(send(1), send(2), send(3)))).toEqual(["sent", "sent", "sent"]);
  expect(broker.bodies).toEqual([['"first"'], ["1", "2", "3"]]);
});

it("sends of different requests are one packed batch where they name the same delay, in their order", async () => {
  const batch = (body: number, delaySeconds: number) => () =>
    producer.sendBatch([{ body }], { delaySeconds });
  await sendDuringCall(send(1), send(2, { delaySeconds: 9 }), batch(3, 3), batch(4, 0), send(5));
  expect(broker.calls[1]?.requests.map(({ delaySeconds }) => delaySeconds)).toEqual([3, 0, 3]);
  expect(broker.messages.slice(1).map((m) => m.delaySeconds ?? m.requestDelaySeconds)).toEqual([
    3, 9, 3, 0, 3,
  ]);
  expect(broker.bodies[1]).toEqual(["1", "2", "3", "4", "5"]);
});

it("sends of different requests do not linger when they fill a call", async () => {
  const body = "a".repeat(100_000);
  const sent = producer.send("first");
  await turn();
  const large = Array.from({ length: CALL_BYTES_FULL / body.length }, async () => {
    await turn();
    await producer.send(body, { contentType: "text" });
  });
  await Promise.all(large);
  expect(broker.calls.length).toBeGreaterThan(1);
  first.resolve(STORED);
  await sent;
});

it("sends of different requests are answered as before where the queue does not exist, each of them", async () => {
  broker.answer = () =>
    broker.calls.length === 1 ? first.promise : { ok: false, code: 10104, cause: "no such queue" };
  expect(reasons(await sendDuringCall(send(1), send(2)))).toEqual([
    "no such queue (10104)",
    "no such queue (10104)",
  ]);
  expect(broker.calls).toHaveLength(2);
});

it("sends of different requests fail together, and are not sent again, when their call is not answered", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  broker.answer = () => {
    if (broker.calls.length === 1) return first.promise;
    throw new Error("gone");
  };
  expect(reasons(await sendDuringCall(send(1), send(2)))).toEqual([
    "Unknown Internal Error (15000)",
    "Unknown Internal Error (15000)",
  ]);
  expect(broker.calls).toHaveLength(2);
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});

it.each([10202, 10203, 10204, 10205, 10206])(
  "sends of different requests are refused alone for what is in them: %i",
  async (code) => {
    broker.answer = () => {
      if (broker.calls.length === 1) return first.promise;
      const isRefused = broker.bodies.at(-1)?.includes("2") === true;
      return isRefused ? { ok: false, code, cause: "not that" } : STORED;
    };
    const outcomes = await sendDuringCall(send(1), send(2), send(3));
    expect(reasons(outcomes)).toEqual(["sent", `not that (${code})`, "sent"]);
    // The call of all stored nothing: it was refused.
    expect(broker.bodies.slice(2)).toEqual([["1"], ["2"], ["3"]]);
  },
);

it("sends of different requests are not sent again one by one to a queue that is overloaded", async () => {
  broker.answer = () =>
    broker.calls.length === 1 ? first.promise : { ok: false, code: 10250, cause: "too much" };
  await sendDuringCall(send(1), send(2));
  expect(broker.calls).toHaveLength(2);
});

it("a lone send with a slow one before it waits a moment and no longer", async () => {
  const slow = producer.send("first");
  await turn();
  await producer.send("second");
  expect(broker.bodies).toEqual([['"first"'], ['"second"']]);
  first.resolve(STORED);
  await slow;
});
