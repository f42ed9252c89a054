import assert from "node:assert/strict";
import type { QueueStore } from "../../src/store/store.ts";
import { bytes, cases } from "./conformance-case.ts";

function rowsWrittenBy(store: QueueStore, write: () => void): number {
  const before = store.rowsWritten;
  store.commit(write);
  return store.rowsWritten - before;
}

/** How many rows a commit writes, which is what Cloudflare bills. */
export const ROWS_WRITTEN = cases({
  "writes the state of a segment into its row, alone or with a new payload: one row"(disk) {
    const store = disk.open();
    const states = () => [...store.segments()].map(({ state }) => state);
    store.commit(() => store.insertSegment(1, bytes(1), null, bytes(1)));
    const before = store.rowsWritten;
    store.commit(() => store.writeOwnState(1, bytes(5)));
    assert.deepEqual(states(), [bytes(5)]);
    store.commit(() => store.replaceSegment(1, bytes(1, 1), bytes(1, 2), bytes(6)));
    assert.equal(store.rowsWritten - before, 2);
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(1, 1), state: bytes(6) }]);
    assert.deepEqual(store.readPayload(1), bytes(1, 2));
    store.commit(() => store.writeOwnState(2, bytes(5)));
    assert.equal([...store.segments()].length, 1);
    store.commit(() => store.deleteSegment(1, false));
    assert.deepEqual(states(), []);
  },

  async "puts a new segment in the place of one that goes with the same commit: one row written"(disk) {
    const store = disk.open();
    store.commit(() => {
      for (const id of [1, 2]) store.insertSegment(id, bytes(id), bytes(id), bytes(id, id));
      store.writeState(2, bytes(9));
    });
    const first = rowsWrittenBy(store, () => {
      store.deleteSegment(1, false);
      store.insertSegment(3, bytes(3), null, bytes(3, 3, 3));
    });
    assert.equal(first, 1);
    const second = rowsWrittenBy(store, () => {
      store.deleteSegment(2, true);
      store.deleteSegment(3, false);
      store.insertSegment(4, bytes(4), bytes(4, 4), bytes(4));
    });
    assert.equal(second, 3);
    await store.synced();
    const again = disk.open();
    assert.deepEqual([...again.segments()], [{ id: 4, index: bytes(4), state: bytes(4, 4) }]);
    assert.deepEqual(again.readPayload(4), bytes(4));
  },

  "counts the rows that it writes: what Cloudflare bills"(disk) {
    const store = disk.open();
    const costs = (rows: number, write: () => void) => assert.equal(rowsWrittenBy(store, write), rows);
    costs(1, () => store.insertSegment(1, bytes(1), bytes(1), bytes(1)));
    costs(1, () => store.replaceSegment(1, bytes(1), bytes(1)));
    costs(1, () => store.writeState(1, bytes(1)));
    costs(1, () => store.writeState(1, bytes(2)));
    costs(2, () => store.deleteSegment(1, true));
    costs(1, () => store.insertSegment(2, bytes(1), null, bytes(1)));
    costs(1, () => store.deleteSegment(2, false));
    costs(1, () => store.insertOutbox({ id: 1, target: "dead", payload: bytes(1) }));
    costs(1, () => store.deleteOutbox([1]));
    costs(1, () => store.writeInbox("a", 1));
    costs(1, () => store.writeInbox("a", 2));
    const read = store.rowsRead;
    store.commit(() => store.insertSegment(3, bytes(1), null, bytes(1)));
    store.readPayload(3);
    assert.ok(store.rowsRead > read);
  },
});
