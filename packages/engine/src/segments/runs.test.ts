import { describe, expect, it } from "vitest";
import { Runs } from "./runs.ts";

type Column = [from: number, seq: number, dueMs: number, acceptedMs: number];

function runsOf(...columns: Column[]): Runs {
  const runs = new Runs();
  for (const column of columns) runs.append(...column);
  return runs;
}

function columnsOf(runs: Runs): Column[] {
  return Array.from({ length: runs.length }, (_, r) => [
    runs.from(r),
    runs.seq(r),
    runs.dueMs(r),
    runs.acceptedMs(r),
  ]);
}

describe("append", () => {
  it("joins messages with one due time, one time of acceptance and consecutive sequence numbers", () => {
    expect(columnsOf(runsOf([0, 7, 100, 50], [1, 8, 100, 50], [2, 9, 100, 50]))).toEqual([[0, 7, 100, 50]]);
  });

  it.each<[string, Column]>([
    ["another due time", [1, 8, 101, 50]],
    ["another time of acceptance", [1, 8, 100, 51]],
    ["a later sequence number than the next", [1, 9, 100, 50]],
    ["an earlier sequence number than the next", [1, 7, 100, 50]],
  ])("begins a run for %s", (_what, column) => {
    expect(columnsOf(runsOf([0, 7, 100, 50], column))).toEqual([[0, 7, 100, 50], column]);
  });

  it("compares with the last run, not with the first", () => {
    const columns: Column[] = [
      [0, 0, 100, 50],
      [4, 8, 200, 50],
    ];
    expect(columnsOf(runsOf(...columns, [5, 9, 200, 50]))).toEqual(columns);
    expect(columnsOf(runsOf(...columns, [5, 5, 200, 50]))).toHaveLength(3);
  });

  it("refuses a run that is due before the last one", () => {
    expect(() => runsOf([0, 0, 100, 50], [1, 1, 99, 50])).toThrow("in order of due time");
  });
});

it("indexOf finds the run of every message", () => {
  const runs = runsOf([0, 0, 1, 0], [1, 9, 2, 0], [4, 20, 3, 0], [5, 30, 4, 0], [9, 40, 5, 0]);
  const found = Array.from({ length: 12 }, (_, i) => runs.indexOf(i));
  expect(found).toEqual([0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4, 4]);
});

it.each<[string, Column[], number, boolean]>([
  [
    "of one age",
    [
      [0, 0, 1, 50],
      [1, 1, 2, 50],
    ],
    50,
    true,
  ],
  [
    "each younger than the one before it",
    [
      [0, 0, 1, 50],
      [1, 1, 1, 60],
      [2, 2, 1, 70],
    ],
    50,
    true,
  ],
  [
    "the last of which is the oldest",
    [
      [0, 0, 1, 50],
      [1, 1, 1, 60],
      [2, 2, 1, 40],
    ],
    40,
    false,
  ],
  [
    "one of which is older than the one before it",
    [
      [0, 0, 1, 50],
      [1, 1, 1, 70],
      [2, 2, 1, 60],
    ],
    50,
    false,
  ],
  [
    "that go on in order after that",
    [
      [0, 0, 1, 50],
      [1, 1, 1, 49],
      [2, 2, 1, 60],
    ],
    49,
    false,
  ],
])("the ages of runs are known: %s", (_what, columns, oldestMs, isAgeOrdered) => {
  expect(runsOf(...columns)).toMatchObject({ oldestMs, isAgeOrdered });
});

it("the ages of runs are none without runs", () => {
  expect(new Runs()).toMatchObject({ oldestMs: Infinity, isAgeOrdered: true });
});

describe("changeDueMs", () => {
  it("gives each run another due time", () => {
    const runs = runsOf([0, 0, 1, 7], [1, 9, 2, 6], [4, 20, 5, 8]);
    runs.changeDueMs([1, 4, 6]);
    expect([0, 1, 2].map((r) => [runs.from(r), runs.seq(r), runs.dueMs(r), runs.acceptedMs(r)])).toEqual([
      [0, 0, 1, 7],
      [1, 9, 4, 6],
      [4, 20, 6, 8],
    ]);
    expect(runs).toMatchObject({ length: 3, oldestMs: 6, isAgeOrdered: false });
  });

  it("joins runs that are one then", () => {
    const runs = runsOf([0, 0, 1, 0], [2, 2, 2, 0], [3, 3, 5, 1]);
    runs.changeDueMs([5, 5, 5]);
    expect([runs.length, runs.from(1), runs.dueMs(0)]).toEqual([2, 3, 5]);
  });

  it("refuses due times that are not in order, and fewer than there are runs", () => {
    expect(() => runsOf([0, 0, 1, 0], [1, 1, 2, 0]).changeDueMs([2, 1])).toThrow("in order of due time");
    expect(() => runsOf([0, 0, 1, 0], [1, 1, 2, 0]).changeDueMs([2])).toThrow(new RangeError("run 1 of 1"));
  });
});

it.each([-1, 1])("a run that is not there is refused: run %i of 1", (r) => {
  const runs = runsOf([0, 0, 1, 0]);
  for (const column of [runs.from, runs.seq, runs.dueMs, runs.acceptedMs]) {
    expect(() => column.call(runs, r)).toThrow(new RangeError(`run ${r} of 1`));
  }
});
