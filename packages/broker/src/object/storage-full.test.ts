import { expect, it } from "vitest";
import { FullStorages, isStorageFull, STORAGE_FULL_MS } from "./storage-full.ts";

it("a full storage is told by what workerd throws, whatever is around it", () => {
  expect(isStorageFull(new Error("database or disk is full: SQLITE_FULL"))).toBe(true);
  expect(isStorageFull(new Error("a commit failed: Error: database or disk is full: SQLITE_FULL"))).toBe(
    true,
  );
  expect(isStorageFull(new Error("database disk image is malformed: SQLITE_CORRUPT"))).toBe(false);
});

// conformance: backlog-full
it("a full storage refuses sends of its queue for a while, and then lets one try", () => {
  const full = new FullStorages();
  expect(full.refuses("orders", 0)).toBe(false);
  full.found("orders", 1_000);
  expect(full.refuses("other", 1_000)).toBe(false);
  expect(full.refuses("orders", 1_000 + STORAGE_FULL_MS - 1)).toBe(true);
  expect(full.refuses("orders", 1_000 + STORAGE_FULL_MS)).toBe(false);
});

it("a full storage refuses sends of every queue while the disk is full", () => {
  const disk = { isFull: true };
  const full = new FullStorages(disk);
  expect(full.refuses("orders", 0)).toBe(true);
  disk.isFull = false;
  expect(full.refuses("orders", 0)).toBe(false);
});

it("a full storage explains a start after a commit that nobody heard of again, and not one after a durable commit", () => {
  const full = new FullStorages();
  const orders = full.watch("orders");
  orders.committed();
  expect([full.takeReset("other"), full.takeReset("orders"), full.takeReset("orders")]).toEqual([
    false,
    true,
    false,
  ]);
  orders.committed();
  orders.durable();
  expect(full.takeReset("orders")).toBe(false);
});

it("a full storage explains the next start of its queue, and no other", () => {
  const full = new FullStorages();
  full.found("orders", 0);
  expect([full.takeReset("other"), full.takeReset("orders"), full.takeReset("orders")]).toEqual([
    false,
    true,
    false,
  ]);
});
