import { expect, it } from "vitest";
import { messagesFor, RUN_MESSAGES_MAX, RUN_MESSAGES_MIN } from "./cases.ts";

it("sizes a run for the time it should take, in whole batches", () => {
  expect(messagesFor(2, 1_240)).toBe(2_500);
  expect(messagesFor(0.5, 97_020)).toBe(48_500);
});

it("never runs fewer messages than a batch, nor more than memory should hold", () => {
  expect(messagesFor(2, 3)).toBe(RUN_MESSAGES_MIN);
  expect(messagesFor(2, 1e9)).toBe(RUN_MESSAGES_MAX);
});
