import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import {
  pull,
  queueOf,
  queueWith,
  type Row,
  rangesOf,
  rowsOf,
  sendApart,
  sendMany,
  T0,
} from "../../test/queues.ts";
import {
  acknowledge,
  advance,
  counts,
  nextBatch,
  nextWakeAt,
  type Queue,
  restoreSegment,
  retry,
  send,
} from "../index.ts";
import { ID_MAX } from "../queue/epochs.ts";
import { ByteFormatError, ByteWriter } from "./bytes.ts";

function restored(rows: readonly Row[], epoch = 2, nowMs = T0): Queue {
  const queue = queueWith({}, epoch);
  for (const { id, index, state } of rows) restoreSegment(queue, id, index, state, nowMs);
  return queue;
}

/** Something of everything: several due times, appended messages, a message in every state, gaps. */
function variedQueue(): Queue {
  const queue = queueWith({ batchTimeoutMs: 0, maxBatchSize: 2 });
  send(queue, { sizes: [1, 200, 3_000, 0, 5], dueMs: [T0, T0, T0 + 70_000, T0, T0 + 5] }, T0);
  send(queue, { sizes: [7, 8, 9], dueMs: T0 + 70_000 }, T0 + 10);
  sendApart(queue, 6, T0 + 20);
  const [first, ...others] = rangesOf(pull(queue, 5, T0 + 30));
  if (first === undefined) throw new Error("nothing was leased");
  retry(queue, { ...first, to: first.from + 1 }, T0 + 99_000, T0 + 30);
  acknowledge(queue, { ...first, from: first.from + 1, to: first.from + 2 });
  for (const range of others) retry(queue, range, T0 + 30, T0 + 30);
  nextBatch(queue, T0 + 40);
  checkInvariants(queue);
  expect(queue.segments.size).toBe(2);
  return queue;
}

describe("a restored queue", () => {
  it("has every message where it was, and stores the same again", () => {
    const queue = variedQueue();
    const rows = rowsOf(queue);
    const again = restored(rows, 2, T0 + 40);
    advance(again, T0 + 40);
    checkInvariants(again);
    expect(counts(again)).toEqual(counts(queue));
    expect(rowsOf(again)).toEqual(rows);
    expect(again.changes.size).toBe(0);
  });

  it("delivers in the order in which it would have", () => {
    const queue = variedQueue();
    const again = restored(rowsOf(queue), 2, T0 + 40);
    const laterMs = T0 + 200_000;
    expect(pull(again, 100, laterMs).slices).toEqual(pull(queue, 100, laterMs).slices);
  });

  it.each<[string, number[]]>([
    ["that are due together", [0, 0, 0]],
    ["that are due one after the other", [0, 1, 2]],
    ["of which the first is due last", [9, 0, 0]],
    ["of which the last is due first", [5, 5, 0]],
  ])("numbers on from the last of messages %s", (_what, delays) => {
    const queue = queueOf(2);
    for (const range of rangesOf(pull(queue, 2))) acknowledge(queue, range);
    send(queue, { sizes: [1, 1, 1], dueMs: delays.map((delay) => T0 + delay) }, T0);
    const again = restored(rowsOf(queue));
    expect(again.nextSeq).toBe(5);
    sendMany(again, 1);
    checkInvariants(again);
  });

  it("knows its oldest message where segments, or messages of one, came with an age of their own", () => {
    for (const acceptedMs of [[[T0 - 1], [T0 - 2]], [[T0 - 1, T0 - 2]]]) {
      const queue = queueWith();
      for (const ages of acceptedMs) {
        queue.tails.length = 0;
        send(queue, { sizes: ages.map(() => 1), dueMs: T0, acceptedMs: ages }, T0);
      }
      expect(counts(restored(rowsOf(queue))).oldestWaitingMs).toBe(T0 - 2);
    }
  });

  it("gives ids of its own epoch to new segments and leases", () => {
    const queue = variedQueue();
    const again = restored(rowsOf(queue), 2, T0 + 40);
    expect(sendMany(again, 1, T0 + 40)).toBe(2 * 2 ** 32 + 1);
    expect(pull(again, 1, T0 + 40).leaseId).toBe(2 * 2 ** 32 + 1);
  });

  it("gives no lease id or segment id twice though its epoch was not counted", () => {
    const queue = variedQueue();
    const again = restored(rowsOf(queue), 1, T0 + 40);
    checkInvariants(again);
    expect(again.nextLeaseId).toBe(queue.nextLeaseId);
    expect(again.nextSegmentId).toBe(queue.nextSegmentId);
  });

  it("keeps a pull lease with its receipt", () => {
    const queue = queueOf(2);
    const batch = pull(queue, 2, T0, T0 + 500);
    const again = restored(rowsOf(queue));
    expect(counts(again)).toMatchObject({ ready: 0, leased: 2 });
    expect(nextWakeAt(again, true)).toBe(T0 + 500);
    expect(rangesOf(batch).map((range) => acknowledge(again, range))).toEqual([2]);
  });

  it("appends to none of the segments of an earlier epoch", () => {
    const queue = queueWith();
    const id = sendMany(queue, 1);
    const again = restored(rowsOf(queue));
    expect(sendMany(again, 1)).not.toBe(id);
  });
});

