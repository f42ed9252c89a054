import { describe, expect, it } from "vitest";
import { MemoryStore, WriteFailure } from "./memory-store.ts";
import { STORE_CONFORMANCE } from "./store-conformance.ts";

it.each(STORE_CONFORMANCE)("the store in memory is a QueueStore $name", async ({ run }) => {
  let store = new MemoryStore();
  await run({
    open: () => {
      store = store.crash();
      return store;
    },
  });
});

describe("the store in memory is a disk", () => {
  it("loses at a crash what was committed and not synced", async () => {
    const store = new MemoryStore();
    store.hold();
    store.commit(() => store.writeInbox("a", 1));
    const synced = store.synced();
    store.syncNow();
    await synced;
    store.commit(() => store.writeInbox("a", 2));
    expect(store.readInbox("a")).toBe(2);
    expect(store.crash().readInbox("a")).toBe(1);
  });

  it("fails the k-th write, and takes the whole commit back", () => {
    const store = new MemoryStore();
    store.failWrite(3);
    store.commit(() => store.writeInbox("a", 1));
    expect(() =>
      store.commit(() => {
        store.writeInbox("b", 1);
        store.writeInbox("c", 1);
      }),
    ).toThrow(WriteFailure);
    expect(["a", "b", "c"].map((source) => store.readInbox(source))).toEqual([1, 0, 0]);
    store.commit(() => store.writeInbox("b", 2));
    expect(store.readInbox("b")).toBe(2);
  });

  it("refuses everything after a crash", () => {
    const store = new MemoryStore();
    store.crash();
    expect(() => store.readEpoch()).toThrow("has ended");
    expect(() => store.commit(() => store.writeVersion("1"))).toThrow("has ended");
  });
});
