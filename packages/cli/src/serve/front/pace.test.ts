import { describe, expect, it } from "vitest";
import {
  COMPANY_MIN,
  COMPANY_SHARE,
  GATHER_MIN,
  Pace,
  PUT_OFF_MS_MAX,
  PUT_OFF_PART,
  REGATHER_MS_MAX,
  STRETCH,
  WAIT_PART_MAX,
} from "./pace.ts";

/** A cycle of which the part that may be put off is just the longest. */
const CYCLE_MS = PUT_OFF_MS_MAX / PUT_OFF_PART;

interface Clients {
  readonly clients: number;
  /** Time from one request of a client to its next, and to its answer. Default of the latter: next to nothing. */
  readonly cycleMs: number;
  readonly waitMs?: number;
}

/** The pace when clients send one request each in every cycle, evenly, for so long that nothing else counts. */
function paceOf(clients: Clients): Pace {
  const pace = new Pace();
  run(pace, clients, 1_000);
  return pace;
}

/** @returns when the last request came, when all clients waited for an answer. */
function run(pace: Pace, { clients, cycleMs, waitMs = 0.1 }: Clients, startMs: number): number {
  let nowMs = startMs;
  for (let i = 0; i < 4_000; i++) {
    pace.arrived(nowMs, i % 100 === 0 ? clients : 1);
    pace.answered(waitMs, nowMs);
    nowMs += cycleMs / clients;
  }
  return nowMs;
}

it("puts nobody off before anything is known", () => {
  const pace = new Pace();
  expect(pace).toMatchObject({ putOffMs: 0, regatherMs: 0 });
  pace.arrived(5, 1);
  pace.answered(5, 10);
  expect(pace).toMatchObject({ putOffMs: 0, regatherMs: 0 });
});

it.each([0.1, 0.7, 4, 16, 1_000, 20_000])(
  "puts off nobody who sends one request after the other, each %s ms",
  (cycleMs) => {
    expect(paceOf({ clients: 1, cycleMs }).putOffMs).toBe(0);
  },
);

it("puts many clients off by a part of their cycle, in whole ms", () => {
  expect(paceOf({ clients: 50, cycleMs: 4 / PUT_OFF_PART }).putOffMs).toBe(PUT_OFF_MS_MAX);
  expect(paceOf({ clients: 50, cycleMs: 2.4 / PUT_OFF_PART }).putOffMs).toBe(2);
  expect(paceOf({ clients: 50, cycleMs: 1.4 / PUT_OFF_PART }).putOffMs).toBe(1);
  expect(paceOf({ clients: 64, cycleMs: 1.01 / PUT_OFF_PART }).putOffMs).toBe(1);
  expect(paceOf({ clients: 64, cycleMs: 0.99 / PUT_OFF_PART }).putOffMs).toBe(0);
});

it("puts nobody off by more than the longest", () => {
  expect(paceOf({ clients: 100, cycleMs: 3 * CYCLE_MS }).putOffMs).toBe(PUT_OFF_MS_MAX);
});

it.each([
  [COMPANY_MIN - 1, 0],
  [COMPANY_MIN + 1, 3],
])("where %i others are expected meanwhile puts off by %i ms", (others, putOffMs) => {
  expect(paceOf({ clients: others / PUT_OFF_PART, cycleMs: 3 / PUT_OFF_PART }).putOffMs).toBe(putOffMs);
});

it.each([
  [0.99, PUT_OFF_MS_MAX],
  [1.01, 0],
])("where clients wait %d times as long for answers as they may puts off by %i ms", (part, putOffMs) => {
  expect(paceOf({ clients: 50, cycleMs: CYCLE_MS, waitMs: part * WAIT_PART_MAX * CYCLE_MS }).putOffMs).toBe(
    putOffMs,
  );
});

it.each([
  [0.4, 1],
  [2, 2],
  [REGATHER_MS_MAX - 0.5, REGATHER_MS_MAX],
  [REGATHER_MS_MAX + 1, REGATHER_MS_MAX],
  [20_000, REGATHER_MS_MAX],
])(
  "lets clients that return at once, after %d ms, be waited for as long as that, for %i ms",
  (cycleMs, ms) => {
    expect(paceOf({ clients: 8, cycleMs: cycleMs - 0.01, waitMs: 0.8 * cycleMs }).regatherMs).toBe(ms);
  },
);

it("lets nobody wait for clients that take their time", () => {
  const waitMs = 1.01 * WAIT_PART_MAX * CYCLE_MS;
  expect(paceOf({ clients: 8, cycleMs: CYCLE_MS, waitMs }).regatherMs).toBe(REGATHER_MS_MAX);
  expect(paceOf({ clients: 8, cycleMs: CYCLE_MS, waitMs: 0.98 * waitMs }).regatherMs).toBe(0);
});

it("puts those off who send while others wait for messages", () => {
  const pace = new Pace();
  const endMs = run(pace, { clients: 50, cycleMs: CYCLE_MS }, 0);
  expect(pace.putOffMs).toBe(PUT_OFF_MS_MAX);
  pace.arrived(endMs, 50);
  pace.answered(20_000, 0);
  expect(pace.putOffMs).toBe(PUT_OFF_MS_MAX);
});

it("puts nobody off after a long pause", () => {
  const pace = new Pace();
  const endMs = run(pace, { clients: 50, cycleMs: CYCLE_MS }, 0);
  expect(pace.putOffMs).toBe(PUT_OFF_MS_MAX);
  pace.arrived(endMs + 10_000, 1);
  expect(pace.putOffMs).toBe(0);
});

it("forgets clients that have gone", () => {
  const pace = new Pace();
  const endMs = run(pace, { clients: 50, cycleMs: CYCLE_MS }, 0);
  expect(pace.putOffMs).toBe(PUT_OFF_MS_MAX);
  // As often as fifty clients would, but never more than one at a time.
  for (let i = 0; i < 2 * STRETCH; i++) pace.arrived(endMs + (i * CYCLE_MS) / 50, 1);
  expect(pace.putOffMs).toBe(0);
});

describe("where clients come again at once", () => {
  const quick = { cycleMs: 2, waitMs: 1.9 };

  it("half of them are worth a moment's wait", () => {
    expect(paceOf({ clients: 50, ...quick }).companyWithin(0.5)).toBe(50 * COMPANY_SHARE);
  });

  it.each([
    ["before anything is known", new Pace(), 0],
    ["where clients are busy themselves", paceOf({ clients: 50, cycleMs: 2, waitMs: 0.1 }), 0],
    [
      "where too few would come",
      paceOf({ clients: (quick.cycleMs / 0.5) * (GATHER_MIN - 0.1), ...quick }),
      0,
    ],
    [
      "where just enough would come",
      paceOf({ clients: (quick.cycleMs / 0.5) * (GATHER_MIN + 0.1), ...quick }),
      4.2,
    ],
    ["where one sends one request after the other", paceOf({ clients: 1, cycleMs: 0.4, waitMs: 0.39 }), 0],
  ])("so and so many are waited for %s", (_, pace, company) => {
    expect(pace.companyWithin(0.5)).toBeCloseTo(company);
  });
});
