import { expect, it } from "vitest";
import { Staying } from "./staying.ts";

/** Messages that stay, a clock, and what was given back when. */
function staying() {
  const given: [ms: number, receipts: readonly string[]][] = [];
  const state = { nowMs: 0, given };
  const all = new Staying(async (receipts) => void given.push([state.nowMs, receipts]));
  const stopping = new AbortController();
  /** Keeps them from dying until a time. */
  const keepUntil = (endMs: number, leaseMs: number) =>
    all.keep(leaseMs, stopping.signal, {
      now: () => state.nowMs,
      wait: async (ms) => {
        state.nowMs += ms;
        if (state.nowMs >= endMs) stopping.abort();
      },
    });
  return { state, all, keepUntil };
}

it("messages that stay are given back once half of their lease is over, so that it does not end", async () => {
  const { state, all, keepUntil } = staying();
  all.add(["a"], 800);
  all.add(["b"], 1_200);
  await keepUntil(900, 800);
  expect(state.given).toEqual([
    [400, ["a"]],
    [800, ["b"]],
  ]);
});

it("messages that stay are given back in requests of 100, each once", async () => {
  const { state, all } = staying();
  const receipts = Array.from({ length: 101 }, (_, n) => `${n}`);
  all.add(receipts, 800);
  await Promise.all([all.giveBack(), all.giveBack()]);
  expect(state.given.map(([, each]) => each.length)).toEqual([100, 1]);
  expect(state.given.flatMap(([, each]) => each)).toEqual(receipts);
});
