import { expect, it } from "vitest";
import { ManyQueuesLog, SAME_LINE_EVERY_MS } from "./many-queues-log.ts";

/** A log whose clock and timers are the test's. */
function observed() {
  const lines: string[] = [];
  let timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  let nowMs = 5_000;
  const speaker = {
    log: { warn: (line: string) => lines.push(line) },
    systemMs: () => nowMs,
    after: (callback: () => void, ms: number) => timers.push({ atMs: nowMs + ms, callback }),
  };
  const log = new ManyQueuesLog();
  return {
    lines,
    warn: (queue: string, text = "is busy", reason = "x") => log.warn(queue, text, reason, speaker),
    pass: (ms: number) => {
      nowMs += ms;
      const due = timers.filter(({ atMs }) => atMs <= nowMs);
      timers = timers.filter(({ atMs }) => atMs > nowMs);
      for (const { callback } of due) callback();
    },
    loseTimers: () => {
      timers = [];
    },
  };
}

it.each([
  [1, []],
  [2, ['Queue "q1": is busy: x']],
  [3, ['Queue "q1" and 1 more queue: is busy: x']],
  [43, ['Queue "q1" and 41 more queues: is busy: x']],
])("of %i queues the first has its line at once, and the others have one together", (count, sum) => {
  const { lines, warn, pass } = observed();
  for (let i = 0; i < count; i++) warn(`q${i}`);
  expect(lines).toEqual(['Queue "q0": is busy: x']);
  pass(SAME_LINE_EVERY_MS - 1);
  expect(lines).toHaveLength(1);
  pass(1);
  expect(lines.slice(1)).toEqual(sum);
});

it("a rush that goes on has one line a second, and a queue counts once in it", () => {
  const { lines, warn, pass } = observed();
  for (let i = 0; i < 30; i++) {
    warn(`q${i % 20}`);
    pass(SAME_LINE_EVERY_MS / 10);
  }
  expect(lines).toEqual([
    'Queue "q0": is busy: x',
    'Queue "q1" and 8 more queues: is busy: x',
    'Queue "q10" and 9 more queues: is busy: x',
    'Queue "q0" and 9 more queues: is busy: x',
  ]);
});

it("texts that differ have lines of their own, and so has a queue after a quiet second", () => {
  const { lines, warn, pass } = observed();
  warn("a");
  warn("b", "is lost");
  pass(SAME_LINE_EVERY_MS);
  warn("c");
  expect(lines).toEqual(['Queue "a": is busy: x', 'Queue "b": is lost: x', 'Queue "c": is busy: x']);
});

it("what an object was to say that has ended is said with the next line", () => {
  const { lines, warn, pass, loseTimers } = observed();
  for (const queue of ["a", "b", "c"]) warn(queue);
  loseTimers();
  pass(SAME_LINE_EVERY_MS);
  warn("d", "is lost");
  expect(lines).toEqual([
    'Queue "a": is busy: x',
    'Queue "b" and 1 more queue: is busy: x',
    'Queue "d": is lost: x',
  ]);
});

it("reasons that differ are of one sum, which says that there are others", () => {
  const { lines, warn, pass } = observed();
  for (const [queue, reason] of ["no. 1", "no. 2", "no. 3"].entries()) warn(`q${queue}`, "is busy", reason);
  pass(SAME_LINE_EVERY_MS);
  expect(lines).toEqual([
    'Queue "q0": is busy: no. 1',
    'Queue "q1" and 1 more queue: is busy: no. 2, and other reasons',
  ]);
});
