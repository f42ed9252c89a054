import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageList } from "./message-list.ts";
import { Segment } from "./segment.ts";

const COUNT = 200;

function segmentOf(count: number): Segment {
  const segment = new Segment(1, new Uint32Array(count));
  segment.runs.append(0, 0, 0, 0);
  return segment;
}

function placesOf(list: MessageList): number[][] {
  return Array.from({ length: list.length }, (_, place) => [list.timeAt(place), list.indexAt(place)]);
}

describe("a list of messages", () => {
  it("is ordered by time and sequence number, whatever is put in and taken out", () => {
    const segment = segmentOf(COUNT);
    const message = fc.tuple(fc.constantFrom(0, 0, 0, 5, 7), fc.nat(COUNT - 1));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), message), { maxLength: 150 }), (steps) => {
        const list = new MessageList();
        let expected: number[][] = [];
        for (const [isRemoval, [time, index]] of steps) {
          const known = expected.find((entry) => entry[1] === index);
          if (isRemoval && expected.length > 0) {
            const [first] = expected;
            const [at = 0, i = 0] = known ?? first ?? [];
            list.remove(segment, i, at);
            expected = expected.filter((entry) => entry[1] !== i);
          } else if (known === undefined) {
            list.insert(segment, index, time);
            expected.push([time, index]);
            expected.sort(([a = 0, i = 0], [b = 0, j = 0]) => a - b || i - j);
          }
          expect(placesOf(list)).toEqual(expected);
        }
      }),
    );
  });

  it("gives back the memory of what has left at the front", () => {
    const segment = segmentOf(10_000);
    const list = new MessageList();
    for (let i = 0; i < 10_000; i++) list.insert(segment, i, 0);
    for (let i = 0; i < 9_999; i++) list.remove(segment, i, 0);
    expect(placesOf(list)).toEqual([[0, 9_999]]);
    list.remove(segment, 9_999, 0);
    expect(list.length).toBe(0);
    list.insert(segment, 5, 0);
    expect(placesOf(list)).toEqual([[0, 5]]);
  });

  it("refuses to take out what is not in it", () => {
    const segment = segmentOf(3);
    const list = new MessageList();
    expect(() => list.remove(segment, 0, 0)).toThrow("message 0 of segment 1 is not in the list");
    list.insert(segment, 0, 0);
    list.insert(segment, 2, 0);
    expect(() => list.remove(segment, 1, 0)).toThrow("message 1 of segment 1 is not in the list");
    expect(() => list.remove(segment, 2, 1)).toThrow("message 2 of segment 1 is not in the list");
    expect(() => list.remove(new Segment(2, new Uint32Array(1)), 0, 0)).toThrow();
  });
});
