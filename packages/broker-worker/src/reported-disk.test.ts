import { expect, it } from "vitest";
import { REPORT_VALID_MS, ReportedDisk } from "./reported-disk.ts";

it("a disk is full while reports say so, and not forever without further reports", () => {
  let nowMs = 1_000;
  const disk = new ReportedDisk(() => nowMs);
  expect(disk.isFull).toBe(false);
  disk.report(true);
  nowMs += REPORT_VALID_MS - 1;
  expect(disk.isFull).toBe(true);
  disk.report(true);
  nowMs += REPORT_VALID_MS - 1;
  expect(disk.isFull).toBe(true);
  nowMs += 1;
  expect(disk.isFull).toBe(false);
  disk.report(true);
  disk.report(false);
  expect(disk.isFull).toBe(false);
});
