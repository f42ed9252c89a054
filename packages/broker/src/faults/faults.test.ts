import {
  type Delivery,
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  packMessages,
  unpackMessages,
} from "@sluice/protocol";
import { expect, it } from "vitest";
import { ackedResult, type ConsumerPort } from "../push/delivery-result.ts";
import { Faults } from "./faults.ts";
import { shuffleBatch } from "./shuffle-batch.ts";

function deliveryOf(bodies: readonly string[], attempts: Delivery["attempts"] = 1): Delivery {
  const messages = bodies.map((body, i) => ({
    id: `${i}`.padStart(32, "0"),
    timestampMs: 1_000 + i,
    contentType: "text" as const,
    body: new TextEncoder().encode(body),
  }));
  const metrics = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };
  return { id: "1 a", queue: "orders", packed: packMessages(messages as never), attempts, metrics };
}

const bodiesIn = ({ packed }: Delivery) =>
  unpackMessages(packed).map(({ body }) => new TextDecoder().decode(body as Uint8Array));

/** Faults around a consumer that acknowledges everything. Time passes when a test says so. */
function faultsWith(...faults: (Partial<Fault> & { kind: FaultKind })[]) {
  const log: string[] = [];
  const got: string[][] = [];
  const waiting: { callback: () => void; ms: number }[] = [];
  const crashes: unknown[] = [];
  const noted: [deliveryId: string, text: string][] = [];
  const set = new Faults({
    log: {
      handled: () => {},
      message: () => {},
      info: () => {},
      error: () => {},
      warn: (line) => log.push(line),
    },
    queue: "orders",
    after: (callback, ms) => waiting.push({ callback, ms }),
    crash: (error) => crashes.push(error),
    acts: async (...fault) => {
      noted.push(fault);
    },
  });
  const consumer: ConsumerPort = {
    name: "mailer",
    deliver: async (delivery) => {
      got.push(bodiesIn(delivery));
      return ackedResult();
    },
    callsOf: async () => null,
    ping: async () => "pong",
  };
  set.set({ seed: 7, faults: faults.map((fault) => ({ times: 1, ms: 1_000, ...fault })) });
  const deliver = (delivery = deliveryOf(["a", "b"])) => set.around(consumer).deliver(delivery);
  return { faults: set, deliver, got, log, waiting, crashes, noted, consumer };
}

const turns = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

it("faults leave the consumer as it is where none is on", () => {
  const { faults, consumer } = faultsWith();
  expect(faults.around(consumer)).toBe(consumer);
  expect(faults.description).toEqual({});
});

it("faults come as often as they were asked for, and say so", async () => {
  const { faults, deliver, log } = faultsWith({ kind: "loseAck", times: 2 });
  expect(await deliver()).toMatchObject({ outcome: "exception", error: expect.stringContaining("loseAck") });
  expect(faults.read()).toEqual({ seed: 7, faults: [{ kind: "loseAck", times: 1, ms: 1_000 }] });
  expect(faults.description).toEqual({ faults: [{ kind: "loseAck", times: 1, ms: 1_000 }] });
  await deliver();
  expect(await deliver()).toEqual(ackedResult());
  expect(log).toEqual([
    'Queue "orders": fault loseAck, 1 more to come',
    'Queue "orders": fault loseAck, 0 more to come',
  ]);
});

it("faults are noted in the history when they act, with the delivery and what they do to it", async () => {
  const { deliver, noted, waiting } = faultsWith(...FAULT_KINDS.map((kind) => ({ kind, times: 2, ms: 5 })));
  const first = deliver();
  const second = deliver({ ...deliveryOf(["c"]), id: "2 b" });
  for (const { callback } of waiting.splice(0)) callback();
  await Promise.all([first, second]);
  expect(noted.filter(([, text]) => text.startsWith("holdBatch"))).toEqual([
    ["1 a", "holdBatch: the batch is held back for 5 ms"],
    ["2 b", "holdBatch: the batch is held back for 5 ms"],
  ]);
  expect(noted.map(([, text]) => text.split(":")[0])).toContain("failBatch");
});

it("faults failBatch: the handler is not called", async () => {
  const { deliver, got } = faultsWith({ kind: "failBatch" });
  expect(await deliver()).toMatchObject({ outcome: "exception" });
  expect(got).toEqual([]);
});

it("faults deliverTwice: the handler is called twice, with the same", async () => {
  const { deliver, got } = faultsWith({ kind: "deliverTwice" });
  expect(await deliver()).toEqual(ackedResult());
  expect(got).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

it("faults holdBatch and slow: the batch and its result wait", async () => {
  const { deliver, got, waiting } = faultsWith({ kind: "holdBatch", ms: 5 }, { kind: "slow", ms: 9 });
  const answer = deliver();
  await turns();
  expect([got, waiting.map(({ ms }) => ms)]).toEqual([[], [5]]);
  waiting[0]?.callback();
  await turns();
  expect([got, waiting.map(({ ms }) => ms)]).toEqual([[["a", "b"]], [5, 9]]);
  waiting[1]?.callback();
  expect(await answer).toEqual(ackedResult());
});

it("faults cutLease: what the handler does later does not count", async () => {
  const { deliver, waiting } = faultsWith({ kind: "cutLease", ms: 5 }, { kind: "slow", ms: 9 });
  const answer = deliver();
  await turns();
  waiting.find(({ ms }) => ms === 5)?.callback();
  expect(await answer).toMatchObject({ outcome: "exception", error: expect.stringContaining("5 ms") });
});

it("faults restart: the object crashes when the handler is done", async () => {
  const { deliver, got, crashes } = faultsWith({ kind: "restart" });
  await expect(deliver()).rejects.toThrow("fault restart");
  expect([got.length, crashes.length]).toEqual([1, 1]);
});

it("faults reorder: the messages are the same, with their attempts, in an order that follows from the seed", () => {
  for (let count = 0; count <= 20; count++) {
    const bodies = Array.from({ length: count }, (_, i) => `${i}`);
    const attempts = bodies.map((_, i) => i + 1);
    const got = bodiesIn(shuffleBatch(deliveryOf(bodies, attempts), count));
    expect([...got].sort()).toEqual([...bodies].sort());
    expect(shuffleBatch(deliveryOf(bodies, attempts), count).attempts).toEqual(
      got.map((body) => Number(body) + 1),
    );
    expect(bodiesIn(shuffleBatch(deliveryOf(bodies, attempts), count))).toEqual(got);
  }
  const orders = new Set(
    [1, 2, 3, 4, 5].map((seed) => bodiesIn(shuffleBatch(deliveryOf(["a", "b", "c", "d"]), seed)).join()),
  );
  expect(orders.size).toBeGreaterThan(1);
});

it("faults are replaced by others and ended", async () => {
  const { faults, deliver } = faultsWith(...FAULT_KINDS.map((kind) => ({ kind })));
  expect(faults.read().faults).toHaveLength(FAULT_KINDS.length);
  faults.set({ seed: 1, faults: [] });
  expect(await deliver()).toEqual(ackedResult());
});
