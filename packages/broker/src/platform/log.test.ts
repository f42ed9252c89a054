import { expect, it } from "vitest";
import { createConsoleLog, HANDLED_LINES_PER_SECOND } from "./log.ts";

/** A log whose clock and timer are the test's. */
function observed() {
  const lines: string[] = [];
  const timers: { atMs: number; callback: () => void }[] = [];
  const state = { nowMs: 5_000 };
  const note = (level: string) => (line: string) => lines.push(`${level}: ${line}`);
  const log = createConsoleLog(
    { log: note("log"), warn: note("warn"), error: note("error") },
    () => state.nowMs,
    (callback, ms) => timers.push({ atMs: state.nowMs + ms, callback }),
  );
  const pass = (ms: number) => {
    state.nowMs += ms;
    for (const timer of timers.splice(0)) {
      if (timer.atMs <= state.nowMs) timer.callback();
      else timers.push(timer);
    }
  };
  const handle = (batches: number, acked = 9, total = 10) => {
    for (let i = 0; i < batches; i++) log.handled("orders", acked, total, 12.4);
  };
  return { log, lines, timers, pass, handle, state };
}

it("the console log prints a handled batch like Miniflare does: acknowledged, total, time", () => {
  const { lines, handle } = observed();
  handle(1);
  expect(lines).toEqual(["log: QUEUE orders 9/10 (12ms)"]);
});

it.each([
  [HANDLED_LINES_PER_SECOND - 1, []],
  [HANDLED_LINES_PER_SECOND, []],
  [HANDLED_LINES_PER_SECOND + 1, ["log: QUEUE orders 9/10 (1 batches)"]],
  [HANDLED_LINES_PER_SECOND + 100, ["log: QUEUE orders 900/1000 (100 batches)"]],
])("the console log of %i batches in a second prints 20 lines and the rest as a sum: %j", (batches, sum) => {
  const { lines, pass, handle } = observed();
  handle(batches);
  expect(lines).toHaveLength(Math.min(batches, HANDLED_LINES_PER_SECOND));
  pass(1_000);
  expect(lines.slice(HANDLED_LINES_PER_SECOND)).toEqual(sum);
});

it("the console log prints the sum at the end of the second that began with the first line", () => {
  const { lines, pass, handle } = observed();
  handle(HANDLED_LINES_PER_SECOND);
  pass(400);
  handle(1);
  pass(599);
  expect(lines).toHaveLength(HANDLED_LINES_PER_SECOND);
  pass(1);
  expect(lines).toHaveLength(HANDLED_LINES_PER_SECOND + 1);
});

it("the console log prints the sum before the first line of the next second, and single lines from then on", () => {
  const { lines, handle, state } = observed();
  handle(HANDLED_LINES_PER_SECOND + 3);
  state.nowMs += 1_000;
  handle(2);
  expect(lines.slice(HANDLED_LINES_PER_SECOND)).toEqual([
    "log: QUEUE orders 27/30 (3 batches)",
    "log: QUEUE orders 9/10 (12ms)",
    "log: QUEUE orders 9/10 (12ms)",
  ]);
});

it("the console log prints every batch once, whatever the timer does", () => {
  const { lines, pass, handle, timers } = observed();
  for (let second = 0; second < 5; second++) {
    handle(HANDLED_LINES_PER_SECOND + 7, 1, 1);
    pass(1_000);
  }
  expect(timers).toEqual([]);
  const sums = lines.flatMap((line) => /\((\d+) batches\)/.exec(line)?.[1] ?? []);
  expect(sums).toEqual(["7", "7", "7", "7", "7"]);
  expect(lines).toHaveLength(5 * (HANDLED_LINES_PER_SECOND + 1));
});

it("the console log never drops or sums up what is not about a handled batch", () => {
  const { log, lines } = observed();
  for (let i = 0; i < 100; i++) log.info(`info ${i}`);
  log.warn("careful");
  log.error("broken");
  expect(lines).toHaveLength(102);
  expect(lines.slice(-3)).toEqual(["log: info 99", "warn: careful", "error: broken"]);
});
