import { describe, expect, it, vi } from "vitest";
import { pull, queueWith, rangesOf, rowsOf, T0 } from "../../test/queues.ts";
import { acknowledge, expireRetention, type Queue, restoreSegment, send } from "../index.ts";
import { oldestWaitingMs } from "./expire.ts";

/*
 * Retention is looked at in every turn, and a backlog has a segment for every few hundred messages: what is too young
 * must not be searched.
 */

/** A queue with a segment of one message for each moment. */
function segmentsOf(...moments: number[]): Queue {
  const queue = queueWith({ retentionMs: 1_000 });
  for (const nowMs of moments) {
    // What comes next gets a segment of its own.
    queue.tails.length = 0;
    send(queue, { sizes: [1], dueMs: nowMs }, nowMs);
  }
  return queue;
}

type Read = "nothing" | "age" | "messages";

/** Says of each segment what is read of it from now on: its age, or its messages too. */
function watch(queue: Queue): Read[] {
  const read: Read[] = [];
  for (const segment of queue.segments.values()) {
    const at = read.push("nothing") - 1;
    for (const [name, what] of [
      ["runs", "age"],
      ["entries", "messages"],
    ] as const) {
      const value = segment[name];
      const get = () => {
        if (read[at] !== "messages") read[at] = what;
        return value;
      };
      Object.defineProperty(segment, name, { get });
    }
  }
  return read;
}

describe("of segments in the order of their age", () => {
  it("the oldest message that waits is found in the first, and none is looked at behind the next one", () => {
    const queue = segmentsOf(T0, T0 + 1, T0 + 2);
    const read = watch(queue);
    expect(oldestWaitingMs(queue)).toBe(T0);
    expect(read).toEqual(["messages", "age", "nothing"]);
  });

  it("one as old as the oldest message so far is not searched", () => {
    const queue = segmentsOf(T0, T0);
    const read = watch(queue);
    expect(oldestWaitingMs(queue)).toBe(T0);
    expect(read).toEqual(["messages", "age"]);
  });

  it("those that are restored, or come with an age that is now, count as such, and what comes once no other is left", () => {
    const aged = queueWith();
    send(aged, { sizes: [1], dueMs: T0, acceptedMs: [T0 - 1] }, T0);
    for (const range of rangesOf(pull(aged, 1))) acknowledge(aged, range);
    for (const acceptedMs of [undefined, [T0 + 1], undefined]) {
      aged.tails.length = 0;
      const nowMs = T0 + aged.segments.size;
      send(aged, { sizes: [1], dueMs: nowMs, ...(acceptedMs === undefined ? {} : { acceptedMs }) }, nowMs);
    }
    const restored = queueWith({}, 2);
    for (const { id, index, state } of rowsOf(segmentsOf(T0, T0, T0 + 2))) {
      restoreSegment(restored, id, index, state, T0 + 2);
    }
    for (const queue of [aged, restored]) {
      const read = watch(queue);
      expect(oldestWaitingMs(queue)).toBe(T0);
      expect(read).toEqual(["messages", "age", "nothing"]);
    }
  });

  it("retention searches the old ones and looks at the age of the first young one", () => {
    const queue = segmentsOf(T0, T0 + 1, T0 + 2);
    const read = watch(queue);
    expect(expireRetention(queue, T0 + 1_000)).toBe(1);
    expect(read).toEqual(["messages", "age", "nothing"]);
  });
});

it("of segments in another order each in another order is asked for its age, and searched if that is what is looked for", () => {
  const queue = segmentsOf(T0 + 1, T0 + 2, T0);
  queue.isAgeOrdered = false;
  const read = watch(queue);
  expect(oldestWaitingMs(queue)).toBe(T0);
  expect(read).toEqual(["messages", "age", "messages"]);
});

it("of messages of a segment in the order of their age the first one that waits is the oldest", () => {
  const queue = queueWith({});
  for (const nowMs of [T0, T0 + 1, T0 + 2]) send(queue, { sizes: [1], dueMs: nowMs }, nowMs);
  const [segment] = queue.segments.values();
  if (segment === undefined || queue.segments.size > 1) throw new Error("they are in one segment");
  const acceptedOf = vi.spyOn(segment, "acceptedOf");
  expect(oldestWaitingMs(queue)).toBe(T0);
  expect(acceptedOf).toHaveBeenCalledTimes(1);
});
