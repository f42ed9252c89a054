import assert from "node:assert/strict";
import { FINISHED_FIRST_SLOT } from "../../src/store/store.ts";
import { bytes, cases } from "./conformance-case.ts";

/** The outbox, the inbox, the epoch and the journal. */
export const OTHER_RECORDS = cases({
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

  async "answers with rows of the journal by their slots, and deletes those from a slot on"(disk) {
    const store = disk.open();
    const slots = [0, FINISHED_FIRST_SLOT - 1, FINISHED_FIRST_SLOT, FINISHED_FIRST_SLOT + 1];
    store.commit(() => {
      for (const slot of slots) store.writeJournal(slot, bytes(slot % 256));
    });
    const slotsOf = (...range: [from?: number, to?: number]) =>
      [...store.journalHeads(1, ...range)].map(({ slot }) => slot).sort((a, b) => a - b);
    assert.deepEqual(slotsOf(), slots.slice(0, 2));
    assert.deepEqual(slotsOf(FINISHED_FIRST_SLOT, Number.MAX_SAFE_INTEGER), slots.slice(2));
    assert.deepEqual(slotsOf(1, FINISHED_FIRST_SLOT + 1), slots.slice(1, 3));
    store.commit(() => store.deleteJournal(FINISHED_FIRST_SLOT));
    assert.deepEqual(slotsOf(), slots.slice(0, 2));
    assert.deepEqual(slotsOf(FINISHED_FIRST_SLOT, Number.MAX_SAFE_INTEGER), []);
  },
});
