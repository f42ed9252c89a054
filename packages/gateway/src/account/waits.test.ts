import { expect, it, vi } from "vitest";
import { STOP_MS, Waits } from "./waits.ts";

it("an end that is announced ends what waits, and what it did not bring about is forgotten in time", async () => {
  let nowMs = 0;
  const waits = new Waits(() => nowMs);
  const end = vi.fn(async () => {});
  void waits.during(new Promise(() => {}), end);
  expect(waits.isStopped).toBe(false);
  await waits.stop();
  expect(end).toHaveBeenCalledOnce();
  nowMs = STOP_MS - 1;
  expect(waits.isStopped).toBe(true);
  nowMs = STOP_MS;
  expect(waits.isStopped).toBe(false);
  await waits.stop();
  nowMs += STOP_MS - 1;
  expect(waits.isStopped).toBe(true);
});
