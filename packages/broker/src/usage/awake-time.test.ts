import { expect, it } from "vitest";
import { AwakeTime } from "./awake-time.ts";

function clocked() {
  let nowMs = 1_000;
  const awake = new AwakeTime(() => nowMs);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { awake, pass };
}

it("counts the time in which anything is under way once, and no other", () => {
  const { awake, pass } = clocked();
  pass(5);
  awake.begin();
  pass(10);
  awake.begin();
  pass(10);
  awake.end();
  pass(10);
  expect(awake.totalMs).toBe(30);
  awake.end();
  pass(100);
  expect(awake.totalMs).toBe(30);
});

it("is held once, however often it is held", () => {
  const { awake, pass } = clocked();
  for (const isHeld of [false, true, true]) awake.hold(isHeld);
  pass(7);
  for (const isHeld of [false, false]) awake.hold(isHeld);
  pass(7);
  expect(awake.totalMs).toBe(7);
});

it("counts until a promise is settled, whichever way", async () => {
  const { awake, pass } = clocked();
  const { promise, reject } = Promise.withResolvers<never>();
  const during = awake.during(promise);
  pass(3);
  reject(new Error("gone"));
  await expect(during).rejects.toThrow("gone");
  pass(3);
  expect(awake.totalMs).toBe(3);
});