it("an index of many messages that are due together is restored", () => {
  const queue = queueOf(1_000);
  expect(counts(restored(rowsOf(queue)))).toEqual(counts(queue));
});

describe("a state", () => {
  it("is none while no message was touched", () => {
    const queue = queueOf(2);
    expect(rowsOf(queue)[0]?.state).toBeNull();
  });

  it("is there when messages are gone though none is touched now", () => {
    const queue = queueOf(2);
    for (const range of rangesOf(pull(queue, 1))) acknowledge(queue, range);
    const rows = rowsOf(queue);
    expect(rows[0]?.state).not.toBeNull();
    expect(counts(restored(rows))).toMatchObject({ ready: 1, waitingBytes: 10 });
  });
});

describe("a corrupt row", () => {
  const rows = rowsOf(variedQueue());

  it.each(["index", "state"] as const)("is noticed whichever bit of its %s is flipped", (column) => {
    for (const row of rows) {
      const intact = row[column];
      if (intact === null) throw new Error("every segment was touched");
      for (let bit = 0; bit < 8 * intact.length; bit++) {
        const corrupt = intact.slice();
        corrupt[bit >> 3] = (corrupt[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => restored([{ ...row, [column]: corrupt }])).toThrow(ByteFormatError);
      }
    }
  });

  it.each(["index", "state"] as const)("is noticed wherever its %s ends", (column) => {
    for (const row of rows) {
      const length = row[column]?.length ?? 0;
      for (let end = 0; end < length; end++) {
        expect(() => restored([{ ...row, [column]: row[column]?.subarray(0, end) ?? null }])).toThrow(
          ByteFormatError,
        );
      }
    }
  });

  it("changes nothing of the queue", () => {
    const [row] = rows;
    if (row === undefined || row.state === null) throw new Error("there are touched segments");
    const queue = queueWith({}, 2);
    expect(() => restoreSegment(queue, row.id, row.index, row.state?.subarray(1) ?? null, T0)).toThrow();
    expect(queue.segments.size).toBe(0);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 0, waitingBytes: 0 });
    checkInvariants(queue);
  });
});

/** Bytes with a fitting checksum that no release has ever written, value by value. */
function bytesOf(...values: (number | string | { readonly float: number })[]): Uint8Array {
  const out = new ByteWriter();
  for (const value of values) {
    if (typeof value === "number") out.uint(value);
    else if (typeof value === "string") out.text(value);
    else out.float(value.float);
  }
  return out.finish();
}

const time = { float: T0 };

/** An index of three messages of 10 bytes in one run, with some values replaced. */
function indexWith({ version = 1, count = 3, size = 10, runs = [[0, 5, time, time]] } = {}) {
  return bytesOf(version, count, size, 10, 10, runs.length, ...runs.flat());
}

/** An index of three such messages that is followed by what is given. */
function groupedIndex(...groups: (number | string)[]) {
  return bytesOf(2, 3, 10, 10, 10, 1, 0, 5, time, time, ...groups);
}

