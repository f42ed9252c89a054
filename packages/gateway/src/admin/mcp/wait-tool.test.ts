import { expect, it } from "vitest";
import { AdminError } from "../failure.ts";
import type { ApiRequest, ToolPorts } from "./tool.ts";
import { LOOK_EVERY_MS, WAITS_MAX, waitTool } from "./wait-tool.ts";

const ID = "a".repeat(32);
const ACKED = { kind: "acked" };

/** Surroundings whose time passes by pauses alone, with a queue that holds so many messages at each look. */
function portsOf(held: readonly (number | AdminError)[], changes: Partial<ToolPorts> = {}) {
  let nowMs = 0;
  let looks = 0;
  const answer = ({ path }: ApiRequest): unknown => {
    if (path.endsWith("/story")) return { events: [ACKED] };
    const left = held[Math.min(looks, held.length - 1)];
    if (path.includes("/messages/")) {
      if (left === 0) throw new AdminError(404, "message_not_found", "gone");
      return { id: ID };
    }
    looks += path === "/queues/orders" ? 1 : 0;
    const now = held[Math.min(looks, held.length) - 1];
    if (now instanceof AdminError) throw now;
    return { messages: { ready: now, delayed: 0, leased: 0 } };
  };
  const ports: ToolPorts = {
    ask: async <Answer>(request: ApiRequest) => answer(request) as Answer,
    searchDocs: null,
    pause: async (ms) => {
      nowMs += ms;
    },
    isGone: () => false,
    now: () => nowMs,
    ...changes,
  };
  return { ports, nowMs: () => nowMs };
}

const wait = (ports: ToolPorts, input: object = {}) => {
  const { input: schema, run } = waitTool();
  return run(schema.parse({ queue: "orders", ...input }), ports);
};

it("ends as soon as the queue is empty", async () => {
  const { ports, nowMs } = portsOf([2, 1, 0]);
  expect(await wait(ports)).toMatchObject({ isMet: true, messages: { ready: 0 }, last: null });
  expect(nowMs()).toBe(2 * LOOK_EVERY_MS);
});

it("ends when its time is over, to the millisecond", async () => {
  const { ports, nowMs } = portsOf([1]);
  expect(await wait(ports, { seconds: 3 })).toMatchObject({ isMet: false });
  expect(nowMs()).toBe(3_000);
});

it(`${WAITS_MAX} calls wait at a time; those whose callers are gone count until their time is over`, async () => {
  const { input, run } = waitTool();
  let nowMs = 0;
  const { ports } = portsOf([1], { now: () => nowMs, pause: () => new Promise(() => {}) });
  const begin = () => run(input.parse({ queue: "orders", seconds: 10 }), ports);
  for (let i = 0; i < WAITS_MAX - 1; i++) void begin();
  const { ports: empty } = portsOf([0]);
  const look = () => run(input.parse({ queue: "orders" }), { ...empty, now: () => nowMs });
  expect(await look()).toMatchObject({ isMet: true });
  void begin();
  await expect(look()).rejects.toMatchObject({ status: 429, code: "too_many_waits" });
  nowMs = 9_999;
  await expect(look()).rejects.toMatchObject({ status: 429 });
  nowMs = 10_000;
  expect(await look()).toMatchObject({ isMet: true });
});

it("looks once without any time", async () => {
  const { ports, nowMs } = portsOf([0]);
  expect(await wait(ports, { until: "notEmpty", seconds: 0 })).toMatchObject({ isMet: false });
  expect(nowMs()).toBe(0);
});

it("goes on where the token's rate does not allow a look, and fails where the first one is refused", async () => {
  const late = new AdminError(429, "rate_limited", "too many");
  expect(await wait(portsOf([1, late, 0]).ports)).toMatchObject({ isMet: true });
  await expect(wait(portsOf([new AdminError(404, "queue_not_found", "none")]).ports)).rejects.toThrow("none");
});

it("ends with its caller", async () => {
  const { ports, nowMs } = portsOf([1], { isGone: () => true });
  expect(await wait(ports)).toMatchObject({ isMet: false });
  expect(nowMs()).toBe(0);
});

it.each([
  [-1, true],
  [0, false],
  [50, false],
  [51, true],
])("%i seconds are refused: %s", (seconds, isRefused) => {
  expect(waitTool().input.safeParse({ queue: "orders", seconds }).success).toBe(!isRefused);
});
