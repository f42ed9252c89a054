import { expect, it } from "vitest";
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS, Backoff } from "./backoff.ts";

it("Backoff is not failing at first, nor after a success", () => {
  const backoff = new Backoff();
  expect(backoff.failing).toBe(false);
  backoff.failed(0);
  expect(backoff.failing).toBe(true);
  backoff.succeeded();
  expect(backoff.failing).toBe(false);
});

it("Backoff doubles its wait from the first one to the longest", () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 9 }, () => {
    backoff.failed(1_000);
    return backoff.retryAtMs - 1_000;
  });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(waits[0]).toBe(BACKOFF_FIRST_MS);
  expect(waits.at(-1)).toBe(BACKOFF_MAX_MS);
});

it("Backoff stays at the longest wait however often it fails", () => {
  const backoff = new Backoff();
  for (let i = 0; i < 2_000; i++) backoff.failed(0);
  expect(backoff.retryAtMs).toBe(BACKOFF_MAX_MS);
});

it("Backoff begins again after a success", () => {
  const backoff = new Backoff();
  for (let i = 0; i < 5; i++) backoff.failed(0);
  backoff.succeeded();
  backoff.failed(7);
  expect(backoff.retryAtMs).toBe(7 + BACKOFF_FIRST_MS);
});
