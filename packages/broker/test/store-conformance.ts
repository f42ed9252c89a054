import assert from "node:assert/strict";
import type { QueueStore } from "../src/store/store.ts";

/** A disk on which a store can be opened. A second `open` is what a restart of the process does. */
export interface Disk {
  open(): QueueStore;
}

/** One thing that every `QueueStore` does. */
export interface ConformanceCase {
  readonly name: string;
  run(disk: Disk): Promise<void> | void;
}

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Everything that a queue reads at its start. */
function contentOf(store: QueueStore) {
  return {
    epoch: store.readEpoch(),
    name: store.readName(),
    clockOffsetMs: store.readClockOffsetMs(),
    segments: [...store.segments()],
    outbox: [...store.outbox()],
    notes: [...store.notes()],
  };
}

function cases(all: Record<string, ConformanceCase["run"]>): ConformanceCase[] {
  return Object.entries(all).map(([name, run]) => ({ name, run }));
}

/**
 * What a `QueueStore` promises, case by case. No test framework in here: the same cases run in Node against the store
 * in memory and inside workerd against the one in SQLite.
 */
export const STORE_CONFORMANCE: readonly ConformanceCase[] = cases({
  "is empty at first"(disk) {
    const nothing = { epoch: 0, name: null, clockOffsetMs: 0, segments: [], outbox: [], notes: [] };
    assert.deepEqual(contentOf(disk.open()), nothing);
    assert.equal(disk.open().readPayload(1), null);
    assert.equal(disk.open().readInbox("orders"), 0);
  },

  async "keeps everything that was committed and synced"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.writeEpoch(3, "orders");
      store.writeClockOffsetMs(86_400_000);
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
      clockOffsetMs: 86_400_000,
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
          store.writeClockOffsetMs(5);
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

  "answers with outbox items in order of their ids until they are deleted"(disk) {
    const store = disk.open();
    store.commit(() => {
      for (const id of [4_294_967_297, 2, 11, 12]) {
        store.insertOutbox({ id, target: `queue-${id}`, payload: bytes(id % 256) });
      }
    });
    const targets = () => store.outbox().map(({ target }) => target);
    assert.deepEqual(targets(), ["queue-2", "queue-11", "queue-12", "queue-4294967297"]);
    store.commit(() => store.deleteOutbox([11]));
    assert.deepEqual(targets(), ["queue-2", "queue-12", "queue-4294967297"]);
    store.commit(() => store.deleteOutbox([4_294_967_297, 2]));
    assert.deepEqual(targets(), ["queue-12"]);
  },

  "keeps the last id that was taken from each source"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.writeInbox("a", 1);
      store.writeInbox("b", 2);
    });
    store.commit(() => store.writeInbox("a", 4_294_967_299));
    const taken = ["a", "b", "c"].map((source) => store.readInbox(source));
    assert.deepEqual(taken, [4_294_967_299, 2, 0]);
  },

  "keeps the first epoch's name while epochs are counted on"(disk) {
    const store = disk.open();
    store.commit(() => store.writeEpoch(1, "orders"));
    store.commit(() => store.writeEpoch(2, "orders"));
    assert.equal(store.readEpoch(), 2);
    assert.equal(store.readName(), "orders");
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

  async "puts a new segment in the place of one that goes with the same commit: one row written"(disk) {
    const store = disk.open();
    store.commit(() => {
      for (const id of [1, 2]) store.insertSegment(id, bytes(id), bytes(id), bytes(id, id));
      store.writeState(2, bytes(9));
    });
    const cost = (write: () => void) => {
      const before = store.rowsWritten;
      store.commit(write);
      return store.rowsWritten - before;
    };
    const first = cost(() => {
      store.deleteSegment(1, false);
      store.insertSegment(3, bytes(3), null, bytes(3, 3, 3));
    });
    assert.equal(first, 1);
    const second = cost(() => {
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

  "stores a new segment though the one whose place it would take is not there: damage"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.deleteSegment(7, false);
      store.insertSegment(8, bytes(8), null, bytes(8));
    });
    assert.deepEqual([...store.segments()], [{ id: 8, index: bytes(8), state: null }]);
  },

  async "overwrites rows of the journal, each write a row, and answers with their beginnings"(disk) {
    const store = disk.open();
    store.commit(() => {
      store.writeJournal(3, bytes(1, 2, 3));
      store.writeJournal(700, bytes(4));
    });
    const before = store.rowsWritten;
    store.commit(() => store.writeJournal(3, bytes(5, 6, 7, 8)));
    assert.equal(store.rowsWritten - before, 1);
    await store.synced();
    const heads = [...disk.open().journalHeads(2)].sort((a, b) => a.slot - b.slot);
    assert.deepEqual(heads, [
      { slot: 3, head: bytes(5, 6) },
      { slot: 700, head: bytes(4) },
    ]);
    assert.deepEqual(disk.open().readJournal(3), bytes(5, 6, 7, 8));
    assert.equal(disk.open().readJournal(4), null);
  },

  "counts the rows that it writes: what Cloudflare bills"(disk) {
    const store = disk.open();
    const cost = (write: () => void) => {
      const before = store.rowsWritten;
      store.commit(write);
      return store.rowsWritten - before;
    };
    assert.equal(
      cost(() => store.insertSegment(1, bytes(1), bytes(1), bytes(1))),
      1,
    );
    assert.equal(
      cost(() => store.replaceSegment(1, bytes(1), bytes(1))),
      1,
    );
    assert.equal(
      cost(() => store.writeState(1, bytes(1))),
      1,
    );
    assert.equal(
      cost(() => store.writeState(1, bytes(2))),
      1,
    );
    assert.equal(
      cost(() => store.deleteSegment(1, true)),
      2,
    );
    assert.equal(
      cost(() => store.insertSegment(2, bytes(1), null, bytes(1))),
      1,
    );
    assert.equal(
      cost(() => store.deleteSegment(2, false)),
      1,
    );
    assert.equal(
      cost(() => store.insertOutbox({ id: 1, target: "dead", payload: bytes(1) })),
      1,
    );
    assert.equal(
      cost(() => store.deleteOutbox([1])),
      1,
    );
    assert.equal(
      cost(() => store.writeInbox("a", 1)),
      1,
    );
    assert.equal(
      cost(() => store.writeInbox("a", 2)),
      1,
    );
    const read = store.rowsRead;
    store.commit(() => store.insertSegment(3, bytes(1), null, bytes(1)));
    store.readPayload(3);
    assert.ok(store.rowsRead > read);
  },
});
