import { expect, it } from "vitest";
import { showConsoleThrough } from "./console.ts";

it("the console shows what a filter makes of a message, and everything else as it is", () => {
  const shown: unknown[][] = [];
  const show = (...args: unknown[]) => void shown.push(args);
  const target = { log: show, info: show, warn: show, error: show, debug: show };
  const restore = showConsoleThrough(target, (message) => {
    if (message === "broken") throw new Error("no");
    return message === "drop" ? [] : [message, `${message}!`];
  });
  target.log("one");
  target.error("drop");
  target.warn("broken");
  target.info("several", "values");
  target.debug({ an: "object" });
  expect(shown).toEqual([["one"], ["one!"], ["broken"], ["several", "values"], [{ an: "object" }]]);
  const other = () => undefined;
  target.warn = other;
  restore();
  expect([target.log, target.warn]).toEqual([show, other]);
});
