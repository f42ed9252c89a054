import { expect, it } from "vitest";
import { createConsoleLog, LINES_PER_SECOND, type MessageOutcome, traceOf } from "./log.ts";

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
  expect(lines).toEqual(["log: QUEUE orders 9/10 acknowledged (12ms)"]);
});

it.each([
  [LINES_PER_SECOND - 1, []],
  [LINES_PER_SECOND, []],
  [LINES_PER_SECOND + 1, ["log: QUEUE orders 9/10 acknowledged (12ms)"]],
  [LINES_PER_SECOND + 2, ["log: QUEUE orders 18/20 acknowledged (2 batches)"]],
  [LINES_PER_SECOND + 100, ["log: QUEUE orders 900/1000 acknowledged (100 batches)"]],
])("the console log of %i batches in a second prints 20 lines and the rest as a sum: %j", (batches, sum) => {
  const { lines, pass, handle } = observed();
  handle(batches);
  expect(lines).toHaveLength(Math.min(batches, LINES_PER_SECOND));
  pass(1_000);
  expect(lines.slice(LINES_PER_SECOND)).toEqual(sum);
});

it("the console log prints the sum at the end of the second that began with the first line", () => {
  const { lines, pass, handle } = observed();
  handle(LINES_PER_SECOND);
  pass(400);
  handle(1);
  pass(599);
  expect(lines).toHaveLength(LINES_PER_SECOND);
  pass(1);
  expect(lines).toHaveLength(LINES_PER_SECOND + 1);
});

it("the console log prints the sum before the first line of the next second", () => {
  const { lines, handle, state } = observed();
  handle(LINES_PER_SECOND + 3);
  state.nowMs += 1_000;
  handle(1);
  expect(lines.slice(LINES_PER_SECOND)).toEqual(["log: QUEUE orders 27/30 acknowledged (3 batches)"]);
});

it("the console log of a rush prints one line a second, and single lines again after a calm second", () => {
  const { lines, pass, handle, timers } = observed();
  for (let second = 0; second < 5; second++) {
    handle(LINES_PER_SECOND + 7, 1, 1);
    pass(1_000);
  }
  const sums = lines.slice(LINES_PER_SECOND).map((line) => /\((\d+) batches\)/.exec(line)?.[1]);
  expect(sums).toEqual(["7", "27", "27", "27", "27"]);
  const after = lines.length;
  handle(2, 1, 1);
  expect(lines).toHaveLength(after);
  pass(1_000);
  expect(lines.slice(after)).toEqual(["log: QUEUE orders 2/2 acknowledged (2 batches)"]);
  handle(2, 1, 1);
  expect(lines.slice(after + 1)).toEqual(Array(2).fill("log: QUEUE orders 1/1 acknowledged (12ms)"));
  expect(timers).toEqual([]);
});

it("the console log prints single lines at once when a rush has ended more than a second ago", () => {
  const { lines, pass, handle } = observed();
  handle(LINES_PER_SECOND + 7);
  pass(2_000);
  handle(1);
  expect(lines.at(-1)).toBe("log: QUEUE orders 9/10 acknowledged (12ms)");
});

it("the console log sums up what happens to messages beside their batches, with the first reason", () => {
  const { log, lines, pass, handle } = observed();
  const fail = (outcome: MessageOutcome, count: number, reason: string) => {
    for (let i = 0; i < count; i++)
      log.message("orders", outcome, reason, () => `${outcome} ${i}: ${reason}`);
  };
  fail("retried", LINES_PER_SECOND, "Error: early");
  expect(lines.at(-1)).toBe(`log: retried ${LINES_PER_SECOND - 1}: Error: early`);
  fail("retried", 36, "TypeError: card declined\nand more");
  handle(20);
  pass(1_000);
  fail("retried", 1, "TypeError: card declined");
  fail("moved", 5, "TypeError: card declined");
  fail("dropped", 2, "Error: another");
  pass(1_000);
  expect(lines.slice(LINES_PER_SECOND)).toEqual([
    "log: QUEUE orders 180/200 acknowledged (20 batches), 36 to be retried: TypeError: card declined",
    "warn: QUEUE orders 1 to be retried, 5 moved to the dead-letter queue, 2 dropped: " +
      "TypeError: card declined, and other reasons",
  ]);
});

it("the console log names one batch beside messages in the singular", () => {
  const { log, lines, pass, handle } = observed();
  handle(LINES_PER_SECOND);
  log.message("orders", "retried", "Error: no", () => "");
  handle(1);
  pass(1_000);
  expect(lines.at(-1)).toBe("log: QUEUE orders 9/10 acknowledged (1 batch), 1 to be retried: Error: no");
});

it("the console log prints the only line of a second after a rush as it is, with its level", () => {
  const { log, lines, pass, handle } = observed();
  handle(LINES_PER_SECOND + 1);
  pass(1_000);
  log.message("orders", "dropped", "Error: late", () => "Dropped it: Error: late");
  expect(lines).toHaveLength(LINES_PER_SECOND + 1);
  pass(1_000);
  expect(lines.at(-1)).toBe("warn: Dropped it: Error: late");
});

it("the console log never drops or sums up what is about no batch and no message", () => {
  const { log, lines } = observed();
  for (let i = 0; i < 100; i++) log.info(`info ${i}`);
  log.warn("careful");
  log.error("broken");
  expect(lines).toHaveLength(102);
  expect(lines.slice(-3)).toEqual(["log: info 99", "warn: careful", "error: broken"]);
});

/** A reason that clears a terminal and writes a line of its own. */
const HOSTILE = "Error: \u001b[2J\r\u202eno\nQUEUE orders 1/1 acknowledged (1ms)";

it("the console log shows control characters of a reason, and keeps each message on its line", () => {
  const { log, lines, pass } = observed();
  for (let i = 0; i < LINES_PER_SECOND + 2; i++) {
    log.message("orders", i % 2 === 0 ? "retried" : "dropped", HOSTILE, () => `Message: ${HOSTILE}`);
  }
  pass(1_000);
  const shown = "Error: \\x1b[2J\\x0d\\u{202e}no";
  expect(lines.slice(0, 2)).toEqual([
    `log: Message: ${shown} QUEUE orders 1/1 acknowledged (1ms)`,
    `warn: Message: ${shown} QUEUE orders 1/1 acknowledged (1ms)`,
  ]);
  expect(lines.slice(LINES_PER_SECOND)).toEqual([`warn: QUEUE orders 1 to be retried, 1 dropped: ${shown}`]);
});

it("the console log shows control characters of an error, and indents its further lines", () => {
  const { log, lines } = observed();
  const shown = "Error: \\x1b[2J\\x0d\\u{202e}no\n  QUEUE orders 1/1 acknowledged (1ms)\n    at charge";
  for (const level of ["info", "warn", "error"] as const) log[level](`${HOSTILE}\n    at charge`);
  expect(lines).toEqual([`log: ${shown}`, `warn: ${shown}`, `error: ${shown}`]);
  expect(traceOf(`${HOSTILE}\n    at charge`)).toBe(shown);
});
