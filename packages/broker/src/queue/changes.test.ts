import { acknowledge, createQueue, lease, send } from "@sluice/engine";
import { PackedIndex } from "@sluice/protocol";
import { expect, it } from "vitest";
import { MemoryStore } from "../../test/memory-store.ts";
import { packTexts } from "../../test/messages.ts";
import { PayloadCache } from "../store/payload-cache.ts";
import { rulesOf } from "../turn/rules.ts";
import { writeChanges } from "./changes.ts";

const T0 = 1_000_000;

/** A queue with its store; `write` commits what changed and answers with how many rows that took. */
function setUp() {
  const queue = createQueue(rulesOf(undefined), 1);
  const store = new MemoryStore();
  const cache = new PayloadCache();
  const withState = new Set<number>();
  const write = () => {
    const before = store.rowsWritten;
    store.commit(() => writeChanges(queue, store, cache, withState));
    return store.rowsWritten - before;
  };
  /** Sends messages and puts their records where the turn would. */
  const sendTexts = (...texts: string[]) => {
    const { segmentId, from } = send(queue, { sizes: texts.map((text) => text.length), dueMs: T0 }, T0);
    const before = from === 0 ? new Uint8Array() : (cache.get(segmentId)?.packed ?? new Uint8Array());
    cache.set(segmentId, new PackedIndex(Uint8Array.from([...before, ...packTexts(texts)])));
    return segmentId;
  };
  const take = (max: number) => {
    const batch = lease(queue, { max, expiresMs: T0 + 1, kind: "pull" }, T0);
    return (batch?.slices ?? []).map((slice) => ({ ...slice, leaseId: batch?.leaseId ?? 0 }));
  };
  return { queue, store, cache, withState, write, sendTexts, take };
}

it("writeChanges writes a new segment in one row, and nothing when nothing has changed", () => {
  const { store, write, sendTexts } = setUp();
  const id = sendTexts("a", "b");
  expect(write()).toBe(1);
  expect(write()).toBe(0);
  expect([...store.segments()]).toEqual([{ id, index: expect.any(Uint8Array), state: null }]);
  expect(new PackedIndex(store.readPayload(id) ?? new Uint8Array()).count).toBe(2);
});

it("writeChanges writes a segment that was leased before its first commit in one row, with its state", () => {
  const { store, withState, write, sendTexts, take } = setUp();
  sendTexts("a");
  take(1);
  expect(write()).toBe(1);
  expect([...store.segments()][0]?.state).not.toBeNull();
  expect(withState.size).toBe(0);
});

it("writeChanges writes what happened to messages of a small segment into its row, with what was appended", () => {
  const { store, withState, write, sendTexts, take } = setUp();
  const id = sendTexts("a", "b");
  write();
  take(1);
  expect(write()).toBe(1);
  const [leased] = store.segments();
  take(1);
  sendTexts("y");
  expect(write()).toBe(1);
  const [both] = store.segments();
  expect(leased?.state).not.toBeNull();
  expect(both?.state).not.toEqual(leased?.state);
  expect(new PackedIndex(store.readPayload(id) ?? new Uint8Array()).count).toBe(3);
  expect(withState.size).toBe(0);
  // One that has grown has a state apart, and that is the one which counts.
  sendTexts(...Array<string>(18).fill("z"));
  take(1);
  expect(write()).toBe(2);
  expect(withState).toEqual(new Set([id]));
  const [grown] = store.segments();
  expect(grown?.state).not.toEqual(both?.state);
});

it.each([
  ["4,001 bytes", ["x".repeat(4_001)]],
  ["21 messages", Array<string>(21).fill("x")],
])(
  "writeChanges writes what happened to messages of a segment with %s into a row apart from their payload",
  (_, texts) => {
    const { store, withState, write, sendTexts, take } = setUp();
    const id = sendTexts(...texts, "b");
    write();
    store.replaceSegment = () => {
      throw new Error("the payload did not change");
    };
    take(1);
    expect(write()).toBe(1);
    expect(withState).toEqual(new Set([id]));
    take(1);
    expect(write()).toBe(1);
  },
);

it("writeChanges replaces the row of a segment that took more messages, and writes its state only if that changed", () => {
  const { store, write, sendTexts, take } = setUp();
  const id = sendTexts(...Array<string>(21).fill("a"));
  write();
  sendTexts("b");
  expect(write()).toBe(1);
  expect(new PackedIndex(store.readPayload(id) ?? new Uint8Array()).count).toBe(22);
  take(1);
  sendTexts("c");
  expect(write()).toBe(2);
  sendTexts("d");
  expect(write()).toBe(1);
});

it("writeChanges deletes a finished segment, with its state only if it has a row", () => {
  const { queue, store, cache, withState, write, sendTexts, take } = setUp();
  const leasedAtOnce = sendTexts("a");
  const first = take(1);
  write();
  for (const range of first) acknowledge(queue, range);
  expect(write()).toBe(1);
  const touchedLater = sendTexts("b".repeat(4_001));
  write();
  const second = take(1);
  write();
  for (const range of second) acknowledge(queue, range);
  expect(write()).toBe(2);
  expect([...store.segments()]).toEqual([]);
  expect(withState.size).toBe(0);
  expect([cache.get(leasedAtOnce), cache.get(touchedLater)]).toEqual([undefined, undefined]);
});

it("writeChanges fails rather than to write a segment whose payload it has not", () => {
  const { cache, write, sendTexts } = setUp();
  cache.delete(sendTexts("a"));
  expect(write).toThrow("was dropped before it was written");
});
