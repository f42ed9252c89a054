import { expect, it } from "vitest";
import { CASES, messagesFor, RUN_MESSAGES_MAX } from "./cases.ts";

it("sizes a run for the time it should take, in whole steps", () => {
  expect(messagesFor(2, 1_240, 100)).toBe(2_500);
  expect(messagesFor(0.5, 97_020, 100)).toBe(48_500);
  expect(messagesFor(2, 12, 10)).toBe(20);
});

it("never runs fewer messages than a step, nor more than memory should hold", () => {
  expect(messagesFor(2, 3, 100)).toBe(100);
  expect(messagesFor(2, 1e9, 100)).toBe(RUN_MESSAGES_MAX);
});

it("warms up with whole steps, and every batch of 100 is full", () => {
  for (const { way, step, warmUpMessages } of CASES) {
    expect(warmUpMessages % step).toBe(0);
    expect(step % 100 === 0 || way === "idle").toBe(true);
  }
});