/** A state of that segment with its cursor behind two messages, and entries. */
function stateWith({ version = 1, cursor = 2, entries = [[0, 1, 1, 0, time, 9]] } = {}) {
  return bytesOf(version, cursor, entries.length, ...entries.flat());
}

describe("bytes that say what cannot be", () => {
  const accept = (index: Uint8Array, state: Uint8Array | null) => restored([{ id: 1, index, state }]);

  it("bytes that say what cannot be are told from bytes that say what can be", () => {
    checkInvariants(accept(indexWith(), stateWith()));
    expect(counts(accept(indexWith(), stateWith()))).toMatchObject({
      ready: 1,
      delayed: 1,
      waitingBytes: 20,
    });
  });

  // biome-ignore format: a run per pair of brackets
  it.each([
    ["of another version", indexWith({ version: 3 }), "segment index of version 3, this release reads 1 and 2"],
    ["without messages", bytesOf(1, 0, 1, 0, 5, time, time), "a segment of 0 messages"],
    ["of more messages than bytes", bytesOf(1, 2 ** 40, 10), "a segment of 1099511627776 messages"],
    ["with a size over 4 GB", indexWith({ size: 2 ** 32 }), "message 0 of 4294967296 bytes"],
    ["without runs", indexWith({ runs: [] }), "a segment without runs"],
    ["with a first run that begins later", indexWith({ runs: [[1, 5, time, time]] }),
      "run 0 from 1, number 5, due 1000000"],
    ["with a run behind its messages", indexWith({ runs: [[0, 5, time, time], [3, 8, time, time]] }),
      "run 1 from 3, number 8, due 1000000"],
    ["with an empty run", indexWith({ runs: [[0, 5, time, time], [1, 6, time, time], [1, 7, time, time]] }),
      "run 2 from 1, number 7, due 1000000"],
    ["with runs out of order", indexWith({ runs: [[0, 5, time, time], [1, 6, { float: T0 - 1 }, time]] }),
      "run 1 from 1, number 6, due 999999"],
    ["with a sequence number near the largest", indexWith({ runs: [[0, ID_MAX + 1, time, time]] }),
      `run 0 from 0, number ${ID_MAX + 1}, due 1000000`],
    ["that is due never", indexWith({ runs: [[0, 5, { float: Infinity }, time]] }), "Infinity is not a time"],
    ["that is due at no time", indexWith({ runs: [[0, 5, { float: NaN }, time]] }), "NaN is not a time"],
    ["that is due after the last date there is", indexWith({ runs: [[0, 5, { float: 8.64e15 + 1 }, time]] }),
      "8640000000000001 is not a time"],
    ["that was accepted at no time", indexWith({ runs: [[0, 5, time, { float: NaN }]] }), "NaN is not a time"],
    ["that was accepted before 1970", indexWith({ runs: [[0, 5, time, { float: -1 }]] }), "-1 is not a time"],
    ["with something behind it", bytesOf(1, 1, 10, 1, 0, 5, time, time, 0), "1 bytes are left over"],
    ["with more groups than messages", groupedIndex(4, "a", "b", "c", "d", 0, 1, 2), "4 groups of 3 messages"],
    ["with more groups than can be", groupedIndex(2 ** 40, "a"), "1099511627776 groups of 3 messages"],
    ["with a message in a group that is not there", groupedIndex(2, "a", "b", 0, 1, 2), "message 2 is in group 2 of 2"],
    ["with a group for each message but one", groupedIndex(1, "a", 0, 0), "it ends after 33 bytes"],
    ["with groups and something behind it", groupedIndex(1, "a", 0, 0, 0, 0), "1 bytes are left over"],
  ])("bytes that say what cannot be are refused: an index %s", (_what, index, reason) => {
    expect(() => accept(index, null)).toThrow(new ByteFormatError(reason));
  });

  // biome-ignore format: an entry per pair of brackets
  it.each([
    ["of another version", stateWith({ version: 2 }), "segment state of version 2, this release reads 1"],
    ["with its cursor behind the last message", stateWith({ cursor: 4 }), "cursor 4 of 3"],
    ["with an entry behind the cursor", stateWith({ entries: [[0, 3, 1, 0, time, 9]] }), "entry 0 is [0, 3) of kind 0"],
    ["with an empty entry", stateWith({ entries: [[1, 1, 1, 0, time, 9]] }), "entry 0 is [1, 1) of kind 0"],
    ["with overlapping entries", stateWith({ entries: [[0, 2, 1, 0, time, 9], [1, 2, 1, 0, time, 9]] }),
      "entry 1 is [1, 2) of kind 0"],
    ["with an unknown kind of entry", stateWith({ entries: [[0, 1, 1, 4, time, 9]] }), "entry 0 is [0, 1) of kind 4"],
    ["with an unknown kind of entry that was received", stateWith({ entries: [[0, 1, 1, 20, time, 9, time]] }),
      "entry 0 is [0, 1) of kind 4"],
    ["with a lease that was never delivered", stateWith({ entries: [[0, 1, 0, 1, time, 9]] }),
      "entry 0 is on attempt 0 of lease 9"],
    ["with an entry at no time", stateWith({ entries: [[0, 1, 1, 0, { float: NaN }, 9]] }), "NaN is not a time"],
    ["with an entry that was received at no time", stateWith({ entries: [[0, 1, 1, 16, time, 9, { float: NaN }]] }),
      "NaN is not a time"],
    ["with a lease id near the largest", stateWith({ entries: [[0, 1, 1, 1, time, ID_MAX + 1]] }),
      `entry 0 is on attempt 1 of lease ${ID_MAX + 1}`],
    ["with nothing left", stateWith({ cursor: 3, entries: [] }), "a segment without messages that are left"],
    ["with something behind it", bytesOf(1, 2, 0, 0), "1 bytes are left over"],
  ])("bytes that say what cannot be are refused: a state %s", (_what, state, reason) => {
    expect(() => accept(indexWith(), state)).toThrow(new ByteFormatError(reason));
  });

  it.each([
    ["a released message", indexWith(), stateWith({ entries: [[0, 1, 0, 0, time, 9]] })],
    // biome-ignore format: an entry per pair of brackets
    ["neighbouring entries", indexWith(), stateWith({ entries: [[0, 1, 1, 1, time, 9], [1, 2, 1, 2, time, 9]] })],
    [
      "a message that waits after it was received",
      indexWith(),
      stateWith({ entries: [[0, 1, 1, 16, time, 9, time]] }),
    ],
    ["a message that a receiver holds", indexWith(), stateWith({ entries: [[0, 1, 1, 19, time, 9, time]] })],
    ["a group for each message", groupedIndex(3, "a", "b", "c", 0, 1, 2), null],
    ["a large lease id", indexWith(), stateWith({ entries: [[0, 1, 1, 1, time, ID_MAX]] })],
    ["a cursor at the end", indexWith(), stateWith({ cursor: 3 })],
    // biome-ignore format: a run per pair of brackets
    ["two due times", indexWith({ runs: [[0, 5, time, time], [2, 7, { float: T0 + 1 }, time]] }), null],
    ["the last date there is", indexWith({ runs: [[0, 5, { float: 8.64e15 }, time]] }), null],
    ["1970", indexWith({ runs: [[0, 5, { float: 0 }, { float: 0 }]] }), null],
    ["a message of 4 GB less a byte", indexWith({ size: 2 ** 32 - 1 }), null],
    ["a large sequence number", indexWith({ runs: [[0, ID_MAX, time, time]] }), null],
  ])("bytes that say what cannot be are not refused where they can be: %s", (_what, index, state) => {
    checkInvariants(accept(index, state));
  });

  it("never hang, allocate much, or get past the invariants, whatever they are", () => {
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.nat(6) },
      { weight: 1, arbitrary: fc.maxSafeNat() },
      { weight: 2, arbitrary: fc.double().map((float) => ({ float })) },
      { weight: 2, arbitrary: fc.constant(time) },
    );
    const values = fc.array(value, { maxLength: 25, size: "max" });
    fc.assert(
      fc.property(values, fc.option(values), (index, state) => {
        const row = {
          id: 1,
          index: bytesOf(1, ...index),
          state: state === null ? null : bytesOf(1, ...state),
        };
        try {
          checkInvariants(restored([row]));
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
