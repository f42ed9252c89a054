import { expect, it } from "vitest";
import { CALLS_KEPT_MAX, SharedCalls } from "./shared-calls.ts";

const PORTS = { weightOf: () => 1, weightMax: 10, now: () => 0 };

/** A call that is answered when it is told to. */
function heldCall() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = async (items: readonly string[]) => {
    await promise;
    return items;
  };
  return { call, answer: resolve };
}

it("one call is shared for each key", async () => {
  const calls = new SharedCalls<string, string>(PORTS);
  const { call: held, answer } = heldCall();
  const call = calls.of("a", held);
  expect(calls.of("a", held)).toBe(call);
  expect(calls.of("b", held)).not.toBe(call);
  const done = call.run("x", () => {});
  answer();
  expect(await done).toBe("x");
  expect(calls.of("a", held)).toBe(call);
});

it("only so many are kept that nothing is under way for", () => {
  const calls = new SharedCalls<string, string>(PORTS);
  const { call: held } = heldCall();
  for (let i = 0; i < CALLS_KEPT_MAX; i++) calls.of(`${i}`, held);
  expect(calls.size).toBe(CALLS_KEPT_MAX);
  calls.of("one more", held);
  expect(calls.size).toBe(1);
});

it("those that something is under way for are kept, and looked through no more often than they double", async () => {
  const calls = new SharedCalls<string, string>(PORTS);
  const { call: held, answer } = heldCall();
  const underWay = Array.from({ length: CALLS_KEPT_MAX }, (_, i) => {
    const call = calls.of(`${i}`, held);
    return { call, done: call.run("x", () => {}) };
  });
  for (let i = 0; i < CALLS_KEPT_MAX; i++) calls.of(`idle ${i}`, held);
  expect(calls.size).toBe(2 * CALLS_KEPT_MAX);
  calls.of("one more", held);
  expect(calls.size).toBe(CALLS_KEPT_MAX + 1);
  for (const [i, { call }] of underWay.entries()) expect(calls.of(`${i}`, held)).toBe(call);
  answer();
  await Promise.all(underWay.map(({ done }) => done));
});
