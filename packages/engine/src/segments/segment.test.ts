import { describe, expect, it } from "vitest";
import { Entry, Segment } from "./segment.ts";

/** Ten messages of 1, 2, 4, ... bytes in three runs: [0, 3), [3, 4), [4, 10). */
function threeRuns(): Segment {
  const segment = new Segment(
    7,
    Uint32Array.from({ length: 10 }, (_, i) => 2 ** i),
  );
  segment.runs.append(0, 100, 1_000, 10);
  segment.runs.append(3, 200, 2_000, 20);
  segment.runs.append(4, 300, 3_000, 30);
  return segment;
}

describe("a segment", () => {
  it("knows what its runs say of every message", () => {
    const segment = threeRuns();
    const of = (read: (i: number) => number) => Array.from({ length: 10 }, (_, i) => read(i));
    expect(of((i) => segment.seqOf(i))).toEqual([100, 101, 102, 200, 300, 301, 302, 303, 304, 305]);
    expect(of((i) => segment.dueOf(i) / 1_000)).toEqual([1, 1, 1, 2, 3, 3, 3, 3, 3, 3]);
    expect(of((i) => segment.acceptedOf(i) / 10)).toEqual([1, 1, 1, 2, 3, 3, 3, 3, 3, 3]);
    expect(of((i) => segment.runEnd(i))).toEqual([3, 3, 3, 4, 10, 10, 10, 10, 10, 10]);
    expect(segment.lastDueMs).toBe(3_000);
  });

  it("begins with all messages untouched and none known to be due", () => {
    const segment = threeRuns();
    expect(segment).toMatchObject({ id: 7, count: 10, cursor: 0, readyEnd: 0, remaining: 10, entries: [] });
    expect(segment.readyNode.at).toBe(-1);
    expect(segment.delayedNode.at).toBe(-1);
  });

  it.each([
    [0, 0, 0],
    [0, 1, 1],
    [2, 5, 4 + 8 + 16],
    [9, 10, 512],
    [0, 10, 1_023],
  ])("adds up the sizes of [%i, %i)", (from, to, sum) => {
    expect(threeRuns().bytes(from, to)).toBe(sum);
  });
});

describe("entries of a segment", () => {
  function withEntries() {
    const segment = threeRuns();
    const [first, second, third] = [
      new Entry(segment, 1, 3, 1),
      new Entry(segment, 4, 5, 2),
      new Entry(segment, 5, 9, 3),
    ];
    for (const entry of [second, third, first]) segment.insertEntry(entry);
    return { segment, first, second, third };
  }

  it("entries of a segment stay in order of their messages, whatever order they come in", () => {
    const { segment, first, second, third } = withEntries();
    expect(segment.entries).toEqual([first, second, third]);
  });

  it("entries of a segment take the sequence number of their first message", () => {
    const { first, second, third } = withEntries();
    expect([first.seq, second.seq, third.seq]).toEqual([101, 300, 301]);
    expect([first.count, second.count, third.count]).toEqual([2, 1, 4]);
  });

  it("entries of a segment are found by the first entry that ends after a message", () => {
    const { segment } = withEntries();
    expect(Array.from({ length: 10 }, (_, i) => segment.entryAt(i))).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2, 3]);
  });

  it("entries of a segment leave one by one", () => {
    const { segment, first, second, third } = withEntries();
    segment.removeEntry(second);
    expect(segment.entries).toEqual([first, third]);
    expect(() => segment.removeEntry(second)).toThrow("not part of its segment");
    segment.removeEntry(third);
    segment.removeEntry(first);
    expect(segment.entries).toEqual([]);
  });
});
