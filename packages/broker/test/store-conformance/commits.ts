import assert from "node:assert/strict";
import { REAL_TIME } from "@sluice/protocol";
import { bytes, cases, contentOf } from "./conformance-case.ts";

/** A commit is kept as a whole or not at all, and with the bytes that it was given. */
export const COMMITS = cases({
  "is empty at first"(disk) {
    const nothing = { epoch: 0, name: null, clock: REAL_TIME, segments: [], outbox: [], notes: [] };
    assert.deepEqual(contentOf(disk.open()), nothing);
    assert.equal(disk.open().readPayload(1), null);
    assert.equal(disk.open().readInbox("orders"), 0);
  },

  async "keeps everything that was committed and synced"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.writeEpoch(3, "orders");
      store.writeClock({ offsetMs: 86_400_000, frozenAtMs: 1_700_000_000_000 });
      store.insertSegment(12_884_901_889, bytes(1, 2), null, bytes(3, 4, 5));
      store.insertOutbox({ id: 12_884_901_888, target: "dead", payload: bytes(9) });
      store.writeInbox("other", 7);
      store.writeNote("b", bytes(2));
      store.writeNote("a", bytes(1));
      store.writeNote("c", bytes(3));
    });
    store.commit(() => {
      store.writeNote("c", null);
      store.writeNote("b", bytes(2, 2));
    });
    await store.synced();
    const again = disk.open();
    assert.deepEqual(contentOf(again), {
      epoch: 3,
      name: "orders",
      clock: { offsetMs: 86_400_000, frozenAtMs: 1_700_000_000_000 },
      segments: [{ id: 12_884_901_889, index: bytes(1, 2), state: null }],
      outbox: [{ id: 12_884_901_888, target: "dead", payload: bytes(9) }],
      notes: [
        { key: "a", bytes: bytes(1) },
        { key: "b", bytes: bytes(2, 2) },
      ],
    });
    assert.deepEqual(again.readPayload(12_884_901_889), bytes(3, 4, 5));
    assert.equal(again.readInbox("other"), 7);
  },

  async "keeps the latest setting of the clock, also that it runs again"(disk) {
    const store = disk.open();
    store.commit(() => store.writeClock({ offsetMs: 5, frozenAtMs: 6 }));
    store.commit(() => store.writeClock({ offsetMs: 7, frozenAtMs: null }));
    await store.synced();
    assert.deepEqual(disk.open().readClock(), { offsetMs: 7, frozenAtMs: null });
  },

  "shows at once what was committed"(disk) {
    const store = disk.open();
    store.commit(() => store.insertSegment(1, bytes(1), bytes(2), bytes(3)));
    assert.deepEqual(store.readPayload(1), bytes(3));
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(1), state: bytes(2) }]);
  },

  async "keeps nothing of a commit of which one write is refused"(disk) {
    const store = disk.open();
    store.commit(() => store.insertSegment(1, bytes(1), null, bytes(1)));
    const before = contentOf(store);
    assert.throws(() =>
      store.commit(() => {
        store.replaceSegment(1, bytes(2), bytes(2));
        store.writeInbox("other", 2);
        store.insertSegment(1, bytes(3), null, bytes(3));
      }),
    );
    assert.deepEqual(contentOf(store), before);
    assert.deepEqual(store.readPayload(1), bytes(1));
    assert.equal(store.readInbox("other"), 0);
    await store.synced();
    assert.deepEqual(contentOf(disk.open()), before);
  },

  async "keeps nothing of a commit that throws, and throws on what it threw"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.writeEpoch(1, "orders");
      store.insertSegment(1, bytes(1), null, bytes(1));
      store.writeState(1, bytes(1));
      store.insertOutbox({ id: 1, target: "dead", payload: bytes(1) });
      store.writeInbox("other", 1);
    });
    const before = contentOf(store);
    const failure = new Error("half way");
    assert.throws(
      () =>
        store.commit(() => {
          store.writeEpoch(2, "another");
          store.writeClock({ offsetMs: 5, frozenAtMs: 6 });
          store.insertSegment(2, bytes(2), null, bytes(2));
          store.replaceSegment(1, bytes(2), bytes(2));
          store.writeState(1, bytes(2));
          store.insertOutbox({ id: 2, target: "dead", payload: bytes(2) });
          store.deleteOutbox([1]);
          store.deleteSegment(1, true);
          store.writeInbox("other", 2);
          throw failure;
        }),
      failure,
    );
    assert.deepEqual(contentOf(store), before);
    assert.deepEqual(store.readPayload(1), bytes(1));
    assert.equal(store.readInbox("other"), 1);
    await store.synced();
    assert.deepEqual(contentOf(disk.open()), before);
  },

  "refuses a second segment or outbox item with an id that is there"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.insertSegment(1, bytes(1), null, bytes(1));
      store.insertOutbox({ id: 1, target: "dead", payload: bytes(1) });
    });
    assert.throws(() => store.commit(() => store.insertSegment(1, bytes(2), null, bytes(2))));
    assert.throws(() => store.commit(() => store.insertOutbox({ id: 1, target: "x", payload: bytes(2) })));
    assert.deepEqual(store.readPayload(1), bytes(1));
    assert.deepEqual([...store.outbox()], [{ id: 1, target: "dead", payload: bytes(1) }]);
  },

  "keeps bytes as they were when they were written, empty ones too"(disk) {
    const store = disk.open();
    const [index, state, payload, sent] = [bytes(1), bytes(2), bytes(3), bytes(4)];
    store.commit(() => {
      store.insertSegment(1, index, state, payload);
      store.insertOutbox({ id: 1, target: "dead", payload: sent });
      store.insertSegment(2, bytes(2), null, bytes());
    });
    for (const array of [index, state, payload, sent]) array.fill(0xff);
    assert.deepEqual([...store.segments()][0], { id: 1, index: bytes(1), state: bytes(2) });
    assert.deepEqual(store.readPayload(1), bytes(3));
    assert.deepEqual(store.outbox()[0]?.payload, bytes(4));
    assert.deepEqual(store.readPayload(2), bytes());
  },

  "writes a view and not the buffer around it"(disk) {
    const store = disk.open();
    const view = bytes(0, 1, 2, 3, 0).subarray(1, 4);
    store.commit(() => store.insertSegment(1, view, view, view));
    assert.deepEqual([...store.segments()], [{ id: 1, index: bytes(1, 2, 3), state: bytes(1, 2, 3) }]);
    assert.deepEqual(store.readPayload(1), bytes(1, 2, 3));
  },
});
