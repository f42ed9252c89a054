import { firstIdOf } from "@sluice/engine";
import type { QueueUsage } from "@sluice/protocol";
import { expect, it } from "vitest";
import { MemoryStore } from "../../test/memory-store.ts";

const BYTES = new Uint8Array([1]);

const USAGE: QueueUsage = {
  month: "2026-11",
  sinceMs: 1,
  rowsWritten: 10,
  rowsRead: 0,
  requests: 3,
  awakeMs: 4,
  messages: 2,
  messageBytes: 2,
  messageChunks: 2,
  deliveries: 2,
};

/** Opens the store of the next epoch, which notes its usage. */
function opened(store: MemoryStore): MemoryStore {
  store.leaveRowsOver(() => ({ messages: 7, usage: USAGE }));
  return store;
}

const idOf = (epoch: number, number = 1) => firstIdOf(epoch) + number;

const rowsOf = (store: MemoryStore, write: () => void) => {
  const before = store.rowsWritten;
  store.commit(write);
  return store.rowsWritten - before;
};

const insert = (store: MemoryStore, id: number) => store.insertSegment(id, BYTES, null, BYTES);

const removeLast = (store: MemoryStore, ...ids: number[]) => {
  for (const id of ids) store.deleteSegment(id, false);
  store.lastLeaves();
};

const idsIn = (store: MemoryStore) => [...store.segments()].map(({ id }) => id);

async function next(store: MemoryStore): Promise<MemoryStore> {
  await store.synced();
  return opened(store.crash());
}

it("the last message that leaves takes one row, in which the queue notes where it is and what it has used", async () => {
  const store = opened(new MemoryStore());
  expect(
    rowsOf(store, () => {
      store.writeEpoch(1, "orders");
      insert(store, idOf(1));
    }),
  ).toBe(2); // its name, once in its life
  expect(rowsOf(store, () => removeLast(store, idOf(1)))).toBe(1);
  expect(idsIn(store)).toEqual([]);
  const again = await next(store);
  expect(idsIn(again)).toEqual([]);
  expect(again.readPosition()).toEqual({ epoch: 1, commits: 2, messages: 7 });
  expect(again.readUsage()).toEqual({ ...USAGE, rowsWritten: 11 });
});

it("a message that comes after it takes one row, in the same epoch and in a later one", async () => {
  let store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    insert(store, idOf(1));
  });
  store.commit(() => removeLast(store, idOf(1)));
  expect(rowsOf(store, () => insert(store, idOf(1, 2)))).toBe(1);
  store.commit(() => removeLast(store, idOf(1, 2)));
  store = await next(store);
  const rows = rowsOf(store, () => {
    store.writeEpoch(2, "orders");
    insert(store, idOf(2));
  });
  expect([rows, idsIn(store), store.readEpoch()]).toEqual([1, [idOf(2)], 2]);
  store = await next(store);
  expect([idsIn(store), store.readEpoch(), store.readUsage()]).toEqual([
    [idOf(2)],
    2,
    { ...USAGE, rowsWritten: 11 },
  ]);
});

it("several messages that leave last are deleted, but for one row", async () => {
  const store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    for (const number of [1, 2, 3]) insert(store, idOf(1, number));
  });
  expect(rowsOf(store, () => removeLast(store, idOf(1, 1), idOf(1, 2), idOf(1, 3)))).toBe(3);
  expect(idsIn(await next(store))).toEqual([]);
});

it("an epoch that begins with messages writes its number", async () => {
  let store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    insert(store, idOf(1));
  });
  store = await next(store);
  store.commit(() => {
    store.writeEpoch(2, "orders");
    insert(store, idOf(2));
  });
  store.commit(() => store.deleteSegment(idOf(2), false));
  store = await next(store);
  expect([idsIn(store), store.readEpoch()]).toEqual([[idOf(1)], 2]);
});

it("an epoch that stores no message writes its number", async () => {
  let store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    store.writeNote("a", BYTES);
  });
  store = await next(store);
  expect(store.readEpoch()).toBe(1);
});

it("a row that nobody could read is not taken for one that is gone", async () => {
  let store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    insert(store, idOf(1, 1));
    insert(store, idOf(1, 2));
  });
  store.commit(() => removeLast(store, idOf(1, 2)));
  store = await next(store);
  expect([idsIn(store), store.readEpoch()]).toEqual([[idOf(1, 1)], 1]);
});

it("a commit that fails leaves the messages there", async () => {
  const store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(1, "orders");
    insert(store, idOf(1));
  });
  store.failWrite(1);
  expect(() => store.commit(() => removeLast(store, idOf(1)))).toThrow();
  expect(idsIn(await next(store))).toEqual([idOf(1)]);
});

it("a store that is dropped holds nothing, and its epochs go on", async () => {
  let store = opened(new MemoryStore());
  store.commit(() => {
    store.writeEpoch(4, "orders");
    insert(store, idOf(4));
  });
  store.commit(() => removeLast(store, idOf(4)));
  store.drop();
  store = await next(store);
  expect([idsIn(store), store.readEpoch(), store.readPosition().messages]).toEqual([[], 4, 7]);
  store.commit(() => {
    store.writeEpoch(5, "orders");
    insert(store, idOf(5));
  });
  expect(idsIn(store)).toEqual([idOf(5)]);
});
