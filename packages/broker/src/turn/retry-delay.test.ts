import type { RetryPolicySettings } from "@sluice/protocol";
import { jitterRandom } from "@sluice/retry";
import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";

const EXPONENTIAL = { kind: "exponential", base: 10, maxSeconds: 500, jitter: "none" } as const;

const SNS = {
  kind: "sns",
  minDelayTarget: 5,
  maxDelayTarget: 260,
  numRetries: 5,
  numMaxDelayRetries: 1,
  numNoDelayRetries: 1,
  numMinDelayRetries: 1,
  backoffFunction: "linear",
  jitter: "none",
} as const;

function worldWith(retryPolicy: RetryPolicySettings, settings: Parameters<typeof consumer>[0] = {}): World {
  return new World({
    orders: {
      consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0, retryPolicy, ...settings }),
    },
  });
}

/** Delays after each failure of the queue's messages until they are delivered no more, in ms. */
async function delaysOf(world: World): Promise<number[]> {
  const delays: number[] = [];
  for (;;) {
    await world.quiet();
    const entry = world.core("orders").queue.delayed.peek();
    if (entry === undefined) return delays;
    const delayMs = entry.atMs - world.nowMs;
    delays.push(delayMs);
    const seen = world.seen.length;
    await world.pass(delayMs - 1);
    expect(world.seen.length).toBe(seen);
    await world.pass(1);
    expect(world.seen.length).toBe(seen + 1);
  }
}

describe("a retry that names no delay", () => {
  it("waits as its queue's policy says, by the number of attempts", async () => {
    const world = worldWith(EXPONENTIAL, { maxRetries: 4, retryDelaySeconds: 7 });
    world.handler = () => ({ outcome: "exception" });
    await world.send("orders", ["a"]);
    expect(await delaysOf(world)).toEqual([10_000, 100_000, 500_000, 500_000]);
    expect(world.lines[1]).toMatch(/ in 100 s \(attempt 2 of 5\): /);
  });

  it("waits so after retry() and retryAll() as well", async () => {
    const world = worldWith(EXPONENTIAL, { maxRetries: 2 });
    world.handler = ({ messages: [message] }) =>
      message?.attempts === 1 ? { retryMessages: [{ msgId: message.id }] } : { retryBatch: { retry: true } };
    await world.send("orders", ["a"]);
    expect(await delaysOf(world)).toEqual([10_000, 100_000]);
  });

  it("passes through the phases of an SNS policy, which says how often (spec sns-delivery 2.1)", async () => {
    const world = worldWith(SNS, { maxRetries: 3 });
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["a"]);
    // Its first retry is immediate.
    expect(world.seen.map(({ messages }) => messages[0]?.attempts)).toEqual([1, 2]);
    expect(await delaysOf(world)).toEqual([5_000, 5_000, 260_000, 260_000]);
    expect(world.seen).toHaveLength(6);
    expect(world.lines.at(-1)).toMatch(/^warn: Dropped message .* after 6 failed attempt/);
  });

  it.each([
    ["retry", (id: string) => ({ retryMessages: [{ msgId: id, delaySeconds: 30 }] })],
    ["retryAll", () => ({ retryBatch: { retry: true, delaySeconds: 30 } })],
  ])("a %s with a delay goes by that delay", async (_call, answer) => {
    const world = worldWith(EXPONENTIAL, { maxRetries: 1 });
    world.handler = ({ messages }) => answer(messages[0]?.id ?? "");
    await world.send("orders", ["a"]);
    expect(await delaysOf(world)).toEqual([30_000]);
  });

  it("a retry with a delay of 0 goes by that delay", async () => {
    const world = worldWith(EXPONENTIAL, { maxRetries: 1 });
    world.handler = () => ({ retryBatch: { retry: true, delaySeconds: 0 } });
    await world.sendAndPass("orders", ["a"]);
    expect(world.seen).toHaveLength(2);
  });

  it("waits for each message by its own attempts when a batch mixes them", async () => {
    const world = worldWith(EXPONENTIAL);
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["old"]);
    await world.sendAndPass("orders", ["new"], 10_000, { delaySeconds: 10 });
    expect(world.seen[1]?.messages.map(({ attempts }) => attempts).sort()).toEqual([1, 2]);
    await world.pass(10_000);
    expect(world.seen[2]?.messages.map(({ body, attempts }) => [body, attempts])).toEqual([["new", 2]]);
    await world.pass(89_999);
    expect(world.seen).toHaveLength(3);
    await world.pass(1);
    expect(world.seen[3]?.messages.map(({ body, attempts }) => [body, attempts])).toEqual([["old", 3]]);
  });
});

describe("jitter", () => {
  it("spreads batches that failed together, each by its first message, and keeps a batch together", async () => {
    const world = worldWith({ ...EXPONENTIAL, jitter: "full" }, { maxBatchSize: 2 });
    const failed = new Map<string, number>();
    world.handler = ({ messages }) => {
      const [first] = messages;
      if (first?.attempts !== 1) return {};
      // Batches of one millisecond are delivered in their order.
      failed.set(first.id, Math.round(10_000 * jitterRandom("", "orders", first.id, 1)));
      return { outcome: "exception" };
    };
    await world.sendAndPass("orders", ["a", "b", "c", "d", "e", "f"], 10_000);
    expect(failed.size).toBe(3);
    const again = world.seen.filter(({ messages }) => messages[0]?.attempts === 2);
    expect(again.map(({ messages }) => messages.length)).toEqual([2, 2, 2]);
    const order = [...failed].sort(([, a], [, b]) => a - b).map(([id]) => id);
    expect(again.map(({ messages }) => messages[0]?.id)).toEqual(order);
  });

  it("is decided once: the due time outlives a restart (A13)", async () => {
    const world = worldWith({ ...EXPONENTIAL, jitter: "equal" });
    world.handler = () => ({ outcome: "exception" });
    await world.send("orders", ["a"]);
    await world.quiet();
    const before = world.core("orders").queue.delayed.peek()?.atMs ?? 0;
    const id = world.seen[0]?.messages[0]?.id ?? "";
    expect(before).toBe(world.nowMs + Math.round(5_000 + 5_000 * jitterRandom("", "orders", id, 1)));
    world.crash("orders");
    expect(world.core("orders").queue.delayed.peek()?.atMs).toBe(before);
  });
});

it("messages whose push delivery did not end in time wait as the policy says", async () => {
  const world = worldWith(EXPONENTIAL, { maxRetries: 1 });
  world.handler = () => new Promise(() => {});
  world.callsOf = () => new Promise(() => {});
  await world.sendAndPass("orders", ["a"]);
  const { pushLeaseMs } = world.core("orders").queue.rules;
  await world.pass(pushLeaseMs + 9_999);
  expect(world.seen).toHaveLength(1);
  await world.pass(1);
  expect(world.seen).toHaveLength(2);
});
