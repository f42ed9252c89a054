import { expect, it } from "vitest";
import { TOLD_MS, ToldDisk } from "./told-disk.ts";

it("a disk is full while reports say so, and not forever without further reports", () => {
  let nowMs = 1_000;
  const disk = new ToldDisk(() => nowMs);
  expect(disk.isFull).toBe(false);
  disk.told(true);
  nowMs += TOLD_MS - 1;
  expect(disk.isFull).toBe(true);
  disk.told(true);
  nowMs += TOLD_MS - 1;
  expect(disk.isFull).toBe(true);
  nowMs += 1;
  expect(disk.isFull).toBe(false);
  disk.told(true);
  disk.told(false);
  expect(disk.isFull).toBe(false);
});
