import { expect, it } from "vitest";
import { COMPANY_MIN, Pace, PUT_OFF_MS_MAX, PUT_OFF_PART, UNDER_WAY_PART_MAX } from "./pace.ts";

/** A cycle of which the part that may be put off is just the longest. */
const CYCLE_MS = PUT_OFF_MS_MAX / PUT_OFF_PART;

/** What a pace says when clients send one request each in every cycle, evenly, for so long that nothing else counts. */
function putOffBy(clients: number, cycleMs: number, underWay = 0): number {
  const pace = new Pace();
  run(pace, { clients, cycleMs, startMs: 1_000, underWay });
  return pace.putOffMs;
}

function run(
  pace: Pace,
  {
    clients,
    cycleMs,
    startMs,
    underWay = 0,
  }: { clients: number; cycleMs: number; startMs: number; underWay?: number },
): number {
  const connections = Array.from({ length: clients }, () => ({}));
  let nowMs = startMs;
  for (let i = 0; i < 4_000; i++) {
    pace.arrived(connections[i % clients] ?? pace, nowMs, underWay);
    nowMs += cycleMs / clients;
  }
  return nowMs;
}

it("puts nobody off before anything is known", () => {
  const pace = new Pace();
  expect(pace.putOffMs).toBe(0);
  pace.arrived({}, 5, 0);
  expect(pace.putOffMs).toBe(0);
});

it.each([0.1, 0.7, 4, 16, 1_000, 20_000])(
  "puts off nobody who sends one request after the other, each %s ms",
  (ms) => {
    expect(putOffBy(1, ms)).toBe(0);
  },
);

it("puts off many clients by a part of their cycle, in whole ms", () => {
  expect(putOffBy(50, 4 / PUT_OFF_PART)).toBe(PUT_OFF_MS_MAX);
  expect(putOffBy(50, 2.4 / PUT_OFF_PART)).toBe(2);
  expect(putOffBy(50, 1.4 / PUT_OFF_PART)).toBe(1);
  expect(putOffBy(64, 1 / PUT_OFF_PART)).toBe(1);
  expect(putOffBy(64, 0.99 / PUT_OFF_PART)).toBe(0);
});

it("puts nobody off by more than the longest", () => {
  expect(putOffBy(100, 3 * CYCLE_MS)).toBe(PUT_OFF_MS_MAX);
});

it.each([
  [COMPANY_MIN - 1, 0],
  [COMPANY_MIN, 3],
  [COMPANY_MIN + 1, 3],
])("where %i others are expected meanwhile puts off by %i ms", (others, putOffMs) => {
  expect(putOffBy(others / PUT_OFF_PART, 3 / PUT_OFF_PART)).toBe(putOffMs);
});

it.each([
  [15, PUT_OFF_MS_MAX],
  [16, PUT_OFF_MS_MAX],
  [17, 0],
])("puts 32 clients off of which %i wait for their answers by %i ms", (underWay, putOffMs) => {
  expect(UNDER_WAY_PART_MAX * 32).toBe(16);
  expect(putOffBy(32, CYCLE_MS, underWay)).toBe(putOffMs);
});

it("puts nobody off after a long pause", () => {
  const pace = new Pace();
  const endMs = run(pace, { clients: 50, cycleMs: CYCLE_MS, startMs: 0 });
  expect(pace.putOffMs).toBe(PUT_OFF_MS_MAX);
  pace.arrived({}, endMs + 10_000, 0);
  expect(pace.putOffMs).toBe(0);
});

it("puts nobody off for clients that come once only", () => {
  const strangers = new Pace();
  for (let i = 0; i < 1_000; i++) strangers.arrived({}, i / 10, 0);
  expect(strangers.putOffMs).toBe(0);
});
