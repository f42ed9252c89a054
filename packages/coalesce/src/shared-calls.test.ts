import { expect, it } from "vitest";
import { SharedCall, setTimer } from "./shared-call.ts";
import { CALLS_KEPT_MAX, SharedCalls } from "./shared-calls.ts";

/** A call that is answered when it is told to. */
function heldCall() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begin = () =>
    new SharedCall<string, string>({
      call: async (items) => {
        await promise;
        return items;
      },
      weightOf: () => 1,
      weightMax: 10,
      now: () => 0,
      setTimer,
    });
  return { begin, answer: resolve };
}

it("one call is shared for each key", async () => {
  const calls = new SharedCalls<string, string>();
  const { begin, answer } = heldCall();
  const call = calls.of("a", begin);
  expect(calls.of("a", begin)).toBe(call);
  expect(calls.of("b", begin)).not.toBe(call);
  const done = call.run("x", () => {});
  answer();
  expect(await done).toBe("x");
  expect(calls.of("a", begin)).toBe(call);
});

it("only so many are kept that nothing is under way for", () => {
  const calls = new SharedCalls<string, string>();
  const { begin } = heldCall();
  for (let i = 0; i < CALLS_KEPT_MAX; i++) calls.of(`${i}`, begin);
  expect(calls.size).toBe(CALLS_KEPT_MAX);
  calls.of("one more", begin);
  expect(calls.size).toBe(1);
});

it("those that something is under way for are kept, and looked through no more often than they double", async () => {
  const calls = new SharedCalls<string, string>();
  const { begin, answer } = heldCall();
  const underWay = Array.from({ length: CALLS_KEPT_MAX }, (_, i) => {
    const call = calls.of(`${i}`, begin);
    return { call, done: call.run("x", () => {}) };
  });
  for (let i = 0; i < CALLS_KEPT_MAX; i++) calls.of(`idle ${i}`, begin);
  expect(calls.size).toBe(2 * CALLS_KEPT_MAX);
  calls.of("one more", begin);
  expect(calls.size).toBe(CALLS_KEPT_MAX + 1);
  for (const [i, { call }] of underWay.entries()) expect(calls.of(`${i}`, begin)).toBe(call);
  answer();
  await Promise.all(underWay.map(({ done }) => done));
});
