import { describe, expect, it } from "vitest";
import type { FiguresOverView } from "../api/call.ts";
import { duration } from "../text/format.ts";
import { linesOf, marksOf, pausesOf } from "./chart-series.ts";

const START_MS = 1_700_000_000_000;
const at = (ms: number) => new Date(START_MS + ms).toISOString();

const figures: FiguresOverView = {
  isOn: true,
  now: at(180_000),
  since: at(60_000),
  stepMs: 60_000,
  startsMs: [0, 60_000, 120_000].map((ms) => START_MS + ms),
  counts: { accepted: [0, 120, 3], arrived: [0, 30, 0], acked: [0, 60, 0], dropped: [0, 0, 6] },
  held: [null, 90, 4],
  ageMs: [null, 61_000, 0],
  p50Ms: [null, 10, null],
  p99Ms: [null, 3_100, null],
  took: { tookMs: [], p50Ms: 10, p99Ms: 3_100, longestMs: 3_100 },
  marks: [],
};

const NOW = { held: 4, ageMs: 0 };

describe("the lines of the charts", () => {
  it("are messages a second, and nothing where nothing is known", () => {
    const lines = linesOf(figures, NOW);
    expect(lines.in).toEqual({ values: [null, 2.5, 0.05], whole: "153 in all" });
    expect(lines.out).toEqual({ values: [null, 1, 0], whole: "60 in all" });
    expect(lines.bad).toEqual({ values: [null, 0, 0.1], whole: "6 in all" });
  });

  it("say in the legend what holds for the whole window, not for its last column", () => {
    const { held, age, p50, p99 } = linesOf(figures, NOW);
    expect([held, age, p50, p99].map(({ whole }) => whole)).toEqual([
      ...["4, up to 90", "0 ms, up to 1 min 1 s"],
      ...["≤ 10 ms", "≤ 3.1 s"],
    ]);
    const off = linesOf(
      {
        ...figures,
        since: null,
        counts: {},
        held: [null, null, null],
        took: { ...figures.took, p50Ms: null },
      },
      NOW,
    );
    expect([off.in, off.held, off.p50].map(({ whole }) => whole)).toEqual(["–", "4", "–"]);
    expect(off.in.values).toEqual([null, null, null]);
  });
});

it("a mark stands at the column in which it was, in words", () => {
  const marks = [
    { kind: "resumed", at: at(-5), byMs: null },
    { kind: "paused", at: at(119_999), byMs: null },
    { kind: "clockMoved", at: at(120_000), byMs: 5_400_000 },
    { kind: "else", at: at(179_000), byMs: null },
  ];
  expect(marksOf(marks, figures.startsMs)).toEqual([
    { column: 0, kind: "resumed", text: "resumed" },
    { column: 1, kind: "paused", text: "paused" },
    { column: 2, kind: "clockMoved", text: "clock moved by 1 h 30 min" },
    { column: 2, kind: "else", text: "else" },
  ]);
});

it.each<[string, boolean, readonly (readonly [number, number])[]]>([
  ["", false, []],
  ["", true, [[0, 9]]],
  ["resumed@4", false, [[0, 4]]],
  ["paused@4", true, [[4, 9]]],
  [
    "paused@1 faulted@2 resumed@3 paused@5",
    true,
    [
      [1, 3],
      [5, 9],
    ],
  ],
])("the pauses of a chart with the marks %j, paused now: %j, are %j", (text, isPaused, pauses) => {
  const marks = [...text.matchAll(/(\w+)@(\d)/g)].map(([, kind = "", column]) => ({
    kind,
    column: Number(column),
    text: kind,
  }));
  expect(pausesOf(marks, 9, isPaused)).toEqual(pauses);
});

it.each([
  [100_000, "1 min 40 s"],
  [200_000, "3 min 20 s"],
  [120_000, "2 min"],
  [5_400_000, "1 h 30 min"],
])("an axis of durations says of %i ms what it is", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
