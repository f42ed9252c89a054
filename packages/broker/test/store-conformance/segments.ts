import assert from "node:assert/strict";
import { bytes, cases } from "./conformance-case.ts";

/** Segments: their order, index, payload and state. */
export const SEGMENTS = cases({
  "answers with segments in order of their ids"(disk) {
    const store = disk.open();
    store.commit(() => {
      for (const id of [8_589_934_593, 3, 4_294_967_297, 20]) {
        store.insertSegment(id, bytes(id % 256), null, bytes(0));
      }
    });
    const ids = [...store.segments()].map(({ id }) => id);
    assert.deepEqual(ids, [3, 20, 4_294_967_297, 8_589_934_593]);
  },

  "prefers the state that was written last to that of the segment's first row"(disk) {
    const store = disk.open();
    const states = () => [...store.segments()].map(({ state }) => state);
    store.commit(() => {
      store.insertSegment(1, bytes(1), bytes(1), bytes(1));
      store.insertSegment(2, bytes(2), null, bytes(2));
    });
    assert.deepEqual(states(), [bytes(1), null]);
    store.commit(() => {
      store.writeState(1, bytes(11));
      store.writeState(2, bytes(12));
    });
    store.commit(() => store.writeState(2, bytes(22)));
    assert.deepEqual(states(), [bytes(11), bytes(22)]);
  },

  "replaces index and payload of a segment and keeps its state"(disk) {
    const store = disk.open();
    store.commit(() => store.insertSegment(1, bytes(1), bytes(5), bytes(1)));
    store.commit(() => store.replaceSegment(1, bytes(1, 1), bytes(1, 2)));
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(1, 1), state: bytes(5) }]);
    assert.deepEqual(store.readPayload(1), bytes(1, 2));
    store.commit(() => store.writeState(1, bytes(6)));
    store.commit(() => store.replaceSegment(1, bytes(1, 1, 1), bytes(1, 2, 3)));
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(1, 1, 1), state: bytes(6) }]);
  },

  "replaces the index of a segment alone, and of none that is gone"(disk) {
    const store = disk.open();
    store.commit(() => store.insertSegment(1, bytes(1), bytes(5), bytes(1, 2)));
    store.commit(() => {
      store.writeIndex(1, bytes(9));
      store.writeIndex(2, bytes(9));
    });
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(9), state: bytes(5) }]);
    assert.deepEqual(store.readPayload(1), bytes(1, 2));
  },

  "deletes a segment with its state"(disk) {
    const store = disk.open();
    store.commit(() => {
      for (const id of [1, 2, 3]) store.insertSegment(id, bytes(id), null, bytes(id));
      store.writeState(1, bytes(1));
      store.writeState(3, bytes(3));
    });
    store.commit(() => {
      store.deleteSegment(1, true);
      store.deleteSegment(2, false);
    });
    assert.deepEqual([...store.segments()], [{ id: 3, index: bytes(3), state: bytes(3) }]);
    assert.equal(store.readPayload(1), null);
    assert.equal(store.readPayload(2), null);
    // No state of an earlier segment waits for one with its id.
    store.commit(() => store.insertSegment(1, bytes(1), null, bytes(1)));
    assert.deepEqual([...store.segments()][0], { id: 1, index: bytes(1), state: null });
  },

  "stores a new segment though the one whose place it would take is not there: damage"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.deleteSegment(7, false);
      store.insertSegment(8, bytes(8), null, bytes(8));
    });
    assert.deepEqual([...store.segments()], [{ id: 8, index: bytes(8), state: null }]);
  },
});
