import { LOG_LINE_UNITS_MAX, LOG_LINES_MAX, LOG_UNITS_MAX } from "@sluice/protocol";
import { expect, it } from "vitest";
import { DeliveryLines } from "./delivery-lines.ts";

function linesAt() {
  const clock = { nowMs: 1_000 };
  return { clock, lines: new DeliveryLines({ now: () => clock.nowMs }) };
}

it("a delivery that prints nothing has no logs", () => {
  expect(linesAt().lines.read()).toBeUndefined();
});

it("a line has its level and the time since the delivery began", () => {
  const { clock, lines } = linesAt();
  lines.add("info", ["begun"]);
  clock.nowMs += 40;
  lines.add("warn", ["slow", { ms: 40 }]);
  // The clock of a machine may be set back.
  clock.nowMs = 0;
  lines.add("log", ["end"]);
  expect(lines.read()).toEqual({
    lines: [
      { afterMs: 0, level: "info", text: "begun" },
      { afterMs: 40, level: "warn", text: "slow { ms: 40 }" },
      { afterMs: 0, level: "log", text: "end" },
    ],
  });
});

it.each([-1, 0, 1])("lines have a limit, at %i of it", (more) => {
  const { lines } = linesAt();
  for (let i = 0; i < LOG_LINES_MAX + more; i++) lines.add("log", [i]);
  const { lines: kept, leftOut } = lines.read() ?? { lines: [] };
  expect([kept.length, leftOut]).toEqual(more === 1 ? [LOG_LINES_MAX, 1] : [LOG_LINES_MAX + more, undefined]);
});

it.each([-1, 0, 1])("the units of all lines have a limit, at %i of it", (more) => {
  const { lines } = linesAt();
  const whole = LOG_UNITS_MAX / LOG_LINE_UNITS_MAX;
  for (let i = 1; i < whole; i++) lines.add("log", ["x".repeat(LOG_LINE_UNITS_MAX)]);
  lines.add("log", ["x".repeat(LOG_LINE_UNITS_MAX - 1)]);
  lines.add("log", ["x".repeat(1 + more)]);
  // Nothing that comes later is put where something was left out.
  lines.add("log", [more === 1 ? "" : "xx"]);
  expect(lines.read()).toMatchObject(
    more === 1 ? { lines: { length: whole }, leftOut: 2 } : { lines: { length: whole + 1 }, leftOut: 1 },
  );
});

it("the last error is kept, however much is printed before it", () => {
  const { lines } = linesAt();
  for (let i = 0; i < 2 * LOG_LINES_MAX; i++) lines.add("debug", [i]);
  for (const text of ["first", "last"]) lines.add("error", [text]);
  lines.add("log", ["after it"]);
  const { lines: kept, leftOut } = lines.read() ?? { lines: [] };
  expect(kept).toHaveLength(LOG_LINES_MAX + 1);
  expect(kept.at(-1)).toMatchObject({ level: "error", text: "last" });
  expect(leftOut).toBe(LOG_LINES_MAX + 2);
});

it("what is printed while it is muted is no line of it", () => {
  const { lines } = linesAt();
  lines.mute(() => {
    lines.add("error", ["ours"]);
    lines.addMixed();
  });
  expect(lines.read()).toBeUndefined();
  lines.add("error", ["the handler's"]);
  expect(lines.read()?.lines).toHaveLength(1);
});

it("lines that may be of another delivery are counted", () => {
  const lines = new DeliveryLines({ isOfWorker: true });
  lines.addMixed();
  expect(lines.read()).toEqual({ lines: [], mixed: 1, ofWorker: true });
});

it("the error that was just printed is taken once, and only by the code that goes on from it", async () => {
  const { lines } = linesAt();
  lines.add("error", ["Error: no stock\n    at shop.ts:3"]);
  lines.add("log", ["between"]);
  expect(lines.takeJustPrinted()).toBe("Error: no stock");
  expect(lines.takeJustPrinted()).toBeUndefined();
  lines.add("error", ["earlier"]);
  await null;
  expect(lines.takeJustPrinted()).toBeUndefined();
});
